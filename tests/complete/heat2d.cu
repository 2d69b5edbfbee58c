// SPDX-License-Identifier: Apache-2.0
// Heat in a plate: 5-point Jacobi steps over tiles with a halo in shared memory, fixed temperature at the edges, until a
// step changes nothing by more than a bound. The largest change comes from an atomicMax over the bits of a float.
#include "complete.h"

const int TX = 32, TY = 8;

__global__ void step(const float *from, float *to, int width, int height, unsigned *change)
{
    __shared__ float tile[TY + 2][TX + 2];
    __shared__ unsigned largest;
    int x = blockIdx.x * TX + threadIdx.x, y = blockIdx.y * TY + threadIdx.y;
    int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
    if (tx == 1 && ty == 1)
        largest = 0;
    bool inside = x < width && y < height;
    if (inside) {
        tile[ty][tx] = from[y * width + x];
        if (tx == 1 && x > 0)
            tile[ty][0] = from[y * width + x - 1];
        if (tx == TX && x + 1 < width)
            tile[ty][TX + 1] = from[y * width + x + 1];
        if (ty == 1 && y > 0)
            tile[0][tx] = from[(y - 1) * width + x];
        if (ty == TY && y + 1 < height)
            tile[TY + 1][tx] = from[(y + 1) * width + x];
    }
    __syncthreads();
    if (inside) {
        float old = tile[ty][tx], now = old;
        if (x > 0 && y > 0 && x < width - 1 && y < height - 1)
            now = 0.25f * (tile[ty][tx - 1] + tile[ty][tx + 1] + tile[ty - 1][tx] + tile[ty + 1][tx]);
        to[y * width + x] = now;
        atomicMax(&largest, __float_as_uint(fabsf(now - old)));
    }
    __syncthreads();
    if (tx == 1 && ty == 1)
        atomicMax(change, largest);
}

int main()
{
    const int width = 107, height = 61, limit = 200;
    std::vector<float> a(width * height, 20.0f), b;
    for (int x = 0; x < width; x++)
        a[x] = 100.0f;
    for (int y = 0; y < height; y++)
        a[y * width] = 5.0f + y;
    float *d[2] = {to_device(a), to_device(a)};
    unsigned *change = device_new<unsigned>(1);
    dim3 block(TX, TY), grid(blocks_for(width, TX), blocks_for(height, TY));
    int steps = 0;
    for (float moved = 1; moved > 0.25f && steps < limit; steps++) {
        CHECK(cudaMemsetAsync(change, 0, sizeof *change));
        step<<<grid, block>>>(d[steps % 2], d[(steps + 1) % 2], width, height, change);
        CHECK(cudaMemcpy(&moved, change, sizeof moved, cudaMemcpyDeviceToHost));
    }
    finish_launches();

    b = a;
    int want_steps = 0;
    for (float moved = 1; moved > 0.25f && want_steps < limit; want_steps++) {
        moved = 0;
        for (int y = 1; y < height - 1; y++)
            for (int x = 1; x < width - 1; x++) {
                int i = y * width + x;
                b[i] = 0.25f * (a[i - 1] + a[i + 1] + a[i - width] + a[i + width]);
                moved = fmaxf(moved, fabsf(b[i] - a[i]));
            }
        a.swap(b);
    }
    expect_same("steps", steps, want_steps);
    expect_near("temperature", from_device(d[steps % 2], a.size()), a, 1e-5);
    return finish();
}
