// SPDX-License-Identifier: Apache-2.0
// engine tracker — iGUARD's method: metadata beside the program's memory names the threads of the last accesses to each
// place, and how they had synchronized. Inserted code looks there before every access; this file gives it memory.
#include "engines/core/engine.h"
#include "base/address.h"
#include "base/vec.h"
#include "engines/core/sampling.h"
#include "engines/core/selection.h"
#include "engines/tracker/decode.h"
#include "engines/tracker/device/record.h"
#include "engines/tracker/launches.h"
#include "engines/tracker/memory.h"
#include "engines/tracker/options.h"
#include "engines/tracker/pass/tracker_pass.h"
#include "options/options.h"
#include "passes/registers.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const char gr_tracker_runtime_ptx[], gr_tracker_cluster_runtime_ptx[];
extern const char gr_paper_runtime_ptx[], gr_paper_cluster_runtime_ptx[];

typedef struct Tracker {
    GrSession *session;
    GrSelection selection;
    GrSampling sampling;
    TrackerMemory *memory;
    TrackerLaunches *launches;     // NULL: the rules of the paper, which are for one launch
    VEC(const GrModule *) modules; // that are loaded
    GrVolatiles volatiles;
    bool stop, same_value, paper, calls_only, link_kernels;
    GrWords words;
} Tracker;

// On a GPU the driver chooses all addresses, which need not be alike in all runs.
static const char *unchecked_at(const Tracker *t, uint64_t address, char at[GR_ADDRESS_TEXT]) {
    if (t->session->symbol(t->session, "gr_cpu_device_observe"))
        return gr_address_text(address, at);
    snprintf(at, GR_ADDRESS_TEXT, "0x%llx", (unsigned long long)address);
    return at;
}

// Tells the verdict what the device runtime could not do, if anything.
static void look_at(const Tracker *t, const GrModule *m) {
    const GrTrackedHeader *h = m->records;
    char text[240], at[GR_ADDRESS_TEXT];
    if (!h)
        return;
    if (h->dropped) {
        snprintf(text, sizeof text,
                 "%llu races of module %llu were not recorded: no room was left, or an instruction has too "
                 "high a number",
                 (unsigned long long)h->dropped, (unsigned long long)m->number);
        t->session->note(t->session, "engine tracker", text);
    }
    if (h->stray) {
        snprintf(text, sizeof text,
                 "module %llu: a store left the allocation of the parameter that its address comes from, for "
                 "example at 0x%llx: reads "
                 "there may not have been checked",
                 (unsigned long long)m->number, (unsigned long long)h->stray);
        t->session->note(t->session, "engine tracker", text);
    }
    if (h->unknown) {
        snprintf(text, sizeof text,
                 "module %llu: of %llu pairs of accesses of two launches the order was not known any more",
                 (unsigned long long)m->number, (unsigned long long)h->unknown);
        t->session->note(t->session, "engine tracker", text);
    }
    if (h->crowded) {
        snprintf(
            text, sizeof text,
            "module %llu: %llu accesses were not checked: more threads ran at once than there are counts for",
            (unsigned long long)m->number, (unsigned long long)h->crowded);
        t->session->note(t->session, "engine tracker", text);
    }
    if (h->unchecked) {
        int n = snprintf(text, sizeof text, "module %llu: ", (unsigned long long)m->number);
        if (h->unchecked == 1)
            snprintf(text + n, sizeof text - (size_t)n,
                     "threads that synchronized too often were not checked any more");
        else
            snprintf(text + n, sizeof text - (size_t)n,
                     "accesses to memory without metadata were not checked, for example at %s: no "
                     "metadata has memory that this context "
                     "did not allocate, or for which there was no room",
                     unchecked_at(t, h->unchecked, at));
        t->session->note(t->session, "engine tracker", text);
    }
}

static void mark(void *user, const PtxModule *m, bool *marked) {
    gr_selection_mark(&((Tracker *)user)->selection, m, marked);
}

static bool wanted(void *user, const PtxModule *m, const PtxSite *site) {
    return gr_selection_wants_site(&((Tracker *)user)->selection, m, site);
}

static gr_status choose(void *user, const PtxModule *m, GrSiteStatus *status, gr_error *err) {
    return gr_sampling_choose(&((Tracker *)user)->sampling, m, status, err);
}

static void tracker_finish(void *self) {
    Tracker *t = self;
    for (size_t k = 0; k < t->modules.len; k++)
        look_at(t, t->modules.data[k]);
    gr_vec_free(&t->modules);
    if (t->launches)
        gr_tracker_launches_finish(t->launches);
    gr_tracker_memory_free(t->memory);
    gr_selection_free(&t->selection);
    gr_sampling_free(&t->sampling);
    free(t);
}

// Called from the first call of the driver, or as soon as the driver is there.
static gr_status listen(Tracker *t, gr_error *err) {
    gr_status st = t->launches ? gr_tracker_launches_listen(t->launches, err) : GR_OK;
    if (st == GR_OK && t->launches && gr_tracker_launches_listens(t->launches))
        gr_tracker_memory_follow(t->memory, t->launches);
    return st;
}

