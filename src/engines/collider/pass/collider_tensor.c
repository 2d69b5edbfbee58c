// SPDX-License-Identifier: Apache-2.0
// collider_tensor — see the header.
//
// Both are performed later, and registers may be looked at once tcgen05.wait has waited. So the checks stand behind the
// program's own wait, and make nothing visible that was not:
//
//     tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r1, %r2}, [taddr];
//     …                                                                  the program's code, without branches
//     tcgen05.wait::ld.sync.aligned;
//     nanosleep.u32 delay;
//     tcgen05.ld.sync.aligned.32x32b.x2.b32 {again, …}, [taddr];         all of it: the shape decides which register
//     tcgen05.wait::ld.sync.aligned;                                     holds which column, the same each time
//     compare, vote, report
//
// A store is loaded back in the same shape, behind its tcgen05.wait::st. There is one way to load tensor memory, so
// there is no strong form of it; ptxas keeps a load that is repeated.
#include "engines/collider/pass/collider_tensor.h"

#include "base/str.h"
#include "engines/collider/pass/collider_look.h"

#include <stdio.h>
#include <string.h>

// ---- The wait ------------------------------------------------------------------------------------------------

static bool is_tcgen05(const PtxStmt *s, PtxMod first) {
    return s->kind == PTX_INSTR && s->instr->op == PTX_OP_TCGEN05 && s->instr->n_mods &&
           s->instr->mods[0].id == first;
}

static bool declares_before(const PtxStmt *s) {
    for (unsigned depth = 0; (s = s->prev);) {
        if (s->kind == PTX_SCOPE_OPEN && depth-- == 0)
            return false;
        depth += s->kind == PTX_SCOPE_CLOSE;
        if (s->kind == PTX_DECL_REG && !depth && !s->tag.inserted)
            return true;
    }
    return false;
}

static bool leaves(const PtxStmt *s) {
    return s->kind == PTX_LABEL_DEF ||
           (s->kind == PTX_INSTR &&
            (gr_ptx_instr_flags(s->instr) & (PTX_F_BRANCH | PTX_F_EXIT | PTX_F_CALL)) != 0);
}

// The unguarded wait that is certain to follow the access, with the registers of the access still in scope; NULL: it is
// not here. *others: whether anything but tensor memory's instructions stands between; *deeper: the wait is in a scope
// of its own.
static PtxStmt *find_wait(PtxStmt *access, PtxMod wait, bool *others, bool *deeper) {
    int depth = 0;
    *others = *deeper = false;
    for (PtxStmt *s = access->next; s; s = s->next) {
        if (s->tag.inserted)
            continue;
        if (leaves(s))
            return NULL;
        depth += s->kind == PTX_SCOPE_OPEN;
        if (s->kind == PTX_SCOPE_CLOSE && depth-- == 0) {
            if (declares_before(access))
                return NULL;
            depth = 0;
        }
        if (is_tcgen05(s, wait)) {
            *deeper = depth > 0;
            return s->instr->guard ? NULL : s;
        }
        *others = *others || (s->kind == PTX_INSTR && s->instr->op != PTX_OP_TCGEN05);
    }
    return NULL;
}

// Whether loads that the program has not waited for may be under way: to wait behind a store would wait for them, too.
static bool loads_pending(const PtxStmt *s) {
    for (; s && (s->tag.inserted || !leaves(s)); s = s->prev) {
        if (s->tag.inserted)
            continue;
        if (is_tcgen05(s, PTX_MOD_ld))
            return true;
        if (is_tcgen05(s, PTX_MOD_wait__ld))
            return false;
    }
    return false;
}

// ---- The checks ----------------------------------------------------------------------------------------------

static bool read_registers(Access *a, const PtxOperand *list) {
    if (list->kind != PTX_O_VECTOR || list->n_sub > EMIT_MAX_ELEMENTS)
        return false;
    a->n = list->n_sub;
    a->bytes = 4;
    for (unsigned k = 0; k < a->n; k++) {
        a->value[k] = &list->sub[k];
        a->used[k] = list->sub[k].kind == PTX_O_REG ? UINT64_MAX : 0;
        if (list->sub[k].kind != PTX_O_SINK &&
            (list->sub[k].kind != PTX_O_REG || gr_ptx_type_bits(list->sub[k].reg->type) != 32))
            return false;
    }
    return a->n > 0;
}

