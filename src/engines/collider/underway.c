// SPDX-License-Identifier: Apache-2.0
#include "engines/collider/underway.h"

#include <string.h>

CUstream gr_stream_of_thread(CUstream stream) {
    static __thread char own;
    return stream == CU_STREAM_PER_THREAD ? (CUstream)(void *)&own : stream;
}

void gr_underway_begin(Underway *u, const LateDriver *d, Holds *h, Gates *g) {
    *u = (Underway){.driver = d, .holds = h, .gates = g, .patience = UNDERWAY_NS};
    pthread_mutex_init(&u->lock, NULL);
}

void gr_underway_end(Underway *u) { pthread_mutex_destroy(&u->lock); }

void gr_underway_mark(Underway *u, CUcontext context, CUstream stream, uint32_t number) {
    pthread_mutex_lock(&u->lock);
    if (!u->context)
        u->context = context;
    unsigned k = u->n++ % UNDERWAY_NEWEST;
    bool mine = u->context == context &&
                (u->newest[k].ended ||
                 u->driver->new_event(&u->newest[k].ended, CU_EVENT_DISABLE_TIMING) == CUDA_SUCCESS);
    u->newest[k].number = mine ? number : 0;
    u->newest[k].stream = gr_stream_of_thread(stream);
    CUevent event = u->newest[k].ended;
    pthread_mutex_unlock(&u->lock);
    if (mine)
        (void)u->driver->record(event, stream);
}

void gr_underway_context_ended(Underway *u, CUcontext context) {
    pthread_mutex_lock(&u->lock);
    if (u->context == context) {
        u->context = NULL;
        memset(u->newest, 0, sizeof u->newest);
    }
    pthread_mutex_unlock(&u->lock);
}

typedef struct Seen {
    bool some;      // that have not ended
    uint32_t begun; // the number of the newest of those that has begun; 0: none has
    bool waits;     // one of another stream has not
} Seen;

static Seen look(Underway *u, CUstream stream) {
    Seen s = {0};
    for (unsigned k = 0; k < UNDERWAY_NEWEST; k++) {
        pthread_mutex_lock(&u->lock);
        CUevent event = u->newest[k].ended;
        CUstream in = u->newest[k].stream;
        uint32_t number = u->newest[k].number;
        pthread_mutex_unlock(&u->lock);
        if (!event || !number || u->driver->query(event) != CUDA_ERROR_NOT_READY)
            continue;
        bool begun = gr_holds_begun(u->holds, number);
        s.some = true;
        if (begun && (!s.begun || (int32_t)(number - s.begun) > 0))
            s.begun = number;
        s.waits = s.waits || (!begun && in != stream);
    }
    return s;
}

bool gr_underway_some(Underway *u) { return look(u, NULL).some; }

bool gr_underway_is_to_begin(Underway *u, CUstream stream) {
    Seen s = look(u, gr_stream_of_thread(stream));
    return s.waits && !s.begun;
}

// On a GPU that other processes use, too, it may take some ms. Where it was in vain, the next wait is shorter.
static void await(Underway *u, bool (*is_over)(Seen), CUstream stream) {
    uint64_t patience = __atomic_load_n(&u->patience, __ATOMIC_RELAXED), from = gr_late_now();
    bool in_vain = false;
    while (!is_over(look(u, stream))) {
        uint64_t now = gr_late_now();
        if (!in_vain && now > from + patience / 2) {
            in_vain = true;
            gr_gates_open(u->gates, NULL, GATES_ALL); // it may be behind one
            if (patience > UNDERWAY_LEAST_NS)
                __atomic_store_n(&u->patience, patience / 4, __ATOMIC_RELAXED);
        }
        if (now > from + patience)
            break;
    }
}

static bool none_or_begun(Seen s) { return !s.some || s.begun > 0; }
static bool none_waits(Seen s) { return !s.waits; }

void gr_underway_await_one(Underway *u) {
    await(u, none_or_begun, NULL);
    uint32_t begun = look(u, NULL).begun;
    if (begun)
        gr_holds_await_inside(u->holds, begun);
}
void gr_underway_await_others(Underway *u, CUstream stream) {
    await(u, none_waits, gr_stream_of_thread(stream));
}
