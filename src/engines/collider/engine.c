// SPDX-License-Identifier: Apache-2.0
// engine collider — the SuperCollider method: the pass rewrites, the device runtime records, this hands it its buffer.
#include "engines/core/engine.h"
#include "base/vec.h"
#include "engines/collider/attribution.h"
#include "engines/collider/budget.h"
#include "engines/collider/collider_watch.h"
#include "engines/collider/decode.h"
#include "engines/collider/device/record.h"
#include "engines/collider/kept.h"
#include "engines/collider/late.h"
#include "engines/collider/options.h"
#include "engines/collider/pass/collider.h"
#include "engines/collider/pass/collider_time.h"
#include "engines/core/sampling.h"
#include "engines/core/selection.h"
#include "options/options.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Collider {
    GrSession *session;
    ColliderOptions options;
    GrSelection selection;
    GrSampling sampling;
    GrAttribution attribution;
    GrKept kept;
    ColliderWatch *watch; // NULL: none
    GrBudget *budget;     // NULL: none
    GrLate *late;         // NULL: nothing is late
    uint32_t run;         // number of the program, where several run in this process
    VEC(struct Loaded {
        const GrModule *module;
        CUdeviceptr control;
    })
    loaded;
    bool stop;
} Collider;

static void mark(void *user, const PtxModule *m, bool *marked) {
    gr_selection_mark(&((Collider *)user)->selection, m, marked);
}

static bool wanted(void *user, const PtxModule *m, const PtxSite *site) {
    return gr_selection_wants_site(&((Collider *)user)->selection, m, site);
}

static gr_status choose(void *user, const PtxModule *m, GrSiteStatus *status, gr_error *err) {
    return gr_sampling_choose(&((Collider *)user)->sampling, m, status, err);
}

static uint32_t clamp32(uint64_t v) { return v > UINT32_MAX ? UINT32_MAX : (uint32_t)v; }

static void collider_finish(void *self) {
    Collider *c = self;
    gr_collider_watch_finish(c->watch);
    gr_budget_finish(c->budget);
    gr_late_free(c->late);
    if (c->watch) // which may still ask what is selected
        return;
    gr_selection_free(&c->selection);
    gr_sampling_free(&c->sampling);
    gr_attribution_free(&c->attribution);
    gr_kept_free(&c->kept);
    gr_vec_free(&c->loaded);
    free(c);
}

// Whether inserted code chooses the windows. The CPU device can do it, and does unless it is told otherwise.
static bool thins(const GrOptions *o, bool runs) {
    if (!strcmp(o->windows, "sampled"))
        return !runs || !strcmp(o->device, "gpu");
    return !strcmp(o->windows, "inserted");
}

// Whether work comes late, and kernels wait for it. Runs that are to cost little have no time for that.
static bool comes_late(const ColliderWords *words, const GrOptions *o, uint64_t longest) {
    if (strcmp(o->device, "gpu") || !strcmp(words->late_work, "no"))
        return false;
    bool asked = !strcmp(words->late_work, "yes");
    return asked || (longest >= LATE_LEAST_NS && !*words->budget && !*o->sample);
}

// Whether stores are poisoned, once the device is chosen.
static bool poisons(const ColliderWords *words, const char *device) {
    return words->poison_writes || !strcmp(words->poison, "yes") ||
           (!strcmp(words->poison, "auto") && !strcmp(device, "gpu"));
}

