// SPDX-License-Identifier: Apache-2.0
// error — CUresult to cudaError_t, names and texts of errors, and the last error of each thread.
//
// An error stays a thread's last error until cudaGetLastError takes it. A sticky one (the context is gone for
// good) stays even then: CUDA documents that all further work returns it, until the device is reset.
#include "driver/cudart/runtime.h"

#include <stdatomic.h>

typedef enum ErrorKind { PLAIN, STICKY } ErrorKind;

typedef struct ErrorRow {
    const char *name, *text;
    ErrorKind kind;
    bool known;
} ErrorRow;

static const ErrorRow rows[cudaErrorUnknown + 1] = {
#define GR_ERROR(code, kind, text) [code] = {#code, text, kind, true},
#include "driver/cudart/errors.def"
#undef GR_ERROR
};

// Translation is the identity on what both enumerations know. These are the ones whose names differ.
_Static_assert((int)CUDA_ERROR_OUT_OF_MEMORY == (int)cudaErrorMemoryAllocation, "CUresult numbering");
_Static_assert((int)CUDA_ERROR_NOT_INITIALIZED == (int)cudaErrorInitializationError, "CUresult numbering");
_Static_assert((int)CUDA_ERROR_DEINITIALIZED == (int)cudaErrorCudartUnloading, "CUresult numbering");
_Static_assert((int)CUDA_ERROR_INVALID_IMAGE == (int)cudaErrorInvalidKernelImage, "CUresult numbering");
_Static_assert((int)CUDA_ERROR_INVALID_CONTEXT == (int)cudaErrorDeviceUninitialized, "CUresult numbering");
_Static_assert((int)CUDA_ERROR_NO_BINARY_FOR_GPU == (int)cudaErrorNoKernelImageForDevice,
               "CUresult numbering");
_Static_assert((int)CUDA_ERROR_NOT_FOUND == (int)cudaErrorSymbolNotFound, "CUresult numbering");
_Static_assert((int)CUDA_ERROR_INVALID_HANDLE == (int)cudaErrorInvalidResourceHandle, "CUresult numbering");
_Static_assert((int)CUDA_ERROR_LAUNCH_FAILED == (int)cudaErrorLaunchFailure, "CUresult numbering");
_Static_assert((int)CUDA_ERROR_UNKNOWN == (int)cudaErrorUnknown, "CUresult numbering");

static atomic_uint generation;
static _Thread_local cudaError_t last_error;
static _Thread_local unsigned last_generation;

static const ErrorRow *find_row(cudaError_t e) {
    if ((unsigned)e > cudaErrorUnknown || !rows[e].known)
        return NULL;
    return &rows[e];
}

static bool is_sticky(cudaError_t e) {
    const ErrorRow *row = find_row(e);
    return row != NULL && row->kind == STICKY;
}

cudaError_t gr_rt_translate(CUresult r) {
    return find_row((cudaError_t)r) != NULL ? (cudaError_t)r : cudaErrorUnknown;
}

unsigned gr_rt_generation(void) { return atomic_load_explicit(&generation, memory_order_relaxed); }

// Another thread's cudaDeviceReset also ends this thread's sticky error.
static void drop_stale(void) {
    if (is_sticky(last_error) && last_generation != gr_rt_generation())
        last_error = cudaSuccess;
}

cudaError_t gr_rt_leave(cudaError_t e) {
    // The answer of a query that is not done yet is no error, and not reported as the last one (CUDA programming guide,
    // "Error Checking").
    if (e != cudaSuccess && e != cudaErrorNotReady) {
        drop_stale();
        if (!is_sticky(last_error)) {
            last_error = e;
            last_generation = gr_rt_generation();
        }
    }
    return e;
}

void gr_rt_was_reset(void) {
    atomic_fetch_add(&generation, 1);
    if (is_sticky(last_error))
        last_error = cudaSuccess;
}

cudaError_t CUDARTAPI cudaGetLastError(void) {
    drop_stale();
    cudaError_t e = last_error;
    if (!is_sticky(e))
        last_error = cudaSuccess;
    return e;
}

cudaError_t CUDARTAPI cudaPeekAtLastError(void) {
    drop_stale();
    return last_error;
}

const char *CUDARTAPI cudaGetErrorName(cudaError_t error) {
    const ErrorRow *row = find_row(error);
    return row != NULL ? row->name : "unrecognized error code";
}

const char *CUDARTAPI cudaGetErrorString(cudaError_t error) {
    const ErrorRow *row = find_row(error);
    return row != NULL ? row->text : "unrecognized error code";
}
