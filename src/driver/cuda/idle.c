// SPDX-License-Identifier: Apache-2.0
// idle — the device thread: it keeps the device going while the host makes no API calls. Else a host that spins on
// mapped memory would wait for ever.
//
// The device thread must not act while the host merely waits for a processor: the same seed would not give the same run
// on a busy machine. So it counts the time that the thread which called last has spent computing or blocked since then,
// as the kernel tells it, not the time that has passed.
#include "driver/cuda/driver.h"
#include "driver/cuda/memory.h"
#include "driver/cuda/queue.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LOOK_MS = 250 }; // between two looks whether the program still has threads

static bool device_thread_runs;
static _Atomic uint64_t unrepeatable;

uint64_t gr_device_thread_unrepeatable(void) { return atomic_load(&unrepeatable); }

void gr_note_unrepeatable(const char *what) {
    atomic_fetch_add(&unrepeatable, 1);
    gr_cu_hook_note(what);
}

// Notes that real time may now decide the order. With one stream and no memory that the host sees it cannot.
static void note(void) {
    if (gr_queue_pending_streams() >= 2 || gr_mem_host_visible())
        gr_note_unrepeatable("the device ran on its own because the host made no CUDA call for a while: "
                             "the run may not be repeatable");
}

// The state of a thread of this process; 0: it is gone, or unknown. *cpu_ns: its time on a processor.
static char state_of(int tid, uint64_t *cpu_ns) {
    char path[64], state = 0;
    unsigned long long ns = 0;
    snprintf(path, sizeof path, "/proc/self/task/%d/schedstat", tid);
    FILE *f = fopen(path, "re");
    bool known = f && fscanf(f, "%llu", &ns) == 1;
    if (f)
        fclose(f);
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", tid);
    f = known ? fopen(path, "re") : NULL;
    // "pid (name) state": a name may hold anything, blanks and parentheses included, but is short.
    char line[128] = "";
    if (f) {
        if (fgets(line, sizeof line, f) && strrchr(line, ')'))
            state = strrchr(line, ')')[2];
        fclose(f);
    }
    *cpu_ns = ns;
    return state;
}

static bool is_blocked(int tid, uint64_t *cpu_ns) { return state_of(tid, cpu_ns) != 'R'; }

// Returns when the host has been away for `idle` ms.
static void wait_for_idle_host(uint64_t idle) {
    uint64_t nap_ns = idle * 1000000 / 4 + 1, blocked = 0, seen = 0, base = 0, cpu;
    struct timespec nap = {.tv_sec = (time_t)(nap_ns / 1000000000), .tv_nsec = (long)(nap_ns % 1000000000)};
    for (;;) {
        nanosleep(&nap, NULL);
        int caller;
        uint64_t calls = gr_cu_calls(&caller);
        bool is_away = is_blocked(caller, &cpu);
        if (calls != seen || gr_cu_busy()) {
            seen = calls;
            base = cpu;
            blocked = 0;
        } else if (is_away) {
            blocked += nap_ns;
        }
        if (blocked + (cpu - base) >= idle * 1000000)
            return;
    }
}

// Main and all other threads of the program have ended by pthread_exit: only our thread keeps the process alive.
static bool is_host_gone(void) {
    uint64_t ns;
    return state_of((int)getpid(), &ns) == 'Z' && gr_cu_host_is_alone();
}

static void *run_device_thread(void *arg) {
    (void)arg;
    for (;;) {
        gr_cu_lock();
        if (gr_queue_pending() == 0)
            gr_cu_wait(LOOK_MS);
        bool pending = gr_queue_pending() != 0;
        gr_cu_unlock();
        if (!pending && is_host_gone())
            exit(0);
        if (!pending)
            continue;
        wait_for_idle_host(gr_cu.config.idle);
        gr_cu_lock();
        bool noted = false;
        while (gr_queue_pending() && !gr_cu_contended()) {
            if (!noted)
                note();
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
