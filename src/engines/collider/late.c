// SPDX-License-Identifier: Apache-2.0
#include "engines/collider/late.h"

#include "base/map.h"
#include "base/rng.h"
#include "base/str.h"
#include "engines/collider/gate.h"
#include "engines/collider/hold.h"
#include "engines/collider/underway.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct GrLate {
    GrSession *session;
    uint64_t seed, span; // ns
    LateDriver driver;
    Holds holds;
    Gates gates;
    Underway underway;
    pthread_mutex_t lock;   // of all that follows
    uint64_t marked;        // GrLaunch.number of the newest launch that is held
    uint32_t number;        // by what it was told; 0: there is a gate in front of it
    bool always;            // whatever of these the program has
    bool streams;           // work may run beside other work
    bool shared, variables; // there was memory that the host sees; such variables of kernels
    unsigned n_kernels;     // that were launched
    unsigned n_blocking;    // streams
    Map counts;             // kind -> how many there were, and one more
    // Since the host waited for all work:
    bool some, several; // there was some in `stream`; in several streams, or side by side in a graph
    CUstream stream;
    unsigned n_held; // launches
};

GrLate *gr_late_new(GrSession *s, uint64_t seed, uint64_t longest_ns, bool always) {
    GrLate *l = calloc(1, sizeof *l);
    if (!l)
        return NULL;
    l->session = s;
    l->seed = seed;
    l->span = longest_ns < LATE_MOST_NS ? longest_ns : LATE_MOST_NS;
    l->always = l->streams = l->shared = l->variables = always;
    gr_holds_begin(&l->holds, s, &l->driver);
    gr_gates_begin(&l->gates, &l->holds, &l->driver);
    gr_underway_begin(&l->underway, &l->driver, &l->holds, &l->gates);
    pthread_mutex_init(&l->lock, NULL);
    return l;
}

void gr_late_free(GrLate *l) {
    if (!l)
        return;
    if (!gr_gates_end(&l->gates)) // the driver may yet call a function of ours
        return;
    gr_holds_end(&l->holds);
    gr_underway_end(&l->underway);
    gr_map_free(&l->counts);
    pthread_mutex_destroy(&l->lock);
    free(l);
}

// ---- What is late -------------------------------------------------------------------------------------------------

enum { KIND_LAUNCH = GR_COMING_BRANCHING_GRAPH + 1, KIND_HOST }; // and GrComingKind

static uint64_t kind_of(unsigned kind, uint64_t what) { return gr_mix64(gr_mix64(kind + 1) ^ what); }

static uint64_t kernel_of(const GrLaunch *g) {
    uint64_t name = g->kernel ? gr_hash_bytes(g->kernel, strlen(g->kernel)) : 0;
    return name ^ (g->module ? g->module->hash : 0);
}

// Counts one more of its kind; whether it is late, as the first `first` are. `draw`: random bits. With the lock.
static bool draws(GrLate *l, uint64_t kind, uint64_t first, Rng *draw, uint64_t *number) {
    uint64_t n = (uintptr_t)gr_map_get_u64(&l->counts, kind);
    if (!n && l->counts.live >= LATE_KINDS)
        n = (uintptr_t)gr_map_get_u64(&l->counts, kind = 0);
    if (!gr_map_put_u64(&l->counts, kind, (void *)(uintptr_t)(n + 1)))
        return false;
    if (number)
        *number = n;
    *draw = gr_rng_fork(l->seed, RNG_LATE, kind + n);
    return n < first || n % (n < LATE_OFTEN ? LATE_SOMETIMES : LATE_RARELY) == 0;
}

static bool draws_launch(GrLate *l, unsigned kind, const GrLaunch *g, Rng *draw, uint64_t *number) {
    uint64_t key = kind_of(kind, kernel_of(g));
    l->n_kernels += kind == KIND_LAUNCH && !gr_map_get_u64(&l->counts, key);
    return draws(l, key, LATE_LAUNCHES, draw, number);
}

