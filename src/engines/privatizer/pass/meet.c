// SPDX-License-Identifier: Apache-2.0
// meet — which accesses of a kernel two threads of a block may come to between the same barriers. All threads come to
// the same barriers in the same order if nothing that differs between them decides on the way from one to the next;
// then two accesses meet if both can be reached from one barrier, or the kernel's begin, with no barrier in between.
// Else all do.
#include "engines/privatizer/pass/places.h"
#include "engines/privatizer/pass/suits.h"

#include <string.h>

typedef struct Meet {
    const Cfg *g;
    bool *differs; // by PtxReg.index: its value may not be the same in all threads of a block
    bool *split;   // by block: some threads may come there without others
    uint32_t *todo;
    bool *seen; // by block
} Meet;

// ---- What differs between threads -----------------------------------------------------------------------------------

static bool differs(const Meet *m, const PtxOperand *o) {
    if (o->kind == PTX_O_REG)
        return m->differs[o->reg->index];
    if (o->kind == PTX_O_SREG)
        return strncmp(o->text, "%ctaid.", 7) && strncmp(o->text, "%nctaid.", 8) &&
               strncmp(o->text, "%ntid.", 6) && strncmp(o->text, "%envreg", 7);
    for (unsigned k = 0; k < o->n_sub; k++)
        if (differs(m, &o->sub[k]))
            return true;
    return o->kind == PTX_O_RAW;
}

static bool set(Meet *m, const PtxOperand *o) {
    bool changed = false;
    if (o->kind == PTX_O_REG) {
        changed = !m->differs[o->reg->index];
        m->differs[o->reg->index] = true;
    }
    for (unsigned k = 0; k < o->n_sub && o->kind != PTX_O_ADDRESS; k++)
        changed |= set(m, &o->sub[k]);
    return changed;
}

// Gives whether a register is known to differ that was not.
static bool look_at(Meet *m, const PtxInstr *i, bool split) {
    unsigned flags = gr_ptx_instr_flags(i);
    bool param = i->op == PTX_OP_LD && (i->space == PTX_PARAM || i->space == PTX_PARAM_ENTRY),
         other =
             split || (i->guard && m->differs[i->guard->index]) || i->op == PTX_OP_UNKNOWN ||
             i->op == PTX_OP_ACTIVEMASK ||
             (!param && flags & (PTX_F_READS | PTX_F_ATOMIC | PTX_F_CALL | PTX_F_COLLECTIVE | PTX_F_ASYNC));
    const PtxOperand *to = i->n_operands ? &i->operands[0] : NULL;
    if (i->op == PTX_OP_CALL)
        to = gr_ptx_call_parts(i).rets;
    else if (gr_is_full_barrier(i)) // what it reduces is the same for all
        return split && to && gr_ptx_instr_has(i, PTX_MOD_red) && set(m, to);
    else if (gr_ptx_op_flags(i->op) & PTX_F_NO_DST)
        return false;
    for (unsigned k = 1; k < i->n_operands && !other; k++)
        other = differs(m, &i->operands[k]);
    return other && to && set(m, to);
}

// Blocks between a branch that threads take differently and where they are together again.
static bool split(Meet *m, uint32_t from) {
    const CfgBlock *b = &m->g->blocks[from];
    uint32_t n = 0;
    bool changed = false;
    memset(m->seen, 0, m->g->n_blocks);
    for (uint32_t k = 0; k < b->n_succs; k++)
        m->todo[n++] = b->succs[k];
    while (n) {
        uint32_t at = m->todo[--n];
        if (at == b->ipdom || m->seen[at])
            continue;
        m->seen[at] = true;
        changed |= !m->split[at];
        m->split[at] = true;
        for (uint32_t k = 0; k < m->g->blocks[at].n_succs; k++)
            if (!m->seen[m->g->blocks[at].succs[k]])
                m->todo[n++] = m->g->blocks[at].succs[k];
    }
    return changed;
}

static const PtxStmt *behind(const CfgBlock *b) { return b->last ? b->last->next : NULL; }

static void find_differences(Meet *m) {
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t k = 0; k + 1 < m->g->n_blocks; k++) {
            const CfgBlock *b = &m->g->blocks[k];
            const PtxInstr *last = NULL;
            for (const PtxStmt *s = b->first; s && s != behind(b); s = s->next)
                if (s->kind == PTX_INSTR) {
                    changed |= look_at(m, s->instr, m->split[k]);
                    last = s->instr;
                }
            // A thread may end under a guard as well.
            bool parts = last && ((last->guard && m->differs[last->guard->index]) ||
                                  (last->op == PTX_OP_BRX && differs(m, &last->operands[0])));
            if (parts)
                changed |= split(m, k);
        }
    }
}

