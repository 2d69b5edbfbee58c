// SPDX-License-Identifier: Apache-2.0
// Mandelbrot set: a thread per pixel (lanes leave the loop at different times), persistent blocks that take rows from a
// counter, and the same in fixed point with 64-bit products. Iteration counts in integers can be compared exactly.
#include "complete.h"

#define BOTH __host__ __device__

struct View {
    int width, height, limit;
    double x0, y0, step;
};

BOTH int escape(const View &v, int px, int py)
{
    double cx = v.x0 + px * v.step, cy = v.y0 + py * v.step, x = 0, y = 0;
    int i = 0;
    for (; i < v.limit; i++) {
        double xx = x * x, yy = y * y;
        if (xx + yy > 4)
            break;
        // Multiples of 2^-40 or so, rounded: fused or not, the same.
        double xy = x * y;
        y = 2 * xy + cy;
        x = (xx - yy) + cx;
        x = rint(x * 1048576) / 1048576;
        y = rint(y * 1048576) / 1048576;
    }
    return i;
}

BOTH int escape_fixed(const View &v, int px, int py)
{
    const int bits = 28;
    long long cx = (long long)((v.x0 + px * v.step) * (1 << bits)), cy = (long long)((v.y0 + py * v.step) * (1 << bits)), x = 0, y = 0;
    int i = 0;
    for (; i < v.limit; i++) {
        long long xx = x * x >> bits, yy = y * y >> bits;
        if (xx + yy > 4ll << bits)
            break;
        y = (x * y >> (bits - 1)) + cy;
        x = xx - yy + cx;
    }
    return i;
}

__global__ void per_pixel(View v, int *image, bool fixed)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < v.width && y < v.height)
        image[y * v.width + x] = fixed ? escape_fixed(v, x, y) : escape(v, x, y);
}

__global__ void persistent(View v, int *image, int *next_row)
{
    __shared__ int row;
    for (;;) {
        if (threadIdx.x == 0)
            row = atomicAdd(next_row, 1);
        __syncthreads();
        int y = row;
        __syncthreads();
        if (y >= v.height)
            return;
        for (int x = threadIdx.x; x < v.width; x += blockDim.x)
            image[y * v.width + x] = escape(v, x, y);
    }
}

int main()
{
    const View v = {157, 93, 120, -2.1, -1.2, 0.01953125 * 0.9375};
    std::vector<int> want(v.width * v.height), want_fixed(want.size());
    for (int y = 0; y < v.height; y++)
        for (int x = 0; x < v.width; x++) {
            want[y * v.width + x] = escape(v, x, y);
            want_fixed[y * v.width + x] = escape_fixed(v, x, y);
        }
    int *image = device_new<int>(want.size());
    dim3 block(16, 4), grid(blocks_for(v.width, 16), blocks_for(v.height, 4));
    per_pixel<<<grid, block>>>(v, image, true);
    expect_same("fixed point", from_device(image, want.size()), want_fixed);
    // Rounding may differ by a fused multiply-add just at the bound: nearly all pixels must agree.
    auto differing = [&] {
        std::vector<int> got = from_device(image, want.size());
        int wrong = 0;
        for (size_t i = 0; i < want.size(); i++)
            wrong += got[i] != want[i];
        return wrong;
    };
    per_pixel<<<grid, block>>>(v, image, false);
    EXPECT(differing() < 50);
    std::vector<int> first = from_device(image, want.size());
    CHECK(cudaMemset(image, 0, want.size() * sizeof(int)));
    persistent<<<5, 64>>>(v, image, device_zeros<int>(1));
    expect_same("persistent", from_device(image, want.size()), first);
    finish_launches();
    return finish();
}