// What outlives the access until behind the wait: its predicate and its address.
static gr_status prepare(Access *a) {
    PtxReg *base = gr_ptx_new_reg(a->func, PTX_B32);
    PtxOperand *sub = GR_NEW(&a->func->module->arena, PtxOperand);
    GR_NEED(sub, a->err);
    GR_PUT_OPS(a, a->before, &a->address.sub[0], 1, "mov.b32 %s, $0;", base->name);
    if (a->address.offset)
        GR_PUT(a, a->before, "add.s32 %s, %s, %lld;", base->name, base->name, (long long)a->address.offset);
    *sub = gr_ptx_reg_operand(base);
    a->address.sub = sub;
    a->address.offset = 0;
    for (unsigned k = 0; k < a->n; k++)
        a->at[k] = base;
    a->together = true;
    GR_MUST(gr_access_prepare(a));
    GR_MUST(gr_collider_own_guard(a));
    a->whole = a->guard;
    return GR_OK;
}

// tcgen05.ld of what the access loads or stores, and its wait.
static gr_status put_again(Access *a, bool store, PtxOperand *again) {
    const PtxInstr *i = a->stmt->instr;
    StrBuf text = {0};
    PtxOperand ops[2] = {a->address};
    unsigned n_ops = 1;
    if (i->n_operands > 2) {
        ops[1] = i->operands[store ? 1 : 2];
        n_ops = 2;
    }
    gr_str_addf(&text, "%s%s%stcgen05.ld", a->whole ? "@" : "", a->whole ? a->whole->name : "",
                a->whole ? " " : "");
    for (unsigned k = 1; k < i->n_mods; k++)
        gr_str_addf(&text, ".%s", i->mods[k].id == PTX_MOD_unpack__16b ? "pack::16b" : i->mods[k].text);
    for (unsigned k = 0; k < a->n; k++) {
        PtxReg *r = gr_ptx_new_reg(a->func, PTX_B32);
        again[k] = gr_ptx_reg_operand(r);
        gr_str_addf(&text, "%s%s", k ? ", " : " {", r->name);
    }
    gr_str_add(&text, n_ops > 1 ? "}, $0, $1; tcgen05.wait::ld.sync.aligned;"
                                : "}, $0; tcgen05.wait::ld.sync.aligned;");
    gr_status st = text.oom
                       ? gr_no_memory(a->err)
                       : gr_ptx_insert(a->func, a->after, a->site->id, text.data, ops, n_ops, NULL, a->err);
    gr_str_free(&text);
    return st;
}

static bool start(Access *a, bool store) {
    const PtxInstr *i = a->stmt->instr;
    unsigned address = store ? 0 : 1, last = i->n_operands - 1u;
    if (i->n_operands < 2 || i->n_operands > 3 || i->operands[address].kind != PTX_O_ADDRESS ||
        i->operands[address].n_sub != 1 || !gr_ptx_instr_has(i, PTX_MOD_b32))
        return false;
    if (i->n_operands == 3 &&
        i->operands[store ? 1 : 2].kind != PTX_O_INT) // .16x32bx2: where the second half is
        return false;
    a->address = i->operands[address];
    return read_registers(a, &i->operands[store ? last : 0]);
}

gr_status gr_collider_tensor(ColliderWork *w, Access *a, GrSiteStatus *status) {
    bool store = a->stmt->instr->mods[0].id == PTX_MOD_st, others, deeper;
    *status = GR_SITE_NOT_UNDERSTOOD;
    if (!start(a, store))
        return GR_OK;
    PtxStmt *wait = find_wait(a->stmt, store ? PTX_MOD_wait__st : PTX_MOD_wait__ld, &others, &deeper);
    *status = wait && !(store && loads_pending(wait)) ? GR_SITE_CHECKED : GR_SITE_PENDING;
    uint64_t used = 0;
    for (unsigned k = 0; k < a->n; k++)
        used |= a->used[k];
    if (*status != GR_SITE_CHECKED || !used || w->classifies)
        return GR_OK;
    PtxOperand expected[EMIT_MAX_ELEMENTS], again[EMIT_MAX_ELEMENTS];
    for (unsigned k = 0; k < a->n; k++) {
        expected[k] = *a->value[k];
        if (!store || !others || !a->used[k])
            continue;
        PtxReg *copy = gr_ptx_new_reg(a->func, PTX_B32); // the program may give the register another value
        GR_PUT_OPS(a, a->before, &expected[k], 1, "mov.b32 %s, $0;", copy->name);
        expected[k] = gr_ptx_reg_operand(copy);
    }
    a->after = a->report = wait->next;
    a->nested = a->nested || deeper;
    GR_MUST(prepare(a));
    Look window;
    GR_MUST(gr_look_begin(w, a, a->after, WAIT_WINDOW, store ? w->o->write_delay_ns : w->o->read_delay_ns,
                          &window));
    GR_MUST(put_again(a, store, again));
    GR_MUST(gr_collider_compare(w, a, expected, again, 32,
                                store ? GR_CLASS_LOST_UPDATE : GR_CLASS_CLOBBERED_READ, NULL));
    return gr_look_end(w, a, a->after, &window, LOOK_NOT_HELD);
}
