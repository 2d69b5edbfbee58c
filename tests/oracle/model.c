// SPDX-License-Identifier: Apache-2.0
// model — see model.h. Numbers of sections are those of PTX ISA 9.x. Where the chapter leaves room, docs/exact.md says
// what was decided, under "What is decided where the model leaves room?"; here it is marked [decided].
#include "model.h"

#include <stdlib.h>
#include <string.h>

typedef struct Model {
    const Trace *t;
    uint32_t n, words;
    uint32_t *next, *before; // event of the same thread; UINT32_MAX: none
    uint64_t *causes;        // base causality order (8.9.5): row X has Y when X precedes Y
    uint64_t *chances;       // the same with all of Fence-SC order; `causes` has what is decided of that
    uint64_t *leads;         // something leads from X to Y: it decides the order of fences
    uint64_t *strong_leads;  // `leads` by strong accesses alone
    uint64_t *least;         // like `causes`, of what strong accesses lead to alone
    uint64_t *observed;      // observation order (8.9.2): row W has R when W precedes R
    VEC(Pair) reads;         // W and R of `observed`, one by one
} Model;

static const Event *at(const Model *m, uint32_t k) { return &m->t->events.data[k]; }
static const Thread *thread_of(const Model *m, const Event *e) { return &m->t->threads.data[e->thread]; }

static void relate(const Model *m, uint64_t *rows, uint32_t x, uint32_t y) {
    rows[(size_t)x * m->words + y / 64] |= UINT64_C(1) << y % 64;
}

static bool related(const Model *m, const uint64_t *rows, uint32_t x, uint32_t y) {
    return rows[(size_t)x * m->words + y / 64] >> y % 64 & 1;
}

// ---- 8.2.1, 8.4, 8.5, 8.7: what operations are to each other -------------------------------------------------------

static bool is_strong(const Event *e) { return e->sem != PTX_WEAK && e->sem != PTX_SEM_NONE; }
static bool is_fence(const Event *e) { return e->kind == EV_FENCE; }
// Those of 8.8 by which others acquire or release: memory operations, and fences.
static bool releases(const Event *e) {
    return e->sem == PTX_RELEASE || e->sem == PTX_ACQ_REL || e->sem == PTX_SC;
}
static bool acquires(const Event *e) {
    return e->sem == PTX_ACQUIRE || e->sem == PTX_ACQ_REL || e->sem == PTX_SC;
}

static bool overlap(const Event *a, const Event *b) {
    return a->place.space == b->place.space && a->place.launch == b->place.launch &&
           a->place.block == b->place.block && a->place.at < b->place.at + b->size &&
           b->place.at < a->place.at + a->size;
}

static bool overlap_completely(const Event *a, const Event *b) {
    return trace_same_place(&a->place, &b->place) && a->size == b->size;
}

// 8.5: the scope of x includes the thread that executes y.
static bool includes(const Model *m, const Event *x, const Event *y) {
    const Thread *a = thread_of(m, x), *b = thread_of(m, y);
    bool launch = a->launch == b->launch;
    switch (x->scope) {
    case PTX_SCOPE_CTA: return launch && a->block == b->block;
    case PTX_SCOPE_CLUSTER: return launch && a->cluster == b->cluster;
    case PTX_SCOPE_GPU: return a->device == b->device;
    default: return true;
    }
}

// 8.7
static bool morally_strong(const Model *m, const Event *a, const Event *b) {
    if (a->thread != b->thread && !(is_strong(a) && is_strong(b) && includes(m, a, b) && includes(m, b, a)))
        return false;
    return a->proxy == b->proxy && (is_fence(a) || is_fence(b) || overlap_completely(a, b));
}

// ---- 8.9.2: observation order --------------------------------------------------------------------------------------

// W and R are morally strong and R reads what W wrote; and through atomic operations what W itself observed.
static bool observe(Model *m, uint32_t w, uint32_t r) {
    const Event *z = at(m, w);
    for (uint32_t v = 0; v <= w; v++) {
        if (v != w && !(z->reads && z->writes && related(m, m->observed, v, w)))
            continue;
        Pair p = {v, r};
        if (related(m, m->observed, v, r))
            continue;
        relate(m, m->observed, v, r);
        if (!gr_vec_push(&m->reads, p))
            return false;
    }
    return true;
}

