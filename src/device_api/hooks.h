// SPDX-License-Identifier: Apache-2.0
// hooks — what the CPU device's libcuda.so.1 tells a tool in the same process, and what a tool may ask of it.
//
// Both directions are looked up by name with dlsym(RTLD_DEFAULT, …), and each is optional: the library works alone,
// and a tool that finds no gr_cpu_device_config has NVIDIA's driver beneath it. All gr_api_* hooks are called with
// the driver's lock held, on whichever thread the device was advanced: they must not call the CUDA API.
#ifndef GR_DRIVER_CUDA_HOOKS_H
#define GR_DRIVER_CUDA_HOOKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct VmObserver; // vm/observer.h

// A fault of the device. Strings live as long as the call.
typedef struct GrApiFault {
    uint32_t size;    // of this structure, for later additions
    int code;         // the CUresult that every later call on the context returns
    const char *kind; // "illegal address", …
    const char *text; // one sentence: who did what where
    const char *kernel, *function;
    const char *file; // source file, NULL without -lineinfo
    uint32_t line, ptx_line;
    uint32_t thread[3], block[3];
    uint64_t address;
    uint64_t launch; // its number, from 1, in order of submission over the process
} GrApiFault;

// ---- Exported by the tool (libgpurace.so), each optional ---------------------------------------------------

// The program called an entry point that does not exist here; once per name.
void gr_api_absent(const char *name);
// Something that the verdict has to say, for example that a run may not be repeatable. May come many times with the
// same text: count them.
void gr_api_note(const char *what);
// Something of the program cannot work on this device, in a sentence for the verdict's reasons.
void gr_api_unusable(const char *what);
void gr_api_fault(const GrApiFault *fault);

// ---- Exported by libcuda.so.1 of the CPU device ------------------------------------------------------------

// Adds an ear to every device, present and future. Copied. 0 on success.
int gr_cpu_device_observe(const struct VmObserver *observer);

// Work that the program gives the device, and what it waits for: who follows what comes after what hears of it. Items are
// submitted by the host, begin when everything that their stream makes them wait for has ended, and end.
typedef enum GrWorkKind {
    GR_WORK_SUBMITTED,
    GR_WORK_BEGINS,
    GR_WORK_ENDED,
    GR_WORK_WAITED, // the host knows that what was submitted to `stream` has ended (0: to all of `context`; both 0:
                    // everything), or with `mark`: what came before that record of an event
    GR_WORK_FREED, // the host frees `to` without waiting for anything; type FREE, no stream
} GrWorkKind;

typedef enum GrWorkType {
    GR_WORK_KERNEL,
    GR_WORK_COPY,
    GR_WORK_FILL,
    GR_WORK_RECORD, // of `mark`: an event's, or a value written to memory
    GR_WORK_WAIT,   // for `mark`
    GR_WORK_HOST,   // a host function
    GR_WORK_FREE,   // `to` is freed
    GR_WORK_OTHER,
} GrWorkType;

// Bytes that a copy or a memset touches: rows of a box. `at` 0: memory that no kernel is told of.
typedef struct GrWorkBox {
    uint64_t at, width, height, depth, pitch, slice;
} GrWorkBox;

typedef struct GrWork {
    uint32_t size; // of this structure, for later additions
    GrWorkKind kind;
    GrWorkType type;
    uint64_t item; // in order of submission, from 1
    uint64_t stream, context;
    int device;
    bool legacy, blocking; // the stream: the legacy default one; one that waits for it
    uint64_t launch;       // KERNEL: its number
    bool early;            // KERNEL: it may begin before a kernel that precedes it in its stream has ended
    const void *mark;
    // SUBMITTED, WAITED, FREED: the thread of the host whose call it is, how many waits (WAITED) had returned when the call began, and
    // how many there have been, this one included; whether another thread is in a call that has begun.
    uint64_t thread, began, waits;
    bool contended;
    GrWorkBox from, to; // COPY; FILL and FREE have only `to`
} GrWork;

// Adds an ear for work. Called with the driver's lock held. 0 on success.
int gr_cpu_device_observe_work(void (*hear)(void *user, const GrWork *w), void *user);

// Memory that the host and the device share: managed, pinned, and registered memory of the program. The device reaches the first two
// through a mapping of its own, so the host's may be protected; nothing is told of the tool's own (gr_cpu_device_tool_memory).
// The result changes whenever the answer may have; `each` may be NULL.
typedef enum GrSharedMemory { GR_SHARED_MANAGED, GR_SHARED_PINNED, GR_SHARED_REGISTERED } GrSharedMemory;
uint64_t gr_cpu_device_shared_memory(void (*each)(void *user, GrSharedMemory kind, uint64_t at,
                                                  uint64_t size),
                                     void *user);
// Whether kernels used host memory that nobody announced.
int gr_cpu_device_used_pageable(void);

// Calls f with the driver's lock held, between two calls of the program and two slices of the device; and whether the
// caller holds it (async-signal-safe).
void gr_cpu_device_locked(void (*f)(void *user), void *user);
int gr_cpu_device_lock_is_mine(void);

// An access of the host's own to memory that it shares with the device.
typedef struct GrHostTouch {
    uint64_t address, size;
    uint64_t pc;   // of the instruction, or where a system call returns to
    int access;    // PtxAccess
    int is_atomic; // one access of the machine's: aligned, and no larger than it does at once
} GrHostTouch;

// Settings in the form of GPURACE_CPU_DEVICE ("seed=1,devices=2"), applied after that variable's. Only before cuInit.
// 0 on success; otherwise nothing is changed, and `message` (may be NULL) says why.
int gr_cpu_device_config(const char *text, char *message, unsigned message_size);

// How many launches were submitted so far, and how many of them have neither ended nor faulted: a program that ends
// with some left was not checked to its end.
uint64_t gr_cpu_device_launches(uint64_t *unfinished);

// The pinned or registered memory at `address` is the tool's own: the program does not look at it, so when the device
// writes there matters to nobody.
void gr_cpu_device_tool_memory(const void *address);

// Ends the launch of that number as a trap of its own would. Only from what observers call; `why` becomes the fault's text. 0 on
// success, otherwise it does not run.
int gr_cpu_device_stop(uint64_t launch, const char *why);

// How often the device ran on its own because the host was idle, in a way that may depend on real time.
uint64_t gr_cpu_device_unrepeatable(void);

// Writes to memory of the device at once, whatever is queued: for the tool's own data. A CUresult.
int gr_cpu_device_write(unsigned long long at, const void *bytes, size_t n);

// How likely races of some depth are found by the schedule that the device has run by, a sentence without its end, or why that
// is not known. -1 when its schedule promises nothing, or no kernel ran.
int gr_cpu_device_bound(int device, char *text, unsigned size);

#endif
