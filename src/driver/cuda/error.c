// SPDX-License-Identifier: Apache-2.0
// error — names and texts of CUresult.
#include "driver/cuda/driver.h"

static const struct {
    CUresult code;
    const char *name, *text;
} errors[] = {
#define ERROR(code, text) {code, #code, text},
#include "driver/cuda/errors.def"
#undef ERROR
};

static CUresult find(CUresult code, size_t *i) {
    for (*i = 0; *i < sizeof errors / sizeof *errors; ++*i) {
        if (errors[*i].code == code)
            return CUDA_SUCCESS;
    }
    return CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorString(CUresult code, const char **text) {
    size_t i;
    if (!text)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult r = find(code, &i);
    *text = r == CUDA_SUCCESS ? errors[i].text : NULL;
    return r;
}

CUresult cuGetErrorName(CUresult code, const char **name) {
    size_t i;
    if (!name)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult r = find(code, &i);
    *name = r == CUDA_SUCCESS ? errors[i].name : NULL;
    return r;
}
