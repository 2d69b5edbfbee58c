// SPDX-License-Identifier: Apache-2.0
// Locks that one thread takes for its block: c_ orders the blocks, r_ does not, or nothing says that it does. test_check.py asks that none of r_ is proved and
// all of c_ are. Every thread has a word of its own in its block, and shares it with a thread of each other block.
#include <cuda_runtime.h>

#define F __threadfence()
#define S __syncthreads()
#define T threadIdx.x
#define FIRST if (T == 0)
#define WORK d[T] += 1
#define RUN(kernel, ...) kernel<<<8, 64>>>(__VA_ARGS__)

__device__ void take(int *lock) { while (atomicCAS(lock, 0, 1) != 0) {} }
__device__ void give(int *lock) { atomicExch(lock, 0); }

__global__ void c_leader(int *l, int *d) { FIRST { take(l); F; } S; WORK; S; FIRST { F; give(l); } }
__global__ void c_exchange(int *l, int *d) { FIRST { while (atomicExch(l, 1) != 0) {} F; } S; WORK; S; FIRST { F; give(l); } }
__global__ void c_of_a_plane(int *l, int *d) { int i = T + threadIdx.y * 8; bool first = T == 0 && threadIdx.y == 0; if (first) { take(l); F; } S; d[i] += 1; S; if (first) { F; give(l); } }
__global__ void c_around_loop(int *l, int *d, int n) { FIRST { take(l); F; } S; for (int i = 0; i < n; i++) { WORK; S; } S; FIRST { F; give(l); } }
__global__ void c_barriers_last(int *l, int *d, int n) { FIRST { take(l); F; } S; int i = 0; do { WORK; S; } while (++i < n); FIRST { F; give(l); } }
__global__ void c_barriers_first(int *l, int *d, int n) { FIRST { take(l); F; } int i = 0; do { S; WORK; } while (++i < n); S; FIRST { F; give(l); } }
__global__ void c_one_of_three(int *l, int *d) { int i = blockIdx.x % 3; FIRST { take(l + i); F; } S; d[i * 64 + T] += 1; S; FIRST { F; give(l + i); } }
__global__ void c_part_works(int *l, int *d) { FIRST { take(l); F; } S; if (T > 40) WORK; S; FIRST { F; give(l); } }
__global__ void r_no_barrier_before(int *l, int *d) { FIRST { take(l); F; } WORK; S; FIRST { F; give(l); } }
__global__ void r_no_barrier_behind(int *l, int *d) { FIRST { take(l); F; } S; WORK; FIRST { F; give(l); } }
__global__ void r_no_fence_before(int *l, int *d) { FIRST take(l); S; WORK; S; FIRST { F; give(l); } }
__global__ void r_no_fence_behind(int *l, int *d) { FIRST { take(l); F; } S; WORK; S; FIRST give(l); }
__global__ void r_fence_behind_barrier(int *l, int *d) { FIRST take(l); S; F; WORK; S; FIRST { F; give(l); } }
__global__ void r_fence_before_barrier(int *l, int *d) { FIRST { take(l); F; } S; WORK; F; S; FIRST give(l); }
__global__ void r_fence_of_block(int *l, int *d) { FIRST { take(l); F; } S; WORK; S; FIRST { __threadfence_block(); give(l); } }
__global__ void r_lock_of_block(int *l, int *d) { FIRST { while (atomicCAS_block(l, 0, 1) != 0) {} F; } S; WORK; S; FIRST { F; give(l); } }
__global__ void r_two_addresses(int *l, int *d) { int i = blockIdx.x % 2; FIRST { take(l + i); F; } S; WORK; S; FIRST { F; give(l + i); } }
__global__ void r_other_gives(int *l, int *d) { FIRST { take(l); F; } S; WORK; S; if (T == 1) { F; give(l); } }
__global__ void r_all_give(int *l, int *d) { FIRST { take(l); F; } S; WORK; S; F; give(l); }
__global__ void r_nobody_takes(int *l, int *d) { if (T == 70) { take(l); F; } S; WORK; S; if (T == 70) { F; give(l); } }
__global__ void r_some_blocks_take(int *l, int *d) { FIRST { if (blockIdx.x > 1) { take(l); F; } } S; WORK; S; FIRST { if (blockIdx.x > 1) { F; give(l); } } }
__global__ void r_by_parameter(int *l, int *d, int n) { FIRST { if (n) { take(l); F; } } S; WORK; S; FIRST { if (n) { F; give(l); } } }
__global__ void r_by_data(int *l, int *d, int *n) { FIRST { if (n[7]) { take(l); F; } } S; WORK; S; FIRST { if (n[7]) { F; give(l); } } }
__global__ void r_behind(int *l, int *d) { FIRST { take(l); F; } S; S; FIRST { F; give(l); } WORK; }
__global__ void r_before(int *l, int *d) { WORK; FIRST { take(l); F; } S; S; FIRST { F; give(l); } }
__global__ void r_given_at_once(int *l, int *d) { FIRST { take(l); F; give(l); } S; WORK; S; FIRST { F; give(l); } }
__global__ void r_given_twice(int *l, int *d) { FIRST { take(l); F; } S; WORK; S; FIRST { F; give(l); give(l); } }
__global__ void r_given_weakly(int *l, int *d) { FIRST { take(l); F; } S; WORK; S; FIRST { F; *l = 0; } }
__global__ void r_reset_by_another(int *l, int *d) { if (T == 1) atomicExch(l, 0); FIRST { take(l); F; } S; WORK; S; FIRST { F; give(l); } }
__global__ void r_tried_once(int *l, int *d) { FIRST { if (atomicCAS(l, 0, 1) == 0) F; } S; WORK; S; FIRST { F; give(l); } }
__global__ void r_never_given(int *l, int *d) { FIRST { if (blockIdx.x == 0) { take(l); F; } } S; WORK; S; }
__global__ void r_fence_in_loop(int *l, int *d, int n) { FIRST { take(l); F; } S; for (int i = 0; i < n; i++) { F; WORK; S; } S; FIRST give(l); }
__global__ void r_loop_goes_on(int *l, int *d, int n) { FIRST { take(l); F; } for (int i = 0; i < n; i++) { S; WORK; } FIRST { F; give(l); } }
__global__ void r_rounds_by_thread(int *l, int *d) { FIRST { take(l); F; } for (int i = 0; i < (int)T; i++) { S; WORK; } S; FIRST { F; give(l); } }
__global__ void r_barrier_of_some(int *l, int *d) { FIRST { take(l); F; } if (T < 32) S; WORK; S; FIRST { F; give(l); } }
__global__ void r_in_the_wait(int *l, int *d) { bool got; do { got = atomicCAS(l, 0, 1) == 0; F; S; WORK; S; } while (!got); FIRST { F; give(l); } }
__global__ void r_lock_of_the_block_itself(int *d) { __shared__ int l; FIRST { l = 0; take(&l); F; } S; WORK; S; FIRST { F; give(&l); } }

