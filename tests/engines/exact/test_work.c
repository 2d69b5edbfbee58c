// SPDX-License-Identifier: Apache-2.0
// test_work — random work in streams (copies, memsets, kernels, allocations, events, host functions, waits) under the
// causality engine, which collects and sweeps all the time, beside a model that keeps everything: for every item the
// set of those that it comes after. Both must say the same of every word. Memory that the host frees. And long programs
// that never wait: what is kept of their launches must not grow.
#include "base/rng.h"
#include "device_api/hooks.h"
#include "engines/exact/exact.h"
#include "peek.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
    ITEMS = 256, // of one run
    STREAMS = 4, // 0 is the legacy one, 1 and 2 wait for it, 3 does not
    MARKS = 4,
    WORDS = 48,
    OWN = 32, // words from here on are of memory that a stream allocates at some time
    BASE = 0x10000000,
    RUNS = 400,
};

typedef struct Set {
    uint64_t bits[ITEMS / 64];
} Set;

static void set_add(Set *s, unsigned k) { s->bits[k / 64] |= UINT64_C(1) << k % 64; }
static bool set_has(const Set *s, unsigned k) { return s->bits[k / 64] >> k % 64 & 1; }
static void set_join(Set *s, const Set *t) {
    for (unsigned k = 0; k < ITEMS / 64; k++)
        s->bits[k] |= t->bits[k];
}

typedef struct Item {
    GrWork work;
    Set known;              // what it comes after
    uint64_t reads, writes; // words
    bool begun;
} Item;

typedef struct Model {
    Exact *exact;
    VmObserver observer;
    Rng rng;
    Item item[ITEMS];
    unsigned n, queue[STREAMS][ITEMS], first[STREAMS], end[STREAMS];
    Set stream[STREAMS], mark[MARKS], host;
    bool allocated;          // an item has been submitted that does so, and may be used
    uint64_t launches, seen; // words that the engine named for the item that begins
    int marks[MARKS];        // their addresses name them
} Model;

static void occurred(void *user, const ExactOccurrence *o) {
    ((Model *)user)->seen |= UINT64_C(1) << (o->at - BASE) / 4;
}

static void tell(Model *m, Item *it, GrWorkKind kind) {
    it->work.kind = kind;
    gr_exact_work(m->exact, &it->work);
}

static uint64_t words_of(const GrBox *b) {
    return b->at ? ((UINT64_C(1) << b->width / 4) - 1) << (b->at - BASE) / 4 : 0;
}

static GrBox some_words(Model *m) {
    uint32_t words = m->allocated ? WORDS : OWN;
    uint64_t at = gr_rng_below(&m->rng, words), left = words - at,
             n = 1 + gr_rng_below(&m->rng, left < 8 ? (uint32_t)left : 8);
    return (GrBox){BASE + 4 * at, 4 * n, 1, 1, 4 * n, 0};
}

static void submit(Model *m) {
    static const GrWorkType types[] = {GR_WORK_COPY, GR_WORK_COPY,   GR_WORK_FILL, GR_WORK_KERNEL,
                                       GR_WORK_WAIT, GR_WORK_RECORD, GR_WORK_HOST, GR_WORK_OTHER};
    unsigned s = gr_rng_below(&m->rng, STREAMS), mark = gr_rng_below(&m->rng, MARKS);
    Item *it = &m->item[m->n];
    GrWork w = {.size = sizeof w,
                .type = types[gr_rng_below(&m->rng, sizeof types / sizeof *types)],
                .item = m->n + 1,
                .stream = s + 1,
                .context = 1,
                .legacy = s == 0,
                .blocking = s < 3};
    if (!m->allocated && gr_rng_below(&m->rng, 16) == 0) {
        w.type = GR_WORK_ALLOC;
        w.to = (GrBox){BASE + 4 * OWN, 4 * (WORDS - OWN), 1, 1, 0, 0};
        m->allocated = true;
    }
    if (w.type == GR_WORK_KERNEL)
        w.launch = ++m->launches;
    if (w.type == GR_WORK_WAIT || w.type == GR_WORK_RECORD)
        w.mark = &m->marks[mark];
    if (w.type == GR_WORK_COPY)
        w.from = some_words(m);
    if (w.type == GR_WORK_COPY || w.type == GR_WORK_FILL || w.type == GR_WORK_KERNEL)
        w.to = some_words(m);
    *it = (Item){.work = w, .known = m->host, .reads = words_of(&w.from), .writes = words_of(&w.to)};
    m->queue[s][m->end[s]++] = m->n++;
    tell(m, it, GR_WORK_SUBMITTED);
}

