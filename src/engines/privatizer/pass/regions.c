// SPDX-License-Identifier: Apache-2.0
// regions — code for warps: what a thread does from barrier to barrier is a region, and the block runs each region
// twice (LDetector, section 4). Code for blocks of kernels with barriers of the grid: what a block does from one of
// these to the next is one, and all blocks run it twice (section 4.4); its own barriers stay what they are, and its
// shared memory is kept and put back.
//
// Where a region begins, the registers that are live there (kept.h) and the local memory are kept, so that it can be
// run again: from wherever threads came to its end, they go back by a table of all beginnings. What is live at its end
// is a result of the region as memory is (the paper's downward-exposed values): in pass 2 it is compared, and the
// thread goes on with pass 1's, as memory does. So it is with the hash of what the thread stored.
//
//     at a barrier k:    pass 1: at = k, what is live is noted; pass 2: compare what is live with that, and k with
//                        `at`; go to END
//     END:               wait for all threads of the block; in code for blocks, of all
//                        pass 1: leave if threads may have ordered what they did; merge, wait, pass = 2; go to R_start
//                        pass 2: check, wait, pass = 1; leave if all threads are at their end; start = at; go to C_at
//     C_k:               what was noted is kept; what is live becomes that
//     S_k:               (the barrier) ... ---> the next barrier, or the thread's end
//     R_k:               what is live, and the local memory, become what was kept; go to S_k
//
// A thread that has ended takes part in the ends of all regions that follow, with nothing to do in between. So does one
// at a barrier of the block while others are at barriers of their warps (gr_suits_lanes), or arrive or wait at
// mbarriers (mbarriers.h).
#include "base/vec.h"
#include "engines/privatizer/device/control.h"
#include "engines/privatizer/pass/kept.h"
#include "engines/privatizer/pass/locals.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

// WAIT: a thread starts nothing, for it is at a barrier of the block that others have not come to.
enum { AT_END = 0x7fffffff, AT_WAIT = GR_NO_BEGIN };

typedef struct Region {
    PtxStmt *barrier; // of the copy; NULL: the kernel's begin
    const PtxStmt *from;
    PtxLabel *begins, *starts, *restores; // C_k, S_k, R_k
} Region;

typedef struct Regions {
    const Code *c;
    VEC(Region) regions;
    PtxReg *all, *rest; // all threads have ended; what is left where a region ends
    PtxReg *at, *start, *second, *differs,
        *unlike; // second: it is pass 2; unlike: what is compared just now differs
    PtxLabel *end;
    Kept kept;
    PtxReg **too;        // that keep c->kept_too
    PtxReg *ends, *came; // how many regions the thread has ended; whether all threads came there
    // Of barriers that reduce; NULL: there are none. In pass 1: the thread's predicate, whether it is at such a
    // barrier; how many predicates hold, of how many.
    PtxReg *vote, *votes, *ayes, *all_votes, *ayes_kept, *all_kept;
    // With has_inner(): the thread is at a barrier of the block, or has ended; all threads are so.
    PtxReg *meets, *all_meet;
    // Of mbarriers: what the thread's last arrival gave; ends of regions that it has waited for.
    PtxReg *token, *token_kept, *waited;
    Locals locals;
} Regions;

static const char *mov_type(const PtxReg *r) {
    switch (gr_ptx_type_bits(r->type)) {
    case 1: return "pred";
    case 16: return "b16";
    case 64: return "b64";
    default: return "b32";
    }
}

// ---- Barriers that reduce -------------------------------------------------------------------------------------------

enum {
    MOST_WAITS = 4096
}; // ends of regions that a thread waits for: then it waits for ever, or for other blocks

static GrMeeting meeting_of(const Region *g) {
    return g->from ? gr_meeting_of(g->from->instr) : GR_MEETS_NOT;
}

static bool is_of_warp(const Region *g) { return g->from && gr_is_warp_barrier(g->from->instr); }

// Whether regions may end where threads of the block do not meet.
static bool has_inner(const Code *c) { return c->lanes || c->mbarriers; }

static bool reduces(const Region *g) { return gr_ptx_instr_has(g->from->instr, PTX_MOD_red); }