int main() {
    int *l, *d;
    cudaMalloc(&l, 4096);
    cudaMalloc(&d, 4096);
    cudaMemset(l, 0, 4096);
    RUN(c_leader, l, d);
    RUN(c_exchange, l, d);
    c_of_a_plane<<<8, dim3(8, 8)>>>(l, d);
    RUN(c_around_loop, l, d, 3);
    RUN(c_barriers_first, l, d, 3);
    RUN(c_barriers_last, l, d, 3);
    RUN(c_one_of_three, l, d);
    RUN(c_part_works, l, d);
    RUN(r_no_barrier_before, l, d);
    RUN(r_no_barrier_behind, l, d);
    RUN(r_no_fence_before, l, d);
    RUN(r_no_fence_behind, l, d);
    RUN(r_fence_behind_barrier, l, d);
    RUN(r_fence_before_barrier, l, d);
    RUN(r_fence_of_block, l, d);
    RUN(r_lock_of_block, l, d);
    RUN(r_two_addresses, l, d);
    RUN(r_other_gives, l, d);
    RUN(r_all_give, l, d);
    RUN(r_nobody_takes, l, d);
    RUN(r_some_blocks_take, l, d);
    RUN(r_by_parameter, l, d, 0);
    RUN(r_by_data, l, d, d + 512);
    RUN(r_behind, l, d);
    RUN(r_before, l, d);
    RUN(r_given_at_once, l, d);
    RUN(r_given_twice, l, d);
    RUN(r_given_weakly, l, d);
    RUN(r_reset_by_another, l, d);
    RUN(r_tried_once, l, d);
    RUN(r_never_given, l, d);
    RUN(r_fence_in_loop, l, d, 3);
    RUN(r_loop_goes_on, l, d, 3);
    RUN(r_rounds_by_thread, l, d);
    RUN(r_barrier_of_some, l, d);
    r_in_the_wait<<<8, 1>>>(l, d);
    RUN(r_lock_of_the_block_itself, d);
    return cudaDeviceSynchronize() != cudaSuccess;
}