// The execution is sequentially consistent: a read sees what was written last. When that covers the place in part only,
// or was made up by several writes, it is nobody's value. [decided: an atomic operation counts as a write even when a
// compare-and-swap fails]
static bool observe_accesses(Model *m) {
    for (uint32_t r = 0; r < m->n; r++) {
        const Event *e = at(m, r);
        if (e->kind != EV_ACCESS || !e->reads || !is_strong(e))
            continue;
        uint32_t w = r;
        while (w-- > 0)
            if (at(m, w)->kind == EV_ACCESS && at(m, w)->writes && overlap(at(m, w), e))
                break;
        if (w != UINT32_MAX && morally_strong(m, at(m, w), e) && !observe(m, w, r))
            return false;
    }
    return true;
}

// ---- 8.8, 8.9.4: patterns, and who synchronizes --------------------------------------------------------------------

static bool is_write_of_pattern(const Event *e) {
    return is_strong(e) && e->writes &&
           (e->kind == EV_ACCESS || e->kind == EV_MBAR_ARRIVE || e->kind == EV_CLUSTER_ARRIVE);
}

static bool is_read_of_pattern(const Event *e) {
    return is_strong(e) && e->reads && !e->is_red &&
           (e->kind == EV_ACCESS || e->kind == EV_MBAR_WAIT || e->kind == EV_CLUSTER_WAIT);
}

// A release pattern: a release operation; or that, or a fence that releases, and later in program order the strong
// write, on the same location.
static bool begins_release(const Event *first, const Event *write, bool same) {
    if (same)
        return releases(write);
    return first->thread == write->thread && releases(first) &&
           (is_fence(first) || (is_write_of_pattern(first) && overlap_completely(first, write)));
}

static bool ends_acquire(const Event *read, const Event *last, bool same) {
    if (same)
        return acquires(read);
    return read->thread == last->thread && acquires(last) &&
           (is_fence(last) || (is_read_of_pattern(last) && overlap_completely(read, last)));
}

static void synchronize_patterns(Model *m, uint32_t w, uint32_t r) {
    const Event *write = at(m, w), *read = at(m, r);
    // An operation that completes on an mbarrier is known to whoever is told of the phase. [decided: at any scope]
    bool op = write->kind == EV_ACCESS && read->kind == EV_MBAR_WAIT;
    if ((!op && !is_write_of_pattern(write)) || !is_read_of_pattern(read))
        return;
    for (uint32_t last = r; last < m->n; last = m->next[last]) { // of the reader
        if (!ends_acquire(read, at(m, last), last == r))
            continue;
        if (op)
            relate(m, m->causes, w, last);
        for (uint32_t first = w; first < m->n && !op; first = m->before[first]) // of the writer
            if (begins_release(at(m, first), write, first == w) &&
                morally_strong(m, at(m, first), at(m, last)))
                relate(m, m->causes, first, last);
    }
}

// False: out of memory.
static bool follow_threads(Model *m) {
    m->next = malloc(((size_t)m->n + 1) * sizeof *m->next);
    m->before = malloc(((size_t)m->n + 1) * sizeof *m->before);
    uint32_t *last = malloc((m->t->threads.len + 1) * sizeof *last);
    if (last && m->next && m->before) {
        for (size_t k = 0; k < m->t->threads.len; k++)
            last[k] = UINT32_MAX;
        for (uint32_t k = 0; k < m->n; k++) {
            uint32_t thread = at(m, k)->thread;
            m->next[k] = UINT32_MAX;
            m->before[k] = thread == UINT32_MAX ? UINT32_MAX : last[thread];
            if (m->before[k] != UINT32_MAX)
                m->next[m->before[k]] = k;
            if (thread != UINT32_MAX)
                last[thread] = k;
        }
    }
    free(last);
    return last && m->next && m->before;
}

static bool is_fence_sc(const Event *e) { return is_fence(e) && e->sem == PTX_SC; }

// 8.9.3: the order of fence.sc is that of the execution. [decided: the lanes of one instruction are unordered. And a
// fence comes before another as far as causality goes only if something leads from the one to the other; else it did so
// by chance: another execution with the same values has them the other way round]
static void synchronize_fences(Model *m, uint64_t *rows) {
    for (uint32_t x = 0; x < m->n; x++)
        for (uint32_t y = x + 1; y < m->n && is_fence_sc(at(m, x)); y++)
            if (is_fence_sc(at(m, y)) && at(m, x)->step != at(m, y)->step &&
                morally_strong(m, at(m, x), at(m, y))) {
                relate(m, m->chances, x, y);
                if (related(m, m->leads, x, y))
                    relate(m, rows, x, y);
            }
}