// What the thread says where it arrives, `g` NULL: its end.
static gr_status put_vote(const Regions *r, PtxStmt *at, const Region *g) {
    const Code *c = r->c;
    if (!r->vote)
        return GR_OK;
    if (!g || !reduces(g))
        return gr_code_put(c, at, NULL, 0, "setp.ne.u32 %s, 0, 0; setp.ne.u32 %s, 0, 0;", r->vote->name,
                           r->votes->name);
    PtxInstr *i = g->barrier->instr;
    PtxOperand own = i->operands[i->n_operands - 1];
    const char *op = own.negated ? "not" : "mov";
    own.negated = false;
    return gr_code_put(c, at, &own, 1, "%s.pred %s, $0; setp.eq.u32 %s, 0, 0;", op, r->vote->name,
                       r->votes->name);
}

// The END of the region has done what the barrier did. Its result, where the next one starts.
static gr_status put_result(const Regions *r, const Region *g) {
    const Code *c = r->c;
    PtxInstr *i = g->barrier->instr;
    gr_status st = GR_OK;
    if (reduces(g)) {
        const char *text = gr_ptx_instr_has(i, PTX_MOD_popc)  ? "mov.b32 $0, %s;"
                           : gr_ptx_instr_has(i, PTX_MOD_and) ? "setp.eq.u32 $0, %s, %s;"
                                                              : "setp.ne.u32 $0, %s, 0;";
        st = gr_code_put(c, g->barrier, &i->operands[0], 1, text, r->ayes_kept->name, r->all_kept->name);
    }
    g->barrier->kind = PTX_RAW;
    g->barrier->text = "";
    return st;
}

static gr_status put_reduction(const Regions *r) {
    return !r->vote ? GR_OK
                    : gr_code_put(r->c, NULL, NULL, 0,
                                  "barrier.red.popc.u32 %s, 0, %s; barrier.red.popc.u32 %s, 0, %s;",
                                  r->ayes->name, r->vote->name, r->all_votes->name, r->votes->name);
}

// ---- Beginnings -----------------------------------------------------------------------------------------------------

static bool ends_region(const Code *c, const PtxStmt *s) {
    GrMeeting meeting = gr_meeting_of(s->instr);
    return c->warps ? gr_is_full_barrier(s->instr) || (c->lanes && gr_is_warp_barrier(s->instr)) ||
                          meeting == GR_MEETS_ARRIVES || meeting == GR_MEETS_WAITS
                    : gr_grid_part(c->grid, s) == GR_GRID_ARRIVES;
}

static gr_status add(Regions *r, PtxStmt *barrier, const PtxStmt *from) {
    PtxFunc *f = r->c->f;
    Region g = {barrier, from, gr_ptx_new_label(f), gr_ptx_new_label(f), gr_ptx_new_label(f)};
    return gr_vec_push(&r->regions, g) ? GR_OK : gr_no_memory(r->c->err);
}

// Where a thread arrives, `k`: in pass 1 that is noted, in pass 2 it has to be the same place.
static gr_status put_place(const Regions *r, PtxStmt *at, size_t k) {
    const Code *c = r->c;
    const PtxReg *first = gr_ptx_new_reg(c->f, PTX_PRED);
    return gr_code_put(
        c, at, NULL, 0,
        "setp.eq.u32 %s, %s, 2; not.pred %s, %s; @%s mov.u32 %s, %zu; setp.ne.u32 %s, %s, %zu;",
        r->second->name, c->pass->name, first->name, r->second->name, first->name, r->at->name, k,
        r->unlike->name, r->at->name, k);
}

