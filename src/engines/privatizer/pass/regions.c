// SPDX-License-Identifier: Apache-2.0
// regions — code for warps: what a thread does from barrier to barrier is a region, and the block runs each region twice (LDetector, section 4).
//
// Where a region begins, the registers that are live there and the local memory are kept, so that it can be run again: from wherever threads came to its
// end, they go back by a table of all beginnings.
//
//     region k begins:   C_k: keep what is live;  S_k: (the barrier) ... ---> a barrier or the thread's end: at = where; go to END
//     END:               wait for all threads of the block
//                        pass 1: merge, wait, pass = 2; go to R_start
//                        pass 2: check, wait, pass = 1; leave if all threads are at their end; start = at; go to C_at
//     R_k:               restore what was kept; go to S_k
//
// A thread that has ended takes part in the ends of all regions that follow, with nothing to do in between.
#include "base/vec.h"
#include "engines/privatizer/pass/code.h"

#include <stdio.h>
#include <stdlib.h>

enum { AT_END = 0x7fffffff };

typedef struct Region {
    PtxStmt *barrier; // of the copy; NULL: the kernel's begin
    const PtxStmt *from;
    PtxLabel *begins, *starts, *restores; // C_k, S_k, R_k
} Region;

typedef struct Regions {
    const Code *c;
    VEC(Region) all;
    PtxReg *at, *start;
    PtxLabel *end, *exit;
    PtxReg **kept; // by PtxReg.index: the register that keeps it
    VEC(const PtxVar *) locals;
} Regions;

static const char *mov_type(const PtxReg *r) {
    switch (gr_ptx_type_bits(r->type)) {
    case 1: return "pred";
    case 16: return "b16";
    case 64: return "b64";
    default: return "b32";
    }
}

// ---- Local memory ------------------------------------------------------------------------------------------------------

static gr_status find_locals(Regions *r) {
    const Code *c = r->c;
    unsigned depth = 0;
    PtxStmt *next;
    for (PtxStmt *s = c->f->first; s; s = next) {
        next = s->next;
        depth += s->kind == PTX_SCOPE_OPEN;
        depth -= s->kind == PTX_SCOPE_CLOSE;
        if (s->kind != PTX_DECL_VAR || s->var->space != PTX_LOCAL || depth || s->tag.inserted)
            continue;
        gr_status st = gr_code_put(c, s, NULL, 0, ".local .align 8 .b8 __gr_kept_%s[%llu];", s->var->name,
                                   (unsigned long long)s->var->size);
        if (st != GR_OK)
            return st;
        if (!gr_vec_push(&r->locals, s->var))
            return gr_fail(c->err, GR_ERR_NOMEM, "out of memory");
    }
    return GR_OK;
}

static gr_status put_locals(const Regions *r, PtxStmt *at, bool keep) {
    const Code *c = r->c;
    gr_status st = GR_OK;
    for (size_t k = 0; k < r->locals.len && st == GR_OK; k++) {
        const PtxVar *v = r->locals.data[k];
        char kept[512];
        snprintf(kept, sizeof kept, "__gr_kept_%s", v->name);
        bool words = v->size % 4 == 0 && (v->align >= 4 || gr_ptx_type_bits(v->type) >= 32);
        const char *from = keep ? v->name : kept, *to = keep ? kept : v->name, *type = words ? "u32" : "u8";
        PtxReg *a = gr_ptx_new_reg(c->f, PTX_B64), *b = gr_ptx_new_reg(c->f, PTX_B64),
               *n = gr_ptx_new_reg(c->f, PTX_B32), *value = gr_ptx_new_reg(c->f, PTX_B32),
               *more = gr_ptx_new_reg(c->f, PTX_PRED);
        if (!v->size)
            continue;
        st = gr_code_put(c, at, NULL, 0,
                         "mov.u64 %s, %s; mov.u64 %s, %s; mov.u32 %s, %llu; AGAIN: ld.local.%s %s, [%s]; "
                         "st.local.%s [%s], %s; add.s64 %s, %s, %u; add.s64 %s, %s, %u; sub.u32 %s, %s, 1; "
                         "setp.ne.u32 %s, %s, 0; @%s bra AGAIN;",
                         a->name, from, b->name, to, n->name,
                         (unsigned long long)(words ? v->size / 4 : v->size), type, value->name, a->name,
                         type, b->name, value->name, a->name, a->name, words ? 4 : 1, b->name, b->name,
                         words ? 4 : 1, n->name, n->name, more->name, n->name, more->name);
    }
    return st;
}

