// SPDX-License-Identifier: Apache-2.0
#include "cli/run/gpu.h"

#include <cuda.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

// How many of `present` devices CUDA shows when CUDA_VISIBLE_DEVICES is `shown` (NULL: not set): its numbers, up to the
// first that no device has (CUDA C++ Programming Guide). -1: only the driver can judge names, or a device named twice.
static int visible_gpus(const char *shown, int present) {
    uint64_t seen = 0;
    int count = 0;
    for (const char *at = shown; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        char *end;
        long number = strtol(at, &end, 10);
        end += strspn(end, " \t");
        if (end == at || (*end && *end != ','))
            return at[strspn(at, " \t")] ? -1 : count;
        if (number < 0 || number >= present)
            return count;
        if (number >= 64 || seen >> number & 1)
            return -1;
        seen |= UINT64_C(1) << number;
        count++;
    }
    return shown ? count : present;
}

// Asks NVIDIA's management library (NVML's API reference, "Device Queries"), which starts no CUDA: 0.02 s. False: CUDA
// might answer otherwise, or there is no such library.
static bool ask_nvml(GrGpu *out) {
    enum { MIG_OFF = 0, LONGEST = 64 };
    void *lib = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!lib)
        return false;
    int (*init)(void) = (int (*)(void))dlsym(lib, "nvmlInit_v2");
    int (*count)(unsigned *) = (int (*)(unsigned *))dlsym(lib, "nvmlDeviceGetCount_v2");
    int (*device)(unsigned, void **) =
        (int (*)(unsigned, void **))dlsym(lib, "nvmlDeviceGetHandleByIndex_v2");
    int (*capability)(void *, int *, int *) =
        (int (*)(void *, int *, int *))dlsym(lib, "nvmlDeviceGetCudaComputeCapability");
    int (*mig)(void *, unsigned *, unsigned *) =
        (int (*)(void *, unsigned *, unsigned *))dlsym(lib, "nvmlDeviceGetMigMode");
    unsigned present = 0;
    if (!init || !count || !device || !capability || !mig || init() || count(&present) || present > LONGEST)
        return false;
    for (unsigned k = 0; k < present; k++) {
        void *handle;
        int major, minor;
        unsigned now = MIG_OFF, later;
        // Only CUDA can say which of unlike devices comes first, and which parts of a divided one it shows.
        if (device(k, &handle) || capability(handle, &major, &minor) ||
            (mig(handle, &now, &later) == 0 && now != MIG_OFF) || (k && out->cc != major * 10 + minor))
            return false;
        out->cc = major * 10 + minor;
    }
    out->count = visible_gpus(getenv("CUDA_VISIBLE_DEVICES"), (int)present);
    return out->count >= 0;
}

// Asks CUDA itself: 0.15 s on an H100, and processes take turns.
static bool ask_driver(void *lib, GrGpu *out) {
    CUresult (*init)(unsigned) = (CUresult(*)(unsigned))dlsym(lib, "cuInit");
    CUresult (*count)(int *) = (CUresult(*)(int *))dlsym(lib, "cuDeviceGetCount");
    CUresult (*attribute)(int *, CUdevice_attribute, CUdevice) =
        (CUresult(*)(int *, CUdevice_attribute, CUdevice))dlsym(lib, "cuDeviceGetAttribute");
    int major = 0, minor = 0;
    if (!init || !count || !attribute || init(0) != CUDA_SUCCESS || count(&out->count) != CUDA_SUCCESS ||
        out->count < 1 ||
        attribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0) != CUDA_SUCCESS ||
        attribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 0) != CUDA_SUCCESS)
        return false;
    out->cc = major * 10 + minor;
    return true;
}

static bool ask(GrGpu *out) {
    void *lib = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!lib || dlsym(lib, "gr_cpu_device_launches")) // a CPU device on the user's library path is no GPU
        return false;
    if (!ask_nvml(out)) {
        *out = (GrGpu){0};
        if (!ask_driver(lib, out))
            return false;
    }
    CUresult (*version)(int *) = (CUresult(*)(int *))dlsym(lib, "cuDriverGetVersion");
    if (!version || version(&out->version) != CUDA_SUCCESS)
        out->version = 0;
    return true;
}

// In a child: a driver's initialization starts threads, takes memory, and may hang.
GrGpu gr_probe_gpu(void) {
    enum { PATIENCE_S = 60 };
    GrGpu gpu = {0};
    int ends[2];
    if (pipe(ends))
        return gpu;
    pid_t pid = fork();
    if (pid == 0) {
        alarm(PATIENCE_S);
        if (!freopen("/dev/null", "w", stderr) || !ask(&gpu) ||
            write(ends[1], &gpu, sizeof gpu) != sizeof gpu)
            _exit(1);
        _exit(0);
    }
    close(ends[1]);
    if (pid < 0 || read(ends[0], &gpu, sizeof gpu) != sizeof gpu)
        gpu = (GrGpu){0};
    close(ends[0]);
    if (pid > 0)
        while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) {
        }
    return gpu;
}
