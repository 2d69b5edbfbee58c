// SPDX-License-Identifier: Apache-2.0
// Locks and flags that are none, though they look like some: c_ orders, r_ does not. test_check.py asks that none of r_ is proved and all of c_ are.
#include <cuda_runtime.h>

#define F __threadfence()
typedef volatile int *vi;

__device__ void take(int *lock) { while (atomicCAS(lock, 0, 1) != 0) {} }
__device__ void give(int *lock) { atomicExch(lock, 0); }

// ---- Locks

__global__ void r_release_in_loop(int *l, int *d, int n) { take(l); F; for (int i = 0; i < n; i++) { *d += 1; F; give(l); } }
__global__ void r_init_by_all(int *l, int *d) { atomicExch(l, 0); take(l); F; *d += 1; F; give(l); }
__global__ void r_double_release(int *l, int *d) { take(l); F; *d += 1; F; give(l); F; give(l); }
__global__ void r_release_by_all(int *l, int *d) { if (blockIdx.x % 2) { take(l); F; *d += 1; F; } give(l); }
__global__ void r_inverted(int *l, int *d) { while (atomicCAS(l, 0, 1) == 0) {} F; *d += 1; F; give(l); }
__global__ void r_never_set(int *l, int *d) { while (atomicCAS(l, 0, 0) != 0) {} F; *d += 1; F; give(l); }
__global__ void r_exch_free(int *l, int *d) { while (atomicExch(l, 0) != 0) {} F; *d += 1; F; give(l); }
__global__ void r_cas_other(int *l, int *d) { while (atomicCAS(l, 2, 1) == 1) {} F; *d += 1; F; give(l); }
__global__ void r_only_some_wait(int *l, int *d) { while (atomicCAS(l, 0, 1) != 0 && blockIdx.x == 0) {} F; *d += 1; F; give(l); }
__global__ void r_param_wait(int *l, int *d, int n) { while (atomicCAS(l, 0, 1) != 0 && n) {} F; *d += 1; F; give(l); }
__global__ void r_shared_lock(int *d) { __shared__ int l; take(&l); F; *d += 1; F; give(&l); }
__global__ void r_alias_writer(int *l, int *m, int *d) { take(l); F; *d += 1; F; give(l); *(volatile int *)m = 0; }
__global__ void r_alias_writer2(int *l, int *m, int *d) { take(l); F; *d += 1; F; give(l); m[blockIdx.x] = 0; }
__global__ void c_lock(int *l, int *d) { take(l); F; *d += 1; F; give(l); }
__global__ void c_twice(int *l, int *d) { take(l); F; *d += 1; F; give(l); take(l); F; *d += 2; F; give(l); }
__global__ void c_lock_around_loop(int *l, int *d, int n) { take(l); F; for (int i = 0; i < n; i++) *d += 1; F; give(l); }
__global__ void c_lock_in_loop(int *l, int *d, int n) { for (int i = 0; i < n; i++) { take(l); F; *d += 1; F; give(l);} }
__global__ void c_many(int *l, int *d, int n) { int i = blockIdx.x % 3; take(l + i); F; d[i] += 1; F; give(l + i); }
__global__ void c_exch(int *l, int *d) { while (atomicExch(l, 1) != 0) {} F; *d += 1; F; give(l); }
__global__ void r_given_back_before(int *l, int *d, int n) { take(l); F; if (n > 3) give(l); *d += 1; F; give(l); }
__global__ void r_given_back_twice_at_times(int *l, int *d, int n) { take(l); F; *d += 1; F; if (n > 3) give(l); give(l); }
__global__ void r_given_back_by_cas(int *l, int *d) { take(l); F; atomicCAS(l, 1, 0); *d += 1; F; give(l); }
__global__ void r_wide_reset(int *l, int *d) { *(volatile long long *)l = 0; take(l); F; *d += 1; F; give(l); }
__global__ void r_behind(int *l, int *d) { take(l); F; F; give(l); *d += 1; F; give(l); }
__global__ void r_taken_from_holder(int *l, int *d) { if (blockIdx.x % 2) { take(l); } else { while (atomicCAS(l, 1, 2) != 1) {} } F; *d += 1; F; give(l); }
__global__ void r_reset_while_waiting(int *l, int *d) { while (atomicCAS(l, 0, 1) != 0) atomicExch(l, 0); F; *d += 1; F; give(l); }
__global__ void r_one_thread_takes(int *l, int *d) { if (threadIdx.x == 0) take(l); __syncthreads(); F; *d += 1; F; give(l); }
__global__ void r_attempts(int *l, int *d) { for (int k = 0; k < 9 && atomicCAS(l, 0, 1) != 0; k++) {} F; *d += 1; F; give(l); }
__global__ void r_in_the_wait(int *l, int *d) { bool got; do { got = atomicCAS(l, 0, 1) == 0; F; *d += 1; } while (!got); F; give(l); }
__global__ void r_loop_in_the_wait(int *l, int *d, int n) { bool got; do { got = atomicCAS(l, 0, 1) == 0; F; for (int i = 0; i < n; i++) *d += 1; } while (!got); F; give(l); }
__global__ void c_wait_with_work(int *l, int *d) { bool got; int own = 0; do { got = atomicCAS(l, 0, 1) == 0; F; own++; } while (!got); *d += own; F; give(l); }

