// SPDX-License-Identifier: Apache-2.0
// Blocks that go round a loop and wait for each other by flags that count the rounds: c_ are ordered, r_ are not. test_check.py asks that none of r_ is proved and all of
// c_ are. Each of r_ is c_neighbours with one fault.
#include <cuda_runtime.h>

#define F __threadfence()
#define IN (cells + g % 2 * 128)
#define OUT (cells + (g + 1) % 2 * 128)
typedef volatile int *vi;

__device__ void wait_for(int *flag, int least) {
    while (atomicAdd(flag, 0) < least) {
    }
    F;
}

__global__ void c_neighbours(int *flag, int *cells) { int b = blockIdx.x, t = threadIdx.x, i = b * 32 + t; for (int g = 0; g < 6; g++) { if (t < 2) wait_for(flag + (b + (t ? 1 : 3)) % 4, g); __syncthreads(); OUT[i] = IN[(i + 127) % 128] + IN[(i + 1) % 128]; __syncthreads(); if (t == 0) { F; atomicExch(flag + b, g + 1); } } }
__global__ void c_volatile(int *flag, int *cells) { int b = blockIdx.x, t = threadIdx.x, i = b * 32 + t; for (int g = 0; g < 6; g++) { if (t < 2) { while (*(vi)(flag + (b + (t ? 1 : 3)) % 4) < g) {} F; } __syncthreads(); OUT[i] = IN[(i + 127) % 128] + IN[(i + 1) % 128]; __syncthreads(); if (t == 0) { F; *(vi)(flag + b) = g + 1; } } }
__global__ void c_each_thread_one(int *flag, int *cells) { int b = blockIdx.x, t = threadIdx.x, i = b * 32 + t; for (int g = 0; g < 6; g++) { if (t == 0) wait_for(flag + (b + 3) % 4, g); if (t == 1) wait_for(flag + (b + 1) % 4, g); __syncthreads(); OUT[i] = IN[(i + 127) % 128] + IN[(i + 1) % 128]; __syncthreads(); if (t == 0) { F; atomicExch(flag + b, g + 1); } } }
__global__ void c_twos(int *flag, int *cells) { int b = blockIdx.x, t = threadIdx.x, i = b * 32 + t; for (int g = 0; g < 6; g++) { if (t < 2) wait_for(flag + (b + (t ? 1 : 3)) % 4, 2 * g); __syncthreads(); OUT[i] = IN[(i + 127) % 128] + IN[(i + 1) % 128]; __syncthreads(); if (t == 0) { F; atomicExch(flag + b, 2 * g + 2); } } }
__global__ void c_more_than_needed(int *flag, int *cells) { int b = blockIdx.x, t = threadIdx.x, i = b * 32 + t; for (int g = 0; g < 6; g++) { if (t < 2 && g) wait_for(flag + (b + (t ? 1 : 3)) % 4, g); __syncthreads(); OUT[i] = IN[(i + 127) % 128] + IN[(i + 1) % 128]; __syncthreads(); if (t == 0) { F; atomicExch(flag + b, g + 1); } } }
__global__ void c_until_not_less(int *flag, int *cells) { int b = blockIdx.x, t = threadIdx.x, i = b * 32 + t; for (int g = 0; g < 6; g++) { if (t < 2) { while (!(atomicOr(flag + (b + (t ? 1 : 3)) % 4, 0) > g - 1)) {} F; } __syncthreads(); OUT[i] = IN[(i + 127) % 128] + IN[(i + 1) % 128]; __syncthreads(); if (t == 0) { F; atomicExch(flag + b, g + 1); } } }
__global__ void c_wavefront(int *flag, int *cells) { int b = blockIdx.x, t = threadIdx.x, i = b * 32 + t; for (int g = 0; g < 6; g++) { if (b && t == 0) wait_for(flag + b - 1, g + 1); __syncthreads(); cells[g * 128 + i] = b ? cells[g * 128 + i - 32] : g; __syncthreads(); if (t == 0) { F; atomicExch(flag + b, g + 1); } } }
__global__ void c_last_thread_tells(int *flag, int *cells) { int b = blockIdx.x, t = threadIdx.x, i = b * 32 + t; for (int g = 0; g < 6; g++) { if (t < 2) wait_for(flag + (b + (t ? 1 : 3)) % 4, g); __syncthreads(); OUT[i] = IN[(i + 127) % 128] + IN[(i + 1) % 128]; __syncthreads(); if (t == 31) { F; atomicExch(flag + b, g + 1); } } }
__global__ void r_one_round_less(int *flag, int *cells) { int b = blockIdx.x, t = threadIdx.x, i = b * 32 + t; for (int g = 0; g < 6; g++) { if (t < 2) wait_for(flag + (b + (t ? 1 : 3)) % 4, g - 1); __syncthreads(); OUT[i] = IN[(i + 127) % 128] + IN[(i + 1) % 128]; __syncthreads(); if (t == 0) { F; atomicExch(flag + b, g + 1); } } }
__global__ void r_one_neighbour(int *flag, int *cells) { int b = blockIdx.x, t = threadIdx.x, i = b * 32 + t; for (int g = 0; g < 6; g++) { if (t < 1) wait_for(flag + (b + (t ? 1 : 3)) % 4, g); __syncthreads(); OUT[i] = IN[(i + 127) % 128] + IN[(i + 1) % 128]; __syncthreads(); if (t == 0) { F; atomicExch(flag + b, g + 1); } } }
__global__ void r_not_all_blocks(int *flag, int *cells) { int b = blockIdx.x, t = threadIdx.x, i = b * 32 + t; for (int g = 0; g < 6; g++) { if (t < 2 && b != 3) wait_for(flag + (b + (t ? 1 : 3)) % 4, g); __syncthreads(); OUT[i] = IN[(i + 127) % 128] + IN[(i + 1) % 128]; __syncthreads(); if (t == 0) { F; atomicExch(flag + b, g + 1); } } }
__global__ void r_not_all_rounds(int *flag, int *cells) { int b = blockIdx.x, t = threadIdx.x, i = b * 32 + t; for (int g = 0; g < 6; g++) { if (t < 2 && g != 3) wait_for(flag + (b + (t ? 1 : 3)) % 4, g); __syncthreads(); OUT[i] = IN[(i + 127) % 128] + IN[(i + 1) % 128]; __syncthreads(); if (t == 0) { F; atomicExch(flag + b, g + 1); } } }
__global__ void r_no_first_barrier(int *flag, int *cells) { int b = blockIdx.x, t = threadIdx.x, i = b * 32 + t; for (int g = 0; g < 6; g++) { if (t < 2) wait_for(flag + (b + (t ? 1 : 3)) % 4, g); OUT[i] = IN[(i + 127) % 128] + IN[(i + 1) % 128]; __syncthreads(); if (t == 0) { F; atomicExch(flag + b, g + 1); } } }
__global__ void r_no_second_barrier(int *flag, int *cells) { int b = blockIdx.x, t = threadIdx.x, i = b * 32 + t; for (int g = 0; g < 6; g++) { if (t < 2) wait_for(flag + (b + (t ? 1 : 3)) % 4, g); __syncthreads(); OUT[i] = IN[(i + 127) % 128] + IN[(i + 1) % 128]; if (t == 0) { F; atomicExch(flag + b, g + 1); } } }
__global__ void r_no_fence_behind_the_wait(int *flag, int *cells) { int b = blockIdx.x, t = threadIdx.x, i = b * 32 + t; for (int g = 0; g < 6; g++) { if (t < 2) { while (atomicAdd(flag + (b + (t ? 1 : 3)) % 4, 0) < g) {} } __syncthreads(); OUT[i] = IN[(i + 127) % 128] + IN[(i + 1) % 128]; __syncthreads(); if (t == 0) { F; atomicExch(flag + b, g + 1); } } }
__global__ void r_no_fence_before_the_flag(int *flag, int *cells) { int b = blockIdx.x, t = threadIdx.x, i = b * 32 + t; for (int g = 0; g < 6; g++) { if (t < 2) wait_for(flag + (b + (t ? 1 : 3)) % 4, g); __syncthreads(); OUT[i] = IN[(i + 127) % 128] + IN[(i + 1) % 128]; __syncthreads(); if (t == 0) { atomicExch(flag + b, g + 1); } } }
__global__ void r_fence_of_the_block(int *flag, int *cells) { int b = blockIdx.x, t = threadIdx.x, i = b * 32 + t; for (int g = 0; g < 6; g++) { if (t < 2) wait_for(flag + (b + (t ? 1 : 3)) % 4, g); __syncthreads(); OUT[i] = IN[(i + 127) % 128] + IN[(i + 1) % 128]; __syncthreads(); if (t == 0) { __threadfence_block(); atomicExch(flag + b, g + 1); } } }
__global__ void r_told_early(int *flag, int *cells) { int b = blockIdx.x, t = threadIdx.x, i = b * 32 + t; for (int g = 0; g < 6; g++) { if (t < 2) wait_for(flag + (b + (t ? 1 : 3)) % 4, g); __syncthreads(); OUT[i] = IN[(i + 127) % 128] + IN[(i + 1) % 128]; if (t == 0) { F; atomicExch(flag + b, g + 1); } __syncthreads(); } }
__global__ void r_told_two_ahead(int *flag, int *cells) { int b = blockIdx.x, t = threadIdx.x, i = b * 32 + t; for (int g = 0; g < 6; g++) { if (t < 2) wait_for(flag + (b + (t ? 1 : 3)) % 4, g); __syncthreads(); OUT[i] = IN[(i + 127) % 128] + IN[(i + 1) % 128]; __syncthreads(); if (t == 0) { F; atomicExch(flag + b, g + 2); } } }
__global__ void r_told_always_the_same(int *flag, int *cells) { int b = blockIdx.x, t = threadIdx.x, i = b * 32 + t; for (int g = 0; g < 6; g++) { if (t < 2 && g) wait_for(flag + (b + (t ? 1 : 3)) % 4, 1); __syncthreads(); OUT[i] = IN[(i + 127) % 128] + IN[(i + 1) % 128]; __syncthreads(); if (t == 0) { F; atomicExch(flag + b, 1); } } }
__global__ void r_told_falling(int *flag, int *cells) { int b = blockIdx.x, t = threadIdx.x, i = b * 32 + t; for (int g = 0; g < 6; g++) { if (t < 2 && g) wait_for(flag + (b + (t ? 1 : 3)) % 4, 1); __syncthreads(); OUT[i] = IN[(i + 127) % 128] + IN[(i + 1) % 128]; __syncthreads(); if (t == 0) { F; atomicExch(flag + b, 6 - g); } } }
__global__ void r_flag_of_two_blocks(int *flag, int *cells) { int b = blockIdx.x, t = threadIdx.x, i = b * 32 + t; for (int g = 0; g < 6; g++) { if (t < 2) wait_for(flag + (b + (t ? 1 : 3)) % 4 / 2, g); __syncthreads(); OUT[i] = IN[(i + 127) % 128] + IN[(i + 1) % 128]; __syncthreads(); if (t == 0) { F; atomicExch(flag + b / 2, g + 1); } } }
__global__ void r_flag_of_another(int *flag, int *cells) { int b = blockIdx.x, t = threadIdx.x, i = b * 32 + t; for (int g = 0; g < 6; g++) { if (t < 2) wait_for(flag + (b + 2) % 4, g); __syncthreads(); OUT[i] = IN[(i + 127) % 128] + IN[(i + 1) % 128]; __syncthreads(); if (t == 0) { F; atomicExch(flag + b, g + 1); } } }
__global__ void r_told_by_others(int *flag, int *cells) { int b = blockIdx.x, t = threadIdx.x, i = b * 32 + t; for (int g = 0; g < 6; g++) { if (t == 0 && b == 0) atomicAdd(flag + 1, 1); if (t < 2) wait_for(flag + (b + (t ? 1 : 3)) % 4, g); __syncthreads(); OUT[i] = IN[(i + 127) % 128] + IN[(i + 1) % 128]; __syncthreads(); if (t == 0) { F; atomicExch(flag + b, g + 1); } } }
__global__ void r_told_at_once(int *flag, int *cells) { int b = blockIdx.x, t = threadIdx.x, i = b * 32 + t; for (int g = 0; g < 6; g++) { if (t == 0 && g == 0) atomicExch(flag + b, 6); if (t < 2) wait_for(flag + (b + (t ? 1 : 3)) % 4, g); __syncthreads(); OUT[i] = IN[(i + 127) % 128] + IN[(i + 1) % 128]; __syncthreads(); if (t == 0) { F; atomicExch(flag + b, g + 1); } } }
__global__ void r_in_place(int *flag, int *cells) { int b = blockIdx.x, t = threadIdx.x, i = b * 32 + t; for (int g = 0; g < 6; g++) { if (t < 2) wait_for(flag + (b + (t ? 1 : 3)) % 4, g); __syncthreads(); cells[i] = cells[(i + 127) % 128] + cells[(i + 1) % 128]; __syncthreads(); if (t == 0) { F; atomicExch(flag + b, g + 1); } } }
__global__ void r_behind_the_flag(int *flag, int *cells) { int b = blockIdx.x, t = threadIdx.x, i = b * 32 + t; for (int g = 0; g < 6; g++) { if (t < 2) wait_for(flag + (b + (t ? 1 : 3)) % 4, g); __syncthreads(); __syncthreads(); if (t == 0) { F; atomicExch(flag + b, g + 1); } OUT[i] = IN[(i + 127) % 128] + IN[(i + 1) % 128]; } }
__global__ void r_before_the_wait(int *flag, int *cells) { int b = blockIdx.x, t = threadIdx.x, i = b * 32 + t; for (int g = 0; g < 6; g++) { OUT[i] = IN[(i + 127) % 128] + IN[(i + 1) % 128]; if (t < 2) wait_for(flag + (b + (t ? 1 : 3)) % 4, g); __syncthreads(); __syncthreads(); if (t == 0) { F; atomicExch(flag + b, g + 1); } } }
__global__ void r_gives_up(int *flag, int *cells) { int b = blockIdx.x, t = threadIdx.x, i = b * 32 + t; for (int g = 0; g < 6; g++) { if (t < 2) { for (int k = 0; k < 9 && atomicAdd(flag + (b + (t ? 1 : 3)) % 4, 0) < g; k++) {} F; } __syncthreads(); OUT[i] = IN[(i + 127) % 128] + IN[(i + 1) % 128]; __syncthreads(); if (t == 0) { F; atomicExch(flag + b, g + 1); } } }
__global__ void r_waits_for_less(int *flag, int *cells) { int b = blockIdx.x, t = threadIdx.x, i = b * 32 + t; for (int g = 0; g < 6; g++) { if (t < 2) { while (atomicAdd(flag + (b + (t ? 1 : 3)) % 4, 0) < g / 2) {} F; } __syncthreads(); OUT[i] = IN[(i + 127) % 128] + IN[(i + 1) % 128]; __syncthreads(); if (t == 0) { F; atomicExch(flag + b, g + 1); } } }
__global__ void r_not_zero_at_first(int *flag, int *cells) { int b = blockIdx.x, t = threadIdx.x, i = b * 32 + t; for (int g = 0; g < 6; g++) { if (t < 2) wait_for(flag + (b + (t ? 1 : 3)) % 4, g); __syncthreads(); OUT[i] = IN[(i + 127) % 128] + IN[(i + 1) % 128]; __syncthreads(); if (t == 0) { F; atomicExch(flag + b, g + 1); } } }
__global__ void r_second_launch(int *flag, int *cells) { int b = blockIdx.x, t = threadIdx.x, i = b * 32 + t; for (int g = 0; g < 6; g++) { if (t < 2) wait_for(flag + (b + (t ? 1 : 3)) % 4, g); __syncthreads(); OUT[i] = IN[(i + 127) % 128] + IN[(i + 1) % 128]; __syncthreads(); if (t == 0) { F; atomicExch(flag + b, g + 1); } } }
__global__ void c_one_thread(int *flag, int *cells) { int b = blockIdx.x; for (int g = 0; g < 6; g++) { wait_for(flag + (b + 3) % 4, g); wait_for(flag + (b + 1) % 4, g); __syncthreads(); OUT[b] = IN[(b + 3) % 4] + IN[(b + 1) % 4]; __syncthreads(); F; atomicExch(flag + b, g + 1); } }
__global__ void r_waiter_is_not_there(int *flag, int *cells) { int b = blockIdx.x, t = threadIdx.x, i = b * 3 + t; for (int g = 0; g < 6; g++) { if (t == 0) wait_for(flag + (b + 3) % 4, g); if (t == 3) wait_for(flag + (b + 1) % 4, g); __syncthreads(); OUT[i] = IN[(i + 11) % 12] + IN[(i + 1) % 12]; __syncthreads(); if (t == 0) { F; atomicExch(flag + b, g + 1); } } }
__global__ void r_rounds_begin_again(int *flag, int *cells) { int b = blockIdx.x, t = threadIdx.x, i = b * 32 + t; for (int again = 0; again < 2; again++) for (int g = 0; g < 6; g++) { if (t < 2) wait_for(flag + (b + (t ? 1 : 3)) % 4, g); __syncthreads(); OUT[i] = IN[(i + 127) % 128] + IN[(i + 1) % 128]; __syncthreads(); if (t == 0) { F; atomicExch(flag + b, g + 1); } } }
__global__ void r_behind_the_loop(int *flag, int *cells) { int b = blockIdx.x, t = threadIdx.x, i = b * 32 + t; for (int g = 0; g < 6; g++) { if (t < 2) wait_for(flag + (b + (t ? 1 : 3)) % 4, g); __syncthreads(); OUT[i] = IN[(i + 127) % 128] + IN[(i + 1) % 128]; __syncthreads(); if (t == 0) { F; atomicExch(flag + b, g + 1); } } cells[256 + i] = cells[(i + 1) % 128]; }
__global__ void r_some_threads_meet(int *flag, int *cells) { int b = blockIdx.x, t = threadIdx.x, i = b * 32 + t; for (int g = 0; g < 6; g++) { if (t < 2) wait_for(flag + (b + (t ? 1 : 3)) % 4, g); if (t < 16) { __syncthreads(); OUT[i] = IN[(i + 127) % 128] + IN[(i + 1) % 128]; } __syncthreads(); if (t == 0) { F; atomicExch(flag + b, g + 1); } } }
__global__ void r_told_from_zero(int *flag, int *cells) { int b = blockIdx.x, t = threadIdx.x, i = b * 32 + t; for (int g = 0; g < 6; g++) { if (t < 2 && g) wait_for(flag + (b + (t ? 1 : 3)) % 4, g - 1); __syncthreads(); OUT[i] = IN[(i + 127) % 128] + IN[(i + 1) % 128]; __syncthreads(); if (t == 0) { F; atomicExch(flag + b, g); } } }
__global__ void r_two_arrays(int *flag, int *cells, int *told) { int b = blockIdx.x, t = threadIdx.x, i = b * 32 + t; for (int g = 0; g < 6; g++) { if (t < 2) wait_for(flag + (b + (t ? 1 : 3)) % 4, g); __syncthreads(); OUT[i] = IN[(i + 127) % 128] + IN[(i + 1) % 128]; __syncthreads(); if (t == 0) { F; atomicExch(told + b, g + 1); } } }
__global__ void r_half_a_flag(int *flag, int *cells) { int b = blockIdx.x, t = threadIdx.x, i = b * 32 + t; for (int g = 0; g < 6; g++) { if (t < 2) wait_for(flag + (b + (t ? 1 : 3)) % 4, g); __syncthreads(); OUT[i] = IN[(i + 127) % 128] + IN[(i + 1) % 128]; __syncthreads(); if (t == 0) { F; *(volatile short *)(flag + b) = g + 1; } } }
__global__ void r_fence_in_another_round(int *flag, int *cells) { int b = blockIdx.x, t = threadIdx.x, i = b * 32 + t; for (int g = 0;; g++) { if (t < 2) { while (atomicAdd(flag + (b + (t ? 1 : 3)) % 4, 0) < g) {} } if (g % 2) { F; if (g == 5) break; } __syncthreads(); OUT[i] = IN[(i + 127) % 128] + IN[(i + 1) % 128]; __syncthreads(); if (t == 0) { F; atomicExch(flag + b, g + 1); } } }
__global__ void c_unsigned(unsigned *flag, int *cells) { int b = blockIdx.x, t = threadIdx.x, i = b * 32 + t; for (unsigned g = 0; g < 5; g++) { if (t < 2) { while ((int)atomicAdd(flag + (b + (t ? 1 : 3)) % 4, 0u) < (int)(g)) {} F; } __syncthreads(); OUT[i] = IN[(i + 127) % 128] + IN[(i + 1) % 128]; __syncthreads(); if (t == 0) { F; atomicExch(flag + b, g + 1); } } }
__global__ void r_wraps(unsigned *flag, int *cells) { int b = blockIdx.x, t = threadIdx.x, i = b * 32 + t; for (unsigned g = 0; g < 5; g++) { if (t < 2) { while ((int)atomicAdd(flag + (b + (t ? 1 : 3)) % 4, 0u) < (int)(g * 1500000000u)) {} F; } __syncthreads(); OUT[i] = IN[(i + 127) % 128] + IN[(i + 1) % 128]; __syncthreads(); if (t == 0) { F; atomicExch(flag + b, (g + 1) * 1500000000u); } } }
__global__ void r_wanted_wraps(unsigned *flag, int *cells) { int b = blockIdx.x, t = threadIdx.x, i = b * 32 + t; for (unsigned g = 0; g < 5; g++) { if (t < 2) { while ((int)atomicAdd(flag + (b + (t ? 1 : 3)) % 4, 0u) < (int)(g * 1500000000u)) {} F; } __syncthreads(); OUT[i] = IN[(i + 127) % 128] + IN[(i + 1) % 128]; __syncthreads(); if (t == 0) { F; atomicExch(flag + b, g + 1500000000u * 1); } } }
__global__ void r_told_wraps(unsigned *flag, int *cells) { int b = blockIdx.x, t = threadIdx.x, i = b * 32 + t; for (unsigned g = 0; g < 5; g++) { if (t < 2) { while ((int)atomicAdd(flag + (b + (t ? 1 : 3)) % 4, 0u) < (int)(g ? 1 : 0)) {} F; } __syncthreads(); OUT[i] = IN[(i + 127) % 128] + IN[(i + 1) % 128]; __syncthreads(); if (t == 0) { F; atomicExch(flag + b, (g + 1) * 1500000000u); } } }

