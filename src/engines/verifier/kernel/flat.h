// SPDX-License-Identifier: Apache-2.0
// flat — a kernel with its calls inlined: one list of statements, its basic blocks and its loops.
//
// Statements are copies that keep their operands; a register or a variable is told apart by the frame (call) that a
// statement is in. Only labels are new, because the CFG looks at them. Parameters of a call need no copying: the
// callee's parameter is the caller's variable.
#ifndef GR_ENGINES_VERIFIER_KERNEL_FLAT_H
#define GR_ENGINES_VERIFIER_KERNEL_FLAT_H

#include "engines/verifier/kernel/model.h"
#include "ptx/cfg.h"

typedef struct KFrame { // one inlined call; the first is the kernel's own
    const PtxFunc *func;
    const struct KFrame *parent;
    const GrPlace *call;      // NULL: the kernel's own
    uint32_t id, base, depth; // base: number of its register 0
    Map labels, vars, places; // PtxLabel * to the copy; PtxVar * to KVar *; PtxLoc.id + 1 to GrPlace *
} KFrame;

// A variable of one frame: local memory, or parameters of a call.
typedef struct KVar {
    uint32_t id;
    const PtxVar *var; // NULL: of alloca
    const KFrame *frame;
    bool local;    // its address can be taken and kept
    bool is_param; // of the kernel itself: `param`
    uint32_t param;
    GrSymbol *base; // its address
    // A frame's local memory is one variable of PTX. It falls apart where its register plus a constant is taken as an
    // address: at -O0 nothing else does that, so each variable of the source that has an address begins there. Whoever
    // indexes it stays in it.
    struct KVar *whole;        // of a piece
    int64_t start, end;        // in `whole`
    VEC(struct KVar *) pieces; // by start; of a whole
} KVar;

typedef struct KStmt {
    PtxStmt stmt; // first, so that the CFG's statements are these
    const PtxStmt *origin;
    const KFrame *frame;
    const GrPlace *place;
    uint32_t id, block;
    const char *gap;           // a call that is not inlined: why
    const PtxFunc *missing;    // because no module has this function; else NULL
    const GrLinkedName *twice; // because two modules have it; else NULL
} KStmt;

typedef struct KLoop {
    GrLoop *loop; // of the model
    uint32_t header, depth;
    struct KLoop *parent;
    VEC(uint32_t) latches; // blocks with a back edge
    const GrTerm *again;   // what holds in each round because the round before did not leave; NULL: not known
} KLoop;

typedef struct KFlat {
    Arena *arena; // the model's
    GrTerms *t;
    const GrLinked *linked;  // NULL: the kernel's module is alone
    const PtxModule *module; // the kernel's
    PtxFunc body;            // what the CFG is made of
    VEC(KFrame *) frames;
    VEC(KVar *) vars;
    VEC(KStmt *) stmts; // instructions only
    uint32_t n_regs, n_labels, n_statements;
    VEC(const char *) reg_names; // by number, for people
    Cfg cfg;
    uint32_t *tree_in, *tree_out; // by block: the dominator tree's intervals
    KLoop **loop_of;              // by block: innermost; NULL
    VEC(KLoop *) loops;           // outer ones first
    const char *irreducible;      // not NULL: why loops are not understood
} KFlat;

gr_status gr_flat_make(KFlat *f, const GrLinked *l, const PtxFunc *kernel, gr_error *err);
void gr_flat_free(KFlat *f);

static inline uint32_t gr_flat_reg(const KStmt *s, const PtxReg *r) { return s->frame->base + r->index; }
KVar *gr_flat_var(KFlat *f, const KFrame *frame, const PtxVar *v); // NULL: memory is out
// The piece of v at byte `at` of v (v itself if it has none); *at becomes the byte of the piece. v may be a piece.
const KVar *gr_flat_piece(const KVar *v, int64_t *at);
bool gr_flat_cut(KFlat *f, const KFrame *frame); // into pieces; false: memory is out
bool gr_flat_is_stack(const PtxOperand *o);      // the register that points to local memory
KVar *gr_flat_alloca(KFlat *f, const KStmt *s);
static inline bool gr_flat_dominates(const KFlat *f, uint32_t a, uint32_t b) {
    return f->tree_in[a] <= f->tree_in[b] && f->tree_out[b] <= f->tree_out[a];
}
// Whether block b is in loop l.
bool gr_flat_in_loop(const KFlat *f, const KLoop *l, uint32_t b);
gr_status gr_flat_loops(KFlat *f, GrKernelModel *out); // after gr_flat_make

#endif
