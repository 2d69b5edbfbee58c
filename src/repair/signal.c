// SPDX-License-Identifier: Apache-2.0
#include "repair/signal.h"

#include "repair/update.h"

#include <string.h>
#include <strings.h>

static const GrToken *token(const GrCode *c, uint32_t k) { return &c->tokens.data[k]; }

static bool is(const GrCode *c, uint32_t k, const char *word) {
    return k < c->tokens.len && gr_token_is(token(c, k), word);
}

// Whether the token has the word in it, in large or small letters.
static bool has(const GrToken *t, const char *word) {
    size_t n = strlen(word);
    for (uint32_t k = 0; k + n <= t->len; k++)
        if (!strncasecmp(t->text + k, word, n))
            return true;
    return false;
}

static bool is_ptx_signal(const GrToken *t) {
    static const char *const words[] = {"mbarrier.", "atom.", "red.", "st.", "ld."};
    for (size_t k = 0; t->text[0] == '"' && k < sizeof words / sizeof *words; k++)
        if (memmem(t->text, t->len, words[k], strlen(words[k])))
            return true;
    return false;
}

// A volatile variable that is read or written: v, *v, v[i], a.v.
static bool is_volatile(const GrCode *c, const GrFunctionCode *f, uint32_t k) {
    GrDeclared d = {.type = GR_TYPE_UNKNOWN};
    bool member = k && (is(c, k - 1, ".") || is(c, k - 1, "->"));
    return !is(c, k + 1, "(") && gr_declared(c, member ? NULL : f, token(c, k), &d) && d.is_volatile;
}

static bool signals(const GrCode *c, const GrFunctionCode *f, uint32_t from, uint32_t to, bool calls) {
    for (uint32_t k = from; k < to; k++) {
        const GrToken *t = token(c, k);
        if (is_ptx_signal(t))
            return true;
        if (!gr_token_is_name(t))
            continue;
        bool declares =
            gr_token_is(t, "volatile") && !(k && (is(c, k - 1, "asm") || is(c, k - 1, "__asm__")));
        if (declares || gr_token_starts(t, "atomic") || has(t, "arrive") || is_volatile(c, f, k))
            return true;
        for (size_t i = 0; calls && is(c, k + 1, "(") && i < c->functions.len; i++) {
            const GrFunctionCode *g = &c->functions.data[i];
            if (g->device && g->name && gr_token_same(g->name, t) &&
                signals(c, g, g->body->from, g->body->to, false))
                return true;
        }
    }
    return false;
}

bool gr_signals(const GrCode *c, const GrFunctionCode *f, uint32_t from, uint32_t to) {
    return signals(c, f, from, to, true);
}

bool gr_waits(const GrCode *c, const GrFunctionCode *f, const GrStatement *s) {
    if (s->kind != GR_STMT_LOOP || s->decides >= s->decided || is(c, s->from, "for"))
        return false;
    return gr_signals(c, f, s->from, s->to);
}

bool gr_fences(const GrCode *c, const GrStatement *s) {
    for (uint32_t k = s && s->kind == GR_STMT_SIMPLE ? s->from : 0;
         s && s->kind == GR_STMT_SIMPLE && k < s->to; k++)
        if (has(token(c, k), "fence"))
            return true;
    return false;
}

const GrStatement *gr_before(const GrStatement *s) {
    const GrStatement *q = s->parent ? s->parent->child : NULL;
    while (q && q->next != s)
        q = q->next;
    return q;
}

// Whether the statement has a loop that waits for a signal, or calls a function of the file that has one.
static bool waits_inside(const GrCode *c, const GrFunctionCode *f, const GrStatement *s, bool calls) {
    if (gr_waits(c, f, s))
        return true;
    for (const GrStatement *q = s->child; q; q = q->next)
        if (waits_inside(c, f, q, calls))
            return true;
    for (uint32_t k = s->from; calls && s->kind == GR_STMT_SIMPLE && k < s->to; k++)
        for (size_t i = 0; gr_token_is_name(token(c, k)) && is(c, k + 1, "(") && i < c->functions.len; i++) {
            const GrFunctionCode *g = &c->functions.data[i];
            if (g->device && g->name && gr_token_same(g->name, token(c, k)) &&
                waits_inside(c, g, g->body, false))
                return true;
        }
    return false;
}

static bool tries_a_lock(const GrCode *c, const GrStatement *in) {
    for (uint32_t k = in->decides; in->kind == GR_STMT_IF && k < in->decided; k++)
        if (gr_token_starts(token(c, k), "atomicCAS") || gr_token_starts(token(c, k), "atomicExch"))
            return true;
    return false;
}

bool gr_is_locked(const GrCode *c, const GrFunctionCode *f, const GrStatement *s) {
    bool taken = false, given = false;
    for (; s && s->parent; s = s->parent) {
        bool in_block = s->parent->kind == GR_STMT_BLOCK;
        for (const GrStatement *q = in_block ? gr_before(s) : NULL; q && !taken; q = gr_before(q))
            taken = waits_inside(c, f, q, true);
        for (const GrStatement *q = in_block ? s->next : NULL; q && !given; q = q->next)
            given = gr_signals(c, f, q->from, q->to);
        taken |= tries_a_lock(c, s->parent);
        if (taken && given)
            return true;
    }
    return false;
}
