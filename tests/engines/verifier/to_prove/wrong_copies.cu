// SPDX-License-Identifier: Apache-2.0
// Asynchronous copies and the waits that complete them: c_ waits, r_ does not, or not for this copy, or not behind the barrier.
// test_check.py asks that none of r_ is proved and all of c_ are, and that a race is shown in those that a replay can show.
#include <cuda_pipeline_primitives.h>
#include <cuda_runtime.h>

#define S __syncthreads()
#define COPY(to, from) asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"((unsigned)__cvta_generic_to_shared(to)), "l"(__cvta_generic_to_global(from)) : "memory")
#define COPY_SOME(to, from, size) asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"((unsigned)__cvta_generic_to_shared(to)), "l"(__cvta_generic_to_global(from)), "r"(size) : "memory")
#define COMMIT asm volatile("cp.async.commit_group;" ::: "memory")
#define WAIT(n) asm volatile("cp.async.wait_group %0;" ::"n"(n) : "memory")
#define WAIT_ALL asm volatile("cp.async.wait_all;" ::: "memory")

__global__ void c_own(int *d, int *g, int n) { __shared__ int s[256]; int t = threadIdx.x; COPY(&s[t], g + t); WAIT_ALL; d[t] = s[t]; }
__global__ void r_own(int *d, int *g, int n) { __shared__ int s[256]; int t = threadIdx.x; COPY(&s[t], g + t); d[t] = s[t]; }
__global__ void r_not_committed(int *d, int *g, int n) { __shared__ int s[256]; int t = threadIdx.x; COPY(&s[t], g + t); WAIT(0); d[t] = s[t]; }
__global__ void c_committed(int *d, int *g, int n) { __shared__ int s[256]; int t = threadIdx.x; COPY(&s[t], g + t); COMMIT; WAIT(0); d[t] = s[t]; }
__global__ void c_first_of_two(int *d, int *g, int n) { __shared__ int s[256]; int t = threadIdx.x; COPY(&s[t], g + t); COMMIT; COPY(&s[64 + t], g + t); COMMIT; WAIT(1); d[t] = s[t]; WAIT_ALL; }
__global__ void r_second_of_two(int *d, int *g, int n) { __shared__ int s[256]; int t = threadIdx.x; COPY(&s[t], g + t); COMMIT; COPY(&s[64 + t], g + t); COMMIT; WAIT(1); d[t] = s[64 + t]; }
__global__ void r_two_to_one(int *d, int *g, int n) { __shared__ int s[256]; int t = threadIdx.x; COPY(&s[t], g + t); COMMIT; COPY(&s[t], g + 64 + t); COMMIT; WAIT(0); d[t] = s[t]; }
__global__ void r_all_to_one(int *d, int *g, int n) { __shared__ int s[256]; int t = threadIdx.x; COPY(&s[n], g + t); WAIT_ALL; S; d[t] = s[n]; }
__global__ void c_barrier(int *d, int *g, int n) { __shared__ int s[256]; int t = threadIdx.x; COPY(&s[t], g + t); COMMIT; WAIT(0); S; d[t] = s[63 - t]; }
__global__ void r_barrier_first(int *d, int *g, int n) { __shared__ int s[256]; int t = threadIdx.x; COPY(&s[t], g + t); COMMIT; S; WAIT(0); d[t] = s[63 - t]; }
__global__ void r_no_barrier(int *d, int *g, int n) { __shared__ int s[256]; int t = threadIdx.x; COPY(&s[t], g + t); COMMIT; WAIT(0); d[t] = s[63 - t]; }
__global__ void r_no_wait(int *d, int *g, int n) { __shared__ int s[256]; int t = threadIdx.x; COPY(&s[t], g + t); COMMIT; S; d[t] = s[63 - t]; }
__global__ void r_wait_for_older(int *d, int *g, int n) { __shared__ int s[256]; int t = threadIdx.x; COPY(&s[t], g + t); COMMIT; WAIT(1); S; d[t] = s[63 - t]; }
__global__ void r_store_before(int *d, int *g, int n) { __shared__ int s[256]; int t = threadIdx.x; s[63 - t] = t; COPY(&s[t], g + t); WAIT_ALL; S; d[t] = s[t]; }
__global__ void c_store_before(int *d, int *g, int n) { __shared__ int s[256]; int t = threadIdx.x; s[63 - t] = t; S; COPY(&s[t], g + t); WAIT_ALL; S; d[t] = s[63 - t]; }
__global__ void c_source(int *d, int *g, int n) { __shared__ int s[256]; int t = threadIdx.x; COPY(&s[t], g + t); WAIT_ALL; S; g[63 - t] = t; }
__global__ void r_source(int *d, int *g, int n) { __shared__ int s[256]; int t = threadIdx.x; COPY(&s[t], g + t); S; g[63 - t] = t; }
__global__ void c_source_own(int *d, int *g, int n) { __shared__ int s[256]; int t = threadIdx.x; COPY(&s[t], g + t); WAIT_ALL; g[t] = s[t]; }
__global__ void r_source_own(int *d, int *g, int n) { __shared__ int s[256]; int t = threadIdx.x; COPY(&s[t], g + t); g[t] = t; WAIT_ALL; }
__global__ void c_nothing_read(int *d, int *g, int n) { __shared__ int s[256]; int t = threadIdx.x; COPY_SOME(&s[t], g + t, 0); g[63 - t] = t; WAIT_ALL; }
__global__ void r_something_read(int *d, int *g, int n) { __shared__ int s[256]; int t = threadIdx.x; COPY_SOME(&s[t], g + t, n); g[63 - t] = t; WAIT_ALL; }
__global__ void c_other_half(int *d, int *g, int n) { __shared__ int s[256]; int t = threadIdx.x; COPY(&s[t], g + t); S; s[64 + t] = t; S; d[t] = s[127 - t]; WAIT_ALL; }
__global__ void r_some_wait(int *d, int *g, int n) { __shared__ int s[256]; int t = threadIdx.x; COPY(&s[t], g + t); if (g[t + 64] > 5) WAIT_ALL; d[t] = s[t]; }
__global__ void r_some_wait_first(int *d, int *g, int n) { __shared__ int s[256]; int t = threadIdx.x; COPY(&s[t], g + t); if (t < 32) WAIT_ALL; S; d[t] = s[63 - t]; }
__global__ void r_some_commit(int *d, int *g, int n) { __shared__ int s[256]; int t = threadIdx.x; COPY(&s[t], g + t); COMMIT; COPY(&s[64 + t], g + t); if (g[t + 64] > 5) COMMIT; WAIT(1); d[t] = s[t]; }
__global__ void c_some_copy(int *d, int *g, int n) { __shared__ int s[256]; int t = threadIdx.x; if (t < n) COPY(&s[t], g + t); COMMIT; WAIT(0); S; if (t < n) d[t] = s[n - 1 - t]; }
__global__ void c_rounds(int *d, int *g, int n) { __shared__ int s[256]; int t = threadIdx.x; for (int i = 0; i < n; i++) { COPY(&s[t], g + i * 64 + t); COMMIT; WAIT(0); S; d[t] += s[63 - t]; S; } }
__global__ void r_rounds_one_barrier(int *d, int *g, int n) { __shared__ int s[256]; int t = threadIdx.x; for (int i = 0; i < n; i++) { COPY(&s[t], g + i * 64 + t); COMMIT; WAIT(0); S; d[t] += s[63 - t]; } }
__global__ void r_rounds_late(int *d, int *g, int n) { __shared__ int s[256]; int t = threadIdx.x; for (int i = 0; i < n; i++) { WAIT(0); S; d[t] += s[63 - t]; COPY(&s[t], g + i * 64 + t); COMMIT; } }
__global__ void c_two_buffers(int *d, int *g, int n) { __shared__ int s[256]; int t = threadIdx.x; COPY(&s[t], g + t); COMMIT; for (int i = 0; i < n; i++) { if (i + 1 < n) COPY(&s[(i + 1) % 2 * 64 + t], g + (i + 1) * 64 + t); COMMIT; WAIT(1); S; d[t] += s[i % 2 * 64 + 63 - t]; S; } }
__global__ void r_two_buffers_one_barrier(int *d, int *g, int n) { __shared__ int s[256]; int t = threadIdx.x; COPY(&s[t], g + t); COMMIT; for (int i = 0; i < n; i++) { if (i + 1 < n) COPY(&s[(i + 1) % 2 * 64 + t], g + (i + 1) * 64 + t); COMMIT; WAIT(1); S; d[t] += s[i % 2 * 64 + 63 - t]; } }
__global__ void r_two_buffers_last(int *d, int *g, int n) { __shared__ int s[256]; int t = threadIdx.x; COPY(&s[t], g + t); COMMIT; for (int i = 0; i < n; i++) { if (i + 1 < n) { COPY(&s[(i + 1) % 2 * 64 + t], g + (i + 1) * 64 + t); COMMIT; } WAIT(1); S; d[t] += s[i % 2 * 64 + 63 - t]; S; } }
__global__ void r_two_buffers_wait_two(int *d, int *g, int n) { __shared__ int s[256]; int t = threadIdx.x; COPY(&s[t], g + t); COMMIT; for (int i = 0; i < n; i++) { if (i + 1 < n) COPY(&s[(i + 1) % 2 * 64 + t], g + (i + 1) * 64 + t); COMMIT; WAIT(2); S; d[t] += s[i % 2 * 64 + 63 - t]; S; } }
__global__ void c_three_buffers(int *d, int *g, int n) { __shared__ int s[256]; int t = threadIdx.x; COPY(&s[t], g + t); COMMIT; COPY(&s[64 + t], g + 64 + t); COMMIT; for (int i = 0; i < n; i++) { WAIT(1); S; d[t] += s[i % 3 * 64 + 63 - t]; COPY(&s[(i + 2) % 3 * 64 + t], g + (i + 2) * 64 + t); COMMIT; } }
__global__ void r_three_buffers_wait_two(int *d, int *g, int n) { __shared__ int s[256]; int t = threadIdx.x; COPY(&s[t], g + t); COMMIT; COPY(&s[64 + t], g + 64 + t); COMMIT; for (int i = 0; i < n; i++) { WAIT(2); S; d[t] += s[i % 3 * 64 + 63 - t]; COPY(&s[(i + 2) % 3 * 64 + t], g + (i + 2) * 64 + t); COMMIT; } }
__global__ void r_three_buffers_copy_first(int *d, int *g, int n) { __shared__ int s[256]; int t = threadIdx.x; COPY(&s[t], g + t); COMMIT; COPY(&s[64 + t], g + 64 + t); COMMIT; for (int i = 0; i < n; i++) { COPY(&s[(i + 2) % 3 * 64 + t], g + (i + 2) * 64 + t); COMMIT; WAIT(2); S; d[t] += s[i % 3 * 64 + 63 - t]; } }
__global__ void c_behind_loop(int *d, int *g, int n) { __shared__ int s[256]; int t = threadIdx.x; for (int i = 0; i < n; i++) { COPY(&s[i % 4 * 64 + t], g + i * 64 + t); COMMIT; if (i % 4 == 3) WAIT(0); } WAIT(0); S; d[t] = s[63 - t]; }
__global__ void r_behind_loop(int *d, int *g, int n) { __shared__ int s[256]; int t = threadIdx.x; for (int i = 0; i < 4; i++) { COPY(&s[i * 64 + t], g + i * 64 + t); COMMIT; } WAIT(1); S; d[t] = s[255 - t]; }
__global__ void c_older_behind_loop(int *d, int *g, int n) { __shared__ int s[256]; int t = threadIdx.x; for (int i = 0; i < 4; i++) { COPY(&s[i * 64 + t], g + i * 64 + t); COMMIT; } WAIT(1); S; d[t] = s[191 - t]; WAIT_ALL; }
__global__ void r_nested(int *d, int *g, int n) { __shared__ int s[256]; int t = threadIdx.x; for (int i = 0; i < n; i++) { COPY(&s[t], g + t); COMMIT; for (int j = 4; j < n; j++) { WAIT(0); } S; d[t] += s[63 - t]; S; } }
__global__ void c_nested(int *d, int *g, int n) { __shared__ int s[256]; int t = threadIdx.x; for (int i = 0; i < n; i++) { for (int j = 0; j < 4; j++) { COPY(&s[j * 64 + t], g + t); COMMIT; } WAIT(0); S; for (int j = 0; j < 4; j++) d[t] += s[j * 64 + 63 - t]; S; } }
__global__ void r_nested_open(int *d, int *g, int n) { __shared__ int s[256]; int t = threadIdx.x; for (int i = 0; i < n; i++) { for (int j = 0; j < 4; j++) { COPY(&s[j * 64 + t], g + t); COMMIT; } WAIT(1); S; for (int j = 0; j < 4; j++) d[t] += s[j * 64 + 63 - t]; S; } }
__global__ void c_primitives(int *d, int *g, int n) { __shared__ int s[256]; int t = threadIdx.x; __pipeline_memcpy_async(&s[t], g + t, 4); __pipeline_commit(); __pipeline_wait_prior(0); S; d[t] = s[63 - t]; }
__global__ void r_primitives(int *d, int *g, int n) { __shared__ int s[256]; int t = threadIdx.x; __pipeline_memcpy_async(&s[t], g + t, 4); __pipeline_commit(); S; __pipeline_wait_prior(0); d[t] = s[63 - t]; }
__global__ void c_stages(int *d, int *g, int n) { __shared__ int s[256]; int t = threadIdx.x; for (int i = 0; i < 2; i++) { __pipeline_memcpy_async(&s[i * 64 + t], g + i * 64 + t, 4); __pipeline_commit(); } for (int i = 0; i < n; i++) { __pipeline_wait_prior(1); S; d[t] += s[i % 2 * 64 + 63 - t]; S; __pipeline_memcpy_async(&s[i % 2 * 64 + t], g + (i + 2) * 64 + t, 4); __pipeline_commit(); } }
__global__ void r_stages(int *d, int *g, int n) { __shared__ int s[256]; int t = threadIdx.x; for (int i = 0; i < 2; i++) { __pipeline_memcpy_async(&s[i * 64 + t], g + i * 64 + t, 4); __pipeline_commit(); } for (int i = 0; i < n; i++) { __pipeline_wait_prior(1); S; d[t] += s[i % 2 * 64 + 63 - t]; __pipeline_memcpy_async(&s[i % 2 * 64 + t], g + (i + 2) * 64 + t, 4); __pipeline_commit(); } }

