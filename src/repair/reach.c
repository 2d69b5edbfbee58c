// SPDX-License-Identifier: Apache-2.0
#include "repair/reach.h"

#include "repair/holds.h"

#include <stdlib.h>
#include <string.h>

static const GrToken *token(const GrReach *r, uint32_t k) { return &r->code->tokens.data[k]; }

static bool is(const GrReach *r, uint32_t k, const char *word) {
    return k < r->code->tokens.len && gr_token_is(token(r, k), word);
}

static bool is_any(const GrReach *r, uint32_t k, const char *const words[]) {
    for (; *words; words++)
        if (is(r, k, *words))
            return true;
    return false;
}

static GrVaries max(GrVaries a, GrVaries b) { return a > b ? a : b; }

static GrVaries name_varies(const GrReach *r, const GrToken *name) {
    for (size_t k = 0; k < r->names.len; k++)
        if (gr_token_same(&r->names.data[k].name, name))
            return r->names.data[k].how;
    return gr_token_is(name, "threadIdx") ? GR_VARIES_LINEAR : GR_VARIES_NOT;
}

// ---- Expressions -------------------------------------------------------------------------------------------

static bool warps(const GrReach *r, uint32_t k) {
    if (is(r, k, "warpSize"))
        return true;
    char *end;
    unsigned long n = k < r->code->tokens.len ? strtoul(token(r, k)->text, &end, 10) : 0;
    return n && n % 32 == 0;
}

// Whether the linear number that ends before the token `k` is taken by warps only: t / 32, t >> 5, t < 64.
static bool by_warp(const GrReach *r, uint32_t from, uint32_t k) {
    static const char *const binds[] = {"*", "/", "%", "+", "-", "&", "|", "^", "<<", NULL};
    static const char *const ends[] = {")", "&&", "||", ";", ",", "?", ":", "]", NULL};
    if (from && is_any(r, from - 1, binds))
        return false;
    if (is(r, k, "/"))
        return is(r, k + 1, "32") || is(r, k + 1, "warpSize");
    if (is(r, k, ">>"))
        return is(r, k + 1, "5");
    return (is(r, k, "<") || is(r, k, ">=")) && warps(r, k + 1) && is_any(r, k + 2, ends);
}

static bool uniform_call(const GrReach *r, uint32_t k) {
    static const char *const known[] = {
        "min", "max",     "sizeof", "int", "unsigned", "float",  "__syncthreads_or",    "__syncthreads_and",
        "abs", "alignof", "if",     "for", "while",    "switch", "__syncthreads_count", "return",
        NULL};
    return is_any(r, k, known);
}

// A "*" that reads memory: nothing that could be multiplied stands before.
static bool reads(const GrReach *r, uint32_t from, uint32_t k) {
    if (is(r, k, "[") || is(r, k, "->"))
        return true;
    bool first =
        k == from || (!gr_token_is_name(token(r, k - 1)) && !is(r, k - 1, ")") && !is(r, k - 1, "]") &&
                      (token(r, k - 1)->text[0] < '0' || token(r, k - 1)->text[0] > '9'));
    return is(r, k, "*") && first;
}

static GrVaries varies(const GrReach *r, uint32_t from, uint32_t to) {
    GrVaries all = GR_VARIES_NOT;
    for (uint32_t k = from; k < to && all < GR_VARIES; k++) {
        const GrToken *t = token(r, k);
        bool member = k && (is(r, k - 1, ".") || is(r, k - 1, "->"));
        if (reads(r, from, k) || is(r, k, "asm"))
            return GR_VARIES;
        if (!gr_token_is_name(t) || member)
            continue;
        if (is(r, k + 1, "(") && !uniform_call(r, k))
            return GR_VARIES;
        GrVaries one = name_varies(r, t);
        uint32_t next = k + 1;
        if (gr_token_is(t, "threadIdx") && is(r, k + 1, ".")) {
            next = k + 3;
            one = is(r, k + 2, "x") ? one : GR_VARIES;
        }
        if (one == GR_VARIES_LINEAR)
            one = by_warp(r, k, next)                  ? GR_VARIES_BY_WARP
                  : next == to && all == GR_VARIES_NOT ? one
                                                       : GR_VARIES;
        all = max(all, one);
    }
    return all;
}

// ---- Names -------------------------------------------------------------------------------------------------