// A program that launches another kernel does something else: its copies count anew.
static bool draws_coming(GrLate *l, const GrComing *w, bool graph, Rng *draw, uint64_t *number) {
    uint64_t key = kind_of(graph ? GR_COMING_GRAPH : w->kind, gr_mix64(l->n_kernels) ^ w->size);
    unsigned graphs = w->size > 1 ? LATE_GRAPHS : LATE_LAUNCHES; // one of a single kernel is a launch
    return draws(l, key, graph ? graphs : LATE_COMING, draw, number);
}

static uint64_t between(Rng *draw, uint64_t least, uint64_t most) {
    return least + gr_rng_below(draw, (uint32_t)(most - least + 1));
}

// Awake: a sleep may take some 60 us longer than it is told.
static void pause_for(uint64_t ns) {
    for (uint64_t until = gr_late_now() + ns; gr_late_now() < until;) {
    }
}

// ---- What the engine is told ---------------------------------------------------------------------------------------

void gr_late_stream_destroyed(GrLate *l, unsigned flags) {
    pthread_mutex_lock(&l->lock);
    l->n_blocking -= !(flags & CU_STREAM_NON_BLOCKING) && l->n_blocking;
    pthread_mutex_unlock(&l->lock);
}

void gr_late_shared(GrLate *l, const GrRange *r) {
    pthread_mutex_lock(&l->lock);
    l->shared = true;
    l->variables = l->variables || r->kind == GR_RANGE_GLOBAL;
    pthread_mutex_unlock(&l->lock);
}

CUdeviceptr gr_late_loaded(GrLate *l, const GrModule *m, CUdeviceptr control) {
    CUcontext context = NULL;
    CUresult (*current)(CUcontext *) =
        (CUresult(*)(CUcontext *))l->session->driver(l->session, "cuCtxGetCurrent");
    if (!current || current(&context) != CUDA_SUCCESS)
        return 0;
    return gr_holds_loaded(&l->holds, m, context, control);
}

void gr_late_unloaded(GrLate *l, const GrModule *m) { gr_holds_forget(&l->holds, m, NULL); }

void gr_late_next_run(GrLate *l, uint64_t seed) {
    pthread_mutex_lock(&l->lock);
    gr_map_free(&l->counts);
    l->counts = (Map){0};
    l->n_kernels = l->n_blocking = 0;
    l->streams = l->always; // as a process of its own, but for the modules, which stay
    l->shared = l->variables;
    l->some = l->several = false;
    l->n_held = 0;
    l->underway.patience = UNDERWAY_NS;
    l->gates.patience = GATE_LAUNCH_NS;
    l->seed = seed;
    pthread_mutex_unlock(&l->lock);
}

void gr_late_context_ended(GrLate *l, CUcontext context) {
    gr_holds_forget(&l->holds, NULL, context);
    gr_underway_context_ended(&l->underway, context);
}

// Whether work in the stream may run beside other work, by what is known now. With the lock.
static bool runs_beside(GrLate *l, CUstream stream) {
    l->streams = l->streams || stream == CU_STREAM_PER_THREAD;
    return l->streams && gr_late_driver(&l->driver, l->session);
}

// The driver has taken work of this stream, or of several.
static void note_work(GrLate *l, CUstream stream, bool several) {
    stream = gr_stream_of_thread(stream);
    pthread_mutex_lock(&l->lock);
    l->several = l->several || several || (l->some && l->stream != stream);
    l->some = true;
    l->stream = stream;
    pthread_mutex_unlock(&l->lock);
}

// The driver loads a kernel when it is first launched, and waits for the device then: nothing would run beside it. So
// kernels are loaded before, while the device has nothing to do.
static void load_kernels(GrLate *l) {
    pthread_mutex_lock(&l->lock);
    bool idle = !l->some;
    pthread_mutex_unlock(&l->lock);
    if (idle && l->session->load_kernels)
        l->session->load_kernels(l->session);
}

