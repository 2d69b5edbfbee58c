// SPDX-License-Identifier: Apache-2.0
// oracle_kernels — runs small random kernels (kernel.h) with both the causality engine and the oracle (trace.h,
// model.h) listening to the same execution. Both must name the same racing bytes with the same pairs of sites. No load
// that the tracker leaves out because barriers order it (phases.h) may be among them.
//
//     oracle_kernels [--first N] [--count N] [--seeds N]     runs them; what differs is made small and printed
//     oracle_kernels --show N [--seed S] [--mutant 1]        prints that kernel, or its mutant, and what was found
//     oracle_kernels --saturate SEEDS [--first N] [--count N]     how many seeds it takes to see what that many show
//     oracle_kernels --long N [--first N]                    N of them, repeated until stamps were recycled 100 times
// Two of three kernels have loads that are held back (held.c). At the end it says in how many kernels lanes of a warp
// came in parts to a meeting, one of them with such a load, and what kinds of meetings those were.
//     oracle_kernels --until 1 …                             ends with the first kernel in which something differs
//     oracle_kernels --again FILE      runs those whose numbers begin the file's lines; # begins a comment
//     --collect N with any of them: the engine collects stamps whenever N are new
//     oracle_kernels --driver LIBCUDA [--first N] [--count N]     only runs them, through that driver; for confirm.py
#include "../conformance/driver.h"
#include "../engines/exact/peek.h"
#include "ears.h"
#include "engines/exact/exact.h"
#include "engines/tracker/pass/phases.h"
#include "kernel.h"
#include "late.h"
#include "model.h"
#include "vm/vm.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SEEDS = 4,
    BYTES = 1024,
    LINES = 512,
    REPORTS = 10,
    RETRIES = 6,
    RECYCLED = 100,     // --long: so many times
    REPEATS_MAX = 1024, // else the kernel is not made longer,
    EVENTS_MAX = 10000, // and not with more events: the oracle's time is quadratic
};

static size_t collect_every; // ExactOptions.collect_every

typedef struct Options {
    uint64_t first, count, seeds, show, seed, saturate, mutant, longs, until;
    const char *driver, *again;
    bool shows, quiet;
} Options;

typedef struct Stats {
    uint64_t kernels, racy, clean, executions, racy_executions, faulted, events, largest, mutants,
        racy_mutants, wrong, missed, collections, still, by_chance;
    uint64_t seen, meetings[MEETINGS_COUNT]; // seen: of the kernel, a bit for each
} Stats;

// One execution of one kernel.
typedef struct Result {
    RaceSet oracle, exact;
    uint32_t events, missed; // missed: bytes that the engine may miss, and did
    uint64_t collections;
    uint32_t still;    // loads that barriers order
    uint64_t meetings; // Late.meetings
    const char *wrong; // Late.wrong
    bool faulted, same;
} Result;

static void drop_result(Result *r) {
    gr_vec_free(&r->oracle.bytes);
    gr_vec_free(&r->exact.bytes);
}

static void make(uint64_t number, Kernel *k) {
    if (number % 3)
        kernel_make_held(number, k);
    else
        kernel_make(number, k);
}

// ---- Running -------------------------------------------------------------------------------------------------------

// `alike`: both by chance, or both not. The engine may have forgotten an access that another one stands for, which
// another order meets.
static bool has(const RaceSet *s, const RacyByte *r, bool alike) {
    for (size_t k = 0; k < s->bytes.len; k++) {
        const RacyByte *x = &s->bytes.data[k];
        if (trace_same_place(&x->place, &r->place) && x->site[0] == r->site[0] && x->site[1] == r->site[1] &&
            (!alike || x->chance == r->chance))
            return true;
    }
    return false;
}

static bool agree(Result *r) {
    for (size_t k = 0; k < r->exact.bytes.len; k++)
        if (!has(&r->oracle, &r->exact.bytes.data[k], true))
            return false;
    for (size_t k = 0; k < r->oracle.bytes.len; k++) {
        const RacyByte *x = &r->oracle.bytes.data[k];
        bool found = has(&r->exact, x, false);
        if (!found && !x->maybe)
            return false;
        r->missed += !found;
    }
    return true;
}

