// SPDX-License-Identifier: Apache-2.0
#include "ptx/feeds.h"

#include "base/vec.h"
#include "ptx/cfg.h"

#include <stdlib.h>
#include <string.h>

typedef VEC(const PtxStmt *) Stmts;

typedef struct Flow {
    bool *has; // by register: holds something of the value
    uint32_t n;
    bool grew, nomem;
    bool numbers;         // what tests make of the value is not followed
    Stmts uses, branches; // it is stored, passed on or used as an address there; a branch there depends on it
} Flow;

static bool holds(const Flow *w, const PtxReg *r) { return r && r->index < w->n && w->has[r->index]; }

static void give(Flow *w, const PtxReg *r) {
    if (!r || r->index >= w->n || w->has[r->index] || (w->numbers && r->type == PTX_PRED))
        return;
    w->has[r->index] = true;
    w->grew = true;
}

// Registers of an operand that is written.
static void give_operand(Flow *w, const PtxOperand *o) {
    if (o->kind == PTX_O_REG)
        give(w, o->reg);
    for (unsigned k = 0; k < o->n_sub && o->kind != PTX_O_ADDRESS; k++)
        give_operand(w, &o->sub[k]);
}

static bool reads(const Flow *w, const PtxOperand *o) {
    if (o->kind == PTX_O_REG && holds(w, o->reg))
        return true;
    for (unsigned k = 0; k < o->n_sub; k++)
        if (reads(w, &o->sub[k]))
            return true;
    return false;
}

static bool is_pred(const PtxOperand *o) { return o->kind == PTX_O_REG && o->reg->type == PTX_PRED; }

// The statement passes something of the value on: what it writes holds that, too. *data: it does more than arithmetic.
// A vote over a test is a test.
static bool passes_on(const Flow *w, const PtxStmt *s, bool *data) {
    const PtxInstr *i = s->instr;
    unsigned flags = gr_ptx_op_flags(i->op);
    bool has_dst = !(flags & PTX_F_NO_DST), any = false, tests = true;
    for (unsigned k = 0; k < i->n_operands; k++) {
        if ((k == 0 && has_dst && i->operands[0].kind != PTX_O_ADDRESS) || !reads(w, &i->operands[k]))
            continue;
        any = true;
        tests &= is_pred(&i->operands[k]);
    }
    *data = any && ((flags & (PTX_F_READS | PTX_F_WRITES | PTX_F_ATOMIC | PTX_F_CALL | PTX_F_ASYNC)) ||
                    ((flags & PTX_F_COLLECTIVE) && !tests));
    return any;
}

static bool is_own(const PtxStmt *s) { return s->kind == PTX_INSTR && !s->tag.inserted; }

static void spread(Flow *w, const PtxFunc *f, const PtxStmt *load) {
    bool data;
    if (load->instr->n_operands)
        give_operand(w, &load->instr->operands[0]);
    for (w->grew = true; w->grew;) {
        w->grew = false;
        for (const PtxStmt *s = f->first; s; s = s->next)
            if (is_own(s) && s != load && passes_on(w, s, &data) && s->instr->n_operands &&
                !(gr_ptx_op_flags(s->instr->op) & PTX_F_NO_DST))
                give_operand(w, &s->instr->operands[0]);
    }
}

static void note(Flow *w, Stmts *list, const PtxStmt *s) {
    if (!gr_vec_push(list, s))
        w->nomem = true;
}

static void find_uses(Flow *w, const PtxFunc *f, const PtxStmt *load) {
    for (const PtxStmt *s = f->first; s; s = s->next) {
        if (!is_own(s) || s == load)
            continue;
        bool data, any = passes_on(w, s, &data);
        if (data)
            note(w, &w->uses, s);
        if ((gr_ptx_op_flags(s->instr->op) & PTX_F_BRANCH) && (holds(w, s->instr->guard) || any))
            note(w, &w->branches, s);
    }
}

// Begins at the load. False: out of memory.
static bool begin_flow(Flow *w, const PtxFunc *f, const PtxStmt *load, bool numbers) {
    *w = (Flow){.n = f->n_regs, .numbers = numbers, .has = calloc((size_t)f->n_regs + 1, sizeof *w->has)};
    if (!w->has)
        return false;
    spread(w, f, load);
    find_uses(w, f, load);
    return !w->nomem;
}

static bool begin(Flow *w, const PtxFunc *f, const PtxStmt *load) { return begin_flow(w, f, load, false); }

static void end(Flow *w) {
    free(w->has);
    gr_vec_free(&w->uses);
    gr_vec_free(&w->branches);
}

