// SPDX-License-Identifier: Apache-2.0
// pytorch/pytorch#162995: two stages of a block reduction use one shared buffer, no barrier between the stages
// expect: exact => races marked soak
// expect: exact,tracker,collider,collider+exact,privatizer -DFIXED => silent soak
#include "../../check.h"
struct SumOp { __device__ float combine(float a, float b) const { return a + b; } };
template <typename T, typename Op, int VT>
struct Reducer {
  Op op;
  const T *in; T *out; int cols, rows;
  __device__ T thread_part(int col) const {
    T acc = 0;
    for (int r = threadIdx.y; r < rows; r += blockDim.y)
      for (int v = 0; v < VT; v++) {
        int c = col * VT + v;
        if (c < cols) acc = op.combine(acc, in[r * cols + c]);
      }
    return acc;
  }
  __device__ T along_y(T v, char *raw) const {
    T *s = reinterpret_cast<T *>(raw);
    s[threadIdx.y * blockDim.x + threadIdx.x] = v;
    for (int half = blockDim.y / 2; half > 0; half >>= 1) {
      __syncthreads();
      if (threadIdx.y < half) {
        T other = s[(threadIdx.y + half) * blockDim.x + threadIdx.x]; //@R
        v = op.combine(v, other);
        s[threadIdx.y * blockDim.x + threadIdx.x] = v;
      }
    }
    return v;
  }
  __device__ T along_x(T v, char *raw) const {
    T *s = reinterpret_cast<T *>(raw);
    int wide = blockDim.x;
    int me = threadIdx.y * blockDim.x + threadIdx.x;
    if (wide > 32) {
      s[me] = v; //@R
      for (int half = wide / 2; half >= 32; half >>= 1) {
        __syncthreads();
        if (threadIdx.x < half && threadIdx.x + half < wide) {
          v = op.combine(v, s[me + half]);
          s[me] = v;
        }
      }
      wide = 32;
    }
    __syncthreads();
    for (int d = wide / 2; d > 0; d >>= 1) v = op.combine(v, __shfl_down_sync(0xffffffffu, v, d));
    return v;
  }
};
template <typename R> __global__ void reduce_k(R r) {
  extern __shared__ char raw[];
  auto v = r.thread_part(threadIdx.x + blockIdx.x * blockDim.x);
  v = r.along_y(v, raw);
#ifdef FIXED
  __syncthreads();
#endif
  v = r.along_x(v, raw);
  if (threadIdx.x == 0 && threadIdx.y == 0) r.out[blockIdx.x] = v;
}
int main() {
  const int rows = 24, cols = 64 * 2 * 3;
  float *in, *out, h[3];
  float *hi = (float *)malloc(rows * cols * 4);
  for (int i = 0; i < rows * cols; i++) hi[i] = float(i % 7);
  CHECK(cudaMalloc(&in, rows * cols * 4)); CHECK(cudaMalloc(&out, 12));
  CHECK(cudaMemcpy(in, hi, rows * cols * 4, cudaMemcpyHostToDevice));
  Reducer<float, SumOp, 2> r{SumOp{}, in, out, cols, rows};
  reduce_k<<<3, dim3(64, 4), 64 * 4 * sizeof(float)>>>(r);
  CHECK(cudaMemcpy(h, out, 12, cudaMemcpyDeviceToHost));
  printf("%g %g %g\n", h[0], h[1], h[2]);
}
