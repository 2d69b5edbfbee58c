// SPDX-License-Identifier: Apache-2.0
// collider_reports — no report without a race (theorems A.2 to A.6 of the SuperCollider paper's appendix), as a
// property of random kernels, racy ones and others: what the collider reports of an execution, by the values it saw and
// nothing else, the causality engine and the oracle (trace.h, model.h) have as a race of the same access, on the same
// bytes, in that execution; and so they have what the device's watchpoints meet in its windows: the same two accesses.
// So that the property is known to be able to fail, it can be tried with damaged checks.
//
//     collider_reports [--first N] [--count N] [--seeds N]     exit status 1: some report was not confirmed
//     collider_reports --show N --seed S                       that kernel and what was reported
//     collider_reports --mutants 1                             damaged in each way; exit status 1: nobody noticed
#include "../engines/exact/peek.h"
#include "device_api/shared_window.h"
#include "ears.h"
#include "engines/collider/device/record.h"
#include "engines/collider/pass/collider.h"
#include "engines/collider/watch/watch.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES = 1024, SITES = 256, SHOWN = 10, OFFSET = 0xffffff };

typedef struct Stats {
    uint64_t kernels, executions, racy, silent, faulted, reports[GR_CLASS_COUNT], met, confirmed, maybe,
        unmade, wrong;
} Stats;

typedef struct Mutant {
    const char *name, *in, *from, *to;
} Mutant;
static const Mutant mutants[] = {
    {"it reports what is equal", "setp.ne", "setp.ne", "setp.eq"},
    {"it looks at another place", "ld.relaxed.sys.global.u32", "+", "+4+"},
    {"it compares with another place", "ld.relaxed.sys.shared.b32", "+", "+4+"},
};
enum { MUTANTS = sizeof mutants / sizeof *mutants };

static const ColliderOptions options[] = {
    {.read_delay_ns = 5000, .write_delay_ns = 5000, .same_value = true, .suffix = ""},
    {.read_delay_ns = 1, .write_delay_ns = 1, .same_value = true, .suffix = ""},
    {.read_delay_ns = 50000, .write_delay_ns = 100, .same_value = true, .suffix = ""},
    {.read_delay_ns = 2000, .write_delay_ns = 2000, .same_value = true, .poison = true, .suffix = ""},
    {.read_delay_ns = 5000, .write_delay_ns = 5000, .same_value = true, .thinned = true, .suffix = ""},
    {.read_delay_ns = 5000,
     .write_delay_ns = 5000,
     .same_value = true,
     .poison = true,
     .thinned = true,
     .suffix = ""},
};
enum { OPTIONS = sizeof options / sizeof *options };

// ---- Running -------------------------------------------------------------------------------------------------------

static void damage(const Mutant *m, const StrBuf *text, StrBuf *out) {
    for (const char *line = text->data, *end; *line; line = end + 1) {
        end = strchr(line, '\n');
        const char *in = strstr(line, m->in), *at = strstr(line, m->from);
        if (strncmp(line, "\t/*@gr", 6) || !in || in > end || !at || at > end) {
            gr_str_addn(out, line, (size_t)(end + 1 - line));
            continue;
        }
        gr_str_addn(out, line, (size_t)(at - line));
        gr_str_add(out, m->to);
        at += strlen(m->from);
        gr_str_addn(out, at, (size_t)(end + 1 - at));
    }
}

static PtxModule *rewritten(const Kernel *k, const ColliderOptions *o, const Mutant *m) {
    gr_error err = {0};
    StrBuf text = {0}, damaged = {0};
    static GrSiteStatus status[SITES + 1];
    PtxModule *ptx;
    kernel_text(k, &text);
    if (gr_ptx_parse(text.data, text.len, "kernel", &ptx, &err) != GR_OK || ptx->n_sites > SITES ||
        gr_collider_rewrite(ptx, o, status, &err) != GR_OK)
        ears_die("rewriting", &err);
    gr_str_free(&text);
    if (m) {
        if (gr_ptx_print(ptx, 0, &text, &err) != GR_OK)
            ears_die("printing", &err);
        gr_ptx_free(ptx);
        damage(m, &text, &damaged);
        if (gr_ptx_parse_ours(damaged.data, damaged.len, "kernel", &ptx, &err) != GR_OK)
            ears_die("damaged", &err);
        gr_str_free(&text);
        gr_str_free(&damaged);
    }
    return ptx;
}

