// SPDX-License-Identifier: Apache-2.0
// order — places of edits that order blocks, launches, copies and the host: wider scopes, fences, waits.
#include "repair/place.h"

#include <string.h>

static GrProposal proposal_at(const GrPlace *at, const char *what) {
    return (GrProposal){.what = what, .file = at->path, .code = &at->file->code};
}

// The statement, or what controls it, that is one of a block's. NULL: none.
static const GrStatement *in_block(const GrStatement *s) {
    while (s && !(s->parent && s->parent->kind == GR_STMT_BLOCK))
        s = s->parent;
    return s;
}

// Adds to the proposal a line before the statement; where its body has no braces, before what controls it.
static bool put_before(GrPlaces *p, GrProposal *proposal, const GrStatement *s, const char *text) {
    s = in_block(s);
    return s && gr_cpp_begins_line(proposal->code, s->from) &&
           gr_place_insert(p, proposal, s->first, s->first, text);
}

static bool put_behind(GrPlaces *p, GrProposal *proposal, const GrStatement *s, const char *text) {
    s = in_block(s);
    return s && gr_cpp_begins_line(proposal->code, s->to) &&
           gr_place_insert(p, proposal, s->last + 1, s->first, text);
}

// ---- Fences ------------------------------------------------------------------------------------------------

// Whether something in the function may tell others that data is there, or be told so: a fence alone orders nothing.
static bool signals(const GrPlace *at) {
    for (uint32_t k = at->function->body->from; k < at->function->body->to; k++) {
        const GrToken *t = &at->file->code.tokens.data[k];
        if (gr_token_starts(t, "atomic") || gr_token_is(t, "volatile"))
            return true;
    }
    return false;
}

void gr_place_fences(GrPlaces *p, const char *text, const char *what) {
    GrPlace earlier, later;
    if (!gr_place_of(p->repairs, &p->found->accesses[1], &earlier) ||
        !gr_place_of(p->repairs, &p->found->accesses[0], &later) || !signals(&earlier) || !signals(&later))
        return;
    GrProposal behind = proposal_at(&earlier, what), before = proposal_at(&later, what);
    bool has_behind = put_behind(p, &behind, earlier.statement, text);
    bool has_before = put_before(p, &before, later.statement, text);
    if (has_behind && has_before && earlier.file == later.file) {
        GrProposal both = behind;
        if (put_before(p, &both, later.statement, text))
            gr_place_add(p, &both);
    }
    gr_place_add(p, &behind);
    gr_place_add(p, &before);
}

// ---- Scopes ------------------------------------------------------------------------------------------------

static const struct Scope {
    const char *word, *wider, *scope;
} scopes[] = {
#define SCOPE(word, wider, scope) {word, wider, scope},
#include "repair/scopes.def"
#undef SCOPE
};

// Appends the token as it is in the wider scope.
static void widen(const GrToken *t, const char *scope, StrBuf *out) {
    for (size_t k = 0; k < sizeof scopes / sizeof *scopes; k++) {
        const struct Scope *s = &scopes[k];
        size_t n = strlen(s->word);
        if (strcmp(s->scope, scope))
            continue;
        if (*s->word == '.' && t->text[0] == '"') {
            const char *at = memmem(t->text, t->len, s->word, n);
            if (at) {
                gr_str_addn(out, t->text, (size_t)(at - t->text));
                gr_str_add(out, s->wider);
                gr_str_addn(out, at + n, t->len - (size_t)(at - t->text) - n);
                return;
            }
        } else if (*s->word == '*' && gr_token_starts(t, "atomic") && t->len > n &&
                   !memcmp(t->text + t->len - n + 1, s->word + 1, n - 1)) {
            gr_str_addn(out, t->text, t->len - n + 1);
            gr_str_add(out, s->wider);
            return;
        } else if (gr_token_is(t, s->word)) {
            gr_str_add(out, s->wider);
            return;
        }
    }
    gr_str_addn(out, t->text, t->len);
}