void gr_late_stream_created(GrLate *l, unsigned flags) {
    pthread_mutex_lock(&l->lock);
    bool streams = l->streams = l->streams || flags & CU_STREAM_NON_BLOCKING || ++l->n_blocking > 1;
    pthread_mutex_unlock(&l->lock);
    if (streams)
        load_kernels(l);
}

// Whether the host may touch what the launch works on; *r is some of that, or of size 0. Without the lock.
static bool is_shared(GrLate *l, const GrLaunch *g, GrRange *r) {
    static const unsigned kinds =
        1u << GR_RANGE_MANAGED | 1u << GR_RANGE_PINNED | 1u << GR_RANGE_REGISTERED | 1u << GR_RANGE_IMPORTED;
    *r = (GrRange){0};
    pthread_mutex_lock(&l->lock);
    bool some = l->shared, all = l->variables;
    pthread_mutex_unlock(&l->lock);
    return some && (l->session->points(l->session, g, kinds, r) || all);
}

// Managed memory moves to the device when a kernel touches it, longer than a window. So it moves before the launch.
static void fetch(GrLate *l, const GrRange *r, CUstream stream) {
    static const size_t most = 2 << 20;
    CUdevice device;
    if (r->size && r->kind == GR_RANGE_MANAGED && l->driver.prefetch &&
        l->driver.device(&device) == CUDA_SUCCESS)
        (void)l->driver.prefetch(r->at, r->size < most ? r->size : most, device,
                                 stream); // some devices refuse it
}

// How a launch, number `n` of its kernel or graph, is held: until the next launch has begun, into whose windows it goes
// on. Some warps of the next one do not wait, and come into this one's windows. With the lock.
static uint32_t how_held(GrLate *l, uint64_t n) {
    uint32_t shorter = n >= LATE_LAUNCHES, parts = l->n_held++ > 0;
    return shorter << GR_BESIDE_SHORTER | (parts ? GR_BESIDE_PARTS : 0);
}

// The stream's next launch is not held. A launch of another stream that reads the same word must have begun.
static void release(GrLate *l, const GrModule *m, CUcontext context, CUstream stream) {
    if (!gr_holds_are_told(&l->holds, m, context))
        return;
    gr_underway_await_others(&l->underway, stream);
    gr_holds_release(&l->holds, m, context, stream);
}

void gr_late_launching(GrLate *l, const GrLaunch *g) {
    CUcontext context = NULL;
    GrRange with;
    Rng draw;
    uint64_t n = 0;
    if (g->programmatic)
        return;
    pthread_mutex_lock(&l->lock);
    bool streams = runs_beside(l, g->stream), held = false;
    if ((streams || l->shared) && gr_late_driver(&l->driver, l->session))
        held = draws_launch(l, KIND_LAUNCH, g, &draw, &n);
    // One gate opens after the other, and what is behind the older ones may wait for this launch.
    bool late = held && streams && between(&draw, 0, 7) == 0 && !gr_gates_are_shut(&l->gates);
    uint64_t extra = late ? between(&draw, 0, l->span) : 0;
    uint32_t how = held ? how_held(l, n) : 0;
    bool stays = l->seed & 2; // what comes is the host, or another launch
    bool known = l->driver.there && l->driver.current(&context) == CUDA_SUCCESS;
    pthread_mutex_unlock(&l->lock);
    if (!known)
        return;
    bool shared = held && is_shared(l, g, &with);
    held = held && (streams || shared);
    if (streams)
        load_kernels(l);
    gr_gates_open(&l->gates, g->stream, GATES_OF_STREAM);
    if (shared)
        fetch(l, &with, g->stream);
    if (!held) {
        if (g->module)
            release(l, g->module, context, g->stream);
        return;
    }
    gr_holds_say(&l->holds, GR_HOST_BUSY);
    uint32_t number = 0;
    if (g->module)
        number = gr_holds_tell(&l->holds, g->module, context, g->stream,
                               shared && (!streams || stays) ? GR_BESIDE_STAYS : how);
    if (late)
        gr_gate_put(&l->gates, g->stream, extra, false);
    __atomic_store_n(&l->number, late ? 0 : number, __ATOMIC_RELAXED);
    __atomic_store_n(&l->marked, g->number, __ATOMIC_RELAXED);
}

