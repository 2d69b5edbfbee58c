// SPDX-License-Identifier: Apache-2.0
// async — what asynchronous copies lack, and launches that begin before the one before them has ended: fences between
// proxies, waits for copies by the thread that issued them, waits for the grid before.
#include "repair/signal.h"
#include "repair/submits.h"

#include <string.h>
#include <strings.h>

static bool is(const GrCode *c, uint32_t k, const char *word) {
    return k < c->tokens.len && gr_token_is(&c->tokens.data[k], word);
}

// The places of both sides: in one function if there is one, else the innermost. [0] is that of `a`.
static bool places(GrRepairs *r, const GrAccess *a, const GrAccess *b, GrPlace out[2]) {
    GrAccess x = *a, y = *b;
    x.n_inlined = y.n_inlined = 0;
    for (uint32_t i = 0; i <= a->n_inlined; i++)
        for (uint32_t k = 0; k <= b->n_inlined; k++) {
            x.at = *gr_access_frame(a, i);
            y.at = *gr_access_frame(b, k);
            if (gr_place_of(r, &x, &out[0]) && gr_place_of(r, &y, &out[1]) &&
                out[0].function == out[1].function)
                return true;
        }
    return gr_place_of(r, a, &out[0]) && gr_place_of(r, b, &out[1]);
}

// The asynchronous side, else the first.
static unsigned async_side(const GrFinding *f) { return !f->accesses[0].async && f->accesses[1].async; }

void gr_place_proxy(GrPlaces *p, const char *what) {
    const GrFinding *f = p->found;
    unsigned async = async_side(f);
    bool shared = f->space && !strcmp(f->space, "shared");
    const char *text = shared ? "asm volatile(\"fence.proxy.async.shared::cta;\" ::: \"memory\");"
                              : "asm volatile(\"fence.proxy.async;\" ::: \"memory\");";
    GrPlace at[2];
    if (!places(p->repairs, &f->accesses[1 - async], &f->accesses[async], at))
        return;
    GrProposal behind = gr_place_proposal(&at[0], what), before = gr_place_proposal(&at[1], what);
    if (gr_place_put_behind(p, &behind, at[0].statement, text))
        gr_place_add(p, &behind);
    if (gr_place_put_before(p, &before, at[1].statement, text))
        gr_place_add(p, &before);
}

void gr_place_grid_wait(GrPlaces *p, const char *text, const char *what) {
    const GrAccess *a = p->found->accesses;
    const GrAccess *later = a[1].launch > a[0].launch ? &a[1] : &a[0];
    GrPlace at;
    if (a[0].launch == a[1].launch || !gr_submits_kernel(p->repairs, later, &at))
        return;
    GrProposal one = gr_place_proposal(&at, what);
    const GrStatement *s = at.statement;
    while (s && s->parent != at.function->body)
        s = s->parent;
    if (s && gr_place_put_before(p, &one, s, text))
        gr_place_add(p, &one);
}

// ---- Waits of the issuer -----------------------------------------------------------------------------------

static bool commits(const GrCode *c, const GrStatement *s) {
    for (uint32_t k = s->from; k < s->to; k++) {
        const GrToken *t = &c->tokens.data[k];
        for (uint32_t i = 0; i + 6 <= t->len; i++)
            if (!strncasecmp(t->text + i, "commit", 6))
                return true;
    }
    return false;
}

// Behind the statement that commits the copy, or the one that issues it.
static void behind_issue(GrPlaces *p, const GrAccess *a, const char *text, const char *what) {
    GrPlace at;
    for (uint32_t k = 0; k <= a->n_inlined; k++) {
        GrAccess one = *a;
        one.at = *gr_access_frame(a, k);
        one.n_inlined = 0;
        if (!gr_place_of(p->repairs, &one, &at))
            continue;
        const GrStatement *s = gr_place_in_block(at.statement);
        while (s && !commits(&at.file->code, s))
            s = s->next;
        GrProposal add = gr_place_proposal(&at, what);
        if (s && gr_place_put_behind(p, &add, s, text))
            gr_place_add(p, &add);
        if (s)
            return;
    }
}

