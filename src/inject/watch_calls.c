// SPDX-License-Identifier: Apache-2.0
// watch_calls — the C library's functions of watch_calls.def. Opens the memory that such a call uses for as long as the
// call takes, and notes it as accessed by the host.
#include "inject/watch.h"

#include "inject/hooks.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/uio.h>

#define EXPORT __attribute__((visibility("default")))
#define FILLS  true
#define TAKES  false

enum { PIECES = 16 };

// What of several pieces of memory is open.
typedef struct Open {
    int let[PIECES];
    unsigned used;
} Open;

static void open_pieces(const struct iovec *v, size_t n, Open *o) {
    for (size_t k = 0; k < n && o->used < PIECES; k++)
        o->let[o->used++] =
            gr_watch_meets(v[k].iov_base, v[k].iov_len) ? gr_watch_let(v[k].iov_base, v[k].iov_len) : -2;
}

static void close_pieces(const struct iovec *v, size_t n, const Open *o, ssize_t done, bool fills,
                         const void *pc) {
    size_t left = done > 0 ? (size_t)done : 0;
    for (size_t k = 0; k < n && k < o->used; k++) {
        size_t here = v[k].iov_len < left ? v[k].iov_len : left;
        if (o->let[k] != -2)
            gr_watch_told(o->let[k], v[k].iov_base, here, fills, pc);
        left -= here;
    }
}

#undef fread_unlocked
#undef fwrite_unlocked

#define REAL(type, name, params)                                                                             \
    static type(*real) params;                                                                               \
    if (!real)                                                                                               \
    *(void **)&real = gr_real_dlsym(RTLD_NEXT, #name)

#define CALL(type, name, params, args, fills, pointer, bytes, done)                                          \
    EXPORT type name params;                                                                                 \
    EXPORT type name params {                                                                                \
        REAL(type, name, params);                                                                            \
        if (!gr_watch_is_on() || !gr_watch_meets((pointer), (bytes)))                                        \
            return real args;                                                                                \
        int let = gr_watch_let((pointer), (bytes));                                                          \
        type result = real args;                                                                             \
        int error = errno;                                                                                   \
        gr_watch_told(let, (pointer), (ssize_t)result > 0 ? (size_t)(done) : 0, (fills),                     \
                      __builtin_return_address(0));                                                          \
        errno = error;                                                                                       \
        return result;                                                                                       \
    }
#define VECTOR(type, name, params, args, fills, pieces, count)                                               \
    EXPORT type name params {                                                                                \
        REAL(type, name, params);                                                                            \
        if (!gr_watch_is_on())                                                                               \
            return real args;                                                                                \
        Open open = {.used = 0};                                                                             \
        open_pieces((pieces), (size_t)(count), &open);                                                       \
        type result = real args;                                                                             \
        int error = errno;                                                                                   \
        close_pieces((pieces), (size_t)(count), &open, result, (fills), __builtin_return_address(0));        \
        errno = error;                                                                                       \
        return result;                                                                                       \
    }
#include "inject/watch_calls.def"