// Behind it: what is live at `from` is noted, or compared with that. Then the thread goes to the end of the region.
static gr_status put_result_of_thread(const Regions *r, PtxStmt *at, const PtxStmt *from) {
    const Code *c = r->c;
    PtxLabel *compares = gr_ptx_new_label(c->f);
    PtxOperand end = gr_ptx_label_operand(r->end), to_compares = gr_ptx_label_operand(compares);
    GR_CODE_OPS(c, at, &to_compares, 1, "@%s bra $0;", r->second->name);
    GR_MUST(gr_kept_note(c, &r->kept, at, from));
    if (from)
        GR_MUST(gr_locals_copy(c, &r->locals, at, GR_LOCALS_NOTED, GR_LOCALS_OWN));
    GR_CODE_OPS(c, at, &end, 1, "bra $0;");
    gr_ptx_insert_label(c->f, at, compares);
    GR_MUST(gr_kept_compare(c, &r->kept, at, from, r->unlike));
    return gr_code_put(c, at, &end, 1, "or.pred %s, %s, %s; bra $0;", r->differs->name, r->differs->name,
                       r->unlike->name);
}

// In front of a barrier.
static gr_status put_arrival(const Regions *r, size_t k) {
    const Region *g = &r->regions.data[k];
    GR_MUST(put_place(r, g->barrier, k));
    GR_MUST(put_vote(r, g->barrier, g));
    return put_result_of_thread(r, g->barrier, g->from);
}

// In front of a wait: whether it is over is asked where the region starts; at `waits` it was not.
static gr_status put_wait(const Regions *r, const Region *g, PtxLabel *waits) {
    const Code *c = r->c;
    PtxReg *many = gr_ptx_new_reg(c->f, PTX_PRED);
    PtxOperand to[2] = {gr_ptx_label_operand(g->starts), gr_ptx_label_operand(c->leaves)};
    GR_CODE_OPS(c, g->barrier, to, 2, "mov.u32 %s, 0; bra $0;", r->waited->name);
    gr_ptx_insert_label(c->f, g->barrier, waits);
    return gr_code_put(c, g->barrier, to, 2,
                       "add.u32 %s, %s, 1; setp.gt.u32 %s, %s, %d; @%s call __gr%s_waits; @%s bra $1;",
                       r->waited->name, r->waited->name, many->name, r->waited->name, MOST_WAITS, many->name,
                       c->suffix, many->name);
}

// What an arrival or a wait gives, where the region starts.
static gr_status put_meeting(const Regions *r, const Region *g, PtxLabel *waits) {
    const Code *c = r->c;
    PtxStmt *s = g->barrier;
    if (!waits) {
        GR_MUST(gr_code_token(c, s, r->token_kept));
    } else {
        PtxReg *over = gr_ptx_new_reg(c->f, PTX_PRED);
        PtxOperand ops[2] = {gr_ptx_label_operand(waits), s->instr->operands[0]};
        GR_MUST(gr_code_is_over(c, s, over));
        GR_CODE_OPS(c, s, ops, 2, "@!%s bra $0; setp.eq.u32 $1, 0, 0;", over->name);
    }
    s->kind = PTX_RAW;
    s->text = "";
    return GR_OK;
}

// Registers that may be used before they are set have some value, the same in both passes: what a GPU has there changes
// by all that is in between.
static gr_status put_unset(const Code *c, PtxStmt *at) {
    gr_status st = GR_OK;
    if (!c->body.n || !gr_live_before(c->live, c->body.from[0], c->set))
        return GR_OK;
    for (uint32_t k = 0; k < c->live->n_regs && st == GR_OK; k++) {
        PtxReg *own = c->body.regs[k] ? c->body.regs[k] : c->f->regs[k];
        PtxOperand op = gr_ptx_reg_operand(own);
        if (gr_live_has(c->live, c->set, c->f->regs[k]))
            st = own->type == PTX_PRED ? gr_code_put(c, at, &op, 1, "setp.ne.u32 $0, 0, 0;")
                                       : gr_code_put(c, at, &op, 1, "mov.%s $0, 0;", mov_type(own));
    }
    return st;
}

