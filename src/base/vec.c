// SPDX-License-Identifier: Apache-2.0
#include "base/vec.h"

#include <stdint.h>
#include <stdlib.h>

bool gr_vec_grow(void **data, size_t *cap, size_t need, size_t size) {
    size_t want = *cap ? *cap : 8, bytes;
    while (want < need) {
        if (want > SIZE_MAX / 2)
            return false;
        want *= 2;
    }
    if (__builtin_mul_overflow(want, size, &bytes))
        return false;
    void *p = realloc(*data, bytes);
    if (!p)
        return false;
    *data = p;
    *cap = want;
    return true;
}
