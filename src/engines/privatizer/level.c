// SPDX-License-Identifier: Apache-2.0
#include "engines/privatizer/level.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void gr_level_note(Probe *p, const char *fmt, ...) { // names of kernels may be long
    va_list words;
    char *text = NULL;
    va_start(words, fmt);
    int n = vasprintf(&text, fmt, words);
    va_end(words);
    p->session->note(p->session, "engine privatizer", n < 0 ? "out of memory" : text);
    if (n >= 0)
        free(text);
}

const char *gr_level_name(uint32_t mode, uint32_t threads) {
    return mode == GR_OF_BLOCKS ? "blocks" : threads == 1 ? "threads" : "warps";
}

uint32_t gr_level_threads(const ProbedKernel *k, uint32_t mode) {
    return mode == GR_LEVEL_LANES || (mode == GR_OF_WARPS && !k->by_warps) ? 1 : 32;
}

// What became of a level, or of its rounds so far.
typedef struct Level {
    const char *name;
    RacesFound found;
    bool differs;
    bool dropped;
    bool some;  // not all memory has copies
    bool again; // but it has to
} Level;

PassRoom gr_level_room(ProbedKernel *k, bool warps, bool little) {
    static const PassRoom first[2] = {{8192, 16384, 32, false}, {512, 4096, 32, false}},
                          least = {16, 4096, 32, false};
    if (!k->room[warps].rows)
        k->room[warps] = little ? least : first[warps];
    k->room[warps].notes *= k->results;
    k->room[warps].stage = k->stages;
    return k->room[warps];
}

// Runs all rounds, or takes `known` for them. False: the level must run again, with more room or copies of more memory.
static bool run_level(Probe *p, Passes *passes, const PassPlan *plan, ProbedKernel *k, Level *l,
                      const GrPrivLog *known) {
    const GrLaunch *launch = passes->launch;
    GrPrivateArea *area = launch->module->records;
    GrPrivLog log;
    CUresult rc = CUDA_SUCCESS;
    if (known)
        log = *known;
    else
        rc = gr_passes_run(passes, plan, 0, plan->rounds, NULL, &log);
    if (rc == CUDA_SUCCESS && log.head.outside && l->some) {
        k->reaches = l->again = true;
        return true;
    }
    if (rc == CUDA_SUCCESS && log.head.full == GR_FULL_NEAR && !k->far) {
        k->far = true;
        passes->most_shared = 0;
        return false;
    }
    bool *wild = &k->wild[plan->mode != GR_OF_BLOCKS];
    if (rc == CUDA_SUCCESS && log.head.full == GR_FULL_WILD && !*wild) {
        *wild = true;
        if (plan->mode == GR_OF_BLOCKS)
            passes->windows = false;
        else
            passes->known = false;
        return false;
    }
    if (rc == CUDA_SUCCESS && log.head.full &&
        gr_room_more(&k->room[plan->mode != GR_OF_BLOCKS], log.head.full))
        return false;
    if (rc == CUDA_SUCCESS && (log.head.outside || log.head.over || log.head.apart || log.head.full)) {
        gr_level_note(
            p, "launch %llu of kernel %s was not checked between %s: %s", (unsigned long long)launch->number,
            passes->kernel, l->name,
            log.head.apart
                ? "its threads did not all come to the end of a region: a lane may have ended that "
                  "others of its warp wait for"
            : log.head.over ? "a loop went round too often, maybe waiting for what another thread writes"
            : log.head.full
                ? "a thread made too many atomic operations or strong loads between barriers, maybe "
                  "waiting for another"
                : "it accesses memory that has no private copy");
        return true;
    }
    bool *cut = &k->cut[plan->mode != GR_OF_BLOCKS];
    if (rc == CUDA_SUCCESS && (log.head.ordered || log.head.stopped || log.head.waited) && !*cut) {
        gr_level_note(p, "kernel %s was not checked between %s to its end, but until %s", passes->kernel,
                      l->name,
                      log.head.waited && !log.head.ordered
                          ? "one waits for what other blocks, or the host, may do"
                          : "they may order what they do by atomic operations, or volatile or "
                            "strong accesses, beside fences");
        *cut = true;
    }
    if (rc == CUDA_SUCCESS && area)
        rc = gr_races_find(passes, plan, &log, area, &k->known, &l->found);
    if (rc == CUDA_SUCCESS && l->found.outside && l->some) {
        k->reaches = l->again = true;
        return true;
    }
    if (rc != CUDA_SUCCESS)
        gr_level_note(p, "launch %llu of kernel %s was not checked between %s: CUDA error %d",
                      (unsigned long long)launch->number, passes->kernel, l->name, (int)rc);
    l->differs |= gr_log_has_found(&log);
    l->dropped |= log.head.dropped || (area && area->dropped);
    return true;
}

