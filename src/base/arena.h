// SPDX-License-Identifier: Apache-2.0
// arena — memory that is freed all at once.
//
// One arena per PTX module, per launch, per report. Everything handed out is zeroed. Running out of memory
// returns NULL, which callers pass up as GR_ERR_NOMEM.
#ifndef GR_BASE_ARENA_H
#define GR_BASE_ARENA_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct Arena {
    struct ArenaChunk *head;
    size_t used, cap; // of the head chunk
    size_t total;     // bytes asked of malloc, for statistics
} Arena;

void gr_arena_init(Arena *a);
void gr_arena_free(Arena *a);
// Takes everything back that was handed out, and keeps memory for as much again.
void gr_arena_rewind(Arena *a);

// `size` zeroed bytes aligned to 16; NULL only when the system is out of memory.
void *gr_arena_alloc(Arena *a, size_t size);

// `count` elements of `size` bytes, overflow checked; NULL when it overflows or memory is out.
void *gr_arena_array(Arena *a, size_t count, size_t size);

// A terminated copy of the first `len` bytes of `s`.
char *gr_arena_strndup(Arena *a, const char *s, size_t len);
char *gr_arena_strdup(Arena *a, const char *s);
char *gr_arena_printf(Arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
char *gr_arena_vprintf(Arena *a, const char *fmt, va_list words) __attribute__((format(printf, 2, 0)));

#define GR_NEW(arena, T)          ((T *)gr_arena_alloc((arena), sizeof(T)))
#define GR_NEW_ARRAY(arena, T, n) ((T *)gr_arena_array((arena), (n), sizeof(T)))

#endif
