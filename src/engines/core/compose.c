// SPDX-License-Identifier: Apache-2.0
// Two engines as one: each does its part. An engine that only looks sees a module first, in the program's own text. The
// other one's code is tagged, so that a listener does not hear it. GrOptions.beside has what the other can do.
#include "engines/core/compose.h"
#include "options/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Two {
    void *self[2];
} Two;

static struct {
    const GrEngine *part[2]; // as named
    unsigned first;          // which of them comes first at a module
    char name[64], summary[160];
    GrBlind blind[2 * GR_USES + 1]; // what neither looks for
    GrEngine engine;
} two;

// ---- The table -----------------------------------------------------------------------------------------------------

static gr_status begin(GrSession *s, const GrOptions *o, void **self, gr_error *err) {
    Two *t = calloc(1, sizeof *t);
    GR_NEED(t, err);
    *self = t;
    for (unsigned k = 0; k < 2; k++) {
        unsigned i = k ^ two.first;
        GrOptions own = *o;
        own.beside = two.part[!i]->caps;
        GR_MUST(two.part[i]->begin ? two.part[i]->begin(s, &own, &t->self[i], err) : GR_OK);
    }
    return GR_OK;
}

static gr_status rewrite(void *self, PtxModule *ptx, GrModule *m, gr_error *err) {
    Two *t = self;
    gr_status st = GR_OK;
    for (unsigned k = 0; k < 2 && st == GR_OK; k++) {
        unsigned i = k ^ two.first;
        if (two.part[i]->rewrite)
            st = two.part[i]->rewrite(t->self[i], ptx, m, err);
    }
    return st;
}

static gr_status loaded(void *self, GrModule *m, GrGetGlobal get_global, void *handle, gr_error *err) {
    Two *t = self;
    gr_status st = GR_OK;
    for (unsigned k = 0; k < 2 && st == GR_OK; k++)
        if (two.part[k]->loaded)
            st = two.part[k]->loaded(t->self[k], m, get_global, handle, err);
    return st;
}

// A function that only tells: both parts hear it.
#define TELLS(name, type)                                                                                    \
    static void name(void *self, type what) {                                                                \
        Two *t = self;                                                                                       \
        for (unsigned k = 0; k < 2; k++)                                                                     \
            if (two.part[k]->name)                                                                           \
                two.part[k]->name(t->self[k], what);                                                         \
    }
TELLS(unloaded, GrModule *)
TELLS(dropped, GrModule *)
TELLS(next_run, uint32_t)
TELLS(allocated, const GrRange *)
TELLS(freed, const GrRange *)
TELLS(context_ended, CUcontext)
TELLS(copied, const GrCopy *)
TELLS(filled, const GrFill *)
TELLS(launching, const GrLaunch *)
TELLS(submitted, const GrComing *)
TELLS(waiting, const GrWait *)
TELLS(waited, const GrWait *)
TELLS(ordered, const GrOrdering *)
TELLS(stream_created, unsigned)
TELLS(stream_destroyed, unsigned)

static bool loads_early(void *self) {
    Two *t = self;
    bool early = false;
    for (unsigned k = 0; k < 2; k++)
        early = early || (two.part[k]->loads_early && two.part[k]->loads_early(t->self[k]));
    return early;
}

static bool submitting(void *self, const GrComing *w) {
    Two *t = self;
    bool staged = false;
    for (unsigned k = 0; k < 2; k++)
        if (two.part[k]->submitting && two.part[k]->submitting(t->self[k], w))
            staged = true;
    return staged;
}

static void launched(void *self, const GrLaunch *l, CUresult result) {
    Two *t = self;
    for (unsigned k = 0; k < 2; k++)
        if (two.part[k]->launched)
            two.part[k]->launched(t->self[k], l, result);
}

static gr_status accepts(const GrOptions *o, gr_error *err) {
    gr_status st = GR_OK;
    for (unsigned k = 0; k < 2 && st == GR_OK; k++)
        if (two.part[k]->accepts)
            st = two.part[k]->accepts(o, err);
    return st;
}

// At most one part has it.
static CUresult around_launch(void *self, const GrLaunch *l, GrRun *run) {
    Two *t = self;
    unsigned i = two.part[0]->around_launch ? 0 : 1;
    return two.part[i]->around_launch(t->self[i], l, run);
}

