// SPDX-License-Identifier: Apache-2.0
#include "engines/collider/gate.h"

#include <time.h>

enum { FREE, SHUT, OPEN };

static void pause_until(uint64_t until) {
    while (gr_late_now() < until) {
    }
}

static uint32_t state_of(Gate *g) { return __atomic_load_n(&g->state, __ATOMIC_ACQUIRE); }

// Whether the gate opens by itself now: the launch that it waits for has begun, or nothing is to come.
static bool is_time(Gate *g, uint64_t now) {
    Holds *h = g->of->holds;
    uint32_t newest = __atomic_load_n(&h->newest, __ATOMIC_RELAXED);
    bool awaits = newest != g->newest || g->for_newest;
    if (awaits && gr_holds_begun(h, newest)) {
        gr_holds_await_inside(h, newest);
        pause_until(gr_late_now() + g->extra);
        return true;
    }
    uint64_t changed = __atomic_load_n(&h->changed, __ATOMIC_RELAXED);
    uint64_t since = changed > g->made ? changed : g->made;
    uint64_t patience = __atomic_load_n(&g->of->patience, __ATOMIC_RELAXED);
    if (!awaits)
        return now > since + (gr_holds_state(h) == GR_HOST_BUSY ? GATE_BUSY_NS : GATE_IDLE_NS) ||
               now > g->made + GATE_MOST_NS;
    if (now < since + patience && now < g->made + GATE_MOST_NS)
        return false;
    if (patience > GATE_LEAST_NS)
        __atomic_store_n(&g->of->patience, patience / 4, __ATOMIC_RELAXED);
    return true;
}

static void CUDA_CB wait_at_gate(void *gate) {
    static const struct timespec nap = {.tv_nsec = 20000};
    Gate *g = gate;
    while (state_of(g) == SHUT) {
        uint64_t now = gr_late_now();
        if (is_time(g, now))
            break;
        if (now > g->made + 2 * GATE_LEAST_NS) // a program that waits so long for us may want the processor
            nanosleep(&nap, NULL);
    }
    gr_holds_opened(g->of->holds, g->newest, g->for_newest);
    __atomic_store_n(&g->state, FREE, __ATOMIC_RELEASE);
}

void gr_gates_begin(Gates *g, Holds *h, const LateDriver *d) {
    *g = (Gates){.holds = h, .driver = d, .patience = GATE_LAUNCH_NS};
    pthread_mutex_init(&g->lock, NULL);
}

// ---- What is behind which gates -------------------------------------------------------------------------------------

static uint32_t *entry_of(Gates *g, const void *what) {
    for (unsigned k = 0; k < GATES_BEHIND; k++)
        if (g->behind[k].what == what && g->behind[k].gates)
            return &g->behind[k].gates;
    return NULL;
}

static void set_entry(Gates *g, const void *what, uint32_t gates) {
    uint32_t *known = entry_of(g, what);
    if (known)
        *known = gates;
    for (unsigned k = 0; k < GATES_BEHIND && !known && gates; k++)
        if (!g->behind[k].gates) { // else it is not known, and the gates open later
            g->behind[k].what = what;
            g->behind[k].gates = gates;
            return;
        }
}

static void forget(Gates *g, uint32_t gates) {
    pthread_mutex_lock(&g->lock);
    for (unsigned k = 0; k < GATES_BEHIND; k++)
        g->behind[k].gates &= ~gates;
    pthread_mutex_unlock(&g->lock);
}

static uint32_t shut(Gates *g) {
    uint32_t gates = 0;
    for (unsigned k = 0; k < GATES; k++)
        gates |= (uint32_t)(state_of(&g->all[k]) == SHUT) << k;
    return gates;
}

bool gr_gates_are_shut(Gates *g) { return shut(g) != 0; }

// The shut gates in front of the stream's next work. With the lock.
static uint32_t in_front(Gates *g, CUstream stream) {
    const uint32_t *known = entry_of(g, stream);
    uint32_t gates = known ? *known : 0, all = shut(g);
    for (unsigned k = 0; k < GATES; k++)
        if (all >> k & 1 && g->all[k].stream == stream)
            gates |= 1u << k;
    return gates & all;
}

