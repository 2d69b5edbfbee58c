// SPDX-License-Identifier: Apache-2.0
// work — what the CPU device's driver tells a tool of the work that the program gives the device, and what a tool hears
// of the host's own accesses. The structures are shared by the driver, the injection and the engines.
#ifndef GR_DEVICE_API_WORK_H
#define GR_DEVICE_API_WORK_H

#include <stdbool.h>
#include <stdint.h>

// Work that the program gives the device, and what the host waits for. A tool that follows the order of work hears of
// it. Items are submitted by the host, begin when everything that their stream makes them wait for has ended, and end.
typedef enum GrWorkKind {
    GR_WORK_SUBMITTED,
    GR_WORK_BEGINS,
    GR_WORK_ENDED,
    GR_WORK_WAITED, // the host knows that what was submitted to `stream` has ended (0: to all of `context`; both 0:
    // everything; a `legacy` stream: to the blocking ones of `context`, too), or with `mark`: what came
    // before that record of an event
    // The host frees `to` without waiting for anything; type FREE, no stream. It is gone (FREED, of the same item) when
    // what was submitted before has ended.
    GR_WORK_FREES,
    GR_WORK_FREED,
} GrWorkKind;

typedef enum GrWorkType {
    GR_WORK_KERNEL,
    GR_WORK_COPY,
    GR_WORK_FILL,
    GR_WORK_RECORD, // of `mark`: an event's, or a value written to memory
    GR_WORK_WAIT,   // for `mark`
    GR_WORK_HOST,   // a host function
    GR_WORK_ALLOC,  // `to` is allocated: stream-ordered, or by a node of a graph
    GR_WORK_FREE,   // `to` is freed
    GR_WORK_OTHER,
} GrWorkType;

// Bytes that a copy or a memset touches: rows of a box. `at` 0: memory that no kernel is told of.
typedef struct GrBox {
    uint64_t at, width, height, depth;
    uint64_t pitch, slice; // from one row to the next, from one plane to the next
} GrBox;

typedef struct GrWork {
    uint32_t size; // of this structure, for later additions
    GrWorkKind kind;
    GrWorkType type;
    uint64_t item; // in order of submission, from 1
    uint64_t stream, context;
    int device;
    bool legacy, blocking; // the stream: the legacy default one; one that waits for it
    uint64_t launch; // KERNEL: its number; FREES, FREED: that of the last kernel submitted before the call
    bool early;      // KERNEL: it may begin before a kernel that precedes it in its stream has ended
    const void *mark;
    // SUBMITTED, WAITED, FREES: the thread of the host whose call it is; how many waits (WAITED) had returned when the
    // call began; how many there have been, this one included. `contended`: another thread is in a call that has begun.
    // A host function is heard of by the thread that runs it: its beginning counts as a wait, and its end as a call
    // that began when the function returned.
    uint64_t thread, began, waits;
    bool contended;
    GrBox from, to; // COPY; FILL, ALLOC and FREE have only `to`
    bool node;      // ALLOC, FREE: a node of a graph does it
    uint32_t call;  // of items, FREES, FREED: what gr_api_call said as the program submitted it
} GrWork;

// An access of the host's own to memory that it shares with the device.
typedef struct GrHostTouch {
    uint64_t address, size;
    uint64_t pc;     // of the instruction, or where a system call returns to
    int access;      // PtxAccess
    bool is_atomic;  // one access of the machine's: aligned, and no larger than it does at once
    uint64_t thread; // as in GrWork
} GrHostTouch;

#endif
