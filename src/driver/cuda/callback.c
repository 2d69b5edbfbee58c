// SPDX-License-Identifier: Apache-2.0
// callback — host functions in streams, and the device thread.
//
// Host functions run one at a time on a thread of their own, as under CUDA, so that one that takes a lock of the
// program cannot deadlock with the thread that happened to advance the device. That thread waits for the function, at
// most PATIENCE ms, which makes what follows independent of real time unless the function itself waits for the host
// or takes longer.
//
// The device thread keeps the device going while the host makes no API calls: a host that spins on mapped memory
// would otherwise wait forever.
#include "driver/cuda/driver.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

enum { PATIENCE = 50 };

static Item *callback_item; // the one to run; one at a time
static uint64_t callbacks_done;
static bool callback_thread_runs, device_thread_runs;
static _Atomic uint64_t unrepeatable;

// ---- Host functions ----------------------------------------------------------------------------------------

static void *run_callbacks(void *arg) {
    (void)arg;
    gr_cu_in_callback(true);
    gr_cu_lock();
    for (;;) {
        Item *it = callback_item;
        if (!it) {
            gr_cu_wait(0);
            continue;
        }
        HostJob h = it->host;
        CUresult status = it->stream->ctx->sticky;
        gr_cu_unlock();
        if (h.callback)
            h.callback(h.stream, status, h.user);
        else
            h.fn(h.user);
        gr_cu_lock();
        callback_item = NULL;
        callbacks_done++;
        gr_queue_finish(it);
        gr_cu_wake();
    }
    return NULL;
}

bool gr_callback_busy(void) { return callback_item != NULL; }

void gr_callback_run(Item *it, bool draining) {
    if (!callback_thread_runs && gr_cu_start_thread(run_callbacks, "gpurace-host-fn") != 0) {
        gr_ctx_fail(it->stream->ctx, CUDA_ERROR_OPERATING_SYSTEM);
        return;
    }
    callback_thread_runs = true;
    it->host.started = true;
    callback_item = it;
    uint64_t before = callbacks_done, give_up = gr_cu_real_ms() + PATIENCE;
    gr_cu_wake();
    while (callbacks_done == before && gr_cu_real_ms() < give_up)
        gr_cu_wait(PATIENCE);
    if (callbacks_done == before && (!draining || gr_queue_pending_streams() > 1)) {
        atomic_fetch_add(&unrepeatable, 1);
        gr_cu_hook_note("a host function in a stream ran for long while other work went on: "
                        "the run may not be repeatable");
    }
}

// ---- The device thread -------------------------------------------------------------------------------------

uint64_t gr_device_thread_unrepeatable(void) { return atomic_load(&unrepeatable); }

// What happened when may now depend on real time: with one stream and no memory that the host can see, it cannot.
static void note_unrepeatable(void) {
    if (gr_queue_pending_streams() < 2 && !gr_mem_host_visible())
        return;
    atomic_fetch_add(&unrepeatable, 1);
    gr_cu_hook_note("the device ran on its own because the host made no CUDA call for a while: "
                    "the run may not be repeatable");
}

static void *run_device_thread(void *arg) {
    (void)arg;
    uint64_t idle = gr_cu.config.idle;
    for (;;) {
        gr_cu_lock();
        if (gr_queue_pending() == 0)
            gr_cu_wait(0);
        gr_cu_unlock();
        struct timespec nap = {.tv_sec = (time_t)(idle / 1000), .tv_nsec = (long)(idle % 1000) * 1000000};
        do
            nanosleep(&nap, NULL);
        while (gr_cu_busy() || gr_cu_real_ms() - gr_cu_last_call_ms() < idle);
        gr_cu_lock();
        bool noted = false;
        while (gr_queue_pending() && !gr_cu_contended()) {
            if (!noted)
                note_unrepeatable();
            noted = true;
            if (gr_queue_slice() == 0)
                gr_cu_wait(1);
        }
        gr_cu_unlock();
    }
    return NULL;
}

void gr_device_thread_start(void) {
    if (!device_thread_runs && gr_cu.config.idle)
        device_thread_runs = gr_cu_start_thread(run_device_thread, "gpurace-device") == 0;
    else if (gr_queue_pending() == 1)
        gr_cu_wake();
}
