// SPDX-License-Identifier: Apache-2.0
// slots — lets registers that are never needed at the same time share a place in the frame. PTX has a register for
// every value, a warp's frame holds each 32-fold, and many warps take turns: so smaller frames stay in the cache.
//
// Liveness is computed per thread, on the graph of blocks, for registers that have slots (a use of an alias is a use of
// what it stands for). A register occupies its slot from the first to the last statement, in the order of the text, at
// which it is live. Both ends count, so that no instruction has its destination where another register's source is.
// Lanes do not disturb each other: handlers leave alone the lanes that are elsewhere.
#include "vm/core/decode.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_BITS = 1 << 28 }; // of all sets of registers: larger functions go without

typedef struct Range {
    uint32_t reg, from, to;
} Range;

typedef struct Alloc {
    Decoder *d;
    uint32_t *dense; // by register index: number among those that take part, from 1; 0: takes no part
    Range *range;    // by that number
    uint32_t n;      // numbers given, 0 included
    size_t words;    // of a set
    uint64_t *use, *def, *in;
} Alloc;

static bool takes_part(const Decoder *d, const PtxReg *r) {
    return r->vec <= 1 && !r->is_param && r->type != PTX_PRED && !d->alias[r->index].source;
}

static uint32_t number_of(const Alloc *a, const PtxReg *r) {
    const VmAliasInfo *alias = a->d->alias;
    while (alias[r->index].source && !alias[r->index].param) {
        const PtxOperand *s = alias[r->index].source;
        if (s->kind != PTX_O_REG)
            return 0;
        r = s->reg;
    }
    return a->dense[r->index];
}

static void touch(Alloc *a, uint32_t n, uint32_t at) {
    Range *r = &a->range[n];
    if (at < r->from)
        r->from = at;
    if (at > r->to)
        r->to = at;
}

static bool test(const uint64_t *set, uint32_t n) { return set[n / 64] >> (n % 64) & 1; }
static void add(uint64_t *set, uint32_t n) { set[n / 64] |= UINT64_C(1) << (n % 64); }

// Notes an operand in a block's sets: what is read before it is written, and what is certainly written.
static void note(Alloc *a, uint64_t *use, uint64_t *def, const PtxOperand *o, bool written, uint32_t at) {
    if (o->kind == PTX_O_REG && o->reg) {
        uint32_t n = number_of(a, o->reg);
        if (n) {
            touch(a, n, at);
            if (written && !o->elem)
                add(def, n);
            else if (!test(def, n))
                add(use, n);
        }
    }
    for (unsigned k = 0; k < o->n_sub; k++)
        note(a, use, def, &o->sub[k], written && o->kind != PTX_O_ADDRESS, at);
}

static void note_instr(Alloc *a, uint64_t *use, uint64_t *def, const PtxInstr *i, uint32_t at) {
    bool writes = !i->guard && i->op != PTX_OP_UNKNOWN &&
                  !(gr_ptx_op_flags(i->op) & (PTX_F_NO_DST | PTX_F_CALL)) && i->op != PTX_OP_BAR &&
                  i->op != PTX_OP_BARRIER;
    for (unsigned k = i->n_operands; k-- > 0;) // sources first
        note(a, use, def, &i->operands[k], writes && k == 0, at);
}

static void solve(const Alloc *a) {
    const Cfg *g = &a->d->cfg;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t b = g->n_blocks; b-- > 0;) {
            const CfgBlock *k = &g->blocks[b];
            uint64_t *in = a->in + b * a->words;
            for (size_t x = 0; x < a->words; x++) {
                uint64_t out = 0;
                for (uint32_t s = 0; s < k->n_succs; s++)
                    out |= a->in[k->succs[s] * a->words + x];
                uint64_t v = a->use[b * a->words + x] | (out & ~a->def[b * a->words + x]) | in[x];
                changed |= v != in[x];
                in[x] = v;
            }
        }
    }
}

