// SPDX-License-Identifier: Apache-2.0
// facts — what must hold when control is at a launch: conditions of branches, bounds of loops, sizes of allocations.
#include "engines/verifier/host/find.h"

#include <stdlib.h>
#include <string.h>

enum { REGION = 24 }; // blocks: what lies between a branch and where its ways meet again

typedef struct Found {
    Eval *e;
    GrHostLaunch *l;
    uint32_t at; // the launch's block
    VEC(GrFact) facts;
} Found;

static void add(Found *f, GrFactClass class, LLVMValueRef where, const GrTerm *term, const char *text) {
    if (!term || term->op == GR_TERM_CONST || !(f->e->classes & 1u << class))
        return;
    IrPlace place = gr_ir_place(f->e->ir, where);
    GrFact fact = {term, class, place.file, place.line, text};
    for (size_t k = 0; k < f->facts.len; k++) {
        if (f->facts.data[k].term == term)
            return;
    }
    f->e->oom |= !gr_vec_push(&f->facts, fact);
}

// ---- Branches -------------------------------------------------------------------------------------------------------

// "assert(n > 0)" where the other side of the branch fails so.
static const char *asserted(Eval *e, uint32_t from, uint32_t to) {
    LLVMValueRef end = LLVMGetBasicBlockTerminator(e->flow.blocks[from].block);
    for (unsigned s = 0; s < LLVMGetNumSuccessors(end); s++) {
        LLVMBasicBlockRef other = LLVMGetSuccessor(end, s);
        for (LLVMValueRef i = LLVMGetFirstInstruction(other); i && other != e->flow.blocks[to].block;
             i = LLVMGetNextInstruction(i)) {
            LLVMValueRef text = strcmp(gr_ir_callee_name(i), "__assert_fail")
                                    ? NULL
                                    : LLVMIsAGlobalVariable(LLVMGetOperand(i, 0));
            text = text ? LLVMGetInitializer(text) : NULL;
            size_t len;
            if (text && LLVMIsAConstantDataArray(text) && LLVMIsConstantString(text))
                return gr_arena_printf(&e->out->arena, "assert(%s)", LLVMGetAsString(text, &len));
        }
    }
    return NULL;
}

// Whether the branch decides if a loop goes on.
static bool is_loop_test(const Eval *e, uint32_t from) {
    const bool *in = e->flow.blocks[from].loop;
    LLVMValueRef end = LLVMGetBasicBlockTerminator(e->flow.blocks[from].block);
    for (unsigned s = 0; in && s < LLVMGetNumSuccessors(end); s++) {
        uint32_t to = gr_flow_number(&e->flow, LLVMGetSuccessor(end, s));
        if (to == FLOW_NONE || !in[to])
            return true;
    }
    return false;
}

static void add_branch(Found *f, uint32_t from, uint32_t to) {
    Eval *e = f->e;
    const GrTerm *c;
    if (!gr_eval_condition(e, from, to, &c))
        return;
    bool loop = is_loop_test(e, from);
    const char *text = asserted(e, from, to);
    LLVMValueRef end = LLVMGetBasicBlockTerminator(e->flow.blocks[from].block);
    if (!text)
        text = loop ? "the loop's condition" : "a branch on the way";
    add(f, loop ? GR_FACT_LOOP : GR_FACT_BRANCH, end, c, text);
}

