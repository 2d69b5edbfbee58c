// SPDX-License-Identifier: Apache-2.0
// 2D and 3D memory: pitch, cudaMemcpy2D in every direction, cudaMemset2D, cudaMalloc3D and cudaMemcpy3D.
#include "../../check.h"

__global__ void add_index(char *base, size_t pitch, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height)
        ((float *)(base + y * pitch))[x] += (float)(y * 1000 + x);
}

int main()
{
    const int w = 33, h = 21, spaced = 40;
    static float in[h][spaced], out[h][w];
    for (int y = 0; y < h; y++)
        for (int x = 0; x < spaced; x++)
            in[y][x] = (float)(x * y);
    char *d, *e;
    size_t pitch = 0, pitch2 = 0;
    CHECK(cudaMallocPitch(&d, &pitch, w * sizeof(float), h));
    CHECK(cudaMallocPitch(&e, &pitch2, w * sizeof(float), h));
    EXPECT(pitch >= w * sizeof(float) && pitch % 256 == 0);
    CHECK(cudaMemcpy2D(d, pitch, in, sizeof in[0], w * sizeof(float), h, cudaMemcpyHostToDevice));
    add_index<<<dim3(2, 3), dim3(32, 8)>>>(d, pitch, w, h);
    CHECK(cudaMemcpy2DAsync(e, pitch2, d, pitch, w * sizeof(float), h, cudaMemcpyDeviceToDevice, 0));
    CHECK(cudaMemset2D(d, pitch, 0, 4 * sizeof(float), 2));
    CHECK(cudaMemcpy2D(out, sizeof out[0], e, pitch2, w * sizeof(float), h, cudaMemcpyDeviceToHost));
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            EXPECT(out[y][x] == (float)(x * y + y * 1000 + x));
    CHECK(cudaMemcpy2D(out, sizeof out[0], d, pitch, w * sizeof(float), h, cudaMemcpyDeviceToHost));
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            EXPECT(out[y][x] == (x < 4 && y < 2 ? 0.0f : (float)(x * y + y * 1000 + x)));
    EXPECT_EQ(cudaMemcpy2D(d, 4, in, sizeof in[0], 8, 2, cudaMemcpyHostToDevice), cudaErrorInvalidPitchValue);
    cudaGetLastError();

    const int depth = 3;
    static unsigned char cube[depth][h][w], back[depth][h][w];
    for (int i = 0; i < depth * h * w; i++)
        (&cube[0][0][0])[i] = (unsigned char)(i * 7);
    cudaPitchedPtr p;
    CHECK(cudaMalloc3D(&p, make_cudaExtent(w, h, depth)));
    CHECK(cudaMemset3D(p, 9, make_cudaExtent(w, h, depth)));
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(cube, w, w, h);
    copy.dstPtr = p;
    copy.extent = make_cudaExtent(w, h, 2); // the last layer keeps the nines
    copy.kind = cudaMemcpyHostToDevice;
    CHECK(cudaMemcpy3D(&copy));
    copy.srcPtr = p;
    copy.dstPtr = make_cudaPitchedPtr(back, w, w, h);
    copy.extent.depth = depth;
    copy.kind = cudaMemcpyDeviceToHost;
    CHECK(cudaMemcpy3D(&copy));
    EXPECT(memcmp(cube, back, 2 * h * w) == 0);
    EXPECT_EQ(back[2][20][32], 9);
    CHECK(cudaFree(p.ptr));
    CHECK(cudaFree(d));
    CHECK(cudaFree(e));
    return finish();
}
