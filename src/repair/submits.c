// SPDX-License-Identifier: Apache-2.0
#include "repair/submits.h"

#include <string.h>

static bool is(const GrCode *c, uint32_t k, const char *word) {
    return k < c->tokens.len && gr_token_is(&c->tokens.data[k], word);
}

// The stream of "<<<grid, block, bytes, stream>>>", which begins at the token `k`.
static const char *stream_of(GrRepairs *r, const GrCode *c, uint32_t k, uint32_t to) {
    int depth = 0;
    unsigned commas = 0;
    uint32_t from = 0;
    for (k++; k < to && !is(c, k, ">>>"); k++) {
        depth += is(c, k, "(") || is(c, k, "[") || is(c, k, "{");
        depth -= is(c, k, ")") || is(c, k, "]") || is(c, k, "}");
        if (!depth && is(c, k, ",") && ++commas == 3)
            from = k + 1;
    }
    if (!from || from >= k || k >= to || is(c, from, "0"))
        return NULL;
    const GrToken *first = &c->tokens.data[from], *last = &c->tokens.data[k - 1];
    return gr_arena_strndup(&r->arena, first->text, (size_t)(last->text + last->len - first->text));
}

// Behind the kernel's name and its template arguments.
static uint32_t behind_name(const GrCode *c, uint32_t k, uint32_t to) {
    int depth = 0;
    if (!is(c, k + 1, "<"))
        return k + 1;
    for (k++; k < to && !is(c, k, ";"); k++) {
        depth += is(c, k, "<") - is(c, k, ">");
        if (!depth)
            return k + 1;
    }
    return to;
}

unsigned gr_submits(GrRepairs *r, const GrPlace *kernel, GrSubmit out[GR_SUBMITS]) {
    const GrCode *c = &kernel->file->code;
    const GrToken *name = kernel->function->name;
    unsigned n = 0;
    for (size_t i = 0; name && i < c->functions.len; i++) {
        const GrFunctionCode *f = &c->functions.data[i];
        for (uint32_t k = f->body->from; !f->kernel && !f->device && k < f->body->to && n < GR_SUBMITS; k++) {
            const GrToken *t = &c->tokens.data[k];
            if (!gr_token_same(t, name))
                continue;
            uint32_t at = behind_name(c, k, f->body->to);
            uint32_t col = (uint32_t)(t->text - c->text) - c->lines.data[t->line - 1] + 1;
            out[n] =
                (GrSubmit){.place = {kernel->file, kernel->path, f, gr_cpp_at(c, f, t->line, col), t->line},
                           .stream = is(c, at, "<<<") ? stream_of(r, c, at, f->body->to) : NULL};
            n += out[n].place.statement && !(n && out[n - 1].place.statement == out[n].place.statement);
        }
    }
    return n;
}

bool gr_submits_kernel(GrRepairs *r, const GrAccess *a, GrPlace *out) {
    GrAccess outer = *a; // the kernel itself, not what was inlined into it
    outer.at = *gr_access_frame(a, a->n_inlined);
    outer.n_inlined = 0;
    return !a->host && gr_place_of(r, &outer, out) && out->function->kernel;
}
