// SPDX-License-Identifier: Apache-2.0
// engine exact — the causality engine over the CPU device: nothing is rewritten, it listens.
//
// Each pair of sites that races becomes a record when it is first seen (race_writer.h).
#include "engines/core/engine.h"
#include "device_api/hooks.h"
#include "engines/core/listen.h"
#include "engines/core/misuses.h"
#include "engines/core/race_writer.h"
#include "engines/core/selection.h"
#include "engines/exact/exact.h"
#include "engines/exact/options.h"
#include "options/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Listener {
    GrSession *session;
    Exact *exact;
    RaceWriter writer;
    GrSelection selection;
    Misuses misuses;
    bool listens;
} Listener;

static void found(void *user, Race *r) {
    Listener *x = user;
    gr_race_writer_put(&x->writer, r, GR_SEEN_BY_CAUSALITY);
}

static void misused(void *user, const VmMisuseEvent *e) { gr_misuses_hear(&((Listener *)user)->misuses, e); }

static void doubted(void *user, const char *check) {
    const Listener *x = user;
    StrBuf b = {0};
    gr_put_str(&b, check);
    x->session->record(x->session, GR_RECORD_DOUBT, &b);
    gr_str_free(&b);
}

static bool wanted(void *user, const char *kernel, uint64_t launch) {
    const Listener *x = user;
    return x->session->wants_launch(x->session, launch) &&
           !gr_selection_excludes_kernel(&x->selection, kernel);
}

static bool wanted_site(void *user, const PtxModule *m, const PtxSite *site) {
    return gr_selection_wants_site(&((const Listener *)user)->selection, m, site);
}

static void watching(void *user, bool on) {
    const Listener *x = user;
    x->session->watching(x->session, on);
}

// Called at the driver's first call, as the runtime loads modules late, when copies may be under way. If there is no
// device yet, the first module is the last moment.
static gr_status listen(Listener *x, gr_error *err) {
    if (x->listens)
        return GR_OK;
    VmObserver o = gr_exact_observer(x->exact);
    gr_status st = gr_listen(x->session, &o, gr_exact_work, x->exact, &x->listens, err);
    if (st != GR_OK || !x->listens)
        return st != GR_OK
                   ? st
                   : gr_fail(err, GR_ERR_UNSUPPORTED, "the engine exact works on the CPU device only");
    GR_MUST(gr_misuses_listen(&x->misuses, err));
    GrHostWatcher w = {x->exact, gr_exact_host_touched, gr_exact_host_opened};
    if (!x->session->watch(x->session, &w))
        x->session->note(x->session, "engine exact", "accesses of the host are not seen on this machine");
    return GR_OK;
}

static gr_status exact_begin(GrSession *s, const GrOptions *given, void **self, gr_error *err) {
    GrOptions own = *given;
    const GrOptions *o = &own;
    const ExactWords *words = gr_options_of(o, &gr_exact_options);
    // Beside an engine that does not follow causality this one explains that engine's reports. So it judges accesses
    // that the options leave out (the report drops those), explains hoisted loads, and stops for nothing that it finds
    // alone.
    bool explains = own.beside & CAP_CHECKS && !(own.beside & CAP_CAUSALITY);
    if (explains) {
        own.stop = false;
        own.kernel = own.not_kernel = own.file = own.not_file = "";
    }
    if (!s)
        return gr_fail(err, GR_ERR_UNSUPPORTED,
                       "the engine exact rewrites nothing: it listens to the CPU device");
    Listener *x = calloc(1, sizeof *x);
    GR_NEED(x, err);
    x->session = x->writer.session = s;
    x->writer.classes = gr_exact_classes;
    x->writer.stop = o->stop;
    x->misuses = (Misuses){.writer = &x->writer, .selection = &x->selection};
    *self = x;
    GR_MUST(gr_selection_init(&x->selection, o, err));
    ExactOptions options = {.found = found,
                            .wanted = wanted,
                            .wanted_site = gr_selection_has_files(&x->selection) ? wanted_site : NULL,
                            .misused = misused,
                            .doubted = doubted,
                            .watch = watching,
                            .user = x,
                            .no_same_value = !o->same_value,
                            .proxy_reads = words->proxy_reads,
                            .volatiles = !strcmp(o->volatiles, "yes")  ? EXACT_VOLATILE_ALL
                                         : !strcmp(o->volatiles, "no") ? EXACT_VOLATILE_NONE
                                                                       : EXACT_VOLATILE_LOCKSTEP,
                            .speculated = words->speculated || explains,
                            .threads = s->threads};
    gr_status st = gr_exact_create(&options, &x->exact, err);
    if (st == GR_OK && (st = listen(x, err)) == GR_ERR_UNSUPPORTED) // yet
        st = GR_OK;
    return st;
}