static gr_status put_begin(const Regions *r, size_t k) {
    const Code *c = r->c;
    const Region *g = &r->regions.data[k];
    PtxStmt *at = k ? g->barrier : c->body.n ? c->body.stmt[0] : NULL;
    GrMeeting meeting = meeting_of(g);
    PtxLabel *passes = is_of_warp(g) || meeting == GR_MEETS_ARRIVES ? gr_ptx_new_label(c->f) : NULL;
    PtxOperand to_passes = passes ? gr_ptx_label_operand(passes) : (PtxOperand){0};
    PtxLabel *waits = meeting == GR_MEETS_WAITS ? gr_ptx_new_label(c->f) : NULL;
    if (meeting == GR_MEETS_ARRIVES) {
        GR_MUST(gr_code_arrives(c, at, r->token));
        GR_CODE_OPS(c, at, &to_passes, 1, "@%s mov.u32 %s, %s; @%s bra $0;", c->lanewise->name,
                    r->token_kept->name, r->token->name, c->lanewise->name);
    } else if (passes) {
        GR_CODE_OPS(c, at, &to_passes, 1, "@!%s bra $0;", c->lanewise->name);
    } else if (waits) {
        GR_MUST(put_wait(r, g, waits));
    }
    if (k)
        GR_MUST(put_arrival(r, k));
    gr_ptx_insert_label(c->f, at, g->begins);
    if (meeting == GR_MEETS_ARRIVES)
        GR_CODE(c, at, "mov.u32 %s, %s;", r->token_kept->name, r->token->name);
    // In pass 2 it stays what it is at the end of pass 1: there a thread does not find in the union what it has written
    // itself.
    if (c->plain) {
        PtxReg *alone;
        GR_MUST(gr_code_alone(c, at, &alone));
        GR_CODE(c, at, "not.pred %s, %s; and.pred %s, %s, %s;", c->plain->name, c->asks->name, c->plain->name,
                c->plain->name, alone->name);
        if (c->copied)
            GR_CODE(c, at, "not.pred %s, %s;", c->copied->name, alone->name);
    }
    if (!k)
        GR_MUST(gr_kept_note(c, &r->kept, at, NULL));
    GR_MUST(gr_kept_turn(c, &r->kept, at));
    GR_MUST(gr_kept_fetch(c, &r->kept, at, g->from));
    for (unsigned i = 0; i < c->n_kept_too; i++)
        GR_CODE(c, at, "mov.%s %s, %s;", mov_type(r->too[i]), r->too[i]->name, c->kept_too[i]->name);
    if (k)
        GR_MUST(gr_locals_copy(c, &r->locals, at, GR_LOCALS_OWN, GR_LOCALS_NOTED));
    GR_MUST(gr_locals_copy(c, &r->locals, at, GR_LOCALS_KEPT, GR_LOCALS_OWN));
    if (k && reduces(g))
        GR_CODE(c, at, "mov.u32 %s, %s; mov.u32 %s, %s;", r->ayes_kept->name, r->ayes->name,
                r->all_kept->name, r->all_votes->name);
    gr_ptx_insert_label(c->f, at, g->starts);
    if (!k)
        GR_MUST(put_unset(c, at));
    if (c->clock)
        GR_CODE(c, at, "cvt.u64.u32 %s, %s; shl.b64 %s, %s, 32;", c->clock->name, c->sequence->name,
                c->clock->name, c->clock->name);
    if (passes)
        gr_ptx_insert_label(c->f, at, passes);
    if (meeting)
        GR_MUST(put_meeting(r, g, waits));
    else if (k && !passes) // else it is a barrier of the warp, too
        GR_MUST(put_result(r, g));
    return GR_OK;
}

// Threads end by going to the end of the region.
static gr_status put_exits(const Regions *r) {
    const Code *c = r->c;
    for (size_t k = 0; k < c->body.n; k++) {
        PtxStmt *s = c->body.stmt[k];
        if (s->kind != PTX_INSTR || !(gr_ptx_instr_flags(s->instr) & PTX_F_EXIT))
            continue;
        PtxOperand ops[2] = {gr_ptx_label_operand(c->leaves),
                             s->instr->guard ? gr_ptx_reg_operand(s->instr->guard) : (PtxOperand){0}};
        GR_CODE_OPS(c, s, ops, 2, "%sbra $0;",
                    !s->instr->guard          ? ""
                    : s->instr->guard_negated ? "@!$1 "
                                              : "@$1 ");
        // What stands here is not reached any more, or under another guard only.
        s->kind = PTX_RAW;
        s->text = "";
    }
    return GR_OK;
}

// ---- The end --------------------------------------------------------------------------------------------------------

