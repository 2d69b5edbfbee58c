// SPDX-License-Identifier: Apache-2.0
#include "repair/update.h"

#include "repair/signal.h"

#include <string.h>

static const GrToken *token(const GrCode *c, uint32_t k) { return &c->tokens.data[k]; }

static bool is(const GrCode *c, uint32_t k, const char *word) {
    return k < c->tokens.len && gr_token_is(token(c, k), word);
}

static bool same(const GrCode *c, GrSpan a, GrSpan b) {
    bool equal = a.to - a.from == b.to - b.from && a.from < a.to;
    for (uint32_t k = 0; equal && k < a.to - a.from; k++) {
        const GrToken *x = token(c, a.from + k), *y = token(c, b.from + k);
        equal = gr_token_same(x, y);
    }
    return equal;
}

// The first of these words at the depth of `from`; `to`: none.
static uint32_t find(const GrCode *c, uint32_t from, uint32_t to, const char *const words[]) {
    int depth = 0;
    for (uint32_t k = from; k < to; k++) {
        for (size_t i = 0; !depth && words[i]; i++)
            if (is(c, k, words[i]))
                return k;
        depth += is(c, k, "(") || is(c, k, "[") || is(c, k, "{");
        depth -= is(c, k, ")") || is(c, k, "]") || is(c, k, "}");
    }
    return to;
}

// Without the parentheses around it.
static GrSpan bare(const GrCode *c, GrSpan s) {
    static const char *const close[] = {")", NULL};
    while (s.to - s.from > 2 && is(c, s.from, "(") && find(c, s.from + 1, s.to, close) == s.to - 1) {
        s.from++;
        s.to--;
    }
    return s;
}

// ---- Objects of memory -------------------------------------------------------------------------------------

// The name that the object begins with.
static const GrToken *base_of(const GrCode *c, GrSpan object) {
    for (uint32_t k = object.from; k < object.to; k++)
        if (gr_token_is_name(token(c, k)) && !is(c, k, "this"))
            return token(c, k);
    return NULL;
}

// Whether other threads can get at the object, as far as the text tells.
static bool in_memory(const GrCode *c, const GrFunctionCode *f, GrSpan object) {
    const GrToken *base = base_of(c, object);
    GrDeclared d = {.type = GR_TYPE_UNKNOWN};
    if (!base)
        return false;
    bool known = gr_declared(c, f, base, &d), plain = object.to - object.from == 1;
    if (plain)
        return known && (d.shared || d.file || (d.reference && (d.parameter || d.local)));
    bool reads = is(c, object.from, "*");
    for (uint32_t k = object.from; k < object.to; k++)
        reads |= is(c, k, "[") || is(c, k, "->") || is(c, k, ".");
    return reads; // a thread's own array is none either, but no race is told of it
}

static bool names(const GrCode *c, GrSpan in, const GrToken *name) {
    for (uint32_t k = in.from; name && k < in.to; k++)
        if (gr_token_same(token(c, k), name))
            return true;
    return false;
}

// ---- Forms -------------------------------------------------------------------------------------------------

static const struct Assigns {
    const char *word, *binary;
    GrUpdateOp op;
} assigns[] = {
    {"+=", "+", GR_UPDATE_ADD},     {"-=", "-", GR_UPDATE_SUB},   {"&=", "&", GR_UPDATE_AND},
    {"|=", "|", GR_UPDATE_OR},      {"^=", "^", GR_UPDATE_XOR},   {"*=", "*", GR_UPDATE_OTHER},
    {"/=", "/", GR_UPDATE_OTHER},   {"%=", "%", GR_UPDATE_OTHER}, {"<<=", "<<", GR_UPDATE_OTHER},
    {">>=", ">>", GR_UPDATE_OTHER},
};
enum { N_ASSIGNS = sizeof assigns / sizeof *assigns };

// Whether no operator of these binds less than, or as, `op`, so that it takes the whole span as its operand.
static bool operand_of(const GrCode *c, GrSpan s, GrUpdateOp op) {
    static const char *const looser[] = {"?",  "<",  ">", "<=", ">=", "==", "!=", "&&", "||",
                                         "<<", ">>", "&", "|",  "^",  ",",  "=",  NULL};
    static const char *const sums[] = {"+", "-", NULL};
    uint32_t from = s.from + (is(c, s.from, "&") || is(c, s.from, "-") || is(c, s.from, "+"));
    return s.from < s.to && find(c, from, s.to, looser) == s.to &&
           (op == GR_UPDATE_ADD || find(c, from, s.to, sums) == s.to);
}

