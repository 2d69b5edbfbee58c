// SPDX-License-Identifier: Apache-2.0
// Language features whose PTX differs from plain arithmetic: function pointers, recursion, structures by value, dynamic
// shared memory, managed and constant variables, a switch, printf and assert. Compiled for the round trip, never run.
#include <cstdio>
#include <cassert>
struct S { int a; float b[3]; };
__constant__ float tab[4] = {1.0f, 2.f, 3.f};
__device__ S gs = {1,{2,3,4}};
__device__ int *gp = &gs.a;
__managed__ int mm;
typedef int (*fp)(int);
__device__ __noinline__ int f1(int x){return x*3;}
__device__ __noinline__ int f2(int x){return x^3;}
__device__ fp table[2] = {f1,f2};
extern __shared__ int dyn[];
__device__ __noinline__ S mk(S s, int k){ s.a+=k; return s;}
__device__ int rec(int n){ return n<=1?1:n*rec(n-1);}
template<class T> __device__ T red(T v){ for(int o=16;o;o>>=1) v+=__shfl_down_sync(~0u,v,o); return v;}
__global__ __launch_bounds__(256,2) void k(int *a, float *b, S s, int n){
  __shared__ float sh[32];
  int i=blockIdx.x*blockDim.x+threadIdx.x;
  S q=mk(s,i);
  float v = red(b[i]);
  if((threadIdx.x&31)==0) sh[threadIdx.x>>5]=v;
  __syncthreads();
  switch(n){case 0:a[i]=3;break;case 1:a[i]=5;break;case 2: a[i]=a[i]*7; break; case 3: a[i]^=2;break; case 4: a[i]=dyn[i]; break; case 5: a[i]=__popc(a[i]); break;}
  a[i]+=table[i&1](a[i])+q.a+rec(n)+mm;
  atomicAdd(gp, 3);
  assert(n>0);
  printf("hi %d %f\n", i, sh[i&31]);
  b[i]=tab[i&3]+((float4*)b)[i].x + __ldg(b+i+5);
}
