// What fence.sc (__threadfence()) decides: uses of it that are right, by the argument, and in modes from 20 on uses that only seem to be.
// expect: exact,tracker -- 0 => clean
// expect: exact,tracker,collider+exact -- 0 => clean soak
// expect: exact,tracker,collider+exact -- 1 => clean soak
// expect: exact,tracker,collider+exact -- 2 => clean soak
// expect: exact,tracker,collider+exact -- 3 => clean soak
// expect: exact,tracker,collider+exact -- 4 => clean soak
// expect: exact,tracker,collider+exact -- 5 => clean soak
// expect: exact,tracker,collider+exact -- 6 => clean soak
// expect: exact -- 21 => races only "ordered by chance"
// expect: exact,collider+exact -- 20 => races soak
// expect: exact,collider+exact -- 21 => races only "ordered by chance" soak
// expect: tracker -- 20 => races soak
// expect: tracker -- 21 => races soak
// expect: exact -- 22 => races only "ordered by chance" soak
// expect: exact,tracker,collider+exact -- 23 => races only "ordered by chance" soak
#include "../../check.h"
#include <cuda/atomic>

__device__ int flag[4], turn, data, arrived, result[64], unused[2];

__device__ int get(int *p) { return cuda::atomic_ref<int, cuda::thread_scope_device>(*p).load(cuda::memory_order_relaxed); }
__device__ void put(int *p, int v) {
    cuda::atomic_ref<int, cuda::thread_scope_device>(*p).store(v, cuda::memory_order_relaxed);
}

__device__ void rest(int times) {
    for (int i = 0; i < times; i++)
        __nanosleep(10000);
}

// Store buffering: one of the two at most sees the other's flag down.
__device__ void crosswise(int me) {
    put(&flag[me], 1);
    __threadfence();
    if (!get(&flag[!me]))
        data += me + 1;
}

// The same by several threads of each block: one raises the flag, another one looks.
__device__ void crosswise_by_many(int me) {
    if (threadIdx.x == 0)
        put(&flag[me], 1);
    __syncthreads();
    if (threadIdx.x == 32) {
        __threadfence();
        result[me] = !get(&flag[!me]);
    }
    __syncthreads();
    if (threadIdx.x == 1 && result[me])
        data += me + 1;
}

// IRIW: two write, and of two that read one at most sees its first word written, and its second one not.
__device__ void four(int me) {
    if (me < 2) {
        put(&flag[me], 1);
        return;
    }
    int first = get(&flag[me - 2]);
    __threadfence();
    if (first && !get(&flag[3 - me]))
        data += me;
}

__device__ void peterson(int me) {
    for (int i = 0; i < 3; i++) {
        put(&flag[me], 1);
        put(&turn, !me);
        __threadfence();
        while (get(&flag[!me]) && get(&turn) == !me) {
        }
        __threadfence();
        data += me + 1;
        __threadfence();
        put(&flag[me], 0);
    }
}

// What libcu++ makes of sequentially consistent atomics: a fence.sc before each operation.
__device__ void in_libcu(int me) {
    cuda::atomic_ref<int, cuda::thread_scope_device> mine(flag[me]), other(flag[!me]);
    mine.store(1);
    if (!other.load())
        data += me + 1;
}

// The last block sums up.
__device__ void last(int blocks) {
    result[blockIdx.x] = blockIdx.x;
    __threadfence();
    if (atomicAdd(&arrived, 1) == blocks - 1) {
        __threadfence();
        for (int i = 0; i < blocks; i++)
            data += result[i];
    }
}

// Both lock what is one lock, and wait for it.
__device__ void locked(int me) {
    while (atomicCAS(&turn, 0, 1))
        __nanosleep(100);
    __threadfence();
    data += me;
    __threadfence();
    atomicExch(&turn, 0);
}

// Each changes its own word between the fences, and reads what nobody writes.
__device__ void apart(int me) {
    if (me)
        rest(20);
    data += 1;
    __threadfence();
    put(&unused[me], 1);
    data += get(&flag[2]);
    __threadfence();
    data += 1;
}

// The same through barriers: one writes, another one fences.
__device__ void apart_by_many(int me) {
    if (me)
        rest(20);
    if (threadIdx.x == 0 && !me)
        data = 1;
    __syncthreads();
    if (threadIdx.x == 32)
        __threadfence();
    __syncthreads();
    if (threadIdx.x == 1 && me)
        result[0] = data;
}

// Within a block.
__device__ void narrow(int w) {
    if (w)
        rest(20);
    if (!w)
        data = 1;
    __threadfence_block();
    if (w)
        result[0] = data;
}

__global__ void k(int mode) {
    int me = blockIdx.x, one = threadIdx.x == 0;
    switch (mode) {
    case 0: one ? crosswise(me) : (void)0; break;
    case 1: crosswise_by_many(me); break;
    case 2: one ? four(me) : (void)0; break;
    case 3: one ? peterson(me) : (void)0; break;
    case 4: one ? in_libcu(me) : (void)0; break;
    case 5: one ? last(gridDim.x) : (void)0; break;
    case 6: one ? locked(me) : (void)0; break;
    case 20: one ? apart(me) : (void)0; break;
    case 21: apart_by_many(me); break;
    case 22: threadIdx.x % 32 ? (void)0 : narrow(threadIdx.x / 32); break;
    case 23:
        if (one && me)
            rest(20);
        if (one) {
            while (atomicCAS(&flag[me], 0, 1)) {
            }
            __threadfence();
            data += me;
            __threadfence();
            atomicExch(&flag[me], 0);
        }
        break;
    }
}

int main(int, char **argv) {
    int mode = atoi(argv[1]);
    k<<<mode == 22 ? 1 : mode == 2 ? 4 : mode == 5 ? 8 : 2, 64>>>(mode);
    CHECK(cudaDeviceSynchronize());
}
