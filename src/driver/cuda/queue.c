// SPDX-License-Identifier: Apache-2.0
// queue — the work engine: seeded asynchrony.
//
// Each stream is a queue of items. The item at its head may run when its turn among the streams has come. The legacy
// default stream and blocking streams wait for each other in order of submission. A wait waits for its event. Of all
// items that may run, and of the devices that have launches, a seeded choice picks one. It does a little: a copy moves
// a chunk, a device executes some instructions. Nothing else moves the device, so that with the same seed and the same
// calls the same things happen in the same order.
//
// With the race-directed schedule (vm/sched/hold.c) a device may have nothing left but held threads. It moves no
// further while anything else can: other streams' items, other devices, and the host, whose calls return unless they
// wait. One held thread is released only when the host waits in vain, asks again and again, or has been away for a
// while. Most copies and memsets are put off, too, until all that runs is held: otherwise the first to be submitted
// would run first.
//
// Draws: `choice` is drawn only if there is more than one possibility, `quanta` once per API call with work pending,
// and an item has its own stream. So with one stream it makes no difference which thread advanced it, or when.
#include "driver/cuda/queue.h"
#include "device_api/hooks.h"
#include "driver/cuda/capture.h"
#include "driver/cuda/driver.h"
#include "driver/cuda/graph.h"
#include "driver/cuda/memory.h"
#include "driver/cuda/module.h"
#include "driver/cuda/stream.h"

#include <pthread.h>
#include <stdio.h>
#include <time.h>

enum {
    SLICE = 1 << 16,      // warp instructions at a time, where nothing else could run
    MAX_CONCURRENT = 128, // kernels of a device, as compute capability 9.0
    BYTES_PER_STEP = 64,  // of a copy, for one warp instruction
    COST_START = 16,
    LATE_OF = 4,           // copies and memsets of which all but one are put off
    STARTS_OF = 4,         // calls that submit, after which nothing happens once
    STAYS = 8,             // releases, of which all but one are of the same device
    ASKS = 256,            // calls without new work until they count as polling
    QUERY = 32,            // a query counts as so many
    HELD_BUDGET = 1 << 16, // warp instructions of other devices while one is held
    UNTIL_HELD = 1 << 18,  // at most, in a call that does not wait
    MOST_PENDING = 1024,   // items, as on a GPU, more or less
};

typedef struct Action {
    Item *item; // NULL: run the device's launches
    Dev *dev;
} Action;

static Stream *oldest, *newest; // in order of creation
static size_t n_streams;
static VEC(
    Stream *) busy; // those that have work, in the same order: the others cost nothing. It has room for all
static VEC(Action) actions;
static uint64_t next_seq, pending, launches, launches_ended;
static uint64_t device_ns,
    work_ns; // of processor time: kernels; all work, with what its observers make of it
static Rng choice, quanta, order;
static uint64_t held_for;             // warp instructions
static uint64_t asked_at, asked;      // with so much submitted; calls since
static uint64_t left_at;              // submissions when a call returned last
static uint64_t exit_steps = 1 << 24; // that exit waits for, all its handlers together

void gr_queue_seed(uint64_t seed) {
    choice = gr_rng_fork(seed, RNG_QUEUE, 0);
    quanta = gr_rng_fork(seed, RNG_QUEUE, 1);
    order = gr_rng_fork(seed, RNG_QUEUE, 2);
}

// Makes room for what can be done at once, so that no work waits for memory.
bool gr_queue_add_stream(Stream *s) {
    if (!gr_vec_reserve(&busy, n_streams + 1) ||
        !gr_vec_reserve(&actions, n_streams + 1 + (size_t)gr_cu.n_devices))
        return false;
    n_streams++;
    s->older = newest;
    *(newest ? &newest->newer : &oldest) = s;
    newest = s;
    return true;
}

void gr_queue_remove_stream(Stream *s) {
    n_streams--;
    *(s->older ? &s->older->newer : &oldest) = s->newer;
    *(s->newer ? &s->newer->older : &newest) = s->older;
}