// Whether none of the loads that barriers order raced. They are counted.
static bool still_is_right(const PtxModule *m, Result *r) {
    Arena arena;
    bool right = true;
    gr_arena_init(&arena);
    for (uint32_t f = 0; f < m->n_funcs; f++) {
        Cfg g;
        gr_error err;
        bool *still = GR_NEW_ARRAY(&arena, bool, (size_t)m->n_sites + 1);
        if (!m->funcs[f]->has_body)
            continue;
        if (!still || gr_cfg_build(m->funcs[f], &arena, &g, &err) != GR_OK ||
            !gr_phases_find(m->funcs[f], &g, &arena, still))
            ears_die("out of memory", NULL);
        for (uint32_t k = 1; k <= m->n_sites; k++)
            r->still += still[k];
        for (size_t k = 0; k < r->oracle.bytes.len; k++)
            right &= !still[r->oracle.bytes.data[k].site[0]] && !still[r->oracle.bytes.data[k].site[1]];
    }
    gr_arena_free(&arena);
    return right;
}

typedef enum Mode { JUDGED, PRINTED, SILENT } Mode; // silent: the oracle is not asked

// A device with the kernel on it, and the engine that hears of it.
typedef struct Machine {
    VmMem *mem;
    VmDevice *d;
    VmModule *m;
    VmRange *range;
    PtxModule *ptx[2];
    size_t n_ptx;
    StrBuf text, away;
    Exact *x;
} Machine;

static void set_up(Machine *on, const Kernel *k, uint64_t seed, const ExactOptions *o) {
    gr_error err = {0};
    *on = (Machine){.n_ptx = k->linked ? 2 : 1};
    kernel_text(k, &on->text);
    kernel_away(&on->away);
    VmConfig c = ears_config(seed);
    if (gr_vm_mem_create(&on->mem, &err) != GR_OK)
        ears_die("memory", &err);
    c.mem = on->mem;
    if (gr_vm_create(&c, &on->d, &err) != GR_OK || gr_exact_create(o, &on->x, &err) != GR_OK ||
        gr_ptx_parse(on->text.data, on->text.len, "kernel", &on->ptx[0], &err) != GR_OK ||
        (k->linked && gr_ptx_parse(on->away.data, on->away.len, "away", &on->ptx[1], &err) != GR_OK) ||
        gr_vm_module_load(on->d, on->ptx, on->n_ptx, NULL, NULL, &on->m, &err) != GR_OK ||
        gr_vm_mem_alloc(on->mem, VM_MEM_DEVICE, 0, BYTES, 256, &on->range, &err) != GR_OK) {
        printf("%s", on->text.data);
        ears_die("setup", &err);
    }
    const char *const *unknown;
    if (gr_vm_module_unknown(on->m, &unknown)) {
        printf("%s", on->text.data);
        ears_die(unknown[0], NULL);
    }
}

static void take_down(Machine *on) {
    gr_vm_module_unload(on->m);
    gr_vm_destroy(on->d);
    gr_exact_free(on->x);
    for (size_t n = 0; n < on->n_ptx; n++)
        gr_ptx_free(on->ptx[n]);
    gr_vm_mem_destroy(on->mem);
    gr_str_free(&on->text);
    gr_str_free(&on->away);
}

static void listen(VmDevice *d, const VmObserver *o) {
    gr_error err = {0};
    if (gr_vm_observe(d, o, &err) != GR_OK)
        ears_die("observe", &err);
}

// Whether one of the races is of the same pair, and was counted as often. Which side noticed first may differ.
static bool has_alike(const Race *r, const Race **races, size_t n) {
    for (size_t k = 0; k < n; k++) {
        const Race *t = races[k];
        bool same = r->side[0].site == t->side[0].site && r->side[1].site == t->side[1].site;
        bool swapped = r->side[0].site == t->side[1].site && r->side[1].site == t->side[0].site;
        if (r->class == t->class && r->space == t->space && (same || swapped))
            return r->count == t->count;
    }
    return false;
}

// The engine finds the same pairs, each as often, where nobody asks for each occurrence and it may pass over what it
// has found (again.c).
static bool counts_alike(const Kernel *k, uint64_t seed, ExactOptions o, bool glances, const Exact *x) {
    Machine on;
    bool faulted = false;
    o.occurred = NULL;
    set_up(&on, k, seed, &o);
    VmObserver alone = gr_exact_observer(on.x);
    if (!glances)
        alone.glance = NULL;
    listen(on.d, &alone);
    ears_launch(on.d, on.m, k, on.range->addr, &faulted);
    size_t pairs, others;
    const Race **all = peek_firsts(x, &pairs), **same = peek_firsts(on.x, &others);
    bool alike = all && same && pairs == others;
    for (size_t n = 0; alike && n < pairs; n++)
        alike = has_alike(all[n], same, others);
    free(all);
    free(same);
    take_down(&on);
    return alike;
}

