// SPDX-License-Identifier: Apache-2.0
#include "report/lines/source.h"

#include "base/escape.h"
#include "base/status.h"
#include "base/vec.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct Source {
    char *text; // NULL: it cannot be read
    size_t len;
    VEC(size_t) starts; // of its lines
    VEC(uint64_t) says; // hash of each line, once they are asked for
    Map given;          // line -> text; then the file is not read
} Source;

void gr_sources_free(GrSources *s) {
    for (size_t k = 0; k < s->files.len; k++) {
        Source *f = s->files.entries[k].value;
        gr_vec_free(&f->starts);
        gr_vec_free(&f->says);
        gr_map_free(&f->given);
        free(f->text);
        free(f);
    }
    gr_map_free(&s->files);
}

// A module may name anything as its source: a device, a pipe.
static bool is_readable(const char *path) {
    enum { MAX_SOURCE = 64 << 20 };
    struct stat st;
    return !stat(path, &st) && S_ISREG(st.st_mode) && st.st_size <= MAX_SOURCE;
}

static Source *add_source(GrSources *s, const char *path) {
    Source *f = calloc(1, sizeof *f);
    if (!f || !gr_map_put(&s->files, path, f)) {
        free(f);
        return NULL;
    }
    return f;
}

static void split(Source *f) {
    const char *at = f->text, *end = at ? at + f->len : NULL;
    while (at && at < end) {
        if (!gr_vec_push(&f->starts, (size_t)(at - f->text)))
            break; // the lines behind it are not shown
        at = memchr(at, '\n', (size_t)(end - at));
        at += at != NULL;
    }
}

static Source *source_of(GrSources *s, const char *path) {
    Source *f = gr_map_get(&s->files, path);
    if (f)
        return f;
    f = add_source(s, path);
    if (!f)
        return NULL;
    if (!is_readable(path) || gr_file_read(path, &f->text, &f->len, NULL) != GR_OK)
        f->text = NULL;
    split(f);
    return f;
}

bool gr_source_give_file(GrSources *s, const char *path, const char *text) {
    Source *f = gr_map_get(&s->files, path);
    if (f) {
        if (f->text && strcmp(f->text, text) != 0)
            f->starts.len = 0;
        return true;
    }
    f = add_source(s, path);
    if (!f || !(f->text = strdup(text)))
        return false;
    f->len = strlen(text);
    split(f);
    return true;
}

bool gr_source_give(GrSources *s, const char *path, uint32_t line, const char *text) {
    Source *f = gr_map_get(&s->files, path);
    if (!f)
        f = add_source(s, path);
    if (!f)
        return false;
    const char *other = gr_map_get_u64(&f->given, line);
    if (other && strcmp(other, text) <= 0)
        return true;
    return gr_map_put_u64(&f->given, line, (void *)(uintptr_t)text);
}

// A longer line is cut there.
enum { MOST_COLUMNS = 200 };

static void add_line(const char *text, size_t len, uint32_t number, bool marked, StrBuf *out) {
    gr_str_addf(out, "  %c %5u | ", marked ? '>' : ' ', number);
    gr_add_columns(text, len, MOST_COLUMNS, out);
    gr_str_addc(out, '\n');
}

// A line's bytes, without what ends it (a line feed, or a carriage return and one).
static const char *line_of(const Source *f, uint32_t line, size_t *len) {
    const char *given = gr_map_get_u64(&f->given, line);
    if (given) {
        *len = strlen(given);
        return given;
    }
    if (!line || line > f->starts.len)
        return NULL;
    size_t from = f->starts.data[line - 1], to = line < f->starts.len ? f->starts.data[line] : f->len;
    while (to > from && (f->text[to - 1] == '\n' || f->text[to - 1] == '\r'))
        to--;
    *len = to - from;
    return f->text + from;
}

const char *gr_source_line(GrSources *s, const char *path, uint32_t line, size_t *len) {
    const Source *f = path ? source_of(s, path) : NULL;
    return f ? line_of(f, line, len) : NULL;
}

bool gr_source_give_all(GrSources *s, const GrSources *from, Interner *texts) {
    for (size_t k = 0; k < from->files.len; k++) {
        const Source *f = from->files.entries[k].value;
        const char *path = from->files.entries[k].str;
        path = f->given.len ? gr_intern(texts, path, strlen(path)) : path;
        for (size_t i = 0; i < f->given.len; i++) {
            const char *text = f->given.entries[i].value;
            text = gr_intern(texts, text, strlen(text));
            if (!path || !text || !gr_source_give(s, path, (uint32_t)f->given.entries[i].key, text))
                return false;
        }
    }
    return true;
}

static uint64_t hash_of(const char *text, size_t len) {
    uint64_t h = 0xcbf29ce484222325;
    for (size_t k = 0; k < len; k++)
        if (text[k] != ' ' && text[k] != '\t')
            h = (h ^ (unsigned char)text[k]) * 0x100000001b3;
    return h;
}

bool gr_source_mark(GrSources *s, const char *path, uint32_t line, uint64_t *says, uint32_t *before) {
    Source *f = path ? source_of(s, path) : NULL;
    if (!f || !line || line > f->starts.len)
        return false;
    while (f->says.len < f->starts.len) {
        size_t len = 0;
        const char *text = line_of(f, (uint32_t)f->says.len + 1, &len);
        if (!gr_vec_push(&f->says, hash_of(text, len)))
            return false;
    }
    *says = f->says.data[line - 1];
    *before = 0;
    for (uint32_t k = 0; k + 1 < line; k++)
        *before += f->says.data[k] == *says;
    return true;
}

void gr_source_line_excerpt(GrSources *s, const char *path, uint32_t line, StrBuf *out) {
    size_t n = 0;
    const char *text = gr_source_line(s, path, line, &n);
    if (text)
        add_line(text, n, line, true, out);
}

void gr_source_excerpt(GrSources *s, const char *path, uint32_t line, uint32_t col, StrBuf *out) {
    enum { AROUND = 1 };
    const Source *f = path && line ? source_of(s, path) : NULL;
    for (size_t k = line > AROUND ? line - AROUND : 1; f && k <= (size_t)line + AROUND; k++) {
        size_t n = 0;
        const char *text = line_of(f, (uint32_t)k, &n);
        if (!text)
            continue;
        add_line(text, n, (uint32_t)k, k == line, out);
        // The compiler counts bytes.
        size_t before = col ? gr_columns(text, n, col - 1) : 0;
        if (k == line && col && col <= n + 1 && before < MOST_COLUMNS - 1)
            gr_str_addf(out, "          | %*s^\n", (int)before, "");
    }
}
