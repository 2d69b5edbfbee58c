// SPDX-License-Identifier: Apache-2.0
#include "engines/collider/collider_watch.h"

#include "engines/collider/aiming.h"
#include "engines/collider/watch/watch.h"
#include "engines/core/engine.h"
#include "engines/core/listen.h"
#include "engines/core/misuses.h"
#include "engines/core/race_writer.h"
#include "engines/exact/exact.h"

#include <stdlib.h>
#include <string.h>

struct ColliderWatch {
    GrSession *session;
    const GrSelection *selection;
    Watch *watch;
    RaceWriter writer;
    Misuses misuses;
    bool hears_misuse; // beside causality that engine does
    Aiming *aiming;    // NULL: none
    bool listens;
};

// ---- What is found -----------------------------------------------------------------------------------------

static void found(void *user, Race *r) {
    ColliderWatch *c = user;
    gr_aiming_met(c->aiming, r);
    gr_race_writer_put(&c->writer, r, GR_SEEN_BY_WATCHPOINT);
}

static bool wanted(void *user, const char *kernel) {
    return !gr_selection_excludes_kernel(((ColliderWatch *)user)->selection, kernel);
}

static bool wanted_site(void *user, const PtxModule *m, uint32_t site) {
    return site && site <= m->n_sites &&
           gr_selection_wants_site(((ColliderWatch *)user)->selection, m, &m->sites[site]);
}

// ---- What is heard -----------------------------------------------------------------------------------------

static void work(void *user, const GrWork *w) {
    Watch *watch = ((ColliderWatch *)user)->watch;
    bool fill = w->type == GR_WORK_FILL;
    if (w->kind == GR_WORK_SUBMITTED)
        gr_watchpoints_submitted(watch);
    else if (w->kind == GR_WORK_ENDED)
        gr_watchpoints_ended(watch, w->item);
    else if (w->kind == GR_WORK_BEGINS && (fill || w->type == GR_WORK_COPY))
        gr_watchpoints_copy_begins(watch, w->item, w->call, fill, &w->from, &w->to);
}

static void touched(void *user, const GrHostTouch *t) {
    gr_watchpoints_host_touched(((ColliderWatch *)user)->watch, t);
}

static void opened(void *user, uint64_t at, uint64_t size) {
    (void)user; // what the host did there is not known
    (void)at;
    (void)size;
}

static void pending(void *user, bool on) {
    GrSession *s = ((ColliderWatch *)user)->session;
    s->watching(s, on);
}

// From the first call of the driver: a copy may be under way before the first module is loaded.
static gr_status listen(ColliderWatch *c, gr_error *err) {
    if (c->listens)
        return GR_OK;
    // First: what races is an access that it knows.
    gr_status st = c->aiming ? gr_aiming_listen(c->aiming, err) : GR_OK;
    VmObserver o = gr_watchpoints_observer(c->watch);
    if (st == GR_OK)
        st = gr_listen(c->session, &o, work, c, &c->listens, err);
    if (st == GR_OK && c->listens && c->hears_misuse)
        st = gr_misuses_listen(&c->misuses, err);
    GrHostWatcher w = {c, touched, opened};
    if (c->listens)
        (void)c->session->watch(c->session, &w); // else the host's accesses are not seen, as on a GPU
    return st;
}

// ---- The engine's part -------------------------------------------------------------------------------------

gr_status gr_collider_watch_begin(GrSession *s, const GrOptions *o, const GrSelection *selection,
                                  ColliderWatch **out, gr_error *err) {
    *out = NULL;
    if (!s || gr_options_misses(o, GR_WATCHPOINTS_NEED))
        return GR_OK;
    ColliderWatch *c = calloc(1, sizeof *c);
    GR_NEED(c, err);
    c->session = c->writer.session = s;
    c->writer.classes = gr_exact_classes;
    c->writer.stop = o->stop;
    c->selection = selection;
    // What the host does, and misuse, is left to an engine beside this one that hears all.
    bool both = o->beside & CAP_HOST;
    c->misuses = (Misuses){.writer = &c->writer, .selection = selection, .no_faults = true};
    c->hears_misuse = !both;
    WatchOptions options = {.found = found,
                            .wanted = gr_selection_has_kernels(selection) ? wanted : NULL,
                            .wanted_site = gr_selection_has_files(selection) ? wanted_site : NULL,
                            .pending = both ? NULL : pending,
                            .fingerprint = gr_exact_fingerprint,
                            .user = c,
                            .no_same_value = !o->same_value};
    gr_status st = gr_watchpoints_create(&options, &c->watch, err);
    if (st == GR_OK)
        st = gr_aiming_begin(s, o, &c->aiming, err);
    if (st != GR_OK) {
        gr_watchpoints_free(c->watch);
        free(c);
        return st;
    }
    *out = c;
    return listen(c, err);
}

gr_status gr_collider_watch_module(ColliderWatch *c, const PtxModule *ptx, const GrModule *m, gr_error *err) {
    if (!c)
        return GR_OK;
    GR_NEED(gr_race_writer_module(&c->writer, gr_exact_fingerprint(ptx), ptx, m->number) &&
                gr_aiming_module(c->aiming, ptx),
            err);
    return listen(c, err);
}

void gr_collider_watch_finish(ColliderWatch *c) {
    if (c && (gr_watchpoints_incomplete(c->watch) || c->misuses.incomplete))
        c->session->note(c->session, "engine collider", "memory ran out, and some windows were not watched");
    if (c)
        gr_misuses_finish(&c->misuses);
    // The device may still run: what it calls stays.
}