static bool is_waiting(const Model *m, unsigned s) { return m->first[s] < m->end[s]; }

// An allocation in the legacy stream, which waits for no other stream.
static bool is_apart(const Item *it) { return it->work.type == GR_WORK_ALLOC && it->work.legacy; }

// The legacy stream and those that wait for it go in the order of submission.
static bool may_begin(const Model *m, unsigned s) {
    if (!is_waiting(m, s))
        return false;
    unsigned mine = m->queue[s][m->first[s]];
    for (unsigned k = 0; k < 3; k++)
        if ((s == 0) != (k == 0) && s < 3 && is_waiting(m, k) && m->queue[k][m->first[k]] < mine &&
            !is_apart(&m->item[mine]))
            return false;
    return true;
}

// What a kernel of one block of one warp writes, a lane for each word.
static void run_kernel(Model *m, const Item *it) {
    VmLaunchEvent e = {
        .launch = it->work.launch, .grid = {1, 1, 1}, .block = {32, 1, 1}, .cluster = {1, 1, 1}};
    m->observer.launch_begin(m->observer.user, &e);
    m->observer.block_begin(m->observer.user, e.launch, 0);
    uint64_t address[32] = {0};
    VmAccessEvent a = {.where = {.launch = e.launch},
                       .access = PTX_ACCESS_WRITE,
                       .space = PTX_GLOBAL,
                       .sem = PTX_WEAK,
                       .size = 4,
                       .address = address};
    for (uint32_t k = 0; k < it->work.to.width / 4; k++) {
        address[k] = it->work.to.at + 4 * k;
        a.where.mask |= UINT32_C(1) << k;
    }
    m->observer.access(m->observer.user, &a);
}

static void end_kernel(Model *m, const Item *it) {
    VmLaunchEvent e = {.launch = it->work.launch};
    m->observer.block_end(m->observer.user, e.launch, 0);
    m->observer.launch_end(m->observer.user, &e, false);
}

static void begin(Model *m, unsigned s) {
    unsigned number = m->queue[s][m->first[s]];
    Item *it = &m->item[number];
    set_join(&it->known, &m->stream[s]);
    for (unsigned k = 0; k < 3; k++)
        if ((s == 0) != (k == 0) && s < 3 && !is_apart(it))
            set_join(&it->known, &m->stream[k]);
    set_join(&m->stream[s], &it->known);
    uint64_t racing = 0;
    for (unsigned k = 0; k < m->n; k++) {
        const Item *o = &m->item[k];
        if (o->begun && k != number && !set_has(&it->known, k))
            racing |= (it->writes & (o->reads | o->writes)) | (it->reads & o->writes);
    }
    it->begun = true;
    m->seen = 0;
    tell(m, it, GR_WORK_BEGINS);
    if (it->work.type == GR_WORK_KERNEL)
        run_kernel(m, it);
    if (it->work.type == GR_WORK_HOST)
        set_join(&m->host, &it->known);
    assert_int_equal(m->seen, racing);
}

