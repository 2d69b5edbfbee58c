// SPDX-License-Identifier: Apache-2.0
#include "base/vec.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

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

void gr_vec_drop_pointer(void **data, size_t *len, const void *p) {
    size_t i = 0;
    while (i < *len && data[i] != p)
        i++;
    if (i < *len)
        memmove(data + i, data + i + 1, (--*len - i) * sizeof *data);
}