static void run(const Kernel *k, uint64_t seed, Mode mode, Result *out) {
    Machine on;
    Trace *t = trace_new();
    memset(out, 0, sizeof *out);
    ExactOptions o = {.occurred = ears_occurred,
                      .user = &out->exact,
                      .volatiles = EXACT_VOLATILE_NONE, // which PTX takes for relaxed
                      .proxy_reads = seed / 2 % 2,
                      .collect_every = collect_every,
                      .tables_at = seed % 2,
                      .shorten_at = seed % 3 == 1 ? 128 : 0};
    if (!t)
        ears_die("memory", NULL);
    t->proxy_reads = o.proxy_reads;
    set_up(&on, k, seed, &o);
    Ears ears = {trace_observer(t), gr_exact_observer(on.x), false};
    VmObserver both = ears_observer(&ears, seed % 4 != 0);
    listen(on.d, &both);
    ears_launch(on.d, on.m, k, on.range->addr, &out->faulted);
    trace_end(t);
    out->meetings = t->late->meetings;
    out->wrong = out->faulted ? NULL : t->late->wrong;
    if ((mode != SILENT && !model_races(t, &out->oracle)) || out->exact.nomem || gr_exact_incomplete(on.x))
        ears_die("out of memory", NULL);
    race_set_sort(&out->exact);
    out->events = (uint32_t)t->events.len;
    out->collections = peek_collections(on.x);
    if (!out->wrong && !counts_alike(k, seed, o, seed % 4 != 0, on.x))
        out->wrong = "races are counted otherwise where nobody asks for each";
    out->same =
        agree(out) && !peek_doubts(on.x) && !out->wrong && (mode == SILENT || still_is_right(on.ptx[0], out));
    if (mode == PRINTED)
        trace_print(t);
    take_down(&on);
    trace_free(t);
}

// ---- Printing ------------------------------------------------------------------------------------------------------

static void print_text(const Kernel *k) {
    StrBuf text = {0};
    kernel_text(k, &text);
    printf("%s: grid %u, block %u%s, %u launches%s\n", k->kind, k->grid, k->block,
           k->cluster ? ", cluster of 2" : "", k->launches, k->together ? " at the same time" : "");
    unsigned line = 1;
    for (char *p = text.data, *end; p && *p; p = end + 1, line++) {
        end = strchr(p, '\n');
        if (!end)
            break;
        printf("%3u  %.*s\n", line, (int)(end - p), p);
    }
    gr_str_free(&text);
}

static void print_set(const char *name, const RaceSet *s, const RaceSet *other, const uint32_t *lines) {
    printf("%s:", name);
    for (size_t k = 0; k < s->bytes.len; k++) {
        const RacyByte *r = &s->bytes.data[k];
        printf(" %s%s+%u:%u/%u",
               has(other, r, false) ? ""
               : r->maybe           ? "only "
                                    : "ONLY ",
               r->place.space == PTX_GLOBAL ? "global" : "shared", (unsigned)(r->place.at % BYTES),
               lines[r->site[0]], lines[r->site[1]]);
    }
    printf("\n");
}

static void print(const Kernel *k, uint64_t seed) {
    Result r;
    uint32_t lines[LINES] = {0};
    gr_error err = {0};
    PtxModule *ptx;
    StrBuf text = {0};
    print_text(k);
    run(k, seed, PRINTED, &r);
    kernel_text(k, &text);
    if (gr_ptx_parse(text.data, text.len, "kernel", &ptx, &err) == GR_OK) {
        for (uint32_t s = 1; s <= ptx->n_sites && s < LINES; s++)
            lines[s] = ptx->sites[s].stmt->line;
        gr_ptx_free(ptx);
    }
    printf("seed %" PRIu64 "%s; byte:lines\n", seed, r.faulted ? " (faulted)" : "");
    if (r.wrong)
        printf("%s\n", r.wrong);
    print_set("oracle", &r.oracle, &r.exact, lines);
    print_set("exact ", &r.exact, &r.oracle, lines);
    gr_str_free(&text);
    drop_result(&r);
}

// ---- Making it small -----------------------------------------------------------------------------------------------

static bool differs(const Kernel *k, uint64_t *seed) {
    for (uint64_t s = 0; s < RETRIES; s++) {
        Result r;
        uint64_t this = s ? s : *seed;
        run(k, this, JUDGED, &r);
        bool same = r.same;
        drop_result(&r);
        if (!same) {
            *seed = this;
            return true;
        }
    }
    return false;
}

