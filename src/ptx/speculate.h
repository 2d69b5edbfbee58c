// SPDX-License-Identifier: Apache-2.0
// speculate — finds loads that the compiler hoisted out of their guard.
//
// nvcc turns `if (t == 0) v = s[0];` into a load by every thread and a selp. A lane that throws the value away makes no
// access of the program, and reporting a race of it would be a false alarm. In `s[0] * 3 + 7` the arithmetic goes with
// the load. A load is speculated when all that is done with its value, through pure arithmetic, ends in selp
// instructions of the same straight line; the lanes that keep the value are those for which one of the selp chooses it.
#ifndef GR_PTX_SPECULATE_H
#define GR_PTX_SPECULATE_H

#include "ptx/defuse.h"

enum { SPEC_MAX = 8, SPEC_MAX_HOLDERS = 32 };

// The instruction may order what its thread did before with what others do. No compiler moves a load up over such an
// instruction.
bool gr_orders_threads(const PtxInstr *i);

typedef struct Speculation {
    unsigned n; // the value is kept where any of these holds
    struct {
        PtxReg *pred;
        bool negated;
    } keep[SPEC_MAX];
    PtxStmt *last; // behind this statement all of them are known
} Speculation;

// The load `s` is speculated; *out says for which lanes it is real. False in doubt. Nothing that orders lies between it
// and the last selp, so that it may be told there as well as where it is.
bool gr_speculated(const DefUse *d, PtxStmt *s, Speculation *out);

// For selp anywhere: nvcc may put branches and stores between, and merge the value with others that come another way.
// So no single place decides. But a lane that has passed all of these since it loaded, with `pred` false at each, has
// not used the value and never will; nor will a lane that exits.
typedef struct Decisions {
    unsigned n, n_holders;
    struct {
        PtxStmt *at;      // selp, or and.pred and or.pred of a comparison with the value
        const PtxReg *of; // the register that holds something of the value there
        PtxReg *pred;     // NULL: a lane that comes here uses what is in the register
        bool negated;
    } at[SPEC_MAX];
    // Registers that may hold something of the value, and the statement that gave it to them: the load, or arithmetic.
    struct {
        const PtxReg *reg;
        PtxStmt *by;
    } holder[SPEC_MAX_HOLDERS];
} Decisions;
struct Cfg;
bool gr_decisions(const DefUse *d, const struct Cfg *g, PtxStmt *s, Decisions *out);
// Fills in *out, where a lane that did not choose the value may choose it later, in another turn of a loop.
bool gr_choices(const DefUse *d, const struct Cfg *g, PtxStmt *s, Decisions *out);

#endif
