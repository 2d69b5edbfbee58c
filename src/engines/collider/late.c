// SPDX-License-Identifier: Apache-2.0
#include "engines/collider/late.h"

#include "base/map.h"
#include "base/rng.h"
#include "base/str.h"
#include "base/vec.h"
#include "engines/collider/device/record.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// The control block of a module, or of a part of it, in a context; and what its word was last told in a stream.
typedef struct Control {
    const GrModule *module;
    CUcontext context;
    CUdeviceptr hold;
    bool held;
} Control;

struct GrLate {
    GrSession *session;
    uint64_t seed, span;  // ns
    pthread_mutex_t lock; // of all that follows
    bool there, missing, said;
    CUresult (*current)(CUcontext *);
    CUresult (*fill)(CUdeviceptr, unsigned, size_t, CUstream);
    CUresult (*host_function)(CUstream, CUhostFn, void *);
    CUresult (*ask)(void *, CUpointer_attribute, CUdeviceptr);
    CUresult (*prefetch)(CUdeviceptr, size_t, CUdevice, CUstream); // NULL: there is none
    CUresult (*device)(CUdevice *);
    CUresult (*wait)(CUstream);
    CUresult (*new_event)(CUevent *, unsigned);
    CUresult (*record)(CUevent, CUstream);
    CUresult (*query)(CUevent);
    CUevent begun, ended; // in front of the newest launch that is held, and behind it; NULL: not needed yet
    CUcontext launched_in;
    uint64_t marked;        // the number of that launch
    bool always;            // whatever of these the program has
    bool streams;           // work may run beside other work
    bool shared, variables; // there was memory that the host sees; such variables of kernels
    unsigned n_kernels;     // that were launched
    unsigned n_blocking;    // streams
    Map counts;             // kind -> how many there were, and one more
    VEC(Control) controls;
};

GrLate *gr_late_new(GrSession *s, uint64_t seed, uint64_t longest_ns, bool always) {
    GrLate *l = calloc(1, sizeof *l);
    if (!l)
        return NULL;
    l->session = s;
    l->seed = seed;
    l->span = longest_ns < LATE_MOST_NS ? longest_ns : LATE_MOST_NS;
    l->always = l->streams = l->shared = l->variables = always;
    pthread_mutex_init(&l->lock, NULL);
    return l;
}

void gr_late_free(GrLate *l) {
    if (!l)
        return;
    gr_map_free(&l->counts);
    gr_vec_free(&l->controls);
    pthread_mutex_destroy(&l->lock);
    free(l);
}

// With the lock. False, and said once: the driver lacks something.
static bool find_driver(GrLate *l) {
    if (l->there || l->missing)
        return l->there;
    bool all = true;
#define FIND(field, name)                                                                                    \
    l->field = (__typeof__(l->field))l->session->driver(l->session, name);                                   \
    all = all && l->field;
    FIND(current, "cuCtxGetCurrent")
    FIND(fill, "cuMemsetD32Async")
    FIND(host_function, "cuLaunchHostFunc")
    FIND(ask, "cuPointerGetAttribute")
    FIND(device, "cuCtxGetDevice")
    FIND(wait, "cuStreamSynchronize")
    FIND(new_event, "cuEventCreate")
    FIND(record, "cuEventRecord")
    FIND(query, "cuEventQuery")
    l->there = all;
    FIND(prefetch, "cuMemPrefetchAsync")
#undef FIND
    l->missing = !all;
    if (!all)
        l->session->remark(l->session, "--late-work had no effect: the driver lacks what it needs");
    return all;
}

// ---- What is late -------------------------------------------------------------------------------------------------

enum { KIND_LAUNCH = GR_COMING_BRANCHING_GRAPH + 1, KIND_HOST }; // and GrComingKind

static uint64_t kind_of(unsigned kind, uint64_t what) { return gr_mix64(gr_mix64(kind + 1) ^ what); }

static uint64_t kernel_of(const GrLaunch *g) {
    uint64_t name = g->kernel ? gr_hash_bytes(g->kernel, strlen(g->kernel)) : 0;
    return name ^ (g->module ? g->module->hash : 0);
}