static bool try(Kernel *k, const Kernel *smaller, uint64_t *seed) {
    if (!differs(smaller, seed))
        return false;
    *k = *smaller;
    return true;
}

static void minimize(Kernel *k, uint64_t *seed) {
    for (bool again = true; again;) {
        again = false;
        for (uint32_t n = k->n; n-- > 0;) {
            Kernel s = *k;
            memmove(&s.s[n], &s.s[n + 1], (s.n - n - 1) * sizeof *s.s);
            s.n--;
            again |= try(k, &s, seed);
        }
        for (uint32_t n = 0; n < k->n; n++)
            for (uint32_t b = 0; b < 12 && k->s[n].who != EVERYONE; b++) {
                Kernel s = *k;
                s.s[n].who &= (uint16_t) ~(1u << b);
                if (s.s[n].who && s.s[n].who != k->s[n].who)
                    again |= try(k, &s, seed);
            }
        Kernel s = *k;
        s.launches = 1;
        s.together = false;
        if (k->launches > 1)
            again |= try(k, &s, seed);
        s = *k;
        s.grid--;
        if (s.grid && !s.cluster)
            again |= try(k, &s, seed);
        s = *k;
        s.block = 4;
        if (k->block > 4)
            again |= try(k, &s, seed);
    }
}

static void report(const Options *o, uint64_t number, Kernel *k, uint64_t seed, Stats *st) {
    if (st->wrong++ >= REPORTS || o->quiet)
        return;
    printf("---- kernel %" PRIu64 " (%s), seed %" PRIu64 ": they differ\n", number, k->kind, seed);
    minimize(k, &seed);
    print(k, seed);
}

// ---- All of them ---------------------------------------------------------------------------------------------------

static bool has_chance(const RaceSet *s) {
    for (size_t k = 0; k < s->bytes.len; k++)
        if (s->bytes.data[k].chance)
            return true;
    return false;
}

// True when some seed was racy.
static bool run_seeds(const Options *o, uint64_t number, Kernel *k, Stats *st) {
    bool racy = false;
    for (uint64_t n = 0; n < o->seeds; n++) {
        Result r;
        uint64_t seed = 1 + (number * 7 + n) % 1000;
        run(k, seed, JUDGED, &r);
        st->executions++;
        st->events += r.events;
        st->largest = r.events > st->largest ? r.events : st->largest;
        st->faulted += r.faulted;
        st->missed += r.missed != 0;
        st->still += r.still;
        st->seen |= r.meetings;
        st->collections += r.collections;
        st->racy_executions += r.oracle.bytes.len != 0;
        st->by_chance += has_chance(&r.exact);
        racy |= r.oracle.bytes.len != 0;
        bool same = r.same;
        drop_result(&r);
        if (!same) {
            report(o, number, k, seed, st);
            break;
        }
    }
    return racy;
}

static void run_number(const Options *o, uint64_t number, Stats *st) {
    Kernel k, mutant;
    make(number, &k);
    mutant = k;
    st->seen = 0;
    bool racy = run_seeds(o, number, &k, st);
    for (unsigned n = 0; n < MEETINGS_COUNT; n++)
        st->meetings[n] += st->seen >> n & 1;
    st->kernels++;
    *(racy ? &st->racy : &st->clean) += 1;
    if (racy || !kernel_mutate(number, &mutant))
        return;
    st->mutants++;
    st->racy_mutants += run_seeds(o, number, &mutant, st);
}

// False: a kind of meeting is missing.
static bool print_meetings(const Stats *st) {
    static const char *const names[] = {
#define MEETING(id, name) name,
        MEETINGS(MEETING)
#undef MEETING
    };
    bool all = true;
    printf("kernels in which lanes came in parts to a meeting and held a load back:");
    for (unsigned n = 0; n < MEETINGS_COUNT; n++) {
        printf("%s %" PRIu64 " %s", n ? "," : "", st->meetings[n], names[n]);
        all &= st->meetings[n] != 0;
    }
    printf("\n");
    return all;
}

// ---- Those that differed once --------------------------------------------------------------------------------------