static void end(Model *m, unsigned s) {
    unsigned number = m->queue[s][m->first[s]++];
    Item *it = &m->item[number];
    set_join(&m->stream[s], &it->known);
    if (it->reads | it->writes)
        set_add(&m->stream[s], number);
    if (it->work.type == GR_WORK_KERNEL)
        end_kernel(m, it);
    long mark = it->work.mark ? (const int *)it->work.mark - m->marks : 0;
    if (it->work.type == GR_WORK_WAIT)
        set_join(&m->stream[s], &m->mark[mark]);
    if (it->work.type == GR_WORK_RECORD)
        m->mark[mark] = m->stream[s];
    if (it->work.type == GR_WORK_HOST) {
        set_join(&m->host, &m->stream[s]);
        set_join(&m->stream[s], &m->host);
    }
    tell(m, it, GR_WORK_ENDED);
}

// The host waits for a stream that has nothing left to do (with the legacy one, for those that wait for it), for a
// mark, or for everything.
static void wait(Model *m) {
    GrWork w = {.size = sizeof w, .kind = GR_WORK_WAITED};
    unsigned s = gr_rng_below(&m->rng, STREAMS + 2), first = s, last = s ? s : 2;
    bool idle = true, over = s < STREAMS;
    for (unsigned k = 0; k < STREAMS; k++) {
        idle &= !is_waiting(m, k);
        over &= k < first || k > last || !is_waiting(m, k);
    }
    if (over) {
        w.stream = s + 1;
        w.context = 1;
        w.legacy = s == 0;
        for (unsigned k = first; k <= last; k++)
            set_join(&m->host, &m->stream[k]);
    } else if (s == STREAMS) {
        unsigned mark = gr_rng_below(&m->rng, MARKS);
        w.mark = &m->marks[mark];
        set_join(&m->host, &m->mark[mark]);
    } else if (idle)
        for (unsigned k = 0; k < STREAMS; k++)
            set_join(&m->host, &m->stream[k]);
    else
        return;
    gr_exact_work(m->exact, &w);
}

static void make(Model *m, uint64_t seed, size_t collect_every) {
    *m = (Model){.rng = gr_rng_fork(seed, 0, 0)};
    ExactOptions o = {
        .occurred = occurred, .user = m, .collect_every = collect_every, .tables_at = collect_every != 0};
    assert_int_equal(gr_exact_create(&o, &m->exact, NULL), GR_OK);
    m->observer = gr_exact_observer(m->exact);
}

static void run(uint64_t seed, size_t collect_every) {
    static Model m;
    make(&m, seed, collect_every);
    unsigned waits = 2 + gr_rng_below(&m.rng, 40);
    bool running[STREAMS] = {false};
    while (m.n < ITEMS) {
        unsigned what = gr_rng_below(&m.rng, 3), s = gr_rng_below(&m.rng, STREAMS);
        if (gr_rng_below(&m.rng, waits) == 0)
            wait(&m);
        else if (what == 0)
            submit(&m);
        else if (what == 1 && !running[s] && may_begin(&m, s)) {
            begin(&m, s);
            running[s] = true;
        } else if (running[s]) {
            end(&m, s);
            running[s] = false;
        }
    }
    assert_false(gr_exact_incomplete(m.exact));
    gr_exact_free(m.exact);
}

static void streams_order_what_they_should(void **state) {
    (void)state;
    for (uint64_t k = 0; k < RUNS; k++) {
        run(k, 1 + k % 7);
        run(k, 0);
    }
}

// ---- Frees by the host ---------------------------------------------------------------------------------------------

