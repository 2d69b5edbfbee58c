// SPDX-License-Identifier: Apache-2.0
// hooks — what the CPU device's libcuda.so.1 tells a tool in the same process, and what a tool may ask of it.
//
// Both directions are looked up by name with dlsym(RTLD_DEFAULT, …), and each is optional: the library works alone,
// and a tool that finds no gr_cpu_device_config has NVIDIA's driver beneath it. All gr_api_* hooks are called with
// the driver's lock held, on whichever thread the device was advanced: they must not call the CUDA API.
#ifndef GR_DRIVER_CUDA_HOOKS_H
#define GR_DRIVER_CUDA_HOOKS_H

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
void gr_api_fault(const GrApiFault *fault);

// ---- Exported by libcuda.so.1 of the CPU device ------------------------------------------------------------

// Adds an ear to every device, present and future. Copied. 0 on success.
int gr_cpu_device_observe(const struct VmObserver *observer);

// Settings in the form of GPURACE_CPU_DEVICE ("seed=1,devices=2"), applied after that variable's. Only before cuInit.
// 0 on success; otherwise nothing is changed, and `message` (may be NULL) says why.
int gr_cpu_device_config(const char *text, char *message, unsigned message_size);

// How many launches were submitted so far, and how many of them have neither ended nor faulted: a program that ends
// with some left was not checked to its end.
uint64_t gr_cpu_device_launches(uint64_t *unfinished);

// The pinned or registered memory at `address` is the tool's own: the program does not look at it, so when the device
// writes there matters to nobody.
void gr_cpu_device_tool_memory(const void *address);

// How often the device ran on its own because the host was idle, in a way that may depend on real time.
uint64_t gr_cpu_device_unrepeatable(void);

#endif
