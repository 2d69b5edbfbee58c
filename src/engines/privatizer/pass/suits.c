// SPDX-License-Identifier: Apache-2.0
#include "engines/privatizer/pass/suits.h"

#include "engines/privatizer/device/control.h"
#include "engines/privatizer/pass/code.h"
#include "engines/privatizer/pass/mbarriers.h"

const char *gr_unsuited_text(GrUnsuited why) {
    static const char *const texts[] = {
        NULL,
#define REASON(id, text) text,
#include "engines/privatizer/pass/reasons.def"
#undef REASON
    };
    return texts[why];
}

static const PtxSite *site_of(const PtxFunc *f, const PtxStmt *s) {
    return s->site ? &f->module->sites[s->site] : NULL;
}

static GrUnsuited of_call(const GrKernelLook *l, const PtxInstr *i) {
    if (!i->callee)
        return l->calls->by_address ? GR_SUITS : GR_UNSUITED_CALLS_BY_ADDRESS;
    if (!i->callee->has_body)
        return gr_calls_instead(i->callee) ? GR_SUITS : GR_UNSUITED_CALLS_OUTSIDE;
    return l->calls->harmless[i->callee->index] ? GR_SUITS : GR_UNSUITED_CALLS_ACCESSES;
}

// A value of 16 to 64 bits can be noted.
static bool can_note(const PtxOperand *o) {
    bool can = true;
    for (unsigned k = 0; k < o->n_sub && o->kind == PTX_O_VECTOR; k++)
        can = can && can_note(&o->sub[k]);
    return can && (o->kind != PTX_O_REG || (o->reg->vec <= 1 && gr_ptx_type_bits(o->reg->type) >= 16 &&
                                            gr_ptx_type_bits(o->reg->type) <= 64));
}

static GrUnsuited of_site(const GrKernelLook *l, const PtxSite *site) {
    const PtxInstr *i = site->stmt->instr;
    bool shared = gr_is_shared_space(site->space) || site->space == PTX_SHARED_CLUSTER;
    if (gr_expands(i))
        return GR_SUITS;
    if (site->async)
        return GR_UNSUITED_ASYNC;
    if (site->space == PTX_SHARED_CLUSTER && l->warps)
        return GR_UNSUITED_CLUSTER;
    if (gr_has_result(site, l->live, l->set) && (!i->n_operands || !can_note(&i->operands[0])))
        return GR_UNSUITED_RESULT;
    if (i->op == PTX_OP_RED || i->op == PTX_OP_ATOM || gr_is_private_space(site->space) ||
        (shared && !l->warps))
        return GR_SUITS;
    return i->op != PTX_OP_LD && i->op != PTX_OP_LDU && i->op != PTX_OP_ST ? GR_UNSUITED_OTHER_ACCESS
                                                                           : GR_SUITS;
}

// Done later, or waits for such: in code for blocks a block's shared memory, with the objects that it waits at, is the
// launch's own.
static GrUnsuited of_async(const GrKernelLook *l, const PtxInstr *i) {
    bool waits = i->op == PTX_OP_CP && gr_ptx_instr_flags(i) == PTX_F_NO_DST,
         meets = i->op == PTX_OP_MBARRIER || (waits && gr_ptx_instr_has(i, PTX_MOD_mbarrier));
    GrMeeting meeting = gr_meeting_of(i);
    if (meeting && meeting != GR_MEETS_OTHER)
        return GR_SUITS;
    if (gr_expands(i) || (meets ? !l->warps : waits))
        return GR_SUITS;
    return meets || i->op == PTX_OP_CP || gr_ptx_instr_flags(i) & PTX_F_ASYNC ? GR_UNSUITED_ASYNC : GR_SUITS;
}

static GrUnsuited of_instr(const GrKernelLook *l, const PtxStmt *s) {
    const PtxInstr *i = s->instr;
    const PtxSite *site = site_of(l->f, s);
    unsigned half;
    if (gr_reads_clock(i) && !gr_is_clock(i, &half))
        return GR_UNSUITED_CLOCK;
    if (i->op == PTX_OP_CALL)
        return of_call(l, i);
    if (i->op == PTX_OP_GRIDDEPCONTROL)
        return GR_UNSUITED_DEPENDS;
    GrUnsuited later = of_async(l, i);
    if (later)
        return later;
    if ((i->op == PTX_OP_MAPA || (gr_is_barrier(i) && gr_ptx_instr_has(i, PTX_MOD_cluster))) && l->warps)
        return GR_UNSUITED_CLUSTER;
    if (gr_is_barrier(i) && !gr_is_warp_barrier(i) && l->warps && !gr_is_full_barrier(i))
        return GR_UNSUITED_PARTIAL;
    if (site)
        return of_site(l, site);
    bool plain = i->op == PTX_OP_LD || i->op == PTX_OP_ST; // of parameters: no site
    unsigned accesses = gr_ptx_instr_flags(i) & (PTX_F_READS | PTX_F_WRITES | PTX_F_ATOMIC);
    return i->op == PTX_OP_UNKNOWN || (accesses && !(plain && gr_is_private_space(i->space)))
               ? GR_UNSUITED_OTHER_ACCESS
               : GR_SUITS;
}