static int run_again(const Options *o) {
    Stats st = {0};
    char line[256];
    FILE *f = fopen(o->again, "r");
    if (!f) {
        perror(o->again);
        return 2;
    }
    while (fgets(line, sizeof line, f)) {
        char *end;
        uint64_t number = strtoull(line, &end, 10);
        if (end != line)
            run_number(o, number, &st);
    }
    fclose(f);
    printf("%" PRIu64 " kernels; exact and the oracle differ in %" PRIu64 "\n", st.kernels, st.wrong);
    return st.wrong || !st.kernels;
}

// ---- Long ones -----------------------------------------------------------------------------------------------------

// Repeats the kernel until stamps are recycled often enough. False: it does not come to that.
static bool lengthen(Kernel *k, uint64_t seed) {
    for (k->repeats = 4; k->repeats <= REPEATS_MAX;) {
        Result r;
        run(k, seed, SILENT, &r);
        drop_result(&r);
        if (r.collections >= RECYCLED || r.faulted || r.events > EVENTS_MAX)
            return r.collections >= RECYCLED && r.events <= EVENTS_MAX;
        uint64_t more = k->repeats * (RECYCLED + 10) / (r.collections + 1);
        k->repeats = (uint32_t)(more > k->repeats ? more : k->repeats * 2);
    }
    return false;
}

static int run_long(const Options *o) {
    Stats st = {0};
    uint64_t number = o->first, tried = 0;
    for (; st.kernels < o->longs && tried < 20 * o->longs; number++, tried++) {
        Kernel k;
        make(number, &k);
        if (!lengthen(&k, 1 + number % 1000))
            continue;
        st.kernels++;
        st.racy += run_seeds(o, number, &k, &st);
    }
    printf("%" PRIu64 " long kernels of %" PRIu64 ": %" PRIu64 " racy; %" PRIu64 " executions, %" PRIu64
           " events, at most %" PRIu64 "; stamps collected %" PRIu64
           " times; exact and the oracle differ in %" PRIu64 " kernels\n",
           st.kernels, tried, st.racy, st.executions, st.events, st.largest, st.collections, st.wrong);
    return st.wrong || st.kernels < o->longs;
}

// ---- How many seeds it takes ---------------------------------------------------------------------------------------

// Of the pairs of sites that raced on a byte in any of many executions of a kernel, how many had been seen after a few?
static int saturate(const Options *o) {
    enum { STEPS = 6 };
    static const uint64_t after[STEPS] = {1, 2, 5, 10, 20, 50};
    uint64_t all = 0, seen[STEPS] = {0}, kernels = 0, complete[STEPS] = {0};
    for (uint64_t n = o->first; n < o->first + o->count; n++) {
        Kernel k;
        RaceSet total = {0};
        uint64_t found[STEPS] = {0};
        make(n, &k);
        for (uint64_t seed = 1; seed <= o->saturate; seed++) {
            Result r;
            run(&k, seed, JUDGED, &r);
            for (size_t b = 0; b < r.exact.bytes.len; b++)
                if (!has(&total, &r.exact.bytes.data[b], false))
                    (void)gr_vec_push(&total.bytes, r.exact.bytes.data[b]);
            drop_result(&r);
            for (unsigned s = 0; s < STEPS; s++)
                if (seed == after[s])
                    found[s] = total.bytes.len;
        }
        kernels += total.bytes.len != 0;
        all += total.bytes.len;
        for (unsigned s = 0; s < STEPS && total.bytes.len; s++) {
            seen[s] += found[s];
            complete[s] += found[s] == total.bytes.len;
        }
        gr_vec_free(&total.bytes);
    }
    printf("%" PRIu64 " racy kernels, %" PRIu64 " pairs of sites on bytes in %" PRIu64 " seeds each\n",
           kernels, all, o->saturate);
    for (unsigned s = 0; s < STEPS && all; s++)
        printf("after %2" PRIu64 ": %5.1f %% of them, all of them in %5.1f %% of the kernels\n", after[s],
               100.0 * (double)seen[s] / (double)all, 100.0 * (double)complete[s] / (double)kernels);
    return 0;
}

// ---- Through a driver ----------------------------------------------------------------------------------------------

static bool faults(const Kernel *k) {
    bool faulted = false;
    for (uint64_t seed = 1; seed <= SEEDS && !faulted; seed++) {
        Result r;
        run(k, seed, SILENT, &r);
        faulted = r.faulted;
        drop_result(&r);
    }
    return faulted;
}

