// SPDX-License-Identifier: Apache-2.0
// A libnvidia-ml.so.1 beside the stub driver: $STUB_NVML names the compute capabilities of its devices, in words ("90
// 90"; "90m": divided by MIG). Without it NVML does not work, as on a machine where it is not installed.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))
enum { DONE, FAILED = 999 };

static const char *word(unsigned k) {
    const char *at = getenv("STUB_NVML");
    while (at && *at && k--)
        at = strchr(at, ' ') ? strchr(at, ' ') + 1 : NULL;
    return at && *at ? at : NULL;
}

EXPORT int nvmlInit_v2(void) { return getenv("STUB_NVML") ? DONE : FAILED; }
EXPORT int nvmlDeviceGetCount_v2(unsigned *n) {
    for (*n = 0; word(*n);)
        ++*n;
    return DONE;
}
EXPORT int nvmlDeviceGetHandleByIndex_v2(unsigned k, const char **out) {
    return (*out = word(k)) ? DONE : FAILED;
}
EXPORT int nvmlDeviceGetCudaComputeCapability(const char *device, int *major, int *minor) {
    *major = device[0] - '0';
    *minor = device[1] - '0';
    return DONE;
}
EXPORT int nvmlDeviceGetMigMode(const char *device, unsigned *now, unsigned *later) {
    return *now = *later = device[2] == 'm', DONE;
}
