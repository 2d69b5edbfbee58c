// SPDX-License-Identifier: Apache-2.0
// Barriers of the whole grid: c_ orders the blocks, r_ does not, or is no CUDA (a barrier that some threads do not come to). test_check.py asks that none of
// r_ is proved, that the line `shows` names those whose race is shown, and that all of c_ are proved.
// shows: r_missing r_of_block r_one_in_loop r_next_round r_write_behind r_partial_sums r_condition_of_none r_other_condition r_before_loop r_behind_loop r_some_blocks
#include <cooperative_groups.h>

#define G cooperative_groups::this_grid().sync()
#define S __syncthreads()
#define T threadIdx.x
#define B blockIdx.x
#define ALL (int)(gridDim.x * blockDim.x)
#define I (int)(blockIdx.x * blockDim.x + threadIdx.x)
#define OTHER (ALL - 1 - I)
#define FLIP(a, b) { int *c = a; a = b; b = c; }

__global__ void c_two_phases(int *a, int *b) { a[I] = I; G; b[I] = a[OTHER]; }
__global__ void c_of_any_size(int *a, int *b, int n) { for (int i = I; i < n; i += ALL) a[i] = i; G; for (int i = I; i < n; i += ALL) b[i] = a[n - 1 - i]; }
__global__ void c_three_phases(int *a, int *b) { a[I] = I; G; b[I] = a[OTHER]; G; a[I] = b[OTHER]; }
__global__ void c_two_buffers(int *a, int *b, int n) { for (int i = 0; i < n; i++) { b[I] = a[OTHER]; G; FLIP(a, b); } }
__global__ void c_two_in_loop(int *a, int *b, int n) { for (int i = 0; i < n; i++) { b[I] = a[OTHER]; G; a[I] = b[OTHER]; G; } }
__global__ void c_loop_in_loop(int *a, int *b, int n, int m) { for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) { b[I] = a[OTHER]; G; a[I] = b[OTHER]; G; } }
__global__ void c_partial_sums(int *a, int *b) { if (T == 0) a[B] = B; G; if (B == 0 && T == 0) { int sum = 0; for (int k = 0; k < gridDim.x; k++) sum += a[k]; b[0] = sum; } }
__global__ void c_halving(int *a, int n) { for (int s = n / 2; s > 0; s /= 2) { if (I < s) a[I] += a[I + s]; G; } }
__global__ void c_condition_of_all(int *a, int *b, int n) { if (n > 2) { a[I] = I; G; b[I] = a[OTHER]; } }
__global__ void c_write_behind(int *a, int *b, int n) { for (int i = 0; i < n; i++) { b[I] = a[OTHER]; G; a[I] = i; FLIP(a, b); } }
__global__ void c_until_done(int *a, int *b, int *done) { for (;;) { b[I] = a[OTHER]; if (I == 0) atomicAdd(done, a[0]); G; if (*(volatile int *)done > 9) break; a[I] = b[OTHER]; G; } }
__global__ void c_with_block(int *a, int *b) { __shared__ int s[64]; s[T] = T; S; a[I] = s[63 - T]; G; b[I] = a[OTHER] + s[T]; }
__global__ void c_of_shared(int *a) { __shared__ int s[64]; s[T] = T; G; a[I] = s[63 - T]; }
__global__ void c_behind_loop(int *a, int *b, int n) { for (int i = 0; i < n; i++) { a[I] = i; G; } b[I] = a[OTHER]; }
__global__ void c_early_end(int *a, int *b, int n) { a[I] = I; if (n < 0) return; G; b[I] = a[OTHER]; }

