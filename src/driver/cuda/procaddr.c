// SPDX-License-Identifier: Apache-2.0
// procaddr — cuGetProcAddress: from a name as cuda.h spells it and a CUDA version to the exported symbol whose ABI that
// version's cuda.h declares. The table is api.def.
#include "driver/cuda/driver.h"

// All entry points under names and a type of our own, because cuda.h's types differ and no code here calls them.
#define GR_SECTION(title)
#define GR_API(symbol, base, version, mode, status) int entry_##symbol(void) __asm__(#symbol);
#include "driver/cuda/api.def"
#undef GR_API
#undef GR_SECTION

typedef enum Mode { MODE_LEGACY, MODE_PTDS, MODE_PTSZ } Mode;

static const struct {
    const char *base;
    int version;
    Mode mode;
    int (*fn)(void);
} entries[] = {
#define GR_SECTION(title)
#define GR_API(symbol, base, version, mode, status) {#base, version, MODE_##mode, entry_##symbol},
#include "driver/cuda/api.def"
#undef GR_API
#undef GR_SECTION
};

// The latest ABI that is not newer than `version`; with CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM its variant for
// the per-thread default stream where it has one.
CUresult cuGetProcAddress_v2(const char *symbol, void **fn, int version, cuuint64_t flags,
                             CUdriverProcAddressQueryResult *status) {
    CUdriverProcAddressQueryResult result = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    int (*best)(void) = NULL, (*per_thread)(void) = NULL;
    const cuuint64_t known =
        CU_GET_PROC_ADDRESS_LEGACY_STREAM | CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
    int best_version = -1, per_thread_version = -1;
    if (!symbol || !fn || (flags & ~(cuuint64_t)known))
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        if (strcmp(entries[i].base, symbol) != 0)
            continue;
        if (result == CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND)
            result = CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT;
        int *newest = entries[i].mode == MODE_LEGACY ? &best_version : &per_thread_version;
        if (entries[i].version > version || entries[i].version <= *newest)
            continue;
        *newest = entries[i].version;
        *(entries[i].mode == MODE_LEGACY ? &best : &per_thread) = entries[i].fn;
    }
    if ((flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) && per_thread)
        best = per_thread;
    if (best)
        result = CU_GET_PROC_ADDRESS_SUCCESS;
    *fn = (void *)best;
    if (status)
        *status = result;
    return result == CU_GET_PROC_ADDRESS_SUCCESS ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

CUresult cuGetProcAddress(const char *symbol, void **fn, int version, cuuint64_t flags) {
    return cuGetProcAddress_v2(symbol, fn, version, flags, NULL);
}