static bool all_come_together(const Meet *m) {
    for (uint32_t k = 0; k + 1 < m->g->n_blocks; k++)
        for (const PtxStmt *s = m->g->blocks[k].first; s && s != behind(&m->g->blocks[k]); s = s->next)
            if (m->split[k] && s->kind == PTX_INSTR && gr_is_full_barrier(s->instr))
                return false;
    return true;
}

// ---- What is reached ------------------------------------------------------------------------------------------------

// Sets bits of the sites of the block from `s` on; gives whether no barrier comes.
static bool pass(const CfgBlock *b, const PtxStmt *s, const uint32_t *place, uint64_t *reached) {
    for (; s && s != behind(b); s = s->next) {
        if (s->kind != PTX_INSTR)
            continue;
        if (gr_is_full_barrier(s->instr))
            return false;
        if (s->site && place[s->site])
            reached[(place[s->site] - 1) / 64] |= (uint64_t)1 << (place[s->site] - 1) % 64;
    }
    return true;
}

static void reach(Meet *m, uint32_t block, const PtxStmt *from, const uint32_t *place, uint64_t *reached) {
    uint32_t n = 0;
    const CfgBlock *b = &m->g->blocks[block];
    memset(m->seen, 0, m->g->n_blocks);
    if (pass(b, from, place, reached))
        for (uint32_t k = 0; k < b->n_succs; k++)
            m->todo[n++] = b->succs[k];
    while (n) {
        uint32_t at = m->todo[--n];
        const CfgBlock *to = &m->g->blocks[at];
        if (m->seen[at])
            continue;
        m->seen[at] = true;
        if (pass(to, to->first, place, reached))
            for (uint32_t k = 0; k < to->n_succs; k++)
                if (!m->seen[to->succs[k]])
                    m->todo[n++] = to->succs[k];
    }
}

static void join(GrPlaces *p, const uint64_t *reached) {
    for (uint32_t one = 0; one < p->n_places; one++)
        for (uint32_t k = 0; reached[one / 64] >> one % 64 & 1 && k < p->n_places; k++)
            if (reached[k / 64] >> k % 64 & 1) {
                uint64_t bit = (uint64_t)one * p->n_places + k;
                p->together[bit / 64] |= (uint64_t)1 << bit % 64;
            }
}

gr_status gr_places_find_meetings(const Cfg *g, PtxStmt *const *sites, Arena *arena, GrPlaces *p,
                                  gr_error *err) {
    size_t words = ((size_t)p->n_places * p->n_places + 63) / 64, n_edges = 1;
    for (uint32_t k = 0; k < g->n_blocks; k++)
        n_edges += g->blocks[k].n_succs;
    Meet m = {.g = g,
              .differs = GR_NEW_ARRAY(arena, bool, (size_t)g->func->n_regs + 1),
              .split = GR_NEW_ARRAY(arena, bool, g->n_blocks),
              .seen = GR_NEW_ARRAY(arena, bool, g->n_blocks),
              .todo = GR_NEW_ARRAY(
                  arena, uint32_t,
                  2 * n_edges)}; // a block's successors are put there when it is seen, and once to begin with
    uint32_t *place = GR_NEW_ARRAY(arena, uint32_t, (size_t)g->func->module->n_sites + 1);
    uint64_t *reached = GR_NEW_ARRAY(arena, uint64_t, p->n_places / 64 + 1);
    p->together = GR_NEW_ARRAY(arena, uint64_t, words + 1);
    GR_NEED(m.differs && m.split && m.seen && m.todo && place && reached && p->together, err);
    for (uint32_t k = 0; k < p->n_places; k++)
        place[sites[k]->site] = k + 1;
    find_differences(&m);
    if (!all_come_together(&m)) {
        memset(p->together, 0xff, words * sizeof *p->together);
        return GR_OK;
    }
    reach(&m, 0, g->blocks[0].first, place, reached);
    join(p, reached);
    for (uint32_t k = 0; k + 1 < g->n_blocks; k++)
        for (const PtxStmt *s = g->blocks[k].first; s && s != behind(&g->blocks[k]); s = s->next)
            if (s->kind == PTX_INSTR && gr_is_full_barrier(s->instr)) {
                memset(reached, 0, (p->n_places / 64 + 1) * sizeof *reached);
                reach(&m, k, s->next, place, reached);
                join(p, reached);
            }
    return GR_OK;
}