// The blocks on ways from `dom` to `block`, without both; 0: too many, or all ways from `dom` lead to `block`.
static uint32_t region(const Eval *e, uint32_t dom, uint32_t block, uint32_t *in) {
    uint32_t n = 0;
    for (uint32_t next = 0; next <= n; next++) {
        const FlowBlock *b = &e->flow.blocks[next ? in[next - 1] : block];
        for (uint32_t p = 0; p < b->n_preds; p++) {
            uint32_t pred = b->preds[p];
            bool known =
                pred == dom || pred == block || (!next && gr_flow_is_back_edge(&e->flow, pred, block));
            for (uint32_t k = 0; k < n && !known; k++)
                known = in[k] == pred;
            if (known)
                continue;
            if (n == REGION)
                return 0;
            in[n++] = pred;
        }
    }
    bool leaves = false;
    for (uint32_t k = 0; k <= n; k++) {
        LLVMValueRef end = LLVMGetBasicBlockTerminator(e->flow.blocks[k ? in[k - 1] : dom].block);
        for (unsigned s = 0; !LLVMIsAInvokeInst(end) && // what throws says nothing
                             s < LLVMGetNumSuccessors(end);
             s++) {
            uint32_t to = gr_flow_number(&e->flow, LLVMGetSuccessor(end, s));
            bool inside = to == block;
            for (uint32_t i = 0; i < n && !inside; i++)
                inside = in[i] == to;
            leaves |= !inside;
        }
    }
    return leaves ? n : 0;
}

// What must hold on the way from the end of `dom` to `block`; NULL: nothing known. Sound even if values of blocks that
// were not passed are old ones: their conditions stand beside those of the way.
static const GrTerm *way(Eval *e, uint32_t dom, uint32_t block, int depth) {
    const GrTerm *any = NULL;
    const FlowBlock *b = &e->flow.blocks[block];
    for (uint32_t p = 0; p < b->n_preds; p++) {
        uint32_t pred = b->preds[p];
        const GrTerm *edge, *before = NULL;
        if (gr_flow_is_back_edge(&e->flow, pred, block))
            continue;
        if (pred > block || depth > REGION)
            return NULL;
        if (e->flow.blocks[pred].loop) // its condition was looked at several times
            return NULL;
        gr_eval_condition(e, pred, block, &edge);
        if (pred != dom)
            before = way(e, dom, pred, depth + 1);
        const GrTerm *both = !edge ? before : !before ? edge : gr_eval_op(e, GR_TERM_AND, before, edge);
        if (!both)
            return NULL;
        any = any ? gr_eval_op(e, GR_TERM_OR, any, both) : both;
    }
    return any;
}

static void add_region(Found *f, uint32_t dom, uint32_t block) {
    Eval *e = f->e;
    uint32_t in[REGION];
    const GrTerm *c = region(e, dom, block, in) ? way(e, dom, block, 0) : NULL;
    bool always = c && c->op == GR_TERM_OR &&
                  ((c->arg[0]->op == GR_TERM_NOT && c->arg[0]->arg[0] == c->arg[1]) ||
                   (c->arg[1]->op == GR_TERM_NOT && c->arg[1]->arg[0] == c->arg[0]));
    if (!always)
        add(f, GR_FACT_BRANCH, LLVMGetBasicBlockTerminator(e->flow.blocks[dom].block), c,
            "branches on the way");
}

static void add_branches(Found *f) {
    Eval *e = f->e;
    for (uint32_t b = f->at; b; b = e->flow.blocks[b].idom) {
        uint32_t dom = e->flow.blocks[b].idom;
        LLVMValueRef end = LLVMGetBasicBlockTerminator(e->flow.blocks[dom].block);
        bool taken = false;
        for (unsigned s = 0; s < LLVMGetNumSuccessors(end); s++) {
            uint32_t to = gr_flow_number(&e->flow, LLVMGetSuccessor(end, s));
            if (to == FLOW_NONE || taken || !gr_flow_edge_dominates(&e->flow, dom, to, f->at))
                continue;
            add_branch(f, dom, to);
            taken = true;
        }
        if (!taken)
            add_region(f, dom, b);
    }
}

// ---- Allocations ----------------------------------------------------------------------------------------------------

