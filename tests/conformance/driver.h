// SPDX-License-Identifier: Apache-2.0
// driver — the few entry points of the CUDA driver API that the conformance program calls, found at run time in
// libcuda.so.1: NVIDIA's, or the CPU device's.
#ifndef GR_CONFORMANCE_DRIVER_H
#define GR_CONFORMANCE_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct DriverInfo {
    char name[128];
    int version, major, minor;
} DriverInfo;

// False, with a message on stderr, when there is no driver or no device.
bool driver_open(const char *library, DriverInfo *info);
// Loads the text and runs kernel k(in, out, n, s), s a structure of 32 bytes, on n threads, blocks of `block`. `out`
// starts with what the caller put there. NULL, or what went wrong; *rejected when the driver did not accept the text.
const char *driver_run(const char *ptx, const void *param, const void *in, size_t in_bytes, void *out,
                       size_t out_bytes, uint32_t n, uint32_t block, bool *rejected);
// Loads the text and runs kernel k on a copy of `memory`, `bytes` long, which comes back: its parameters are the
// addresses of memory + offset[0..n-1]. NULL, or what went wrong.
const char *driver_run_on(const char *ptx, void *memory, size_t bytes, const size_t *offset, unsigned n,
                          uint32_t grid, uint32_t block);

#endif
