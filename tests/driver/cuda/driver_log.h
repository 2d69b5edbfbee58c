// SPDX-License-Identifier: Apache-2.0
// driver_log — a log in pinned memory that kernels append to, and what the tool was told last.
#ifndef GR_TESTS_DRIVER_CUDA_DRIVER_LOG_H
#define GR_TESTS_DRIVER_CUDA_DRIVER_LOG_H

#include "driver_common.h"

#include "device_api/hooks.h"

static _Atomic unsigned n_notes; // of last_note, which is whole before: the device's thread calls, too
static char last_note[256];

void gr_api_note(const char *what) {
    snprintf(last_note, sizeof last_note, "%s", what);
    n_notes++;
}

enum { LOG = 4096 };
static unsigned *next, *entries;
static CUdeviceptr next_d, entries_d;

static inline void start(void) {
    driver_start();
    OK(cuMemHostAlloc((void **)&next, 4, 0));
    OK(cuMemHostAlloc((void **)&entries, LOG * 4, 0));
    next_d = (CUdeviceptr)(uintptr_t)next;
    entries_d = (CUdeviceptr)(uintptr_t)entries;
}

static inline int group_start(void **state) {
    (void)state;
    start();
    return 0;
}

static inline int clear(void **state) {
    (void)state;
    OK(cuCtxSynchronize());
    *next = 0;
    memset(entries, 0, LOG * 4);
    return 0;
}

static inline void append(CUstream s, unsigned id, unsigned n) {
    OK(driver_launch("append", 1, 1, s, (void *[]){&next_d, &entries_d, &id, &n}));
}

static inline CUstream stream(unsigned flags) {
    CUstream s;
    OK(cuStreamCreate(&s, flags));
    return s;
}

// The ids in the log as runs: "1x3 2x5".
static inline const char *runs(void) {
    static char text[LOG * 8];
    size_t at = 0;
    text[0] = 0;
    for (unsigned i = 0; i < *next;) {
        unsigned k = i;
        while (k < *next && entries[k] == entries[i])
            k++;
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%ux%u", i ? " " : "", entries[i], k - i);
        i = k;
    }
    return text;
}

static CUresult callback_status; // as the last stream_callback was told

static inline void stream_callback(CUstream s, CUresult status, void *user) {
    *(CUstream *)user = s;
    callback_status = status;
}

#endif