static gr_status put_table(const Regions *r, const PtxReg *which, bool restores) {
    gr_status st = GR_OK;
    const Code *c = r->c;
    PtxReg *is = gr_ptx_new_reg(c->f, PTX_PRED);
    for (size_t k = 0; k < r->regions.len && st == GR_OK; k++) {
        PtxOperand to =
            gr_ptx_label_operand(restores ? r->regions.data[k].restores : r->regions.data[k].begins);
        st = gr_code_put(c, NULL, &to, 1, "setp.eq.u32 %s, %s, %zu; @%s bra $0;", is->name, which->name, k,
                         is->name);
    }
    return st;
}

static gr_status put_exchange(const Regions *r, const PtxReg *all, PtxLabel *leaves) {
    const Code *c = r->c;
    if (!gr_exchanges(c))
        return GR_OK;
    PtxReg *due = gr_ptx_new_reg(c->f, PTX_PRED);
    GR_CODE(c, NULL, "setp.ne.u32 %s, 0, 0;", due->name);
    for (size_t k = 1; k < r->regions.len; k++)
        if (gr_grid_part(c->grid, r->regions.data[k].from) == GR_GRID_ARRIVES)
            GR_CODE(c, NULL, "setp.eq.or.u32 %s, %s, %zu, %s;", due->name, r->at->name, k, due->name);
    if (has_inner(c))
        GR_CODE(c, NULL, "and.pred %s, %s, %s;", due->name, due->name, r->all_meet->name);
    return gr_code_exchange(c, due, all, leaves);
}

// Whether all threads of the block are at barriers of the block, or have ended.
static gr_status put_all_meet(const Regions *r) {
    const Code *c = r->c;
    if (!has_inner(c))
        return GR_OK;
    GR_CODE(c, NULL, "setp.eq.u32 %s, 0, 0;", r->all_meet->name);
    for (size_t k = 1; k < r->regions.len; k++)
        if (is_of_warp(&r->regions.data[k]) || meeting_of(&r->regions.data[k]))
            GR_CODE(c, NULL, "setp.ne.and.u32 %s, %s, %zu, %s;", r->all_meet->name, r->at->name, k,
                    r->all_meet->name);
    GR_CODE(c, NULL, "setp.lt.u32 %s, %s, %u; @%s call __gr%s_region, (%s);", r->meets->name, r->start->name,
            GR_NO_BEGIN, r->meets->name, c->suffix, r->start->name);
    return gr_code_put(c, NULL, NULL, 0, "mov.pred %s, %s; barrier.red.and.pred %s, 0, %s;", r->meets->name,
                       r->all_meet->name, r->all_meet->name, r->all_meet->name);
}

// Whether most regions need little where they end (__gr_merges()).
static bool ends_quickly(const Code *c) {
    return c->warps && c->near_unmade && !c->roles && !c->results && !c->updates && !c->grid->n &&
           !c->mbarriers;
}

// The registers that code behind the end of a region needs.
static gr_status find_aside(const Regions *r, const Code *c, GrAside *out) {
    PtxReg *ends = c->gathers || !c->warps ? r->ends : NULL;
    PtxReg *of_all[] = {c->slot,      c->unmade,    c->stores,    c->stage,       c->clock,       c->copy,
                        c->pass,      c->sequence,  c->left,      c->near_end,    c->near_unmade, r->at,
                        r->start,     ends,         r->rest,      r->ayes_kept,   r->all_kept,    r->ayes,
                        r->all_votes, c->asks,      c->plain,     c->copied,      c->lanewise,    r->all,
                        c->stored,    c->stored_at, c->window_at, c->window_size, c->window_off,  r->kept.at};
    const size_t n = sizeof of_all / sizeof *of_all;
    *out = (GrAside){GR_NEW_ARRAY(c->arena, PtxReg *, n), 0};
    GR_NEED(out->regs, c->err);
    for (size_t k = 0; k < n; k++)
        if (of_all[k])
            out->regs[out->n++] = of_all[k];
    return GR_OK;
}

