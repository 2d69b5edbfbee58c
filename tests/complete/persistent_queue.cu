// SPDX-License-Identifier: Apache-2.0
// Persistent threads that share a queue: each takes a task (an interval of numbers), splits it or counts its primes, and the
// kernel ends when no task is queued or in work. A bounded ring whose cells have sequence numbers (Vyukov's queue).
#include "complete.h"
#include <cuda/atomic>

struct Task {
    int first, last;
};

struct Cell {
    cuda::atomic<unsigned, cuda::thread_scope_device> turn;
    Task task;
};

const unsigned CELLS = 1024;

struct Queue {
    cuda::atomic<unsigned, cuda::thread_scope_device> head, tail;
    cuda::atomic<int, cuda::thread_scope_device> open; // tasks that are queued or in work
    int primes;
    Cell cell[CELLS];
};

__global__ void prepare(Queue *q, Task all)
{
    for (unsigned i = threadIdx.x; i < CELLS; i += blockDim.x)
        q->cell[i].turn.store(i, cuda::memory_order_relaxed);
    __syncthreads();
    if (threadIdx.x == 0) {
        q->cell[0].task = all;
        q->cell[0].turn.store(1, cuda::memory_order_release);
        q->head.store(0);
        q->tail.store(1);
        q->open.store(1);
        q->primes = 0;
    }
}

__device__ bool put(Queue *q, Task t)
{
    unsigned at = q->tail.load(cuda::memory_order_relaxed);
    for (;;) {
        Cell &c = q->cell[at % CELLS];
        unsigned turn = c.turn.load(cuda::memory_order_acquire);
        if (turn == at) {
            if (q->tail.compare_exchange_weak(at, at + 1, cuda::memory_order_relaxed)) {
                c.task = t;
                c.turn.store(at + 1, cuda::memory_order_release);
                return true;
            }
        } else if ((int)(turn - at) < 0) {
            return false; // full
        } else {
            at = q->tail.load(cuda::memory_order_relaxed);
        }
    }
}

__device__ bool take(Queue *q, Task *t)
{
    unsigned at = q->head.load(cuda::memory_order_relaxed);
    for (;;) {
        Cell &c = q->cell[at % CELLS];
        unsigned turn = c.turn.load(cuda::memory_order_acquire);
        if (turn == at + 1) {
            if (q->head.compare_exchange_weak(at, at + 1, cuda::memory_order_relaxed)) {
                *t = c.task;
                c.turn.store(at + CELLS, cuda::memory_order_release);
                return true;
            }
        } else if ((int)(turn - (at + 1)) < 0) {
            return false; // empty
        } else {
            at = q->head.load(cuda::memory_order_relaxed);
        }
    }
}

__device__ int count_primes(int first, int last)
{
    int count = 0;
    for (int n = max(first, 2); n < last; n++) {
        bool prime = true;
        for (int d = 2; d * d <= n && prime; d++)
            prime = n % d != 0;
        count += prime;
    }
    return count;
}

__global__ void work(Queue *q, int small, int *done_by)
{
    int mine = 0;
    while (q->open.load(cuda::memory_order_acquire) > 0) {
        Task t;
        if (!take(q, &t)) {
            __nanosleep(100);
            continue;
        }
        while (t.last - t.first > small) { // keep one half, queue the other
            int middle = (t.first + t.last) / 2;
            q->open.fetch_add(1, cuda::memory_order_relaxed);
            if (!put(q, {middle, t.last})) {
                q->open.fetch_sub(1, cuda::memory_order_relaxed);
                break;
            }
            t.last = middle;
        }
        atomicAdd(&q->primes, count_primes(t.first, t.last));
        mine++;
        q->open.fetch_sub(1, cuda::memory_order_release);
    }
    atomicAdd(done_by, mine);
}

int main()
{
    const int limit = 20011, small = 40;
    Queue *q = device_zeros<Queue>(1);
    int *done = device_zeros<int>(1);
    prepare<<<1, 128>>>(q, {0, limit});
    work<<<5, 64>>>(q, small, done);
    finish_launches();
    std::vector<char> composite(limit, 0);
    int want = 0;
    for (int n = 2; n < limit; n++) {
        want += !composite[n];
        for (int m = 2 * n; m < limit; m += n)
            composite[m] = 1;
    }
    expect_same("primes", from_device(&q->primes), want);
    EXPECT(from_device(done) >= limit / small / 2);
    return finish();
}
