// SPDX-License-Identifier: Apache-2.0
// level — one level of a launch, blocks, warps or lanes (passes.h): how much room it gets, and what becomes of what its
// run says. With Probe.lock.
#ifndef GR_ENGINES_PRIVATIZER_LEVEL_H
#define GR_ENGINES_PRIVATIZER_LEVEL_H

#include "engines/privatizer/probe.h"

// For the verdict.
void gr_level_note(Probe *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

const char *gr_level_name(uint32_t mode, uint32_t threads);
// Of a unit of the level.
uint32_t gr_level_threads(const ProbedKernel *k, uint32_t mode);

// What the kernel's launches get, of blocks or within them. `little`: hardly anything is written that needs rows.
PassRoom gr_level_room(ProbedKernel *k, bool warps, bool little);
// With more room than `had`, which was not enough; NULL: none was had. False: there is none, and the verdict says so.
bool gr_level_plan(Probe *p, const Passes *passes, ProbedKernel *k, uint32_t mode, const PassRoom *had,
                   PassPlan *plan);

// What the level's run says becomes races and reasons; it is run, if need be again with more room. *differs: what came
// out was not the same for smaller units, so it may not be for these. `some`: not all memory has copies. `known`: what
// the first run has found; NULL: it was not run. False: all memory has to have copies.
bool gr_level_run(Probe *p, Passes *passes, ProbedKernel *k, uint32_t mode, bool some, const GrPrivLog *known,
                  bool *differs);
// The launch was not held, and has found what is known and not looked for (Passes.again).
void gr_level_again(Probe *p, const Passes *passes, ProbedKernel *k);

#endif
