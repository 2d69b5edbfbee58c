// SPDX-License-Identifier: Apache-2.0
// phi — values that depend on the way: of the branches of an `if`, and of the rounds of a loop (class 4).
#include "engines/verifier/host/eval.h"

uint32_t gr_eval_block(const Eval *e, LLVMValueRef i) {
    return gr_flow_number(&e->flow, LLVMGetInstructionParent(i));
}

static const GrTerm *negated(Eval *e, const GrTerm *a) {
    const GrTerm *r = a ? gr_term_1(e->t, GR_TERM_NOT, 1, a) : NULL;
    e->oom |= a && !r;
    return r;
}

// For a switch: the value is the edge's only case; or, for the default, none of the cases.
static const GrTerm *switched(Eval *e, LLVMValueRef end, LLVMBasicBlockRef to) {
    const GrTerm *v = gr_eval(e, LLVMGetOperand(end, 0)), *r = NULL;
    bool is_default = LLVMGetSwitchDefaultDest(end) == to;
    unsigned n = LLVMGetNumSuccessors(end);
    for (unsigned k = 1; k < n; k++) {
        if (is_default == (LLVMGetSuccessor(end, k) == to))
            continue;
        const GrTerm *c = gr_eval_op(e, GR_TERM_EQ, v, gr_eval(e, LLVMGetOperand(end, 2 * k)));
        if (is_default)
            c = negated(e, c);
        r = !r ? c : gr_eval_op(e, is_default ? GR_TERM_AND : GR_TERM_OR, r, c);
    }
    // Cases that go where the default goes: nothing is said of them, and the others are excluded.
    return r;
}

bool gr_eval_condition(Eval *e, uint32_t from, uint32_t to, const GrTerm **out) {
    LLVMValueRef end = LLVMGetBasicBlockTerminator(e->flow.blocks[from].block);
    LLVMBasicBlockRef target = e->flow.blocks[to].block;
    *out = NULL;
    if (LLVMIsASwitchInst(end)) {
        *out = switched(e, end, target);
    } else if (LLVMIsABranchInst(end) && LLVMIsConditional(end) &&
               LLVMGetSuccessor(end, 0) != LLVMGetSuccessor(end, 1)) {
        *out = gr_eval(e, LLVMGetCondition(end));
        if (LLVMGetSuccessor(end, 0) != target)
            *out = negated(e, *out);
    }
    return *out != NULL;
}

void gr_eval_add_loop_fact(Eval *e, uint32_t header, const GrTerm *fact, const char *text) {
    if (!fact || fact->op == GR_TERM_CONST)
        return;
    IrPlace place = gr_ir_place(e->ir, LLVMGetBasicBlockTerminator(e->flow.blocks[header].block));
    const LoopFact f = {header, {fact, GR_FACT_LOOP, place.file, place.line, text}};
    e->oom |= !gr_vec_push(&e->loops, f);
}

// ---- Loops ----------------------------------------------------------------------------------------------------------

// The value that comes in from outside the loop, or from its back edges; NULL: several.
static LLVMValueRef incoming(const Eval *e, LLVMValueRef phi, uint32_t header, bool back) {
    LLVMValueRef r = NULL;
    for (unsigned k = 0; k < LLVMCountIncoming(phi); k++) {
        uint32_t from = gr_flow_number(&e->flow, LLVMGetIncomingBlock(phi, k));
        if (from == FLOW_NONE || gr_flow_is_back_edge(&e->flow, from, header) != back)
            continue;
        LLVMValueRef v = LLVMGetIncomingValue(phi, k);
        if (r && r != v)
            return NULL;
        r = v;
    }
    return r;
}

// The comparison of the phi with something that decides in the header whether the loop goes on. *goes_on: the predicate
// under which it does, with the phi on the left.
static LLVMValueRef guard(const Eval *e, LLVMValueRef phi, uint32_t header, LLVMIntPredicate *goes_on) {
    static const LLVMIntPredicate swapped[] = {
        [LLVMIntEQ] = LLVMIntEQ,   [LLVMIntNE] = LLVMIntNE,   [LLVMIntUGT] = LLVMIntULT,
        [LLVMIntUGE] = LLVMIntULE, [LLVMIntULT] = LLVMIntUGT, [LLVMIntULE] = LLVMIntUGE,
        [LLVMIntSGT] = LLVMIntSLT, [LLVMIntSGE] = LLVMIntSLE, [LLVMIntSLT] = LLVMIntSGT,
        [LLVMIntSLE] = LLVMIntSGE};
    static const LLVMIntPredicate inverse[] = {
        [LLVMIntEQ] = LLVMIntNE,   [LLVMIntNE] = LLVMIntEQ,   [LLVMIntUGT] = LLVMIntULE,
        [LLVMIntUGE] = LLVMIntULT, [LLVMIntULT] = LLVMIntUGE, [LLVMIntULE] = LLVMIntUGT,
        [LLVMIntSGT] = LLVMIntSLE, [LLVMIntSGE] = LLVMIntSLT, [LLVMIntSLT] = LLVMIntSGE,
        [LLVMIntSLE] = LLVMIntSGT};
    const FlowBlock *b = &e->flow.blocks[header];
    LLVMValueRef end = LLVMGetBasicBlockTerminator(b->block);
    if (!LLVMIsABranchInst(end) || !LLVMIsConditional(end))
        return NULL;
    LLVMValueRef c = LLVMIsAICmpInst(LLVMGetCondition(end));
    uint32_t yes = gr_flow_number(&e->flow, LLVMGetSuccessor(end, 0)),
             no = gr_flow_number(&e->flow, LLVMGetSuccessor(end, 1));
    if (!c || yes == FLOW_NONE || no == FLOW_NONE || b->loop[yes] == b->loop[no])
        return NULL;
    LLVMIntPredicate p = LLVMGetICmpPredicate(c);
    LLVMValueRef other = LLVMGetOperand(c, 1);
    if (LLVMGetOperand(c, 1) == phi) {
        p = swapped[p];
        other = LLVMGetOperand(c, 0);
    } else if (LLVMGetOperand(c, 0) != phi) {
        return NULL;
    }
    *goes_on = b->loop[yes] ? p : inverse[p];
    return other;
}