// A copy, and a free that waits for nothing: the memory goes when the copy has ended. The host waits for the copy
// before its call, behind it, or not. Yields the words that were named.
static uint64_t free_beside_a_copy(bool before, bool behind) {
    static Model m;
    make(&m, 1, 0);
    Item copy = {.work = {.size = sizeof copy.work,
                          .type = GR_WORK_COPY,
                          .item = 1,
                          .stream = 4,
                          .context = 1,
                          .to = {BASE, 8, 1, 1, 8, 0}}};
    Item gone = {
        .work = {
            .size = sizeof gone.work, .type = GR_WORK_FREE, .item = 2, .to = {BASE, 4 * WORDS, 1, 1, 0, 0}}};
    Item wait = {.work = {.size = sizeof wait.work, .stream = 4, .context = 1}};
    tell(&m, &copy, GR_WORK_SUBMITTED);
    tell(&m, &copy, GR_WORK_BEGINS);
    if (before) {
        tell(&m, &copy, GR_WORK_ENDED);
        tell(&m, &wait, GR_WORK_WAITED);
    }
    tell(&m, &gone, GR_WORK_FREES);
    if (!before)
        tell(&m, &copy, GR_WORK_ENDED);
    if (behind)
        tell(&m, &wait, GR_WORK_WAITED);
    assert_int_equal(m.seen, 0);
    tell(&m, &gone, GR_WORK_FREED);
    assert_false(gr_exact_incomplete(m.exact));
    gr_exact_free(m.exact);
    return m.seen;
}

static void frees_know_what_the_host_knew_at_its_call(void **state) {
    (void)state;
    assert_int_equal(free_beside_a_copy(true, false), 0);
    assert_int_not_equal(free_beside_a_copy(false, false), 0);
    assert_int_not_equal(free_beside_a_copy(false, true), 0);
}

// ---- Growth --------------------------------------------------------------------------------------------------------

// One round of small copies and kernels in all streams, which hand on to each other by events; nobody waits.
static void round_of_work(Model *m) {
    for (unsigned s = 0; s < STREAMS; s++) {
        static const GrWorkType types[] = {GR_WORK_WAIT, GR_WORK_COPY, GR_WORK_KERNEL, GR_WORK_RECORD};
        for (unsigned k = 0; k < 4; k++) {
            Item it = {.work = {.size = sizeof it.work,
                                .type = types[k],
                                .item = ++m->n,
                                .stream = s + 1,
                                .context = 1,
                                .legacy = s == 0,
                                .blocking = s < 3}};
            it.work.from = it.work.to = (GrBox){BASE + 32 * s, 32, 1, 1, 32, 0};
            it.work.mark = k == 0 ? &m->marks[(s + 3) % 4] : k == 3 ? &m->marks[s] : NULL;
            it.work.launch = k == 2 ? ++m->launches : 0;
            tell(m, &it, GR_WORK_SUBMITTED);
            tell(m, &it, GR_WORK_BEGINS);
            if (k == 2) {
                run_kernel(m, &it);
                end_kernel(m, &it);
            }
            tell(m, &it, GR_WORK_ENDED);
        }
    }
}

// What is kept at most, at any time of so many rounds from now.
static uint64_t most_kept(Model *m, unsigned rounds, uint64_t *shadow) {
    uint64_t most = *shadow = 0;
    for (unsigned k = 0; k < rounds; k++) {
        round_of_work(m);
        uint64_t now = peek_order_bytes(m->exact), bytes = gr_exact_shadow_bytes(m->exact);
        most = now > most ? now : most;
        *shadow = bytes > *shadow ? bytes : *shadow;
    }
    return most;
}

static void nothing_grows_with_launches(void **state) {
    (void)state;
    static Model m;
    make(&m, 1, 512);
    uint64_t shadow, later_shadow;
    uint64_t first = most_kept(&m, 1000, &shadow), later = most_kept(&m, 10000, &later_shadow);
    assert_int_equal(m.seen, 0); // and in order
    assert_in_range(later, 1, first);
    assert_in_range(later_shadow, 1, shadow);
    assert_false(gr_exact_incomplete(m.exact));
    gr_exact_free(m.exact);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(streams_order_what_they_should),
        cmocka_unit_test(frees_know_what_the_host_knew_at_its_call),
        cmocka_unit_test(nothing_grows_with_launches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
