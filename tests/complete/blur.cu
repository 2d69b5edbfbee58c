// SPDX-License-Identifier: Apache-2.0
// Image filters on bytes: a box blur of RGBA pixels with running sums (a thread per row, then per column), Sobel edges with
// vector loads, and an image pyramid whose levels depend on each other.
#include "complete.h"
#include <algorithm>

__host__ __device__ int clamp(int i, int n)
{
    return i < 0 ? 0 : i >= n ? n - 1 : i;
}

// Along lines of `n` pixels, `step` apart; lines begin `line` apart.
__global__ void box(const uchar4 *in, uchar4 *out, int lines, int line, int n, int step, int radius)
{
    int l = blockIdx.x * blockDim.x + threadIdx.x;
    if (l >= lines)
        return;
    in += l * line;
    out += l * line;
    int4 sum = {0, 0, 0, 0};
    for (int i = -radius; i <= radius; i++) {
        uchar4 p = in[clamp(i, n) * step];
        sum.x += p.x, sum.y += p.y, sum.z += p.z, sum.w += p.w;
    }
    for (int i = 0; i < n; i++) {
        int d = 2 * radius + 1;
        out[i * step] = make_uchar4(sum.x / d, sum.y / d, sum.z / d, sum.w / d);
        uchar4 a = in[clamp(i + radius + 1, n) * step], b = in[clamp(i - radius, n) * step];
        sum.x += a.x - b.x, sum.y += a.y - b.y, sum.z += a.z - b.z, sum.w += a.w - b.w;
    }
}

static void box_cpu(std::vector<uchar4> &image, int lines, int line, int n, int step, int radius)
{
    std::vector<uchar4> in = image;
    for (int l = 0; l < lines; l++)
        for (int i = 0; i < n; i++) {
            int s[4] = {0, 0, 0, 0}, d = 2 * radius + 1;
            for (int k = -radius; k <= radius; k++) {
                uchar4 p = in[l * line + clamp(i + k, n) * step];
                s[0] += p.x, s[1] += p.y, s[2] += p.z, s[3] += p.w;
            }
            image[l * line + i * step] = make_uchar4(s[0] / d, s[1] / d, s[2] / d, s[3] / d);
        }
}

__host__ __device__ unsigned char gray(uchar4 p)
{
    return (unsigned char)((77 * p.x + 150 * p.y + 29 * p.z) >> 8);
}

__global__ void to_gray(const uchar4 *in, unsigned char *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = gray(in[i]);
}

__global__ void sobel(const unsigned char *in, unsigned char *out, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h)
        return;
    int v[3][3];
    for (int k = 0; k < 9; k++)
        v[k / 3][k % 3] = in[clamp(y + k / 3 - 1, h) * w + clamp(x + k % 3 - 1, w)];
    int dx = v[0][2] + 2 * v[1][2] + v[2][2] - v[0][0] - 2 * v[1][0] - v[2][0];
    int dy = v[2][0] + 2 * v[2][1] + v[2][2] - v[0][0] - 2 * v[0][1] - v[0][2];
    out[y * w + x] = (unsigned char)min(255, (int)__usad(abs(dx), 0, abs(dy)));
}

__global__ void shrink(const unsigned char *in, unsigned char *out, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < w / 2 && y < h / 2) {
        const unsigned char *p = in + 2 * y * w + 2 * x;
        out[y * (w / 2) + x] = (unsigned char)((p[0] + p[1] + p[w] + p[w + 1] + 2) / 4);
    }
}

static std::vector<unsigned char> bytes(const std::vector<uchar4> &v)
{
    const unsigned char *p = (const unsigned char *)v.data();
    return std::vector<unsigned char>(p, p + 4 * v.size());
}

int main()
{
    const int w = 121, h = 83, n = w * h, radius = 4;
    Random random(36);
    std::vector<uchar4> image(n);
    for (auto &p : image) {
        unsigned r = random.next();
        memcpy(&p, &r, sizeof p);
    }
    uchar4 *a = to_device(image), *b = device_new<uchar4>(n);
    box<<<blocks_for(h, 32), 32>>>(a, b, h, w, w, 1, radius);
    box<<<blocks_for(w, 32), 32>>>(b, a, w, 1, h, w, radius);
    finish_launches();
    box_cpu(image, h, w, w, 1, radius);
    box_cpu(image, w, 1, h, w, radius);
    expect_same("box", bytes(from_device(a, n)), bytes(image));

    unsigned char *g = device_new<unsigned char>(n), *edges = device_new<unsigned char>(n);
    dim3 block(24, 8), grid(blocks_for(w, 24), blocks_for(h, 8));
    to_gray<<<blocks_for(n, 224), 224>>>(a, g, n);
    sobel<<<grid, block>>>(g, edges, w, h);
    finish_launches();
    std::vector<unsigned char> level(n), want(n);
    for (int i = 0; i < n; i++)
        level[i] = gray(image[i]);
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            auto at = [&](int i, int j) { return (int)level[clamp(y + j, h) * w + clamp(x + i, w)]; };
            int dx = at(1, -1) + 2 * at(1, 0) + at(1, 1) - at(-1, -1) - 2 * at(-1, 0) - at(-1, 1);
            int dy = at(-1, 1) + 2 * at(0, 1) + at(1, 1) - at(-1, -1) - 2 * at(0, -1) - at(1, -1);
            want[y * w + x] = (unsigned char)std::min(255, abs(dx) + abs(dy));
        }
    expect_same("gray", from_device(g, n), level);
    expect_same("edges", from_device(edges, n), want);
    int lw = w, lh = h;
    for (; lw > 1 && lh > 1; lw /= 2, lh /= 2) {
        shrink<<<dim3(blocks_for(lw / 2, 24), blocks_for(lh / 2, 8)), block>>>(g, edges, lw, lh);
        std::vector<unsigned char> next((lw / 2) * (lh / 2));
        for (int y = 0; y < lh / 2; y++)
            for (int x = 0; x < lw / 2; x++) {
                const unsigned char *p = &level[2 * y * lw + 2 * x];
                next[y * (lw / 2) + x] = (unsigned char)((p[0] + p[1] + p[lw] + p[lw + 1] + 2) / 4);
            }
        level = next;
        std::swap(g, edges);
        expect_same("pyramid", from_device(g, level.size()), level);
    }
    finish_launches();
    return finish();
}