static bool is_signed(LLVMIntPredicate p) {
    return p == LLVMIntSLT || p == LLVMIntSLE || p == LLVMIntSGT || p == LLVMIntSGE;
}

// The program compares the value as a signed number: then it does not wrap, as C leaves that undefined.
static bool compared_signed(LLVMValueRef v) {
    for (LLVMUseRef u = LLVMGetFirstUse(v); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef c = LLVMIsAICmpInst(LLVMGetUser(u));
        if (c && is_signed(LLVMGetICmpPredicate(c)))
            return true;
    }
    return false;
}

typedef struct Rounds {
    LLVMValueRef phi, next;
    uint32_t header;
    const GrTerm *init;
    unsigned bits;
} Rounds;

static const void *loop_of(const Eval *e, const Rounds *r) { return e->flow.blocks[r->header].block; }

// i = init, init + step, …
static const GrTerm *counted(Eval *e, const Rounds *r, int64_t step) {
    LLVMIntPredicate p = LLVMIntEQ;
    LLVMValueRef bound = guard(e, r->phi, r->header, &p);
    bool sign = compared_signed(r->phi) || compared_signed(r->next), up = step > 0, falls = false;
    const GrTermOp le = sign ? GR_TERM_SLE : GR_TERM_ULE;
    if (!sign && up) // up to a bound that the header looks at each time
        falls = bound && (p == LLVMIntULT || p == LLVMIntULE);
    else if (!sign) // down to 0
        falls = bound && p == LLVMIntNE && LLVMIsNull(bound) && step == -1;
    if (!sign && up && step == 1 && bound && p == LLVMIntNE && gr_term_is_const(r->init, 0)) {
        const GrTerm *i = gr_eval_symbol(e, r->phi, r->bits, loop_of(e, r));
        gr_eval_add_loop_fact(e, r->header, gr_eval_op(e, le, i, gr_eval(e, bound)), "a loop goes up to it");
        return i;
    }
    if (!sign && !falls) { // from a constant it does not take all values
        bool all = step == 1 || step == -1 || r->init->op != GR_TERM_CONST;
        return gr_eval_symbol(e, r->phi, r->bits, all ? loop_of(e, r) : gr_host_derived);
    }
    if (step == 1 || step == -1) {
        const GrTerm *i = gr_eval_symbol(e, r->phi, r->bits, loop_of(e, r));
        gr_eval_add_loop_fact(
            e, r->header, up ? gr_eval_op(e, le, r->init, i) : gr_eval_op(e, le, i, r->init),
            up ? "the loop begins there, and goes up" : "the loop begins there, and goes down");
        return i;
    }
    const char *name = gr_arena_printf(&e->arena, "rounds of %s", gr_eval_name(e, r->phi));
    GrSymbol *k = gr_symbol(e->t, GR_SYM_HOST, GR_SYM_LAUNCH, r->bits, name ? name : "rounds");
    if (!k) {
        e->oom = true;
        return NULL;
    }
    k->low = 0;
    k->owner = loop_of(e, r);
    return gr_eval_op(
        e, GR_TERM_ADD, r->init,
        gr_eval_op(e, GR_TERM_MUL, gr_term_sym(e->t, k), gr_eval_const(e, r->bits, (uint64_t)step)));
}

