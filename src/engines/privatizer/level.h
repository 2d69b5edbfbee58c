// SPDX-License-Identifier: Apache-2.0
// level — runs one level of a launch, blocks, warps or lanes (passes.h): decides how much room it gets, and makes races
// and reasons of what its run says. The caller has Probe.lock.
#ifndef GR_ENGINES_PRIVATIZER_LEVEL_H
#define GR_ENGINES_PRIVATIZER_LEVEL_H

#include "engines/privatizer/probe.h"

// Adds a line to the verdict.
void gr_level_note(Probe *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

const char *gr_level_name(uint32_t mode, uint32_t threads);
// The threads of a unit of the level.
uint32_t gr_level_threads(const ProbedKernel *k, uint32_t mode);

// The room that the kernel's launches get, for blocks or within them. `little`: hardly any write needs rows.
PassRoom gr_level_room(ProbedKernel *k, bool warps, bool little);
// Plans the level, with more room than `had`, which was not enough; NULL: it is the first plan. False: there is no
// room, and the verdict says so.
bool gr_level_plan(Probe *p, const Passes *passes, ProbedKernel *k, uint32_t mode, const PassRoom *had,
                   PassPlan *plan);

// Runs the level, again with more room if need be, and makes races and reasons of what it says. *differs: smaller units
// differed, so these may. `some`: not all memory has copies. `known`: what the first run has found; NULL: there was
// none. False: all memory must have copies.
bool gr_level_run(Probe *p, Passes *passes, ProbedKernel *k, uint32_t mode, bool some, const GrPrivLog *known,
                  bool *differs);
// Counts what a launch that was not held has found, all of it known and not searched for (Passes.again).
void gr_level_again(Probe *p, const Passes *passes, ProbedKernel *k);

#endif
