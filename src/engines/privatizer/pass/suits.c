// SPDX-License-Identifier: Apache-2.0
#include "engines/privatizer/pass/suits.h"

#include "engines/privatizer/pass/code.h"

#include <string.h>

const char *gr_unsuited_text(GrUnsuited why) {
    static const char *const texts[] = {
        NULL,
#define REASON(id, text) text,
#include "engines/privatizer/pass/reasons.def"
#undef REASON
    };
    return texts[why];
}

static bool is_barrier(const PtxInstr *i) { return i->op == PTX_OP_BAR || i->op == PTX_OP_BARRIER; }

bool gr_is_warp_barrier(const PtxInstr *i) { return is_barrier(i) && gr_ptx_instr_has(i, PTX_MOD_warp); }

bool gr_is_full_barrier(const PtxInstr *i) {
    if (!is_barrier(i) || gr_is_warp_barrier(i) || i->guard || gr_ptx_instr_has(i, PTX_MOD_cluster) ||
        gr_ptx_instr_has(i, PTX_MOD_arrive))
        return false;
    bool reduces = gr_ptx_instr_has(i, PTX_MOD_red);
    unsigned first = reduces, most = reduces ? 3 : 1; // red: destination, number, predicate
    return i->n_operands > first && i->n_operands <= most && i->operands[first].kind == PTX_O_INT &&
           i->operands[first].bits == 0;
}

static bool reads_clock(const PtxOperand *o) {
    static const char *const clocks[] = {"%clock", "%globaltimer", "%pm"};
    for (size_t k = 0; o->kind == PTX_O_SREG && k < sizeof clocks / sizeof *clocks; k++)
        if (!strncmp(o->text, clocks[k], strlen(clocks[k])))
            return true;
    for (unsigned k = 0; k < o->n_sub; k++)
        if (reads_clock(&o->sub[k]))
            return true;
    return false;
}

bool gr_is_shared_space(PtxSpace s) { return s == PTX_SHARED || s == PTX_SHARED_CTA; }

static bool is_private(PtxSpace s) {
    return s == PTX_LOCAL || s == PTX_CONST || s == PTX_PARAM || s == PTX_PARAM_ENTRY || s == PTX_PARAM_FUNC;
}

static const PtxSite *site_of(const PtxFunc *f, const PtxStmt *s) {
    return s->site ? &f->module->sites[s->site] : NULL;
}

// A function that computes alone may be called as often as one likes. Recursion ends by `depth`.
static bool is_harmless(const PtxFunc *f, unsigned depth) {
    if (!f || !f->has_body || depth > 16)
        return false;
    for (const PtxStmt *s = f->first; s; s = s->next) {
        const PtxInstr *i = s->kind == PTX_INSTR ? s->instr : NULL;
        const PtxSite *site = site_of(f, s);
        if (!i)
            continue;
        unsigned flags = gr_ptx_instr_flags(i);
        if (i->op == PTX_OP_CALL && !is_harmless(i->callee, depth + 1))
            return false;
        if ((site && !is_private(site->space)) || flags & (PTX_F_BARRIER | PTX_F_ASYNC | PTX_F_ATOMIC) ||
            i->op == PTX_OP_MBARRIER || i->op == PTX_OP_TRAP)
            return false;
        for (unsigned k = 0; k < i->n_operands; k++)
            if (reads_clock(&i->operands[k]))
                return false;
    }
    return true;
}

static GrUnsuited of_call(const PtxInstr *i) {
    if (!i->callee)
        return GR_UNSUITED_CALLS_BY_ADDRESS;
    if (!i->callee->has_body)
        return GR_UNSUITED_CALLS_OUTSIDE;
    return is_harmless(i->callee, 0) ? GR_SUITS : GR_UNSUITED_CALLS_ACCESSES;
}

// Whether threads may order what they do by more than barriers of a block: PTX makes strong accesses do so beside fences or by an acquire or release alone.
static bool orders(const PtxFunc *f) {
    for (const PtxStmt *s = f->first; s; s = s->next) {
        const PtxInstr *i = s->kind == PTX_INSTR ? s->instr : NULL;
        if (i && (gr_ptx_instr_flags(i) & PTX_F_FENCE || gr_ptx_instr_has(i, PTX_MOD_acquire) ||
                  gr_ptx_instr_has(i, PTX_MOD_release) || gr_ptx_instr_has(i, PTX_MOD_acq_rel) ||
                  gr_ptx_instr_has(i, PTX_MOD_sc)))
            return true;
    }
    return false;
}

bool gr_has_result(const PtxSite *site, const Liveness *live, uint64_t *set) {
    const PtxInstr *i = site->stmt ? site->stmt->instr : NULL;
    return i && site->strong && !is_private(site->space) &&
           (i->op == PTX_OP_LD || (i->op == PTX_OP_ATOM && !gr_live_is_dead(live, site->stmt, set)));
}