void gr_place_issuer_wait(GrPlaces *p, const char *text, const char *what) {
    for (unsigned k = 0; k < 2; k++)
        if (p->found->accesses[k].async)
            behind_issue(p, &p->found->accesses[k], text, what);
}

// ---- Waits that leave some copies under way ----------------------------------------------------------------

// A function of the file that waits for groups of copies.
static bool waits_for_groups(const GrCode *c, const GrToken *name) {
    for (size_t i = 0; i < c->functions.len; i++) {
        const GrFunctionCode *f = &c->functions.data[i];
        for (uint32_t k = f->body->from; f->name && gr_token_same(f->name, name) && k < f->body->to; k++) {
            const GrToken *t = &c->tokens.data[k];
            if (t->text[0] == '"' && memmem(t->text, t->len, "wait_group", 10))
                return true;
        }
    }
    return false;
}

// Whether the name is of a wait that takes how many groups may be under way: by its words, or by its text in the file.
static bool is_wait(const GrCode *c, const GrToken *t) {
    bool wait = false;
    for (uint32_t i = 0; i + 4 <= t->len; i++)
        wait |= !strncasecmp(t->text + i, "wait", 4);
    return wait &&
           (gr_token_starts(t, "__pipeline_wait") || gr_token_starts(t, "CP_") ||
            gr_token_starts(t, "BULK_") || gr_token_starts(t, "cp_async") ||
            gr_token_starts(t, "bulk_wait") || gr_token_is(t, "wait_prior") || waits_for_groups(c, t));
}

// The tokens of the number at a wait: wait<N>(), WAIT(N). False: there is none, or it is 0.
static bool number_of(const GrCode *c, uint32_t k, uint32_t *from, uint32_t *to) {
    const char *close = is(c, k + 1, "<") ? ">" : is(c, k + 1, "(") ? ")" : NULL;
    *from = *to = k + 2;
    while (close && *to < c->tokens.len && !is(c, *to, close) && !is(c, *to, ";") && !is(c, *to, ","))
        ++*to;
    return close && is(c, *to, close) && *from < *to && !(*to == *from + 1 && is(c, *from, "0"));
}

// The line with the number made 0.
static bool wait_for_all(GrPlaces *p, GrProposal *add, uint32_t from, uint32_t to) {
    const GrCode *c = add->code;
    const GrToken *first = &c->tokens.data[from], *last = &c->tokens.data[to - 1];
    size_t len = 0;
    const char *line = gr_cpp_line(c, first->line, &len), *rest = last->text + last->len;
    if (!line || last->line != first->line || add->n == GR_REPAIR_EDITS)
        return false;
    char *text = gr_arena_printf(&p->repairs->arena, "%.*s0%.*s", (int)(first->text - line), line,
                                 (int)(line + len - rest), rest);
    if (text)
        add->edits[add->n++] = (GrEdit){first->line, true, text};
    return text != NULL;
}

void gr_place_wait_for_all(GrPlaces *p, const char *what) {
    GrPlace at;
    for (unsigned side = 0; side < 2; side++) {
        GrAccess outer = p->found->accesses[side];
        outer.at = *gr_access_frame(&outer, outer.n_inlined);
        outer.n_inlined = 0;
        if (!gr_place_of(p->repairs, &outer, &at))
            continue;
        const GrCode *c = &at.file->code;
        uint32_t from, to;
        for (uint32_t k = at.function->body->from; k < at.function->body->to; k++) {
            GrProposal one = gr_place_proposal(&at, what);
            if (gr_token_is_name(&c->tokens.data[k]) && is_wait(c, &c->tokens.data[k]) &&
                number_of(c, k, &from, &to) && wait_for_all(p, &one, from, to))
                gr_place_add(p, &one);
        }
    }
}
