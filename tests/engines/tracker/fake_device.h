// SPDX-License-Identifier: Apache-2.0
// fake_device — stands for device_api/device.h in a test on the host: one lane at a time, in a launch of three blocks of 128 threads.
#ifndef GR_DEVICE_DEVICE_H
#define GR_DEVICE_DEVICE_H

#include "engines/tracker/device/record.h"

#include <stdlib.h>

#define GR_GLOBAL
#define GR_INLINE     static inline
#define GR_SEQUENTIAL 1
#define GR_ROLLED

enum { BLOCKS = 3, THREADS = 128, SHARED_BYTES = 1 << 20 };

static struct Now {
    GrTrackerControl *control;
    uint32_t block, tid, mask, launch;
} gr_now;
static void (*between)(void); // happens before the next exchange

static uint64_t gr_fetch64(const uint64_t *at) { return *at; }
static uint64_t gr_load64(const uint64_t *at) { return *at; }
static void gr_store64(uint64_t *at, uint64_t v) { *at = v; }
static void gr_store32(uint32_t *at, uint32_t v) { *at = v; }
static void gr_count(uint64_t *at, uint64_t n) { *at += n; }
static uint64_t gr_compare_swap64(uint64_t *at, uint64_t expected, uint64_t desired) {
    uint64_t old = *at;
    *at = old == expected ? desired : old;
    return old;
}
static uint64_t gr_exchange64(uint64_t *at, uint64_t v) {
    void (*other)(void) = between;
    between = NULL;
    if (other)
        other();
    uint64_t old = *at;
    *at = v;
    return old;
}
static uint32_t gr_lane(void) { return gr_now.tid % 32; }
static uint32_t gr_active_mask(void) { return gr_now.mask; }
static void gr_trap(void) { abort(); }
static uint64_t gr_grid_id(void) { return gr_now.launch; }
static uint32_t gr_ntid_x(void) { return THREADS; }
static uint32_t gr_ntid_y(void) { return 1; }
static uint32_t gr_ntid_z(void) { return 1; }
static uint32_t gr_nctaid_x(void) { return BLOCKS; }
static uint32_t gr_nctaid_y(void) { return 1; }
static uint32_t gr_nctaid_z(void) { return 1; }
static uint32_t gr_tid_x(void) { return gr_now.tid; }
static uint32_t gr_tid_y(void) { return 0; }
static uint32_t gr_tid_z(void) { return 0; }
static uint32_t gr_ctaid_x(void) { return gr_now.block; }
static uint32_t gr_ctaid_y(void) { return 0; }
static uint32_t gr_ctaid_z(void) { return 0; }
static uint32_t gr_total_smem(void) { return 1024; }
static int gr_is_shared(uint64_t generic, uint64_t *at) {
    (void)generic, (void)at;
    return 0;
}

#endif
