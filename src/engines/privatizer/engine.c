// SPDX-License-Identifier: Apache-2.0
// engine privatizer — LDetector's method: units of execution (blocks; warps from barrier to barrier) run on private
// copies of memory, twice. What two of them change alike, or what comes out otherwise when a unit sees what the others
// wrote, is a race, whatever the timing was.
#include "engines/core/engine.h"
#include "base/demangle.h"
#include "engines/core/place.h"
#include "engines/core/selection.h"
#include "engines/privatizer/options.h"
#include "engines/privatizer/pass/privatizer_pass.h"
#include "engines/privatizer/probe.h"
#include "options/options.h"
#include "passes/registers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const char gr_privatizer_runtime_ptx[];

typedef struct Privatizer {
    GrSession *session;
    GrSelection selection;
    Targets targets;         // --variable
    bool matched, unmatched; // it names a variable of some module; of no module so far
    Probe probe;
    bool by_warps; // --units
} Privatizer;

static void mark(void *user, const PtxModule *m, bool *marked) {
    gr_selection_mark(&((Privatizer *)user)->selection, m, marked);
}

static bool wanted(void *user, const PtxModule *m, const PtxSite *site) {
    return gr_selection_wants_site(&((Privatizer *)user)->selection, m, site);
}

static void privatizer_finish(void *self) {
    Privatizer *t = self;
    if (t->session && t->unmatched && !t->matched)
        t->session->note(t->session, "engine privatizer", GR_REASON_NO_VARIABLE);
    gr_probe_finish(&t->probe);
    gr_selection_free(&t->selection);
    gr_targets_free(&t->targets);
    free(t);
}

static gr_status privatizer_begin(GrSession *s, const GrOptions *o, void **self, gr_error *err) {
    Privatizer *t = calloc(1, sizeof *t);
    GR_NEED(t, err);
    const PrivatizerWords *words = gr_options_of(o, &gr_privatizer_options);
    t->session = t->probe.session = s;
    t->probe.copies = words->copies;
    t->probe.same_value = o->same_value;
    t->probe.stop = o->stop;
    t->probe.tells = o->verbose;
    t->probe.proves = words->prove;
    t->probe.what_for = !strcmp(words->privatize, "race-free")       ? PROBE_RACE_FREE
                        : !strcmp(words->privatize, "deterministic") ? PROBE_DETERMINISTIC
                                                                     : PROBE_DETECT;
    t->by_warps = !strcmp(words->units, "warps") && t->probe.what_for == PROBE_DETECT;
    t->probe.by_warps = t->by_warps;
    if (s && t->probe.what_for)
        s->note(s, "engine privatizer", "nothing was checked, because of --privatize");
    pthread_mutex_init(&t->probe.lock, NULL);
    pthread_mutex_init(&t->probe.memory, NULL);
    t->probe.targets = &t->targets;
    gr_status st = gr_targets_init(&t->targets, words->variable, err);
    if (st == GR_OK)
        st = gr_selection_init(&t->selection, o, err);
    if (st == GR_OK && s && t->targets.is_set)
        s->remark(s, "races in memory that is no variable with a name that matches --variable are not told");
    if (st == GR_OK)
        *self = t;
    else
        privatizer_finish(t);
    return st;
}

// ---- Modules --------------------------------------------------------------------------------------------------------

static void free_module(ProbedModule *m) {
    for (uint32_t k = 0; m && k < m->n_kernels; k++) {
        free(m->kernels[k].name);
        free(m->kernels[k].shown);
        free(m->kernels[k].why[0]);
        free(m->kernels[k].why[1]);
        gr_places_free(m->kernels[k].places);
        gr_vec_free(&m->kernels[k].proofs.known);
        gr_races_free(&m->kernels[k].known);
    }
    if (m) {
        free(m->kernels);
        free(m->left_out);
        free(m->targets);
        gr_vec_free(&m->controls);
    }
    free(m);
}

