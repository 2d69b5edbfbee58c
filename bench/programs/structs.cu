// SPDX-License-Identifier: Apache-2.0
// Particles as structs of four floats, loaded part by part and whole; and neighbours by an index.
// ARGS: 16384 4
#include <cstdio>
#include <cstdlib>
#include <vector>

struct P {
    float x, y, z, w;
};

__global__ void parts(const P *in, P *out, int n) {
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= n)
        return;
    volatile float zero = 0; // so that the parts stay apart
    float x = in[k].x, y = in[k].y + zero, z = in[k].z + zero, w = in[k].w + zero;
    out[k].x = y;
    out[k].y = z + zero;
    out[k].z = w + zero;
    out[k].w = x + zero;
}

__global__ void neighbours(const float4 *in, float4 *out, const int *index, int n) {
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= n)
        return;
    float4 v = in[k];
    for (int j = 0; j < 8; j++) {
        float4 o = in[index[k * 8 + j]];
        v.x += o.x - o.x;
    }
    out[k] = v;
}

int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 16384, launches = argc > 2 ? atoi(argv[2]) : 4, wrong = 0;
    std::vector<P> in(n), got(n);
    std::vector<int> index(n * 8);
    for (int k = 0; k < n; k++)
        in[k] = {(float)k, (float)k + 1, (float)k + 2, (float)k + 3};
    for (int k = 0; k < n * 8; k++)
        index[k] = (int)((k * 2654435761u >> 7) % n);
    P *a, *b;
    int *at;
    cudaMalloc(&a, n * sizeof(P));
    cudaMalloc(&b, n * sizeof(P));
    cudaMalloc(&at, n * 32);
    cudaMemcpy(a, in.data(), n * sizeof(P), cudaMemcpyHostToDevice);
    cudaMemcpy(at, index.data(), n * 32, cudaMemcpyHostToDevice);
    for (int k = 0; k < launches; k++) {
        parts<<<(n + 255) / 256, 256>>>(a, b, n);
        neighbours<<<(n + 255) / 256, 256>>>((float4 *)b, (float4 *)a, at, n);
    }
    cudaMemcpy(got.data(), a, n * sizeof(P), cudaMemcpyDeviceToHost);
    for (int k = 0; k < n; k++) {
        float v[4] = {in[k].x, in[k].y, in[k].z, in[k].w};
        wrong += got[k].x != v[launches % 4] || got[k].w != v[(launches + 3) % 4];
    }
    puts(wrong ? "FAIL" : "PASS");
}
