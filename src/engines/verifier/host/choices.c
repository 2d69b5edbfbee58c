// SPDX-License-Identifier: Apache-2.0
// choices — pointers that are one of several: from an array by index, by a condition, of buffers that a loop swaps.
//
// A walk over the blocks of a function, until nothing new comes up, finds what its pointers may be together at a
// launch. A state says for each phi which place it has. Each way into a block makes states of the block from those
// before it. So it is known that of two swapped buffers one is in and the other is out, whatever the number of rounds.
// A symbol that may have any value says which state it is.
#include "engines/verifier/host/find.h"

#include <llvm-c/Target.h>
#include <stdlib.h>
#include <string.h>

enum {
    PHIS = 12,
    PLACES = 32,
    STATES = 48, // of one block
    CHOICES = 16,
    ELEMENTS = 16, // of an array of pointers
    DEEPEST = 12,
    NOT_YET = 0, // places: control has not been at the phi
    ANYWHERE = 1,
};

typedef struct State {
    uint8_t place[PHIS];
} State;

typedef struct States {
    State *of;
    size_t n;
} States;

typedef struct Finder {
    Eval *e;
    LLVMValueRef call;
    LLVMValueRef phis[PHIS];
    size_t n_phis;
    Pointer places[PLACES]; // from 2 on
    size_t n_places;
    States *blocks; // by number
    bool failed;    // too much of something
    const GrTerm *which;
} Finder;

// ---- Which values count ---------------------------------------------------------------------------------------------

// The length of an array of pointers, on the stack or of the file, from which a load picks by index. 0: none.
static unsigned array_of(Finder *f, LLVMValueRef load, Pointer *array) {
    if (!LLVMIsALoadInst(load) || LLVMGetVolatile(load))
        return 0;
    *array = gr_eval_pointer(f->e, LLVMGetOperand(load, 0));
    if (!array->offset || array->offset->op == GR_TERM_CONST || !array->base)
        return 0;
    LLVMTypeRef type = array->to == POINTS_STACK && LLVMIsAAllocaInst(array->base)
                           ? LLVMGetAllocatedType(array->base)
                       : array->to == POINTS_GLOBAL && LLVMIsAGlobalVariable(array->base)
                           ? LLVMGlobalGetValueType(array->base)
                           : NULL;
    uint64_t size = type ? LLVMABISizeOfType(f->e->ir->layout, type) : 0;
    return size % 8 == 0 && size / 8 <= ELEMENTS ? (unsigned)(size / 8) : 0;
}

static Pointer element(Finder *f, LLVMValueRef load, const Pointer *array, unsigned k) {
    Pointer at = *array;
    at.offset = gr_eval_const(f->e, 64, 8 * k);
    return gr_eval_load_pointer(f->e, &at, load, load);
}

static int number_of(const Finder *f, LLVMValueRef phi) {
    for (size_t k = 0; k < f->n_phis; k++)
        if (f->phis[k] == phi)
            return (int)k;
    return -1;
}

static void collect(Finder *f, const Pointer *p, int depth) {
    LLVMValueRef v = p->base;
    if (p->to != POINTS_UNKNOWN || !v || f->failed)
        return;
    if (depth > DEEPEST || (LLVMIsAPHINode(v) && number_of(f, v) < 0 && f->n_phis == PHIS)) {
        f->failed = true;
        return;
    }
    if (LLVMIsAPHINode(v) && number_of(f, v) < 0) {
        f->phis[f->n_phis++] = v;
        for (unsigned k = 0; k < LLVMCountIncoming(v); k++) {
            Pointer in = gr_eval_pointer(f->e, LLVMGetIncomingValue(v, k));
            collect(f, &in, depth + 1);
        }
    } else if (LLVMIsASelectInst(v)) {
        for (unsigned k = 1; k <= 2; k++) {
            Pointer in = gr_eval_pointer(f->e, LLVMGetOperand(v, k));
            collect(f, &in, depth + 1);
        }
    } else {
        Pointer array;
        unsigned n = array_of(f, v, &array);
        for (unsigned k = 0; k < n; k++) {
            Pointer in = element(f, v, &array, k);
            if (in.base != v)
                collect(f, &in, depth + 1);
        }
    }
}

// ---- States ---------------------------------------------------------------------------------------------------------

static uint8_t place_of(Finder *f, const Pointer *p) {
    if (!p->allocation || !p->allocation->distinct || !p->offset)
        return ANYWHERE;
    for (size_t k = 2; k < f->n_places; k++)
        if (gr_eval_same_base(&f->places[k], p) && f->places[k].offset == p->offset)
            return (uint8_t)k;
    if (f->n_places == PLACES) {
        f->failed = true;
        return ANYWHERE;
    }
    f->places[f->n_places] = *p;
    return (uint8_t)f->n_places++;
}

// Which side the selects of two conditions take on an edge: `sides` has a bit for each.
typedef struct Edge {
    LLVMValueRef conditions[2];
    unsigned n, sides;
} Edge;