__global__ void r_given_back_half(int *l, int *d) { take(l); F; *d += 1; F; *(volatile short *)l = 0; }

// ---- Flags

__global__ void r_flag_some_wait(int *f, int *d) { if (blockIdx.x == 0) { *d = 1; F; *(vi)f = 1; } else { while (*(vi)f == 0 && blockIdx.x == 1) {} F; d[blockIdx.x] = *d; } }
__global__ void r_flag_param_wait(int *f, int *d, int n) { if (blockIdx.x == 0) { *d = 1; F; *(vi)f = 1; } else { while (*(vi)f == 0 && n) {} F; d[blockIdx.x] = *d; } }
__global__ void r_flag_alias(int *f, int *g, int *d) { if (blockIdx.x == 0) { *d = 1; F; *(vi)f = 1; } else if (blockIdx.x == 2) { *(vi)g = 1; } else { while (*(vi)f == 0) {} F; d[blockIdx.x] = *d; } }
__global__ void r_always(int *f, int *d) { if (blockIdx.x == 0) { *d = 1; F; *(vi)f = 1; } else { while ((*(vi)f & 0) != 0) {} F; d[blockIdx.x] = *d; } }
__global__ void r_nonneg(int *f, int *d) { if (blockIdx.x == 0) { *d = 1; F; *(vi)f = 1; } else { while (*(vi)f * 2 == 1) {} F; d[blockIdx.x] = *d; } }
__global__ void r_after_set(int *f, int *d) { if (blockIdx.x == 0) { *d = 1; F; *(vi)f = 1; *d = 2; } else { while (*(vi)f == 0) {} F; d[blockIdx.x] = *d; } }
__global__ void r_shared_flag(int *d) { __shared__ int f; if (threadIdx.x == 0 && blockIdx.x == 0) { *d = 1; F; *(vi)&f = 1; } else if (blockIdx.x) { while (*(vi)&f == 0) {} F; d[blockIdx.x] = *d; } }
__global__ void r_int_wait(int *f, int *d) { if (blockIdx.x == 0) { *d = 1; F; *(vi)f = 1; } else { for (int i = 0; i < 100 && *(vi)f == 0; i++) {} F; d[blockIdx.x] = *d; } }
__global__ void r_reverse(int *f, int *d) { if (blockIdx.x == 0) { F; *(vi)f = 1; F; *d = 1; } else { while (*(vi)f == 0) {} F; d[blockIdx.x] = *d; } }
__global__ void c_flag(int *f, int *d) { if (blockIdx.x == 0) { *d = 1; F; *(vi)f = 1; } else { while (*(vi)f == 0) {} F; d[blockIdx.x] = *d; } }
__global__ void r_flag_in_the_wait(int *f, int *d) { if (blockIdx.x == 0) { *d = 1; F; *(vi)f = 1; } else { int v, x; do { v = *(vi)f; F; x = *d; } while (v == 0); d[blockIdx.x] = x; } }
__global__ void r_flag_half_set(int *f, int *d) { if (blockIdx.x == 0) { *d = 1; F; *(volatile short *)f = 1; } else { while (*(vi)f == 0) {} F; d[blockIdx.x] = *d; } }
__global__ void r_flag_half_waited(int *f, int *d) { if (blockIdx.x == 0) { *d = 1; F; *(vi)f = 1; } else { while (*(volatile short *)f == 0) {} F; d[blockIdx.x] = *d; } }

// ---- Strong accesses: a vector is its elements

