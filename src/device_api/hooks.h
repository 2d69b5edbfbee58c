// SPDX-License-Identifier: Apache-2.0
// hooks — what the CPU device's libcuda.so.1 tells a tool in the same process, and what a tool may ask of it.
//
// Both directions are looked up by name with dlsym(RTLD_DEFAULT, …), and each is optional: the library works alone,
// and a tool that finds no gr_cpu_device_config has NVIDIA's driver beneath it. All gr_api_* hooks are called with
// the driver's lock held, on whichever thread the device was advanced: they must not call the CUDA API.
#ifndef GR_DEVICE_API_HOOKS_H
#define GR_DEVICE_API_HOOKS_H

#include "device_api/work.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct VmObserver; // vm/observer.h

// A fault of the device. Strings live as long as the call.
typedef struct GrApiFault {
    uint32_t size;    // of this structure, for later additions
    int code;         // the CUresult that every later call on the context returns
    const char *kind; // "illegal address", …
    const char *text; // one sentence: which thread did what, and where
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
// The tool's number for the program's call that this thread is in; 0: none. Takes no lock.
uint32_t gr_api_call(void);
// PTX of device runtimes that a text of the tool's calls and does not hold, in the order in which they are linked. What
// is __gr_NAME in a runtime is __gr<suffix>_NAME in the text that calls it. All of it stays as long as the process.
enum { GR_API_RUNTIMES = 8 };
typedef struct GrApiRuntimes {
    const char *suffix;
    const char *texts[GR_API_RUNTIMES];
    unsigned n;
} GrApiRuntimes;

// Whether the tool made this PTX: then the comments that mark what it inserted count. In all other text they are the
// program's, and mean nothing. Any thread, and no lock of the tool's is held for long. Without a tool all text is read
// as a tool's: nothing is decided by it then. *runtimes becomes what is to be linked with it.
int gr_api_wrote(const char *text, size_t len, GrApiRuntimes *runtimes);

// ---- Exported by libcuda.so.1 of the CPU device ------------------------------------------------------------

// Adds an ear to every device, present and future. Copied. 0 on success.
int gr_cpu_device_observe(const struct VmObserver *observer);

// Adds an ear for work. Called with the driver's lock held. 0 on success.
int gr_cpu_device_observe_work(void (*hear)(void *user, const GrWork *w), void *user);

// Memory that the host and the device share: managed, pinned, and registered memory of the program. The device reaches
// the first two through a mapping of its own, so the host's may be protected; nothing is told of the tool's own
// (gr_cpu_device_tool_memory). Calls `each` for what came, and with GR_SHARED_GONE for what went, since the call that
// yielded `since`; where that is not known any more, or `since` is 0, first with GR_SHARED_ANEW, and then for all that
// there is. Yields a number that changes whenever there is something to tell; `each` may be NULL. One tool asks.
typedef enum GrSharedMemory {
    GR_SHARED_MANAGED,
    GR_SHARED_PINNED,
    GR_SHARED_REGISTERED,
    GR_SHARED_GONE,
    GR_SHARED_ANEW
} GrSharedMemory;
uint64_t gr_cpu_device_shared_memory(
    uint64_t since, void (*each)(void *user, GrSharedMemory kind, uint64_t at, uint64_t size), void *user);
// Whether kernels used host memory that the program did not announce to CUDA.
int gr_cpu_device_used_pageable(void);

// Calls f with the driver's lock held, between two calls of the program and two slices of the device.
// gr_cpu_device_lock_is_mine: whether the caller holds that lock (async-signal-safe).
void gr_cpu_device_locked(void (*f)(void *user), void *user);
int gr_cpu_device_lock_is_mine(void);

// Settings in the form of GPURACE_CPU_DEVICE ("seed=1,devices=2"), applied after that variable's. Only before cuInit.
// 0 on success; otherwise nothing is changed, and `message` (may be NULL) says why.
int gr_cpu_device_config(const char *text, char *message, unsigned message_size);

// How many launches were submitted so far, and how many of them have neither ended nor faulted: a program that ends
// with some left was not checked to its end.
uint64_t gr_cpu_device_launches(uint64_t *unfinished);

// The pinned or registered memory at `address` is the tool's own: the program does not look at it, so it does not
// matter when the device writes there.
void gr_cpu_device_tool_memory(const void *address);

// Ends the launch of that number as a trap of its own would. Only from what observers call; `why` becomes the fault's
// text. 0 on success, otherwise it does not run.
int gr_cpu_device_stop(uint64_t launch, const char *why);

// How often the device ran on its own because the host was idle, in a way that may depend on real time.
uint64_t gr_cpu_device_unrepeatable(void);

// Writes to memory of the device at once, whatever is queued: for the tool's own data. A CUresult.
int gr_cpu_device_write(unsigned long long at, const void *bytes, size_t n);

// Zeroed memory of the tool's own, which counts as none of the program's and stays until the process ends. Its address
// for kernels; 0: there is none left.
unsigned long long gr_cpu_device_take(size_t size);

// Where the process sees memory of the device, for what hears of work (the driver's lock is held). NULL: nowhere.
void *gr_cpu_device_view(unsigned long long at, size_t size);

// How likely races of some depth are found by the schedule that the device has run by, a sentence without its end, or
// why that is not known. -1 when its schedule promises nothing, or no kernel ran.
int gr_cpu_device_bound(int device, char *text, unsigned size);

#endif