static gr_status collider_begin(GrSession *s, const GrOptions *o, void **self, gr_error *err) {
    Collider *c = calloc(1, sizeof *c);
    GR_NEED(c, err);
    const ColliderWords *words = gr_options_of(o, &gr_collider_options);
    c->session = s;
    c->stop = o->stop;
    c->options = (ColliderOptions){.seed = (uint32_t)(o->seed ^ o->seed >> 32),
                                   .read_delay_ns = clamp32(words->read_delay),
                                   .write_delay_ns = clamp32(words->write_delay),
                                   .same_value = o->same_value,
                                   .poison = poisons(words, o->device),
                                   .seed_at_load = s && !strcmp(o->device, "gpu"),
                                   .thinned = thins(o, s != NULL),
                                   .attached = s != NULL,
                                   .later = !o->shuffle_blocks,
                                   .mark = mark,
                                   .wanted = wanted,
                                   .user = c};
    gr_kept_init(&c->kept, c->options.poison ? s : NULL);
    uint32_t budget;
    gr_status st = gr_budget_parse(words->budget, &budget, err);
    c->options.budget = budget > 0;
    c->options.thinned = c->options.thinned || budget;
    if (s && budget && !(c->budget = gr_budget_new(s, budget)))
        st = gr_no_memory(err);
    uint64_t longest = (uint64_t)WAIT_LONGEST * (c->options.read_delay_ns > c->options.write_delay_ns
                                                     ? c->options.read_delay_ns
                                                     : c->options.write_delay_ns);
    c->options.beside = s && comes_late(words, o, longest);
    if (c->options.beside && !(c->late = gr_late_new(s, o->seed, longest, !strcmp(words->late_work, "yes"))))
        st = gr_no_memory(err);
    if (st == GR_OK)
        st = gr_selection_init(&c->selection, o, err);
    if (st == GR_OK)
        st = gr_sampling_init(&c->sampling, s, o, err);
    if (gr_sampling_chooses(&c->sampling))
        c->options.choose = choose;
    gr_attribution_init(
        &c->attribution, s,
        clamp32(words->read_delay > words->write_delay ? words->read_delay : words->write_delay));
    if (st == GR_OK)
        st = gr_collider_watch_begin(s, o, &c->selection, &c->watch, err);
    c->options.holds = c->options.thinned && !c->watch && !(o->beside & CAP_HOST);
    if (st == GR_OK)
        *self = c;
    else
        collider_finish(c);
    return st;
}

static gr_status collider_rewrite(void *self, PtxModule *ptx, GrModule *m, gr_error *err) {
    Collider *c = self;
    ColliderOptions o = c->options;
    char suffix[24];
    o.suffix = gr_module_suffix(m, suffix, sizeof suffix);
    if (c->attribution.targets.len) // a replay, which wants to see each access with its window
        o.later = o.thinned = o.budget = o.beside = false;
    m->divides = !c->budget && !c->attribution.targets.len; // both know one control of a module
    m->record_bytes = gr_collider_slot_bytes(m->n_sites);
    m->record_tag = gr_collider_decoder.tag;
    gr_status st = gr_collider_watch_module(((Collider *)self)->watch, ptx, m, err);
    if (st == GR_OK)
        st = gr_collider_rewrite(ptx, &o, m->checked_sites, err);
    return st == GR_OK ? gr_attribution_rewrite(&c->attribution, ptx, m, suffix, err) : st;
}

static gr_status collider_loaded(void *self, GrModule *m, GrGetGlobal get_global, void *handle,
                                 gr_error *err) {
    Collider *c = self;
    char suffix[24], name[64];
    gr_collider_control_name(gr_module_suffix(m, suffix, sizeof suffix), name, sizeof name);
    CUdeviceptr at;
    size_t size;
    CUresult rc = get_global(handle, name, &at, &size);
    if (rc != CUDA_SUCCESS)
        return gr_fail(err, GR_ERR_NOT_FOUND, "the driver does not find %s (CUDA error %d)", name, (int)rc);
    if (size != sizeof(GrControl) || !m->records_device)
        return gr_fail(err, GR_ERR_INTERNAL, "%s has %zu bytes", name, size);
    GrControl control = {.slots = m->records_device,
                         .n_sites = m->n_sites,
                         .seed = c->options.seed + c->run,
                         .stop = c->stop,
                         .module = (uint32_t)m->number};
    gr_attribution_attach(&c->attribution, m, &control);
    gr_kept_loaded(&c->kept, m, at, &control);
    if (c->budget)
        control.shut = gr_budget_loaded(c->budget, m, at);
    GR_NEED(gr_vec_push(&c->loaded, ((struct Loaded){m, at})), err);
    if (c->late)
        control.hold = gr_late_loaded(c->late, m, at);
    rc = c->session->write(c->session, at, &control, sizeof control);
    return rc == CUDA_SUCCESS ? GR_OK : gr_fail(err, GR_ERR_IO, "writing %s: CUDA error %d", name, (int)rc);
}

static void collider_unloaded(void *self, GrModule *m) {
    Collider *c = self;
    size_t n = 0;
    for (size_t k = 0; k < c->loaded.len; k++)
        if (c->loaded.data[k].module != m)
            c->loaded.data[n++] = c->loaded.data[k];
    c->loaded.len = n;
    gr_kept_unloaded(&c->kept, m);
    if (c->late)
        gr_late_unloaded(c->late, m);
}