// x = x + y, x = y + x.
static bool read_binary(const GrCode *c, GrSpan right, GrUpdateText *u) {
    uint32_t n = u->object.to - u->object.from;
    if (right.to - right.from < n + 2)
        return false;
    GrSpan head = {right.from, right.from + n}, tail = {right.to - n, right.to};
    for (size_t k = 0; k < N_ASSIGNS; k++) {
        GrUpdateOp op = assigns[k].op;
        if (same(c, head, u->object) && is(c, head.to, assigns[k].binary)) {
            u->op = op;
            u->value = (GrSpan){head.to + 1, right.to};
            return operand_of(c, u->value, op);
        }
        if (op != GR_UPDATE_SUB && op != GR_UPDATE_OTHER && same(c, tail, u->object) &&
            is(c, tail.from - 1, assigns[k].binary)) {
            u->op = op;
            u->value = (GrSpan){right.from, tail.from - 1};
            return operand_of(c, u->value, op);
        }
    }
    return false;
}

// Takes {a, b} for the object and a value. Returns whether the object is one of them.
static bool take(const GrCode *c, GrSpan a, GrSpan b, GrUpdateText *u) {
    bool first = same(c, bare(c, a), u->object), second = same(c, bare(c, b), u->object);
    u->value = first ? b : a;
    return first != second;
}

// x = max(x, y).
static bool read_call(const GrCode *c, GrSpan right, GrUpdateText *u) {
    static const char *const names[] = {"max", "fmaxf", "fmax", "umax", "min", "fminf", "fmin", "umin"};
    static const char *const comma[] = {",", NULL}, *const close[] = {")", NULL};
    uint32_t k = right.from;
    while (is(c, k, "std") || is(c, k, "cuda") || is(c, k, "::"))
        k++;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!is(c, k, names[i]) || !is(c, k + 1, "("))
            continue;
        uint32_t end = find(c, k + 2, right.to, close), at = find(c, k + 2, end, comma);
        u->op = i < 4 ? GR_UPDATE_MAX : GR_UPDATE_MIN;
        return end == right.to - 1 && at < end && take(c, (GrSpan){k + 2, at}, (GrSpan){at + 1, end}, u);
    }
    return false;
}

// Of "a < b", which decides that the object becomes `value`: MAX or MIN. OTHER: it is none.
static GrUpdateOp read_comparison(const GrCode *c, GrSpan decides, GrSpan object, GrSpan value) {
    static const char *const compares[] = {"<", ">", "<=", ">=", NULL}, *const more[] = {"&&", "||", "?",
                                                                                         NULL};
    decides = bare(c, decides);
    uint32_t at = find(c, decides.from, decides.to, compares);
    GrSpan a = bare(c, (GrSpan){decides.from, at}), b = bare(c, (GrSpan){at + 1, decides.to});
    object = bare(c, object);
    value = bare(c, value);
    if (at == decides.to || find(c, decides.from, decides.to, more) < decides.to)
        return GR_UPDATE_OTHER;
    bool less = token(c, at)->text[0] == '<', forward = same(c, a, object) && same(c, b, value);
    if (!forward && !(same(c, b, object) && same(c, a, value)))
        return GR_UPDATE_OTHER;
    return less == forward ? GR_UPDATE_MAX : GR_UPDATE_MIN;
}

// x = x < y ? y : x.
static bool read_choice(const GrCode *c, GrSpan right, GrUpdateText *u) {
    static const char *const ask[] = {"?", NULL}, *const colon[] = {":", NULL};
    right = bare(c, right);
    uint32_t q = find(c, right.from, right.to, ask), at = find(c, q, right.to, colon);
    if (q >= at || at == right.to)
        return false;
    GrSpan yes = {q + 1, at}, no = {at + 1, right.to};
    if (!take(c, yes, no, u))
        return false;
    bool becomes = !same(c, bare(c, yes), u->object); // the value when the condition holds
    u->op = read_comparison(c, (GrSpan){right.from, q}, u->object, u->value);
    if (!becomes && u->op != GR_UPDATE_OTHER)
        u->op = u->op == GR_UPDATE_MAX ? GR_UPDATE_MIN : GR_UPDATE_MAX;
    return u->op != GR_UPDATE_OTHER;
}

