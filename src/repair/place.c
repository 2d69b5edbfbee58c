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

static const GrReach *reach_of(GrRepairFile *f, const GrFunctionCode *function) {
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
        out->statement = out->function ? gr_cpp_at(out->function, f->line) : NULL;
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

// ---- Barriers ----------------------------------------------------------------------------------------------

// Both sides in one function: the innermost places, of those that the accesses were inlined from, that share one.
typedef struct Pair {
    GrRepairFile *file;
    const char *path;
    const GrFunctionCode *function;
    const GrStatement *earlier, *later;
    uint32_t line[2]; // of these
    uint32_t level;   // of the later side's places
} Pair;

static bool in_one(GrPlaces *p, const GrFrame *a, const GrFrame *b, Pair *out) {
    if (!a->file || !b->file || !a->line || !b->line || strcmp(a->file, b->file))
        return false;
    out->file = gr_repair_file(p->repairs, a->file);
    out->path = a->file;
    out->function = out->file ? gr_cpp_function(&out->file->code, a->line) : NULL;
    if (!out->function || out->function != gr_cpp_function(&out->file->code, b->line))
        return false;
    out->earlier = gr_cpp_at(out->function, a->line);
    out->later = gr_cpp_at(out->function, b->line);
    out->line[0] = a->line;
    out->line[1] = b->line;
    return out->earlier && out->later && (out->function->kernel || out->function->device);
}

static bool find_pair(GrPlaces *p, Pair *out) {
    const GrAccess *later = &p->found->accesses[0], *earlier = &p->found->accesses[1];
    for (uint32_t k = 0; k <= earlier->n_inlined; k++)
        for (uint32_t i = 0; i <= later->n_inlined; i++)
            if (in_one(p, gr_access_frame(earlier, k), gr_access_frame(later, i), out)) {
                out->level = i;
                return true;
            }
    return false;
}

// Whether all come to the function: to the lines from which it was inlined.
static bool all_call(GrPlaces *p, const Pair *pair, GrVaries most) {
    const GrAccess *later = &p->found->accesses[0];
    bool all = true;
    for (uint32_t k = pair->level + 1; all && k <= later->n_inlined; k++) {
        const GrFrame *f = gr_access_frame(later, k);
        GrRepairFile *file = f->line ? gr_repair_file(p->repairs, f->file) : NULL;
        const GrFunctionCode *function = file ? gr_cpp_function(&file->code, f->line) : NULL;
        const GrStatement *s = function ? gr_cpp_at(function, f->line) : NULL;
        const GrReach *r = s ? reach_of(file, function) : NULL;
        all = r && gr_reach_all(r, s, most);
    }
    return all;
}

static const GrStatement *common(const GrStatement *a, const GrStatement *b) {
    for (; a; a = a->parent)
        for (const GrStatement *p = b; p; p = p->parent)
            if (p == a)
                return a;
    return NULL;
}

static const GrStatement *child_towards(const GrStatement *of, const GrStatement *s) {
    while (s && s->parent != of)
        s = s->parent;
    return s;
}

// Before a statement.
static bool before(GrPlaces *p, const Pair *pair, const GrStatement *s, GrVaries most, const char *text,
                   GrProposal *add) {
    const GrReach *r = reach_of(pair->file, pair->function);
    return s && r && gr_cpp_begins_line(add->code, s->from) && gr_reach_all(r, s, most) &&
           gr_place_insert(p, add, s->first, s->first, text);
}

// Between the two, in the smallest block that has both: before the second, or else behind the first.
static bool between(GrPlaces *p, const Pair *pair, GrVaries most, const char *text, GrProposal *add) {
    bool swapped = pair->line[1] < pair->line[0];
    const GrStatement *first = swapped ? pair->later : pair->earlier,
                      *second = swapped ? pair->earlier : pair->later;
    const GrStatement *block = common(first, second);
    if (!block || block->kind != GR_STMT_BLOCK)
        return false;
    first = child_towards(block, first);
    second = child_towards(block, second);
    return first && second && first != second &&
           (before(p, pair, second, most, text, add) || before(p, pair, first->next, most, text, add));
}

// At the end of the innermost loop that has both, and that all go round together.
static bool round_loop(GrPlaces *p, const Pair *pair, GrVaries most, const char *text, GrProposal *add) {
    const GrReach *r = reach_of(pair->file, pair->function);
    for (const GrStatement *s = common(pair->earlier, pair->later); s && r; s = s->parent) {
        const GrStatement *body = s->kind == GR_STMT_LOOP ? s->child : NULL,
                          *last = body ? body->child : NULL;
        while (last && last->next)
            last = last->next;
        if (last && body->kind == GR_STMT_BLOCK && gr_cpp_begins_line(add->code, body->to - 1) &&
            gr_reach_all(r, last, most) && gr_place_insert(p, add, body->last, last->first, text))
            return true;
    }
    return false;
}

void gr_place_barrier(GrPlaces *p, GrVaries most, const char *text, const char *what) {
    Pair pair;
    if (!find_pair(p, &pair) || !all_call(p, &pair, most))
        return;
    GrProposal none = {.what = what, .file = pair.path, .code = &pair.file->code};
    GrProposal one = none, loop = none, both = none;
    bool has_one = between(p, &pair, most, text, &one), has_loop = round_loop(p, &pair, most, text, &loop);
    if (has_one && has_loop && between(p, &pair, most, text, &both))
        (void)round_loop(p, &pair, most, text, &both);
    bool forward = pair.line[0] < pair.line[1];
    gr_place_add(p, forward ? &one : &loop);
    gr_place_add(p, &both);
    gr_place_add(p, forward ? &loop : &one);
}