// The step behind pass 1, or behind pass 2.
static gr_status put_step(const Regions *r, bool merges) {
    const Code *c = r->c;
    const GrAside *aside = &c->aside;
    const char *name = merges ? "merge" : "check";
    PtxReg *due = gr_ptx_new_reg(c->f, PTX_PRED), *bit = gr_ptx_new_reg(c->f, PTX_B32);
    if (!ends_quickly(c))
        return gr_code_put(c, NULL, NULL, 0, "call __gr%s_%s, (%s, %s, %d);", c->suffix, name, r->start->name,
                           c->sequence->name, GR_REST_ALL);
    GR_CODE(c, NULL, "call (%s), __gr%s_%s%ss, (%s);", r->rest->name, c->suffix, c->dense ? "dense_" : "",
            name, c->sequence->name);
    if (!merges) {
        GR_CODE(c, NULL, "and.b32 %s, %s, %d; setp.ne.u32 %s, %s, 0;", bit->name, r->rest->name, GR_REST_TELL,
                due->name, bit->name);
        GR_MUST(gr_code_aside(c, NULL, aside, due, "call __gr%s_tells, (%s, %s);", c->suffix, r->start->name,
                              c->sequence->name));
        GR_CODE(c, NULL, "and.b32 %s, %s, %d;", r->rest->name, r->rest->name, ~GR_REST_TELL);
    }
    GR_CODE(c, NULL,
            "setp.eq.u32 %s, %s, %d; @%s call (%s), __gr%s_plain_%s, (%s, %s); setp.ne.u32 %s, %s, 0;",
            due->name, r->rest->name, GR_REST_ROWS, due->name, r->rest->name, c->suffix, name, c->slot->name,
            c->sequence->name, due->name, r->rest->name);
    return gr_code_aside(c, NULL, aside, due, "call __gr%s_%s, (%s, %s, %s);", c->suffix, name,
                         r->start->name, c->sequence->name, r->rest->name);
}