// A value of 16 to 64 bits can be noted.
static bool can_note(const PtxOperand *o) {
    bool can = true;
    for (unsigned k = 0; k < o->n_sub && o->kind == PTX_O_VECTOR; k++)
        can = can && can_note(&o->sub[k]);
    return can && (o->kind != PTX_O_REG || (o->reg->vec <= 1 && gr_ptx_type_bits(o->reg->type) >= 16 &&
                                            gr_ptx_type_bits(o->reg->type) <= 64));
}

// `shared`: shared memory is private, too.
static GrUnsuited of_site(const PtxFunc *f, const PtxSite *site, const Liveness *live, uint64_t *set,
                          bool shared) {
    const PtxInstr *i = site->stmt->instr;
    bool alone = is_private(site->space) || (!shared && gr_is_shared_space(site->space));
    if (gr_expands(i))
        return GR_SUITS;
    if (site->async)
        return GR_UNSUITED_ASYNC;
    if (site->space == PTX_SHARED_CLUSTER)
        return GR_UNSUITED_CLUSTER;
    if (gr_has_result(site, live, set) && (orders(f) || !can_note(&i->operands[0])))
        return i->op == PTX_OP_ATOM ? GR_UNSUITED_RESULT : GR_UNSUITED_STRONG;
    if (i->op == PTX_OP_RED || i->op == PTX_OP_ATOM || alone)
        return GR_SUITS;
    if (i->op != PTX_OP_LD && i->op != PTX_OP_LDU && i->op != PTX_OP_ST)
        return GR_UNSUITED_OTHER_ACCESS;
    return site->strong && orders(f) ? GR_UNSUITED_STRONG : GR_SUITS;
}

static GrUnsuited of_instr(const PtxFunc *f, const PtxStmt *s, const Liveness *live, uint64_t *set,
                           bool shared) {
    const PtxInstr *i = s->instr;
    const PtxSite *site = site_of(f, s);
    for (unsigned k = 0; k < i->n_operands; k++)
        if (reads_clock(&i->operands[k]))
            return GR_UNSUITED_CLOCK;
    if (i->op == PTX_OP_CALL)
        return of_call(i);
    if (i->op == PTX_OP_GRIDDEPCONTROL)
        return GR_UNSUITED_DEPENDS;
    bool waits =
        i->op == PTX_OP_CP && gr_ptx_instr_flags(i) == PTX_F_NO_DST && !gr_ptx_instr_has(i, PTX_MOD_mbarrier);
    if (!waits && !gr_expands(i) &&
        (i->op == PTX_OP_MBARRIER || gr_ptx_instr_flags(i) & PTX_F_ASYNC || i->op == PTX_OP_CP))
        return GR_UNSUITED_ASYNC;
    if (i->op == PTX_OP_MAPA || gr_ptx_instr_has(i, PTX_MOD_cluster))
        return GR_UNSUITED_CLUSTER;
    if (is_barrier(i) && !gr_is_warp_barrier(i) && shared && !gr_is_full_barrier(i))
        return GR_UNSUITED_PARTIAL;
    if (site)
        return of_site(f, site, live, set, shared);
    bool plain = i->op == PTX_OP_LD || i->op == PTX_OP_ST; // of parameters: no site
    unsigned accesses = gr_ptx_instr_flags(i) & (PTX_F_READS | PTX_F_WRITES | PTX_F_ATOMIC);
    return i->op == PTX_OP_UNKNOWN || (accesses && !(plain && is_private(i->space)))
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

static GrSuits suits(const PtxFunc *f, const Liveness *live, uint64_t *set, bool warps) {
    unsigned depth = 0;
    for (const PtxStmt *s = f->first; s; s = s->next) {
        depth += s->kind == PTX_SCOPE_OPEN;
        depth -= s->kind == PTX_SCOPE_CLOSE;
        GrUnsuited why = GR_SUITS;
        if (s->kind == PTX_INSTR)
            why = of_instr(f, s, live, set, warps);
        else if (s->kind == PTX_DECL_VAR && s->var->space == PTX_LOCAL && depth && warps)
            why = GR_UNSUITED_NESTED_LOCAL;
        if (!why && warps && s->kind == PTX_INSTR && gr_is_full_barrier(s->instr))
            why = keeps_odd(f, live, s, set)    ? GR_UNSUITED_REGISTERS
                  : is_scoped_with_variables(s) ? GR_UNSUITED_NESTED_LOCAL
                                                : GR_SUITS;
        if (why)
            return (GrSuits){why, s};
    }
    return (GrSuits){GR_SUITS, NULL};
}

GrSuits gr_suits_blocks(const PtxFunc *f, const Liveness *live, uint64_t *set) {
    return suits(f, live, set, false);
}

GrSuits gr_suits_warps(const PtxFunc *f, const Liveness *live, uint64_t *set) {
    return suits(f, live, set, true);
}