static uint8_t value_in(Finder *f, LLVMValueRef v, const State *s, const Edge *edge, int depth) {
    Pointer p = gr_eval_pointer(f->e, v);
    if (p.to != POINTS_UNKNOWN)
        return place_of(f, &p);
    if (!p.base || !p.offset || !gr_term_is_const(p.offset, 0) || depth > DEEPEST)
        return ANYWHERE;
    int k = LLVMIsAPHINode(p.base) ? number_of(f, p.base) : -1;
    if (k >= 0)
        return s->place[k];
    for (unsigned c = 0; LLVMIsASelectInst(p.base) && c < edge->n; c++)
        if (edge->conditions[c] == LLVMGetCondition(p.base))
            return value_in(f, LLVMGetOperand(p.base, edge->sides & 1u << c ? 1 : 2), s, edge, depth + 1);
    return ANYWHERE;
}

static void see_condition(Finder *f, LLVMValueRef v, Edge *edge) {
    Pointer p = gr_eval_pointer(f->e, v);
    LLVMValueRef c =
        p.to == POINTS_UNKNOWN && p.base && LLVMIsASelectInst(p.base) ? LLVMGetCondition(p.base) : NULL;
    for (unsigned k = 0; c && k < edge->n; k++)
        if (edge->conditions[k] == c)
            return;
    if (c && edge->n < 2)
        edge->conditions[edge->n++] = c;
}

// Adds a state. True: it is a new one.
static bool add_state(Finder *f, States *to, const State *s) {
    for (size_t k = 0; k < to->n; k++)
        if (!memcmp(&to->of[k], s, sizeof *s))
            return false;
    if (!to->of && !(to->of = GR_NEW_ARRAY(&f->e->arena, State, STATES))) {
        f->e->oom = f->failed = true;
        return false;
    }
    if (to->n == STATES) {
        f->failed = true;
        return false;
    }
    to->of[to->n++] = *s;
    return true;
}

// Passes the instructions of a block up to `end` (NULL: all). A pointer from an earlier round of an allocating call is
// not what the call makes now.
static void pass_block(Finder *f, uint32_t block, LLVMValueRef end, State *s) {
    for (LLVMValueRef i = LLVMGetFirstInstruction(f->e->flow.blocks[block].block); i && i != end;
         i = LLVMGetNextInstruction(i)) {
        const GrAllocation *made = gr_ir_is_call(i) ? gr_ir_get(&f->e->made, i) : NULL;
        for (size_t k = 0; made && k < f->n_phis; k++) {
            Pointer p = f->places[s->place[k]];
            if (s->place[k] < 2 || p.allocation != made)
                continue;
            p.allocation = gr_eval_older(f->e, made);
            s->place[k] = place_of(f, &p);
        }
    }
}

// Passes the phis of `to`, all at once, on the way from `from`.
static bool pass_edge(Finder *f, uint32_t from, uint32_t to, const State *s) {
    LLVMValueRef in[PHIS] = {0};
    Edge edge = {0};
    bool more = false;
    for (size_t k = 0; k < f->n_phis; k++) {
        if (gr_eval_block(f->e, f->phis[k]) != to)
            continue;
        for (unsigned i = 0; i < LLVMCountIncoming(f->phis[k]) && !in[k]; i++)
            if (LLVMGetIncomingBlock(f->phis[k], i) == f->e->flow.blocks[from].block)
                in[k] = LLVMGetIncomingValue(f->phis[k], i);
        if (in[k])
            see_condition(f, in[k], &edge);
    }
    for (edge.sides = 0; edge.sides < 1u << edge.n; edge.sides++) {
        State next = *s;
        for (size_t k = 0; k < f->n_phis; k++)
            if (in[k])
                next.place[k] = value_in(f, in[k], s, &edge, 0);
        more |= add_state(f, &f->blocks[to], &next);
    }
    return more;
}

static void find_states(Finder *f) {
    Eval *e = f->e;
    const State begin = {{NOT_YET}};
    if (!(f->blocks = GR_NEW_ARRAY(&e->arena, States, e->flow.n))) {
        e->oom = f->failed = true;
        return;
    }
    add_state(f, &f->blocks[0], &begin);
    for (bool more = true; more && !f->failed;) {
        more = false;
        for (uint32_t b = 0; b < e->flow.n && !f->failed; b++) {
            LLVMValueRef end = LLVMGetBasicBlockTerminator(e->flow.blocks[b].block);
            for (size_t k = 0; k < f->blocks[b].n && !f->failed; k++) {
                State s = f->blocks[b].of[k];
                pass_block(f, b, NULL, &s);
                for (unsigned n = 0; n < LLVMGetNumSuccessors(end); n++) {
                    uint32_t to = gr_flow_number(&e->flow, LLVMGetSuccessor(end, n));
                    more |= to != FLOW_NONE && pass_edge(f, b, to, &s);
                }
            }
        }
    }
}

// ---- What a pointer may be ------------------------------------------------------------------------------------------

typedef struct List {
    GrChoice of[CHOICES];
    size_t n;
} List;

static bool resolve(Finder *f, Pointer p, const GrTerm *when, List *out, int depth);

