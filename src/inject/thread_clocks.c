// SPDX-License-Identifier: Apache-2.0
// thread_clocks — see thread_clocks.h.
#include "inject/thread_clocks.h"

#include "base/rng.h"
#include "device_api/host_threads.h"
#include "inject/hooks.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>

// What a thread knows: never changes, and is shared by all that know the same.
typedef struct ThreadClock {
    uint64_t version; // no other has it; 0 is that of none
    uint32_t refs, n;
    uint64_t moment[]; // [n]: by the threads' numbers
} ThreadClock;

struct SyncThread {
    ThreadClock *clock;
    uint32_t number; // 0: it has not waited for the device
    bool registered;
    pthread_t id;
    SyncThread *next; // of the same row of `threads`
};

enum {
    MOST_THREADS = 256,
    WAYS = 8,
    SETS = 8192,
    ROWS = 256,
    CLASSES = 8,      // of memory: 64 bytes and powers of two
    CHUNK = 64 << 10, // asked of the system at once
    OURS = 8,
    MEMOS = 16,
};

// What the last releases to objects left with them. Read without the lock: a reader that meets a change tries again
// with it or misses an order.
typedef struct Set {
    uintptr_t key[WAYS];
    uint64_t version[WAYS]; // of the clock; of a barrier's counter: count << 32 | arrivals
    ThreadClock *clock[WAYS];
} __attribute__((aligned(64))) Set;

// The two clocks have nothing new for each other.
typedef struct Memo {
    uintptr_t key;
    uint64_t object, thread;
} Memo;

#define THREAD_LOCAL static __thread __attribute__((tls_model("initial-exec")))
THREAD_LOCAL SyncThread *me;
THREAD_LOCAL uint64_t my_version;
THREAD_LOCAL bool busy, ended;
THREAD_LOCAL Memo memos[2][MEMOS]; // of acquiring, of releasing

bool gr_threads_followed;
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER; // a leaf; guards all below
static Set sets[SETS];
static SyncThread *threads[ROWS];
static uint64_t last_version;
static struct {
    uint64_t moment; // of its last wait
    bool free, any;  // any: nothing of its earlier threads is remembered
} number[MOST_THREADS + 1];
static uint32_t numbers;
static pthread_key_t at_end;
static bool has_key;

// ---- The lock and the memory ---------------------------------------------------------------------------------------

// Our own libraries' calls come by the wrappers as well: the C library's is asked directly.
static int (*real_lock)(pthread_mutex_t *), (*real_unlock)(pthread_mutex_t *);

// Found beforehand, for the reason that thread_calls.c gives.
__attribute__((constructor)) static void find_real(void) {
    *(void **)&real_lock = gr_real_dlsym(RTLD_NEXT, "pthread_mutex_lock");
    *(void **)&real_unlock = gr_real_dlsym(RTLD_NEXT, "pthread_mutex_unlock");
}

// Takes the lock. False: the thread was interrupted here.
static bool enter(void) {
    if (busy)
        return false;
    busy = true;
    if (!__atomic_load_n((void **)&real_unlock, __ATOMIC_ACQUIRE))
        find_real();
    real_lock(&guard);
    return true;
}

static void leave(void) {
    real_unlock(&guard);
    busy = false;
}

static void *free_memory[CLASSES];
static unsigned char *chunk;
static size_t chunk_left;

static unsigned class_of(size_t size) {
    unsigned c = 0;
    while (c < CLASSES && (size_t)64 << c < size)
        c++;
    return c;
}

