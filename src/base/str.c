// SPDX-License-Identifier: Apache-2.0
#include "base/str.h"

#include "base/vec.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void gr_str_free(StrBuf *s) {
    free(s->data);
    *s = (StrBuf){0};
}

static bool reserve(StrBuf *s, size_t extra) {
    size_t need;
    if (__builtin_add_overflow(s->len, extra, &need) || __builtin_add_overflow(need, (size_t)1, &need) ||
        (need > s->cap && !gr_vec_grow((void **)&s->data, &s->cap, need, 1))) {
        s->oom = true;
        return false;
    }
    return true;
}

void gr_str_grow(StrBuf *s, const char *text, size_t len) {
    if (reserve(s, len))
        gr_str_addn(s, text, len);
}

// What a format has made so far; `n` counts what did not fit, too.
typedef struct Format {
    char *buf;
    size_t size, n;
} Format;

static void format_add(Format *f, const char *text, size_t len) {
    if (f->n < f->size)
        memcpy(f->buf + f->n, text, len < f->size - f->n ? len : f->size - f->n);
    f->n += len;
}

static void format_unsigned(Format *f, unsigned v) {
    char digits[10], *p = digits + sizeof digits;
    do
        *--p = (char)('0' + v % 10);
    while (v /= 10);
    format_add(f, p, (size_t)(digits + sizeof digits - p));
}

// The C library formats what is left from the first other conversion on.
static int format_rest(Format *f, const char *fmt, va_list ap) {
    size_t at = f->n < f->size ? f->n : f->size;
    int n = vsnprintf(at < f->size ? f->buf + at : NULL, f->size - at, fmt, ap);
    if (at && at == f->size)
        f->buf[at - 1] = 0;
    return n < 0 || f->n > (size_t)(INT_MAX - n) ? -1 : (int)f->n + n;
}

int gr_vformat(char *buf, size_t size, const char *fmt, va_list ap) {
    Format f = {.buf = buf, .size = size};
    for (const char *p = fmt; *p;) {
        const char *s;
        size_t literal = (size_t)(strchrnul(p, '%') - p);
        format_add(&f, p, literal);
        p += literal;
        if (!*p)
            break;
        if (p[1] == 's' && (s = va_arg(ap, const char *)) != NULL)
            format_add(&f, s, strlen(s));
        else if (p[1] == 's')
            format_add(&f, "(null)", 6);
        else if (p[1] == 'u')
            format_unsigned(&f, va_arg(ap, unsigned));
        else if (p[1] == '%')
            format_add(&f, "%", 1);
        else
            return format_rest(&f, p, ap);
        p += 2;
    }
    if (size)
        buf[f.n < size ? f.n : size - 1] = 0;
    return f.n > INT_MAX ? -1 : (int)f.n;
}

int gr_format(char *buf, size_t size, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    int n = gr_vformat(buf, size, fmt, ap);
    va_end(ap);
    return n;
}

void gr_str_vaddf(StrBuf *s, const char *fmt, va_list words) {
    va_list again;
    size_t room = s->cap - s->len; // 0: there is no buffer yet
    va_copy(again, words);
    int n = gr_vformat(room ? s->data + s->len : NULL, room, fmt, words);
    bool fits = n >= 0 && (size_t)n < room;
    if (n > 0 && !fits && reserve(s, (size_t)n)) {
        gr_vformat(s->data + s->len, (size_t)n + 1, fmt, again);
        fits = true;
    }
    va_end(again);
    if (fits)
        s->len += (size_t)n;
    else if (room)
        s->data[s->len] = 0;
}

void gr_str_addf(StrBuf *s, const char *fmt, ...) {
    va_list words;
    va_start(words, fmt);
    gr_str_vaddf(s, fmt, words);
    va_end(words);
}

char *gr_str_take(StrBuf *s) {
    if (!s->data)
        reserve(s, 0);
    if (s->data)
        s->data[s->len] = 0;
    char *p = s->data;
    *s = (StrBuf){0};
    return p;
}

uint64_t gr_hash_bytes(const void *data, size_t len) {
    const unsigned char *p = data;
    uint64_t h = 0xcbf29ce484222325u;
    for (size_t i = 0; i < len; i++)
        h = (h ^ p[i]) * 0x100000001b3u;
    return h ^ (h >> 32);
}

void gr_intern_init(Interner *in, Arena *arena) { *in = (Interner){.arena = arena}; }

void gr_intern_free(Interner *in) {
    free(in->slots);
    in->slots = NULL;
    in->count = in->cap = 0;
}

static bool intern_rehash(Interner *in) {
    size_t cap = in->cap ? in->cap * 2 : 32;
    const char **slots = calloc(cap, sizeof *slots);
    if (!slots)
        return false;
    for (size_t i = 0; i < in->cap; i++) {
        if (!in->slots[i])
            continue;
        size_t k = gr_hash_bytes(in->slots[i], strlen(in->slots[i])) & (cap - 1);
        while (slots[k])
            k = (k + 1) & (cap - 1);
        slots[k] = in->slots[i];
    }
    free(in->slots);
    in->slots = slots;
    in->cap = cap;
    return true;
}

const char *gr_intern(Interner *in, const char *s, size_t len) {
    if (in->count * 2 >= in->cap && !intern_rehash(in))
        return NULL;
    size_t k = gr_hash_bytes(s, len) & (in->cap - 1);
    for (; in->slots[k]; k = (k + 1) & (in->cap - 1))
        if (!strncmp(in->slots[k], s, len) && !in->slots[k][len])
            return in->slots[k];
    const char *copy = gr_arena_strndup(in->arena, s, len);
    if (copy) {
        in->slots[k] = copy;
        in->count++;
    }
    return copy;
}

gr_status gr_file_read(const char *path, char **out, size_t *len, gr_error *err) {
    gr_status st = GR_OK;
    StrBuf s = {0};
    FILE *f = fopen(path, "rb");
    if (!f)
        return gr_fail(err, GR_ERR_IO, "cannot open %s: %s", path, strerror(errno));
    for (;;) {
        if (!reserve(&s, 64 * 1024))
            GR_TRY(gr_fail(err, GR_ERR_NOMEM, "%s is too large for the memory there is", path));
        size_t n = fread(s.data + s.len, 1, 64 * 1024, f);
        s.len += n;
        if (n == 0)
            break;
    }
    if (ferror(f))
        GR_TRY(gr_fail(err, GR_ERR_IO, "cannot read %s: %s", path, strerror(errno)));
    s.data[s.len] = 0;
    *len = s.len;
    *out = s.data;
    s = (StrBuf){0};
done:
    fclose(f);
    gr_str_free(&s);
    return st;
}

bool gr_words_have(const char *list, size_t len, const char *word) {
    size_t n = strlen(word);
    for (const char *p = list, *end = list + len; p < end;) {
        const char *comma = memchr(p, ',', (size_t)(end - p));
        size_t item = (size_t)((comma ? comma : end) - p);
        if (item == n && !memcmp(p, word, n))
            return true;
        p += item + 1;
    }
    return false;
}