// Whether a report of that site is in the set, on those bytes; of a bulk copy that was hashed, on any.
static const RacyByte *find(const RaceSet *set, uint32_t site, unsigned class, const GrSlot *slot) {
    bool itself = class == GR_CLASS_INTRA_WARP || class == GR_CLASS_INTRA_WARP_SAME;
    for (size_t k = 0; k < set->bytes.len; k++) {
        const RacyByte *b = &set->bytes.data[k];
        if (b->site[0] != site && b->site[1] != site)
            continue;
        if (itself && b->site[0] != b->site[1])
            continue;
        bool shared = b->place.space != PTX_GLOBAL;
        uint64_t at = shared ? b->place.at & OFFSET : b->place.at,
                 from = shared ? slot->address & OFFSET : slot->address;
        if (slot->state != GR_SLOT_READY || !slot->size ||
            (shared == (slot->space == 1 || slot->address >= GR_CPU_SHARED_WINDOW) && at >= from &&
             at < from + slot->size))
            return b;
    }
    return NULL;
}

static void judge(const GrSlot *slots, uint32_t n_sites, const RaceSet *exact, const RaceSet *oracle,
                  bool faulted, bool show, Stats *st, uint64_t *wrong) {
    for (uint32_t site = 1; site <= n_sites; site++)
        for (unsigned class = 0; class < GR_CLASS_COUNT; class ++) {
            const GrSlot *slot = &slots[site * GR_CLASS_COUNT + class];
            if (!slot->count)
                continue;
            st->reports[class]++;
            const RacyByte *seen = find(exact, site, class, slot),
                           *true_race = find(oracle, site, class, slot);
            if (seen && true_race)
                st->confirmed++;
            else if (true_race && true_race->maybe)
                st->maybe++;
            else if (faulted) // it looked before the access, which the fault then prevented
                st->unmade++;
            else
                ++*wrong;
            if (show)
                printf("site %u, class %u, %" PRIu64 " times, space %u, address 0x%" PRIx64
                       ": exact %s, oracle %s\n",
                       site, class, slot->count, slot->space, slot->address, seen ? "yes" : "NO",
                       true_race ? "yes" : "NO");
        }
}

static const RacyByte *find_pair(const RaceSet *set, const Race *r) {
    for (size_t k = 0; k < set->bytes.len; k++) {
        const RacyByte *b = &set->bytes.data[k];
        bool shared = b->place.space != PTX_GLOBAL;
        uint64_t at = shared ? b->place.at & OFFSET : b->place.at,
                 from = shared ? r->overlap & OFFSET : r->overlap;
        if (((b->site[0] == r->side[0].site && b->site[1] == r->side[1].site) ||
             (b->site[1] == r->side[0].site && b->site[0] == r->side[1].site)) &&
            shared == (r->space != PTX_GLOBAL) && at >= from && at < from + r->overlap_bytes)
            return b;
    }
    return NULL;
}

static void judge_met(const Watch *w, const RaceSet *exact, const RaceSet *oracle, bool faulted, bool show,
                      Stats *st, uint64_t *wrong) {
    for (size_t k = 0; k < gr_watchpoints_races(w); k++) {
        const Race *r = gr_watchpoints_race(w, k);
        const RacyByte *seen = find_pair(exact, r), *true_race = find_pair(oracle, r);
        st->met++;
        if (seen && true_race)
            st->confirmed++;
        else if (true_race && true_race->maybe)
            st->maybe++;
        else if (faulted)
            st->unmade++;
        else
            ++*wrong;
        if (show)
            printf("sites %u and %u met, %" PRIu64 " times, at 0x%" PRIx64 ": exact %s, oracle %s\n",
                   r->side[0].site, r->side[1].site, r->count, r->overlap, seen ? "yes" : "NO",
                   true_race ? "yes" : "NO");
    }
}