// 8.9.7: accesses that overlap, in the order in which they happened: of which one reads and one writes, or, if they are
// strong and of one place, of which one writes. (Writes that race are in no coherence order.) [decided: whatever their
// scopes; if these are too narrow, the two are a race themselves. And a value that was overwritten meanwhile counts as
// read]
static bool communicate(const Event *x, const Event *y, bool weak) {
    if (x->kind != EV_ACCESS || y->kind != EV_ACCESS || x->proxy != VM_PROXY_GENERIC ||
        y->proxy != VM_PROXY_GENERIC || !overlap(x, y))
        return false;
    bool strong = is_strong(x) && is_strong(y) && overlap_completely(x, y);
    return (strong && (x->writes || y->writes)) || (weak && x->writes != y->writes);
}

static void add_row(const Model *m, uint64_t *rows, uint32_t to, uint32_t from) {
    for (uint32_t k = 0; k < m->words; k++)
        rows[(size_t)to * m->words + k] |= rows[(size_t)from * m->words + k];
}

// The events from x on that are fences of one instruction with it.
static uint32_t fences_with(const Model *m, uint32_t x) {
    uint32_t n = 1;
    while (x + n < m->n && is_fence_sc(at(m, x + n)) && at(m, x + n)->step == at(m, x)->step)
        n++;
    return n;
}

// What leads to what: causality without fences' order, and communication, in any number of steps. [decided: what leads
// to the fence of one lane leads to those of all lanes of the instruction]
static void find_leads(Model *m, bool weak) {
    memcpy(m->leads, m->causes, (size_t)m->n * m->words * sizeof *m->leads);
    for (uint32_t x = m->n; x-- > 0;) {
        for (uint32_t y = x + 1; y < m->n; y++) {
            if (communicate(at(m, x), at(m, y), weak))
                relate(m, m->leads, x, y);
            if (related(m, m->leads, x, y))
                add_row(m, m->leads, x, y);
        }
        bool first = is_fence_sc(at(m, x)) &&
                     (x == 0 || !is_fence_sc(at(m, x - 1)) || at(m, x - 1)->step != at(m, x)->step);
        uint32_t n = first ? fences_with(m, x) : 0;
        for (uint32_t k = 0; k < n; k++) {
            add_row(m, m->leads, x, x + k);
            relate(m, m->leads, x, x + k);
        }
        for (uint32_t k = 1; k < n; k++)
            add_row(m, m->leads, x + k, x);
    }
}

// Arrivals at mbarriers and cluster barriers, and those who were told of the phase. [decided: the arrivals of a phase
// are observed by whoever is told that it is over, whatever other threads do to the barrier in between]
static bool observe_phases(Model *m) {
    for (size_t k = 0; k < m->t->observes.len; k++)
        if (!gr_vec_push(&m->reads, m->t->observes.data[k]))
            return false;
    return true;
}

// ---- 8.9.5: causality order ----------------------------------------------------------------------------------------

// Base causality order is the transitive closure of program order and synchronization. Both follow the execution, so
// that going through it backwards once will do. What is behind an event that is itself behind another one of the row is
// behind that one, too. False: out of memory.
static bool close(const Model *m, uint64_t *rows) {
    uint64_t *behind = malloc(((size_t)m->words + 1) * sizeof *behind); // those of the row
    for (uint32_t x = m->n; behind && x-- > 0;) {
        uint64_t *row = rows + (size_t)x * m->words;
        memset(behind, 0, m->words * sizeof *behind);
        for (uint32_t word = x / 64; word < m->words; word++)
            for (uint64_t left = row[word]; left; left &= left - 1) {
                uint64_t y = (uint64_t)__builtin_ctzll(left);
                const uint64_t *from = rows + (word * (size_t)64 + y) * m->words;
                for (uint32_t k = word; k < m->words && !(behind[word] >> y & 1); k++)
                    behind[k] |= from[k];
            }
        for (uint32_t k = x / 64; k < m->words; k++)
            row[k] |= behind[k];
    }
    free(behind);
    return behind != NULL;
}