static void collider_next_run(void *self, uint32_t run) {
    Collider *c = self;
    static const uint32_t none[GR_LAUNCH_COUNTS];
    uint32_t seed = c->options.seed + run;
    c->run = run;
    gr_budget_next_run(c->budget);
    for (size_t k = 0; k < c->loaded.len; k++) {
        CUdeviceptr at = c->loaded.data[k].control;
        c->session->write(c->session, at + offsetof(GrControl, seed), &seed, sizeof seed);
        c->session->write(c->session, at + offsetof(GrControl, launches), none, sizeof none);
    }
    if (c->late)
        gr_late_next_run(c->late, seed);
}

static void collider_allocated(void *self, const GrRange *r) {
    Collider *c = self;
    gr_kept_allocated(&c->kept, r);
    if (c->late && gr_kept_is_shared(c->session, r))
        gr_late_shared(c->late, r);
}

static void collider_context_ended(void *self, CUcontext context) {
    Collider *c = self;
    if (c->late)
        gr_late_context_ended(c->late, context);
}

static void collider_stream_created(void *self, unsigned flags) {
    Collider *c = self;
    if (c->late)
        gr_late_stream_created(c->late, flags);
}

static void collider_stream_destroyed(void *self, unsigned flags) {
    Collider *c = self;
    if (c->late)
        gr_late_stream_destroyed(c->late, flags);
}

static bool collider_submitting(void *self, const GrComing *w) {
    Collider *c = self;
    return c->late && gr_late_submitting(c->late, w);
}

static bool collider_loads_early(void *self) { return ((const Collider *)self)->late != NULL; }

static void collider_submitted(void *self, const GrComing *w) {
    Collider *c = self;
    if (c->late)
        gr_late_submitted(c->late, w);
}

static void collider_waiting(void *self, const GrWait *w) {
    Collider *c = self;
    if (c->late)
        gr_late_waiting(c->late, w);
}

static void collider_waited(void *self, const GrWait *w) {
    Collider *c = self;
    if (c->late)
        gr_late_waited(c->late, w);
}

static void collider_ordered(void *self, const GrOrdering *o) {
    Collider *c = self;
    if (c->late)
        gr_late_ordered(c->late, o);
}

static void collider_launching(void *self, const GrLaunch *l) {
    Collider *c = self;
    if (c->late)
        gr_late_launching(c->late, l);
    if (c->budget)
        gr_budget_begin(c->budget, l);
}

static void collider_launched(void *self, const GrLaunch *l, CUresult result) {
    Collider *c = self;
    if (c->budget)
        gr_budget_end(c->budget, l, result);
    if (c->late)
        gr_late_launched(c->late, l, result);
}

static gr_status collider_accepts(const GrOptions *o, gr_error *err) {
    const ColliderWords *words = gr_options_of(o, &gr_collider_options);
    uint32_t budget;
    gr_status st = gr_budget_parse(words->budget, &budget, err);
    if (st == GR_OK && budget && strcmp(o->device, "gpu"))
        st = gr_fail(
            err, GR_ERR_UNSUPPORTED,
            "--budget is for a GPU: the CPU device's time is virtual, and it leaves out windows by itself. "
            "--sample makes a run cost less there");
    return st;
}

const GrEngine gr_engine_collider = {
    .name = "collider",
    .summary = "repeats every weak access after a random delay; a value that changed in between is a race",
    .evidence = GR_EVIDENCE_VALUE,
    .classes = gr_collider_classes,
    .decoder = &gr_collider_decoder,
    .caps = CAP_CPU | CAP_GPU | CAP_CHECKS | CAP_REWRITES | CAP_WINDOWS | CAP_SAMPLES | CAP_PARTS,
    .blind = gr_collider_blind,
    .begin = collider_begin,
    .rewrite = collider_rewrite,
    .loaded = collider_loaded,
    .unloaded = collider_unloaded,
    .next_run = collider_next_run,
    .allocated = collider_allocated,
    .context_ended = collider_context_ended,
    .submitting = collider_submitting,
    .loads_early = collider_loads_early,
    .submitted = collider_submitted,
    .waiting = collider_waiting,
    .waited = collider_waited,
    .ordered = collider_ordered,
    .stream_created = collider_stream_created,
    .stream_destroyed = collider_stream_destroyed,
    .launching = collider_launching,
    .launched = collider_launched,
    .accepts = collider_accepts,
    .finish = collider_finish,
};