// The reason and the place of the instruction, as text. NULL: the kernel suits, or memory is out.
static char *why_of(const PtxModule *m, const GrSuits *s) {
    if (!s->why)
        return NULL;
    GrFileOwners owners = {.ptx = m};
    const PtxLoc *at = s->at ? gr_place_headline(&owners, s->at->loc) : NULL;
    const char *file = gr_place_file(m, at), *text = gr_unsuited_text(s->why);
    char buf[1024];
    if (at && file)
        snprintf(buf, sizeof buf, "%s (%s:%u)", text, file, at->line);
    else
        snprintf(buf, sizeof buf, "%s", text);
    return strdup(buf);
}

static bool keep_kernels(ProbedModule *out, const PtxModule *m, const PrivatizedKernel *kernels, uint32_t n) {
    Arena arena = {0};
    bool ok = true;
    out->kernels = calloc((size_t)n + 1, sizeof *out->kernels);
    for (uint32_t k = 0; out->kernels && k < n; k++, out->n_kernels++) {
        ProbedKernel *to = &out->kernels[k];
        const char *shown = gr_demangle(kernels[k].f->name, &arena);
        *to = (ProbedKernel){.name = strdup(kernels[k].f->name),
                             .shown = strdup(shown ? shown : kernels[k].f->name),
                             .why = {why_of(m, &kernels[k].blocks), why_of(m, &kernels[k].warps)},
                             .has_shared = kernels[k].has_shared,
                             .writes_global = kernels[k].writes_global,
                             .by_warps = kernels[k].by_warps,
                             .granule = kernels[k].granule,
                             .near_shift = kernels[k].near_shift,
                             .near_entry = kernels[k].near_entry,
                             .dense = kernels[k].dense,
                             .pads = kernels[k].pads,
                             .windows = kernels[k].windows,
                             .whole = kernels[k].whole,
                             .orders = kernels[k].orders,
                             .results = kernels[k].results,
                             .stages = kernels[k].stages,
                             .tracks = kernels[k].tracks,
                             .pretends = kernels[k].pretends,
                             .meets = kernels[k].meets,
                             .lanes = kernels[k].lanes,
                             .mbarriers = kernels[k].mbarriers,
                             .early_copies = kernels[k].early_copies,
                             .takes_turns = kernels[k].takes_turns,
                             .places = kernels[k].places ? gr_places_keep(kernels[k].places) : NULL};
        memcpy(to->cluster, kernels[k].f->reqcluster, sizeof to->cluster);
        ok = ok && to->name && to->shown && !to->places == !kernels[k].places &&
             (!kernels[k].blocks.why || to->why[0]) && (!kernels[k].warps.why || to->why[1]);
    }
    gr_arena_free(&arena);
    return out->kernels && ok;
}

static gr_status privatizer_rewrite(void *self, PtxModule *ptx, GrModule *m, gr_error *err) {
    Privatizer *t = self;
    char suffix[24];
    PrivatizerOptions o = {.suffix = gr_module_suffix(m, suffix, sizeof suffix),
                           .runtime = gr_privatizer_runtime_ptx,
                           .by_warps = t->by_warps,
                           .mark = mark,
                           .wanted = wanted,
                           .user = t};
    PrivatizedKernel *kernels;
    uint32_t n;
    uint8_t *targets = gr_targets_of_sites(&t->targets, ptx); // of the program's own text
    GR_NEED(targets, err);
    bool matches = gr_targets_match(&t->targets, ptx);
    for (uint32_t k = 1; k <= ptx->n_sites && !matches; k++)
        matches = targets[k] == TARGET_WANTED;
    t->matched |= matches;
    t->unmatched |= !matches;
    m->record_bytes = sizeof(GrPrivateArea);
    m->record_tag = gr_privatizer_decoder.tag;
    gr_status st = gr_privatizer_rewrite(ptx, &o, m->checked_sites, &kernels, &n, err);
    m->link_registers = gr_registers_most(ptx);
    m->link_kernels = true; // the runtime is compiled once, and not once for each kernel
    for (uint32_t k = 1; k <= m->n_sites; k++)
        if (targets[k] == TARGET_OTHER && m->checked_sites[k] == GR_SITE_CHECKED)
            m->checked_sites[k] = GR_SITE_FILTERED;
    ProbedModule *kept = st == GR_OK && t->session ? calloc(1, sizeof *kept) : NULL;
    if (!kept) {
        free(targets);
        return st != GR_OK || !t->session ? st : gr_no_memory(err);
    }
    kept->targets = targets;
    kept->left_out = calloc((size_t)m->n_sites + 1, sizeof *kept->left_out);
    if (!kept->left_out || !keep_kernels(kept, ptx, kernels, n)) {
        free_module(kept);
        return gr_no_memory(err);
    }
    for (uint32_t k = 1; k <= m->n_sites; k++)
        kept->left_out[k] = m->checked_sites[k] == GR_SITE_FILTERED;
    m->engine_data = kept;
    return GR_OK;
}

