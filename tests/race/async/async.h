// SPDX-License-Identifier: Apache-2.0
// The instructions of asynchronous copies, mbarriers and clusters, as macros: so that an access has the line of the
// program that uses it. Addresses of shared memory are pointers. The mbarrier of MBAR_READY may be used by both
// proxies.
#pragma once

#include "../corpus.h"

#include <cstdint>
#include <numeric>

#define SHARED(p) (static_cast<unsigned>(__cvta_generic_to_shared(p)))

// cp.async: groups and their waits.
#define CP_ASYNC(to, from)                                                                                   \
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(SHARED(to)), "l"(from) : "memory")
#define CP_ASYNC16(to, from)                                                                                 \
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(SHARED(to)), "l"(from) : "memory")
#define CP_COMMIT()     asm volatile("cp.async.commit_group;" ::: "memory")
#define CP_WAIT(groups) asm volatile("cp.async.wait_group %0;" ::"n"(groups) : "memory")
#define CP_ARRIVE(bar)                                                                                       \
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(SHARED(bar)) : "memory")

// mbarriers.
#define MBAR_INIT(bar, count)                                                                                \
    asm volatile("mbarrier.init.shared.b64 [%0], %1;\n\tfence.proxy.async;" ::"r"(SHARED(bar)), "r"(count)   \
                 : "memory")
#define MBAR_ARRIVE(bar)                                                                                     \
    asm volatile("{.reg .b64 s; mbarrier.arrive.shared.b64 s, [%0];}" ::"r"(SHARED(bar)) : "memory")
#define MBAR_EXPECT(bar, bytes)                                                                              \
    asm volatile("{.reg .b64 s; mbarrier.arrive.expect_tx.shared.b64 s, [%0], %1;}" ::"r"(SHARED(bar)),      \
                 "r"(bytes)                                                                                  \
                 : "memory")
#define MBAR_WAIT_AS(how, bar, parity)                                                                       \
    asm volatile("{.reg .pred p;\nAGAIN: mbarrier.try_wait.parity" how                                       \
                 ".b64 p, [%0], %1;\n@!p bra AGAIN;}" ::"r"(SHARED(bar)),                                    \
                 "r"(parity)                                                                                 \
                 : "memory")
#define MBAR_WAIT(bar, parity) MBAR_WAIT_AS(".shared", bar, parity)

// cp.async.bulk, and the fence that lets it see what was stored before.
#define BULK_LOAD(to, from, bytes, bar)                                                                      \
    asm volatile(                                                                                            \
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(     \
            SHARED(to)),                                                                                     \
        "l"(from), "r"(bytes), "r"(SHARED(bar))                                                              \
        : "memory")
#define BULK_STORE(to, from, bytes)                                                                          \
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(SHARED(from)), \
                 "r"(bytes)                                                                                  \
                 : "memory")
#define BULK_ADD(to, from, bytes)                                                                            \
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.s32 [%0], [%1], %2;" ::"l"(to),     \
                 "r"(SHARED(from)), "r"(bytes)                                                               \
                 : "memory")
#define BULK_COMMIT()          asm volatile("cp.async.bulk.commit_group;" ::: "memory")
#define BULK_WAIT(groups)      asm volatile("cp.async.bulk.wait_group %0;" ::"n"(groups) : "memory")
#define BULK_WAIT_READ(groups) asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(groups) : "memory")
#define FENCE_ASYNC()          asm volatile("fence.proxy.async.shared::cta;" ::: "memory")

// Clusters: `remote` is an address in the cluster's window.
static __device__ inline unsigned map_to_rank(const void *p, unsigned rank) {
    unsigned remote;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote) : "r"(SHARED(p)), "r"(rank));
    return remote;
}
static __device__ inline unsigned cluster_rank() {
    unsigned rank;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}
#define CLUSTER_ARRIVE()         asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory")
#define CLUSTER_ARRIVE_RELAXED() asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory")
#define CLUSTER_WAIT()           asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory")
#define CLUSTER_SYNC()                                                                                       \
    do {                                                                                                     \
        CLUSTER_ARRIVE();                                                                                    \
        CLUSTER_WAIT();                                                                                      \
    } while (0)
#define REMOTE_LOAD(value, remote)                                                                           \
    asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(value) : "r"(remote) : "memory")
#define REMOTE_STORE(remote, value)                                                                          \
    asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(remote), "r"(value) : "memory")

// Named barriers.
#define BAR_SYNC(id, threads)   asm volatile("bar.sync %0, %1;" ::"r"(id), "n"(threads) : "memory")
#define BAR_ARRIVE(id, threads) asm volatile("bar.arrive %0, %1;" ::"r"(id), "n"(threads) : "memory")

// 1, 2, 3, ...
static inline std::vector<int> numbers(int count) {
    std::vector<int> v(count);
    std::iota(v.begin(), v.end(), 1);
    return v;
}