static void finish(void *self) {
    Two *t = self;
    for (unsigned k = 0; k < 2; k++) {
        unsigned i = k ^ two.first;
        if (t->self[i] && two.part[i]->finish)
            two.part[i]->finish(t->self[i]);
    }
    free(t);
}

// ---- Names ---------------------------------------------------------------------------------------------------------

static const GrEngine *alone(const char *name, size_t n) {
    for (const GrEngine *const *e = gr_engines; *e; e++)
        if (strlen((*e)->name) == n && !memcmp((*e)->name, name, n))
            return *e;
    return NULL;
}

static bool parts_of(const char *name, const GrEngine *part[2]) {
    const char *plus = strchr(name, '+');
    return plus && (part[0] = alone(name, (size_t)(plus - name))) &&
           (part[1] = alone(plus + 1, strlen(plus + 1)));
}

static const char *contradiction(const GrEngine *a, const GrEngine *b) {
    unsigned both = a->caps & b->caps, either = a->caps | b->caps;
    return a == b                 ? "both are the same engine"
           : either & CAP_STATIC  ? "an engine that needs no run has nothing to share with another"
           : !(both & CAP_CHECKS) ? "an engine that finds no races adds nothing"
           : both & CAP_REWRITES  ? "both rewrite the program's modules"
           : a->around_launch && b->around_launch ? "both run launches themselves"
           : either & CAP_RERUNS ? "one runs launches several times, and the other would see every repetition"
           : !(both & (CAP_CPU | CAP_GPU)) ? "there is no device on which both run"
                                           : NULL;
}

const char *gr_engine_why_not(const char *name) {
    const GrEngine *part[2];
    return parts_of(name, part) ? contradiction(part[0], part[1]) : NULL;
}

const GrEngine *gr_engine_part(const GrEngine *e, unsigned k) {
    return e == &two.engine && k < 2 ? two.part[k] : NULL;
}

static void find_blind(void) {
    unsigned n = 0;
    for (unsigned use = 0; use < GR_USES; use++)
        for (unsigned device = GR_BLIND_CPU; device <= GR_BLIND_GPU; device++) {
            const GrBlind *one = gr_blind_find(two.part[0]->blind, use, device);
            if (one && gr_blind_find(two.part[1]->blind, use, device))
                two.blind[n++] = (GrBlind){use, device, one->what};
        }
    two.blind[n].what = NULL;
}

const GrEngine *gr_engine_compose(const char *name) {
    const GrEngine *part[2];
    if (!strcmp(two.name, name))
        return &two.engine;
    if (!parts_of(name, part) || contradiction(part[0], part[1]) || strlen(name) >= sizeof two.name)
        return NULL;
    memcpy(two.part, part, sizeof part);
    find_blind();
    two.first = part[0]->caps & CAP_REWRITES ? 1 : 0;
    snprintf(two.name, sizeof two.name, "%s", name);
    snprintf(two.summary, sizeof two.summary, "%s and %s in one execution", part[0]->name, part[1]->name);
    // Where both have to be heard of a device or a schedule, what holds is what both can do.
    unsigned both = part[0]->caps & part[1]->caps, either = part[0]->caps | part[1]->caps,
             common = CAP_CPU | CAP_GPU | CAP_PICKS | CAP_PARTS;
    two.engine = (GrEngine){.name = two.name,
                            .summary = two.summary,
                            .evidence = part[0]->evidence,
                            .caps = (either & ~common) | (both & common),
                            .blind = two.blind,
                            .begin = begin,
                            .rewrite = rewrite,
                            .loaded = loaded,
                            .finish = finish};
    // The injection does work for what an engine has, so the two have it only if a part does.
#define TAKE(name)                                                                                           \
    if (part[0]->name || part[1]->name)                                                                      \
    two.engine.name = name
    TAKE(unloaded);
    TAKE(dropped);
    TAKE(next_run);
    TAKE(allocated);
    TAKE(freed);
    TAKE(context_ended);
    TAKE(copied);
    TAKE(filled);
    TAKE(around_launch);
    TAKE(launching);
    TAKE(loads_early);
    TAKE(submitting);
    TAKE(submitted);
    TAKE(waiting);
    TAKE(ordered);
    TAKE(waited);
    TAKE(stream_created);
    TAKE(stream_destroyed);
    TAKE(launched);
    TAKE(accepts);
#undef TAKE
    return &two.engine;
}
