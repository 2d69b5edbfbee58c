// SPDX-License-Identifier: Apache-2.0
// callback — host functions in streams.
//
// Host functions run one at a time on a thread of their own, as under CUDA. So a host function that takes a lock of the
// program cannot deadlock with the thread that happened to advance the device. That thread waits for the function, at
// most PATIENCE ms. So what follows does not depend on real time unless the function itself waits for the host or takes
// longer.
#include "driver/cuda/driver.h"
#include "driver/cuda/queue.h"

#include <pthread.h>

enum { PATIENCE = 500 };

static Item *callback_item; // the one to run; one at a time
static uint64_t callbacks_done;
static bool callback_thread_runs;

static void finished(Item *it) {
    gr_cu_call_begins();
    gr_cu_lock();
    callback_item = NULL;
    callbacks_done++;
    gr_queue_finish(it);
    gr_cu_wake();
}

// The function has ended its thread (pthread_exit): another one runs the next.
static void thread_ends(void *item) {
    finished(item);
    callback_thread_runs = false;
    gr_cu_unlock();
}

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
        gr_work_item(it, GR_WORK_BEGINS);
        gr_cu_unlock();
        pthread_cleanup_push(thread_ends, it);
        if (h.callback)
            h.callback(h.stream, status, h.user);
        else
            h.fn(h.user);
        pthread_cleanup_pop(0);
        finished(it);
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
        gr_note_unrepeatable("a host function in a stream ran for long while other work went on: "
                             "the run may not be repeatable");
    }
}