static bool is_odd(const PtxReg *r) { return r->vec > 1 || gr_ptx_type_bits(r->type) > 64; }

// What is live where a region begins has to be kept.
static bool keeps_odd(const PtxFunc *f, const Liveness *live, const PtxStmt *s, uint64_t *set) {
    bool found = gr_live_before(live, s, set);
    for (uint32_t k = 0; found && k < live->n_regs; k++)
        if (gr_live_has(live, set, f->regs[k]) && is_odd(f->regs[k]))
            return true;
    return false;
}

// A scope around a barrier is taken away in code for warps, so it must declare nothing but registers.
static bool is_scoped_with_variables(const PtxStmt *barrier) {
    unsigned closed = 0, around = 0, variables = 0;
    for (const PtxStmt *s = barrier->prev; s; s = s->prev) {
        if (s->kind == PTX_SCOPE_CLOSE)
            closed++;
        else if (s->kind == PTX_SCOPE_OPEN && closed)
            closed--;
        else if (s->kind == PTX_SCOPE_OPEN) {
            around += variables;
            variables = 0;
        } else if (s->kind == PTX_DECL_VAR && !closed)
            variables++;
    }
    return around > 0;
}

enum { MOST_WARP_BARRIERS = 64 }; // code grows with each

static bool is_of_all_lanes(const PtxInstr *i) {
    const PtxOperand *mask = i->n_operands ? &i->operands[0] : NULL;
    return !i->guard && mask && mask->kind == PTX_O_INT && (uint32_t)mask->bits == UINT32_MAX;
}

bool gr_suits_lanes(const GrKernelLook *l) {
    unsigned n = 0;
    for (const PtxStmt *s = l->f->first; s; s = s->next) {
        const PtxInstr *i = s->kind == PTX_INSTR ? s->instr : NULL;
        if (i && (i->op == PTX_OP_CP || i->op == PTX_OP_MBARRIER || i->op == PTX_OP_LDMATRIX ||
                  i->op == PTX_OP_STMATRIX))
            return false;
        if (!i || !gr_is_warp_barrier(i))
            continue;
        if (++n > MOST_WARP_BARRIERS || !is_of_all_lanes(i) || keeps_odd(l->f, l->live, s, l->set) ||
            is_scoped_with_variables(s))
            return false;
    }
    return n > 0;
}

GrSuits gr_suits(const GrKernelLook *l) {
    const PtxFunc *f = l->f;
    bool warps = l->warps, has_local = false;
    unsigned depth = 0;
    bool
        copies = false,
        // By threads, and at mbarriers: what is under way where a region ends is known at other barriers only.
        meets = false;
    for (const PtxStmt *s = f->first; s; s = s->next) {
        has_local |= s->kind == PTX_DECL_VAR && s->var->space == PTX_LOCAL;
        copies |= s->kind == PTX_INSTR && s->instr->op == PTX_OP_CP;
        meets |= s->kind == PTX_INSTR && s->instr->op == PTX_OP_MBARRIER;
    }
    for (const PtxStmt *s = f->first; s; s = s->next) {
        depth += s->kind == PTX_SCOPE_OPEN;
        depth -= s->kind == PTX_SCOPE_CLOSE;
        GrUnsuited why = GR_SUITS;
        // What a unit waited for is not in its copy. What it then does must do no harm: accesses of all memory but the
        // thread's own are looked at between threads; between blocks it stops before.
        if (l->roles && l->roles[s->site] & (GR_ORDERS_READ | GR_ORDERS_WRITE) &&
            (warps ? has_local : !gr_can_stop(f)))
            why = GR_UNSUITED_ORDERS;
        else if (warps && copies && meets && s->kind == PTX_INSTR && s->instr->op == PTX_OP_MBARRIER)
            why = GR_UNSUITED_ASYNC;
        else if (s->kind == PTX_INSTR && !gr_grid_is_access(l->grid, s))
            why = of_instr(l, s);
        else if (s->kind == PTX_DECL_VAR && s->var->space == PTX_LOCAL && depth && (warps || l->grid->n))
            why = GR_UNSUITED_NESTED_LOCAL;
        if (!why && (warps || l->grid->n) && s->kind == PTX_INSTR &&
            (gr_is_full_barrier(s->instr) || (warps && gr_meeting_of(s->instr))))
            why = keeps_odd(f, l->live, s, l->set) ? GR_UNSUITED_REGISTERS
                  : is_scoped_with_variables(s)    ? GR_UNSUITED_NESTED_LOCAL
                                                   : GR_SUITS;
        if (why)
            return (GrSuits){why, s};
    }
    return (GrSuits){GR_SUITS, NULL};
}