static gr_status put_end(const Regions *r) {
    const Code *c = r->c;
    PtxReg *ends = gr_ptx_new_reg(c->f, PTX_PRED), *all = r->all;
    PtxLabel *checks = gr_ptx_new_label(c->f), *leaves = gr_ptx_new_label(c->f);
    PtxOperand to_end = gr_ptx_label_operand(r->end), to_checks = gr_ptx_label_operand(checks),
               to_leaves = gr_ptx_label_operand(leaves);
    GR_MUST(gr_code_lost(c));
    GR_MUST(put_place(r, NULL, AT_END));
    GR_MUST(put_vote(r, NULL, NULL));
    GR_MUST(put_result_of_thread(r, NULL, NULL));
    gr_ptx_insert_label(c->f, NULL, r->end);
    if (c->known)
        GR_CODE(c, NULL, "{ .reg .pred wild; setp.eq.u32 wild, %s, %d; @wild call __gr%s_wild; }",
                c->left->name, GR_LEFT_WILD, c->suffix);
    if (c->results) // each pass begins with the first one
        GR_CODE(c, NULL, "mov.b64 %s, %s;", c->note->name, c->notes->name);
    if (c->gathers || !c->warps)
        GR_CODE(c, NULL, "add.u32 %s, %s, 1; call (%s), __gr%s_gather, (%s); setp.eq.u32 %s, %s, 0; @%s ret;",
                r->ends->name, r->ends->name, r->came->name, c->suffix, r->ends->name, ends->name,
                r->came->name, ends->name);
    if (c->dense)
        GR_CODE(c, NULL,
                "{ .reg .b32 at; and.b32 at, %s, 1; mad.lo.u32 at, at, %d, %s; @%s st.shared.u8 "
                "[at+%d], 1; }",
                c->sequence->name, GR_NEAR_UNITS, c->stored_at->name, c->stored->name, GR_NEAR_STORED);
    GR_CODE(c, NULL, "setp.eq.u32 %s, %s, %d; barrier.red.and.pred %s, 0, %s; setp.eq.u32 %s, %s, 2;",
            ends->name, r->at->name, AT_END, all->name, ends->name, r->second->name, c->pass->name);
    GR_MUST(put_all_meet(r));
    GR_MUST(gr_code_goes_on(c, all));
    GR_CODE_OPS(c, NULL, &to_checks, 1, "@%s bra $0;", r->second->name);
    GR_MUST(put_reduction(r));
    PtxReg *once;
    GR_MUST(gr_code_once(c, NULL, &once));
    GR_CODE_OPS(c, NULL, &to_checks, 1, "@%s bra $0;", once->name);
    if (c->warps && (c->roles || c->results || c->updates || c->grid->n || c->mbarriers))
        GR_CODE_OPS(c, NULL, &to_leaves, 1, "call (%s), __gr%s_ends; setp.ne.u32 %s, %s, 0; @%s bra $0;",
                    r->came->name, c->suffix, ends->name, r->came->name, ends->name);
    GR_MUST(gr_code_shared(c, r->start, false));
    GR_MUST(gr_code_meets(c));
    GR_MUST(put_step(r, true));
    GR_MUST(gr_code_parts(c));
    GR_CODE(c, NULL, "mov.u32 %s, 2; mov.u64 %s, %u;", c->pass->name, c->unmade->name, (unsigned)GR_LINE);
    if (c->near_unmade && !c->dense)
        GR_CODE(c, NULL, "shl.b32 %s, %s, 1;", c->near_unmade->name, c->near_unmade->name);
    GR_MUST(put_table(r, r->start, true));
    GR_CODE_OPS(c, NULL, &to_end, 1, "bra $0;");
    gr_ptx_insert_label(c->f, NULL, checks);
    if (c->near_unmade && !c->dense)
        GR_MUST(gr_code_field(c, NULL, "u32", c->near_unmade, offsetof(GrPrivControl, near.size)));
    GR_MUST(gr_code_aside(c, NULL, &c->aside, r->differs, "call __gr%s_differs, (%s, %s, %s);", c->suffix,
                          r->start->name, c->copy->name, c->sequence->name));
    GR_CODE(c, NULL, "setp.ne.u32 %s, 0, 0;", r->differs->name);
    GR_MUST(gr_code_shared(c, r->start, true));
    GR_MUST(gr_code_meets(c));
    GR_MUST(put_step(r, false));
    GR_MUST(gr_code_parts(c));
    GR_MUST(put_exchange(r, all, leaves));
    GR_MUST(gr_code_all_end(c, all));
    GR_CODE_OPS(c, NULL, &to_leaves, 1,
                "mov.u32 %s, 1; mov.u64 %s, 0; add.u32 %s, %s, 1; @%s bra $0; mov.u32 %s, %s;", c->pass->name,
                c->unmade->name, c->sequence->name, c->sequence->name, all->name, r->start->name,
                r->at->name);
    if (c->dense)
        GR_CODE(c, NULL, "setp.ne.u32 %s, 0, 0;", c->stored->name);
    if (has_inner(c))
        GR_CODE(c, NULL, "not.pred %s, %s; and.pred %s, %s, %s; @%s mov.u32 %s, %u;", ends->name,
                r->all_meet->name, ends->name, ends->name, r->meets->name, ends->name, r->start->name,
                AT_WAIT);
    GR_MUST(put_table(r, r->start, false));
    GR_CODE_OPS(c, NULL, &to_end, 1, "bra $0;");
    for (size_t k = 0; k < r->regions.len; k++) {
        PtxOperand back = gr_ptx_label_operand(r->regions.data[k].starts);
        gr_ptx_insert_label(c->f, NULL, r->regions.data[k].restores);
        for (unsigned i = 0; i < c->n_kept_too; i++)
            GR_CODE(c, NULL, "mov.%s %s, %s;", mov_type(r->too[i]), c->kept_too[i]->name, r->too[i]->name);
        GR_MUST(gr_kept_fetch(c, &r->kept, NULL, r->regions.data[k].from));
        GR_MUST(gr_locals_copy(c, &r->locals, NULL, GR_LOCALS_OWN, GR_LOCALS_KEPT));
        GR_CODE_OPS(c, NULL, &back, 1, "bra $0;");
    }
    gr_ptx_insert_label(c->f, NULL, leaves);
    if (gr_exchanges(c))
        GR_CODE(c, NULL, "call __gr%s_quits;", c->suffix);
    GR_CODE(c, NULL, "call __gr%s_clear;", c->suffix);
    if (c->warps)
        GR_CODE(c, NULL, "barrier.sync 0; call __gr%s_leave;", c->suffix);
    return gr_code_put(c, NULL, NULL, 0, "ret;");
}