// Proxy-preserved base causality order, for what X wrote or read to Y, along a path that begins at X or at who observed
// it. [decided: between what the generic proxy wrote (or read, if that is asked for) and an operation of the async
// proxy there must be a fence.proxy.async, by any thread, on the way; the end of an operation of the async proxy is a
// proxy fence for what it did, and so is the end of a launch; operations of the async proxy need none between them]
static bool precedes_through_proxies(const Model *m, const uint64_t *rows, uint32_t x, uint32_t from,
                                     uint32_t y) {
    if (!related(m, rows, from, y))
        return false;
    const Event *a = at(m, x), *b = at(m, y);
    if (a->proxy == b->proxy || a->proxy == VM_PROXY_ASYNC || (!a->writes && !m->t->proxy_reads) ||
        thread_of(m, at(m, from))->launch != thread_of(m, b)->launch)
        return true;
    for (uint32_t f = from + 1; f < y; f++)
        if (at(m, f)->kind == EV_PROXY_FENCE && related(m, rows, from, f) && related(m, rows, f, y))
            return true;
    return false;
}

// The second rule of causality order: Z observed X, and precedes Y. [decided: a strong read or atomic operation
// observes all strong writes that came before it and are morally strong with it, also those that were overwritten
// meanwhile]
static bool is_seen_by(const Model *m, uint32_t x, uint32_t z) {
    const Event *a = at(m, x), *b = at(m, z);
    return a->writes && b->reads && b->kind == EV_ACCESS && is_strong(a) && is_strong(b) &&
           morally_strong(m, a, b);
}

static bool precedes(const Model *m, const uint64_t *rows, uint32_t x, uint32_t y) {
    if (precedes_through_proxies(m, rows, x, x, y))
        return true;
    for (uint32_t z = x + 1; z < y && at(m, x)->writes && is_strong(at(m, x)); z++)
        if (is_seen_by(m, x, z) && precedes_through_proxies(m, rows, x, z, y))
            return true;
    return false;
}

// ---- 8.7.1: data races ---------------------------------------------------------------------------------------------

void race_set_add(RaceSet *s, const Place *p, uint32_t a, uint32_t b, bool maybe, bool chance) {
    RacyByte r = {*p, {a < b ? a : b, a < b ? b : a}, maybe, chance};
    if (!gr_vec_push(&s->bytes, r))
        s->nomem = true;
}

static int compare_places(const void *a, const void *b) {
    const RacyByte *x = a, *y = b;
#define BY(field)                                                                                            \
    if (x->field != y->field)                                                                                \
        return x->field < y->field ? -1 : 1;
    BY(place.space)
    BY(place.launch)
    BY(place.block)
    BY(place.at)
    BY(site[0])
    BY(site[1])
    BY(chance)
    return 0;
}

static int compare(const void *a, const void *b) {
    const RacyByte *x = a, *y = b;
    int c = compare_places(a, b);
    if (c)
        return c;
    BY(maybe) // the one that is sure is kept
#undef BY
    return 0;
}

void race_set_sort(RaceSet *s) {
    if (s->bytes.len)
        qsort(s->bytes.data, s->bytes.len, sizeof *s->bytes.data, compare);
    size_t n = 0;
    for (size_t k = 0; k < s->bytes.len; k++)
        if (!n || compare_places(&s->bytes.data[n - 1], &s->bytes.data[k]))
            s->bytes.data[n++] = s->bytes.data[k];
    s->bytes.len = n;
}

// The engine keeps one record for what the lanes of a warp do with one instruction, and does not always know whether a
// strong write came before or after a strong read of the place when their instructions were executed more than once.
// [decided: then it may take the read for an observer of the write]
static bool same_record(const Model *m, const Event *a, const Event *b) {
    const Thread *x = thread_of(m, a), *y = thread_of(m, b);
    return b->kind == EV_ACCESS && a->site == b->site && x->launch == y->launch && x->block == y->block &&
           x->warp == y->warp;
}

static bool may_seem_later(const Model *m, const Event *read, const Event *write) {
    uint32_t first = 0, last = m->n;
    while (first < m->n && (at(m, first)->thread == UINT32_MAX || !same_record(m, write, at(m, first))))
        first++;
    while (last-- > 0 && (at(m, last)->thread == UINT32_MAX || !same_record(m, read, at(m, last))))
        ;
    return last != UINT32_MAX && first < last;
}

