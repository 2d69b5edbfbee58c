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
    if (newest != g->newest && gr_holds_begun(h, newest)) {
        pause_until(now + g->extra);
        return true;
    }
    uint64_t changed = __atomic_load_n(&h->changed, __ATOMIC_RELAXED);
    uint64_t since = changed > g->made ? changed : g->made;
    uint64_t patience = __atomic_load_n(&g->of->patience, __ATOMIC_RELAXED);
    if (newest == g->newest)
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
    __atomic_store_n(&g->state, FREE, __ATOMIC_RELEASE);
}

void gr_gates_begin(Gates *g, Holds *h, const LateDriver *d) {
    *g = (Gates){.holds = h, .driver = d, .patience = GATE_LAUNCH_NS};
}

void gr_gate_put(Gates *gates, CUstream stream, uint64_t extra) {
    for (unsigned k = 0; k < GATES; k++) {
        Gate *g = &gates->all[k];
        uint32_t expected = FREE;
        if (!__atomic_compare_exchange_n(&g->state, &expected, OPEN, false, __ATOMIC_ACQUIRE,
                                         __ATOMIC_RELAXED))
            continue;
        g->of = gates;
        g->stream = stream;
        g->newest = __atomic_load_n(&gates->holds->newest, __ATOMIC_RELAXED);
        g->made = gr_late_now();
        g->extra = extra;
        __atomic_store_n(&g->state, SHUT, __ATOMIC_RELEASE);
        // What is refused here is a matter of the stream, which the program's own call is about to learn.
        if (gates->driver->host_function(stream, wait_at_gate, g) != CUDA_SUCCESS)
            __atomic_store_n(&g->state, FREE, __ATOMIC_RELEASE);
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
    uint32_t newest = __atomic_load_n(&gates->holds->newest, __ATOMIC_RELAXED);
    for (unsigned k = 0; k < GATES; k++) {
        Gate *g = &gates->all[k];
        uint32_t shut = SHUT;
        if (state_of(g) != SHUT)
            continue;
        if (which == GATES_ALL ||
            (which == GATES_ALONE ? g->newest == newest : waits_for(gates->driver, stream, g->stream)))
            __atomic_compare_exchange_n(&g->state, &shut, OPEN, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
    }
}

bool gr_gates_end(Gates *gates) {
    bool all = true;
    static const struct timespec nap = {.tv_nsec = 20000};
    uint64_t until = gr_late_now() + 2 * GATE_MOST_NS;
    for (unsigned k = 0; k < GATES; k++) {
        uint32_t shut = SHUT;
        __atomic_compare_exchange_n(&gates->all[k].state, &shut, OPEN, false, __ATOMIC_RELEASE,
                                    __ATOMIC_RELAXED);
        while (state_of(&gates->all[k]) != FREE && gr_late_now() < until)
            nanosleep(&nap, NULL);
        all = all && state_of(&gates->all[k]) == FREE;
    }
    return all;
}