// Replaces the line when it has a word of a narrower scope.
static void widen_line(GrPlaces *p, GrProposal *proposal, uint32_t line, const char *scope) {
    const GrCode *c = proposal->code;
    size_t len = 0;
    const char *text = gr_cpp_line(c, line, &len), *from = text;
    StrBuf out = {0};
    for (unsigned k = 0; k < proposal->n; k++)
        if (proposal->edits[k].line == line)
            return;
    for (size_t k = 0; text && k < c->tokens.len; k++) {
        const GrToken *t = &c->tokens.data[k];
        if (t->line != line || t->text + t->len > text + len)
            continue;
        gr_str_addn(&out, from, (size_t)(t->text - from));
        widen(t, scope, &out);
        from = t->text + t->len;
    }
    if (text)
        gr_str_addn(&out, from, (size_t)(text + len - from));
    bool news = out.data && !out.oom && (out.len != len || memcmp(out.data, text, len));
    char *copy = news ? gr_arena_strndup(&p->repairs->arena, out.data, out.len) : NULL;
    if (copy && proposal->n < GR_REPAIR_EDITS)
        proposal->edits[proposal->n++] = (GrEdit){line, true, copy};
    gr_str_free(&out);
}

static void widen_lines(GrPlaces *p, GrProposal *proposal, uint32_t from, uint32_t to, const char *scope) {
    for (uint32_t line = from; line <= to; line++)
        widen_line(p, proposal, line, scope);
}

// ", which takes .gpu or wider" is "gpu".
static const char *needed(const char *order) {
    static const char *const names[] = {"gpu", "sys", "cluster"};
    const char *at = strstr(order, "which take");
    at = at ? strchr(at, '.') : NULL;
    for (size_t k = 0; at && k < sizeof names / sizeof *names; k++)
        if (!strncmp(at + 1, names[k], strlen(names[k])))
            return names[k];
    return NULL;
}

void gr_place_scopes(GrPlaces *p, const char *scope, const char *what) {
    GrPlace side[2];
    scope = scope ? scope : needed(p->found->order);
    if (!scope || !gr_place_of(p->repairs, &p->found->accesses[1], &side[0]) ||
        !gr_place_of(p->repairs, &p->found->accesses[0], &side[1]))
        return;
    GrProposal lines = proposal_at(&side[0], what), functions = lines;
    for (int k = 0; k < 2 && side[0].file == side[1].file; k++) {
        const GrStatement *s = side[k].statement, *body = side[k].function->body;
        widen_lines(p, &lines, s->first, s->last, scope);
        widen_lines(p, &functions, body->first, body->last, scope);
    }
    gr_place_add(p, &lines);
    gr_place_add(p, &functions);
}

// ---- Waits -------------------------------------------------------------------------------------------------

void gr_place_host_wait(GrPlaces *p, const char *text, const char *what) {
    GrPlace at;
    for (int k = 0; k < 2; k++) {
        const GrAccess *a = &p->found->accesses[k];
        if (!a->host || !gr_place_of(p->repairs, a, &at))
            continue;
        GrProposal one = proposal_at(&at, what);
        if (put_before(p, &one, at.statement, text))
            gr_place_add(p, &one);
    }
}

static bool copies(const GrToken *t) {
    return gr_token_starts(t, "cudaMemcpy") || gr_token_starts(t, "cudaMemset") ||
           gr_token_starts(t, "cudaMemPrefetch");
}

// Adds waits before host statements that name `kernel` (NULL: copies). The last first: more likely it is the later.
static void before_each(GrPlaces *p, const GrPlace *at, const GrToken *kernel, const char *text,
                        const char *what) {
    const GrCode *c = &at->file->code;
    for (size_t i = c->functions.len; i--;) {
        const GrFunctionCode *f = &c->functions.data[i];
        for (uint32_t k = f->body->to; !f->kernel && !f->device && k-- > f->body->from;) {
            const GrToken *t = &c->tokens.data[k];
            if (kernel ? t->len != kernel->len || memcmp(t->text, kernel->text, t->len) != 0 : !copies(t))
                continue;
            GrProposal one = proposal_at(at, what);
            if (put_before(p, &one, gr_cpp_at(c, f, t->line, 0), text))
                gr_place_add(p, &one);
        }
    }
}

void gr_place_stream_wait(GrPlaces *p, const char *text, const char *what) {
    bool copy = false;
    GrPlace at, kernel = {.file = NULL};
    for (int k = 0; k < 2; k++) {
        const GrAccess *a = &p->found->accesses[k];
        GrAccess outer = *a; // the kernel itself, not what was inlined into it
        outer.at = *gr_access_frame(a, a->n_inlined);
        outer.n_inlined = 0;
        bool known = gr_place_of(p->repairs, &outer, &at) && at.function->kernel;
        copy |= !known;
        if (known && !kernel.file) {
            kernel = at;
            before_each(p, &at, at.function->name, text, what);
        }
    }
    if (copy && kernel.file)
        before_each(p, &kernel, NULL, text, what);
}