int main() {
    int *d, *g;
    cudaMalloc(&d, 1 << 16);
    cudaMalloc(&g, 1 << 16);
    c_own<<<1, 64>>>(d, g, 4);
    r_own<<<1, 64>>>(d, g, 4);
    r_not_committed<<<1, 64>>>(d, g, 4);
    c_committed<<<1, 64>>>(d, g, 4);
    c_first_of_two<<<1, 64>>>(d, g, 4);
    r_second_of_two<<<1, 64>>>(d, g, 4);
    r_two_to_one<<<1, 64>>>(d, g, 4);
    r_all_to_one<<<1, 64>>>(d, g, 4);
    c_barrier<<<1, 64>>>(d, g, 4);
    r_barrier_first<<<1, 64>>>(d, g, 4);
    r_no_barrier<<<1, 64>>>(d, g, 4);
    r_no_wait<<<1, 64>>>(d, g, 4);
    r_wait_for_older<<<1, 64>>>(d, g, 4);
    r_store_before<<<1, 64>>>(d, g, 4);
    c_store_before<<<1, 64>>>(d, g, 4);
    c_source<<<1, 64>>>(d, g, 4);
    r_source<<<1, 64>>>(d, g, 4);
    c_source_own<<<1, 64>>>(d, g, 4);
    r_source_own<<<1, 64>>>(d, g, 4);
    c_nothing_read<<<1, 64>>>(d, g, 4);
    r_something_read<<<1, 64>>>(d, g, 4);
    c_other_half<<<1, 64>>>(d, g, 4);
    r_some_wait<<<1, 64>>>(d, g, 4);
    r_some_wait_first<<<1, 64>>>(d, g, 4);
    r_some_commit<<<1, 64>>>(d, g, 4);
    c_some_copy<<<1, 64>>>(d, g, 4);
    c_rounds<<<1, 64>>>(d, g, 4);
    r_rounds_one_barrier<<<1, 64>>>(d, g, 4);
    r_rounds_late<<<1, 64>>>(d, g, 4);
    c_two_buffers<<<1, 64>>>(d, g, 4);
    r_two_buffers_one_barrier<<<1, 64>>>(d, g, 4);
    r_two_buffers_last<<<1, 64>>>(d, g, 4);
    r_two_buffers_wait_two<<<1, 64>>>(d, g, 4);
    c_three_buffers<<<1, 64>>>(d, g, 4);
    r_three_buffers_wait_two<<<1, 64>>>(d, g, 4);
    r_three_buffers_copy_first<<<1, 64>>>(d, g, 4);
    c_behind_loop<<<1, 64>>>(d, g, 4);
    r_behind_loop<<<1, 64>>>(d, g, 4);
    c_older_behind_loop<<<1, 64>>>(d, g, 4);
    r_nested<<<1, 64>>>(d, g, 4);
    c_nested<<<1, 64>>>(d, g, 4);
    r_nested_open<<<1, 64>>>(d, g, 4);
    c_primitives<<<1, 64>>>(d, g, 4);
    r_primitives<<<1, 64>>>(d, g, 4);
    c_stages<<<1, 64>>>(d, g, 4);
    r_stages<<<1, 64>>>(d, g, 4);
    return cudaDeviceSynchronize();
}