// Runs it; true when everything reported was a race.
static bool run(const Kernel *k, uint64_t seed, const Mutant *mutant, bool show, Stats *st) {
    gr_error err = {0};
    VmMem *mem;
    VmDevice *d;
    VmModule *m;
    VmRange *memory, *slots;
    Exact *x;
    Watch *w;
    WatchOptions wo = {0};
    Trace *t = trace_new();
    RaceSet exact = {0}, oracle = {0};
    ColliderOptions o = options[seed % OPTIONS];
    o.seed = (uint32_t)seed;
    PtxModule *ptx = rewritten(k, &o, mutant);
    VmConfig c = ears_config(seed);
    ExactOptions eo = {.occurred = ears_occurred, .user = &exact, .volatiles = EXACT_VOLATILE_NONE};
    uint64_t bytes = (ptx->n_sites + 1) * GR_CLASS_COUNT * sizeof(GrSlot), at, size, wrong = 0;
    bool managed, faulted = false;
    char name[64];
    if (!t || gr_vm_mem_create(&mem, &err) != GR_OK)
        ears_die("memory", &err);
    c.mem = mem;
    if (gr_vm_create(&c, &d, &err) != GR_OK || gr_exact_create(&eo, &x, &err) != GR_OK ||
        gr_watchpoints_create(&wo, &w, &err) != GR_OK ||
        gr_vm_module_load(d, &ptx, 1, NULL, NULL, &m, &err) != GR_OK ||
        gr_vm_mem_alloc(mem, VM_MEM_DEVICE, 0, BYTES, 256, &memory, &err) != GR_OK ||
        gr_vm_mem_alloc(mem, VM_MEM_DEVICE, 0, bytes, 256, &slots, &err) != GR_OK ||
        !gr_vm_module_global(m, gr_collider_control_name("", name, sizeof name), &at, &size, &managed))
        ears_die("setup", &err);
    GrControl control = {.slots = slots->addr, .n_sites = ptx->n_sites};
    memcpy(gr_vm_mem_view(mem, at, sizeof control), &control, sizeof control);
    Ears ears = {trace_observer(t), gr_exact_observer(x), false};
    VmObserver both = ears_observer(&ears, false), watch = gr_watchpoints_observer(w);
    if (gr_vm_observe(d, &both, &err) != GR_OK || gr_vm_observe(d, &watch, &err) != GR_OK)
        ears_die("observe", &err);
    ears_launch(d, m, k, memory->addr, &faulted);
    if (!model_races(t, &oracle) || exact.nomem || gr_exact_incomplete(x) || peek_doubts(x) ||
        gr_watchpoints_incomplete(w))
        ears_die("out of memory", NULL);
    race_set_sort(&exact);
    st->executions++;
    st->faulted += faulted;
    st->racy += oracle.bytes.len != 0;
    st->silent += oracle.bytes.len == 0;
    judge((GrSlot *)gr_vm_mem_view(mem, slots->addr, bytes), ptx->n_sites, &exact, &oracle, faulted, show, st,
          &wrong);
    for (size_t b = 0; show && b < oracle.bytes.len; b++)
        printf("race of sites %u and %u on byte 0x%" PRIx64 " of space %d, block %" PRIu64 "\n",
               oracle.bytes.data[b].site[0], oracle.bytes.data[b].site[1], oracle.bytes.data[b].place.at,
               oracle.bytes.data[b].place.space, oracle.bytes.data[b].place.block);
    judge_met(w, &exact, &oracle, faulted, show, st, &wrong);
    st->wrong += wrong;
    gr_vm_module_unload(m);
    gr_vm_destroy(d);
    gr_exact_free(x);
    gr_watchpoints_free(w);
    gr_ptx_free(ptx);
    gr_vm_mem_destroy(mem);
    trace_free(t);
    gr_vec_free(&exact.bytes);
    gr_vec_free(&oracle.bytes);
    return wrong == 0;
}

