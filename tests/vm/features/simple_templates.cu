// SPDX-License-Identifier: Apache-2.0
// simpleTemplates: kernels of several types with dynamic shared memory.
#include "../../check.h"

template <class T> struct Shared;
template <> struct Shared<int> {
    static __device__ int *get()
    {
        extern __shared__ int s_int[];
        return s_int;
    }
};
template <> struct Shared<double> {
    static __device__ double *get()
    {
        extern __shared__ double s_double[];
        return s_double;
    }
};
template <> struct Shared<short> {
    static __device__ short *get()
    {
        extern __shared__ short s_short[];
        return s_short;
    }
};

template <class T, int Times> __global__ void multiply(const T *in, T *out)
{
    T *shared = Shared<T>::get();
    unsigned t = threadIdx.x;
    shared[t] = in[t];
    __syncthreads();
    shared[t] = (T)(Times * shared[t]);
    __syncthreads();
    out[t] = shared[blockDim.x - 1 - t];
}

template <class T> static void run()
{
    const int n = 96;
    T in[n], out[n], *d_in, *d_out;
    for (int i = 0; i < n; i++)
        in[i] = (T)(i + 1);
    CHECK(cudaMalloc(&d_in, sizeof in));
    CHECK(cudaMalloc(&d_out, sizeof out));
    CHECK(cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice));
    multiply<T, 3><<<1, n, sizeof in>>>(d_in, d_out);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++)
        EXPECT(out[i] == (T)(3 * in[n - 1 - i]));
    CHECK(cudaFree(d_in));
    CHECK(cudaFree(d_out));
}

int main()
{
    run<int>();
    run<double>();
    run<short>();
    return finish();
}
