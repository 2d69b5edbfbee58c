// SPDX-License-Identifier: Apache-2.0
// atomic — an atomic function in place of an update: atomicAdd(&x, y) for x += y, where the object's type has one and
// what the update's value is used for is what the function returns.
#include "repair/update.h"

#include <string.h>

// Which function does an operation on which types: BIT(kind) of GrTypeKind. `form` is its arguments behind the
// object's address.
#define BIT(kind) (1u << GR_TYPE_##kind)
static const struct Function {
    GrUpdateOp op;
    unsigned types;
    const char *name, *what, *form; // %s: the value
} functions[] = {
    {GR_UPDATE_ADD, BIT(S32) | BIT(U32) | BIT(U64) | BIT(F32) | BIT(F64) | BIT(UNKNOWN), "atomicAdd",
     "use atomicAdd()", "%s"},
    {GR_UPDATE_INC, BIT(S32) | BIT(U32) | BIT(U64) | BIT(F32) | BIT(F64) | BIT(UNKNOWN), "atomicAdd",
     "use atomicAdd()", "1"},
    {GR_UPDATE_SUB, BIT(S32) | BIT(U32), "atomicSub", "use atomicSub()", "%s"},
    {GR_UPDATE_SUB, BIT(F32) | BIT(F64), "atomicAdd", "use atomicAdd()", "-(%s)"},
    {GR_UPDATE_SUB, BIT(U64), "atomicAdd", "use atomicAdd()", "0ull - (%s)"},
    {GR_UPDATE_DEC, BIT(S32) | BIT(U32), "atomicSub", "use atomicSub()", "1"},
    {GR_UPDATE_DEC, BIT(F32) | BIT(F64), "atomicAdd", "use atomicAdd()", "-1"},
    {GR_UPDATE_DEC, BIT(U64), "atomicAdd", "use atomicAdd()", "0ull - 1"},
    {GR_UPDATE_MAX, BIT(S32) | BIT(U32) | BIT(S64) | BIT(U64), "atomicMax", "use atomicMax()", "%s"},
    {GR_UPDATE_MIN, BIT(S32) | BIT(U32) | BIT(S64) | BIT(U64), "atomicMin", "use atomicMin()", "%s"},
    {GR_UPDATE_AND, BIT(S32) | BIT(U32) | BIT(U64), "atomicAnd", "use atomicAnd()", "%s"},
    {GR_UPDATE_OR, BIT(S32) | BIT(U32) | BIT(U64), "atomicOr", "use atomicOr()", "%s"},
    {GR_UPDATE_XOR, BIT(S32) | BIT(U32) | BIT(U64), "atomicXor", "use atomicXor()", "%s"},
};
#undef BIT

static const struct Function *function_for(GrUpdateOp op, GrTypeKind type) {
    for (size_t k = 0; k < sizeof functions / sizeof *functions; k++)
        if (functions[k].op == op && functions[k].types >> type & 1)
            return &functions[k];
    return NULL;
}

static const GrToken *token(const GrCode *c, uint32_t k) { return &c->tokens.data[k]; }

static void add_span(const GrCode *c, GrSpan s, StrBuf *out) {
    if (s.from < s.to)
        gr_str_addn(out, token(c, s.from)->text,
                    (size_t)(token(c, s.to - 1)->text + token(c, s.to - 1)->len - token(c, s.from)->text));
}

// The call that stands for the update.
static void add_call(const GrCode *c, const GrUpdateText *u, const struct Function *f, StrBuf *out) {
    GrSpan object = u->object;
    bool points = gr_token_is(token(c, object.from), "*"), before = u->prefix && !u->statement;
    const char *at = strstr(f->form, "%s");
    object.from += points;
    gr_str_addf(out, "%s%s(%s", before ? "(" : "", f->name, points ? "" : "&");
    add_span(c, object, out);
    gr_str_add(out, ", ");
    gr_str_addn(out, f->form, at ? (size_t)(at - f->form) : strlen(f->form));
    if (at) {
        add_span(c, u->value, out);
        gr_str_add(out, at + 2);
    }
    gr_str_addc(out, ')');
    if (before)
        gr_str_add(out, u->op == GR_UPDATE_INC ? " + 1)" : " - 1)");
}

// Replaces the update's lines by one with the call. False: they hold something else, or are being edited already.
static bool add_edit(GrPlaces *p, GrProposal *proposal, const GrUpdateText *u, const struct Function *f) {
    const GrCode *c = proposal->code;
    const GrToken *first = token(c, u->all.from), *last = token(c, u->all.to - 1);
    size_t len = 0, last_len = 0;
    const char *line = gr_cpp_line(c, first->line, &len), *end = gr_cpp_line(c, last->line, &last_len);
    unsigned lines = last->line - first->line + 1;
    bool block = gr_token_is(last, "}");
    if (!line || !end || proposal->n + lines > GR_REPAIR_EDITS ||
        (lines > 1 && !gr_cpp_begins_line(c, u->all.from)))
        return false;
    for (unsigned k = 0; k < proposal->n; k++)
        if (proposal->edits[k].line >= first->line && proposal->edits[k].line <= last->line)
            return false;
    StrBuf out = {0};
    gr_str_addn(&out, line, (size_t)(first->text - line));
    add_call(c, u, f, &out);
    if (block)
        gr_str_addc(&out, ';');
    gr_str_addn(&out, last->text + last->len, (size_t)(end + last_len - last->text - last->len));
    char *copy = out.oom ? NULL : gr_arena_strdup(&p->repairs->arena, out.data);
    gr_str_free(&out);
    if (!copy)
        return false;
    proposal->edits[proposal->n++] = (GrEdit){first->line, true, copy};
    for (uint32_t k = first->line + 1; k <= last->line; k++)
        proposal->edits[proposal->n++] = (GrEdit){k, true, NULL};
    return true;
}

typedef struct Edits {
    GrPlaces *places;
    GrProposal proposal;
    const GrStatement *done[GR_REPAIR_EDITS];
    unsigned n;
} Edits;

// Edits what one side does, unless that is done. False: it cannot be.
static bool add_side(Edits *e, const GrAccess *a) {
    GrPlace at;
    GrUpdateText u;
    bool is_volatile = false;
    if (a->kind && !strcmp(a->kind, "atomic"))
        return true;
    if (a->host || (a->size && a->size < 4) || !gr_update_of(e->places->repairs, a, &at, &u))
        return false;
    for (unsigned k = 0; k < e->n; k++)
        if (e->done[k] == at.statement)
            return true;
    const GrCode *c = &at.file->code;
    GrTypeKind type = gr_object_type(c, at.function, u.object, &is_volatile);
    const struct Function *f = function_for(u.op, type);
    if (!f || is_volatile || e->n == GR_REPAIR_EDITS || (e->n && e->proposal.code != c))
        return false;
    if (!e->n)
        e->proposal = (GrProposal){.what = f->what, .file = at.path, .code = c};
    e->done[e->n++] = at.statement;
    return add_edit(e->places, &e->proposal, &u, f);
}

void gr_place_atomics(GrPlaces *p, const GrFinding *const *f, size_t n) {
    Edits e = {.places = p};
    for (size_t k = 0; k < n; k++)
        if (!add_side(&e, &f[k]->accesses[0]) || !add_side(&e, &f[k]->accesses[1]))
            return;
    gr_place_add(p, &e.proposal);
}
