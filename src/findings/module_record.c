// SPDX-License-Identifier: Apache-2.0
#include "findings/module_record.h"

#include "base/map.h"
#include "base/path_map.h"

#include <stdlib.h>
#include <string.h>

// ---- writing ---------------------------------------------------------------------------------------------

typedef struct Texts {
    Map numbers;
    StrBuf out; // the texts, length-prefixed
    uint32_t count;
    bool failed;
} Texts;

static uint32_t number_of(Texts *t, const char *s) {
    if (!s)
        return 0;
    uintptr_t known = (uintptr_t)gr_map_get(&t->numbers, s);
    if (known)
        return (uint32_t)known;
    if (!gr_map_put(&t->numbers, s, (void *)(uintptr_t)(t->count + 1))) {
        t->failed = true;
        return 0;
    }
    gr_put_str(&t->out, s);
    return ++t->count;
}

static void write_frame(Texts *t, StrBuf *out, const GrFrame *f) {
    gr_put_u32(out, number_of(t, f->function));
    gr_put_u32(out, number_of(t, f->file));
    gr_put_u32(out, f->line);
    gr_put_u32(out, f->col);
}

static void write_site(Texts *t, StrBuf *out, const GrSiteInfo *s) {
    write_frame(t, out, &s->at);
    gr_put_u32(out, number_of(t, s->kernel));
    gr_put_u32(out, number_of(t, s->type));
    gr_put_u32(out, s->ptx_line);
    gr_put_u32(out, s->size);
    gr_put_u32(out, s->access | (uint32_t)s->space << 8 | (uint32_t)s->status << 16 |
                        (uint32_t)s->before << 24 | (uint32_t)s->is_volatile << 25);
    gr_put_u32(out, s->n_inlined);
    for (uint32_t i = 0; i < s->n_inlined; i++)
        write_frame(t, out, &s->inlined[i]);
    if (!s->at.line)
        write_frame(t, out, &s->near);
}

static void write_function(Texts *t, StrBuf *out, const GrFunctionInfo *f) {
    gr_put_u32(out, number_of(t, f->name));
    gr_put_u64(out, f->id);
    gr_put_u32(out, f->is_kernel);
    gr_put_u32(out, f->first_site);
    gr_put_u32(out, f->n_sites);
    gr_put_u32(out, f->n_kernels);
    for (uint32_t i = 0; i < f->n_kernels; i++)
        gr_put_u32(out, f->kernels[i]);
}

// What sites are called, of those that are called anything.
static void write_names(Texts *t, StrBuf *out, const GrModuleInfo *m) {
    uint32_t n = 0;
    for (uint32_t i = 1; i <= m->n_sites; i++)
        n += m->sites[i].variable || m->sites[i].argument;
    gr_put_u32(out, n);
    for (uint32_t i = 1; i <= m->n_sites; i++)
        if (m->sites[i].variable || m->sites[i].argument) {
            gr_put_u32(out, i);
            gr_put_u32(out, number_of(t, m->sites[i].variable));
            gr_put_u32(out, m->sites[i].argument);
        }
}

void gr_module_write(const GrModuleInfo *m, StrBuf *out) {
    Texts texts = {0};
    StrBuf body = {0};
    for (uint32_t i = 0; i < m->n_kernels; i++)
        gr_put_u32(&body, number_of(&texts, m->kernels[i]));
    for (uint32_t i = 1; i <= m->n_sites; i++)
        write_site(&texts, &body, &m->sites[i]);
    for (uint32_t i = 0; i < m->n_functions; i++)
        write_function(&texts, &body, &m->functions[i]);
    write_names(&texts, &body, m);
    gr_put_u64(out, m->number);
    gr_put_u64(out, m->hash);
    gr_put_str(out, m->name);
    gr_put_u32(out, m->unchecked != NULL);
    gr_put_str(out, m->unchecked);
    gr_put_str(out, m->area_tag.engine);
    gr_put_u32(out, m->area_tag.format);
    gr_put_u32(out, m->area_tag.version);
    gr_put_u64(out, m->area);
    gr_put_u64(out, m->area_bytes);
    gr_put_u32(out, texts.count);
    gr_str_addn(out, texts.out.data ? texts.out.data : "", texts.out.len);
    gr_put_u32(out, m->n_kernels);
    gr_put_u32(out, m->n_sites);
    gr_put_u32(out, m->n_functions);
    gr_str_addn(out, body.data ? body.data : "", body.len);
    out->oom |= texts.failed || texts.out.oom || body.oom;
    gr_map_free(&texts.numbers);
    gr_str_free(&texts.out);
    gr_str_free(&body);
}

// ---- reading ---------------------------------------------------------------------------------------------

typedef struct Reading {
    GrCursor c;
    Arena *arena;
    const char *paths;
    const char **texts; // [0] NULL
    uint32_t n_texts;
} Reading;

static const char *text(Reading *r) {
    uint32_t n = gr_get_u32(&r->c);
    if (n > r->n_texts)
        r->c.bad = true;
    return n <= r->n_texts ? r->texts[n] : NULL;
}

// A count of things that take at least `each` bytes: more than the payload can hold is nonsense.
static uint32_t count_of(Reading *r, size_t each) {
    uint32_t n = gr_get_u32(&r->c);
    if (n > (size_t)(r->c.end - r->c.p) / each) {
        r->c.bad = true;
        return 0;
    }
    return n;
}