static void *take(size_t size) {
    unsigned c = class_of(size);
    size_t bytes = (size_t)64 << c;
    if (c == CLASSES)
        return NULL;
    void *p = free_memory[c];
    if (p) {
        free_memory[c] = *(void **)p;
        return memset(p, 0, size);
    }
    if (chunk_left < bytes) {
        p = mmap(NULL, CHUNK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (p == MAP_FAILED)
            return NULL;
        chunk = p;
        chunk_left = CHUNK;
    }
    chunk_left -= bytes;
    return chunk + chunk_left;
}

static void give(void *p, size_t size) {
    unsigned c = class_of(size);
    *(void **)p = free_memory[c];
    free_memory[c] = p;
}

void *gr_threads_alloc(unsigned size) {
    if (!enter())
        return NULL;
    void *p = take(size);
    leave();
    return p;
}

void gr_threads_free(void *p, unsigned size) {
    if (!enter())
        return;
    give(p, size);
    leave();
}

// ---- Clocks ---------------------------------------------------------------------------------------------------------

static size_t bytes_of(uint32_t n) { return sizeof(ThreadClock) + n * sizeof(uint64_t); }

static ThreadClock *retain(ThreadClock *c) {
    if (c)
        c->refs++;
    return c;
}

static void release(ThreadClock *c) {
    if (c && --c->refs == 0)
        give(c, bytes_of(c->n));
}

static bool covers(const ThreadClock *a, const ThreadClock *b) {
    for (uint32_t k = 0; b && k < b->n; k++)
        if (b->moment[k] > (a && k < a->n ? a->moment[k] : 0))
            return false;
    return true;
}

static ThreadClock *new_clock(uint32_t n, const ThreadClock *from) {
    ThreadClock *c = take(bytes_of(n));
    if (!c)
        return NULL;
    c->version = ++last_version;
    c->refs = 1;
    c->n = n;
    if (from)
        memcpy(c->moment, from->moment, from->n * sizeof *from->moment);
    return c;
}

// What a and b know, as a reference of the caller's own; NULL: memory is out, or neither knows anything.
static ThreadClock *join(ThreadClock *a, ThreadClock *b) {
    if (covers(a, b))
        return retain(a);
    if (covers(b, a))
        return retain(b);
    ThreadClock *longer = a->n >= b->n ? a : b, *other = longer == a ? b : a,
                *c = new_clock(longer->n, longer);
    for (uint32_t k = 0; c && k < other->n; k++)
        if (other->moment[k] > c->moment[k])
            c->moment[k] = other->moment[k];
    return c;
}

static void set_mine(ThreadClock *c) {
    release(me->clock);
    me->clock = c;
    my_version = c ? c->version : 0;
}

// ---- Threads --------------------------------------------------------------------------------------------------------

static SyncThread **place_of(pthread_t id) {
    SyncThread **p = &threads[gr_mix64((uint64_t)(uintptr_t)id) % ROWS];
    while (*p && !pthread_equal((*p)->id, id))
        p = &(*p)->next;
    return p;
}

static void drop(SyncThread *t) {
    release(t->clock);
    give(t, sizeof *t);
}

// A thread that had its id and was never joined has left its entry.
static void enlist(SyncThread *t) {
    SyncThread **p = place_of(t->id), *old = *p;
    t->next = old ? old->next : NULL;
    t->registered = true;
    *p = t;
    if (old)
        drop(old);
}

// Called as the thread ends. Its clock stays for the thread that joins it, its number for a thread that comes after it.
static void thread_ends(void *t) {
    if (t != me || !enter())
        return;
    if (me->number)
        number[me->number].free = true;
    me = NULL;
    my_version = 0;
    ended = true; // keys that are destroyed later may synchronize
    leave();
}

static bool be_known(void) {
    if (me || ended)
        return me != NULL;
    SyncThread *t = take(sizeof *t);
    if (!t)
        return false;
    t->id = pthread_self();
    enlist(t);
    me = t;
    if (has_key)
        pthread_setspecific(at_end, t);
    return true;
}

// A number: one that a thread gave up, if this thread knows all it stood for, or nothing remembers it.
static uint32_t find_number(void) {
    const ThreadClock *c = me->clock;
    for (uint32_t k = 1; k <= numbers; k++)
        if (number[k].free && (number[k].any || (c && k <= c->n && c->moment[k - 1] >= number[k].moment))) {
            number[k].free = number[k].any = false;
            return k;
        }
    return numbers < MOST_THREADS ? ++numbers : 0;
}

// ---- Whose call it is -----------------------------------------------------------------------------------------------

static struct { uintptr_t from, to; } ours[OURS];
static unsigned n_ours;
static unsigned long long seen_libraries; // that had been loaded when `ours` was found

static bool is_ours(const struct dl_phdr_info *info) {
    const char *slash = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;
    if (slash && (!strncmp(slash + 1, "libcuda.so", 10) || !strncmp(slash + 1, "libcudart.so", 12)))
        return true;
    for (int k = 0; k < info->dlpi_phnum; k++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[k];
        uintptr_t at = info->dlpi_addr + p->p_vaddr;
        if (p->p_type == PT_LOAD && (uintptr_t)sets >= at && (uintptr_t)sets < at + p->p_memsz)
            return true;
    }
    return false;
}

static int look_at(struct dl_phdr_info *info, size_t size, void *user) {
    (void)size;
    bool *changed = user;
    if (!*changed && info->dlpi_adds == seen_libraries)
        return 1;
    *changed = true;
    seen_libraries = info->dlpi_adds;
    if (n_ours == OURS || !is_ours(info))
        return 0;
    uintptr_t from = UINTPTR_MAX, to = 0;
    for (int k = 0; k < info->dlpi_phnum; k++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[k];
        if (p->p_type != PT_LOAD)
            continue;
        uintptr_t at = info->dlpi_addr + p->p_vaddr;
        from = at < from ? at : from;
        to = at + p->p_memsz > to ? at + p->p_memsz : to;
    }
    for (unsigned k = 0; k < n_ours; k++)
        if (ours[k].from == from)
            return 0;
    ours[n_ours].from = from;
    ours[n_ours].to = to;
    __atomic_store_n(&n_ours, n_ours + 1, __ATOMIC_RELEASE);
    return 0;
}

static bool of_ours(const volatile void *p) {
    unsigned n = __atomic_load_n(&n_ours, __ATOMIC_ACQUIRE);
    for (unsigned k = 0; k < n; k++)
        if ((uintptr_t)p >= ours[k].from && (uintptr_t)p < ours[k].to)
            return true;
    return false;
}

// ---- Objects --------------------------------------------------------------------------------------------------------

static uintptr_t key_of(const volatile void *object, unsigned which) { return (uintptr_t)object | which; }
static Set *set_of(uintptr_t key) { return &sets[gr_mix64(key >> 2) % SETS]; }

// WAYS: it is not there.
static unsigned way_of(const Set *s, uintptr_t key) {
    unsigned k = 0;
    while (k < WAYS && __atomic_load_n(&s->key[k], __ATOMIC_RELAXED) != key)
        k++;
    return k;
}

static void put(Set *s, unsigned way, uintptr_t key, uint64_t version, ThreadClock *c) {
    ThreadClock *old = s->clock[way];
    __atomic_store_n(&s->key[way], 0, __ATOMIC_RELAXED);
    s->clock[way] = c;
    __atomic_store_n(&s->version[way], version, __ATOMIC_RELEASE);
    __atomic_store_n(&s->key[way], key, __ATOMIC_RELEASE);
    release(old);
}

// A free place of the set, or that of its oldest entry.
static unsigned room_in(const Set *s) {
    unsigned oldest = 0;
    for (unsigned k = 0; k < WAYS; k++) {
        if (!s->key[k])
            return k;
        if (s->clock[k] && (!s->clock[oldest] || s->version[k] < s->version[oldest]))
            oldest = k;
    }
    return oldest;
}

// Object and thread are known to have nothing to tell each other. Without the lock.
static bool is_old_news(const Set *s, unsigned way, uintptr_t key, bool releases, Memo **memo) {
    uint64_t v = __atomic_load_n(&s->version[way], __ATOMIC_ACQUIRE);
    *memo = &memos[releases][key >> 2 & (MEMOS - 1)];
    return v == my_version || ((*memo)->key == key && (*memo)->object == v && (*memo)->thread == my_version);
}

void gr_threads_acquire(const volatile void *object, unsigned which) {
    uintptr_t key = key_of(object, which);
    Set *s = set_of(key);
    unsigned way = way_of(s, key);
    Memo *memo = NULL;
    if (way == WAYS || is_old_news(s, way, key, false, &memo))
        return;
    int error = errno;
    if (!enter())
        return;
    way = way_of(s, key);
    if (way < WAYS && be_known()) {
        ThreadClock *both = join(me->clock, s->clock[way]);
        if (both || !me->clock)
            set_mine(both);
        *memo = (Memo){key, s->version[way], my_version};
    }
    leave();
    errno = error;
}

void gr_threads_release(const volatile void *object, unsigned which, const void *caller) {
    if (!my_version)
        return;
    uintptr_t key = key_of(object, which);
    Set *s = set_of(key);
    unsigned way = way_of(s, key);
    Memo *memo = NULL;
    if (way < WAYS && is_old_news(s, way, key, true, &memo))
        return;
    int error = errno;
    if (of_ours(caller) || of_ours(object) || !enter())
        return;
    way = way_of(s, key);
    ThreadClock *both = join(way < WAYS ? s->clock[way] : NULL, me->clock);
    if (both)
        put(s, way < WAYS ? way : room_in(s), key, both->version, both);
    if (both && memo)
        *memo = (Memo){key, both->version, my_version};
    leave();
    errno = error;
}

void gr_threads_forget(const volatile void *object) {
    for (unsigned which = 0; which <= GR_CLOCK_COUNTER; which++) {
        uintptr_t key = key_of(object, which);
        Set *s = set_of(key);
        if (way_of(s, key) == WAYS || !enter())
            continue;
        unsigned way = way_of(s, key);
        if (way < WAYS)
            put(s, way, 0, 0, NULL);
        leave();
    }
}

void gr_threads_barrier(const volatile void *barrier, unsigned count) {
    uintptr_t key = key_of(barrier, GR_CLOCK_COUNTER);
    if (!count || of_ours(barrier) || !enter())
        return;
    Set *s = set_of(key);
    put(s, room_in(s), key, (uint64_t)count << 32, NULL);
    leave();
}

// The first `count` threads that come here are those of the first phase, in whatever order they get into the barrier
// itself: none leaves it before all of them were here. When a phase begins no thread needs the clock of the one before
// the last.
unsigned gr_threads_arrive(const volatile void *barrier) {
    uintptr_t key = key_of(barrier, GR_CLOCK_COUNTER);
    Set *s = set_of(key);
    if (way_of(s, key) == WAYS || !enter())
        return GR_CLOCK_COUNTER;
    unsigned way = way_of(s, key), which = GR_CLOCK_COUNTER;
    if (way < WAYS) {
        uint64_t count = s->version[way] >> 32, n = s->version[way] & UINT32_MAX;
        which = n / count ? GR_CLOCK_THIRD : GR_CLOCK_SECOND;
        uintptr_t phase = key_of(barrier, which);
        unsigned old = n % count ? WAYS : way_of(s, phase);
        if (old < WAYS)
            put(s, old, 0, 0, NULL);
        s->version[way] = count << 32 | (n + 1) % (2 * count);
    }
    leave();
    return which;
}

// ---- Creation and join ----------------------------------------------------------------------------------------------

SyncThread *gr_threads_child(const void *caller) {
    if (!gr_threads_are_followed() || !my_version || of_ours(caller) || !enter())
        return NULL;
    SyncThread *t = take(sizeof *t);
    if (t)
        t->clock = retain(me->clock);
    leave();
    return t;
}

void gr_threads_drop(SyncThread *t) {
    if (!t || !enter())
        return;
    drop(t);
    leave();
}

void gr_threads_begin(SyncThread *t) {
    if (!enter())
        return;
    t->id = pthread_self();
    enlist(t);
    me = t;
    my_version = t->clock->version;
    if (has_key)
        pthread_setspecific(at_end, t);
    leave();
}

void gr_threads_joined(pthread_t id) {
    if (!gr_threads_are_followed())
        return;
    int error = errno;
    if (!enter())
        return;
    SyncThread **p = place_of(id), *t = *p;
    if (t && t != me) {
        *p = t->next;
        ThreadClock *both = t->clock && be_known() ? join(me->clock, t->clock) : NULL;
        if (both)
            set_mine(both);
        drop(t);
    }
    leave();
    errno = error;
}

// ---- For the engine -------------------------------------------------------------------------------------------------

static const uint64_t *knows(uint32_t *n, uint64_t *version) {
    const ThreadClock *c = me ? me->clock : NULL;
    *n = c ? c->n : 0;
    *version = my_version;
    return c ? c->moment : NULL;
}

// A child of fork has one thread, and may have been made while another one was here.
static void forget_in_child(void) {
    pthread_mutex_init(&guard, NULL);
    __atomic_store_n(&gr_threads_followed, false, __ATOMIC_RELAXED);
    me = NULL;
    my_version = 0;
    ended = true;
}

static void begin(void) {
    has_key = pthread_key_create(&at_end, thread_ends) == 0;
    pthread_atfork(NULL, NULL, forget_in_child);
}

static uint32_t waited(uint64_t *moment) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, begin);
    bool changed = false;
    dl_iterate_phdr(look_at, &changed);
    if (!enter())
        return 0;
    uint32_t mine = 0;
    if (be_known() && (me->number || (me->number = find_number()))) {
        mine = me->number;
        const ThreadClock *old = me->clock;
        ThreadClock *c = new_clock(old && old->n > mine ? old->n : mine, old);
        if (c) {
            *moment = c->moment[mine - 1] = ++number[mine].moment;
            set_mine(c);
        } else {
            mine = 0;
        }
    }
    leave();
    __atomic_store_n(&gr_threads_followed, true, __ATOMIC_RELEASE);
    return mine;
}

static void settled(void) {
    if (!enter())
        return;
    for (uint32_t k = 1; k <= numbers; k++)
        number[k].any = number[k].free;
    leave();
}

const GrHostThreads gr_thread_clocks = {knows, waited, settled};