// ---- Loops ---------------------------------------------------------------------------------------------------------

typedef struct Loops {
    const PtxFunc *func;
    Arena arena;
    Cfg cfg;
    bool *in; // by block: in the loop, or met by the search, at hand
    uint32_t *todo;
} Loops;

static bool any_in(const Loops *l, const Stmts *list) {
    for (size_t k = 0; k < list->len; k++) {
        uint32_t b = gr_cfg_block_of(&l->cfg, list->data[k]);
        if (b != UINT32_MAX && l->in[b])
            return true;
    }
    return false;
}

// Some of these branches may leave the loop at hand.
static bool any_leaves(const Loops *l, const Stmts *branches) {
    for (size_t k = 0; k < branches->len; k++) {
        uint32_t b = gr_cfg_block_of(&l->cfg, branches->data[k]);
        for (uint32_t n = 0; b != UINT32_MAX && l->in[b] && n < l->cfg.blocks[b].n_succs; n++)
            if (!l->in[l->cfg.blocks[b].succs[n]])
                return true;
    }
    return false;
}

// Finds the loop that the edge from block `last` back to block `head` closes. Yields how many blocks are in it.
static uint32_t loop_of(Loops *l, uint32_t last, uint32_t head) {
    uint32_t n = 0, size = 0;
    memset(l->in, 0, l->cfg.n_blocks * sizeof *l->in);
    l->in[head] = true;
    if (!l->in[last]) {
        l->in[last] = true;
        l->todo[n++] = last;
    }
    while (n) {
        const CfgBlock *b = &l->cfg.blocks[l->todo[--n]];
        for (uint32_t k = 0; k < b->n_preds; k++)
            if (!l->in[b->preds[k]] && l->cfg.blocks[b->preds[k]].rpo != UINT32_MAX) {
                l->in[b->preds[k]] = true;
                l->todo[n++] = b->preds[k];
            }
    }
    for (uint32_t k = 0; k < l->cfg.n_blocks; k++)
        size += l->in[k];
    return size;
}

// Puts into l->in the smallest loop around the load in which a branch depends on its value, and its head into *head.
// `ends`: only a branch that may leave the loop counts. False: there is none.
static bool find_polling(Loops *l, const Flow *w, const PtxStmt *load, bool ends, uint32_t *head) {
    uint32_t at = gr_cfg_block_of(&l->cfg, load), least = UINT32_MAX, from = 0;
    for (uint32_t b = 0; b < l->cfg.n_blocks && at != UINT32_MAX; b++) {
        const CfgBlock *last = &l->cfg.blocks[b];
        for (uint32_t k = 0; k < last->n_succs && last->rpo != UINT32_MAX; k++) {
            uint32_t to = last->succs[k], size;
            if (l->cfg.blocks[to].rpo > last->rpo)
                continue;
            size = loop_of(l, b, to);
            if (size >= least || !l->in[at] || !(ends ? any_leaves : any_in)(l, &w->branches))
                continue;
            least = size;
            from = b;
            *head = to;
        }
    }
    if (least != UINT32_MAX)
        (void)loop_of(l, from, *head);
    return least != UINT32_MAX;
}

// ---- The first look in front of a loop -----------------------------------------------------------------------------

static bool same_address(const PtxOperand *a, const PtxOperand *b) {
    if (a->kind != PTX_O_ADDRESS || b->kind != PTX_O_ADDRESS || a->n_sub != 1 || b->n_sub != 1 ||
        a->offset != b->offset || a->sub[0].kind != b->sub[0].kind)
        return false;
    const PtxOperand *x = &a->sub[0], *y = &b->sub[0];
    return (x->kind == PTX_O_REG && x->reg == y->reg) ||
           (x->kind == PTX_O_VAR && x->var == y->var && x->offset == y->offset);
}

static bool is_twin(const PtxStmt *s, const PtxStmt *load) {
    const PtxInstr *a = s->instr, *b = load->instr;
    return is_own(s) && s != load && a->op == b->op && a->sem == b->sem && a->space == b->space &&
           a->n_operands > 1 && b->n_operands > 1 && same_address(&a->operands[1], &b->operands[1]);
}

