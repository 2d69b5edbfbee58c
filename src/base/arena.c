// SPDX-License-Identifier: Apache-2.0
#include "base/arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_BYTES = 480, CHUNK_BYTES = 64 * 1024, ALIGN = 16 };

struct ArenaChunk {
    struct ArenaChunk *next;
    _Alignas(ALIGN) unsigned char data[];
};

void gr_arena_init(Arena *a) { *a = (Arena){0}; }

void gr_arena_free(Arena *a) {
    struct ArenaChunk *next;
    for (struct ArenaChunk *c = a->head; c; c = next) {
        next = c->next;
        free(c);
    }
    *a = (Arena){0};
}

// The newest chunk is the largest, but for blocks that got one of their own.
void gr_arena_rewind(Arena *a) {
    if (!a->head)
        return;
    struct ArenaChunk *next;
    for (struct ArenaChunk *c = a->head->next; c; c = next) {
        next = c->next;
        free(c);
    }
    a->head->next = NULL;
    a->total = a->cap;
    a->used = 0;
}

// Chunks grow with the arena, so that a small one takes little and a big one is of few.
static size_t next_chunk(const Arena *a) {
    if (!a->total)
        return FIRST_BYTES;
    return a->total < CHUNK_BYTES ? a->total : a->total / 4 > CHUNK_BYTES ? a->total / 4 : CHUNK_BYTES;
}

void *gr_arena_alloc(Arena *a, size_t size) {
    if (size > SIZE_MAX / 2)
        return NULL;
    size = (size + ALIGN - 1) & ~(size_t)(ALIGN - 1);
    if (!a->head || a->cap - a->used < size) {
        size_t want = next_chunk(a);
        if (want < size) // a large block gets a chunk of its own
            want = size;
        struct ArenaChunk *c = malloc(sizeof *c + want);
        if (!c)
            return NULL;
        c->next = a->head;
        a->head = c;
        a->used = 0;
        a->cap = want;
        a->total += want;
    }
    void *p = a->head->data + a->used;
    a->used += size;
    return memset(p, 0, size);
}

void *gr_arena_array(Arena *a, size_t count, size_t size) {
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes))
        return NULL;
    return gr_arena_alloc(a, bytes);
}

char *gr_arena_strndup(Arena *a, const char *s, size_t len) {
    char *p = gr_arena_alloc(a, len + 1);
    if (p)
        memcpy(p, s, len);
    return p;
}

char *gr_arena_strdup(Arena *a, const char *s) { return gr_arena_strndup(a, s, strlen(s)); }

char *gr_arena_vprintf(Arena *a, const char *fmt, va_list words) {
    va_list again;
    va_copy(again, words);
    int n = vsnprintf(NULL, 0, fmt, words);
    char *p = n < 0 ? NULL : gr_arena_alloc(a, (size_t)n + 1);
    if (p)
        vsnprintf(p, (size_t)n + 1, fmt, again);
    va_end(again);
    return p;
}

char *gr_arena_printf(Arena *a, const char *fmt, ...) {
    va_list words;
    va_start(words, fmt);
    char *p = gr_arena_vprintf(a, fmt, words);
    va_end(words);
    return p;
}
