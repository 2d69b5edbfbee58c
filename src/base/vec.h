// SPDX-License-Identifier: Apache-2.0
// vec — a growable array of any element type: VEC(int) v = {0}; gr_vec_push(&v, 3) ...; gr_vec_free(&v).
//
// gr_vec_push yields true on success and false when memory is out (the vector is unchanged then).
#ifndef GR_BASE_VEC_H
#define GR_BASE_VEC_H

#include <stdbool.h>
#include <stddef.h>

#define VEC(T)                                                                                               \
    struct {                                                                                                 \
        T *data;                                                                                             \
        size_t len, cap;                                                                                     \
    }

// Makes room for `need` elements of `size` bytes in *data; used by the macros only.
bool gr_vec_grow(void **data, size_t *cap, size_t need, size_t size);

void gr_vec_drop_pointer(void **data, size_t *len, const void *p); // used by gr_vec_drop only

#define gr_vec_reserve(v, n)                                                                                 \
    ((n) <= (v)->cap || gr_vec_grow((void **)&(v)->data, &(v)->cap, (n), sizeof *(v)->data))
#define gr_vec_push(v, x) (gr_vec_reserve((v), (v)->len + 1) && ((v)->data[(v)->len++] = (x), true))
// Takes out the element `at`, and the pointer `p` where it is there.
#define gr_vec_remove(v, at)                                                                                 \
    ((v)->len--, memmove((v)->data + (at), (v)->data + (at) + 1, ((v)->len - (at)) * sizeof *(v)->data))
#define gr_vec_drop(v, p) (gr_vec_drop_pointer((void **)(v)->data, &(v)->len, (p)))
#define gr_vec_free(v)    (free((v)->data), (v)->data = NULL, (v)->len = (v)->cap = 0)

#endif
