// SPDX-License-Identifier: Apache-2.0
#include "engines/privatizer/pass/body.h"

#include "base/map.h"
#include "base/vec.h"

#include <stdlib.h>

// Whether the statement is copied, at that depth of scopes.
static bool is_copied(const PtxStmt *s, unsigned depth) {
    switch (s->kind) {
    case PTX_DECL_REG:
    case PTX_DECL_VAR: return depth > 0;
    case PTX_LOC: return false;
    case PTX_RAW: return s->text[0]; // what was taken away is nothing
    default: return true;
    }
}

static unsigned deeper(const PtxStmt *s, unsigned depth) {
    return depth + (s->kind == PTX_SCOPE_OPEN) - (s->kind == PTX_SCOPE_CLOSE);
}

// ---- Scopes ---------------------------------------------------------------------------------------------------------

// Sets open[k] of the statements that are the braces and declarations of scopes around what `opens`. False: out of
// memory.
static bool find_open(const Body *b, bool (*opens)(const PtxInstr *), bool *open) {
    VEC(size_t) scopes = {0};
    bool ok = true;
    for (size_t k = 0; k < b->n && ok; k++) {
        const PtxStmt *s = b->stmt[k];
        if (s->kind == PTX_SCOPE_OPEN)
            ok = gr_vec_push(&scopes, k);
        else if (s->kind == PTX_SCOPE_CLOSE && scopes.len)
            open[k] = open[scopes.data[--scopes.len]];
        else if (s->kind == PTX_INSTR && opens(s->instr))
            for (size_t i = 0; i < scopes.len; i++)
                open[scopes.data[i]] = true;
    }
    scopes.len = 0; // once more, for declarations, which stand before
    for (size_t k = 0; k < b->n && ok; k++) {
        const PtxStmt *s = b->stmt[k];
        if (s->kind == PTX_SCOPE_OPEN)
            ok = gr_vec_push(&scopes, k);
        else if (s->kind == PTX_SCOPE_CLOSE && scopes.len)
            scopes.len--;
        else if (s->kind == PTX_DECL_REG && scopes.len)
            open[k] = open[scopes.data[scopes.len - 1]];
    }
    gr_vec_free(&scopes);
    return ok;
}

typedef struct Renames {
    PtxFunc *f;
    Map decls; // declarations that go: a PtxRegDecl's address -> itself
    Map regs;  // a register's address -> its new register
    bool nomem;
} Renames;

static void rename_reg(Renames *r, PtxReg **reg) {
    PtxReg *old = *reg, *now;
    if (!old || !old->decl || !gr_map_get_u64(&r->decls, (uint64_t)(uintptr_t)old->decl))
        return;
    now = gr_map_get_u64(&r->regs, (uint64_t)(uintptr_t)old);
    if (!now) {
        now = gr_ptx_new_reg(r->f, old->type);
        r->nomem |= !gr_map_put_u64(&r->regs, (uint64_t)(uintptr_t)old, now);
    }
    *reg = now;
}

static void rename_operand(Renames *r, PtxOperand *o) {
    if (o->kind == PTX_O_REG)
        rename_reg(r, &o->reg);
    for (unsigned k = 0; k < o->n_sub; k++)
        rename_operand(r, &o->sub[k]);
}

static bool take_scopes_away(PtxFunc *f, Body *b, bool *open) {
    Renames r = {.f = f};
    for (size_t k = 0; k < b->n; k++)
        if (open[k] && b->stmt[k]->kind == PTX_DECL_REG)
            r.nomem |=
                !gr_map_put_u64(&r.decls, (uint64_t)(uintptr_t)b->stmt[k]->reg_decl, b->stmt[k]->reg_decl);
    for (size_t k = 0; k < b->n; k++) {
        PtxStmt *s = b->stmt[k];
        if (s->kind == PTX_INSTR) {
            rename_reg(&r, &s->instr->guard);
            for (unsigned i = 0; i < s->instr->n_operands; i++)
                rename_operand(&r, &s->instr->operands[i]);
        } else if (open[k]) {
            s->kind = PTX_RAW;
            s->text = "";
        }
    }
    gr_map_free(&r.decls);
    gr_map_free(&r.regs);
    return !r.nomem;
}

// ---- Registers ------------------------------------------------------------------------------------------------------

static void pair_reg(Body *b, const PtxReg *own, PtxReg *copy) {
    if (own && own != copy)
        b->regs[own->index] = copy;
}

static void pair_operand(Body *b, const PtxOperand *own, const PtxOperand *copy) {
    if (own->kind == PTX_O_REG && copy->kind == PTX_O_REG)
        pair_reg(b, own->reg, copy->reg);
    for (unsigned k = 0; k < own->n_sub && k < copy->n_sub; k++)
        pair_operand(b, &own->sub[k], &copy->sub[k]);
}

static void pair_registers(Body *b) {
    for (size_t k = 0; k < b->n; k++) {
        const PtxInstr *own = b->from[k]->kind == PTX_INSTR ? b->from[k]->instr : NULL,
                       *copy = b->stmt[k]->instr;
        if (!own)
            continue;
        pair_reg(b, own->guard, copy->guard);
        for (unsigned i = 0; i < own->n_operands; i++)
            pair_operand(b, &own->operands[i], &copy->operands[i]);
    }
}

gr_status gr_body_copy(PtxFunc *f, const PtxStmt *first, const PtxStmt *last, bool (*opens)(const PtxInstr *),
                       Arena *arena, Body *out, gr_error *err) {
    gr_status st = GR_OK;
    StrBuf text = {0};
    PtxStmt *copy = NULL;
    unsigned depth = 0;
    size_t n = 0;
    uint32_t n_regs = f->n_regs;
    for (const PtxStmt *s = first; s; s = s == last ? NULL : s->next) {
        if (is_copied(s, depth)) {
            gr_ptx_print_stmt(s, &text);
            gr_str_addc(&text, '\n');
            n++;
        }
        depth = deeper(s, depth);
    }
    GR_TRY(!text.oom ? GR_OK : gr_no_memory(err));
    GR_TRY(gr_ptx_insert(f, NULL, 0, text.data ? text.data : "", NULL, 0, &copy, err));
    *out = (Body){.stmt = GR_NEW_ARRAY(arena, PtxStmt *, n + 1),
                  .from = GR_NEW_ARRAY(arena, const PtxStmt *, n + 1),
                  .regs = GR_NEW_ARRAY(arena, PtxReg *, (size_t)n_regs + 1)};
    bool *open = GR_NEW_ARRAY(arena, bool, n + 1);
    GR_TRY(out->stmt && out->from && out->regs && open ? GR_OK : gr_no_memory(err));
    depth = 0;
    for (const PtxStmt *s = first; s; s = s == last ? NULL : s->next) {
        if (is_copied(s, depth)) {
            if (!copy || copy->kind != s->kind)
                GR_TRY(gr_fail(err, GR_ERR_INTERNAL, "%s: a copy of the code is another code", f->name));
            out->stmt[out->n] = copy;
            out->from[out->n++] = s;
            copy = copy->next;
        }
        depth = deeper(s, depth);
    }
    GR_TRY(find_open(out, opens, open) && take_scopes_away(f, out, open) ? GR_OK : gr_no_memory(err));
    pair_registers(out);
done:
    gr_str_free(&text);
    return st;
}