static bool may_be_missed(const Model *m, uint32_t x, uint32_t y) {
    const Event *a = at(m, x);
    for (uint32_t z = 0; z < y && a->writes && is_strong(a); z++) {
        const Event *b = at(m, z);
        if (z != x && b->kind == EV_ACCESS && b->reads && is_strong(b) && morally_strong(m, a, b) &&
            precedes_through_proxies(m, m->causes, x, z, y) && may_seem_later(m, b, a))
            return true;
    }
    return false;
}

// A fence.sc that came behind x leads to y, by these orders. [decided: if such a fence also came first by chance, the
// two are no race: y has seen what was written behind the fence, and all that is missing is a fence of its own; that y
// itself touches what was written there does not count]
static bool heard(const Model *m, const uint64_t *rows, const uint64_t *leads, uint32_t x, uint32_t y) {
    for (uint32_t f = x + 1; f < y; f++)
        if (is_fence_sc(at(m, f)) && related(m, rows, x, f) && related(m, leads, f, y))
            return true;
    return false;
}

// The engine follows what strong accesses lead to, and of races what it still knows of the thread that came first.
// [decided: where only races lead from one fence to the other, it may take their order for chance]
static void race(const Model *m, uint32_t x, uint32_t y, RaceSet *out) {
    const Event *a = at(m, x), *b = at(m, y);
    Place p = a->place.at > b->place.at ? a->place : b->place;
    uint64_t end =
        a->place.at + a->size < b->place.at + b->size ? a->place.at + a->size : b->place.at + b->size;
    bool maybe = precedes(m, m->causes, x, y) || may_be_missed(m, x, y),
         chance = precedes(m, m->chances, x, y);
    if (chance && m->before[y] != UINT32_MAX && heard(m, m->least, m->strong_leads, x, m->before[y]))
        return;
    maybe |= chance && heard(m, m->causes, m->leads, x, y);
    for (; p.at < end; p.at++)
        race_set_add(out, &p, a->site, b->site, maybe, chance);
}

static void find_races(const Model *m, RaceSet *out) {
    for (uint32_t y = 0; y < m->n; y++)
        for (uint32_t x = 0; x < y && at(m, y)->kind == EV_ACCESS; x++) {
            const Event *a = at(m, x), *b = at(m, y);
            if (a->kind == EV_ACCESS && (a->writes || b->writes) && a->thread != b->thread && overlap(a, b) &&
                !precedes(m, m->least, x, y) && !morally_strong(m, a, b))
                race(m, x, y, out);
        }
    race_set_sort(out);
}

bool model_races(const Trace *t, RaceSet *out) {
    Model m = {.t = t, .n = (uint32_t)t->events.len, .words = (uint32_t)(t->events.len + 63) / 64};
    m.causes = calloc((size_t)m.n * m.words + 1, sizeof *m.causes);
    m.observed = calloc((size_t)m.n * m.words + 1, sizeof *m.observed);
    m.chances = calloc((size_t)m.n * m.words + 1, sizeof *m.chances);
    m.leads = calloc((size_t)m.n * m.words + 1, sizeof *m.leads);
    m.strong_leads = calloc((size_t)m.n * m.words + 1, sizeof *m.strong_leads);
    m.least = calloc((size_t)m.n * m.words + 1, sizeof *m.least);
    bool ok = m.causes && m.observed && m.chances && m.leads && m.strong_leads && m.least && !t->nomem;
    for (size_t k = 0; ok && k < t->orders.len; k++)
        relate(&m, m.causes, t->orders.data[k].from, t->orders.data[k].to);
    ok = ok && follow_threads(&m) && observe_accesses(&m) && observe_phases(&m);
    for (size_t k = 0; ok && k < m.reads.len; k++)
        synchronize_patterns(&m, m.reads.data[k].from, m.reads.data[k].to);
    if (ok) {
        size_t bytes = (size_t)m.n * m.words * sizeof *m.causes;
        memcpy(m.chances, m.causes, bytes);
        memcpy(m.least, m.causes, bytes);
        find_leads(&m, false);
        synchronize_fences(&m, m.least);
        memcpy(m.strong_leads, m.leads, bytes);
        find_leads(&m, true);
        synchronize_fences(&m, m.causes);
        ok = close(&m, m.causes) && close(&m, m.chances) && close(&m, m.least);
        find_races(&m, out);
    }
    free(m.next);
    free(m.before);
    free(m.causes);
    free(m.observed);
    free(m.chances);
    free(m.leads);
    free(m.strong_leads);
    free(m.least);
    gr_vec_free(&m.reads);
    return ok && !out->nomem;
}
