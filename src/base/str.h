// SPDX-License-Identifier: Apache-2.0
// str — string building, string interning, whole files.
#ifndef GR_BASE_STR_H
#define GR_BASE_STR_H

#include "base/arena.h"
#include "base/status.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

// A growing, always terminated text buffer. `oom` stays set once memory ran out; the text is then cut short.
typedef struct StrBuf {
    char *data;
    size_t len, cap;
    bool oom;
} StrBuf;

void gr_str_free(StrBuf *s);
void gr_str_grow(StrBuf *s, const char *text, size_t len); // gr_str_addn where there is no room yet

// Inline, because printers add a few characters at a time.
static inline void gr_str_addn(StrBuf *s, const char *text, size_t len) {
    if (len >= s->cap - s->len) {
        gr_str_grow(s, text, len);
        return;
    }
    memcpy(s->data + s->len, text, len);
    s->len += len;
    s->data[s->len] = 0;
}

static inline void gr_str_add(StrBuf *s, const char *text) { gr_str_addn(s, text, strlen(text)); }
static inline void gr_str_addc(StrBuf *s, char c) { gr_str_addn(s, &c, 1); }
void gr_str_addf(StrBuf *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void gr_str_vaddf(StrBuf *s, const char *fmt, va_list words) __attribute__((format(printf, 2, 0)));

// Formats like snprintf and vsnprintf, but several times faster where a format has nothing but %s, %u and %%: rewriting
// a module formats a hundred lines per kernel.
int gr_format(char *buf, size_t size, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
int gr_vformat(char *buf, size_t size, const char *fmt, va_list ap) __attribute__((format(printf, 3, 0)));

// In a function whose last parameters are `fmt` and `...`: declares `text`, at most `size` bytes, and formats into it.
#define GR_FORMATTED(text, size, fmt)                                                                        \
    char text[size];                                                                                         \
    va_list text##_words;                                                                                    \
    va_start(text##_words, fmt);                                                                             \
    vsnprintf(text, sizeof text, fmt, text##_words);                                                         \
    va_end(text##_words)

// Hands out the text (never NULL unless memory is out) and leaves *s empty; the caller frees it with free().
char *gr_str_take(StrBuf *s);

// Equal strings become equal pointers, valid as long as the arena. Capacity grows as needed.
typedef struct Interner {
    Arena *arena;
    const char **slots;
    size_t count, cap;
} Interner;

void gr_intern_init(Interner *in, Arena *arena);
void gr_intern_free(Interner *in); // frees the table, not the strings
const char *gr_intern(Interner *in, const char *s, size_t len);

// FNV-1a with a final mix; stable across runs and machines.
uint64_t gr_hash_bytes(const void *data, size_t len);

// Reads a whole file; *out is terminated with a NUL that *len does not count; the caller frees it.
gr_status gr_file_read(const char *path, char **out, size_t *len, gr_error *err);

// Whether `word` is one of the comma-separated words of list[0 .. len).
bool gr_words_have(const char *list, size_t len, const char *word);

#endif
