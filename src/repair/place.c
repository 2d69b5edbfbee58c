// SPDX-License-Identifier: Apache-2.0
#include "repair/place.h"

#include "findings/headline.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

// ---- Files -------------------------------------------------------------------------------------------------

// A module may name anything as its source: a device, a pipe.
static bool is_source(const char *path) {
    enum { MAX_SOURCE = 4 << 20 };
    struct stat st;
    return !gr_is_toolkit_file(path) && !stat(path, &st) && S_ISREG(st.st_mode) && st.st_size <= MAX_SOURCE;
}

static bool read_file(GrRepairFile *f, const char *path) {
    size_t len = 0;
    if (!is_source(path) || gr_file_read(path, &f->text, &len, NULL) != GR_OK ||
        !gr_cpp_read(&f->code, f->text, len))
        return false;
    gr_holds_functions(&f->code);
    f->reach = calloc(f->code.functions.len + 1, sizeof *f->reach);
    return f->reach != NULL;
}

GrRepairFile *gr_repair_file(GrRepairs *r, const char *path) {
    GrRepairFile *f = path ? gr_map_get(&r->files, path) : NULL;
    if (!f && path) {
        f = calloc(1, sizeof *f);
        if (f && !gr_map_put(&r->files, path, f)) {
            free(f);
            return NULL;
        }
        if (f && !read_file(f, path)) {
            free(f->reach);
            f->reach = NULL;
        }
    }
    return f && f->reach ? f : NULL;
}

void gr_repairs_free(GrRepairs *r) {
    for (size_t k = 0; k < r->files.len; k++) {
        GrRepairFile *f = r->files.entries[k].value;
        for (size_t i = 0; f->reach && i < f->code.functions.len; i++)
            gr_reach_free(&f->reach[i]);
        gr_cpp_free(&f->code);
        free(f->reach);
        free(f->text);
        free(f);
    }
    gr_map_free(&r->files);
    gr_arena_free(&r->arena);
}

const GrReach *gr_repair_reach(GrRepairFile *f, const GrFunctionCode *function) {
    GrReach *r = &f->reach[function - f->code.functions.data];
    if (!r->code)
        (void)gr_reach_read(r, &f->code, function);
    return r->oom ? NULL : r;
}

bool gr_place_of(GrRepairs *r, const GrAccess *a, GrPlace *out) {
    for (uint32_t k = 0; k <= a->n_inlined; k++) {
        const GrFrame *f = gr_access_frame(a, k);
        out->file = f->line ? gr_repair_file(r, f->file) : NULL;
        out->path = f->file;
        out->line = f->line;
        out->function = out->file ? gr_cpp_function(&out->file->code, f->line) : NULL;
        out->statement = out->function ? gr_cpp_at(&out->file->code, out->function, f->line, f->col) : NULL;
        if (out->statement)
            return true;
    }
    return false;
}

// ---- Edits -------------------------------------------------------------------------------------------------

void gr_place_add(GrPlaces *p, const GrProposal *proposal) {
    GrProposal sorted = *proposal;
    for (unsigned i = 1; i < sorted.n; i++)
        for (unsigned k = i; k && sorted.edits[k].line < sorted.edits[k - 1].line; k--) {
            GrEdit e = sorted.edits[k];
            sorted.edits[k] = sorted.edits[k - 1];
            sorted.edits[k - 1] = e;
        }
    bool known = !sorted.n || p->n == GR_REPAIR_PROPOSALS;
    for (unsigned k = 0; k < p->n; k++)
        known |= gr_proposal_same(&p->out[k], &sorted);
    if (!known)
        p->out[p->n++] = sorted;
}

// A #pragma belongs to what follows.
static uint32_t above_pragmas(const GrCode *c, uint32_t line) {
    size_t len = 0;
    const char *text;
    while (line > 1 && (text = gr_cpp_line(c, line - 1, &len))) {
        while (len && (*text == ' ' || *text == '\t'))
            text++, len--;
        if (!len || *text != '#' || !memmem(text, len, "pragma", 6))
            break;
        line--;
    }
    return line;
}

bool gr_place_insert(GrPlaces *p, GrProposal *proposal, uint32_t before, uint32_t as, const char *text) {
    size_t len = 0, n = 0;
    const char *like = gr_cpp_line(proposal->code, as, &len);
    if (!like || proposal->n == GR_REPAIR_EDITS)
        return false;
    while (n < len && (like[n] == ' ' || like[n] == '\t'))
        n++;
    char *line = gr_arena_printf(&p->repairs->arena, "%.*s%s", (int)n, like, text);
    if (!line)
        return false;
    proposal->edits[proposal->n++] = (GrEdit){above_pragmas(proposal->code, before), false, line};
    return true;
}

GrProposal gr_place_proposal(const GrPlace *at, const char *what) {
    return (GrProposal){.what = what, .file = at->path, .code = &at->file->code};
}

const GrStatement *gr_place_in_block(const GrStatement *s) {
    while (s && !(s->parent && s->parent->kind == GR_STMT_BLOCK))
        s = s->parent;
    return s;
}

bool gr_place_put_before(GrPlaces *p, GrProposal *proposal, const GrStatement *s, const char *text) {
    s = gr_place_in_block(s);
    return s && gr_cpp_begins_line(proposal->code, s->from) &&
           gr_place_insert(p, proposal, s->first, s->first, text);
}

bool gr_place_put_behind(GrPlaces *p, GrProposal *proposal, const GrStatement *s, const char *text) {
    s = gr_place_in_block(s);
    return s && gr_cpp_begins_line(proposal->code, s->to) &&
           gr_place_insert(p, proposal, s->last + 1, s->first, text);
}

bool gr_repair_depends(GrRepairs *r, const GrFrame *at, const char *file, uint32_t line) {
    GrRepairFile *f = at->file && file && line && !strcmp(at->file, file) ? gr_repair_file(r, file) : NULL;
    const GrFunctionCode *function = f ? gr_cpp_function(&f->code, at->line) : NULL;
    const GrStatement *s = function ? gr_cpp_at(&f->code, function, at->line, at->col) : NULL;
    for (; s && s->parent; s = s->parent) {
        const GrStatement *in = s->parent;
        if ((in->kind == GR_STMT_IF || in->kind == GR_STMT_LOOP) && in->decides < in->decided &&
            f->code.tokens.data[in->decides].line <= line &&
            line <= f->code.tokens.data[in->decided - 1].line && at->line != line)
            return true;
    }
    return false;
}