// Counts one of its kind, of which the first `first` are late. Whether it is late; `draw` gets uniform bits. With the lock.
static bool draws(GrLate *l, uint64_t kind, uint64_t first, Rng *draw) {
    uint64_t n = (uintptr_t)gr_map_get_u64(&l->counts, kind);
    if (!n && l->counts.live >= LATE_KINDS)
        n = (uintptr_t)gr_map_get_u64(&l->counts, kind = 0);
    if (!gr_map_put_u64(&l->counts, kind, (void *)(uintptr_t)(n + 1)))
        return false;
    *draw = gr_rng_fork(l->seed, RNG_LATE, kind + n);
    return n < first || n % (n < LATE_OFTEN ? LATE_SOMETIMES : LATE_RARELY) == 0;
}

static bool draws_launch(GrLate *l, unsigned kind, const GrLaunch *g, Rng *draw) {
    uint64_t key = kind_of(kind, kernel_of(g));
    l->n_kernels += kind == KIND_LAUNCH && !gr_map_get_u64(&l->counts, key);
    return draws(l, key, LATE_LAUNCHES, draw);
}

// A program that launches another kernel does something else: its copies count anew.
static bool draws_coming(GrLate *l, const GrComing *w, bool graph, Rng *draw) {
    uint64_t key = kind_of(graph ? GR_COMING_GRAPH : w->kind, gr_mix64(l->n_kernels) ^ w->size);
    return draws(l, key, LATE_COMING, draw);
}

static uint64_t between(Rng *draw, uint64_t least, uint64_t most) {
    return least + gr_rng_below(draw, (uint32_t)(most - least + 1));
}

// ---- Sleeping -----------------------------------------------------------------------------------------------------

static uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

// Awake: a sleep may take some 60 us longer than it is told.
static void pause_for(uint64_t ns) {
    for (uint64_t until = now_ns() + ns; now_ns() < until;) {
    }
}

static void CUDA_CB sleep_in_stream(void *ns) { pause_for((uintptr_t)ns); }

static void delay_stream(GrLate *l, CUstream stream, uint64_t ns) {
    // What is refused here is a matter of the stream, which the program's own call is about to learn.
    (void)l->host_function(stream, sleep_in_stream, (void *)(uintptr_t)ns);
}

// ---- When a launch begins -------------------------------------------------------------------------------------------

// A GPU that other processes use, too, may begin a launch long after the call. So an event goes in front of a launch, and one behind it.
static void mark_launch(GrLate *l, CUcontext context, CUevent *which, CUstream stream) {
    pthread_mutex_lock(&l->lock);
    if (!l->launched_in)
        l->launched_in = context;
    bool mine =
        l->launched_in == context && (*which || l->new_event(which, CU_EVENT_DISABLE_TIMING) == CUDA_SUCCESS);
    CUevent event = *which;
    pthread_mutex_unlock(&l->lock);
    if (mine)
        (void)l->record(event, stream);
}

static bool is_pending(GrLate *l, const CUevent *which) {
    pthread_mutex_lock(&l->lock);
    CUevent event = *which;
    pthread_mutex_unlock(&l->lock);
    return event && l->query(event) == CUDA_ERROR_NOT_READY;
}

// Waits until all that is in front of the newest launch has ended, but not for long: that may need what this thread is about to do.
static void await_launch(GrLate *l) {
    uint64_t until = now_ns() + LATE_MOST_NS;
    while (is_pending(l, &l->begun) && now_ns() < until) {
    }
}

// ---- Kernels are held ----------------------------------------------------------------------------------------------

static void complain(GrLate *l) {
    bool first = !l->said;
    l->said = true;
    if (first)
        l->session->remark(
            l->session,
            "--late-work: the driver refused to write a word before a launch, which then waits as others do");
}