static gr_status tracker_begin(GrSession *s, const GrOptions *o, void **self, gr_error *err) {
    Tracker *t = calloc(1, sizeof *t);
    GR_NEED(t, err);
    t->session = s;
    t->stop = o->stop;
    t->same_value = o->same_value;
    t->volatiles = !strcmp(o->volatiles, "yes")  ? GR_VOLATILES_ALL
                   : !strcmp(o->volatiles, "no") ? GR_VOLATILES_NONE
                                                 : GR_VOLATILES_LANES;
    const TrackerWords *words = gr_options_of(o, &gr_tracker_options);
    t->paper = !strcmp(words->rules, "paper");
    t->words = !strcmp(words->granule, "4") ? GR_WORDS_WHOLE : GR_WORDS_BYTES;
    t->calls_only = !strcmp(words->measure, "calls");
    t->link_kernels = !strcmp(words->link, "kernels");
    if (!strcmp(words->measure, "lookups"))
        t->words = GR_WORDS_LOOKED_UP;
    if (s && strcmp(words->measure, "all"))
        s->note(s, "engine tracker", "nothing was checked, because of --measure");
    gr_status st = gr_selection_init(&t->selection, o, err);
    if (st == GR_OK)
        st = gr_sampling_init(&t->sampling, s, o, err);
    if (st == GR_OK && s && !(t->memory = gr_tracker_memory_new(s)))
        st = gr_no_memory(err);
    if (st == GR_OK && s && !t->paper && !(t->launches = gr_tracker_launches_new(s)))
        st = gr_no_memory(err);
    if (st == GR_OK && s)
        st = listen(t, err);
    if (st == GR_OK)
        *self = t;
    else
        tracker_finish(t);
    return st;
}

static gr_status tracker_rewrite(void *self, PtxModule *ptx, GrModule *m, gr_error *err) {
    Tracker *t = self;
    char suffix[24];
    TrackerOptions o = {.suffix = gr_module_suffix(m, suffix, sizeof suffix),
                        .runtime = t->paper ? gr_paper_runtime_ptx : gr_tracker_runtime_ptx,
                        .cluster_runtime =
                            t->paper ? gr_paper_cluster_runtime_ptx : gr_tracker_cluster_runtime_ptx,
                        .release_first = t->paper,
                        .all = t->paper,
                        .mark = mark,
                        .wanted = wanted,
                        .choose = gr_sampling_chooses(&t->sampling) ? choose : NULL,
                        .user = t};
    m->record_bytes = gr_tracker_area_bytes(m->n_sites);
    m->record_tag = gr_tracker_decoder.tag;
    gr_status st = gr_tracker_rewrite(ptx, &o, m->checked_sites, err);
    if (st == GR_OK) {
        m->link_registers = gr_registers_most(ptx);
        m->link_kernels = t->link_kernels;
    }
    return st;
}

static gr_status tracker_loaded(void *self, GrModule *m, GrGetGlobal get_global, void *handle,
                                gr_error *err) {
    Tracker *t = self;
    char suffix[24], name[64];
    gr_tracker_control_name(gr_module_suffix(m, suffix, sizeof suffix), name, sizeof name);
    CUdeviceptr at;
    size_t size;
    CUresult rc = get_global(handle, name, &at, &size);
    if (rc != CUDA_SUCCESS)
        return gr_fail(err, GR_ERR_NOT_FOUND, "the driver does not find %s (CUDA error %d)", name, (int)rc);
    if (size != sizeof(GrTrackerControl) || !m->records_device)
        return gr_fail(err, GR_ERR_INTERNAL, "%s has %zu bytes", name, size);
    GrTrackerControl control = {.area = t->calls_only ? 0 : m->records_device,
                                .pairs = gr_tracker_pairs(m->n_sites),
                                .volatiles = t->volatiles,
                                .same_value = t->same_value,
                                .stop = t->stop,
                                .word_mode = t->words,
                                .paper = t->paper,
                                .module = (uint32_t)m->number};
    GR_MUST(listen(t, err));
    if (!gr_tracker_memory_control(t->memory, &control))
        return gr_fail(err, GR_ERR_NOMEM, "the device has no room for the tracker's tables");
    // Strong accesses that are left out pass something on unseen.
    if (gr_selection_has_files(&t->selection) || gr_selection_has_kernels(&t->selection) ||
        gr_sampling_chooses(&t->sampling))
        control.talks = 0;
    if (t->launches) {
        gr_tracker_launches_metadata(t->launches, control.dir);
        control.launches = gr_tracker_launches_at(t->launches);
        if (control.launches)
            control.numbers = control.launches + offsetof(GrLaunches, numbers);
    }
    GR_NEED(gr_vec_push(&t->modules, m), err);
    rc = t->session->write(t->session, at, &control, sizeof control);
    return rc == CUDA_SUCCESS ? GR_OK : gr_fail(err, GR_ERR_IO, "writing %s: CUDA error %d", name, (int)rc);
}

static void tracker_unloaded(void *self, GrModule *m) {
    Tracker *t = self;
    for (size_t k = 0; k < t->modules.len; k++)
        if (t->modules.data[k] == m) {
            look_at(t, m);
            t->modules.data[k] = t->modules.data[--t->modules.len];
            return;
        }
}

static void tracker_allocated(void *self, const GrRange *r) {
    Tracker *t = self;
    gr_error err = {0};
    (void)listen(t, &err); // else the next module says so
    gr_tracker_memory_add(t->memory, r);
}

static void tracker_freed(void *self, const GrRange *r) {
    gr_tracker_memory_remove(((Tracker *)self)->memory, r);
}

const GrEngine gr_engine_tracker = {
    .name = "tracker",
    .summary = "records beside each place the last accesses, and counts how their threads synchronized since",
    .evidence = "unordered by counters",
    .classes = gr_tracker_classes,
    .decoder = &gr_tracker_decoder,
    .caps = CAP_CPU | CAP_GPU | CAP_CHECKS | CAP_REWRITES | CAP_COUNTERS | CAP_SAMPLES,
    .blind = gr_tracker_blind,
    .begin = tracker_begin,
    .rewrite = tracker_rewrite,
    .loaded = tracker_loaded,
    .unloaded = tracker_unloaded,
    .allocated = tracker_allocated,
    .freed = tracker_freed,
    .finish = tracker_finish,
};