static Pointer moved(Finder *f, Pointer p, const GrTerm *by) {
    p.offset = gr_eval_op(f->e, GR_TERM_ADD, p.offset, by);
    return p;
}

static bool add_choice(List *out, const GrTerm *when, const Pointer *p) {
    if (out->n == CHOICES || !when)
        return false;
    out->of[out->n++] = (GrChoice){when, p->allocation, p->offset};
    return true;
}

static bool of_phi(Finder *f, size_t phi, const GrTerm *by, const GrTerm *when, List *out) {
    const States *here = &f->blocks[gr_eval_block(f->e, f->call)];
    State now[STATES];
    for (size_t k = 0; k < here->n; k++) {
        now[k] = here->of[k];
        pass_block(f, gr_eval_block(f->e, f->call), f->call, &now[k]);
    }
    for (size_t place = 0; place < f->n_places; place++) {
        const GrTerm *any = NULL;
        for (size_t k = 0; k < here->n; k++) {
            if (now[k].place[phi] != place)
                continue;
            const GrTerm *this = gr_eval_op(f->e, GR_TERM_EQ, f->which, gr_eval_const(f->e, 32, k));
            any = any ? gr_eval_op(f->e, GR_TERM_OR, any, this) : this;
        }
        if (any && place < 2) // not known in that state
            return false;
        Pointer p = f->places[place];
        p = any ? moved(f, p, by) : p;
        if (any && (!p.offset || !add_choice(out, gr_eval_op(f->e, GR_TERM_AND, when, any), &p)))
            return false;
    }
    return true;
}

static bool of_array(Finder *f, LLVMValueRef load, const GrTerm *by, const GrTerm *when, List *out,
                     int depth) {
    Pointer array;
    unsigned n = array_of(f, load, &array);
    for (unsigned k = 0; k < n; k++) {
        Pointer p = element(f, load, &array, k);
        const GrTerm *this = gr_eval_op(f->e, GR_TERM_EQ, array.offset, gr_eval_const(f->e, 64, 8 * k));
        if (p.base == load ||
            !resolve(f, moved(f, p, by), gr_eval_op(f->e, GR_TERM_AND, when, this), out, depth + 1))
            return false;
    }
    return n > 0;
}

// False: it may be something else too.
static bool resolve(Finder *f, Pointer p, const GrTerm *when, List *out, int depth) {
    Eval *e = f->e;
    if (!p.offset || !when || depth > DEEPEST)
        return false;
    if (p.to == POINTS_NULL) // nothing is accessed there
        return true;
    if (p.allocation && p.allocation->distinct)
        return add_choice(out, when, &p);
    if (p.to != POINTS_UNKNOWN || !p.base)
        return false;
    int phi = LLVMIsAPHINode(p.base) ? number_of(f, p.base) : -1;
    if (phi >= 0)
        return f->which && of_phi(f, (size_t)phi, p.offset, when, out);
    if (!LLVMIsASelectInst(p.base))
        return of_array(f, p.base, p.offset, when, out, depth);
    const GrTerm *c = gr_eval(e, LLVMGetCondition(p.base)),
                 *no = c ? gr_term_1(e->t, GR_TERM_NOT, 1, c) : NULL;
    for (unsigned k = 1; k <= 2; k++) {
        Pointer side = gr_eval_pointer(e, LLVMGetOperand(p.base, k));
        if (!resolve(f, moved(f, side, p.offset), gr_eval_op(e, GR_TERM_AND, when, k == 1 ? c : no), out,
                     depth + 1))
            return false;
    }
    return true;
}

static void find_which(Finder *f) {
    uint32_t block = gr_eval_block(f->e, f->call);
    find_states(f);
    if (f->failed || block == FLOW_NONE || !f->blocks[block].n)
        return;
    GrSymbol *s = gr_symbol(f->e->t, GR_SYM_HOST, GR_SYM_LAUNCH, 32, "the round's pointers");
    if (!s) {
        f->e->oom = true;
        return;
    }
    s->owner = gr_host_derived;
    s->low = 0;
    s->high = (int64_t)f->blocks[block].n - 1;
    f->which = gr_term_sym(f->e->t, s);
}

void gr_find_choices(Eval *e, LLVMValueRef call, const Open *open, size_t n, GrHostLaunch *l) {
    Finder f = {.e = e, .call = call, .n_places = 2};
    for (size_t k = 0; k < n; k++)
        collect(&f, &open[k].p, 0);
    if (f.n_phis && !f.failed)
        find_which(&f);
    for (size_t k = 0; k < n && !e->oom; k++) {
        List list = {.n = 0};
        if (!resolve(&f, open[k].p, gr_term_true(e->t), &list, 0) || !list.n)
            continue;
        GrChoice *of = GR_NEW_ARRAY(&e->out->arena, GrChoice, list.n);
        e->oom |= !of;
        if (of) {
            memcpy(of, list.of, list.n * sizeof *of);
            l->arguments.data[open[k].argument].choices = of;
            l->arguments.data[open[k].argument].n_choices = list.n;
        }
    }
}
