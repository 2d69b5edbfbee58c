// SPDX-License-Identifier: Apache-2.0
// loops — natural loops of a flat kernel: a back edge goes to a block that dominates it.
#include "engines/verifier/kernel/flat.h"

#include <stdlib.h>

bool gr_flat_in_loop(const KFlat *f, const KLoop *l, uint32_t b) {
    for (const KLoop *k = f->loop_of[b]; k; k = k->parent)
        if (k == l)
            return true;
    return false;
}

static KLoop *loop_at(KFlat *f, GrKernelModel *out, uint32_t header) {
    KLoop *l = GR_NEW(f->arena, KLoop);
    GrLoop *g = GR_NEW(f->arena, GrLoop);
    if (!l || !g || !gr_vec_push(&f->loops, l) || !gr_vec_push(&out->loops, g))
        return NULL;
    l->header = header;
    l->loop = g;
    g->id = (uint32_t)out->loops.len - 1;
    for (const PtxStmt *s = f->cfg.blocks[header].first; s;
         s = s == f->cfg.blocks[header].last ? NULL : s->next) {
        const GrPlace *p = ((const KStmt *)s)->place;
        if (p && p->line) {
            g->line = p->line;
            break;
        }
    }
    char name[40];
    snprintf(name, sizeof name, "rounds%u", g->id);
    if (!(g->counter = gr_symbol(f->t, GR_SYM_COUNTER, GR_SYM_THREAD, 32, name)))
        return NULL;
    g->counter->low = 0; // fewer than 2^31 rounds are taken for granted, and a few more can be counted
    g->counter->high = INT32_MAX - 8;
    g->counter->owner = g;
    return l;
}

// The blocks that reach a latch without the header. Inner loops have been found before (headers come in reverse order).
static bool gather(KFlat *f, KLoop *l, uint32_t *stack) {
    uint32_t n = 0;
    for (size_t k = 0; k < l->latches.len; k++)
        stack[n++] = l->latches.data[k];
    while (n) {
        uint32_t b = stack[--n];
        KLoop *in = f->loop_of[b];
        while (in && in != l && in->parent && in->parent != l)
            in = in->parent;
        if (in == l || (in && in->parent == l))
            continue;
        if (in) { // an inner loop as a whole: go on before its header
            in->parent = l;
            in->loop->parent = l->loop;
            b = in->header;
        } else {
            f->loop_of[b] = l;
        }
        if (b == l->header)
            continue;
        const CfgBlock *blk = &f->cfg.blocks[b];
        for (uint32_t k = 0; k < blk->n_preds; k++)
            if (f->cfg.blocks[blk->preds[k]].rpo != UINT32_MAX &&
                !(in && gr_flat_in_loop(f, in, blk->preds[k])))
                stack[n++] = blk->preds[k];
    }
    f->loop_of[l->header] = l;
    return true;
}

gr_status gr_flat_loops(KFlat *f, GrKernelModel *out) {
    uint32_t edges = 1;
    for (uint32_t k = 0; k < f->cfg.n_blocks; k++)
        edges += f->cfg.blocks[k].n_preds;
    f->loop_of = GR_NEW_ARRAY(f->arena, KLoop *, f->cfg.n_blocks);
    uint32_t *stack = malloc((edges + 1) * 2 * sizeof *stack);
    if (!f->loop_of || !stack) {
        free(stack);
        return GR_ERR_NOMEM;
    }
    gr_status st = GR_OK;
    // Inner headers stand behind outer ones in reverse post-order.
    for (uint32_t k = f->cfg.n_order; k-- && st == GR_OK;) {
        uint32_t h = f->cfg.order[k];
        KLoop *l = NULL;
        for (uint32_t e = 0; e < f->cfg.blocks[h].n_preds && st == GR_OK; e++) {
            uint32_t p = f->cfg.blocks[h].preds[e];
            if (f->cfg.blocks[p].rpo == UINT32_MAX)
                continue;
            if (f->cfg.blocks[p].rpo < f->cfg.blocks[h].rpo)
                continue;
            if (!gr_flat_dominates(f, h, p)) {
                f->irreducible = "a loop with two entries";
                continue;
            }
            if (!l && !(l = loop_at(f, out, h)))
                st = GR_ERR_NOMEM;
            if (l && !gr_vec_push(&l->latches, p))
                st = GR_ERR_NOMEM;
        }
        if (l && st == GR_OK)
            gather(f, l, stack);
    }
    free(stack);
    for (size_t a = 0, b = f->loops.len; a + 1 < b; a++) { // outer ones first
        KLoop *swap = f->loops.data[a];
        f->loops.data[a] = f->loops.data[--b];
        f->loops.data[b] = swap;
    }
    for (size_t k = 0; k < f->loops.len; k++)
        f->loops.data[k]->depth = f->loops.data[k]->parent ? f->loops.data[k]->parent->depth + 1 : 0;
    return st;
}