static void touch_set(Alloc *a, const uint64_t *set, uint32_t at) {
    for (size_t x = 0; x < a->words; x++)
        for (uint64_t m = set[x]; m; m &= m - 1)
            touch(a, (uint32_t)(x * 64) + (uint32_t)__builtin_ctzll(m), at);
}

static int by_start(const void *x, const void *y) {
    const Range *a = x, *b = y;
    return a->from != b->from ? (a->from < b->from ? -1 : 1) : a->reg < b->reg ? -1 : a->reg > b->reg;
}

// Gives each register, in order of their starts, a free slot of its width, or a new one.
static void assign(Alloc *a) {
    Decoder *d = a->d;
    VEC(Range) busy[4] = {{0}}; // by width; reg is the slot here
    qsort(a->range + 1, a->n - 1, sizeof(Range), by_start);
    for (uint32_t k = 1; k < a->n && !d->oom; k++) {
        const Range *r = &a->range[k];
        if (r->from > r->to)
            continue;
        uint32_t width = gr_vm_lane_bytes(d->f->ptx->regs[r->reg]->type);
        unsigned c = (unsigned)__builtin_ctz(width) - 1;
        size_t s = 0;
        while (s < busy[c].len && busy[c].data[s].to >= r->from)
            s++;
        if (s == busy[c].len) {
            Range fresh = {.reg = gr_vm_new_slot(d, width)};
            if (!gr_vec_push(&busy[c], fresh)) {
                d->oom = true;
                break;
            }
        }
        busy[c].data[s].to = r->to;
        d->slots[r->reg] = busy[c].data[s].reg;
    }
    for (unsigned c = 0; c < 4; c++)
        gr_vec_free(&busy[c]);
}

bool gr_vm_share_slots(Decoder *d) {
    const PtxFunc *f = d->f->ptx;
    const Cfg *g = &d->cfg;
    if (f->reg_params)
        return true;
    Alloc a = {.d = d, .n = 1};
    bool ok = false;
    a.dense = calloc(f->n_regs + 1u, sizeof *a.dense);
    a.range = calloc(f->n_regs + 1u, sizeof *a.range);
    if (!a.dense || !a.range)
        goto done;
    for (uint32_t k = 0; k < f->n_regs; k++)
        if (takes_part(d, f->regs[k])) {
            a.range[a.n] = (Range){.reg = f->regs[k]->index, .from = UINT32_MAX};
            a.dense[f->regs[k]->index] = a.n++;
        }
    a.words = (a.n + 63) / 64;
    ok = true;
    if (a.n == 1 || a.words * 64 * g->n_blocks > MAX_BITS)
        goto done;
    a.use = calloc(3 * a.words * g->n_blocks, sizeof *a.use);
    ok = a.use != NULL;
    if (!ok)
        goto done;
    a.def = a.use + a.words * g->n_blocks;
    a.in = a.def + a.words * g->n_blocks;
    uint32_t at = 0;
    for (uint32_t b = 0; b + 1 < g->n_blocks; b++)
        for (const PtxStmt *s = g->blocks[b].first; s; s = s == g->blocks[b].last ? NULL : s->next, at++)
            if (s->kind == PTX_INSTR)
                note_instr(&a, a.use + b * a.words, a.def + b * a.words, s->instr, at);
    solve(&a);
    at = 0;
    for (uint32_t b = 0; b + 1 < g->n_blocks; b++) {
        touch_set(&a, a.in + b * a.words, at);
        for (const PtxStmt *s = g->blocks[b].first; s; s = s == g->blocks[b].last ? NULL : s->next)
            at++;
        for (uint32_t s = 0; s < g->blocks[b].n_succs; s++)
            touch_set(&a, a.in + g->blocks[b].succs[s] * a.words, at ? at - 1 : 0);
    }
    assign(&a);
done:
    free(a.dense);
    free(a.range);
    free(a.use);
    return ok;
}
