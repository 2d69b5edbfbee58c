// SPDX-License-Identifier: Apache-2.0
#include "engines/privatizer/level.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

extern const char gr_privatizer_kernels_runtime_ptx[];

#define MIB ((uint64_t)1 << 20)
enum { PATIENCE_S = 20, SHORT_S = 1 }; // until work was not over in time for once
enum {
    ASKS = 1 << 16,
    SPIN_NS = 100000
}; // ASKS: the CPU device works while it is asked, the same each time. A thread that sleeps wakes up later than SPIN_NS

// ---- What is there --------------------------------------------------------------------------------------------------

// The kernel that is launched. NULL: it is none that the pass rewrote.
static ProbedKernel *kernel_of(const GrLaunch *l) {
    const ProbedModule *m = l->module ? l->module->engine_data : NULL;
    for (uint32_t k = 0; m && l->kernel && k < m->n_kernels; k++)
        if (!strcmp(m->kernels[k].name, l->kernel))
            return &m->kernels[k];
    return NULL;
}

// Where the launch's module has its control; 0: the loaded module is not the rewritten one.
static CUdeviceptr control_of(Probe *p, const GrLaunch *l) {
    const ProbedModule *m = l->module->engine_data;
    CUdeviceptr at = 0;
    pthread_mutex_lock(&p->memory);
    for (size_t k = 0; k < m->controls.len; k++) // the last one: a context may come again
        at = m->controls.data[k].context == l->context ? m->controls.data[k].at : at;
    pthread_mutex_unlock(&p->memory);
    return at;
}

// An attribute of the current device; 0: the driver does not say.
static uint32_t device_value(const PrivatizerDriver *d, CUdevice_attribute which) {
    int value = 0;
    CUdevice device = 0;
    if (d->device(&device) != CUDA_SUCCESS || d->of_device(&value, which, device) != CUDA_SUCCESS)
        return 0;
    return (uint32_t)value;
}

