// SPDX-License-Identifier: Apache-2.0
// launched — which kernels of the files a run launched (`gpurace check --launches FILE`): others are only named.
#ifndef GR_ENGINES_VERIFIER_DECIDE_LAUNCHED_H
#define GR_ENGINES_VERIFIER_DECIDE_LAUNCHED_H

#include "base/map.h"
#include "engines/verifier/host/recorded.h"
#include "engines/verifier/kernel/model.h"
#include "engines/verifier/verifier.h"

typedef struct GrLaunched {
    GrHost host; // the recorded launches
    Map found;   // kernel -> a launch of it, of those that a file has
    Map without; // kernels of the files that have no launch
    Arena names;
} GrLaunched;

// Reads the file of launches. *l is to be freed in every case. Fails as gr_recorded_read does.
gr_status gr_launched_read(GrLaunched *l, GrTerms *t, const char *path, gr_error *err);
void gr_launched_free(GrLaunched *l);

// *yes: the run has launched this kernel of a file. Remembers the question for gr_launched_tell.
gr_status gr_launched_has(GrLaunched *l, const char *kernel, bool *yes, gr_error *err);

// Why a recorded launch cannot be one of this kernel; NULL: it can, or it is not recorded.
const char *gr_launched_misfit(const PtxFunc *f, const GrHostLaunch *l);

// Says for which launches the verdict is, and names kernels and launches that were not decided.
gr_status gr_launched_tell(const GrLaunched *l, const char *path, const GrStaticSink *to, gr_error *err);

#endif