// x++ anywhere in the statement; the object is what ++ binds to.
static bool read_step(const GrCode *c, uint32_t k, GrSpan all, GrUpdateText *u) {
    uint32_t from = k, to = k;
    u->op = is(c, k, "++") ? GR_UPDATE_INC : GR_UPDATE_DEC;
    u->prefix =
        k + 1 < all.to && (gr_token_is_name(token(c, k + 1)) || is(c, k + 1, "*") || is(c, k + 1, "(")) &&
        !(k > all.from && (is(c, k - 1, "]") || is(c, k - 1, ")") || gr_token_is_name(token(c, k - 1))));
    if (u->prefix) {
        for (to = k + 1; is(c, to, "*"); to++) {
        }
        for (int depth = 0; to < all.to; to++) {
            bool opens = is(c, to, "(") || is(c, to, "["), closes = is(c, to, ")") || is(c, to, "]");
            bool part =
                gr_token_is_name(token(c, to)) || is(c, to, ".") || is(c, to, "->") || is(c, to, "::");
            if (!depth && (closes || (!opens && !part)))
                break;
            depth += opens - closes;
        }
        u->object = (GrSpan){k + 1, to};
        u->all = (GrSpan){k, to};
        return true;
    }
    for (int depth = 0; from > all.from; from--) {
        uint32_t t = from - 1;
        bool opens = is(c, t, "(") || is(c, t, "["), closes = is(c, t, ")") || is(c, t, "]");
        bool part = gr_token_is_name(token(c, t)) || is(c, t, ".") || is(c, t, "->") || is(c, t, "::");
        bool apart = from < k && gr_token_is_name(token(c, t)) && gr_token_is_name(token(c, from));
        if (!depth && (opens || apart || (!closes && !part)))
            break;
        depth += closes - opens;
    }
    u->object = (GrSpan){from, k};
    u->all = (GrSpan){from, k + 1};
    return from < k;
}

static bool read_steps(const GrCode *c, const GrFunctionCode *f, GrSpan all, GrUpdateText *u) {
    GrUpdateText one;
    unsigned n = 0;
    for (uint32_t k = all.from; k < all.to; k++)
        if ((is(c, k, "++") || is(c, k, "--")) && read_step(c, k, all, &one) && in_memory(c, f, one.object)) {
            *u = one;
            n++;
        }
    u->statement = n && u->all.from == all.from && u->all.to == all.to;
    return n == 1;
}

static bool read_simple(const GrCode *c, const GrFunctionCode *f, const GrStatement *s, GrUpdateText *u) {
    static const char *const words[] = {
        "=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", NULL};
    static const char *const also[] = {"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", ",", NULL};
    GrSpan all = {s->from, s->to - 1}; // without the ";"
    uint32_t at = find(c, all.from, all.to, words);
    *u = (GrUpdateText){.all = all, .object = {all.from, at}, .statement = true};
    if (at == all.to)
        return read_steps(c, f, all, u);
    GrSpan right = {at + 1, all.to};
    for (size_t k = 0; k < N_ASSIGNS; k++)
        if (is(c, at, assigns[k].word)) {
            u->op = assigns[k].op;
            u->value = right;
            return find(c, right.from, right.to, also) == right.to && in_memory(c, f, u->object);
        }
    GrSpan object = u->object;
    if (in_memory(c, f, object) &&
        (read_binary(c, right, u) || read_call(c, right, u) || read_choice(c, right, u)))
        return true;
    return read_steps(c, f, all, u);
}

// if (x < y) x = y;
static bool read_if(const GrCode *c, const GrFunctionCode *f, const GrStatement *s, GrUpdateText *u) {
    static const char *const words[] = {"=", NULL};
    const GrStatement *then = s->child;
    if (s->kind != GR_STMT_IF || !then || then->next)
        return false;
    if (then->kind == GR_STMT_BLOCK)
        then = then->child;
    if (!then || then->next || then->kind != GR_STMT_SIMPLE)
        return false;
    uint32_t end = then->to - 1, at = find(c, then->from, end, words);
    *u = (GrUpdateText){
        .all = {s->from, s->to - 1}, .object = {then->from, at}, .value = {at + 1, end}, .statement = true};
    u->all.to += !is(c, u->all.to, ";"); // a block's end goes as well
    u->op = at < end ? read_comparison(c, (GrSpan){s->decides, s->decided}, u->object, u->value)
                     : GR_UPDATE_OTHER;
    return u->op != GR_UPDATE_OTHER && in_memory(c, f, u->object);
}

