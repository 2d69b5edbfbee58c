// SPDX-License-Identifier: Apache-2.0
// launch — one launch of a kernel, as an engine with around_launch is given it.
//
// A GrLaunch holds copies of all that the program gave the driver. So an engine can run the launch never, once or
// several times, with the program's parameters or with others. A kernel node of a CUDA graph comes in the same form.
#ifndef GR_ENGINES_CORE_LAUNCH_H
#define GR_ENGINES_CORE_LAUNCH_H

#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct GrModule; // engine.h

// Where one parameter lies in the packed parameters.
typedef struct GrParam {
    size_t offset, size;
} GrParam;

typedef struct GrLaunch {
    // Reserved before the launch runs; from 1. Only the number of a launch that the driver refused may come again.
    uint64_t number;
    const struct GrModule *module; // NULL: not known
    const char *kernel;
    CUfunction func; // a CUkernel in the form of a CUfunction, if the program launched one
    uint32_t grid[3], block[3], shared_bytes;
    CUcontext context;
    CUstream stream; // never NULL for the default stream of a thread, which is CU_STREAM_PER_THREAD
    bool cooperative;
    bool programmatic;   // it may begin before the work in front of it has ended
    bool from_graph;     // it is a node of a graph
    uint32_t cluster[3]; // as the launch asked for it; zeros: what the kernel itself says
    int priority;        // 0 unless the launch has one
    // All attributes of the launch, those above among them.
    CUlaunchAttribute *attributes;
    uint32_t n_attributes;
    // The parameters as the device sees them. `params` NULL with `params_known` false: the layout could not be found.
    bool params_known;
    void *params;
    size_t param_bytes;
    GrParam *layout;
    uint32_t n_params;
} GrLaunch;

// Runs the launch that around_launch was called for, any number of times until around_launch returns.
typedef struct GrRun {
    // Submits the launch to its stream and does not wait for it. `params`: launch->param_bytes bytes instead of
    // launch->params, or NULL. CUDA_ERROR_NOT_SUPPORTED when `params` is given and the layout is not known.
    CUresult (*submit)(struct GrRun *run, const void *params);
    uint32_t more_shared; // bytes of dynamic shared memory that blocks get behind what the program asked for
} GrRun;

#endif