// ---- Registers ---------------------------------------------------------------------------------------------------------

static gr_status put_registers(const Regions *r, PtxStmt *at, const Region *g, bool keep) {
    const Code *c = r->c;
    gr_status st = GR_OK;
    if (!g->from || !gr_live_before(c->live, g->from, c->set))
        return GR_OK;
    for (uint32_t k = 0; k < c->live->n_regs && st == GR_OK; k++) {
        PtxReg *reg = c->f->regs[k];
        if (!gr_live_has(c->live, c->set, reg))
            continue;
        if (!r->kept[k])
            r->kept[k] = gr_ptx_new_reg(c->f, reg->type);
        PtxOperand own = gr_ptx_reg_operand(reg);
        st = keep ? gr_code_put(c, at, &own, 1, "mov.%s %s, $0;", mov_type(reg), r->kept[k]->name)
                  : gr_code_put(c, at, &own, 1, "mov.%s $0, %s;", mov_type(reg), r->kept[k]->name);
    }
    return st;
}

// ---- Beginnings --------------------------------------------------------------------------------------------------------

static gr_status add(Regions *r, PtxStmt *barrier, const PtxStmt *from) {
    PtxFunc *f = r->c->f;
    Region g = {barrier, from, gr_ptx_new_label(f), gr_ptx_new_label(f), gr_ptx_new_label(f)};
    return gr_vec_push(&r->all, g) ? GR_OK : gr_fail(r->c->err, GR_ERR_NOMEM, "out of memory");
}

static gr_status put_begin(const Regions *r, size_t k) {
    gr_status st = GR_OK;
    const Code *c = r->c;
    const Region *g = &r->all.data[k];
    PtxStmt *at = k ? g->barrier : c->body.n ? c->body.stmt[0] : NULL;
    PtxOperand end = gr_ptx_label_operand(r->end);
    if (k)
        GR_TRY(gr_code_put(c, at, &end, 1, "mov.u32 %s, %zu; bra $0;", r->at->name, k));
    gr_ptx_insert_label(c->f, at, g->begins);
    GR_TRY(put_registers(r, at, g, true));
    GR_TRY(put_locals(r, at, true));
    gr_ptx_insert_label(c->f, at, g->starts);
done:
    return st;
}

// Threads end by going to the end of the region.
static gr_status put_exits(const Regions *r) {
    gr_status st = GR_OK;
    const Code *c = r->c;
    for (size_t k = 0; k < c->body.n; k++) {
        PtxStmt *s = c->body.stmt[k];
        if (s->kind != PTX_INSTR || !(gr_ptx_instr_flags(s->instr) & PTX_F_EXIT))
            continue;
        PtxOperand ops[2] = {gr_ptx_label_operand(r->exit),
                             s->instr->guard ? gr_ptx_reg_operand(s->instr->guard) : (PtxOperand){0}};
        GR_TRY(gr_code_put(c, s, ops, 2, "%sbra $0;",
                           !s->instr->guard          ? ""
                           : s->instr->guard_negated ? "@!$1 "
                                                     : "@$1 "));
        // What stands here is not reached any more, or under another guard only.
        s->kind = PTX_RAW;
        s->text = "";
    }
done:
    return st;
}

// ---- The end -------------------------------------------------------------------------------------------------------------

static gr_status put_table(const Regions *r, const PtxReg *which, bool restores) {
    gr_status st = GR_OK;
    const Code *c = r->c;
    PtxReg *is = gr_ptx_new_reg(c->f, PTX_PRED);
    for (size_t k = 0; k < r->all.len && st == GR_OK; k++) {
        PtxOperand to = gr_ptx_label_operand(restores ? r->all.data[k].restores : r->all.data[k].begins);
        st = gr_code_put(c, NULL, &to, 1, "setp.eq.u32 %s, %s, %zu; @%s bra $0;", is->name, which->name, k,
                         is->name);
    }
    return st;
}

