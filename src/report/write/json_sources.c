// SPDX-License-Identifier: Apache-2.0
// json_sources — the source lines that a report shows, as part of the report: another machine may lack the files.
#include "base/escape.h"
#include "report/write/json_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A line is cut there: a generated file may be one line.
enum { LONGEST_LINE = 400 };

// NULL: out of memory. The caller frees it.
static char *utf8(const char *s) {
    StrBuf plain = {0};
    gr_add_utf8(s, &plain);
    if (plain.oom)
        gr_str_free(&plain);
    return plain.data || !*s ? gr_str_take(&plain) : NULL;
}

json_t *gr_json_text(const char *s) {
    json_t *j = json_string(s);
    if (j || !s)
        return j;
    char *plain = utf8(s);
    j = plain ? json_string(plain) : NULL;
    free(plain);
    return j;
}

bool gr_json_set(json_t *o, const char *key, json_t *v) {
    bool ok = v && json_object_set(o, key, v) == 0;
    char *plain = ok || !v ? NULL : utf8(key);
    ok = ok || (plain && json_object_set(o, plain, v) == 0);
    free(plain);
    json_decref(v);
    return ok;
}

typedef struct Lines {
    const GrReport *report;
    json_t *files;
    bool nomem;
} Lines;

// Makes a source line UTF-8 and keeps its columns, which accesses refer to: '?' for other bytes, as in excerpts.
static void replace_bytes(char *line, size_t len) {
    for (size_t k = 0, n; k < len; k += n ? n : 1) {
        uint32_t c;
        n = gr_utf8_char(line + k, len - k, &c);
        if (!n)
            line[k] = '?';
    }
}

static void add_line(Lines *l, json_t *lines, const char *file, uint32_t line) {
    char key[16];
    size_t len = 0;
    const char *text = gr_source_line(l->report->sources, file, line, &len);
    snprintf(key, sizeof key, "%u", line);
    if (!text || json_object_get(lines, key))
        return;
    if (len > LONGEST_LINE)
        for (len = LONGEST_LINE; len && ((unsigned char)text[len] & 0xc0) == 0x80;)
            len--; // not in the middle of a character
    char *copy = malloc(len + 1);
    if (copy) {
        memcpy(copy, text, len);
        copy[len] = 0;
        replace_bytes(copy, len);
    }
    l->nomem |= !copy || !gr_json_set(lines, key, gr_json_text(copy));
    free(copy);
}

static void add_lines(Lines *l, const GrFrame *f, uint32_t around) {
    if (!f->file || !f->line)
        return;
    json_t *lines = json_object_get(l->files, f->file);
    if (!lines) {
        lines = json_object();
        if (!gr_json_set(l->files, f->file, lines)) {
            l->nomem = true;
            return;
        }
    }
    for (uint32_t k = f->line > around ? f->line - around : 1; k <= f->line + around; k++)
        add_line(l, lines, f->file, k);
}

static void add_access(Lines *l, const GrAccess *a, bool outer) {
    add_lines(l, gr_access_frame(a, a->headline), GR_SOURCE_AROUND);
    if (gr_access_call_line(a))
        add_lines(l, gr_access_call_line(a), GR_SOURCE_AROUND);
    for (uint32_t k = a->headline + 1; outer && k <= a->n_inlined; k++)
        add_lines(l, gr_access_frame(a, k), 1);
}

static void add_race(Lines *l, const GrRace *race, bool outer) {
    for (unsigned k = 0; k < race->found.n_accesses; k++)
        add_access(l, &race->found.accesses[k], outer);
    if (race->met)
        add_access(l, &race->met->other, false);
    if (race->watched)
        add_race(l, race->watched, false);
    if (race->witness)
        add_race(l, race->witness, false);
}

// Drops files that cannot be read.
static void drop_empty(json_t *files) {
    const char *file;
    json_t *lines;
    void *next;
    json_object_foreach_safe(files, next, file, lines) if (!json_object_size(lines))
        json_object_del(files, file);
}

json_t *gr_json_sources(const GrReport *r, size_t listed) {
    Lines l = {.report = r, .files = json_object()};
    l.nomem = !l.files;
    for (size_t k = 0; k < listed && !l.nomem && r->sources; k++)
        add_race(&l, &r->races.data[k], false);
    for (size_t k = 0; k < r->misuses.len && !l.nomem && r->sources; k++)
        add_race(&l, &r->misuses.data[k], true);
    if (!l.nomem) {
        drop_empty(l.files);
        return l.files;
    }
    json_decref(l.files);
    return NULL;
}