// The kernel of that number and, if it lost some synchronization, that one. False: a report was wrong.
static bool run_number(uint64_t n, uint64_t seeds, const Mutant *mutant, Stats *st) {
    Kernel k[2];
    kernel_make(n, &k[0]);
    k[1] = k[0];
    unsigned kernels = kernel_mutate(n, &k[1]) ? 2 : 1;
    bool right = true;
    for (unsigned v = 0; v < kernels; v++)
        for (uint64_t s = 0; s < seeds; s++) {
            uint64_t seed = 1 + (n * 7 + s) % 1000;
            st->kernels += s == 0;
            if (run(&k[v], seed, mutant, false, st))
                continue;
            if (right && st->wrong <= SHOWN && !mutant)
                printf("kernel %" PRIu64 "%s (%s), seed %" PRIu64 ": a report without a race\n", n,
                       v ? " without some of its "
                           "synchronization"
                         : "",
                       k[v].kind, seed);
            right = false;
        }
    return right;
}

static int try_mutants(uint64_t first, uint64_t count) {
    int missed = 0;
    for (unsigned m = 0; m < MUTANTS; m++) {
        Stats st = {0};
        uint64_t n = first;
        while (n < first + count && run_number(n, 2, &mutants[m], &st))
            n++;
        bool noticed = n < first + count;
        printf("%s: %s after %" PRIu64 " executions\n", mutants[m].name, noticed ? "noticed" : "NOT NOTICED",
               st.executions);
        missed += !noticed;
    }
    return missed != 0;
}

int main(int argc, char **argv) {
    uint64_t first = 0, count = 500, seeds = 4, show = UINT64_MAX, seed = 1, damaged = 0, mutated = 0;
    for (int k = 1; k + 1 < argc; k += 2) {
        uint64_t *to = !strcmp(argv[k], "--first")     ? &first
                       : !strcmp(argv[k], "--count")   ? &count
                       : !strcmp(argv[k], "--seeds")   ? &seeds
                       : !strcmp(argv[k], "--show")    ? &show
                       : !strcmp(argv[k], "--seed")    ? &seed
                       : !strcmp(argv[k], "--mutant")  ? &mutated
                       : !strcmp(argv[k], "--mutants") ? &damaged
                                                       : NULL;
        if (!to) {
            fprintf(stderr, "collider_reports: no option %s\n", argv[k]);
            return 2;
        }
        *to = strtoull(argv[k + 1], NULL, 10);
    }
    Stats st = {0};
    if (show != UINT64_MAX) {
        Kernel k;
        StrBuf text = {0};
        kernel_make(show, &k);
        if (mutated)
            (void)kernel_mutate(show, &k);
        kernel_text(&k, &text);
        printf("%s", text.data);
        gr_str_free(&text);
        return !run(&k, seed, NULL, true, &st);
    }
    if (damaged)
        return try_mutants(first, count);
    for (uint64_t n = first; n < first + count; n++)
        (void)run_number(n, seeds, NULL, &st);
    printf("%" PRIu64 " kernels, %" PRIu64 " executions (%" PRIu64 " with races, %" PRIu64
           " without, %" PRIu64 " faulted); reports:",
           st.kernels, st.executions, st.racy, st.silent, st.faulted);
    bool every = true; // of the classes was met
    for (unsigned c = 0; c < GR_CLASS_COUNT; c++) {
        printf(" %" PRIu64, st.reports[c]);
        every = every && st.reports[c];
    }
    printf(" and %" PRIu64 " met in windows; %" PRIu64 " confirmed, %" PRIu64
           " that causality may miss, %" PRIu64 " of accesses that a fault prevented, %" PRIu64 " wrong\n",
           st.met, st.confirmed, st.maybe, st.unmade, st.wrong);
    return st.wrong != 0 || (count >= 200 && !every);
}