static gr_status exact_rewrite(void *self, PtxModule *ptx, GrModule *m, gr_error *err) {
    Listener *x = self;
    bool *marked = calloc((size_t)ptx->n_funcs + 1, sizeof *marked);
    GR_NEED(marked, err);
    gr_selection_mark(&x->selection, ptx, marked);
    for (uint32_t s = 1; s <= ptx->n_sites; s++) {
        const PtxSite *site = &ptx->sites[s];
        bool private = site->space == PTX_LOCAL || site->space == PTX_PARAM;
        bool mine = marked[site->func->index] && gr_selection_wants_site(&x->selection, ptx, site);
        m->checked_sites[s] = private ? GR_SITE_PRIVATE : mine ? GR_SITE_CHECKED : GR_SITE_FILTERED;
    }
    free(marked);
    GR_NEED(gr_race_writer_module(&x->writer, gr_exact_fingerprint(ptx), ptx, m->number), err);
    return listen(x, err);
}

static void remark_on(const Listener *x) {
    char text[512];
    size_t volatiles = gr_exact_volatiles(x->exact), heard = gr_exact_heard(x->exact);
    if (volatiles) {
        snprintf(text, sizeof text,
                 "%zu pair%s of unordered accesses with volatile %s not reported: by PTX no race, but by "
                 "CUDA C++ a race (%s)",
                 volatiles, volatiles == 1 ? "" : "s", volatiles == 1 ? "was" : "were", "--volatile yes");
        x->session->remark(x->session, text);
    }
    if (heard) {
        snprintf(text, sizeof text,
                 "%zu access%s came after what other threads had done behind an atomic operation that saw "
                 "theirs, but "
                 "with no fence behind it: common in code that works; PTX orders them only with a "
                 "__threadfence() or an acquire there",
                 heard, heard == 1 ? "" : "es");
        x->session->remark(x->session, text);
    }
}

static void pass_remark(const Listener *x, char *text) {
    if (text)
        x->session->remark(x->session, text);
    free(text);
}

static void exact_finish(void *self) {
    Listener *x = self;
    remark_on(x);
    pass_remark(x, gr_exact_unsure(x->exact));
    pass_remark(x, gr_exact_proxy_reads(x->exact));
    pass_remark(x, gr_exact_dekker(x->exact));
    gr_misuses_finish(&x->misuses);
    if (gr_exact_incomplete(x->exact) || x->misuses.incomplete)
        x->session->note(x->session, "engine exact",
                         "memory ran out: accesses and what orders them were forgotten, and no race is "
                         "reported from then on");
    // The device may still run and call these functions: they stay.
}

const GrEngine gr_engine_exact = {
    .name = "exact",
    .summary =
        "follows causality as PTX defines it: every pair of accesses that nothing ordered; CPU device only",
    .evidence = "unordered by causality",
    .classes = gr_exact_classes,
    .caps = CAP_CPU | CAP_CHECKS | CAP_LISTENS | CAP_CAUSALITY | CAP_PICKS | CAP_HOST,
    .blind = gr_exact_blind,
    .begin = exact_begin,
    .rewrite = exact_rewrite,
    .finish = exact_finish,
};
