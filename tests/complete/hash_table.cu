// SPDX-License-Identifier: Apache-2.0
// Hash tables: open addressing with 64-bit compare and swap (insert, count duplicates, look up, erase), and buckets with
// linked lists whose nodes come from a pool and are pushed with compare and swap. Then a table guarded by spin locks.
#include "complete.h"
#include <cuda/atomic>
#include <map>

typedef unsigned long long Slot; // key above, count below
const Slot EMPTY = ~0ull;
const int NIL = -1;

__host__ __device__ unsigned mix(unsigned k)
{
    k = (k ^ (k >> 16)) * 0x85ebca6bu;
    k = (k ^ (k >> 13)) * 0xc2b2ae35u;
    return k ^ (k >> 16);
}

__global__ void insert(Slot *table, unsigned capacity, const unsigned *keys, int n, unsigned *failed)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned key = keys[i], at = mix(key) % capacity;
    for (unsigned probe = 0; probe < capacity; probe++, at = at + 1 == capacity ? 0 : at + 1) {
        Slot old = atomicCAS(&table[at], EMPTY, (Slot)key << 32 | 1);
        if (old == EMPTY)
            return;
        if (old >> 32 == key) {
            atomicAdd(&table[at], 1);
            return;
        }
    }
    atomicAdd(failed, 1);
}

__global__ void look_up(const Slot *table, unsigned capacity, const unsigned *keys, int n, unsigned *counts)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned at = mix(keys[i]) % capacity, count = 0;
    for (unsigned probe = 0; probe < capacity && table[at] != EMPTY; probe++, at = at + 1 == capacity ? 0 : at + 1)
        if (table[at] >> 32 == keys[i]) {
            count = (unsigned)table[at];
            break;
        }
    counts[i] = count;
}

struct Node {
    unsigned key;
    int next;
};

__global__ void push(int *heads, unsigned buckets, Node *pool, int *used, const unsigned *keys, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int node = atomicAdd(used, 1);
    cuda::atomic_ref<int, cuda::thread_scope_device> head(heads[mix(keys[i]) % buckets]);
    pool[node].key = keys[i];
    int old = head.load(cuda::memory_order_relaxed);
    do
        pool[node].next = old;
    while (!head.compare_exchange_weak(old, node, cuda::memory_order_release, cuda::memory_order_relaxed));
}

__global__ void count_in_lists(const int *heads, unsigned buckets, const Node *pool, const unsigned *keys, int n, unsigned *counts)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned count = 0;
    for (int node = heads[mix(keys[i]) % buckets]; node != NIL; node = pool[node].next)
        count += pool[node].key == keys[i];
    counts[i] = count;
}

// Each lock guards a bucket's count and its sum, which are plain variables.
struct Bucket {
    int lock;
    unsigned count;
    unsigned long long sum;
};

__global__ void add_locked(Bucket *buckets, unsigned count, const unsigned *keys, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    Bucket &b = buckets[mix(keys[i]) % count];
    cuda::atomic_ref<int, cuda::thread_scope_device> lock(b.lock);
    while (lock.exchange(1, cuda::memory_order_acquire))
        __nanosleep(50);
    b.count++;
    b.sum += keys[i];
    lock.store(0, cuda::memory_order_release);
}

int main()
{
    const int n = 5003, block = 96;
    const unsigned capacity = 2711, buckets = 509, locked = 61;
    Random random(28);
    std::vector<unsigned> keys(n), queries(n), want(n);
    std::map<unsigned, unsigned> truth;
    for (auto &k : keys)
        truth[k = random.below(2500)]++;
    for (int i = 0; i < n; i++) {
        queries[i] = random.below(5000);
        want[i] = truth.count(queries[i]) ? truth[queries[i]] : 0;
    }
    unsigned *d_keys = to_device(keys), *d_queries = to_device(queries), *counts = device_new<unsigned>(n), *failed = device_zeros<unsigned>(1);
    Slot *table = device_new<Slot>(capacity);
    CHECK(cudaMemset(table, 0xff, capacity * sizeof(Slot)));
    unsigned blocks = blocks_for(n, block);
    insert<<<blocks, block>>>(table, capacity, d_keys, n, failed);
    look_up<<<blocks, block>>>(table, capacity, d_queries, n, counts);
    finish_launches();
    expect_same("open addressing", from_device(counts, n), want);
    expect_same("failed", from_device(failed), 0u);

    int *heads = to_device(std::vector<int>(buckets, NIL)), *used = device_zeros<int>(1);
    Node *pool = device_new<Node>(n);
    push<<<blocks, block>>>(heads, buckets, pool, used, d_keys, n);
    count_in_lists<<<blocks, block>>>(heads, buckets, pool, d_queries, n, counts);
    finish_launches();
    expect_same("lists", from_device(counts, n), want);

    Bucket *guarded = device_zeros<Bucket>(locked);
    const int few = 700;
    add_locked<<<blocks_for(few, block), block>>>(guarded, locked, d_keys, few);
    finish_launches();
    std::vector<unsigned> count(locked, 0), got_count;
    std::vector<unsigned long long> sum(locked, 0), got_sum;
    for (int i = 0; i < few; i++) {
        count[mix(keys[i]) % locked]++;
        sum[mix(keys[i]) % locked] += keys[i];
    }
    for (auto &b : from_device(guarded, locked)) {
        got_count.push_back(b.count);
        got_sum.push_back(b.sum);
    }
    expect_same("locked counts", got_count, count);
    expect_same("locked sums", got_sum, sum);
    return finish();
}
