// SPDX-License-Identifier: Apache-2.0
#include "report/source.h"

#include "base/status.h"
#include "base/vec.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct Source {
    char *text; // NULL: it cannot be read
    size_t len;
    VEC(size_t) starts; // of its lines
} Source;

void gr_sources_free(GrSources *s) {
    for (size_t k = 0; k < s->files.len; k++) {
        Source *f = s->files.entries[k].value;
        gr_vec_free(&f->starts);
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

static const Source *source_of(GrSources *s, const char *path) {
    Source *f = gr_map_get(&s->files, path);
    if (f)
        return f;
    f = calloc(1, sizeof *f);
    if (!f || !gr_map_put(&s->files, path, f)) {
        free(f);
        return NULL;
    }
    if (!is_readable(path) || gr_file_read(path, &f->text, &f->len, NULL) != GR_OK)
        f->text = NULL;
    const char *at = f->text, *end = at ? at + f->len : NULL;
    while (at && at < end) {
        if (!gr_vec_push(&f->starts, (size_t)(at - f->text)))
            break; // the lines behind it are not shown
        at = memchr(at, '\n', (size_t)(end - at));
        at += at != NULL;
    }
    return f;
}

static void add_line(const char *text, size_t len, uint32_t number, bool marked, StrBuf *out) {
    gr_str_addf(out, "  %c %5u | ", marked ? '>' : ' ', number);
    for (size_t i = 0; i < len && i < 200; i++) {
        char c = text[i];
        if (c == '\t')
            c = ' '; // one column each, so that the caret stands right
        gr_str_addc(out, (unsigned char)c < ' ' || c == 127 ? '?' : c);
    }
    gr_str_addc(out, '\n');
}

// A line's bytes, without what ends it (a line feed, or a carriage return and one).
static size_t line_of(const Source *f, size_t k, const char **text) {
    size_t from = f->starts.data[k], to = k + 1 < f->starts.len ? f->starts.data[k + 1] : f->len;
    while (to > from && (f->text[to - 1] == '\n' || f->text[to - 1] == '\r'))
        to--;
    *text = f->text + from;
    return to - from;
}

void gr_source_excerpt(GrSources *s, const char *path, uint32_t line, uint32_t col, StrBuf *out) {
    enum { AROUND = 1 };
    const Source *f = path && line ? source_of(s, path) : NULL;
    for (size_t k = line > AROUND ? line - AROUND : 1; f && k <= (size_t)line + AROUND && k <= f->starts.len;
         k++) {
        const char *text;
        size_t n = line_of(f, k - 1, &text);
        add_line(text, n, (uint32_t)k, k == line, out);
        if (k == line && col && col <= n + 1 && col < 200)
            gr_str_addf(out, "          | %*s^\n", (int)col - 1, "");
    }
}