void gr_gates_order(Gates *g, const GrOrdering *o) {
    if (!__atomic_load_n(&g->n, __ATOMIC_RELAXED))
        return;
    pthread_mutex_lock(&g->lock);
    if (o->waits) {
        const uint32_t *known = entry_of(g, o->event);
        set_entry(g, o->stream, in_front(g, o->stream) | (known ? *known & shut(g) : 0));
    } else {
        set_entry(g, o->event, in_front(g, o->stream));
    }
    pthread_mutex_unlock(&g->lock);
}

void gr_gate_put(Gates *gates, CUstream stream, uint64_t extra, bool for_newest) {
    // Places take turns, so that one is soon behind no event.
    unsigned first = __atomic_fetch_add(&gates->n, 1, __ATOMIC_RELAXED);
    for (unsigned i = 0; i < GATES; i++) {
        unsigned k = (first + i) % GATES;
        Gate *g = &gates->all[k];
        uint32_t expected = FREE;
        if (!__atomic_compare_exchange_n(&g->state, &expected, OPEN, false, __ATOMIC_ACQUIRE,
                                         __ATOMIC_RELAXED))
            continue;
        forget(gates, 1u << k);
        g->of = gates;
        g->stream = stream;
        g->newest = gr_holds_shut(gates->holds, for_newest);
        g->made = gr_late_now();
        g->extra = extra;
        g->for_newest = for_newest;
        __atomic_store_n(&g->state, SHUT, __ATOMIC_RELEASE);
        // What is refused here is a matter of the stream, which the program's own call is about to learn.
        if (gates->driver->host_function(stream, wait_at_gate, g) != CUDA_SUCCESS) {
            gr_holds_opened(gates->holds, g->newest, for_newest);
            __atomic_store_n(&g->state, FREE, __ATOMIC_RELEASE);
        }
        return;
    }
}

static bool is_legacy(CUstream stream) { return !stream || stream == CU_STREAM_LEGACY; }

static bool waits_for(const LateDriver *d, CUstream stream, CUstream other) {
    unsigned flags = CU_STREAM_NON_BLOCKING;
    if (stream == other || is_legacy(stream) == is_legacy(other))
        return stream == other || is_legacy(stream);
    CUstream of_program = is_legacy(stream) ? other : stream;
    return d->flags && d->flags(of_program, &flags) == CUDA_SUCCESS && !(flags & CU_STREAM_NON_BLOCKING);
}

void gr_gates_open(Gates *gates, CUstream stream, GatesWhich which) {
    uint32_t newest = __atomic_load_n(&gates->holds->newest, __ATOMIC_RELAXED), behind = 0;
    if (which == GATES_OF_STREAM && shut(gates)) {
        pthread_mutex_lock(&gates->lock);
        behind = in_front(gates, stream);
        pthread_mutex_unlock(&gates->lock);
    }
    for (unsigned k = 0; k < GATES; k++) {
        Gate *g = &gates->all[k];
        uint32_t expected = SHUT;
        if (state_of(g) != SHUT)
            continue;
        if (which == GATES_ALL || behind >> k & 1 ||
            (which == GATES_ALONE ? g->newest == newest && !g->for_newest
                                  : waits_for(gates->driver, stream, g->stream)))
            __atomic_compare_exchange_n(&g->state, &expected, OPEN, false, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED);
    }
}

bool gr_gates_end(Gates *gates) {
    bool all = true;
    static const struct timespec nap = {.tv_nsec = 20000};
    uint64_t until = gr_late_now() + 2 * GATE_MOST_NS;
    for (unsigned k = 0; k < GATES; k++) {
        uint32_t expected = SHUT;
        __atomic_compare_exchange_n(&gates->all[k].state, &expected, OPEN, false, __ATOMIC_RELEASE,
                                    __ATOMIC_RELAXED);
        while (state_of(&gates->all[k]) != FREE && gr_late_now() < until)
            nanosleep(&nap, NULL);
        all = all && state_of(&gates->all[k]) == FREE;
    }
    if (all)
        pthread_mutex_destroy(&gates->lock);
    return all;
}
