// SPDX-License-Identifier: Apache-2.0
#include "base/str.h"

#include "base/outfile.h"
#include "base/vec.h"

#include <errno.h>
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

void gr_str_addn(StrBuf *s, const char *text, size_t len) {
    if (!reserve(s, len))
        return;
    memcpy(s->data + s->len, text, len);
    s->len += len;
    s->data[s->len] = 0;
}

void gr_str_add(StrBuf *s, const char *text) { gr_str_addn(s, text, strlen(text)); }

void gr_str_addc(StrBuf *s, char c) { gr_str_addn(s, &c, 1); }

void gr_str_addf(StrBuf *s, const char *fmt, ...) {
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    if (n > 0 && reserve(s, (size_t)n)) {
        vsnprintf(s->data + s->len, (size_t)n + 1, fmt, again);
        s->len += (size_t)n;
    }
    va_end(again);
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
    size_t cap = in->cap ? in->cap * 2 : 256;
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
        if (!reserve(&s, 64 * 1024)) {
            st = gr_fail(err, GR_ERR_NOMEM, "%s is too large for the memory there is", path);
            goto done;
        }
        size_t n = fread(s.data + s.len, 1, 64 * 1024, f);
        s.len += n;
        if (n == 0)
            break;
    }
    if (ferror(f)) {
        st = gr_fail(err, GR_ERR_IO, "cannot read %s: %s", path, strerror(errno));
        goto done;
    }
    s.data[s.len] = 0;
    *len = s.len;
    *out = s.data;
    s = (StrBuf){0};
done:
    fclose(f);
    gr_str_free(&s);
    return st;
}

gr_status gr_file_write(const char *path, const void *data, size_t len, gr_error *err) {
    GrOutFile o;
    gr_status st = GR_OK;
    GR_TRY(gr_out_open(&o, path, err));
    GR_TRY(gr_out_write(&o, data, len, err));
    st = gr_out_close(&o, err);
done:
    gr_out_drop(&o);
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