// Whether control comes from the end of block `from` to block `to` without going through block `around`.
static bool comes_to(Loops *l, uint32_t from, uint32_t to, uint32_t around) {
    uint32_t n = 0;
    memset(l->in, 0, l->cfg.n_blocks * sizeof *l->in);
    l->todo[n++] = from;
    while (n) {
        const CfgBlock *b = &l->cfg.blocks[l->todo[--n]];
        for (uint32_t k = 0; k < b->n_succs; k++) {
            uint32_t next = b->succs[k];
            if (next == to)
                return true;
            if (next == around || l->in[next])
                continue;
            l->in[next] = true;
            l->todo[n++] = next;
        }
    }
    return false;
}

// The load is the first look at what a loop behind it polls, which compilers take out of `while`. So that loop has a
// load of the same place, both decide about branches, and the value is used neither on the way to the loop nor in it.
static bool is_first_look(Loops *l, const Flow *w, const PtxStmt *load, const PtxStmt *twin) {
    Flow of_twin;
    uint32_t head, at = gr_cfg_block_of(&l->cfg, load);
    bool is = begin(&of_twin, l->func, twin) && find_polling(l, &of_twin, twin, false, &head) && !l->in[at] &&
              !any_in(l, &w->uses) && w->branches.len && comes_to(l, at, head, at);
    end(&of_twin);
    for (size_t k = 0; is && k < w->uses.len; k++) {
        uint32_t use = gr_cfg_block_of(&l->cfg, w->uses.data[k]);
        is = use != UINT32_MAX && !comes_to(l, use, head, at);
    }
    return is;
}

static bool is_data(Loops *l, const Flow *w, const PtxStmt *load) {
    uint32_t head;
    for (const PtxStmt *s = l->func->first; s; s = s->next)
        if (is_own(s) && is_twin(s, load) && is_first_look(l, w, load, s))
            return false;
    return !find_polling(l, w, load, false, &head) || any_in(l, &w->uses);
}

bool gr_ptx_feeds_data(const PtxFunc *f, const PtxStmt *load) {
    if (load->kind != PTX_INSTR || !load->instr->n_operands)
        return false;
    Flow w;
    bool data = begin(&w, f, load) && w.uses.len;
    Loops l = {.func = f};
    if (data && gr_cfg_build(f, &l.arena, &l.cfg, NULL) == GR_OK) {
        l.in = calloc(l.cfg.n_blocks, sizeof *l.in);
        l.todo = calloc(l.cfg.n_blocks, sizeof *l.todo);
        data = l.in && l.todo && is_data(&l, &w, load);
    } else {
        data = false;
    }
    free(l.in);
    free(l.todo);
    gr_arena_free(&l.arena);
    end(&w);
    return data;
}

// ---- What it decides -----------------------------------------------------------------------------------------------

// The value itself is stored, passed on or used as an address, not only tested: it is a ticket of a work queue, and
// says of nobody that he is done.
static bool is_ticket(const PtxFunc *f, const PtxStmt *s) {
    Flow w;
    bool is = !begin_flow(&w, f, s, true);
    for (size_t k = 0; k < w.uses.len; k++)
        is |= w.uses.data[k]->instr->op != PTX_OP_ST || w.uses.data[k]->instr->space != PTX_PARAM;
    end(&w);
    return is;
}

static bool is_compared(const Flow *w, const PtxFunc *f) {
    for (const PtxStmt *s = f->first; s; s = s->next) {
        bool data;
        if (is_own(s) && s->instr->op == PTX_OP_SETP && passes_on(w, s, &data))
            return true;
    }
    for (size_t k = 0; k < w->uses.len; k++)
        if (w->uses.data[k]->instr->op == PTX_OP_ST && w->uses.data[k]->instr->space == PTX_PARAM)
            return true;
    return false;
}

PtxDecides gr_ptx_decides(const PtxFunc *f, const Cfg *g, const PtxStmt *s) {
    PtxDecides is = PTX_DECIDES_NOTHING;
    Flow w;
    Loops l = {.func = f, .cfg = *g};
    uint32_t head;
    if (s->kind == PTX_INSTR && s->instr->n_operands && begin(&w, f, s)) {
        is = is_compared(&w, f) && !is_ticket(f, s) ? PTX_DECIDES_ONCE : PTX_DECIDES_NOTHING;
        l.in = w.branches.len ? calloc(g->n_blocks, sizeof *l.in) : NULL;
        l.todo = l.in ? calloc(g->n_blocks, sizeof *l.todo) : NULL;
        if (l.todo && find_polling(&l, &w, s, true, &head) && !any_in(&l, &w.uses))
            is = PTX_DECIDES_LOOK;
    }
    if (s->kind == PTX_INSTR && s->instr->n_operands)
        end(&w);
    free(l.in);
    free(l.todo);
    return is;
}