void gr_late_launched(GrLate *l, const GrLaunch *g, CUresult result) {
    CUcontext context = NULL;
    GrRange with;
    Rng draw;
    uint64_t ns = 0;
    if (result == CUDA_SUCCESS)
        note_work(l, g->stream, false);
    if (!l->driver.there)
        return;
    if (__atomic_load_n(&l->marked, __ATOMIC_RELAXED) != g->number)
        return;
    if (result == CUDA_SUCCESS && __atomic_load_n(&l->number, __ATOMIC_RELAXED) &&
        l->driver.current(&context) == CUDA_SUCCESS)
        gr_underway_mark(&l->underway, context, g->stream, __atomic_load_n(&l->number, __ATOMIC_RELAXED));
    if (result != CUDA_SUCCESS) {
        gr_holds_say(&l->holds, GR_HOST_OPEN);
        return;
    }
    if (__atomic_load_n(&l->number, __ATOMIC_RELAXED))
        gr_holds_share(&l->holds, __atomic_load_n(&l->number, __ATOMIC_RELAXED));
    pthread_mutex_lock(&l->lock);
    if (l->shared && draws_launch(l, KIND_HOST, g, &draw, NULL))
        ns = between(&draw, 0, 1) ? between(&draw, LATE_SOON_NS / 4, LATE_SOON_NS)
                                  : between(&draw, l->span / 16, l->span);
    pthread_mutex_unlock(&l->lock);
    bool shared = ns && is_shared(l, g, &with); // asked last: it takes longest
    if (shared) {
        gr_underway_await_one(&l->underway);
        pause_for(ns);
    }
    // The host may be slow to touch managed memory.
    gr_holds_say(&l->holds, shared ? GR_HOST_TOUCHES : GR_HOST_OPEN);
}

// Whether a copy is there to be made late: one that writes device memory, and for whose end the call need not wait. One
// from pageable memory may return when the bytes are staged, if it is small (CUDA runtime API, "API synchronization
// behavior"); a large one waits for what is in front of it in its stream. *pageable: so may one that is not async.
static bool may_be_late(GrLate *l, const GrComing *w, bool *pageable) {
    enum { STAGED = 65536 };
    unsigned type = 0;
    *pageable = false;
    if (w->kind != GR_COMING_COPY)
        return true;
    if (l->driver.ask(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, w->to) != CUDA_SUCCESS ||
        type == CU_MEMORYTYPE_HOST)
        return false;
    if (!w->from)
        return true;
    if (l->driver.ask(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, w->from) == CUDA_SUCCESS)
        return w->async || type != CU_MEMORYTYPE_HOST;
    bool small = w->size <= STAGED;
    *pageable = small && !w->async;
    return small;
}

// Kernels of one graph begin soon behind each other, and may be many.
static uint32_t graph_held(GrLate *l, size_t n_kernels, uint64_t n) {
    unsigned shorter = n_kernels > 16 ? 3 : n_kernels > 4 ? 2 : 1;
    if (n_kernels == 1)
        return how_held(l, n);
    shorter += n >= LATE_GRAPHS;
    return (shorter < 3 ? shorter : 3) << GR_BESIDE_SHORTER;
}

// The number by which the graph was told that this thread is submitting; 0: it is not held.
static __thread uint32_t graph_told;

