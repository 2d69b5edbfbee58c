// SPDX-License-Identifier: Apache-2.0
// engine none — finds nothing: every module goes through the parser and the printer and is loaded as it came.
// It shows that the road itself changes no program, and counts what a run launches.
#include "engines/core/engine.h"
#include "options/options.h"

static gr_status rewrite_none(void *self, PtxModule *ptx, GrModule *m, gr_error *err) {
    (void)self, (void)ptx, (void)m, (void)err; // every site stays GR_SITE_UNSEEN
    return GR_OK;
}

const GrEngine gr_engine_none = {
    .name = "none",
    .summary = "finds no races: modules are parsed, printed and loaded unchanged",
    .evidence = "none",
    .caps = CAP_CPU | CAP_GPU | CAP_REWRITES,
    .rewrite = rewrite_none,
};