// Who goes round a loop that holds a barrier goes round with all others, or the program is wrong already.
static GrVaries together(const GrReach *r, const GrStatement *loop) {
    GrHolds h = {.code = r->code, .function = r->function, .by = GR_HELD_BY_BLOCK};
    if (gr_holds(&h, loop))
        return GR_VARIES_NOT;
    h.by = GR_HELD_BY_WARP;
    return gr_holds(&h, loop) ? GR_VARIES_BY_WARP : GR_VARIES;
}

static GrVaries min(GrVaries a, GrVaries b) { return a < b ? a : b; }

// How much the conditions around the statement vary.
static GrVaries control(const GrReach *r, const GrStatement *s) {
    GrVaries all = GR_VARIES_NOT;
    for (const GrStatement *p = s->parent; p; p = p->parent) {
        GrVaries how = p->kind == GR_STMT_IF || p->kind == GR_STMT_LOOP || p->kind == GR_STMT_SWITCH
                           ? varies(r, p->decides, p->decided)
                           : GR_VARIES_NOT;
        all = max(all, how > GR_VARIES_NOT && p->kind == GR_STMT_LOOP ? min(how, together(r, p)) : how);
    }
    return all;
}

static const GrStatement *statement_of(const GrFunctionCode *f, uint32_t k) {
    const GrStatement *at = NULL, *in = f->body;
    while (in) {
        while (in && (k < in->from || k >= in->to))
            in = in->next;
        at = in ? in : at;
        in = in ? in->child : NULL;
    }
    return at;
}

static bool is_exit(const GrReach *r, const GrStatement *s) {
    static const char *const exits[] = {"break", "continue", "return", "goto", NULL};
    return s->kind == GR_STMT_SIMPLE && is_any(r, s->from, exits);
}

static bool exits_apart(const GrReach *r, const GrStatement *in) {
    for (const GrStatement *c = in->child; c; c = c->next)
        if ((is_exit(r, c) && control(r, c) != GR_VARIES_NOT) || exits_apart(r, c))
            return true;
    return false;
}

// True when that is news.
static bool set(GrReach *r, const GrToken *name, GrVaries how) {
    if (how == GR_VARIES_NOT)
        return false;
    for (size_t k = 0; k < r->names.len; k++)
        if (gr_token_same(&r->names.data[k].name, name)) {
            bool more = how > r->names.data[k].how;
            r->names.data[k].how = max(how, r->names.data[k].how);
            return more;
        }
    GrVaryingName v = {*name, how};
    r->oom |= !gr_vec_push(&r->names, v);
    return !r->oom;
}

// The name that is assigned to before the token `k`: a of a[i].b. UINT32_MAX: none.
static uint32_t assigned(const GrReach *r, uint32_t from, uint32_t k) {
    while (k-- > from) {
        if (is(r, k, "]")) {
            for (int depth = 1; depth && k-- > from;)
                depth += is(r, k, "]") - is(r, k, "[");
            continue;
        }
        bool member = k > from && (is(r, k - 1, ".") || is(r, k - 1, "->"));
        if (gr_token_is_name(token(r, k)) && !member)
            return k;
        if (!gr_token_is_name(token(r, k)) && !is(r, k, ".") && !is(r, k, "->"))
            return UINT32_MAX;
    }
    return UINT32_MAX;
}

// Where the expression that begins at `k` ends.
static uint32_t expression(const GrReach *r, uint32_t k, uint32_t to) {
    for (int depth = 0; k < to; k++) {
        bool opens = is(r, k, "(") || is(r, k, "[") || is(r, k, "{");
        bool closes = is(r, k, ")") || is(r, k, "]") || is(r, k, "}");
        if (!depth && (closes || is(r, k, ",") || is(r, k, ";")))
            return k;
        depth += opens - closes;
    }
    return to;
}

// Whether threads may do the statement unequally often: under a condition, or in a loop that some leave earlier.
static bool changes_apart(const GrReach *r, const GrStatement *s) {
    bool apart = control(r, s) != GR_VARIES_NOT;
    for (const GrStatement *p = s; p && !apart; p = p->parent)
        apart = p->kind == GR_STMT_LOOP && together(r, p) != GR_VARIES_NOT &&
                (varies(r, p->decides, p->decided) || exits_apart(r, p));
    return apart;
}