// Every factor of a size is positive (HGRD, section 4, class 5).
static void add_factors(Found *f, LLVMValueRef call, const GrTerm *a, int depth) {
    while (a && (a->op == GR_TERM_SEXT || a->op == GR_TERM_ZEXT))
        a = a->arg[0];
    if (!a || a->op == GR_TERM_CONST || depth > 16)
        return;
    if (a->op == GR_TERM_MUL) {
        add_factors(f, call, a->arg[0], depth + 1);
        add_factors(f, call, a->arg[1], depth + 1);
        return;
    }
    add(f, GR_FACT_ALLOCATION, call, gr_eval_op(f->e, GR_TERM_SLT, gr_eval_const(f->e, a->bits, 0), a),
        "it sizes an allocation");
}

static void add_size(Found *f, LLVMValueRef call, const GrTerm *size) {
    if (!size)
        return;
    add_factors(f, call, size, 0);
    add(f, GR_FACT_ALLOCATION, call, gr_eval_op(f->e, GR_TERM_SLT, gr_eval_const(f->e, 64, 0), size),
        "the size of an allocation");
}

static void add_pitch(Found *f, LLVMValueRef call) {
    Eval *e = f->e;
    Pointer p = gr_eval_pointer(e, LLVMGetOperand(call, 1));
    LLVMValueRef next = LLVMIsAInvokeInst(call) ? LLVMGetFirstInstruction(LLVMGetNormalDest(call))
                                                : LLVMGetNextInstruction(call);
    const GrTerm *pitch = next && p.offset ? gr_eval_load(e, &p, 64, next, call) : NULL;
    const GrTerm *width = gr_eval(e, LLVMGetOperand(call, 2));
    add_size(f, call, width);
    add_size(f, call, gr_eval(e, LLVMGetOperand(call, 3)));
    add(f, GR_FACT_ALLOCATION, call, gr_eval_op(e, GR_TERM_SLE, width, pitch),
        "a pitch is not less than the width");
    if (!pitch)
        return;
    add(f, GR_FACT_ALLOCATION, call, gr_eval_op(e, GR_TERM_SLT, gr_eval_const(e, 64, 0), pitch),
        "a pitch is positive");
    // The device's memPitch is that on every device.
    add(f, GR_FACT_ALLOCATION, call, gr_eval_op(e, GR_TERM_SLE, pitch, gr_eval_const(e, 64, INT32_MAX)),
        "a pitch is not more than a copy can have");
}

static void add_allocation(Found *f, LLVMValueRef call) {
    Eval *e = f->e;
    unsigned slot;
    const char *name = gr_ir_callee_name(call);
    if (!strcmp(name, "cudaMallocPitch")) {
        add_pitch(f, call);
    } else if (gr_eval_allocates(call, &slot)) {
        const GrAllocation *a = gr_eval_allocation(e, call);
        add_size(f, call, a ? a->size : NULL);
    } else if (!strcmp(name, "malloc") || !strcmp(name, "_Znwm") || !strcmp(name, "_Znam")) {
        // The size may be 0, but not so large that it is negative.
        const GrTerm *size = gr_eval(e, LLVMGetOperand(call, 0));
        add(f, GR_FACT_ALLOCATION, call,
            size ? gr_eval_op(e, GR_TERM_SLE, gr_eval_const(e, 64, 0), size) : NULL,
            "the size of an allocation of the host");
    }
}

static void add_allocations(Found *f, LLVMValueRef launch) {
    Eval *e = f->e;
    LLVMValueRef i = LLVMGetPreviousInstruction(launch);
    for (uint32_t b = f->at;;
         b = e->flow.blocks[b].idom, i = LLVMGetLastInstruction(e->flow.blocks[b].block)) {
        for (; i; i = LLVMGetPreviousInstruction(i)) {
            if (gr_ir_is_call(i))
                add_allocation(f, i);
        }
        if (!b)
            return;
    }
}

// ---- What matters ---------------------------------------------------------------------------------------------------

typedef struct Reach {
    Map *symbols;
    bool hit, oom;
} Reach;

