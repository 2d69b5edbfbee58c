// SPDX-License-Identifier: Apache-2.0
#include "engines/verifier/host/flow.h"

typedef struct Walk {
    LLVMBasicBlockRef block;
    unsigned next; // successor to look at
} Walk;

// Blocks in postorder, into order[]; without recursion, for host code may have thousands of blocks.
static bool postorder(Flow *f, LLVMValueRef function, LLVMBasicBlockRef *order, uint32_t *n) {
    unsigned all = LLVMCountBasicBlocks(function);
    Walk *stack = GR_NEW_ARRAY(&f->arena, Walk, all + 1);
    Map seen = {0};
    size_t depth = 0;
    bool ok = stack != NULL;
    LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(function);
    if (ok && (ok = gr_map_put_u64(&seen, (uint64_t)(uintptr_t)entry, entry)))
        stack[depth++] = (Walk){entry, 0};
    while (ok && depth) {
        Walk *w = &stack[depth - 1];
        LLVMValueRef end = LLVMGetBasicBlockTerminator(w->block);
        if (!end || w->next >= LLVMGetNumSuccessors(end)) {
            order[(*n)++] = w->block;
            depth--;
            continue;
        }
        LLVMBasicBlockRef to = LLVMGetSuccessor(end, w->next++);
        if (gr_map_get_u64(&seen, (uint64_t)(uintptr_t)to))
            continue;
        if ((ok = gr_map_put_u64(&seen, (uint64_t)(uintptr_t)to, to)))
            stack[depth++] = (Walk){to, 0};
    }
    gr_map_free(&seen);
    return ok;
}

uint32_t gr_flow_number(const Flow *f, LLVMBasicBlockRef b) {
    uintptr_t v = (uintptr_t)gr_map_get_u64(&f->numbers, (uint64_t)(uintptr_t)b);
    return v ? (uint32_t)(v - 1) : FLOW_NONE;
}

static bool find_preds(Flow *f) {
    for (int fill = 0; fill < 2; fill++) {
        for (uint32_t k = 0; k < f->n; k++) {
            LLVMValueRef end = LLVMGetBasicBlockTerminator(f->blocks[k].block);
            unsigned n = end ? LLVMGetNumSuccessors(end) : 0;
            for (unsigned s = 0; s < n; s++) {
                FlowBlock *to = &f->blocks[gr_flow_number(f, LLVMGetSuccessor(end, s))];
                if (fill)
                    to->preds[to->n_preds] = k;
                to->n_preds++;
            }
        }
        for (uint32_t k = 0; !fill && k < f->n; k++) {
            if (!(f->blocks[k].preds = GR_NEW_ARRAY(&f->arena, uint32_t, f->blocks[k].n_preds + 1)))
                return false;
            f->blocks[k].n_preds = 0;
        }
    }
    return true;
}

static uint32_t meet(const Flow *f, uint32_t a, uint32_t b) {
    while (a != b) {
        while (a > b)
            a = f->blocks[a].idom;
        while (b > a)
            b = f->blocks[b].idom;
    }
    return a;
}

// Cooper, Harvey and Kennedy's iteration.
static void find_dominators(Flow *f) {
    for (uint32_t k = 1; k < f->n; k++)
        f->blocks[k].idom = FLOW_NONE;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t k = 1; k < f->n; k++) {
            FlowBlock *b = &f->blocks[k];
            uint32_t dom = FLOW_NONE;
            for (uint32_t p = 0; p < b->n_preds; p++) {
                uint32_t pred = b->preds[p];
                if (pred && f->blocks[pred].idom == FLOW_NONE)
                    continue;
                dom = dom == FLOW_NONE ? pred : meet(f, dom, pred);
            }
            changed |= dom != b->idom;
            b->idom = dom;
        }
    }
}

static bool add_loop(Flow *f, uint32_t latch, uint32_t header) {
    FlowBlock *h = &f->blocks[header];
    if (!h->loop && !(h->loop = GR_NEW_ARRAY(&f->arena, bool, f->n)))
        return false;
    uint32_t *work = GR_NEW_ARRAY(&f->arena, uint32_t, f->n + 1), n = 0;
    if (!work)
        return false;
    h->loop[header] = true;
    if (!h->loop[latch]) {
        h->loop[latch] = true;
        work[n++] = latch;
    }
    while (n) {
        FlowBlock *b = &f->blocks[work[--n]];
        for (uint32_t p = 0; p < b->n_preds; p++) {
            if (!h->loop[b->preds[p]]) {
                h->loop[b->preds[p]] = true;
                work[n++] = b->preds[p];
            }
        }
    }
    return true;
}

static bool find_loops(Flow *f) {
    for (uint32_t k = 0; k < f->n; k++) {
        f->blocks[k].outer = FLOW_NONE;
        for (uint32_t p = 0; p < f->blocks[k].n_preds; p++) {
            if (gr_flow_dominates(f, k, f->blocks[k].preds[p]) && !add_loop(f, f->blocks[k].preds[p], k))
                return false;
        }
    }
    for (uint32_t h = 0; h < f->n; h++) { // an inner header has the larger number, and comes later
        for (uint32_t k = 0; f->blocks[h].loop && k < f->n; k++) {
            if (f->blocks[h].loop[k])
                f->blocks[k].outer = h;
        }
    }
    return true;
}

bool gr_flow_init(Flow *f, LLVMValueRef function) {
    *f = (Flow){0};
    gr_arena_init(&f->arena);
    unsigned all = LLVMCountBasicBlocks(function);
    LLVMBasicBlockRef *order = GR_NEW_ARRAY(&f->arena, LLVMBasicBlockRef, all + 1);
    if (!order || !postorder(f, function, order, &f->n) ||
        !(f->blocks = GR_NEW_ARRAY(&f->arena, FlowBlock, f->n + 1)))
        return false;
    for (uint32_t k = 0; k < f->n; k++) {
        f->blocks[k].block = order[f->n - 1 - k];
        if (!gr_map_put_u64(&f->numbers, (uint64_t)(uintptr_t)f->blocks[k].block, (void *)(uintptr_t)(k + 1)))
            return false;
    }
    if (!find_preds(f))
        return false;
    find_dominators(f);
    return find_loops(f);
}

void gr_flow_free(Flow *f) {
    gr_map_free(&f->numbers);
    gr_arena_free(&f->arena);
}

bool gr_flow_dominates(const Flow *f, uint32_t a, uint32_t b) {
    while (b > a)
        b = f->blocks[b].idom;
    return a == b;
}

bool gr_flow_edge_dominates(const Flow *f, uint32_t from, uint32_t to, uint32_t b) {
    if (!gr_flow_dominates(f, to, b))
        return false;
    uint32_t entering = 0;
    for (uint32_t p = 0; p < f->blocks[to].n_preds; p++) {
        uint32_t pred = f->blocks[to].preds[p];
        if (!gr_flow_dominates(f, to, pred)) { // back edges come after the edge was taken
            if (pred != from)
                return false;
            entering++;
        }
    }
    return entering == 1;
}

bool gr_flow_is_back_edge(const Flow *f, uint32_t from, uint32_t to) {
    return gr_flow_dominates(f, to, from);
}