bool gr_late_submitting(GrLate *l, const GrComing *w) {
    CUcontext context = NULL;
    Rng draw;
    bool graph = w->kind == GR_COMING_GRAPH || w->kind == GR_COMING_BRANCHING_GRAPH;
    bool late = false, pageable = false, gated = false, midst = false;
    uint64_t ns = 0, n = 0;
    uint32_t how = 0;
    pthread_mutex_lock(&l->lock);
    bool beside =
        (runs_beside(l, w->stream) || w->kind == GR_COMING_BRANCHING_GRAPH || (graph && l->shared)) &&
        gr_late_driver(&l->driver, l->session);
    if (beside && (late = draws_coming(l, w, graph, &draw, &n))) {
        ns = between(&draw, 0, 1) ? between(&draw, 0, l->span) : 0;
        gated = l->streams;
        midst = gated && between(&draw, 0, 3);
        how = graph ? graph_held(l, w->size, n) : 0;
    }
    bool streams = l->streams, known = beside && l->driver.current(&context) == CUDA_SUCCESS;
    pthread_mutex_unlock(&l->lock);
    if (!known)
        return false;
    if (streams)
        load_kernels(l);
    gr_holds_say(&l->holds, w->async ? GR_HOST_BUSY : GR_HOST_OPEN);
    // One gate opens after the other, and what is behind the older ones may wait for a kernel of this graph.
    if (graph && gr_gates_are_shut(&l->gates))
        gated = midst = false;
    if (gated && !may_be_late(l, w, &pageable))
        gated = midst = false;
    // Nearly all programs take such a copy for done when the call returns. Unless asked, only the call comes late.
    if (pageable && !l->always)
        gated = pageable = false;
    if (graph)
        gr_gates_open(&l->gates, w->stream, GATES_OF_STREAM);
    if (graph && late) {
        graph_told = gr_holds_tell(&l->holds, NULL, context, w->stream, how);
    } else if (graph) {
        release(l, NULL, context, w->stream);
    }
    if (midst && gr_underway_some(&l->underway)) {
        // The call itself comes late, into the midst of it.
        gr_underway_await_one(&l->underway);
        pause_for(ns);
        pageable = false;
    } else if (gated) {
        // The call would do so, too: work in front of the copy has ended when the bytes are taken.
        if (pageable && l->driver.wait(w->stream) != CUDA_SUCCESS)
            return false;
        gr_gate_put(&l->gates, w->stream, ns, gr_underway_is_to_begin(&l->underway, w->stream));
        graph_told = 0; // a launch with a gate in front of it: none waits for its begin
    }
    return pageable && gated;
}

void gr_late_submitted(GrLate *l, const GrComing *w) {
    CUcontext context = NULL;
    note_work(l, w->stream, w->kind == GR_COMING_BRANCHING_GRAPH);
    if (graph_told && l->driver.current(&context) == CUDA_SUCCESS)
        gr_underway_mark(&l->underway, context, w->stream, graph_told);
    graph_told = 0;
    if (l->driver.there)
        gr_holds_say(&l->holds, GR_HOST_OPEN);
}

void gr_late_ordered(GrLate *l, const GrOrdering *o) { gr_gates_order(&l->gates, o); }

void gr_late_waiting(GrLate *l, const GrWait *w) {
    if (!l->driver.there)
        return;
    pthread_mutex_lock(&l->lock);
    bool alone = !l->several && (w->kind == GR_WAIT_ALL ||
                                 (w->kind == GR_WAIT_STREAM && gr_stream_of_thread(w->stream) == l->stream));
    pthread_mutex_unlock(&l->lock);
    gr_gates_open(&l->gates, NULL, GATES_ALONE);
    // Else earlier work may be about to come beside a held kernel, or the host is about to go on behind an event.
    if (alone)
        gr_holds_say(&l->holds, GR_HOST_WAITS);
}

void gr_late_waited(GrLate *l, const GrWait *w) {
    pthread_mutex_lock(&l->lock);
    if (w->kind == GR_WAIT_ALL) {
        l->some = l->several = false;
        l->n_held = 0;
    }
    pthread_mutex_unlock(&l->lock);
}