// Tells the controls of a module in the context, all of them where `m` is NULL, in the stream. Another thread may add controls meanwhile.
static void hold(GrLate *l, const GrModule *m, CUcontext context, CUstream stream, bool held) {
    for (size_t i = 0;; i++) {
        CUdeviceptr at = 0;
        pthread_mutex_lock(&l->lock);
        while (i < l->controls.len && !at) {
            Control *c = &l->controls.data[i];
            if ((!m || c->module == m) && c->context == context && c->held != held) {
                at = c->hold;
                c->held = held;
            } else {
                i++;
            }
        }
        pthread_mutex_unlock(&l->lock);
        if (!at)
            return;
        // Without the lock: it may wait for room in the stream.
        if (l->fill(at, held, 1, stream) != CUDA_SUCCESS)
            complain(l);
    }
}

// ---- What the engine is told ---------------------------------------------------------------------------------------

void gr_late_stream_created(GrLate *l, unsigned flags) {
    pthread_mutex_lock(&l->lock);
    l->streams = l->streams || flags & CU_STREAM_NON_BLOCKING || ++l->n_blocking > 1;
    pthread_mutex_unlock(&l->lock);
}

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

void gr_late_loaded(GrLate *l, const GrModule *m, CUdeviceptr control) {
    CUcontext context = NULL;
    pthread_mutex_lock(&l->lock);
    l->current = (CUresult(*)(CUcontext *))l->session->driver(l->session, "cuCtxGetCurrent");
    if (l->current && l->current(&context) == CUDA_SUCCESS)
        (void)gr_vec_push(&l->controls,
                          ((Control){m, context, control + offsetof(GrControl, beside), false}));
    pthread_mutex_unlock(&l->lock);
}

static void forget(GrLate *l, const GrModule *m, CUcontext context) {
    size_t n = 0;
    pthread_mutex_lock(&l->lock);
    for (size_t i = 0; i < l->controls.len; i++)
        if (l->controls.data[i].module != m && l->controls.data[i].context != context)
            l->controls.data[n++] = l->controls.data[i];
    l->controls.len = n;
    pthread_mutex_unlock(&l->lock);
}

void gr_late_unloaded(GrLate *l, const GrModule *m) { forget(l, m, NULL); }

void gr_late_next_run(GrLate *l, uint64_t seed) {
    pthread_mutex_lock(&l->lock);
    gr_map_free(&l->counts);
    l->counts = (Map){0};
    l->n_kernels = l->n_blocking = 0;
    l->streams = l->always; // as a process of its own, but for the modules, which stay
    l->shared = l->variables;
    l->seed = seed;
    pthread_mutex_unlock(&l->lock);
}

void gr_late_context_ended(GrLate *l, CUcontext context) {
    forget(l, NULL, context);
    pthread_mutex_lock(&l->lock);
    if (l->launched_in == context) { // the events are gone, too
        l->launched_in = NULL;
        l->begun = l->ended = NULL;
    }
    pthread_mutex_unlock(&l->lock);
}

