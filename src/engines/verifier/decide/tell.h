// SPDX-License-Identifier: Apache-2.0
// tell — from verdicts about pairs to what a report says: findings, reasons, and how many pairs were decided how.
#ifndef GR_ENGINES_VERIFIER_DECIDE_TELL_H
#define GR_ENGINES_VERIFIER_DECIDE_TELL_H

#include "engines/verifier/decide/pair.h"
#include "engines/verifier/decide/replay.h"

// All recorded launches of a kernel, if there are several: what is the same for many of them is said once.
typedef struct GrToldAll {
    size_t launches, pairs[GR_DECISIONS];
    size_t repeated; // sentences that were left out
    Map said;        // without the launch
} GrToldAll;

// One kernel under one launch.
typedef struct GrTold {
    const GrStaticSink *to;
    const char *file;   // of the user's
    const char *launch; // ", launched at file:line", or ""
    const GrKernelModel *model;
    size_t pairs[GR_DECISIONS];
    Map said; // races and texts, so that none is said twice
    VEC(struct GrSaid *) open;
    GrToldAll *all; // NULL: each launch is told by itself
} GrTold;

void gr_told_free(GrTold *t);

// Tells a race that was replayed.
gr_status gr_tell_race(GrTold *t, const GrVerdict *v, const GrSeenRace *seen, gr_error *err);
// Tells a pair that is not decided, or not for certain.
gr_status gr_tell_open(GrTold *t, const GrVerdict *v, gr_error *err);
// Tells a sentence about the kernel: "unknown: kernel K of f.cu: …".
gr_status gr_tell_kernel(GrTold *t, const char *decision, const char *why);
// Appends "the write at f.cu:12".
void gr_tell_place(const GrTold *t, const GrKernelAccess *a, StrBuf *out);
// Appends "kernel K of f.cu, launched at f.cu:30".
void gr_tell_subject(const GrTold *t, StrBuf *out);
// Tells all that was gathered, and the count of pairs.
gr_status gr_tell_end(GrTold *t);
// Tells of all launches of the kernel, which are those in `file`.
gr_status gr_tell_all(GrToldAll *all, const GrTold *like, const char *file);

#endif
