// SPDX-License-Identifier: Apache-2.0
// fake_device — stands for device_api/device.h in a test on the host: one lane at a time, in a launch of three blocks
// of 128 threads.
#ifndef GR_TESTS_TRACKER_FAKE_DEVICE_H
#define GR_TESTS_TRACKER_FAKE_DEVICE_H

#include "engines/tracker/device/record.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define GR_ENTRY static __attribute__((unused))
#define GR_GLOBAL
#define GR_INLINE     static inline
#define GR_SEQUENTIAL 1
#define GR_ROLLED
#define GR_NOINLINE

enum { BLOCKS = 3, THREADS = 128, SHARED_BYTES = 1 << 20 };

static struct Now {
    GrTrackerControl *control;
    uint32_t block, tid, mask, launch;
} gr_now;
static void (*between)(void);  // happens before the next exchange
static void (*entering)(void); // happens before the next store to `entered`
static const uint64_t *entered;

static uint64_t gr_fetch64(const uint64_t *at) { return *at; }
static uint64_t gr_load64(const uint64_t *at) { return *at; }
static uint32_t gr_load32(const uint32_t *at) { return *at; }
static void gr_store64(uint64_t *at, uint64_t v) {
    void (*other)(void) = entering;
    if (other && at == entered) {
        entering = NULL;
        other();
    }
    *at = v;
}
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
static void gr_rejoin(uint32_t mask) { (void)mask; }
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

// ---- Memory of the engine ----------------------------------------------------------------------------------------

enum { PAIRS = 256, WORDS = 1024 }; // words of the program that are used

static GrTrackerControl control;
static GrCell *word_cells; // of the program's first words
static void *allocated[7];

static void free_memory(void) {
    for (unsigned k = 0; k < 7; k++)
        free(allocated[k]);
}

static bool make_memory(void) {
    const size_t sizes[7] = {GR_DIR_COUNT * sizeof(uint64_t),
                             GR_PART_COUNT * sizeof(uint64_t),
                             (1 << GR_PART_SHIFT) / 4 / GR_GROUP * sizeof(GrCell),
                             GR_THREADS / GR_GROUP * sizeof(GrThreadState),
                             GR_BLOCKS * sizeof(GrBlockState),
                             SHARED_BYTES,
                             sizeof(GrTrackedHeader) + PAIRS * sizeof(GrPair)};
    uint64_t at[7];
    for (unsigned k = 0; k < 7; k++) {
        if (!(allocated[k] = calloc(1, sizes[k])))
            return false;
        at[k] = (uint64_t)(uintptr_t)allocated[k];
    }
    *(uint64_t *)allocated[0] = at[1];
    *(uint64_t *)allocated[1] = at[2];
    word_cells = allocated[2];
    control = (GrTrackerControl){.dir = at[0],
                                 .threads = at[3],
                                 .blocks = at[4],
                                 .shared = at[5],
                                 .shared_bytes = SHARED_BYTES,
                                 .area = at[6],
                                 .pairs = PAIRS};
    gr_now.control = &control;
    return true;
}

static void new_memory(bool words) {
    GrTrackedHeader *head = (GrTrackedHeader *)(uintptr_t)control.area;
    memset(head, 0, sizeof *head + PAIRS * sizeof(GrPair));
    memset(word_cells, 0, WORDS / GR_GROUP * sizeof *word_cells);
    memset((void *)(uintptr_t)control.shared, 0, SHARED_BYTES);
    control.word_mode = words;
    between = entering = NULL;
}

#endif