static ProbeContext *context_of(Probe *p, CUcontext context) {
    const PrivatizerDriver *d = &p->driver;
    for (size_t k = 0; k < p->contexts.len; k++)
        if (p->contexts.data[k]->context == context)
            return p->contexts.data[k];
    ProbeContext *c = calloc(1, sizeof *c);
    CUmodule module;
    if (!c || !gr_vec_push(&p->contexts, c)) {
        free(c);
        return NULL;
    }
    c->context = context;
    // On the CPU device the system's part comes last, and a kernel that does not use it has none.
    c->reserved_shared =
        d->is_cpu ? 0 : device_value(d, CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK);
    c->most_shared =
        device_value(d, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN) + c->reserved_shared;
    c->multiprocessors = device_value(d, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    c->most_threads = device_value(d, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
    c->failed = d->load(&module, gr_privatizer_kernels_runtime_ptx) != CUDA_SUCCESS ||
                d->function(&c->set, module, "__gr_set") != CUDA_SUCCESS ||
                d->function(&c->merge, module, "__gr_merge_blocks") != CUDA_SUCCESS ||
                d->function(&c->check, module, "__gr_check_blocks") != CUDA_SUCCESS ||
                d->function(&c->merge_window, module, "__gr_merge_window") != CUDA_SUCCESS ||
                d->function(&c->check_window, module, "__gr_check_window") != CUDA_SUCCESS ||
                d->function(&c->commit, module, "__gr_commit") != CUDA_SUCCESS ||
                d->function(&c->gate, module, "__gr_gate") != CUDA_SUCCESS;
    // Else the driver would load each at its first launch, and wait for all running work.
    const CUfunction of[] = {c->set, c->merge, c->check, c->merge_window, c->check_window, c->gate};
    for (size_t k = 0; k < sizeof of / sizeof *of && !c->failed && d->load_function; k++)
        (void)d->load_function(of[k]);
    return c;
}

// ---- Work that is under way ----------------------------------------------------------------------------------------

static uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static bool is_over(const PrivatizerDriver *d, CUstream stream, CUevent event, const struct timespec *since,
                    time_t patience) {
    long pause = 20000;
    for (long asks = d->is_cpu ? ASKS : 0;; asks--) {
        CUresult rc = event ? d->event_query(event) : d->query(stream);
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        if (rc != CUDA_ERROR_NOT_READY)
            return rc == CUDA_SUCCESS;
        if (now.tv_sec - since->tv_sec > patience)
            return false;
        if (asks > 0 || (now.tv_sec - since->tv_sec) * 1000000000 + (now.tv_nsec - since->tv_nsec) < SPIN_NS)
            continue;
        nanosleep(&(struct timespec){0, pause}, NULL);
        pause = pause < 200000000 ? pause * 2 : pause;
    }
}

// A launch that needs all other work to be over, and how long to wait for that.
typedef struct Quiet {
    const PrivatizerDriver *d;
    CUstream stream; // in which all is over
    struct timespec since;
    time_t patience;
} Quiet;

static bool stream_is_over(void *data, const ProbeStream *s) {
    const Quiet *q = data;
    return s->stream == q->stream || is_over(q->d, NULL, s->event, &q->since, q->patience);
}

// No launch in the module's own code may be under way, as the mode is a variable of the module; nor work in the stream
// that may wait for the host. (For what is behind an event in that stream the stream is enough.)
static bool is_quiet(Probe *p, const GrLaunch *l) {
    Quiet q = {.d = &p->driver, .stream = l->stream, .patience = p->impatient ? SHORT_S : PATIENCE_S};
    clock_gettime(CLOCK_MONOTONIC, &q.since);
    bool over = is_over(&p->driver, l->stream, NULL, &q.since, q.patience) &&
                gr_streams_close(&p->streams, l->context, stream_is_over, &q);
    p->impatient |= !over;
    return over;
}

// Takes the event that is about to be recorded behind a launch that is not on private copies. NULL: out of memory.
static CUevent behind(Probe *p, const GrLaunch *l) {
    ProbeStream *s = gr_streams_find(&p->streams, l->context, l->stream);
    CUevent event = NULL;
    if (!s && p->driver.there && p->driver.event_new(&event, CU_EVENT_DISABLE_TIMING) == CUDA_SUCCESS)
        s = gr_streams_add(&p->streams, l->context, l->stream, event);
    if (s)
        gr_streams_open(&p->streams, s);
    return s ? s->event : NULL;
}

// ---- What the launch is ---------------------------------------------------------------------------------------------

// Sizes of memory and numbers of rounds are products of the launch's dimensions, which may be any, zero too: the driver
// may still refuse the launch.
static bool is_countable(const GrLaunch *l) {
    uint64_t n = 1;
    bool over = false;
    for (unsigned d = 0; d < 3; d++)
        over = over || __builtin_mul_overflow(n, l->grid[d] ? l->grid[d] : 1, &n) ||
               __builtin_mul_overflow(n, l->block[d] ? l->block[d] : 1, &n);
    return !over && n >> 40 == 0;
}

// Why no such launch runs on private copies; NULL: it does. `once`: in place of the program's.
static const char *launch_unsuited(const GrLaunch *l, bool once) {
    if (!is_countable(l))
        return "its launch has 2^40 threads or more";
    if (once && l->cooperative)
        return "its launch is cooperative: blocks wait for each other";
    if (once && (l->cluster[0] > 1 || l->cluster[1] > 1 || l->cluster[2] > 1))
        return "its launch has clusters";
    if (l->programmatic)
        return "its launch may begin before the work in front of it has ended";
    return NULL;
}

static const ProbedFunction *function_of(const Probe *p, const GrLaunch *l, ProbedKernel *k) {
    const PrivatizerDriver *d = &p->driver;
    ProbedFunction *f = &k->function;
    int shared = 0;
    if (f->context == l->context && f->of == l->func && f->ended == p->ended)
        return f;
    *f = (ProbedFunction){l->context, p->ended, l->func, l->func, 0};
    CUresult rc = d->attribute(&shared, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, l->func);
    if (rc != CUDA_SUCCESS && d->of_kernel && d->of_kernel(&f->its, (CUkernel)l->func) == CUDA_SUCCESS)
        (void)d->attribute(&shared, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, f->its);
    f->shared = (uint32_t)shared;
    return f;
}

static bool make_layout(Probe *p, const Passes *passes, const ProbedKernel *k, bool shared, bool some,
                        Layout *out) {
    const GrLaunch *l = passes->launch;
    GrArena arena = {0};
    if (!p->session->arena(p->session, &arena))
        arena = (GrArena){0};
    pthread_mutex_lock(&p->memory);
    bool made = gr_layout_make(&p->ranges, l->context, &arena,
                               shared ? passes->own_shared + (uint64_t)(k->pads ? GR_LINE : 0) : 0,
                               some ? l->params : NULL, l->param_bytes, out);
    pthread_mutex_unlock(&p->memory);
    if (!made)
        gr_level_note(p, "out of memory");
    return made;
}

static uint64_t size_of(const Memory *m) {
    return m->rows.size + m->copies.size + m->marks.size + m->lists.size + m->numbers.size +
           m->of[0].tables.size + m->of[1].tables.size;
}

// How many blocks of the launch a GPU runs at a time, at most.
static uint64_t resident(const ProbeContext *c, const GrLaunch *l) {
    uint64_t of_block = (gr_passes_threads(l) + 31) / 32 * 32,
             each = c->most_threads / (of_block ? of_block : 32);
    return (uint64_t)c->multiprocessors * (each > 32 ? 32 : each ? each : 1);
}

// Blocks of a cluster, in one dimension.
static uint32_t cluster_of(const GrLaunch *l, const ProbedKernel *k, unsigned dimension) {
    uint32_t asked = l->cluster[dimension], said = k->cluster[dimension];
    return asked ? asked : said ? said : 1;
}

static uint64_t clusters_of(const GrLaunch *l, const ProbedKernel *k) {
    uint64_t n = 1;
    for (unsigned d = 0; d < 3; d++)
        n *= l->grid[d] / cluster_of(l, k, d);
    return n;
}

// Bytes for private copies: a launch needs a copy for each unit. The driver is asked only when the program's memory has
// changed, as that takes time.
static uint64_t budget_of(Probe *p, ProbeContext *c) {
    const PrivatizerDriver *d = &p->driver;
    size_t unused = 0, total = 0;
    pthread_mutex_lock(&p->memory);
    uint64_t changes = p->ranges.changes + 1;
    pthread_mutex_unlock(&p->memory);
    if (c->changes == changes)
        return c->budget;
    if (d->info(&unused, &total) != CUDA_SUCCESS)
        unused = 0;
    uint64_t budget = (unused + size_of(&c->memory)) / 4,
             most = d->is_cpu && !p->what_for ? 256 * MIB : 4096 * MIB;
    c->budget = budget > most && (d->is_cpu || !p->what_for) ? most : budget;
    c->changes = changes;
    return c->budget;
}

// Units are all warps of the grid, and all their private copies are made at once: that compares what blocks do, too.
static bool is_whole(const GrLaunch *l, const ProbedKernel *k) {
    enum { MOST_UNITS = 256 };
    return k->whole && gr_passes_blocks(l) * ((gr_passes_threads(l) + 31) / 32) <= MOST_UNITS &&
           clusters_of(l, k) == gr_passes_blocks(l);
}

static Passes passes_of(Probe *p, ProbeContext *c, const GrLaunch *l, GrRun *run, ProbedKernel *k,
                        CUdeviceptr control) {
    const PrivatizerDriver *d = &p->driver;
    const ProbedFunction *f = function_of(p, l, k);
    uint32_t own_shared = f->shared + (uint32_t)l->shared_bytes + c->reserved_shared;
    return (Passes){.d = d,
                    .launch = l,
                    .kernel = k->shown,
                    .run = run,
                    .function = f->its,
                    .behind = behind(p, l),
                    .control = control,
                    .set = c->set,
                    .merge = c->merge,
                    .check = c->check,
                    .merge_window = c->merge_window,
                    .check_window = c->check_window,
                    .commit = c->commit,
                    .gate = c->gate,
                    .memory = &c->memory,
                    .budget = budget_of(p, c),
                    .most_copies = p->copies,
                    .clusters = clusters_of(l, k),
                    .cluster = {cluster_of(l, k, 0), cluster_of(l, k, 1), cluster_of(l, k, 2)},
                    .granule = k->granule,
                    .meets = k->meets,
                    .exchanges = k->meets && l->cooperative && !k->takes_turns && !k->tracks && !p->what_for,
                    .block_shared = k->meets ? (own_shared + 3) / 4 * 4 : 0,
                    .block_reserved = k->meets ? c->reserved_shared : 0,
                    .same_value = p->same_value,
                    .left_out = ((const ProbedModule *)l->module->engine_data)->left_out,
                    .targets = p->targets,
                    .spent = p->tells ? p->spent : NULL,
                    .reserved_shared = c->reserved_shared,
                    .own_shared = own_shared,
                    // All blocks of a cooperative launch have to fit on the device at once.
                    .most_shared = l->cooperative || k->far ? 0 : c->most_shared,
                    .near_shift = k->near_shift,
                    .near_entry = k->near_entry,
                    .dense = k->dense,
                    .pads = k->pads,
                    .windows = k->windows && !k->wild[0],
                    .whole = is_whole(l, k),
                    .target_of = ((const ProbedModule *)l->module->engine_data)->targets,
                    .most_slots = d->is_cpu ? 8 : resident(c, l),
                    .groups = d->is_cpu ? 1 : 264,
                    .most_rounds = d->is_cpu ? (uint64_t)1 << 18 : (uint64_t)1 << 28};
}

// Names the levels that the kernel does not suit, once.
static void tell_unsuited(Probe *p, ProbedKernel *k) {
    for (uint32_t mode = GR_OF_WARPS; mode >= GR_OF_BLOCKS; mode--) {
        bool warps = mode == GR_OF_WARPS;
        if (k->why[warps] && !k->told[warps])
            gr_level_note(p, "kernel %s was not checked between %s: it %s", k->shown,
                          gr_level_name(mode, gr_level_threads(k, mode)), k->why[warps]);
        k->told[warps] = k->told[warps] || k->why[warps];
    }
    if (k->early_copies && !k->why[1] && !k->early_told)
        gr_level_note(p,
                      "kernel %s: races with its %u asynchronous copies (cp.async) were not looked for "
                      "between %s: they are too "
                      "many to be followed, and each was done when it was started",
                      k->shown, k->early_copies,
                      gr_level_name(GR_OF_WARPS, gr_level_threads(k, GR_OF_WARPS)));
    k->early_told |= k->early_copies && !k->why[1];
}

// The launch's blocks cannot meet at the kernel's barriers of the grid: without a cooperative launch some blocks may
// not run; in clusters shared memory is not where it is kept from.
static bool cannot_meet(Probe *p, const GrLaunch *l, ProbedKernel *k) {
    const char *why = !k->meets         ? NULL
                      : !l->cooperative ? "is not cooperative"
                      : cluster_of(l, k, 0) * cluster_of(l, k, 1) * cluster_of(l, k, 2) > 1 ? "has clusters"
                                                                                            : NULL;
    if (why && !k->told[0])
        gr_level_note(
            p, "kernel %s was not checked between blocks: it has barriers of the grid, and its launch %s",
            k->shown, why);
    k->told[0] = k->told[0] || why;
    return why;
}

// The levels to run the launch on, as bits of the modes. A level that is proved need not run.
static unsigned levels_of(Probe *p, const GrLaunch *l, ProbedKernel *k) {
    unsigned levels = 0, proved = 0;
    p->known = (Proved){0};
    if (!k->why[0] && clusters_of(l, k) >= 2 && k->writes_global && !cannot_meet(p, l, k))
        levels |= 1u << GR_OF_BLOCKS;
    if (!k->why[1] && gr_passes_threads(l) > (p->by_warps ? 32 : 1) && (k->writes_global || k->has_shared))
        levels |= 1u << GR_OF_WARPS;
    if (levels && p->proves) {
        pthread_mutex_lock(&p->memory);
        p->known = gr_prove(k->places, l, &p->ranges, &k->proofs);
        pthread_mutex_unlock(&p->memory);
        proved = (p->known.levels & GR_PROVED_BLOCKS ? 1u << GR_OF_BLOCKS : 0) |
                 (p->known.levels & GR_PROVED_THREADS ? 1u << GR_OF_WARPS : 0);
    }
    p->proved += (levels & proved) != 0;
    levels &= ~proved;
    if (is_whole(l, k) && levels) {
        levels = 1u << GR_OF_BLOCKS;
        for (unsigned i = 0; i < GR_ONLY_WRITTEN; i++)
            if (!p->known.only_written[1][i].size)
                p->known.only_written[0][i].size = 0;
    }
    return levels >> GR_OF_WARPS & 1 && k->lanes ? levels | 1u << GR_LEVEL_LANES : levels;
}

// Submits the runs of all levels, and behind them the launch itself, which is held if any of them says something. So
// the GPU waits for the host only if something is found. *logs: what they say then. Without *held the launch is
// submitted, with result *rc.
static void run_ahead(Probe *p, Passes *passes, ProbedKernel *k, unsigned levels, GrPrivLog *logs, bool *held,
                      CUresult *rc) {
    const GrLaunch *l = passes->launch;
    bool some = l->params_known && !k->reaches;
    passes->all = !some;
    unsigned ran = 0;
    *held = true;
    *rc = CUDA_SUCCESS;
    for (uint32_t mode = GR_LEVEL_LANES; mode >= GR_OF_BLOCKS && *rc == CUDA_SUCCESS; mode--) {
        bool warps = mode != GR_OF_BLOCKS;
        Layout layout;
        PassPlan plan;
        if (!(levels >> mode & 1) || !make_layout(p, passes, k, warps, some, &layout))
            continue;
        passes->layout = &layout;
        if (gr_level_plan(p, passes, k, mode, NULL, &plan)) {
            *rc = gr_passes_submit(passes, &plan);
            ran |= 1u << mode;
            if (!p->stop && l->module->records)
                gr_races_expect(passes, &plan, &k->known, &passes->expected[mode - GR_OF_BLOCKS]);
        }
        gr_layout_free(&layout);
    }
    if (*rc == CUDA_SUCCESS && ran)
        *rc = gr_passes_end(passes, held);
    if (!*held)
        gr_level_again(p, passes, k);
    if (*held)
        memset(logs, 0, GR_LEVELS * sizeof *logs);
    if (*rc != CUDA_SUCCESS)
        gr_passes_forget(passes);
    for (uint32_t mode = GR_LEVEL_LANES; mode >= GR_OF_BLOCKS && *held && *rc == CUDA_SUCCESS; mode--)
        if (ran >> mode & 1)
            (void)gr_passes_says(passes, mode, &logs[mode - GR_OF_BLOCKS]);
    if (*held) {
        CUresult released = ran ? gr_passes_release(passes) : CUDA_SUCCESS;
        *rc = *rc == CUDA_SUCCESS ? released : *rc;
    }
}

static bool says_nothing(const GrPrivLog *log) {
    static const GrPrivHead empty;
    return !memcmp(&log->head, &empty, sizeof empty);
}

// Runs the levels. Yields whether there are races. *done: the launch was submitted, with result *rc, and the event
// behind it was recorded.
static bool probe(Probe *p, Passes *passes, ProbedKernel *k, unsigned levels, bool *done, CUresult *rc) {
    static GrPrivLog logs[GR_LEVELS]; // with Probe.lock
    const GrLaunch *l = passes->launch;
    bool differs = false, held, ahead = l->params_known && !k->reaches;
    uint64_t since = now_ns();
    run_ahead(p, passes, k, levels, logs, &held, rc);
    const PassRoom had[2] = {k->room[0], k->room[1]};
    *done = !held;
    p->waited_ns += now_ns() - since;
    since = now_ns();
    if (!held)
        return false;
    for (uint32_t mode = GR_LEVEL_LANES; mode >= GR_OF_BLOCKS; mode--) { // the smaller units first
        bool warps = mode != GR_OF_BLOCKS, over = false;
        const GrPrivLog *known = *rc == CUDA_SUCCESS ? &logs[mode - GR_OF_BLOCKS] : NULL;
        Layout layout;
        if (!(levels >> mode & 1) || (known && says_nothing(known)))
            continue;
        // Another level was cut short, not this one's own earlier rounds; or another one got more room.
        bool again = known && ((known->head.skipped && !known->head.apart) ||
                               (known->head.full && gr_room_exceeds(&k->room[warps], &had[warps])));
        known = again ? NULL : known;
        while (!over) {
            bool some = known ? ahead : l->params_known && !k->reaches;
            if (!make_layout(p, passes, k, warps, some, &layout))
                return differs;
            passes->layout = &layout;
            passes->all = !some;
            over = gr_level_run(p, passes, k, mode, some, known, &differs);
            known = NULL;
            gr_layout_free(&layout);
        }
    }
    *rc = CUDA_SUCCESS;
    p->searched_ns += now_ns() - since;
    return differs;
}

static const char *const made[] = {"", "race-free", "deterministic"};

// Runs the launch once, on private copies. False: it has to run as it is.
static bool run_once(Probe *p, Passes *passes, ProbedKernel *k, CUresult *rc) {
    const GrLaunch *l = passes->launch;
    uint32_t threads = p->what_for == PROBE_DETERMINISTIC && !k->by_warps ? 1 : 32;
    const char *why = k->why[1]      ? k->why[1]
                      : k->pretends  ? "prints, or reads a clock"
                      : k->mbarriers ? "waits at mbarriers"
                      : k->results || k->tracks
                          ? "uses the result of an atomic operation, or communicates by volatile or strong "
                            "accesses"
                      : p->what_for == PROBE_DETERMINISTIC && k->orders
                          ? "has atomic operations whose order decides what memory ends up with "
                            "(floating-point sums, exchanges)"
                          : NULL;
    if (why && !k->told[1])
        gr_level_note(p, "kernel %s was not made %s: it %s", k->shown, made[p->what_for], why);
    k->told[1] = k->told[1] || why;
    for (bool again = !why; again;) {
        bool some = l->params_known && !k->reaches;
        Layout layout;
        PassPlan plan;
        GrPrivLog log;
        again = false;
        if (!make_layout(p, passes, k, true, some, &layout))
            return false;
        passes->layout = &layout;
        if (!gr_passes_plan_once(passes, threads, gr_level_room(k, true, false), &plan)) {
            why = "there is no room for a private copy for each warp or thread";
        } else {
            *rc = gr_passes_once(passes, &plan, &log);
            again = *rc == CUDA_SUCCESS && ((log.head.outside && some) || log.head.full);
            why = log.head.apart     ? "its threads did not all come to the end of a region"
                  : log.head.over    ? "a loop went round too often"
                  : log.head.outside ? "it accesses memory that has no private copy"
                                     : NULL;
            if (log.head.full)
                (void)gr_room_more(&k->room[1], log.head.full);
            else
                k->reaches = k->reaches || again;
            if (*rc == CUDA_ERROR_OUT_OF_MEMORY) {
                why = "there is no room for a private copy for each warp or thread";
                *rc = CUDA_SUCCESS;
            }
        }
        gr_layout_free(&layout);
        if (why && !again)
            gr_level_note(p, "launch %llu of kernel %s was not made %s: %s", (unsigned long long)l->number,
                          k->shown, made[p->what_for], why);
    }
    return !why;
}

// Why the launch runs as it is: a static text, or one in `buf`. NULL: there is no reason.
static const char *unsuited(const GrLaunch *l, const ProbedKernel *k, const ProbeContext *c, bool once,
                            char *buf, size_t size) {
    const char *why = launch_unsuited(l, once);
    if (!c || c->failed)
        return "the driver takes no code of the privatizer";
    if (!why && k->why[0] && k->why[1]) {
        snprintf(buf, size, "it %s", k->why[0]);
        return buf;
    }
    return why;
}

// `reads` covers all of the kernel's groups.
static bool knows_reads(const ProbedKernel *k, const GrPrivProved *reads) {
    uint32_t n = k->places ? k->places->n_groups : 0, known = 0;
    for (uint32_t g = 0; g < n && g < GR_ONLY_READ; g++)
        known += reads[g].size != 0;
    return known == n;
}

// `written` covers all stores by threads to other memory than shared.
static bool knows_stores(const ProbedKernel *k, const GrPrivProved *written) {
    bool all = k->places;
    for (uint32_t i = 0; all && i < k->places->n_places; i++) {
        const GrPlace *a = &k->places->places[i];
        all = !a->write || a->shared || (a->puts && written[a->puts - 1].size);
    }
    return all;
}

CUresult gr_probe_launch(Probe *p, const GrLaunch *l, GrRun *run) {
    char buf[1200];
    bool wanted = p->what_for || p->session->wants_launch(p->session, l->number);
    ProbedKernel *k = wanted ? kernel_of(l) : NULL;
    gr_privatizer_driver(p->session, &p->driver);
    pthread_mutex_lock(&p->lock);
    CUdeviceptr control = k ? control_of(p, l) : 0;
    if (!control) // the verdict says why its module was not loaded so
        k = NULL;
    ProbeContext *c = k && p->driver.there ? context_of(p, l->context) : NULL;
    const char *why = k ? unsuited(l, k, c, p->what_for != PROBE_DETECT, buf, sizeof buf) : NULL;
    CUresult rc = CUDA_SUCCESS;
    bool done = false, recorded = false, checks = k && !why && !p->what_for;
    unsigned levels = checks ? levels_of(p, l, k) : 0;
    if (checks)
        tell_unsuited(p, k);
    if (why && !k->told[0])
        gr_level_note(p, "kernel %s was not %s%s: %s", k->shown, p->what_for ? "made " : "checked",
                      made[p->what_for], why);
    if (why)
        k->told[0] = true;
    else if (k && (levels || p->what_for) && !is_quiet(p, l))
        gr_level_note(
            p,
            "launch %llu of kernel %s was not checked: the work in front of it, or other launches, were not "
            "over in time",
            (unsigned long long)l->number, k->shown);
    else if (k && (levels || p->what_for)) {
        Passes passes = passes_of(p, c, l, run, k, control);
        passes.proved = &p->known;
        passes.known = !k->wild[1] && knows_reads(k, p->known.only_read);
        passes.stores_known = knows_stores(k, p->known.only_written[1]);
        if (p->what_for)
            done = run_once(p, &passes, k, &rc);
        else if (probe(p, &passes, k, levels, &recorded, &rc) && p->stop) {
            done = true;
            rc = CUDA_ERROR_LAUNCH_FAILED;
        }
        (void)gr_passes_spent(&passes);
        p->rounds += passes.rounds;
        p->peak = passes.peak > p->peak ? passes.peak : p->peak;
    }
    if (!done && !recorded)
        rc = run->submit(run, NULL);
    CUevent event = rc == CUDA_SUCCESS && !recorded ? behind(p, l) : NULL;
    if (event)
        (void)p->driver.event_record(event, l->stream);
    pthread_mutex_unlock(&p->lock);
    return rc;
}

void gr_probe_context_ended(Probe *p, CUcontext context) {
    pthread_mutex_lock(&p->lock);
    for (size_t k = p->contexts.len; k-- > 0;)
        if (p->contexts.data[k]->context == context) {
            free(p->contexts.data[k]);
            p->contexts.data[k] = p->contexts.data[--p->contexts.len];
        }
    p->ended++;
    gr_streams_forget(&p->streams, context);
    pthread_mutex_unlock(&p->lock);
}

static void tell_spent(Probe *p) {
    char text[200];
    double all = 0, of[GR_SPENT];
    for (unsigned k = 0; k < GR_SPENT; k++)
        all += (double)p->spent[k];
    for (unsigned k = 0; k < GR_SPENT; k++)
        of[k] = all > 0 ? 100 * (double)p->spent[k] / all : 0;
    snprintf(
        text, sizeof text,
        "within blocks, private runs spent %.1f %% with pass 1, %.1f %% comparing writes, %.1f %% with pass "
        "2, %.1f %% comparing what came out, %.1f %% making ready for the next block",
        of[GR_SPENT_PASS_1], of[GR_SPENT_MERGE], of[GR_SPENT_PASS_2], of[GR_SPENT_CHECK], of[GR_SPENT_CLEAR]);
    if (all > 0)
        p->session->remark(p->session, text);
    snprintf(text, sizeof text,
             "of the host's time, %.1f ms went into private runs, and %.1f ms into running such again that "
             "had no room or found something",
             (double)p->waited_ns / 1e6, (double)p->searched_ns / 1e6);
    if (p->tells && p->waited_ns)
        p->session->remark(p->session, text);
}

void gr_probe_finish(Probe *p) {
    char text[200];
    tell_spent(p);
    if (p->rounds) {
        snprintf(text, sizeof text, "private copies took at most %llu KiB, and %llu rounds of two passes",
                 (unsigned long long)(p->peak / 1024), (unsigned long long)p->rounds);
        p->session->remark(p->session, text);
    }
    if (p->proved) {
        snprintf(text, sizeof text,
                 "%llu launches, or their blocks or threads, needed no private copies: no two come to the "
                 "same bytes there, one of them to write",
                 (unsigned long long)p->proved);
        p->session->remark(p->session, text);
    }
    for (size_t k = 0; k < p->contexts.len; k++)
        free(p->contexts.data[k]);
    gr_vec_free(&p->contexts);
    gr_streams_free(&p->streams);
    gr_vec_free(&p->ranges.list);
}