static bool look_at(GrReach *r, uint32_t k, uint32_t from, uint32_t to) {
    static const char *const assigns[] = {
        "=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", NULL};
    static const char *const steps[] = {"++", "--", NULL};
    const GrStatement *s = statement_of(r->function, k);
    GrVaries how = s && changes_apart(r, s) ? GR_VARIES : GR_VARIES_NOT;
    if (is_any(r, k, assigns)) {
        uint32_t to_name = assigned(r, from, k);
        GrVaries value = varies(r, k + 1, expression(r, k + 1, to));
        value = value == GR_VARIES_LINEAR && !is(r, k, "=") ? GR_VARIES : value;
        return to_name != UINT32_MAX && set(r, token(r, to_name), max(how, value));
    }
    if (is_any(r, k, steps)) {
        uint32_t name = k + 1 < to && gr_token_is_name(token(r, k + 1)) ? k + 1 : assigned(r, from, k);
        GrVaries was = name != UINT32_MAX ? name_varies(r, token(r, name)) : GR_VARIES_NOT;
        return name != UINT32_MAX &&
               set(r, token(r, name), was == GR_VARIES_LINEAR ? GR_VARIES : max(how, was));
    }
    // int x(…), &x as an argument, and what asm writes to.
    if (k > from && gr_token_is_name(token(r, k)) && gr_token_is_name(token(r, k - 1)) &&
        (is(r, k + 1, "(") || is(r, k + 1, "{")))
        return set(r, token(r, k), max(how, varies(r, k + 2, expression(r, k + 2, to))));
    if (k > from + 1 && gr_token_is_name(token(r, k)) && is(r, k - 1, "&") &&
        (is(r, k - 2, "(") || is(r, k - 2, ",")))
        return set(r, token(r, k), GR_VARIES);
    if (s && is(r, s->from, "asm") && gr_token_is_name(token(r, k)) && is(r, k - 1, "("))
        return set(r, token(r, k), GR_VARIES);
    return false;
}

// What callers pass to a function that is no kernel is not known.
static void parameters(GrReach *r) {
    for (uint32_t k = r->function->head; !r->function->kernel && k < r->function->body->from; k++)
        if (gr_token_is_name(token(r, k)) && (is(r, k + 1, ",") || is(r, k + 1, ")") || is(r, k + 1, "=")))
            set(r, token(r, k), GR_VARIES);
}

bool gr_reach_read(GrReach *r, const GrCode *c, const GrFunctionCode *f) {
    *r = (GrReach){.code = c, .function = f};
    parameters(r);
    for (bool news = true; news && !r->oom;) {
        news = false;
        for (uint32_t k = f->body->from; k < f->body->to && !r->oom; k++)
            news |= look_at(r, k, f->body->from, f->body->to);
    }
    return !r->oom;
}

void gr_reach_free(GrReach *r) { gr_vec_free(&r->names); }

// ---- Who comes ---------------------------------------------------------------------------------------------

// The statement that a break or continue ends.
static const GrStatement *target(const GrStatement *s, bool is_break) {
    const GrStatement *p = s->parent;
    while (p && p->kind != GR_STMT_LOOP && !(is_break && p->kind == GR_STMT_SWITCH))
        p = p->parent;
    return p;
}

static bool within(const GrStatement *s, const GrStatement *outer) {
    while (s && s != outer)
        s = s->parent;
    return s != NULL;
}

// Whether `exit` may take some threads away from `s` and not others.
static bool leaves(const GrReach *r, const GrStatement *exit, const GrStatement *s, GrVaries most) {
    bool is_break = is(r, exit->from, "break");
    if (!is_exit(r, exit) || control(r, exit) <= most)
        return false;
    const GrStatement *ends = is_break || is(r, exit->from, "continue") ? target(exit, is_break) : NULL;
    if (ends && ends->kind == GR_STMT_LOOP && together(r, ends) <= most)
        return false;
    if (ends)
        return ends != s && within(s, ends);
    if (exit->from < s->from)
        return true;
    const GrStatement *loop = exit->parent; // one that comes back to `s`
    while (loop && !(loop->kind == GR_STMT_LOOP && within(s, loop) && loop != s))
        loop = loop->parent;
    return loop != NULL;
}

static bool any_leaves(const GrReach *r, const GrStatement *in, const GrStatement *s, GrVaries most) {
    for (const GrStatement *c = in->child; c; c = c->next)
        if (leaves(r, c, s, most) || any_leaves(r, c, s, most))
            return true;
    return false;
}

bool gr_reach_all(const GrReach *r, const GrStatement *s, GrVaries most) {
    for (const GrStatement *p = s->parent; p; p = p->parent)
        if (p->kind == GR_STMT_SWITCH)
            return false;
    return control(r, s) <= most && !any_leaves(r, r->function->body, s, most);
}
