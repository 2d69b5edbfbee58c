// SPDX-License-Identifier: Apache-2.0
// budget — --budget 2x: as many windows of each launch stay shut as it takes to keep the launch to twice its own time.
//
// A launch's own time is what it takes with all windows shut: the code of the checks is still there. Events around each
// launch measure the time; what two events see that have nothing between them is taken off. The first launch of a
// kernel opens one window in BUDGET_START. All windows of the second one stay shut, and of one in BUDGET_OWN later:
// these tell the own time. Each other launch opens as many as those before it say that there is time for. Launches of
// another size count as another kernel. The share is a word of the module's control block (GrControl.shut), which is
// written in the launch's stream before the launch. A kernel of the same module that runs beside it in another stream
// sees it, too: then the share is what the last of them was given. Launches of graphs, captured ones and those that may
// begin before the work in front of them has ended are not measured.
#ifndef GR_ENGINES_COLLIDER_BUDGET_H
#define GR_ENGINES_COLLIDER_BUDGET_H

#include "engines/core/engine.h"

enum { BUDGET_START = 64, BUDGET_OWN = 16, BUDGET_KERNELS = 4096 };

// "2x", "2" or "1.5x" as thousandths; 0 for "". GR_ERR_ARGUMENT says what is wrong.
gr_status gr_budget_parse(const char *text, uint32_t *thousandths, gr_error *err);

// What is known of the launches of one kernel of one size.
typedef struct BudgetKernel {
    uint64_t launches;
    double own_ns, share; // 0: not known yet; of the windows that open in the next launch
} BudgetKernel;

// Which share of the windows opens in the kernel's next launch, and what a launch with such a share has taken.
double gr_budget_next(BudgetKernel *k);
void gr_budget_took(BudgetKernel *k, double factor, double share, double ns);

typedef struct GrBudget GrBudget;

// NULL: out of memory.
GrBudget *gr_budget_new(GrSession *s, uint32_t thousandths);
// Forgets all launches; none is on its way.
void gr_budget_next_run(GrBudget *b);
// Tells the user what came of it.
void gr_budget_finish(GrBudget *b);

// A loaded module's control block is at `control` in the current context. Yields GrControl.shut until its first launch.
uint32_t gr_budget_loaded(GrBudget *b, const GrModule *m, CUdeviceptr control);

// Around a launch that the driver gets at once. By any thread, without the injection's lock.
void gr_budget_begin(GrBudget *b, const GrLaunch *l);
void gr_budget_end(GrBudget *b, const GrLaunch *l, CUresult result);

#endif