__device__ int word(int *p) { int v; asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory"); return v; }
__device__ void words(int *p, int v) { asm volatile("st.relaxed.gpu.global.v2.u32 [%0], {%1, %1};" ::"l"(p), "r"(v) : "memory"); }
__device__ void halves(int *p, short v) { asm volatile("st.relaxed.gpu.global.v2.u16 [%0], {%1, %1};" ::"l"(p), "h"(v) : "memory"); }
__device__ long long both(int *p) { long long v; asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(v) : "l"(p) : "memory"); return v; }
__global__ void c_words(int *p, int *d) { if (blockIdx.x == 0) words(p, 1); else d[blockIdx.x] = word(p + 1); }
__global__ void r_halves(int *p, int *d) { if (blockIdx.x == 0) halves(p, 1); else d[blockIdx.x] = word(p); }
__global__ void r_both(int *p, int *d) { if (blockIdx.x == 0) words(p, 1); else d[blockIdx.x] = (int)both(p); }

int main() {
    int *l, *d;
    cudaMalloc(&l, 4096);
    cudaMalloc(&d, 4096);
    cudaMemset(l, 0, 4096);
    r_release_in_loop<<<8, 1>>>(l, d, 3);
    r_init_by_all<<<8, 1>>>(l, d);
    r_double_release<<<8, 1>>>(l, d);
    r_release_by_all<<<8, 1>>>(l, d);
    r_inverted<<<8, 1>>>(l, d);
    r_never_set<<<8, 1>>>(l, d);
    r_exch_free<<<8, 1>>>(l, d);
    r_cas_other<<<8, 1>>>(l, d);
    r_only_some_wait<<<8, 1>>>(l, d);
    r_param_wait<<<8, 1>>>(l, d, 0);
    r_shared_lock<<<8, 1>>>(d);
    r_alias_writer<<<8, 1>>>(l, l, d);
    r_alias_writer2<<<8, 1>>>(l, l, d);
    c_lock<<<8, 1>>>(l, d);
    c_twice<<<8, 1>>>(l, d);
    c_lock_around_loop<<<8, 1>>>(l, d, 3);
    c_lock_in_loop<<<8, 1>>>(l, d, 3);
    c_many<<<8, 1>>>(l, d, 3);
    c_exch<<<8, 1>>>(l, d);
    r_in_the_wait<<<8, 1>>>(l, d);
    r_loop_in_the_wait<<<8, 1>>>(l, d, 3);
    c_wait_with_work<<<8, 1>>>(l, d);
    cudaMemset(l, 0, 4096);
    r_flag_in_the_wait<<<8, 1>>>(l, d);
    r_given_back_before<<<8, 1>>>(l, d, 5);
    r_given_back_twice_at_times<<<8, 1>>>(l, d, 5);
    r_given_back_by_cas<<<8, 1>>>(l, d);
    r_wide_reset<<<8, 1>>>(l, d);
    r_behind<<<8, 1>>>(l, d);
    r_taken_from_holder<<<8, 1>>>(l, d);
    r_reset_while_waiting<<<8, 1>>>(l, d);
    r_one_thread_takes<<<8, 2>>>(l, d);
    r_attempts<<<8, 1>>>(l, d);
    cudaMemset(l, 0, 4096);
    r_flag_some_wait<<<8, 1>>>(l, d);
    cudaMemset(l, 0, 4096);
    r_flag_param_wait<<<8, 1>>>(l, d, 0);
    cudaMemset(l, 0, 4096);
    r_flag_alias<<<8, 1>>>(l, l, d);
    cudaMemset(l, 0, 4096);
    r_always<<<8, 1>>>(l, d);
    cudaMemset(l, 0, 4096);
    r_nonneg<<<8, 1>>>(l, d);
    cudaMemset(l, 0, 4096);
    r_after_set<<<8, 1>>>(l, d);
    cudaMemset(l, 0, 4096);
    r_shared_flag<<<8, 1>>>(d);
    cudaMemset(l, 0, 4096);
    r_int_wait<<<8, 1>>>(l, d);
    cudaMemset(l, 0, 4096);
    r_reverse<<<8, 1>>>(l, d);
    cudaMemset(l, 0, 4096);
    c_flag<<<8, 1>>>(l, d);
    r_given_back_half<<<8, 1>>>(l, d);
    cudaMemset(l, 0, 4096);
    r_flag_half_set<<<8, 1>>>(l, d);
    cudaMemset(l, 0, 4096);
    r_flag_half_waited<<<8, 1>>>(l, d);
    c_words<<<8, 1>>>(l, d);
    r_halves<<<8, 1>>>(l, d);
    r_both<<<8, 1>>>(l, d);
    return cudaDeviceSynchronize() != cudaSuccess;
}
