// SPDX-License-Identifier: Apache-2.0
// commit — one lane's atomic operation, where other threads of the host may do theirs at the same time: launches that
// are spread over several threads (spread.h), and memory that the program's own host threads can reach. Internal.
//
// All are sequentially consistent, which is more than any PTX qualifier asks for and what x86 does anyway. A relaxed
// operation that would not change the value (a compare that fails, a bit that is set) may be told to store nothing: no
// thread can see the difference, and the cache line stays where it is. One that releases always stores: a load alone
// could overtake the thread's earlier stores.
#ifndef GR_VM_CORE_COMMIT_H
#define GR_VM_CORE_COMMIT_H

#include "ptx/ptx.h"

#include <stdbool.h>
#include <stdint.h>

// Whether an operation with this qualifier may store nothing where the value stays the same.
static inline bool gr_vm_may_idle(PtxSem sem) { return sem == PTX_RELAXED || sem == PTX_ACQUIRE; }

// Replaces the element of `bytes` (2, 4 or 8, aligned) at `p` by apply(old, a, b), by old + a if apply is NULL; yields
// the old one.
// `idle`: it stores nothing where that is the same.
static inline uint64_t gr_vm_commit(void *p, unsigned bytes,
                                    uint64_t (*apply)(uint64_t old, uint64_t a, uint64_t b), uint64_t a,
                                    uint64_t b, bool idle) {
    if (!apply)
        return bytes == 4 ? __atomic_fetch_add((uint32_t *)p, (uint32_t)a, __ATOMIC_SEQ_CST)
                          : __atomic_fetch_add((uint64_t *)p, a, __ATOMIC_SEQ_CST);
#define GR_COMMIT(T)                                                                                         \
    T old = __atomic_load_n((T *)p, __ATOMIC_SEQ_CST), v;                                                    \
    do                                                                                                       \
        v = (T)apply(old, a, b);                                                                             \
    while (!(idle && v == old) &&                                                                            \
           !__atomic_compare_exchange_n((T *)p, &old, v, true, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));         \
    return old
    if (bytes == 2) {
        GR_COMMIT(uint16_t);
    } else if (bytes == 4) {
        GR_COMMIT(uint32_t);
    } else {
        GR_COMMIT(uint64_t);
    }
#undef GR_COMMIT
}

// 16 bytes: stores `value` if they are `expected`, or in any case if that is NULL. atom.c
void gr_vm_commit_wide(void *p, const uint64_t *expected, const uint64_t value[2], uint64_t old[2]);

#endif