static void mark(void *user, const GrSymbol *s) {
    Reach *r = user;
    r->oom |= !gr_ir_put(r->symbols, s, (void *)(uintptr_t)s);
}

static void look(void *user, const GrSymbol *s) {
    Reach *r = user;
    r->hit |= gr_ir_get(r->symbols, s) != NULL;
}

static void see(Eval *e, Map *symbols, const GrTerm *a) {
    Reach r = {symbols, false, false};
    if (a)
        e->oom |= !gr_term_symbols(a, mark, &r) || r.oom;
}

static bool touches(Eval *e, Map *symbols, const GrTerm *a) {
    Reach r = {symbols, false, false};
    e->oom |= !gr_term_symbols(a, look, &r);
    return r.hit;
}

// Keeps facts that say something of the launch's values, be it through other facts; the earliest of the program first.
static void keep_relevant(Found *f) {
    Eval *e = f->e;
    GrHostLaunch *l = f->l;
    Map symbols = {0};
    bool *kept = GR_NEW_ARRAY(&e->arena, bool, f->facts.len + 1);
    e->oom |= !kept;
    for (int k = 0; k < 3; k++) {
        see(e, &symbols, l->grid[k]);
        see(e, &symbols, l->block[k]);
    }
    see(e, &symbols, l->shared_bytes);
    for (size_t k = 0; k < l->arguments.len; k++) {
        const GrArgument *a = &l->arguments.data[k];
        see(e, &symbols, a->value);
        see(e, &symbols, a->at);
        see(e, &symbols, a->allocation ? a->allocation->size : NULL);
        for (size_t c = 0; c < a->n_choices; c++) {
            see(e, &symbols, a->choices[c].when);
            see(e, &symbols, a->choices[c].at);
        }
    }
    for (bool more = kept != NULL; more && !e->oom;) {
        more = false;
        for (size_t k = 0; k < f->facts.len; k++) {
            if (kept[k] || !touches(e, &symbols, f->facts.data[k].term))
                continue;
            kept[k] = more = true;
            see(e, &symbols, f->facts.data[k].term);
        }
    }
    for (size_t k = f->facts.len; k-- > 0 && !e->oom;) {
        GrFact fact = f->facts.data[k];
        if (!kept[k])
            continue;
        fact.file = gr_find_keep(e, fact.file);
        fact.text = gr_find_keep(e, fact.text);
        e->oom |= !gr_vec_push(&l->facts, fact);
    }
    gr_map_free(&symbols);
}

static void add_dimensions(Found *f, LLVMValueRef call) {
    Eval *e = f->e;
    for (int k = 0; k < 6; k++) {
        const GrTerm *dim = k < 3 ? f->l->grid[k] : f->l->block[k - 3];
        if (dim)
            add(f, GR_FACT_DIMENSIONS, call, gr_eval_op(e, GR_TERM_SLT, gr_eval_const(e, 32, 0), dim),
                k < 3 ? "a grid has blocks" : "a block has threads");
    }
    for (size_t k = 0; k < f->facts.len; k++) { // the stub's own call stands in the kernel's line
        f->facts.data[k].file = f->l->file;
        f->facts.data[k].line = f->l->line;
    }
}

void gr_find_facts(Eval *e, LLVMValueRef call, GrHostLaunch *l) {
    Found f = {.e = e, .l = l, .at = gr_eval_block(e, call)};
    if (f.at == FLOW_NONE)
        return;
    add_dimensions(&f, call);
    add_branches(&f);
    add_allocations(&f, call);
    for (size_t k = 0; k < e->loops.len; k++) { // made while values were looked at
        const LoopFact *loop = &e->loops.data[k];
        if (gr_flow_dominates(&e->flow, loop->block, f.at)) // else the loop may have run in an earlier round
            e->oom |= !gr_vec_push(&f.facts, loop->fact);
    }
    keep_relevant(&f);
    gr_vec_free(&f.facts);
}