// Whether work in the stream may run beside other work, by what is known now. With the lock.
static bool runs_beside(GrLate *l, CUstream stream) {
    l->streams = l->streams || stream == CU_STREAM_PER_THREAD;
    return l->streams && find_driver(l);
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

// Managed memory moves to the device when a kernel touches it, which takes longer than a window. So it comes before the launch.
static void fetch(GrLate *l, const GrRange *r, CUstream stream) {
    static const size_t most = 2 << 20;
    CUdevice device;
    if (r->size && r->kind == GR_RANGE_MANAGED && l->prefetch && l->device(&device) == CUDA_SUCCESS)
        (void)l->prefetch(r->at, r->size < most ? r->size : most, device, stream); // some devices refuse it
}

void gr_late_launching(GrLate *l, const GrLaunch *g) {
    CUcontext context = NULL;
    GrRange with;
    Rng draw;
    if (g->programmatic)
        return;
    pthread_mutex_lock(&l->lock);
    bool streams = runs_beside(l, g->stream), held = false;
    if ((streams || l->shared) && find_driver(l))
        held = draws_launch(l, KIND_LAUNCH, g, &draw);
    uint64_t late = held && streams && between(&draw, 0, 7) == 0 ? between(&draw, 0, 2 * l->span) : 0;
    bool known = l->there && l->current(&context) == CUDA_SUCCESS;
    pthread_mutex_unlock(&l->lock);
    bool shared = held && is_shared(l, g, &with);
    held = held && (streams || shared);
    if (!known)
        return;
    if (late)
        delay_stream(l, g->stream, late);
    if (shared)
        fetch(l, &with, g->stream);
    if (g->module)
        hold(l, g->module, context, g->stream, held);
    if (!held)
        return;
    mark_launch(l, context, &l->begun, g->stream);
    __atomic_store_n(&l->marked, g->number, __ATOMIC_RELAXED);
}

void gr_late_launched(GrLate *l, const GrLaunch *g, CUresult result) {
    CUcontext context = NULL;
    GrRange with;
    Rng draw;
    uint64_t ns = 0;
    if (result != CUDA_SUCCESS)
        return;
    if (__atomic_load_n(&l->marked, __ATOMIC_RELAXED) == g->number && l->current(&context) == CUDA_SUCCESS)
        mark_launch(l, context, &l->ended, g->stream);
    pthread_mutex_lock(&l->lock);
    if (l->shared && draws_launch(l, KIND_HOST, g, &draw))
        ns = between(&draw, l->span / 16, l->span);
    pthread_mutex_unlock(&l->lock);
    if (!ns || !is_shared(l, g, &with)) // asked last: it takes longest
        return;
    await_launch(l);
    pause_for(ns);
}

// Whether a copy is there to be made late: one that writes device memory, and for whose end the call need not wait. *pageable: it may return when
// the bytes are staged, if it is small (CUDA runtime API, "API synchronization behavior").
static bool may_be_late(GrLate *l, const GrComing *w, bool *pageable) {
    enum { STAGED = 65536 };
    unsigned type = 0;
    *pageable = false;
    if (w->kind != GR_COMING_COPY)
        return true;
    if (l->ask(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, w->to) != CUDA_SUCCESS || type == CU_MEMORYTYPE_HOST)
        return false;
    if (w->async || !w->from)
        return true;
    if (l->ask(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, w->from) != CUDA_SUCCESS)
        return *pageable = w->size <= STAGED;
    return type != CU_MEMORYTYPE_HOST;
}

// How long a delay in a stream is: any order of magnitude up to twice the longest wait is as likely as any other, since nobody knows when what
// comes in other streams begins.
static uint64_t of_any_size(const GrLate *l, Rng *draw) {
    uint64_t most = 2 * l->span >> between(draw, 0, 3);
    return between(draw, most / 2, most);
}

bool gr_late_submitting(GrLate *l, const GrComing *w) {
    CUcontext context = NULL;
    Rng draw;
    bool graph = w->kind == GR_COMING_GRAPH || w->kind == GR_COMING_BRANCHING_GRAPH;
    bool late = false, pageable = false;
    uint64_t in_stream = 0, in_host = 0;
    pthread_mutex_lock(&l->lock);
    bool beside =
        (runs_beside(l, w->stream) || w->kind == GR_COMING_BRANCHING_GRAPH || (graph && l->shared)) &&
        find_driver(l);
    if (beside && (late = draws_coming(l, w, graph, &draw)) && l->streams) {
        in_stream = of_any_size(l, &draw);
        in_host = between(&draw, 0, 3) ? between(&draw, 1, l->span) : 0;
    }
    bool known = beside && l->current(&context) == CUDA_SUCCESS;
    pthread_mutex_unlock(&l->lock);
    if (!known)
        return false;
    if (in_host + in_stream && !may_be_late(l, w, &pageable))
        in_host = in_stream = 0;
    // Nearly all programs take such a copy for done when the call returns. Unless asked, it is no more than the call that comes late.
    if (pageable && !l->always) {
        in_stream = 0;
        pageable = false;
    }
    if (in_host && is_pending(l, &l->ended)) {
        // A launch is on its way: the call itself comes late, into the midst of it.
        await_launch(l);
        pause_for(in_host);
        pageable = false;
    } else if (in_stream) {
        // As the call would: what is in front of the copy has ended when the bytes are taken.
        if (pageable && l->wait(w->stream) != CUDA_SUCCESS)
            return false;
        delay_stream(l, w->stream, in_stream);
    }
    if (graph)
        hold(l, NULL, context, w->stream, late);
    return pageable;
}