bool gr_level_plan(Probe *p, const Passes *passes, ProbedKernel *k, uint32_t mode, const PassRoom *had,
                   PassPlan *plan) {
    uint32_t threads = gr_level_threads(k, mode);
    bool planned =
        gr_passes_plan(passes, mode, threads,
                       gr_level_room(k, mode != GR_OF_BLOCKS,
                                     mode != GR_OF_BLOCKS && passes->known && passes->stores_known),
                       plan) &&
        (!had || gr_room_exceeds(&plan->room, had));
    if (!planned)
        gr_level_note(
            p,
            "launch %llu of kernel %s was not checked between %s: there is no room for private copies of "
            "what it writes",
            (unsigned long long)passes->launch->number, passes->kernel, gr_level_name(mode, threads));
    return planned;
}

// Notes differences behind which no access was found. Units that share a copy may do something else each time once they
// race; so may blocks whose threads race. `differs`: smaller units differed, too.
static void tell_unplaced(Probe *p, const Passes *passes, const char *level, const RacesFound *found,
                          bool differs) {
    if (found->unplaced && found->cut)
        gr_level_note(
            p,
            "kernel %s: in %u regions two runs on the same private copies of %s differ, and the run that "
            "looks "
            "for the accesses was given up",
            passes->kernel, found->unplaced, level);
    else if (found->unplaced && !found->placed && !differs)
        gr_level_note(
            p,
            "kernel %s: in %u regions two runs on the same private copies of %s differ, but none read what "
            "another wrote: lanes of a warp may race, or sums of floating-point atomics come in another "
            "order",
            passes->kernel, found->unplaced, level);
}

bool gr_level_run(Probe *p, Passes *passes, ProbedKernel *k, uint32_t mode, bool some, const GrPrivLog *known,
                  bool *differs) {
    Level l = {.name = gr_level_name(mode, gr_level_threads(k, mode)), .some = some};
    PassRoom had = {0};
    for (bool done = false; !done;) {
        PassPlan plan;
        if (!gr_level_plan(p, passes, k, mode, &had, &plan))
            return true;
        had = plan.room;
        bool far = k->far, wild = k->wild[mode != GR_OF_BLOCKS];
        done = run_level(p, passes, &plan, k, &l, known);
        if (far != k->far || wild != k->wild[mode != GR_OF_BLOCKS]) // it needs other code, not more room
            had = (PassRoom){0};
        known = NULL;
    }
    if (l.again)
        return false;
    if (l.dropped)
        gr_level_note(p, "kernel %s: more was found than there is room for", passes->kernel);
    tell_unplaced(p, passes, l.name, &l.found, *differs);
    for (unsigned n = 0; n < l.found.races; n++)
        p->session->raced(p->session);
    *differs |= l.differs;
    return true;
}

void gr_level_again(Probe *p, const Passes *passes, ProbedKernel *k) {
    bool differs = false;
    for (uint32_t mode = GR_LEVEL_LANES; mode >= GR_OF_BLOCKS; mode--) { // the smaller units first
        unsigned i = mode - GR_OF_BLOCKS;
        RacesFound found = {0};
        gr_races_count(passes, &passes->expected[i], passes->again[i], passes->launch->module->records,
                       &k->known, &found);
        tell_unplaced(p, passes, gr_level_name(mode, gr_level_threads(k, mode)), &found, differs);
        differs |= passes->again[i] != 0;
    }
}