__global__ void r_missing(int *a, int *b) { a[I] = I; b[I] = a[OTHER]; }
__global__ void r_of_block(int *a, int *b) { a[I] = I; S; b[I] = a[OTHER]; G; }
__global__ void r_one_in_loop(int *a, int *b, int n) { for (int i = 0; i < n; i++) { b[I] = a[OTHER]; G; a[I] = b[OTHER]; } }
__global__ void r_next_round(int *a, int *b, int n) { for (int i = 0; i < n; i++) { a[I] = i; G; b[I] += a[OTHER]; } }
__global__ void r_write_behind(int *a, int *b, int n) { for (int i = 0; i < n; i++) { b[I] = a[OTHER]; G; b[I] = i; FLIP(a, b); } }
__global__ void r_partial_sums(int *a, int *b) { if (T == 0) a[B] = B; S; if (B == 0 && T == 0) { int sum = 0; for (int k = 0; k < gridDim.x; k++) sum += a[k]; b[0] = sum; } G; }
__global__ void r_halving_of_block(int *a, int n) { for (int s = n / 2; s > 0; s /= 2) { if (I < s) a[I] += a[I + s]; S; } G; }
__global__ void r_condition_of_none(int *a, int *b, int n) { a[I] = I; if (n > 2) G; b[I] = a[OTHER]; }
__global__ void r_other_condition(int *a, int *b, int n, int m) { if (n > 2) a[I] = I; if (m > 2) G; if (n > 2) b[I] = a[OTHER]; }
__global__ void r_before_loop(int *a, int *b, int n) { a[I] = I; for (int i = 0; i < n; i++) { b[I] = a[OTHER]; G; } }
__global__ void r_behind_loop(int *a, int *b, int n) { for (int i = 0; i < n; i++) { G; a[I] = i; } b[I] = a[OTHER]; }
__global__ void r_some_blocks(int *a, int *b) { a[I] = I; if (B < 2) G; b[I] = a[OTHER]; }
__global__ void r_blocks_apart(int *a, int *b) { a[I] = I; if (B < 2) G; else G; b[I] = a[OTHER]; }
__global__ void r_first_block(int *a, int *b) { if (B == 0) a[I] = I; if (B == 0) G; G; if (B == 1) b[I] = a[T]; }
__global__ void r_one_thread(int *a, int *b) { if (T == 1) { a[B] = B; G; b[B] = a[gridDim.x - 1 - B]; } }
__global__ void r_half_of_block(int *a, int *b) { if (T < 32) { a[I] = I; G; b[I] = a[OTHER + 32 - 64 * (T / 32)]; } }
__global__ void r_rounds_of_block(int *a, int *b) { for (int i = 0; i < (int)B; i++) { a[I] = i; G; } b[I] = a[OTHER]; }
__global__ void r_rounds_of_data(int *a, int *b, int n) { int i = 0; do { if (n > 2) G; else G; if (i == 3) a[I] = i; i++; } while (atomicAdd(b + I, 1) > i); if (i == 1) b[I + 1024] = a[OTHER]; }
__global__ void r_rounds_of_block_data(int *a, int *b, int n) { int i = 0; do { S; if (n > 2) G; else G; if (i == 3) a[I] = i; i++; } while (atomicAdd(b + I, 1) > i); if (i == 1) b[I + 1024] = a[OTHER]; }
__global__ void r_counted_by_block(int *a, int *b) { int k = 0; while (k * k < (int)B) k++; a[I] = I; if (k > 1) G; else G; b[I] = a[OTHER]; }
__global__ void r_by_data(int *a, int *b) { a[I] = I; if (b[ALL + B] > 3) G; b[I] = a[OTHER]; }
__global__ void r_by_shared(int *a, int *b) { __shared__ int s; if (T == 0) s = b[ALL + B]; S; a[I] = I; if (s > 3) G; b[I] = a[OTHER]; }
__global__ void r_by_number(int *a, int *b) { a[I] = I; for (int k = B; k > 0; k /= 2) { G; b[I] = a[OTHER]; } }
__global__ void r_barrier_of_some(int *a, int *b) { a[I] = I; if (T < 32) S; G; b[I] = a[OTHER]; }
__global__ void r_leaves(int *a, int *b) { a[I] = I; if (B == 3) return; G; b[I] = a[OTHER]; }

template <auto KERNEL, typename... Args> static void run(Args... args) {
    void *list[] = {&args...};
    cudaLaunchCooperativeKernel((const void *)KERNEL, dim3(4), dim3(64), list, 0, 0);
}

int main(int argc, char **) {
    int *a, *b, n = argc, m = argc / 2;
    cudaMalloc(&a, 8192);
    cudaMalloc(&b, 8192);
    cudaMemset(a, 0, 8192);
    cudaMemset(b, 0, 8192);
    run<c_two_phases>(a, b);
    run<c_of_any_size>(a, b, n);
    run<c_three_phases>(a, b);
    run<c_two_buffers>(a, b, n);
    run<c_two_in_loop>(a, b, n);
    run<c_loop_in_loop>(a, b, n, m);
    run<c_partial_sums>(a, b);
    run<c_halving>(a, n);
    run<c_condition_of_all>(a, b, n);
    run<c_write_behind>(a, b, n);
    run<c_until_done>(a, b, b + 1024);
    run<c_with_block>(a, b);
    run<c_of_shared>(a);
    run<c_behind_loop>(a, b, n);
    run<c_early_end>(a, b, n);
    run<r_missing>(a, b);
    run<r_of_block>(a, b);
    run<r_one_in_loop>(a, b, n);
    run<r_next_round>(a, b, n);
    run<r_write_behind>(a, b, n);
    run<r_partial_sums>(a, b);
    run<r_halving_of_block>(a, n);
    run<r_condition_of_none>(a, b, n);
    run<r_other_condition>(a, b, n, m);
    run<r_before_loop>(a, b, n);
    run<r_behind_loop>(a, b, n);
    run<r_some_blocks>(a, b);
    run<r_blocks_apart>(a, b);
    run<r_first_block>(a, b);
    run<r_one_thread>(a, b);
    run<r_half_of_block>(a, b);
    run<r_rounds_of_block>(a, b);
    run<r_rounds_of_data>(a, b, n);
    run<r_rounds_of_block_data>(a, b, n);
    run<r_counted_by_block>(a, b);
    run<r_by_data>(a, b);
    run<r_by_shared>(a, b);
    run<r_by_number>(a, b);
    run<r_barrier_of_some>(a, b);
    run<r_leaves>(a, b);
    return cudaDeviceSynchronize() != cudaSuccess;
}
