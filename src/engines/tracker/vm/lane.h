// SPDX-License-Identifier: Apache-2.0
// lane — the machine as the device runtime, compiled for the host, sees it (device_api/device.h): one lane of a warp of
// the CPU device at a time. The rules are the same, nothing interprets them, and nothing comes between the look and the
// change of an access.
#ifndef GR_ENGINES_TRACKER_VM_LANE_H
#define GR_ENGINES_TRACKER_VM_LANE_H

#include "engines/tracker/vm/rules.h"
#include "vm/core/block.h"
#include "vm/core/launch.h"

#include <stdint.h>
#include <string.h>

#define GR_ENTRY static
#define GR_GLOBAL
#define GR_INLINE     static inline __attribute__((always_inline))
#define GR_SEQUENTIAL 1 // lanes come one after the other
#define GR_NOINLINE
#define GR_ROLLED
#define GR_CLUSTERS 1

static __thread RuleLane gr_lane_now;
// Where gr_now is. A function asks once: in a library the address of thread-local data takes a call.
static __attribute__((const, noinline)) RuleLane *gr_lane_at(void) { return &gr_lane_now; }
#define gr_now (*gr_lane_at())

GR_INLINE void *gr_host(const volatile void *at) {
    uint64_t a = (uint64_t)(uintptr_t)at;
    return (void *)(uintptr_t)(a - gr_now.base < gr_now.size ? a + (uint64_t)gr_now.delta : a);
}

GR_INLINE uint64_t gr_fetch64(const uint64_t *at) { return *(const uint64_t *)gr_host(at); }
GR_INLINE uint64_t gr_load64(const uint64_t *at) {
    return __atomic_load_n((uint64_t *)gr_host(at), __ATOMIC_RELAXED);
}
GR_INLINE uint64_t gr_load64_of_block(const uint64_t *at) { return gr_load64(at); }
GR_INLINE uint32_t gr_load32(const uint32_t *at) {
    return __atomic_load_n((uint32_t *)gr_host(at), __ATOMIC_RELAXED);
}
GR_INLINE void gr_store64(uint64_t *at, uint64_t v) {
    __atomic_store_n((uint64_t *)gr_host(at), v, __ATOMIC_RELAXED);
}
GR_INLINE void gr_store64_of_block(uint64_t *at, uint64_t v) { gr_store64(at, v); }
GR_INLINE void gr_store32(uint32_t *at, uint32_t v) {
    __atomic_store_n((uint32_t *)gr_host(at), v, __ATOMIC_RELAXED);
}
GR_INLINE void gr_count(uint64_t *at, uint64_t n) {
    (void)__atomic_fetch_add((uint64_t *)gr_host(at), n, __ATOMIC_RELAXED);
}
GR_INLINE uint32_t gr_add32(uint32_t *at, uint32_t n) {
    return __atomic_fetch_add((uint32_t *)gr_host(at), n, __ATOMIC_RELAXED);
}
GR_INLINE uint64_t gr_exchange64(uint64_t *at, uint64_t v) {
    return __atomic_exchange_n((uint64_t *)gr_host(at), v, __ATOMIC_RELAXED);
}
GR_INLINE uint64_t gr_compare_swap64(uint64_t *at, uint64_t expected, uint64_t desired) {
    (void)__atomic_compare_exchange_n((uint64_t *)gr_host(at), &expected, desired, 0, __ATOMIC_RELAXED,
                                      __ATOMIC_RELAXED);
    return expected;
}
GR_INLINE void gr_max64(uint64_t *at, uint64_t n) {
    uint64_t *p = gr_host(at), old = __atomic_load_n(p, __ATOMIC_RELAXED);
    while (old < n && !__atomic_compare_exchange_n(p, &old, n, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
}

GR_INLINE uint32_t gr_lane(void) { return gr_now.lane; }
GR_INLINE uint32_t gr_active_mask(void) { return gr_now.mask; }
GR_INLINE void gr_rejoin(uint32_t mask) { (void)mask; }
GR_INLINE void gr_trap(void) { gr_now.trap = true; }
GR_INLINE uint64_t gr_grid_id(void) { return gr_now.launch->number; }

GR_INLINE uint32_t gr_linear_tid(void) { return gr_now.warp * VM_LANES + gr_now.lane; }
GR_INLINE uint32_t gr_ntid_x(void) { return gr_now.launch->block[0]; }
GR_INLINE uint32_t gr_ntid_y(void) { return gr_now.launch->block[1]; }
GR_INLINE uint32_t gr_ntid_z(void) { return gr_now.launch->block[2]; }
GR_INLINE uint32_t gr_nctaid_x(void) { return gr_now.launch->grid[0]; }
GR_INLINE uint32_t gr_nctaid_y(void) { return gr_now.launch->grid[1]; }
GR_INLINE uint32_t gr_nctaid_z(void) { return gr_now.launch->grid[2]; }
GR_INLINE uint32_t gr_tid_x(void) { return gr_linear_tid() % gr_ntid_x(); }
GR_INLINE uint32_t gr_tid_y(void) { return gr_linear_tid() / gr_ntid_x() % gr_ntid_y(); }
GR_INLINE uint32_t gr_tid_z(void) { return gr_linear_tid() / gr_ntid_x() / gr_ntid_y(); }
GR_INLINE uint32_t gr_ctaid_x(void) { return gr_now.block->ctaid[0]; }
GR_INLINE uint32_t gr_ctaid_y(void) { return gr_now.block->ctaid[1]; }
GR_INLINE uint32_t gr_ctaid_z(void) { return gr_now.block->ctaid[2]; }
GR_INLINE uint32_t gr_total_smem(void) { return (uint32_t)gr_now.block->shared_bytes; }
GR_INLINE uint32_t gr_cluster_nctaid_x(void) { return gr_now.launch->cluster[0]; }
GR_INLINE uint32_t gr_cluster_nctaid_y(void) { return gr_now.launch->cluster[1]; }
GR_INLINE uint32_t gr_cluster_nctaid_z(void) { return gr_now.launch->cluster[2]; }
GR_INLINE uint32_t gr_cluster_blocks(void) {
    return gr_cluster_nctaid_x() * gr_cluster_nctaid_y() * gr_cluster_nctaid_z();
}

// Generic addresses and offsets of shared memory have the rank in the same place; those of the own block may have none.
GR_INLINE int gr_is_cluster_shared(uint64_t generic, uint64_t *at) {
    uint64_t offset = generic - VM_SHARED_BASE;
    if (offset >= VM_SHARED_SIZE)
        return 0;
    *at = offset;
    return 1;
}
GR_INLINE int gr_is_shared(uint64_t generic, uint64_t *at) {
    uint64_t offset;
    if (!gr_is_cluster_shared(generic, &offset) || offset >> VM_SHARED_SHIFT != gr_now.block->rank)
        return 0;
    *at = offset & (VM_SHARED_SLOT - 1);
    return 1;
}
GR_INLINE uint32_t gr_rank_of(uint64_t at) { return (uint32_t)(at >> VM_SHARED_SHIFT); }

// Each rules_*.c has a runtime whose functions are its own.
#define __gr_begin  runtime_begin
#define __gr_access runtime_access
#define __gr_saw    runtime_saw
#define __gr_range  runtime_range
#define __gr_order  runtime_order
#define __gr_own    runtime_own
#define __gr_extent runtime_extent
#define __gr_stray  runtime_stray

#endif