static GrFrame read_frame(Reading *r) {
    const char *function = text(r), *file = text(r);
    uint32_t line = gr_get_u32(&r->c);
    return (GrFrame){function, gr_path_mapped(r->paths, file, r->arena), line, gr_get_u32(&r->c)};
}

static bool read_site(Reading *r, GrSiteInfo *s) {
    s->at = read_frame(r);
    s->kernel = text(r);
    s->type = text(r);
    s->ptx_line = gr_get_u32(&r->c);
    s->size = gr_get_u32(&r->c);
    uint32_t packed = gr_get_u32(&r->c);
    s->access = (uint8_t)packed;
    s->space = (uint8_t)(packed >> 8);
    s->status = (uint8_t)(packed >> 16);
    s->before = packed >> 24 & 1;
    s->is_volatile = packed >> 25 & 1;
    s->n_inlined = count_of(r, 16);
    GrFrame *f = GR_NEW_ARRAY(r->arena, GrFrame, s->n_inlined + 1);
    if (!f)
        return false;
    for (uint32_t i = 0; i < s->n_inlined; i++)
        f[i] = read_frame(r);
    s->inlined = f;
    if (!s->at.line)
        s->near = read_frame(r);
    return !r->c.bad;
}

static bool read_function(Reading *r, const GrModuleInfo *m, GrFunctionInfo *f) {
    f->name = text(r);
    f->id = gr_get_u64(&r->c);
    f->is_kernel = gr_get_u32(&r->c) != 0;
    f->first_site = gr_get_u32(&r->c);
    f->n_sites = gr_get_u32(&r->c);
    f->n_kernels = count_of(r, 4);
    uint32_t *kernels = GR_NEW_ARRAY(r->arena, uint32_t, (size_t)f->n_kernels + 1);
    if (!kernels)
        return false;
    for (uint32_t i = 0; i < f->n_kernels; i++) {
        kernels[i] = gr_get_u32(&r->c);
        if (kernels[i] >= m->n_kernels)
            r->c.bad = true;
    }
    f->kernels = kernels;
    if (!f->name || !f->first_site || f->first_site > m->n_sites ||
        f->n_sites > m->n_sites - f->first_site + 1)
        r->c.bad = true;
    return !r->c.bad;
}

static void read_names(Reading *r, const GrModuleInfo *m) {
    uint32_t n = count_of(r, 12);
    for (uint32_t i = 0; i < n && !r->c.bad; i++) {
        uint32_t site = gr_get_u32(&r->c);
        const char *variable = text(r);
        uint32_t argument = gr_get_u32(&r->c);
        if (!site || site > m->n_sites) {
            r->c.bad = true;
            return;
        }
        m->sites[site].variable = variable;
        m->sites[site].argument = argument;
    }
}

gr_status gr_module_read(const GrRecord *record, const char *paths, Arena *arena, GrModuleInfo *out,
                         gr_error *err) {
    Reading r = {.c = gr_cursor(record), .arena = arena, .paths = paths};
    *out = (GrModuleInfo){.process = record->process};
    out->number = gr_get_u64(&r.c);
    out->hash = gr_get_u64(&r.c);
    out->name = gr_get_str(&r.c, arena);
    bool unchecked = gr_get_u32(&r.c) != 0;
    const char *why = gr_get_str(&r.c, arena);
    out->unchecked = unchecked ? why : NULL;
    out->area_tag.engine = gr_get_str(&r.c, arena);
    out->area_tag.format = gr_get_u32(&r.c);
    out->area_tag.version = gr_get_u32(&r.c);
    out->area = gr_get_u64(&r.c);
    out->area_bytes = gr_get_u64(&r.c);
    r.n_texts = count_of(&r, 4);
    r.texts = GR_NEW_ARRAY(arena, const char *, (size_t)r.n_texts + 1);
    if (!r.texts)
        goto nomem;
    for (uint32_t i = 1; i <= r.n_texts; i++)
        r.texts[i] = gr_get_str(&r.c, arena);
    out->n_kernels = count_of(&r, 4);
    out->n_sites = count_of(&r, 40);
    out->n_functions = count_of(&r, 28);
    out->kernels = GR_NEW_ARRAY(arena, const char *, (size_t)out->n_kernels + 1);
    out->sites = GR_NEW_ARRAY(arena, GrSiteInfo, (size_t)out->n_sites + 1);
    out->functions = GR_NEW_ARRAY(arena, GrFunctionInfo, (size_t)out->n_functions + 1);
    if (!out->kernels || !out->sites || !out->functions)
        goto nomem;
    for (uint32_t i = 0; i < out->n_kernels; i++) {
        out->kernels[i] = text(&r);
        if (!out->kernels[i])
            r.c.bad = true;
    }
    for (uint32_t i = 1; i <= out->n_sites && !r.c.bad; i++)
        if (!read_site(&r, &out->sites[i]) && !r.c.bad)
            goto nomem;
    for (uint32_t i = 0; i < out->n_functions && !r.c.bad; i++)
        if (!read_function(&r, out, &out->functions[i]) && !r.c.bad)
            goto nomem;
    if (!r.c.bad)
        read_names(&r, out);
    return r.c.bad ? gr_fail(err, GR_ERR_FORMAT, "a module's record makes no sense") : GR_OK;
nomem:
    return gr_no_memory(err);
}