static gr_status privatizer_loaded(void *self, GrModule *m, GrGetGlobal get_global, void *handle,
                                   gr_error *err) {
    Privatizer *t = self;
    char suffix[24], name[64];
    ProbedModule *kept = m->engine_data;
    ProbedControl control = {0};
    size_t size;
    CUresult (*current)(CUcontext *) =
        (CUresult(*)(CUcontext *))t->session->driver(t->session, "cuCtxGetCurrent");
    gr_privatizer_control_name(gr_module_suffix(m, suffix, sizeof suffix), name, sizeof name);
    CUresult rc = get_global(handle, name, &control.at, &size);
    if (rc == CUDA_SUCCESS && size != sizeof(GrPrivControl))
        return gr_fail(err, GR_ERR_INTERNAL, "%s has %zu bytes", name, size);
    if (rc == CUDA_SUCCESS)
        rc = current ? current(&control.context) : CUDA_ERROR_NOT_SUPPORTED;
    if (rc != CUDA_SUCCESS)
        return gr_fail(err, GR_ERR_NOT_FOUND, "the driver does not find %s (CUDA error %d)", name, (int)rc);
    pthread_mutex_lock(&t->probe.memory);
    bool ok = gr_vec_push(&kept->controls, control);
    pthread_mutex_unlock(&t->probe.memory);
    return ok ? GR_OK : gr_no_memory(err);
}

static void privatizer_unloaded(void *self, GrModule *m) {
    Privatizer *t = self;
    ProbedModule *kept = m->engine_data;
    if (!kept) // it was not rewritten
        return;
    pthread_mutex_lock(&t->probe.memory);
    kept->controls.len = 0;
    pthread_mutex_unlock(&t->probe.memory);
}

static void privatizer_dropped(void *self, GrModule *m) {
    (void)self;
    free_module(m->engine_data);
    m->engine_data = NULL;
}

// ---- Memory ---------------------------------------------------------------------------------------------------------

static void privatizer_allocated(void *self, const GrRange *r) {
    Privatizer *t = self;
    pthread_mutex_lock(&t->probe.memory);
    bool ok = gr_ranges_add(&t->probe.ranges, r);
    pthread_mutex_unlock(&t->probe.memory);
    if (!ok)
        t->session->note(t->session, "engine privatizer", "out of memory: some memory has no private copies");
}

static void privatizer_freed(void *self, const GrRange *r) {
    Privatizer *t = self;
    pthread_mutex_lock(&t->probe.memory);
    gr_ranges_remove(&t->probe.ranges, r);
    pthread_mutex_unlock(&t->probe.memory);
}

static void privatizer_context_ended(void *self, CUcontext context) {
    gr_probe_context_ended(&((Privatizer *)self)->probe, context);
}

static CUresult privatizer_around_launch(void *self, const GrLaunch *l, GrRun *run) {
    return gr_probe_launch(&((Privatizer *)self)->probe, l, run);
}

const GrEngine gr_engine_privatizer = {
    .name = "privatizer",
    .summary = "runs blocks and warps on private copies of memory, twice, and compares what comes out",
    .evidence = "outcome depends on order",
    .decoder = &gr_privatizer_decoder,
    .caps = CAP_CPU | CAP_GPU | CAP_CHECKS | CAP_REWRITES | CAP_RERUNS | CAP_PICKS | CAP_ARENA,
    .blind = gr_privatizer_blind,
    .begin = privatizer_begin,
    .rewrite = privatizer_rewrite,
    .loaded = privatizer_loaded,
    .unloaded = privatizer_unloaded,
    .dropped = privatizer_dropped,
    .allocated = privatizer_allocated,
    .freed = privatizer_freed,
    .context_ended = privatizer_context_ended,
    .around_launch = privatizer_around_launch,
    .finish = privatizer_finish,
};
