// SPDX-License-Identifier: Apache-2.0
// watch — the pages, and the thread that answers faults. See watch.h.
#include "inject/watch.h"

#include "base/map.h"
#include "base/vec.h"
#include "inject/session.h"
#include "inject/touch_insn.h"
#include "ptx/ptx.h"

#include <errno.h>
#include <link.h>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    OF_A_PAGE = 64,          // faults of one page before it stays open
    IN_FULL = 4096,          // faults until the next submission; from then on one of each page
    IN_ALL = 1 << 16,        // then whole allocations stay open
    FREE_CLOSINGS = 1 << 17, // of ranges, that the run may take, and so many more
    CLOSINGS = 256,          // for each time that the watch goes on
    PATIENCE_S = 10,         // of a fault that gets no answer
    SLOTS = 64,              // threads that wait for one
    LETS = 64,               // threads in system calls
    WATCHERS = 4,
};

typedef struct Range {
    uint64_t at, size; // whole pages
    bool closed;       // since the watch is on
} Range;

typedef enum SlotState { FREE, FILLED, ASKED, ANSWERED, ABANDONED } SlotState;

typedef struct Slot {
    _Atomic uint32_t state;
    GrHostTouch touch;
    GrWatchAnswer answer;
} Slot;

static struct {
    GrHostWatcher tell[WATCHERS];
    _Atomic unsigned watchers;
    uint64_t page;
    _Atomic bool runs, on;
    uint64_t libc, libc_size;
    _Atomic uint64_t low, high; // all ranges are between
    sem_t asked;
    Slot slot[SLOTS];
    _Atomic uint64_t let_at[LETS], let_end[LETS]; // at 0: unused
    // With the driver's lock held.
    VEC(Range) ranges;    // by address
    VEC(uint64_t) fresh;  // where those are that came since the watch went on, or was on
    VEC(uint64_t) closed; // addresses that were closed since; some may be gone
    Map registered;       // memory that cannot be closed, by address
    size_t turn; // of the ranges: where the next part begins, if they are too many to be closed at once
    uint64_t closings, times; // ranges that were closed; how often the watch went on
    uint64_t generation, faults;
    Map pages; // number -> faults since the last submission; OF_A_PAGE: open
    void (*locked)(void (*f)(void *user), void *user);
    int (*lock_is_mine)(void);
    uint64_t (*list)(uint64_t since, void (*each)(void *, GrSharedMemory, uint64_t, uint64_t), void *user);
    int (*used_pageable)(void);
} watch;

uint64_t gr_watch_page_size(void) { return watch.page; }

// ---- Protection -----------------------------------------------------------------------------------------------------

static bool set_access(uint64_t at, uint64_t size, bool open) {
    return mprotect((void *)(uintptr_t)at, size, open ? PROT_READ | PROT_WRITE : PROT_NONE) == 0;
}

// Protects all but what a system call is at work on.
static void protect(uint64_t at, uint64_t end) {
    for (unsigned k = 0; at < end && k < LETS; k++) {
        uint64_t from = atomic_load(&watch.let_at[k]), to = atomic_load(&watch.let_end[k]);
        if (!from || to <= at || from >= end)
            continue;
        if (from > at)
            protect(at, from);
        at = to;
    }
    if (at < end && !set_access(at, end - at, false) && errno == ENOMEM)
        gr_session_remarkf(
            "the system lets a process have so few mappings (vm.max_map_count) that not all of "
            "the host's accesses to managed and pinned memory were watched");
}