bool gr_update_read(const GrCode *c, const GrFunctionCode *f, const GrStatement *s, GrUpdateText *out) {
    bool done = s->kind == GR_STMT_SIMPLE ? read_simple(c, f, s, out) : read_if(c, f, s, out);
    if (!done && s->kind != GR_STMT_SIMPLE && s->decides < s->decided) { // if (x++ < y)
        *out = (GrUpdateText){.op = GR_UPDATE_OTHER};
        done = read_steps(c, f, (GrSpan){s->decides, s->decided}, out);
        out->statement = false;
    }
    // s[t] += s[t + 16] may race by what it adds, and is no update of one object then.
    return done && !names(c, out->value, base_of(c, out->object));
}

bool gr_update_of(GrRepairs *r, const GrAccess *a, GrPlace *place, GrUpdateText *out) {
    if (!gr_place_of(r, a, place) ||
        gr_is_locked(&place->file->code, place->function, place->statement)) // then the lock is at fault
        return false;
    const GrStatement *s = place->statement, *up = s->parent;
    if (s->kind == GR_STMT_SIMPLE && up && up->kind == GR_STMT_BLOCK)
        up = up->parent;
    if (up && up->kind == GR_STMT_IF && gr_update_read(&place->file->code, place->function, up, out)) {
        place->statement = up;
        return true;
    }
    return gr_update_read(&place->file->code, place->function, s, out);
}

// ---- For a report ------------------------------------------------------------------------------------------

static const char *const op_names[] = {
#define UPDATE(op, name) name,
#include "repair/updates.def"
#undef UPDATE
};

// The text of the tokens, as it stands.
static const char *text_of(GrRepairs *r, const GrCode *c, GrSpan s) {
    const GrToken *first = token(c, s.from), *last = token(c, s.to - 1);
    return gr_arena_strndup(&r->arena, first->text, (size_t)(last->text + last->len - first->text));
}

static bool is_kind(const GrAccess *a, const char *kind) { return a->kind && !strcmp(a->kind, kind); }

// Without the source: a load and a store of one line.
static bool by_line(const GrAccess *a, const GrAccess *b, GrUpdate *out) {
    const GrFrame *x = gr_access_frame(a, a->headline), *y = gr_access_frame(b, b->headline);
    if (!x->line || x->line != y->line || !x->file || !y->file || strcmp(x->file, y->file) ||
        !((is_kind(a, "load") && is_kind(b, "store")) || (is_kind(a, "store") && is_kind(b, "load"))))
        return false;
    *out = (GrUpdate){.op = GR_UPDATE_OTHER, .file = x->file, .line = x->line};
    return true;
}

bool gr_repair_update(GrRepairs *r, const GrFinding *f, GrUpdate *out) {
    GrPlace place[2];
    GrUpdateText text[2];
    *out = (GrUpdate){.op = GR_UPDATE_OTHER};
    const GrAccess *a = &f->accesses[0], *b = &f->accesses[1];
    if (f->n_accesses != 2 || a->host || b->host || is_kind(a, "atomic") || is_kind(b, "atomic") ||
        (is_kind(a, "load") && is_kind(b, "load")))
        return false;
    bool one = gr_place_of(r, a, &place[0]), other = gr_place_of(r, b, &place[1]), found;
    if (!one && !other) {
        found = by_line(a, b, out);
    } else {
        found = gr_update_of(r, a, &place[0], &text[0]) && gr_update_of(r, b, &place[1], &text[1]) &&
                place[0].statement == place[1].statement;
        if (found)
            *out = (GrUpdate){.op = text[0].op,
                              .file = place[0].path,
                              .line = place[0].statement->first,
                              .object = text_of(r, &place[0].file->code, text[0].object)};
    }
    out->name = op_names[out->op];
    return found;
}
