// SPDX-License-Identifier: Apache-2.0
// Barriers that do not order what they look like ordering: c_ orders, r_ does not, or is no CUDA (a barrier that some threads do not come to).
// test_check.py asks that none of r_ is proved and all of c_ are.
#include <cuda_runtime.h>

#define S __syncthreads()

__global__ void r_inner_data(int *d, int n) { __shared__ int s[64]; int t = threadIdx.x; s[t] = t; S; for (int i = 0; i < n; i++) { S; int v = s[t]; if (v > 5) { s[t] = i; S; } d[t] = s[63 - t]; } }
__global__ void r_inner_tid(int *d, int n) { __shared__ int s[64]; int t = threadIdx.x; for (int i = 0; i < n; i++) { S; s[t] = i; if (t > 5) { S; } d[t] = s[63 - t]; } }
__global__ void r_goto_skip(int *d, const int *in) { __shared__ int s[64]; int t = threadIdx.x; s[t] = t; for (int i = 0; i < 4; i++) if (in[t * 4 + i] > 3) goto skip; S; skip: d[t] = s[63 - t]; }
__global__ void r_goto_skip_tid(int *d, int n) { __shared__ int s[64]; int t = threadIdx.x; s[t] = t; for (int i = 0; i < n; i++) if (t == i * 3) goto skip; S; skip: d[t] = s[63 - t]; }
__global__ void r_early_break(int *d, int n) { __shared__ int s[64]; int t = threadIdx.x; for (int i = 0; i < n; i++) { s[t] = i; S; d[t] = s[63 - t]; if (n > 100) break; } }
__global__ void r_phase_two_buf_one_bar(int *d, int n) { __shared__ int s[3][64]; int t = threadIdx.x; for (int i = 0; i < n; i++) { s[i % 1][t] = i; S; d[t] += s[i % 1][63 - t]; } }
__global__ void c_phase_two_buf(int *d, int n) { __shared__ int s[2][64]; int t = threadIdx.x; for (int i = 0; i < n; i++) { s[i % 2][t] = i; S; d[t] += s[i % 2][63 - t]; } }
__global__ void r_warp_half(int *d) { __shared__ int s[32]; int t = threadIdx.x; s[t] = t; if (t < 16) __syncwarp(0xffff); else __syncwarp(0xffff0000); d[t] = s[31 - t]; }
__global__ void r_warp_mask_var(int *d, unsigned m) { __shared__ int s[32]; int t = threadIdx.x; s[t] = t; if (m >> t & 1) __syncwarp(m); d[t] = s[31 - t]; }
__global__ void r_two_warps_syncwarp(int *d) { __shared__ int s[64]; int t = threadIdx.x; s[t] = t; __syncwarp(); d[t] = s[63 - t]; }
__global__ void r_warp_2d(int *d) { __shared__ int s[64]; int t = threadIdx.x + blockDim.x * threadIdx.y; s[t] = t; __syncwarp(); d[t] = s[(t + 1) % 64]; }
__global__ void r_warp_row(int *d) { __shared__ int s[96]; int t = threadIdx.x + blockDim.x * threadIdx.y; s[t] = t; __syncwarp(); d[t] = s[threadIdx.y * blockDim.x + (threadIdx.x + 1) % blockDim.x]; }
__global__ void r_lockstep(int *d) { __shared__ int s[32]; int t = threadIdx.x; s[t] = t; d[t] = s[31 - t]; }
__global__ void r_loop_exit_unequal(int *d, const int *in) { __shared__ int s[64]; int t = threadIdx.x; s[t] = t; int i = 0; while (i < in[t]) i++; if (i > 2) S; d[t] = s[63 - t]; }
__global__ void r_after_loop_bar(int *d, int n) { __shared__ int s[64]; int t = threadIdx.x; for (int i = 0; i < n; i++) { S; s[t] = i; } d[t] = s[63 - t]; }
__global__ void r_before_loop(int *d, int n) { __shared__ int s[64]; int t = threadIdx.x; s[t] = 0; for (int i = 0; i < n; i++) { d[t] += s[63 - t]; S; } }
__global__ void r_nested(int *d, int n, int m) { __shared__ int s[64]; int t = threadIdx.x; for (int i = 0; i < n; i++) { for (int j = 0; j < m; j++) { s[t] = j; S; } d[t] += s[63 - t]; } }
__global__ void r_nested_zero(int *d, int n, int m) { __shared__ int s[64]; int t = threadIdx.x; for (int i = 0; i < n; i++) { s[t] = i; for (int j = 0; j < m; j++) S; d[t] += s[63 - t]; for (int j = 0; j < m; j++) S; } }
__global__ void r_switch(int *d, int n) { __shared__ int s[64]; int t = threadIdx.x; s[t] = t; switch (n) { case 1: S; break; case 2: break; default: S; } d[t] = s[63 - t]; }
__global__ void r_named(int *d) { __shared__ int s[64]; int t = threadIdx.x; s[t] = t; if (t < 32) asm volatile("bar.sync 1, 32;" ::: "memory"); else asm volatile("bar.sync 2, 32;" ::: "memory"); d[t] = s[63 - t]; }
__global__ void r_named_all(int *d) { __shared__ int s[64]; int t = threadIdx.x; s[t] = t; asm volatile("{.reg .u32 r; .reg .pred p; and.b32 r, %0, 32; setp.eq.u32 p, r, 0; @p bar.sync 1, 32; @!p bar.sync 2, 32;}" :: "r"(t) : "memory"); d[t] = s[63 - t]; }
__global__ void r_named_var(int *d) { __shared__ int s[64]; int t = threadIdx.x; s[t] = t; int b = 1 + t / 32; asm volatile("barrier.sync %0, 32;" :: "r"(b) : "memory"); d[t] = s[63 - t]; }
__global__ void r_arrive(int *d) { __shared__ int s[64]; int t = threadIdx.x; s[t] = t; asm volatile("bar.arrive 1, 128;" ::: "memory"); d[t] = s[63 - t]; }
__global__ void r_volatile(int *d) { __shared__ volatile int s[64]; int t = threadIdx.x; int x = t; s[t] = x; d[t] = ((int *)s)[63 - t]; }
__global__ void r_ballot(int *d) { __shared__ int s[32]; int t = threadIdx.x; s[t] = t; __ballot_sync(~0u, t & 1); d[t] = s[31 - t]; }
__global__ void r_fence_only(int *d) { __shared__ int s[64]; int t = threadIdx.x; s[t] = t; __threadfence_block(); d[t] = s[63 - t]; }
__global__ void r_inner_store(int *d, const int *in, int n) { __shared__ int s[64]; int t = threadIdx.x; s[t] = in[t]; S; for (int i = 0; i < n; i++) { S; int v = s[t]; S; if (v > 3) { S; s[t] = i; } else { d[t] = s[63 - t]; } } }
__global__ void r_inner_tidstore(int *d, int n) { __shared__ int s[64]; int t = threadIdx.x; for (int i = 0; i < n; i++) { S; if (t > 5) { S; s[t] = i; } else { d[t] = s[63 - t]; } } }
__global__ void r_inner_read(int *d, const int *in, int n) { __shared__ int s[64]; int t = threadIdx.x; for (int i = 0; i < n; i++) { S; if (in[t] > 3) { S; s[t] = i; } else { d[t] = s[63 - t]; } } }
__global__ void r_two_arms(int *d) { __shared__ int s[64]; int t = threadIdx.x; if (t < 32) { s[t] = t; S; } else { S; d[t] = s[63 - t]; } }
__global__ void c_behind_rounds(int *d, int n) { __shared__ int s[64]; int t = threadIdx.x, i = 0; s[t] = t; S; d[t] = s[63 - t]; do { if (i % 2) d[t] = 1; S; s[t] = i; S; d[t] += s[63 - t]; i++; } while (i < n); S; s[t] = 1; S; d[t] += s[63 - t]; }
__global__ void r_behind_rounds(int *d) { __shared__ int s[64]; int t = threadIdx.x, i = 0; s[t] = t; do { if (i % 2) d[t] = 1; if (i == t) goto skip; i++; } while (i < 9); S; skip: d[t] = s[63 - t]; }
__global__ void r_behind_middle(int *d, const int *in, int n) { __shared__ int s[64]; int t = threadIdx.x; s[t] = t; for (int i = 0;; i++) { d[t] += i; if (i >= n) break; if (in[t] == i) goto skip; } S; skip: d[t] = s[63 - t]; }
__global__ void r_behind_nested(int *d, int n) { __shared__ int s[64]; int t = threadIdx.x; s[t] = t; for (int k = 0; k < t; k++) for (int i = 0; i < n; i++) { if (i == 2) goto both; d[t]++; } goto skip; both: S; skip: d[t] = s[63 - t]; }
__global__ void r_behind_some(int *d, int n) { __shared__ int s[64]; int t = threadIdx.x; s[t] = t; if (t < 32) { for (int i = 0;; i++) { d[t] += i; if (i >= n) break; d[t]--; } S; } d[t] = s[63 - t]; }
__global__ void r_leaves_by_data(int *d, int *in, int n) { __shared__ int s[64]; int t = threadIdx.x, i = 0; do { if (n > 2) S; else S; if (i == 3) s[t] = i; i++; } while (atomicAdd(in + t, 1) > i); if (i == 1) d[t] = s[63 - t]; }