// The place of the range at that address, or where it belongs.
static size_t place_of(uint64_t at) {
    size_t lo = 0, hi = watch.ranges.len;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (watch.ranges.data[mid].at < at)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static Range *range_at(uint64_t at) {
    size_t k = place_of(at);
    return k < watch.ranges.len && watch.ranges.data[k].at == at ? &watch.ranges.data[k] : NULL;
}

static void add_range(uint64_t at, uint64_t size) {
    Range r = {at, (size + watch.page - 1) / watch.page * watch.page, false};
    size_t n = watch.ranges.len + 1;
    if (!gr_vec_reserve(&watch.ranges, n) || !gr_vec_reserve(&watch.closed, watch.closed.len + n) ||
        !gr_vec_push(&watch.fresh, at)) {
        gr_session_notef("memory ran out: host accesses to some memory were not watched");
        return;
    }
    size_t k = place_of(at);
    memmove(watch.ranges.data + k + 1, watch.ranges.data + k, (watch.ranges.len - k) * sizeof r);
    watch.ranges.data[k] = r;
    watch.ranges.len++;
}

static void remove_range(uint64_t at) {
    size_t k = place_of(at);
    if (k == watch.ranges.len || watch.ranges.data[k].at != at)
        return; // registered memory
    gr_vec_remove(&watch.ranges, k);
}

// Opens [*at, *at + *size), or more of it to the left. If each other page is open, a process may have as many mappings
// as the system allows, and then only what makes them fewer can be done. Async-signal-safe.
static bool open_wide(uint64_t *at, uint64_t *size) {
    uint64_t end = *at + *size;
    size_t k = place_of(*at + 1);
    for (size_t step = 1; !set_access(*at, end - *at, true); step *= 2) {
        if (errno != ENOMEM || !k)
            return false;
        k = k > step ? k - step : 0;
        *at = watch.ranges.data[k].at < *at ? watch.ranges.data[k].at : *at;
        *size = end - *at;
    }
    return true;
}

static void take_change(void *user, GrSharedMemory kind, uint64_t at, uint64_t size) {
    bool *anew = user;
    switch (kind) {
    case GR_SHARED_ANEW:
        *anew = true;
        watch.ranges.len = watch.fresh.len = 0;
        gr_map_free(&watch.registered);
        break;
    case GR_SHARED_GONE:
        remove_range(at);
        (void)gr_map_remove_u64(&watch.registered, at); // by the program, or it has turned out to be a tool's
        break;
    case GR_SHARED_REGISTERED: (void)gr_map_put_u64(&watch.registered, at, &watch); break;
    default: add_range(at, size);
    }
}

static void list_ranges(void) {
    bool anew = false;
    watch.generation = watch.list(watch.generation, take_change, &anew);
    for (size_t k = 0; anew && k < watch.closed.len; k++) {
        Range *r = range_at(watch.closed.data[k]);
        if (r)
            r->closed = true;
    }
    if (watch.registered.live)
        gr_session_remarkf(
            "host accesses to memory that was registered with cudaHostRegister were not watched: gpurace can "
            "watch only memory of cudaMallocManaged, cudaMallocHost and cudaHostAlloc");
    if (watch.ranges.len) {
        const Range *last = &watch.ranges.data[watch.ranges.len - 1];
        atomic_store(&watch.low, watch.ranges.data[0].at);
        atomic_store(&watch.high, last->at + last->size);
    }
}

static const Range *range_of(uint64_t at) {
    size_t k = place_of(at + 1);
    const Range *r = k ? &watch.ranges.data[k - 1] : NULL;
    return r && at - r->at < r->size ? r : NULL;
}

static void protect_range(Range *r) {
    if (!r || r->closed || !gr_vec_push(&watch.closed, r->at))
        return;
    r->closed = true;
    watch.closings++;
    protect(r->at, r->at + r->size);
}

// Protects all ranges, or a part: with thousands of allocations and of waits, closing and opening would take most time.
static void protect_ranges(void) {
    size_t n = watch.ranges.len;
    if (watch.closings + n > FREE_CLOSINGS + CLOSINGS * ++watch.times && n > CLOSINGS) {
        n = CLOSINGS;
        gr_session_remarkf(
            "the program has so many allocations of managed or pinned memory that the host's "
            "accesses to them were watched in turn: at any time those to %d of them, and to new ones",
            CLOSINGS);
    }
    for (size_t k = 0; k < n; k++)
        protect_range(&watch.ranges.data[(watch.turn + k) % watch.ranges.len]);
    watch.turn = watch.ranges.len ? (watch.turn + n) % watch.ranges.len : 0;
}

static void close_again(void) {
    for (size_t k = 0; k < watch.closed.len; k++) {
        const Range *r = range_at(watch.closed.data[k]);
        if (r)
            protect(r->at, r->at + r->size);
    }
}

static void close_pages(void) {
    for (size_t k = 0; k < watch.pages.len; k++)
        if (watch.pages.entries[k].live) {
            uint64_t at = watch.pages.entries[k].key * watch.page;
            if (range_of(at))
                protect(at, at + watch.page);
        }
}

// Work was submitted: looks anew at what comes from now on.
static void arm(void) {
    bool was_on = atomic_load(&watch.on);
    if (watch.list(0, NULL, NULL) != watch.generation)
        list_ranges();
    atomic_store(&watch.on, true);
    if (!was_on)
        protect_ranges();
    else if (watch.faults >= IN_ALL)
        close_again();
    else
        close_pages();
    for (size_t k = 0; k < watch.fresh.len; k++)
        protect_range(range_at(watch.fresh.data[k]));
    watch.fresh.len = 0;
    watch.faults = 0;
    if (watch.pages.len)
        gr_map_free(&watch.pages);
    if (watch.used_pageable())
        gr_session_remarkf("host accesses to ordinary memory that kernels used too were not watched");
}

static void disarm(void) {
    if (!atomic_load(&watch.on))
        return;
    atomic_store(&watch.on, false);
    if (watch.list(0, NULL, NULL) != watch.generation)
        list_ranges(); // what was freed is not to be opened
    for (size_t k = 0; k < watch.closed.len; k++) {
        Range *r = range_at(watch.closed.data[k]);
        if (r)
            (void)set_access(r->at, r->size, true);
        if (r)
            r->closed = false;
    }
    watch.closed.len = 0;
    gr_map_free(&watch.pages);
    watch.faults = 0;
}

void gr_watch_set(bool on) {
    if (!atomic_load(&watch.runs))
        return;
    if (on)
        arm();
    else
        disarm();
}

void gr_watch_close(uint64_t page) {
    if (!atomic_load(&watch.on))
        return;
    protect(page, page + watch.page);
    if (!atomic_load(&watch.on)) // since then: nothing may stay protected
        (void)set_access(page, watch.page, true);
}

// ---- Answering faults -----------------------------------------------------------------------------------------------

static void tell_touched(const GrHostTouch *t) {
    for (unsigned k = 0; k < atomic_load(&watch.watchers); k++)
        watch.tell[k].touched(watch.tell[k].user, t);
}

static bool leave_open(uint64_t at, uint64_t size) {
    if (!open_wide(&at, &size))
        return false;
    for (unsigned k = 0; k < atomic_load(&watch.watchers); k++)
        watch.tell[k].opened(watch.tell[k].user, at, size);
    gr_session_remarkf("the host accessed some pages of managed or pinned memory so often while the device "
                       "worked that only its first accesses to these pages were checked");
    return true;
}

static GrWatchAnswer answer(const GrHostTouch *t) {
    const Range *r = range_of(t->address);
    if (!r) { // allocated since the last submission, or not at all
        list_ranges();
        r = range_of(t->address);
    }
    if (!r)
        return GR_WATCH_NOT_OURS;
    uint64_t number = t->address / watch.page, at = number * watch.page;
    uint64_t seen = (uint64_t)(uintptr_t)gr_map_get_u64(&watch.pages, number);
    if (!atomic_load(&watch.on) || seen >= OF_A_PAGE)
        return set_access(at, watch.page, true) || leave_open(r->at, r->size) ? GR_WATCH_OPEN
                                                                              : GR_WATCH_NOT_OURS;
    GrHostTouch cut = *t;
    if (cut.size > r->at + r->size - t->address)
        cut.size = r->at + r->size - t->address;
    tell_touched(&cut);
    seen++;
    watch.faults++;
#if !defined(__x86_64__)
    seen = OF_A_PAGE;
#endif
    if (watch.faults >= IN_FULL)
        seen = OF_A_PAGE;
    bool known = gr_map_put_u64(&watch.pages, number, (void *)(uintptr_t)seen);
    if (watch.faults >= IN_ALL || !known || !set_access(at, watch.page, true))
        return leave_open(r->at, r->size) ? GR_WATCH_OPEN : GR_WATCH_NOT_OURS;
    if (seen >= OF_A_PAGE)
        return leave_open(at, watch.page) ? GR_WATCH_OPEN : GR_WATCH_NOT_OURS;
    return GR_WATCH_STEP;
}

static void answer_slot(void *user) {
    Slot *s = user;
    s->answer = answer(&s->touch);
}

static void *answer_all(void *arg) {
    (void)arg;
    for (;;) {
        while (sem_wait(&watch.asked))
            ;
        for (unsigned k = 0; k < SLOTS; k++) {
            Slot *s = &watch.slot[k];
            if (atomic_load(&s->state) != ASKED)
                continue;
            watch.locked(answer_slot, s);
            uint32_t asked = ASKED;
            if (atomic_compare_exchange_strong(&s->state, &asked, ANSWERED))
                syscall(SYS_futex, &s->state, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
            else
                atomic_store(&s->state, FREE);
        }
    }
    return NULL;
}

static Slot *take_slot(void) {
    for (;; sched_yield())
        for (unsigned k = 0; k < SLOTS; k++) {
            uint32_t is_free = FREE;
            if (atomic_compare_exchange_strong(&watch.slot[k].state, &is_free, FILLED))
                return &watch.slot[k];
        }
}

static GrHostTouch describe(uint64_t address, uint64_t pc, bool writes, bool whole) {
    GrInsnTouch i = gr_insn_touch((const uint8_t *)(uintptr_t)pc);
    // The second page of an access begins with the part of it that only the first page's fault could tell.
    GrHostTouch t = {.address = address,
                     .pc = pc,
                     .size = whole && i.size ? i.size : 1,
                     .thread = (uint64_t)syscall(SYS_gettid)};
    t.access = i.kind == GR_INSN_LOAD    ? PTX_ACCESS_READ
               : i.kind == GR_INSN_RMW   ? PTX_ACCESS_RMW
               : i.kind == GR_INSN_STORE ? PTX_ACCESS_WRITE
               : writes                  ? PTX_ACCESS_WRITE
                                         : PTX_ACCESS_READ;
    if (t.access == PTX_ACCESS_READ && writes) // it does what the fault says, whatever else
        t.access = i.kind == GR_INSN_UNKNOWN ? PTX_ACCESS_WRITE : PTX_ACCESS_RMW;
    uint64_t most = t.access == PTX_ACCESS_RMW ? 16 : 8;
    t.is_atomic = !i.size || (t.size <= most && !(t.size & (t.size - 1)) && address % t.size == 0);
    return t;
}

GrWatchAnswer gr_watch_fault(uint64_t address, uint64_t pc, uint64_t top, bool writes, bool whole) {
    if (!atomic_load(&watch.runs) || address < atomic_load(&watch.low) || address >= atomic_load(&watch.high))
        return GR_WATCH_NOT_OURS;
    uint64_t page = address / watch.page * watch.page;
    if (watch.lock_is_mine()) { // the driver itself, with a pointer of the program's
        uint64_t size = watch.page, at = page;
        return set_access(page, size, true) ? GR_WATCH_STEP
               : open_wide(&at, &size)      ? GR_WATCH_OPEN
                                            : GR_WATCH_NOT_OURS;
    }
    Slot *s = take_slot();
    s->touch = describe(address, pc, writes, whole);
    if (pc - watch.libc < watch.libc_size && top > 4096 && top - watch.libc >= watch.libc_size)
        s->touch.pc = top - 1;
    s->answer = GR_WATCH_NOT_OURS;
    atomic_store(&s->state, ASKED);
    sem_post(&watch.asked);
    struct timespec patience = {.tv_sec = PATIENCE_S};
    while (atomic_load(&s->state) == ASKED)
        if (syscall(SYS_futex, &s->state, FUTEX_WAIT_PRIVATE, ASKED, &patience, NULL, 0) &&
            errno == ETIMEDOUT) {
            uint32_t asked = ASKED;
            if (!atomic_compare_exchange_strong(&s->state, &asked, ABANDONED))
                break;
            return set_access(page, watch.page, true) ? GR_WATCH_STEP : GR_WATCH_NOT_OURS;
        }
    GrWatchAnswer a = s->answer;
    atomic_store(&s->state, FREE);
    return a;
}

// ---- System calls ---------------------------------------------------------------------------------------------------

bool gr_watch_is_on(void) { return atomic_load_explicit(&watch.on, memory_order_relaxed); }

bool gr_watch_meets(const void *p, size_t n) {
    uint64_t at = (uint64_t)(uintptr_t)p;
    return n && gr_watch_is_on() && at < atomic_load(&watch.high) && at + n > atomic_load(&watch.low) &&
           !watch.lock_is_mine();
}

typedef struct LetCall {
    uint64_t at, end;
    GrHostTouch touch;
    int let;
} LetCall;

static void do_let(void *user) {
    LetCall *c = user;
    const Range *r = range_of(c->at);
    c->let = -1;
    if (!r || !r->closed || !atomic_load(&watch.on))
        return;
    uint64_t end = c->end < r->at + r->size ? c->end : r->at + r->size, at = c->at / watch.page * watch.page;
    end = (end + watch.page - 1) / watch.page * watch.page;
    for (int k = 0; k < LETS && c->let < 0; k++)
        if (!atomic_load(&watch.let_at[k])) {
            atomic_store(&watch.let_end[k], end);
            atomic_store(&watch.let_at[k], at);
            c->let = k;
        }
    (void)set_access(at, end - at, true);
}

int gr_watch_let(const void *p, size_t n) {
    LetCall c = {.at = (uint64_t)(uintptr_t)p, .end = (uint64_t)(uintptr_t)p + n};
    watch.locked(do_let, &c);
    return c.let;
}

static void do_told(void *user) {
    LetCall *c = user;
    uint64_t at = 0, end = 0;
    if (c->let >= 0) {
        at = atomic_load(&watch.let_at[c->let]);
        end = atomic_load(&watch.let_end[c->let]);
        atomic_store(&watch.let_at[c->let], 0);
    }
    const Range *r = atomic_load(&watch.on) ? range_of(c->touch.address) : NULL;
    if (!r)
        return;
    if (c->touch.size > r->at + r->size - c->touch.address)
        c->touch.size = r->at + r->size - c->touch.address;
    if (c->touch.size)
        tell_touched(&c->touch);
    protect(at, end);
}

void gr_watch_told(int let, const void *p, size_t done, bool writes, const void *pc) {
    LetCall c = {.let = let,
                 .touch = {.address = (uint64_t)(uintptr_t)p,
                           .size = done,
                           .pc = (uint64_t)(uintptr_t)pc - 1, // within the call
                           .access = writes ? PTX_ACCESS_WRITE : PTX_ACCESS_READ,
                           .thread = (uint64_t)syscall(SYS_gettid)}};
    watch.locked(do_told, &c);
}

// ---- Beginning and end ----------------------------------------------------------------------------------------------

// The child has no thread that would answer, and no device.
static void forget_in_child(void) {
    if (!atomic_load(&watch.runs))
        return;
    atomic_store(&watch.runs, false);
    atomic_store(&watch.on, false);
    for (size_t k = 0; k < watch.ranges.len; k++)
        (void)set_access(watch.ranges.data[k].at, watch.ranges.data[k].size, true);
}

static bool start_thread(void) {
    sigset_t all, old;
    pthread_t thread;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    bool ok = pthread_create(&thread, NULL, answer_all, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (ok) {
        pthread_setname_np(thread, "gpurace-watch");
        pthread_detach(thread);
    }
    return ok;
}

static int find_libc(struct dl_phdr_info *info, size_t size, void *user) {
    (void)size, (void)user;
    uint64_t end = 0;
    const char *slash = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;
    if (!slash || strncmp(slash + 1, "libc.so.", 8))
        return 0;
    for (int k = 0; k < info->dlpi_phnum; k++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[k];
        if (p->p_type == PT_LOAD && p->p_vaddr + p->p_memsz > end)
            end = p->p_vaddr + p->p_memsz;
    }
    watch.libc = info->dlpi_addr;
    watch.libc_size = end;
    return 1;
}

bool gr_watch_start(const GrHostWatcher *w) {
    unsigned n = atomic_load(&watch.watchers);
    if (n == WATCHERS)
        return false;
    watch.tell[n] = *w;
    if (n) {
        atomic_store(&watch.watchers, n + 1);
        return atomic_load(&watch.runs);
    }
    void *driver = gr_driver_library();
    *(void **)&watch.locked = gr_real_dlsym(driver, "gr_cpu_device_locked");
    *(void **)&watch.lock_is_mine = gr_real_dlsym(driver, "gr_cpu_device_lock_is_mine");
    *(void **)&watch.list = gr_real_dlsym(driver, "gr_cpu_device_shared_memory");
    *(void **)&watch.used_pageable = gr_real_dlsym(driver, "gr_cpu_device_used_pageable");
    if (!watch.locked || !watch.lock_is_mine || !watch.list || !watch.used_pageable)
        return false;
    long page = sysconf(_SC_PAGESIZE);
    watch.page = page > 0 ? (uint64_t)page : 4096;
    dl_iterate_phdr(find_libc, NULL);
    if (sem_init(&watch.asked, 0, 0) || pthread_atfork(NULL, NULL, forget_in_child) || !start_thread() ||
        !gr_watch_signals())
        return false;
    atomic_store(&watch.watchers, 1);
    atomic_store(&watch.runs, true);
    return true;
}

static void do_stop(void *user) {
    (void)user;
    disarm();
    atomic_store(&watch.runs, false);
}

void gr_watch_stop(void) {
    if (atomic_load(&watch.runs) && !watch.lock_is_mine())
        watch.locked(do_stop, NULL);
}