// Prints the number of each kernel; stops at one that fails, since a device that faulted is of no more use.
static int drive(const Options *o) {
    DriverInfo info;
    static uint8_t memory[BYTES];
    const size_t offset = 0;
    if (!driver_open(o->driver, &info))
        return 2;
    for (uint64_t n = o->first; n < o->first + o->count; n++) {
        Kernel k;
        StrBuf text = {0};
        make(n, &k);
        k.linked = false; // the driver gets one module
        if (faults(&k))
            continue;
        printf("%" PRIu64 "\n", n);
        fflush(stdout);
        memset(memory, 0, sizeof memory);
        kernel_text(&k, &text);
        // Modules that look alike to gr_exact_fingerprint would be taken for one.
        gr_str_addf(&text, ".visible .entry is_%" PRIu64 "() {\nret;\n}\n", n);
        const char *wrong = driver_run_on(text.data, memory, sizeof memory, &offset, 1, k.grid, k.block);
        gr_str_free(&text);
        if (wrong) {
            printf("%s\n", wrong);
            return 3;
        }
    }
    return 0;
}

static bool parse(int argc, char **argv, Options *o) {
    uint64_t collect = 0;
    for (int k = 1; k < argc; k++) {
        const char *a = argv[k];
        uint64_t *to = !strcmp(a, "--first")      ? &o->first
                       : !strcmp(a, "--count")    ? &o->count
                       : !strcmp(a, "--seeds")    ? &o->seeds
                       : !strcmp(a, "--seed")     ? &o->seed
                       : !strcmp(a, "--show")     ? &o->show
                       : !strcmp(a, "--mutant")   ? &o->mutant
                       : !strcmp(a, "--until")    ? &o->until
                       : !strcmp(a, "--saturate") ? &o->saturate
                       : !strcmp(a, "--long")     ? &o->longs
                       : !strcmp(a, "--collect")  ? &collect
                                                  : NULL;
        o->shows |= to == &o->show;
        if (!strcmp(a, "--quiet"))
            o->quiet = true;
        else if (!strcmp(a, "--driver") && k + 1 < argc)
            o->driver = argv[++k];
        else if (!strcmp(a, "--again") && k + 1 < argc)
            o->again = argv[++k];
        else if (!to || k + 1 == argc)
            return false;
        else
            *to = strtoull(argv[++k], NULL, 10);
    }
    collect_every = (size_t)collect;
    return true;
}

int main(int argc, char **argv) {
    Options o = {.count = 1000, .seeds = SEEDS, .seed = 1};
    Stats st = {0};
    if (!parse(argc, argv, &o)) {
        fprintf(stderr, "usage: oracle_kernels [--first N] [--count N | --long N] [--seeds N] [--collect N] "
                        "[--until 1] [--quiet] | "
                        "--show N [--seed N]\n");
        return 2;
    }
    if (o.driver)
        return drive(&o);
    if (o.again)
        return run_again(&o);
    if (o.saturate)
        return saturate(&o);
    if (o.longs)
        return run_long(&o);
    if (o.shows) {
        Kernel k;
        make(o.show, &k);
        if (o.mutant)
            (void)kernel_mutate(o.show, &k);
        print(&k, o.seed);
        return 0;
    }
    for (uint64_t n = o.first; n < o.first + o.count && !(o.until && st.wrong); n++)
        run_number(&o, n, &st);
    printf("%" PRIu64 " kernels: %" PRIu64 " racy, %" PRIu64 " clean; of %" PRIu64
           " mutants of clean ones %" PRIu64 " racy; %" PRIu64 " executions (%" PRIu64 " racy, %" PRIu64
           " faulted), %" PRIu64 " events, at most %" PRIu64 "; stamps collected %" PRIu64
           " times; exact may miss some and did in %" PRIu64
           " executions; exact and the oracle differ, or a load that barriers order raced, in %" PRIu64
           " kernels; such loads %" PRIu64 "; races by chance in %" PRIu64 " executions\n",
           st.kernels, st.racy, st.clean, st.mutants, st.racy_mutants, st.executions, st.racy_executions,
           st.faulted, st.events, st.largest, st.collections, st.missed, st.wrong, st.still, st.by_chance);
    bool met = print_meetings(&st);
    if (o.count >= 500 && !met) {
        printf("a kind of meeting is missing\n");
        return 1;
    }
    if (o.count >= 500 && !st.still) {
        printf("no load was left out\n");
        return 1;
    }
    if (o.count >= 500 && (st.racy * 3 < st.kernels || st.clean * 3 < st.kernels)) {
        printf("less than a third is racy, or less than a third is not\n");
        return 1;
    }
    return st.wrong != 0;
}