int main() {
    int *d, *in;
    cudaMalloc(&d, 1 << 16);
    cudaMalloc(&in, 1 << 16);
    r_inner_data<<<1, 64>>>(d, 3);
    r_inner_tid<<<1, 64>>>(d, 3);
    r_goto_skip<<<1, 64>>>(d, in);
    r_goto_skip_tid<<<1, 64>>>(d, 5);
    r_early_break<<<1, 64>>>(d, 3);
    r_phase_two_buf_one_bar<<<1, 64>>>(d, 3);
    c_phase_two_buf<<<1, 64>>>(d, 3);
    r_warp_half<<<1, 32>>>(d);
    r_warp_mask_var<<<1, 32>>>(d, 0xffu);
    r_two_warps_syncwarp<<<1, 64>>>(d);
    r_warp_2d<<<1, dim3(8, 8)>>>(d);
    r_warp_row<<<1, dim3(24, 4)>>>(d);
    r_lockstep<<<1, 32>>>(d);
    r_loop_exit_unequal<<<1, 64>>>(d, in);
    r_after_loop_bar<<<1, 64>>>(d, 3);
    r_before_loop<<<1, 64>>>(d, 1);
    r_nested<<<1, 64>>>(d, 3, 2);
    r_nested_zero<<<1, 64>>>(d, 3, 0);
    r_switch<<<1, 64>>>(d, 2);
    r_named<<<1, 64>>>(d);
    r_named_all<<<1, 64>>>(d);
    r_named_var<<<1, 64>>>(d);
    r_arrive<<<1, 64>>>(d);
    r_volatile<<<1, 64>>>(d);
    r_ballot<<<1, 32>>>(d);
    r_fence_only<<<1, 64>>>(d);
    r_inner_store<<<1, 64>>>(d, in, 1);
    r_inner_tidstore<<<1, 64>>>(d, 1);
    r_inner_read<<<1, 64>>>(d, in, 1);
    r_two_arms<<<1, 64>>>(d);
    c_behind_rounds<<<1, 64>>>(d, 9);
    r_behind_rounds<<<1, 64>>>(d);
    r_behind_middle<<<1, 64>>>(d, in, 3);
    r_behind_nested<<<1, 64>>>(d, 5);
    r_behind_some<<<1, 64>>>(d, 5);
    r_leaves_by_data<<<1, 64>>>(d, in, 5);
    return cudaDeviceSynchronize() != cudaSuccess;
}
