// SPDX-License-Identifier: Apache-2.0
// Game of life on a torus, bytes and bits: a thread per cell over bytes in shared memory, and a thread per 32 cells with
// bitwise adders. Both must give the same as the CPU after each generation.
#include "complete.h"

const int TX = 32, TY = 4;

__global__ void cells(const unsigned char *from, unsigned char *to, int width, int height)
{
    __shared__ unsigned char tile[TY + 2][TX + 2];
    int x0 = blockIdx.x * TX - 1, y0 = blockIdx.y * TY - 1;
    for (int i = threadIdx.y * TX + threadIdx.x; i < (TX + 2) * (TY + 2); i += TX * TY) {
        int x = (x0 + i % (TX + 2) + width) % width, y = (y0 + i / (TX + 2) + height) % height;
        tile[i / (TX + 2)][i % (TX + 2)] = from[y * width + x];
    }
    __syncthreads();
    int x = blockIdx.x * TX + threadIdx.x, y = blockIdx.y * TY + threadIdx.y, around = 0;
    if (x >= width || y >= height)
        return;
    for (int j = 0; j < 3; j++)
        for (int i = 0; i < 3; i++)
            around += i == 1 && j == 1 ? 0 : tile[threadIdx.y + j][threadIdx.x + i];
    to[y * width + x] = around == 3 || (around == 2 && tile[threadIdx.y + 1][threadIdx.x + 1]);
}

__device__ void add(unsigned &ones, unsigned &twos, unsigned &fours, unsigned x)
{
    unsigned carry = ones & x, more = twos & carry;
    ones ^= x;
    twos ^= carry;
    fours |= more; // four or more
}

__global__ void words(const unsigned *from, unsigned *to, int wide, int height)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= wide * height)
        return;
    int w = i % wide, y = i / wide, left = (w + wide - 1) % wide, right = (w + 1) % wide;
    unsigned ones = 0, twos = 0, fours = 0;
    for (int dy = -1; dy <= 1; dy++) {
        const unsigned *row = from + (y + dy + height) % height * wide;
        add(ones, twos, fours, __funnelshift_l(row[left], row[w], 1));
        add(ones, twos, fours, __funnelshift_r(row[w], row[right], 1));
        if (dy)
            add(ones, twos, fours, row[w]);
    }
    to[i] = twos & ~fours & (ones | from[i]);
}

int main()
{
    const int wide = 5, width = wide * 32, height = 47, generations = 12;
    Random random(18);
    std::vector<unsigned char> now(width * height), next(now.size());
    for (auto &e : now)
        e = random.below(3) == 0;
    std::vector<unsigned> packed(wide * height, 0);
    for (size_t i = 0; i < now.size(); i++)
        packed[i / 32] |= (unsigned)now[i] << i % 32;
    unsigned char *c[2] = {to_device(now), device_new<unsigned char>(now.size())};
    unsigned *b[2] = {to_device(packed), device_new<unsigned>(packed.size())};
    for (int g = 0; g < generations; g++) {
        int from = g % 2;
        cells<<<dim3(blocks_for(width, TX), blocks_for(height, TY)), dim3(TX, TY)>>>(c[from], c[!from], width, height);
        words<<<blocks_for(packed.size(), 96), 96>>>(b[from], b[!from], wide, height);
        std::fill(packed.begin(), packed.end(), 0);
        for (int y = 0; y < height; y++)
            for (int x = 0; x < width; x++) {
                int around = 0;
                for (int k = 0; k < 9; k++)
                    around += k == 4 ? 0 : now[(y + k / 3 - 1 + height) % height * width + (x + k % 3 - 1 + width) % width];
                int i = y * width + x;
                next[i] = around == 3 || (around == 2 && now[i]);
                packed[i / 32] |= (unsigned)next[i] << i % 32;
            }
        now.swap(next);
        expect_same("cells", from_device(c[!from], now.size()), now);
        expect_same("words", from_device(b[!from], packed.size()), packed);
    }
    finish_launches();
    return finish();
}
