// SPDX-License-Identifier: Apache-2.0
// stubs — the entry points of cuda.h that do not exist here: exported, so that programs load; each returns
// CUDA_ERROR_NOT_SUPPORTED, and tells the tool its name once. cuda.h is not included: the stubs ignore their
// arguments, whatever they are.
#include <stdatomic.h>

enum { NOT_SUPPORTED = 801 }; // CUDA_ERROR_NOT_SUPPORTED

void gr_cu_hook_absent(const char *name);

#define GR_API_IMPLEMENTED(symbol)
#define GR_API_ABSENT(symbol)                                                                                \
    int symbol(void);                                                                                        \
    __attribute__((visibility("default"))) int symbol(void) {                                                \
        static atomic_flag told = ATOMIC_FLAG_INIT;                                                          \
        if (!atomic_flag_test_and_set(&told))                                                                \
            gr_cu_hook_absent(#symbol);                                                                      \
        return NOT_SUPPORTED;                                                                                \
    }
#define GR_SECTION(title)
#define GR_API(symbol, base, version, mode, status) GR_API_##status(symbol)
#include "driver/cuda/api.def"
#undef GR_API
#undef GR_SECTION