int main() {
    int *flag, *cells;
    cudaMalloc(&flag, 16);
    cudaMalloc(&cells, 4096);
    cudaMemset(flag, 0, 16);
    c_neighbours<<<4, 32>>>(flag, cells);
    cudaMemset(flag, 0, 16);
    c_volatile<<<4, 32>>>(flag, cells);
    cudaMemset(flag, 0, 16);
    c_each_thread_one<<<4, 32>>>(flag, cells);
    cudaMemset(flag, 0, 16);
    c_twos<<<4, 32>>>(flag, cells);
    cudaMemset(flag, 0, 16);
    c_more_than_needed<<<4, 32>>>(flag, cells);
    cudaMemset(flag, 0, 16);
    c_until_not_less<<<4, 32>>>(flag, cells);
    cudaMemset(flag, 0, 16);
    c_wavefront<<<4, 32>>>(flag, cells);
    cudaMemset(flag, 0, 16);
    c_last_thread_tells<<<4, 32>>>(flag, cells);
    cudaMemset(flag, 0, 16);
    r_one_round_less<<<4, 32>>>(flag, cells);
    cudaMemset(flag, 0, 16);
    r_one_neighbour<<<4, 32>>>(flag, cells);
    cudaMemset(flag, 0, 16);
    r_not_all_blocks<<<4, 32>>>(flag, cells);
    cudaMemset(flag, 0, 16);
    r_not_all_rounds<<<4, 32>>>(flag, cells);
    cudaMemset(flag, 0, 16);
    r_no_first_barrier<<<4, 32>>>(flag, cells);
    cudaMemset(flag, 0, 16);
    r_no_second_barrier<<<4, 32>>>(flag, cells);
    cudaMemset(flag, 0, 16);
    r_no_fence_behind_the_wait<<<4, 32>>>(flag, cells);
    cudaMemset(flag, 0, 16);
    r_no_fence_before_the_flag<<<4, 32>>>(flag, cells);
    cudaMemset(flag, 0, 16);
    r_fence_of_the_block<<<4, 32>>>(flag, cells);
    cudaMemset(flag, 0, 16);
    r_told_early<<<4, 32>>>(flag, cells);
    cudaMemset(flag, 0, 16);
    r_told_two_ahead<<<4, 32>>>(flag, cells);
    cudaMemset(flag, 0, 16);
    r_told_always_the_same<<<4, 32>>>(flag, cells);
    cudaMemset(flag, 0, 16);
    r_told_falling<<<4, 32>>>(flag, cells);
    cudaMemset(flag, 0, 16);
    r_flag_of_two_blocks<<<4, 32>>>(flag, cells);
    cudaMemset(flag, 0, 16);
    r_flag_of_another<<<4, 32>>>(flag, cells);
    cudaMemset(flag, 0, 16);
    r_told_by_others<<<4, 32>>>(flag, cells);
    cudaMemset(flag, 0, 16);
    r_told_at_once<<<4, 32>>>(flag, cells);
    cudaMemset(flag, 0, 16);
    r_in_place<<<4, 32>>>(flag, cells);
    cudaMemset(flag, 0, 16);
    r_behind_the_flag<<<4, 32>>>(flag, cells);
    cudaMemset(flag, 0, 16);
    r_before_the_wait<<<4, 32>>>(flag, cells);
    cudaMemset(flag, 0, 16);
    r_gives_up<<<4, 32>>>(flag, cells);
    cudaMemset(flag, 0, 16);
    r_waits_for_less<<<4, 32>>>(flag, cells);
    cudaMemset(flag, 1, 16);
    r_not_zero_at_first<<<4, 32>>>(flag, cells);
    cudaMemset(flag, 0, 16);
    r_second_launch<<<4, 32>>>(flag, cells);
    r_second_launch<<<4, 32>>>(flag, cells);
    cudaMemset(flag, 0, 16);
    c_unsigned<<<4, 32>>>((unsigned *)flag, cells);
    cudaMemset(flag, 0, 16);
    r_wraps<<<4, 32>>>((unsigned *)flag, cells);
    cudaMemset(flag, 0, 16);
    r_wanted_wraps<<<4, 32>>>((unsigned *)flag, cells);
    cudaMemset(flag, 0, 16);
    r_told_wraps<<<4, 32>>>((unsigned *)flag, cells);
    int *other;
    cudaMalloc(&other, 16);
    cudaMemset(other, 0, 16);
    cudaMemset(flag, 0, 16);
    c_one_thread<<<4, 1>>>(flag, cells);
    cudaMemset(flag, 0, 16);
    r_waiter_is_not_there<<<4, 3>>>(flag, cells);
    cudaMemset(flag, 0, 16);
    r_rounds_begin_again<<<4, 32>>>(flag, cells);
    cudaMemset(flag, 0, 16);
    r_behind_the_loop<<<4, 32>>>(flag, cells);
    cudaMemset(flag, 0, 16);
    r_some_threads_meet<<<4, 32>>>(flag, cells);
    cudaMemset(flag, 0, 16);
    r_told_from_zero<<<4, 32>>>(flag, cells);
    cudaMemset(flag, 0, 16);
    r_two_arrays<<<4, 32>>>(flag, cells, other);
    cudaMemset(flag, 0, 16);
    r_half_a_flag<<<4, 32>>>(flag, cells);
    cudaMemset(flag, 0, 16);
    r_fence_in_another_round<<<4, 32>>>(flag, cells);
    return cudaDeviceSynchronize();
}