Stream *gr_queue_stream(const Stream *after) { return after ? after->newer : oldest; }

// Where the stream is among the busy ones, or belongs.
static size_t busy_place(const Stream *s) {
    size_t lo = 0, hi = busy.len;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (busy.data[mid]->id < s->id)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static void make_busy(Stream *s) {
    size_t at = busy_place(s);
    memmove(busy.data + at + 1, busy.data + at, (busy.len - at) * sizeof(Stream *));
    busy.data[at] = s;
    busy.len++;
}

static void make_idle(const Stream *s) {
    size_t at = busy_place(s);
    if (at == busy.len || busy.data[at] != s)
        return;
    gr_vec_remove(&busy, at);
}

uint64_t gr_queue_pending(void) { return pending; }

uint64_t gr_queue_launches(uint64_t *unfinished) {
    if (unfinished)
        *unfinished = launches - launches_ended;
    return launches;
}

uint64_t gr_queue_number(void) { return ++next_seq; }

uint64_t gr_queue_oldest(void) {
    uint64_t first = UINT64_MAX;
    for (size_t i = 0; i < busy.len; i++)
        if (busy.data[i]->head->seq < first)
            first = busy.data[i]->head->seq;
    return first;
}

unsigned gr_queue_pending_streams(void) { return (unsigned)busy.len; }

// ---- Items -------------------------------------------------------------------------------------------------

Item *gr_item_new(ItemKind kind) {
    Item *it = calloc(1, sizeof *it);
    if (it) {
        it->kind = kind;
        it->call = gr_work_call(); // of a node of a graph: that which made the node
    }
    return it;
}

Item *gr_item_clone(const Item *from) {
    Item *it = malloc(sizeof *it);
    if (!it)
        return NULL;
    *it = *from;
    if (from->kind == ITEM_KERNEL && from->owned) {
        const VmParam *layout;
        uint32_t total;
        gr_vm_func_params(from->kernel.func->vm, &layout, &total);
        it->owned = malloc(total ? total : 1);
        if (!it->owned) {
            free(it);
            return NULL;
        }
        memcpy(it->owned, from->owned, total);
        it->kernel.params.params = it->owned;
    }
    return it;
}

void gr_item_free(Item *it) {
    if (it->kind == ITEM_RECORD || it->kind == ITEM_WAIT)
        gr_mark_unref(it->mark);
    if (it->memory)
        gr_graph_memory_unref(it->memory);
    free(it->owned);
    free(it);
}

// With several threads, real time decides which one comes first.
static void note_threads(void) {
    static bool noted;
    static pthread_t last;
    static bool any;
    if (!noted && any && pending && !pthread_equal(last, pthread_self())) {
        noted = true;
        gr_cu_hook_note(
            "several threads of the program submit work at the same time: the run may not be repeatable");
    }
    last = pthread_self();
    any = true;
}

// The processor time of this thread, if the settings ask for it (config.def, `times`).
static uint64_t thread_ns(void) {
    struct timespec t = {0};
    if (gr_cu.config.times)
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

void gr_queue_print_times(void) {
    fprintf(stderr,
            "gpurace: the CPU device computed for %.6f ms of processor time, and worked for %.6f ms\n",
            (double)device_ns * 1e-6, (double)work_ns * 1e-6);
}

static bool is_directed(void) { return gr_cu.config.schedule == VM_SCHEDULE_DIRECTED; }

void gr_queue_submit(Stream *s, Item *it) {
    note_threads();
    it->late = is_directed() && (it->kind == ITEM_COPY || it->kind == ITEM_FILL || it->kind == ITEM_HOST) &&
               gr_rng_below(&order, LATE_OF);
    it->stream = s;
    it->seq = ++next_seq;
    it->call = it->call ? it->call : gr_work_call();
    it->rng = gr_rng_fork(gr_cu.config.seed, RNG_ITEM, it->seq);
    if (it->kind == ITEM_KERNEL)
        it->kernel.params.launch = ++launches;
    if (s->tail) {
        s->tail->next = it;
    } else {
        s->head = it;
        make_busy(s);
    }
    s->tail = it;
    pending++;
    uint64_t begun = thread_ns();
    gr_work_item(it, GR_WORK_SUBMITTED);
    work_ns += thread_ns() - begun;
    gr_device_thread_start();
}

CUresult gr_submit(Stream *s, Item *it) {
    if (s->capture)
        return gr_capture_item(s, it);
    CUresult r = gr_capture_implicit(s);
    if (r == CUDA_SUCCESS)
        gr_queue_submit(s, it);
    else
        gr_item_free(it);
    return r;
}

void gr_queue_finish(Item *it) {
    Stream *s = it->stream;
    gr_work_item(it, GR_WORK_ENDED);
    s->head = it->next;
    if (!s->head) {
        s->tail = NULL;
        make_idle(s);
    }
    pending--;
    if (it->kind == ITEM_KERNEL)
        launches_ended++;
    gr_item_free(it);
    if (s->dying && !s->head) {
        gr_queue_remove_stream(s);
        free(s);
    }
    gr_retire_collect();
}

// ---- Whose turn it is --------------------------------------------------------------------------------------

static bool is_blocking(const Stream *s) { return !(s->flags & CU_STREAM_NON_BLOCKING); }

// An allocation waits for no other stream, as the call gets the memory at once. What follows it in other streams waits
// for what was before it in its own, as on an H100.
static bool before_legacy(const Item *it) {
    const Ctx *ctx = it->stream->ctx;
    if (it->kind == ITEM_ALLOC && !it->node && it->stream == ctx->legacy)
        return true;
    if (it->stream != ctx->legacy)
        return !is_blocking(it->stream) || !ctx->legacy->head || ctx->legacy->head->seq > it->seq;
    for (size_t i = 0; i < busy.len; i++) {
        const Stream *s = busy.data[i];
        if (s != it->stream && s->ctx == ctx && is_blocking(s) && s->head->seq < it->seq)
            return false;
    }
    return true;
}

// A wait for a value in memory (cuStreamWaitValue32).
static bool value_holds(const ValueJob *v) {
    uint64_t have = v->wide ? __atomic_load_n((uint64_t *)v->view, __ATOMIC_ACQUIRE)
                            : __atomic_load_n((uint32_t *)v->view, __ATOMIC_ACQUIRE);
    switch (v->flags & 3) {
    case CU_STREAM_WAIT_VALUE_GEQ:
        return v->wide ? (int64_t)(have - v->value) >= 0
                       : (int32_t)((uint32_t)have - (uint32_t)v->value) >= 0;
    case CU_STREAM_WAIT_VALUE_EQ: return have == v->value;
    case CU_STREAM_WAIT_VALUE_AND: return (have & v->value) != 0;
    default: return ~(have | v->value) & (v->wide ? UINT64_MAX : UINT32_MAX); // NOR
    }
}

static bool may_run(const Item *it) {
    switch (it->kind) {
    case ITEM_KERNEL:
        if (it->kernel.launch || it->stream->ctx->dev->running >= MAX_CONCURRENT)
            return false;
        break;
    case ITEM_WAIT:
        if (!it->mark->done)
            return false;
        break;
    case ITEM_WAIT_VALUE:
        if (!value_holds(&it->value))
            return false;
        break;
    case ITEM_HOST:
        if (it->host.started || gr_callback_busy())
            return false;
        break;
    default: break;
    }
    return before_legacy(it);
}

// Gathers what can run. Items that are put off come if `late`, or when nothing else can run and either a thread is held
// (so that they come in a window) or the host waits. Yields how many devices are held.
static unsigned gather(bool late, bool waits) {
    unsigned held = 0, put_off = 0;
    actions.len = 0;
    for (size_t i = 0; i < busy.len; i++) {
        Item *it = busy.data[i]->head;
        if (!may_run(it))
            continue;
        put_off += it->late;
        if (!it->late || late)
            actions.data[actions.len++] = (Action){it, it->stream->ctx->dev};
    }
    for (int i = 0; i < gr_cu.n_devices; i++) {
        Dev *dev = &gr_cu.devices[i];
        if (dev->running && gr_vm_all_held(dev->vm))
            held++;
        else if (dev->running)
            actions.data[actions.len++] = (Action){NULL, dev};
    }
    return actions.len == 0 && put_off && !late && (held || waits) ? gather(true, waits) : held;
}

// Releases one held thread, mostly of the same device as last time.
static bool release_one(void) {
    static int last;
    held_for = 0;
    int n = gr_cu.n_devices,
        from = n == 1 || gr_rng_below(&order, STAYS) ? last : (int)gr_rng_below(&order, (uint32_t)n);
    for (int k = 0; k < n; k++) {
        last = (from + k) % n;
        if (gr_vm_all_held(gr_cu.devices[last].vm))
            return gr_vm_release(gr_cu.devices[last].vm) != NULL;
    }
    return false;
}

// ---- Doing it ----------------------------------------------------------------------------------------------

// Said once, if a repetition may not give this run again.
static void note_jobs(const Dev *dev) {
    static bool noted;
    if (gr_vm_jobs(dev->vm) < 2 || noted)
        return;
    noted = true;
    gr_note_unrepeatable("kernels ran on several threads (--jobs): the run may not be repeatable");
}

static void start_kernel(Item *it) {
    Ctx *ctx = it->stream->ctx;
    note_jobs(ctx->dev);
    gr_error err = {0};
    gr_vm_advance_ns(ctx->dev->vm, 2000);
    it->kernel.params.peers = (uint32_t)ctx->peers;
    gr_status st = gr_vm_launch(ctx->dev->vm, &it->kernel.params, &it->kernel.launch, &err);
    if (st == GR_OK) {
        ctx->dev->running++;
        return;
    }
    VmFault f = {.kind = VM_FAULT_LIMIT, .kernel = gr_vm_func_name(it->kernel.params.func)};
    snprintf(f.msg, sizeof f.msg, "%.200s", err.msg);
    gr_fault_report(ctx, it, &f);
    gr_ctx_fail(ctx, gr_cu_status(st));
}

// Takes launches that have ended off their streams. One fault fails its whole context.
static unsigned collect_ended(Dev *dev) {
    unsigned ended = 0;
    for (size_t i = 0; i < busy.len; i++) {
        Item *it = busy.data[i]->head;
        if (it->kind != ITEM_KERNEL || !it->kernel.launch || it->stream->ctx->dev != dev ||
            !gr_vm_launch_done(it->kernel.launch))
            continue;
        ended++;
        if (gr_vm_weak_incomplete(dev->vm))
            gr_cu_hook_note("memory ran out, and some weak accesses were as without --weak");
        const VmFault *fault = gr_vm_launch_fault(it->kernel.launch);
        if (fault) {
            Ctx *ctx = it->stream->ctx;
            gr_fault_report(ctx, it, fault);
            gr_ctx_fail(ctx, gr_fault_code(fault->kind));
            return ended + collect_ended(dev); // the busy streams may be others now
        }
        gr_vm_launch_free(it->kernel.launch);
        dev->running--;
        const Stream *s = busy.data[i];
        gr_queue_finish(it);
        if (i == busy.len || busy.data[i] != s) // that was its last work
            i--;
    }
    return ended;
}

// The device that says that its kernels can never go on unless something else changes memory (VM_RUN_STUCK).
static Dev *stuck;

static uint64_t run_device(Dev *dev, uint64_t steps) {
    uint64_t begun = thread_ns();
    // The host ran since, and may have unmapped some of its memory.
    gr_vm_mem_forget_pageable(gr_cu.mem);
    VmRunResult r = gr_vm_run(dev->vm, steps);
    device_ns += thread_ns() - begun;
    stuck = r == VM_RUN_STUCK ? dev : NULL;
    if (r != VM_RUN_PROGRESS)
        collect_ended(dev);
    return steps;
}

static bool copy_chunk(CopyJob *c, size_t bytes) {
    size_t rows = c->height * c->depth;
    while (bytes > 0 && c->row < rows) {
        size_t z = c->row / c->height, y = c->row % c->height;
        size_t n = c->width - c->done < bytes ? c->width - c->done : bytes;
        memmove(c->dst + z * c->dst_slice + y * c->dst_pitch + c->done,
                c->src + z * c->src_slice + y * c->src_pitch + c->done, n);
        c->done += n;
        bytes -= n;
        if (c->done == c->width) {
            c->done = 0;
            c->row++;
        }
    }
    return c->row == rows;
}

static bool fill_rows(FillJob *f, size_t rows) {
    for (; rows > 0 && f->row < f->height; rows--, f->row++) {
        char *p = f->dst + f->row * f->pitch;
        if (f->element == 1) {
            memset(p, (int)f->value, f->width);
        } else if (f->element == 2) {
            for (size_t i = 0; i < f->width; i++)
                ((uint16_t *)(void *)p)[i] = (uint16_t)f->value;
        } else {
            for (size_t i = 0; i < f->width; i++)
                ((uint32_t *)(void *)p)[i] = f->value;
        }
    }
    return f->row == f->height;
}

static uint64_t run_item(Item *it, uint64_t budget, bool alone, bool draining) {
    Dev *dev = it->stream->ctx->dev;
    if (!(it->kind == ITEM_COPY && (it->copy.row || it->copy.done)) &&
        !(it->kind == ITEM_FILL && it->fill.row) && it->kind != ITEM_HOST) // that one's thread says so
        gr_work_item(it, GR_WORK_BEGINS);
    switch (it->kind) {
    case ITEM_KERNEL: start_kernel(it); return COST_START;
    case ITEM_COPY: {
        size_t bytes = alone ? budget * BYTES_PER_STEP : (size_t)256 << gr_rng_below(&it->rng, 9);
        if (it->copy.row == 0 && it->copy.done == 0)
            gr_vm_advance_ns(dev->vm, 1000);
        gr_vm_advance_ns(dev->vm, bytes / 16);
        if (copy_chunk(&it->copy, bytes))
            gr_queue_finish(it);
        return bytes / BYTES_PER_STEP + 1;
    }
    case ITEM_FILL: {
        gr_vm_advance_ns(dev->vm, 1000);
        size_t row = it->fill.width * it->fill.element + 1;
        size_t rows = alone ? budget * BYTES_PER_STEP / row + 1 : 1 + gr_rng_below(&it->rng, 16);
        if (fill_rows(&it->fill, rows))
            gr_queue_finish(it);
        return rows * row / BYTES_PER_STEP + 1;
    }
    case ITEM_RECORD:
        it->mark->done = true;
        it->mark->ns = gr_vm_now_ns(dev->vm);
        break;
    case ITEM_HOST: gr_callback_run(it, draining); return COST_START; // the callback thread says when it ends
    case ITEM_ALLOC:
        if (it->memory)
            gr_graph_memory_set(it->memory, true);
        break;
    case ITEM_FREE:
        if (it->memory)
            gr_graph_memory_set(it->memory, false);
        else
            gr_mem_free_now(it->address);
        break;
    case ITEM_WRITE_VALUE:
        if (it->value.wide)
            __atomic_store_n((uint64_t *)it->value.view, it->value.value, __ATOMIC_RELEASE);
        else
            __atomic_store_n((uint32_t *)it->value.view, (uint32_t)it->value.value, __ATOMIC_RELEASE);
        break;
    case ITEM_WAIT:
    case ITEM_WAIT_VALUE:
    case ITEM_BARRIER: break;
    }
    gr_queue_finish(it);
    return 1;
}

// Some stream may still do something, or a host function runs.
static bool streams_move(void) {
    for (size_t i = 0; i < busy.len; i++) {
        const Item *it = busy.data[i]->head;
        if (may_run(it) || (it->kind == ITEM_HOST && it->host.started))
            return true;
    }
    return false;
}

// The program's only thread waits for the device, all kernels are stuck, and nothing else can be done.
static void end_stuck(void) {
    Dev *dev = stuck;
    stuck = NULL;
    for (int i = 0; i < gr_cu.n_devices; i++)
        if (gr_cu.devices[i].running && &gr_cu.devices[i] != dev)
            return;
    if (!streams_move() && gr_cu_host_is_alone())
        gr_vm_end_stuck(dev->vm);
}

// Does one of the things that can be done; yields its cost, 0: there is none. `draining`: the caller does nothing else
// until its work has ended. `release`: if nothing else can move, held threads may.
static uint64_t step(uint64_t budget, bool draining, bool release) {
    uint64_t begun = thread_ns();
    stuck = NULL; // what was found before says nothing: memory may have changed
    unsigned held = gather(false, release);
    if (actions.len == 0)
        return release && held && release_one() ? 1 : 0;
    bool alone = actions.len == 1;
    Action a = actions.data[alone ? 0 : gr_rng_below(&choice, (uint32_t)actions.len)];
    uint64_t cost =
        a.item
            ? run_item(a.item, budget, alone, draining)
            : run_device(a.dev, alone ? budget : 1 + gr_rng_below(&choice, 16u << gr_rng_below(&choice, 9)));
    if (stuck && draining)
        end_stuck();
    // What runs may wait for what is held.
    if (held && (held_for += cost) > HELD_BUDGET)
        release_one();
    work_ns += thread_ns() - begun;
    return cost;
}

// Returns what was not used.
static uint64_t run_at_most(uint64_t steps, bool release) {
    while (steps > 0) {
        uint64_t cost = step(steps < SLICE ? steps : SLICE, false, release);
        if (cost == 0)
            break;
        steps -= cost < steps ? cost : steps;
    }
    return steps;
}

// The host asks and asks, and submits nothing.
static bool is_polling(void) {
    if (asked_at != next_seq) {
        asked_at = next_seq;
        asked = 0;
    }
    return ++asked > ASKS;
}

void gr_queue_asked(void) { asked += QUERY; }

// Submitted work goes as far as it can, mostly until all is held.
void gr_queue_leave(void) {
    if (!is_directed() || left_at == next_seq || pending == 0 || gr_cu.forked)
        return;
    left_at = next_seq;
    if (gr_cu.config.step && gr_rng_below(&quanta, STARTS_OF))
        run_at_most(UNTIL_HELD, false);
}

static void advance_directed(void) {
    bool polling = is_polling();
    if (gr_cu.config.step == 0 || gr_rng_below(&quanta, 2) == 0)
        return;
    run_at_most(gr_rng_below(&quanta, 2) ? UNTIL_HELD
                                         : 1 + gr_rng_below(&quanta, (uint32_t)gr_cu.config.step),
                polling);
}

void gr_queue_advance(void) {
    if (pending == 0)
        return;
    // A launch waits when too many are under way, as on a GPU. Unless nothing can move before the host does something.
    while (pending > MOST_PENDING && gr_cu.config.step && step(SLICE, false, true))
        ;
    if (is_directed()) {
        advance_directed();
        return;
    }
    // Half of the calls move nothing, the others by anything from one instruction on: as likely a little as a lot.
    uint32_t most = (uint32_t)gr_cu.config.step;
    if (most == 0 || gr_rng_below(&quanta, 2) == 0)
        return;
    run_at_most(1 + gr_rng_below(&quanta, (most >> gr_rng_below(&quanta, 12)) + 1), false);
}

void gr_queue_exit(uint64_t steps) {
    uint64_t most = steps < exit_steps ? steps : exit_steps;
    exit_steps -= most;
    exit_steps += run_at_most(most, true);
}

uint64_t gr_queue_slice(void) { return step(SLICE, false, true); }

// ---- Synchronization ---------------------------------------------------------------------------------------

typedef struct Goal {
    const Stream *stream; // and, with the legacy one, the blocking ones of ctx; NULL: all of ctx
    uint64_t stream_id;
    const Ctx *ctx; // NULL: all
    const Mark *mark;
    uint64_t seq;
} Goal;

static bool is_covered(const Goal *g, const Stream *s) {
    if (!g->stream)
        return !g->ctx || s->ctx == g->ctx;
    if (g->stream == g->ctx->legacy && s->ctx == g->ctx)
        return is_blocking(s);
    return s == g->stream && s->id == g->stream_id;
}

static bool is_reached(const Goal *g) {
    if (g->mark)
        return g->mark->done;
    for (size_t i = 0; i < busy.len; i++) {
        const Stream *s = busy.data[i];
        if (is_covered(g, s) && s->head->seq <= g->seq)
            return false;
    }
    return true;
}

static Goal goal_of(const Stream *s) {
    return (Goal){.stream = s, .stream_id = s->id, .ctx = s->ctx, .seq = next_seq};
}

bool gr_queue_is_done(const Stream *s) {
    Goal g = goal_of(s);
    return is_reached(&g);
}

static void run_until(const Goal *g) {
    while (!is_reached(g)) {
        if (gr_cu.exiting) { // not much of it is left, and no thread waits for the rest
            uint64_t before = exit_steps;
            gr_queue_exit(SLICE);
            if (exit_steps == 0)
                break;
            if (exit_steps == before) { // blocked: that is not for ever either
                gr_cu_wait(1);
                exit_steps -= exit_steps < SLICE / 16 ? exit_steps : SLICE / 16;
            }
        } else if (step(SLICE, true, true) == 0) {
            gr_cu_wait(
                1); // a host function runs, or memory is waited for that a thread of the host will write
        } else if (gr_cu_contended()) {
            gr_cu_unlock();
            gr_cu_lock();
        }
    }
    gr_print_flush();
}

static void drain(const Goal *g) {
    run_until(g);
    uint64_t begun = thread_ns();
    if (is_reached(g))
        gr_work_waited((GrWaited){.stream = g->stream ? g->stream_id : 0,
                                  .ctx = g->ctx,
                                  .mark = g->mark,
                                  .legacy = g->stream && g->stream == g->ctx->legacy});
    work_ns += thread_ns() - begun;
}

CUresult gr_queue_drain_stream(Stream *s) {
    Ctx *ctx = s->ctx;
    Goal g = goal_of(s);
    drain(&g);
    return ctx->sticky;
}

CUresult gr_queue_drain_ctx(Ctx *ctx) {
    drain(&(Goal){.ctx = ctx, .seq = next_seq});
    return ctx->sticky;
}

CUresult gr_queue_drain_mark(Ctx *ctx, Mark *m) {
    gr_mark_ref(m);
    drain(&(Goal){.mark = m});
    gr_mark_unref(m);
    return ctx->sticky;
}

void gr_queue_drain_device(void) { drain(&(Goal){.seq = next_seq}); }

void gr_queue_outlast(void) { run_until(&(Goal){.seq = next_seq}); }

// ---- Cancelling --------------------------------------------------------------------------------------------

static bool cancel_item(Item *it) {
    switch (it->kind) {
    case ITEM_KERNEL:
        if (it->kernel.launch) {
            gr_vm_launch_free(it->kernel.launch);
            it->stream->ctx->dev->running--;
        }
        launches_ended++;
        break;
    case ITEM_RECORD: it->mark->done = true; break;
    case ITEM_HOST: // stream callbacks are still called, with the error; one that runs belongs to its thread
        if (it->host.started || it->host.callback)
            return false;
        break;
    default: break;
    }
    pending--;
    gr_work_item(it, GR_WORK_ENDED);
    gr_item_free(it);
    return true;
}

void gr_queue_cancel(Ctx *ctx) {
    for (Stream *s = oldest, *next_stream; s; s = next_stream) {
        next_stream = s->newer;
        if (s->ctx != ctx)
            continue;
        Item **link = &s->head;
        s->tail = NULL;
        while (*link) {
            Item *it = *link, *next = it->next;
            if (cancel_item(it)) {
                *link = next;
            } else {
                s->tail = it;
                link = &it->next;
            }
        }
        if (!s->head)
            make_idle(s);
        if (s->dying && !s->head) {
            gr_queue_remove_stream(s);
            free(s);
        }
    }
    gr_retire_collect();
}