gr_status gr_code_regions(Code *c) {
    gr_status st = GR_OK;
    Regions r = {.c = c,
                 .at = gr_ptx_new_reg(c->f, PTX_B32),
                 .start = gr_ptx_new_reg(c->f, PTX_B32),
                 .end = gr_ptx_new_label(c->f),
                 .second = gr_ptx_new_reg(c->f, PTX_PRED),
                 .ends = gr_ptx_new_reg(c->f, PTX_B32),
                 .came = gr_ptx_new_reg(c->f, PTX_B32),
                 .differs = gr_ptx_new_reg(c->f, PTX_PRED),
                 .unlike = gr_ptx_new_reg(c->f, PTX_PRED),
                 .all = gr_ptx_new_reg(c->f, PTX_PRED),
                 .rest = gr_ptx_new_reg(c->f, PTX_B32),
                 .meets = gr_ptx_new_reg(c->f, PTX_PRED),
                 .all_meet = gr_ptx_new_reg(c->f, PTX_PRED),
                 .token = gr_ptx_new_reg(c->f, PTX_B32),
                 .token_kept = gr_ptx_new_reg(c->f, PTX_B32),
                 .waited = gr_ptx_new_reg(c->f, PTX_B32)};
    r.too = GR_NEW_ARRAY(c->arena, PtxReg *, (size_t)c->n_kept_too + 1);
    for (unsigned k = 0; r.too && k < c->n_kept_too; k++)
        r.too[k] = gr_ptx_new_reg(c->f, c->kept_too[k]->type);
    GR_TRY(r.too ? GR_OK : gr_no_memory(c->err));
    GR_TRY(gr_locals_find(c, &r.locals));
    GR_TRY(add(&r, NULL, NULL));
    for (size_t k = 0; k < c->body.n; k++)
        if (c->body.stmt[k]->kind == PTX_INSTR && ends_region(c, c->body.from[k]))
            GR_TRY(add(&r, c->body.stmt[k], c->body.from[k]));
    const PtxStmt **from = GR_NEW_ARRAY(c->arena, const PtxStmt *, r.regions.len);
    GR_TRY(from ? GR_OK : gr_no_memory(c->err));
    for (size_t k = 0; k < r.regions.len; k++)
        from[k] = r.regions.data[k].from;
    GR_TRY(gr_kept_find(c, from, r.regions.len, &r.kept));
    for (size_t k = 1; k < r.regions.len && !r.vote; k++) {
        PtxReg **regs[] = {&r.ayes, &r.all_votes, &r.ayes_kept, &r.all_kept};
        if (!reduces(&r.regions.data[k]))
            continue;
        r.vote = gr_ptx_new_reg(c->f, PTX_PRED);
        r.votes = gr_ptx_new_reg(c->f, PTX_PRED);
        for (size_t i = 0; i < sizeof regs / sizeof *regs; i++)
            *regs[i] = gr_ptx_new_reg(c->f, PTX_B32);
    }
    GR_TRY(gr_code_put(c, c->body.n ? c->body.stmt[0] : NULL, NULL, 0,
                       "mov.u32 %s, 0; mov.u32 %s, 0; setp.ne.u32 %s, 0, 0; mov.u32 %s, 0;", r.start->name,
                       r.at->name, r.differs->name, r.ends->name));
    GR_TRY(gr_code_aside_begins(c));
    GR_TRY(gr_code_keep_shared(c));
    for (size_t k = 0; k < r.regions.len; k++)
        GR_TRY(put_begin(&r, k));
    GR_TRY(put_exits(&r));
    GR_TRY(find_aside(&r, c, &c->aside));
    GR_TRY(put_end(&r));
done:
    gr_vec_free(&r.regions);
    gr_vec_free(&r.locals.vars);
    return st;
}