static gr_status put_end(const Regions *r) {
    gr_status st = GR_OK;
    const Code *c = r->c;
    PtxReg *ends = gr_ptx_new_reg(c->f, PTX_PRED), *all = gr_ptx_new_reg(c->f, PTX_PRED),
           *second = gr_ptx_new_reg(c->f, PTX_PRED);
    PtxLabel *checks = gr_ptx_new_label(c->f), *leaves = gr_ptx_new_label(c->f);
    PtxOperand to_end = gr_ptx_label_operand(r->end), to_checks = gr_ptx_label_operand(checks),
               to_leaves = gr_ptx_label_operand(leaves);
    gr_ptx_insert_label(c->f, NULL, c->over);
    GR_TRY(gr_code_put(c, NULL, NULL, 0, "call __gr%s_over;", c->suffix));
    gr_ptx_insert_label(c->f, NULL, r->exit);
    GR_TRY(gr_code_put(c, NULL, NULL, 0, "mov.u32 %s, %d;", r->at->name, AT_END));
    gr_ptx_insert_label(c->f, NULL, r->end);
    GR_TRY(gr_code_put(
        c, NULL, &to_checks, 1,
        "setp.eq.u32 %s, %s, %d; barrier.red.and.pred %s, 0, %s; setp.eq.u32 %s, %s, 2; @%s bra $0;",
        ends->name, r->at->name, AT_END, all->name, ends->name, second->name, c->pass->name, second->name));
    GR_TRY(gr_code_put(c, NULL, NULL, 0, "call __gr%s_merge, (%s, %s); barrier.sync 0; mov.u32 %s, 2;",
                       c->suffix, r->start->name, c->sequence->name, c->pass->name));
    GR_TRY(put_table(r, r->start, true));
    GR_TRY(gr_code_put(c, NULL, &to_end, 1, "bra $0;"));
    gr_ptx_insert_label(c->f, NULL, checks);
    GR_TRY(gr_code_put(c, NULL, &to_leaves, 1,
                       "call __gr%s_check, (%s, %s); barrier.sync 0; mov.u32 %s, 1; add.u32 %s, %s, 1; @%s "
                       "bra $0; mov.u32 %s, %s;",
                       c->suffix, r->start->name, c->sequence->name, c->pass->name, c->sequence->name,
                       c->sequence->name, all->name, r->start->name, r->at->name));
    GR_TRY(put_table(r, r->at, false));
    GR_TRY(gr_code_put(c, NULL, &to_end, 1, "bra $0;"));
    for (size_t k = 0; k < r->all.len; k++) {
        PtxOperand back = gr_ptx_label_operand(r->all.data[k].starts);
        gr_ptx_insert_label(c->f, NULL, r->all.data[k].restores);
        GR_TRY(put_registers(r, NULL, &r->all.data[k], false));
        GR_TRY(put_locals(r, NULL, false));
        GR_TRY(gr_code_put(c, NULL, &back, 1, "bra $0;"));
    }
    gr_ptx_insert_label(c->f, NULL, leaves);
    GR_TRY(gr_code_put(c, NULL, NULL, 0, "ret;"));
done:
    return st;
}

gr_status gr_code_regions(const Code *c) {
    gr_status st = GR_OK;
    Regions r = {.c = c,
                 .at = gr_ptx_new_reg(c->f, PTX_B32),
                 .start = gr_ptx_new_reg(c->f, PTX_B32),
                 .end = gr_ptx_new_label(c->f),
                 .exit = gr_ptx_new_label(c->f),
                 .kept = GR_NEW_ARRAY(c->arena, PtxReg *, (size_t)c->f->n_regs + 1)};
    if (!r.kept)
        GR_TRY(gr_fail(c->err, GR_ERR_NOMEM, "out of memory"));
    GR_TRY(find_locals(&r));
    GR_TRY(add(&r, NULL, NULL));
    for (size_t k = 0; k < c->body.n; k++)
        if (c->body.stmt[k]->kind == PTX_INSTR && gr_is_full_barrier(c->body.from[k]->instr))
            GR_TRY(add(&r, c->body.stmt[k], c->body.from[k]));
    GR_TRY(gr_code_put(c, c->body.n ? c->body.stmt[0] : NULL, NULL, 0, "mov.u32 %s, 0; mov.u32 %s, 0;",
                       r.start->name, r.at->name));
    for (size_t k = 0; k < r.all.len; k++)
        GR_TRY(put_begin(&r, k));
    GR_TRY(put_exits(&r));
    GR_TRY(put_end(&r));
done:
    gr_vec_free(&r.all);
    gr_vec_free(&r.locals);
    return st;
}