// i = init, then i * c or i / c, for c of 2 and more.
static const GrTerm *scaled(Eval *e, const Rounds *r, LLVMOpcode op) {
    const GrTerm *i = gr_eval_symbol(e, r->phi, r->bits, gr_host_derived),
                 *zero = gr_eval_const(e, r->bits, 0);
    LLVMIntPredicate p;
    if (!i)
        return NULL;
    const GrTerm *below = gr_eval_op(e, GR_TERM_SLT, r->init, zero);
    if (op == LLVMShl || op == LLVMMul) {
        if (guard(e, r->phi, r->header, &p) &&
            (p == LLVMIntSLT || p == LLVMIntSLE || p == LLVMIntULT || p == LLVMIntULE))
            gr_eval_add_loop_fact(e, r->header,
                                  gr_eval_op(e, GR_TERM_OR, below, gr_eval_op(e, GR_TERM_SLE, r->init, i)),
                                  "the loop begins there, and multiplies");
        return i;
    }
    const GrTerm *in = gr_eval_op(e, GR_TERM_AND, gr_eval_op(e, GR_TERM_SLE, zero, i),
                                  gr_eval_op(e, GR_TERM_SLE, i, r->init));
    gr_eval_add_loop_fact(e, r->header, gr_eval_op(e, GR_TERM_OR, below, in),
                          "the loop begins there, and divides");
    return i;
}

static const GrTerm *of_loop(Eval *e, LLVMValueRef phi, uint32_t header) {
    unsigned bits = LLVMGetIntTypeWidth(LLVMTypeOf(phi));
    LLVMValueRef next = incoming(e, phi, header, true), first = incoming(e, phi, header, false);
    if (!next || !first)
        return NULL;
    if (next == phi)
        return gr_eval(e, first);
    if (!(e->classes & 1u << GR_FACT_LOOP) || bits < 2 || !LLVMIsABinaryOperator(next) ||
        LLVMGetOperand(next, 0) != phi || !LLVMIsAConstantInt(LLVMGetOperand(next, 1)))
        return NULL;
    Rounds r = {phi, next, header, gr_eval(e, first), bits};
    int64_t c = LLVMConstIntGetSExtValue(LLVMGetOperand(next, 1));
    if (!r.init || !c)
        return NULL;
    LLVMOpcode op = LLVMGetInstructionOpcode(next);
    switch (op) {
    case LLVMAdd: return counted(e, &r, c);
    case LLVMShl:
    case LLVMLShr:
    case LLVMAShr: return scaled(e, &r, op);
    case LLVMMul:
    case LLVMUDiv:
    case LLVMSDiv: return c >= 2 ? scaled(e, &r, op) : NULL;
    default: return NULL;
    }
}

// ---- Branches -------------------------------------------------------------------------------------------------------

// On which side of the branch at the end of `dom` a predecessor of `block` is: 0 or 1; -1 on both.
static int side_of(const Eval *e, uint32_t dom, uint32_t pred, uint32_t block, const uint32_t to[2]) {
    int side = -1;
    for (int s = 0; s < 2; s++) {
        if (pred == dom ? to[s] == block : gr_flow_edge_dominates(&e->flow, dom, to[s], pred))
            side = side < 0 ? s : 2;
    }
    return side > 1 ? -1 : side;
}

static const GrTerm *of_branch(Eval *e, LLVMValueRef phi, uint32_t block) {
    uint32_t dom = e->flow.blocks[block].idom;
    LLVMValueRef end = LLVMGetBasicBlockTerminator(e->flow.blocks[dom].block);
    const GrTerm *v[2] = {NULL, NULL};
    bool mixed = !LLVMIsABranchInst(end) || !LLVMIsConditional(end) ||
                 LLVMGetSuccessor(end, 0) == LLVMGetSuccessor(end, 1);
    uint32_t to[2] = {FLOW_NONE, FLOW_NONE};
    for (unsigned s = 0; s < 2 && !mixed; s++) {
        to[s] = gr_flow_number(&e->flow, LLVMGetSuccessor(end, s));
        mixed |= to[s] == FLOW_NONE;
    }
    const GrTerm *all = NULL;
    bool same = true;
    for (unsigned k = 0; k < LLVMCountIncoming(phi); k++) {
        uint32_t from = gr_flow_number(&e->flow, LLVMGetIncomingBlock(phi, k));
        if (from == FLOW_NONE)
            continue;
        if (from >= block) // no natural loop
            return NULL;
        const GrTerm *a = gr_eval(e, LLVMGetIncomingValue(phi, k));
        same &= !all || all == a;
        all = a;
        int side = mixed ? -1 : side_of(e, dom, from, block, to);
        mixed |= side < 0 || (v[side] && v[side] != a);
        if (!mixed)
            v[side] = a;
    }
    if (same)
        return all;
    if (mixed || !v[0] || !v[1])
        return NULL;
    const GrTerm *c = gr_eval(e, LLVMGetCondition(end));
    const GrTerm *r = c ? gr_term_ite(e->t, c, v[0], v[1]) : NULL;
    e->oom |= c && !r;
    return r;
}

const GrTerm *gr_eval_phi(Eval *e, LLVMValueRef phi) {
    uint32_t block = gr_eval_block(e, phi);
    if (block == FLOW_NONE)
        return NULL;
    return e->flow.blocks[block].loop ? of_loop(e, phi, block) : of_branch(e, phi, block);
}
