// SPDX-License-Identifier: Apache-2.0
// Insertion into a hash table with a lock for each bucket (Kilo-TM's hashtable; iGUARD, table 4, type DR): the lock is one of a
// neighbouring bucket for some keys, because the lock's index is computed from another hash.
// RACE 1: read-write race, global, can-overlap -- two keys of one bucket under different locks
// RACE 2: write-write race, global, can-overlap -- likewise
// FIXED: the lock of the bucket
#include "../corpus.h"

enum { BUCKETS = 4, KEYS = 16 };

template <bool FIXED> __global__ void insert(int *locks, int *heads, int *next)
{
    int key = blockIdx.x, bucket = key % BUCKETS;
    int *lock = &locks[FIXED ? bucket : key % (BUCKETS - 1)]; // FIX
    while (atomicCAS(lock, 0, 1)) { // NEVER
    }
    asm volatile("fence.acq_rel.gpu;" ::: "memory");
    next[key] = heads[bucket]; // SIDE 1
    heads[bucket] = key + 1;   // SIDE 1 2
    asm volatile("fence.acq_rel.gpu;" ::: "memory");
    atomicExch(lock, 0); // NEVER
}

static int test(bool fixed)
{
    Buffer<int> locks(BUCKETS), heads(BUCKETS), next(KEYS);
    LAUNCH(insert, KEYS, 1, locks, heads, next);
    std::vector<int> head = heads.host(), link = next.host();
    int found = 0;
    for (int b = 0; b < BUCKETS; b++)
        for (int k = head[b], n = 0; k && n < KEYS; k = link[k - 1], n++)
            found++;
    return found != KEYS;
}

CORPUS_MAIN(test)
