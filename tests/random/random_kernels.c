// SPDX-License-Identifier: Apache-2.0
// random_kernels — runs random kernels in every way that must not matter: other interleavings, parted warps,
// instructions one at a time, on several threads. Each must end well and leave the same memory.
//
// So must the collider not matter: none of these kernels has a race, so rewritten in any of its ways they leave the
// same memory, and nothing is reported (lemma A.7 and corollary A.6 of the SuperCollider paper's appendix). That this
// can fail, mutants of the rewritten code show: each must be noticed.
//
//     random_kernels [--first N] [--count N]     runs them; prints the number of the first one that differs
//     random_kernels --collider yes …            runs them as they are and rewritten by the collider
//     random_kernels --mutants yes …             and damaged
//     random_kernels --emit DIR --first N --count N     writes their PTX there (for ptxas)
//     random_kernels --driver LIBCUDA …                 runs them through that driver as well: on a GPU, say
#include "base/outfile.h"
#include "generate.h"
#include "vm/core/launch.h"

#include "../conformance/driver.h"
#include "engines/collider/device/meet.h"
#include "engines/collider/device/record.h"
#include "engines/collider/pass/collider.h"
#include "engines/collider/pass/meet.h"
#include "vm/extension.h"
#include "vm/vm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    OWN_BYTES = RANDOM_BLOCKS * RANDOM_THREADS * RANDOM_OWN,
    BYTES = OWN_BYTES + RANDOM_TABLE + RANDOM_COUNTS,
    SITES = 2000,
    SLOTS = (SITES + 1) * GR_CLASS_COUNT * sizeof(GrSlot),
};

typedef struct Way {
    const char *name;
    VmConfig config;
    ColliderOptions collider; // suffix NULL: not rewritten
    bool meets; // every access looks for others in its window, as in replays (engines/collider/pass/meet.h)
} Way;

static const Way ways[] = {
    {"plain", {.seed = 1}, {0}, false},
    {"other seed, warps parted often", {.seed = 2, .split_one_in = 3}, {0}, false},
    {"one instruction at a time", {.seed = 3, .quantum = 1}, {0}, false},
    {"short turns, warps parted", {.seed = 4, .split_one_in = 20, .quantum = 9, .sm_count = 1}, {0}, false},
    {"without shortcuts", {.seed = 1, .unfused = true}, {0}, false},
    {"two threads", {.seed = 5, .jobs = 2}, {0}, false},
    {"three threads, warps parted", {.seed = 6, .jobs = 3, .split_one_in = 10, .quantum = 30}, {0}, false},
};

static bool every_third(void *user, const PtxModule *m, const PtxSite *site) {
    (void)user, (void)m;
    return site->id % 3 == 1;
}

// The first is the same without the collider.
static const Way collided[] = {
    {"plain", {.seed = 1}, {0}, false},
    {"collider",
     {.seed = 1},
     {.seed = 1, .read_delay_ns = 5000, .write_delay_ns = 5000, .same_value = true, .suffix = ""},
     false},
    {"collider without the device's shortcuts",
     {.seed = 1, .unfused = true},
     {.seed = 1, .read_delay_ns = 5000, .write_delay_ns = 5000, .same_value = true, .suffix = ""},
     false},
    {"delays of 1 ns, warps parted often",
     {.seed = 2, .split_one_in = 3},
     {.seed = 2, .read_delay_ns = 1, .write_delay_ns = 1, .same_value = true, .suffix = "7"},
     false},
    {"long and short delays, one instruction at a time",
     {.seed = 3, .quantum = 1},
     {.seed = 3, .read_delay_ns = 5000, .write_delay_ns = 1, .suffix = ""},
     false},
    {"no delays, short turns, warps parted",
     {.seed = 4, .split_one_in = 20, .quantum = 9, .sm_count = 1},
     {.seed = 4, .same_value = true, .suffix = ""},
     false},
    {"poisoned writes",
     {.seed = 5, .split_one_in = 10, .quantum = 40},
     {.seed = 5,
      .read_delay_ns = 100,
      .write_delay_ns = 1000,
      .same_value = true,
      .poison = true,
      .suffix = ""},
     false},
    {"some accesses",
     {.seed = 6, .split_one_in = 5},
     {.seed = 6,
      .read_delay_ns = 100000,
      .write_delay_ns = 20,
      .same_value = true,
      .wanted = every_third,
      .suffix = ""},
     false},
    {"windows thinned by the inserted code",
     {.seed = 10, .split_one_in = 10, .quantum = 40},
     {.seed = 10,
      .read_delay_ns = 5000,
      .write_delay_ns = 5000,
      .same_value = true,
      .thinned = true,
      .holds = true,
      .suffix = ""},
     false},
    {"and watched to the end of each segment",
     {.seed = 13, .split_one_in = 7},
     {.seed = 13,
      .read_delay_ns = 5000,
      .write_delay_ns = 5000,
      .same_value = true,
      .poison = true,
      .thinned = true,
      .holds = true,
      .suffix = ""},
     false},
    {"and kept to a budget",
     {.seed = 11, .split_one_in = 3},
     {.seed = 11,
      .read_delay_ns = 100,
      .write_delay_ns = 1,
      .poison = true,
      .thinned = true,
      .budget = true,
      .suffix = "7"},
     false},
    {"held until something comes beside it",
     {.seed = 12, .split_one_in = 10, .quantum = 40},
     {.seed = 12,
      .read_delay_ns = 5000,
      .write_delay_ns = 5000,
      .poison = true,
      .thinned = true,
      .holds = true,
      .beside = true,
      .suffix = ""},
     false},
    {"two threads",
     {.seed = 7, .jobs = 2},
     {.seed = 7, .read_delay_ns = 5000, .write_delay_ns = 5000, .same_value = true, .suffix = ""},
     false},
    {"looking for the other side",
     {.seed = 8, .split_one_in = 10, .quantum = 30},
     {.seed = 8, .read_delay_ns = 5000, .write_delay_ns = 5000, .suffix = ""},
     true},
    {"looking for it on two threads",
     {.seed = 9, .jobs = 2},
     {.seed = 9, .read_delay_ns = 100, .write_delay_ns = 100, .suffix = "7"},
     true},
};
enum { WAYS = sizeof ways / sizeof *ways, COLLIDED = sizeof collided / sizeof *collided, MOST = 16 };
_Static_assert(WAYS <= MOST && COLLIDED <= MOST, "a device for each");

// What may be wrong with the pass: `from` becomes `to` in every line that it inserted and that contains `in`.
typedef struct Mutant {
    const char *name, *in, *from, *to;
} Mutant;
static const Mutant mutants[] = {
    {"it changes a register of the program", "shr.u32", "shr.u32", "add.u32 %r0, %r0, 1; shr.u32"},
    {"it writes where the program does", "ld.relaxed.sys.global.b32", "ld.relaxed",
     "st.global.u8 [%own+3], 1; ld.relaxed"},
    {"it reports what is equal", "setp.ne.b32", "setp.ne", "setp.eq"},
    {"it compares floats", "setp.ne.b32 %gr", ", %f", ", %f"}, // completed in mutate
    {"it compares bits that were not stored", "and.b16", ", 0xff", ", 0xffff"},
    {"it does not leave out local memory", "isspacep.local", "isspacep.local", "isspacep.const"},
    {"it takes shared memory of several blocks for one", "0x9FB21C651E98DF25", "0x9FB21C651E98DF25", "0"},
    {"its windows stay open", "setp.ne.u32", "setp.ne", "setp.lt"},
    {"it takes all lanes for lanes of one address", "add.s32", ", -1;", ", 0;"},
    {"it asks lanes that are not there", "activemask", "activemask.b32", "mov.b32"}, // likewise
};
enum { MUTANTS = sizeof mutants / sizeof *mutants };

typedef struct Rig {
    const Way *ways;
    int n_ways;
    const Mutant *mutant;
    VmMem *mem;
    VmDevice *device[MOST];
    uint64_t addr, slots, met, hold;
    uint8_t *view;
    GrSlot *seen; // of n_sites
    struct Meetings {
        GrMeetTable table;
        GrMeeting of[GR_MEET_TARGETS];
    } * meetings;
    uint32_t n_sites;
} Rig;

static bool open_rig(Rig *r, gr_error *err) {
    VmRange *range;
    if (gr_vm_mem_create(&r->mem, err) != GR_OK ||
        gr_vm_mem_alloc(r->mem, VM_MEM_DEVICE, 0, BYTES, 256, &range, err) != GR_OK)
        return false;
    r->addr = range->addr;
    r->view = gr_vm_mem_view(r->mem, range->addr, BYTES);
    if (gr_vm_mem_alloc(r->mem, VM_MEM_DEVICE, 0, SLOTS, 256, &range, err) != GR_OK)
        return false;
    r->slots = range->addr;
    r->seen = (GrSlot *)gr_vm_mem_view(r->mem, range->addr, SLOTS);
    if (gr_vm_mem_alloc(r->mem, VM_MEM_DEVICE, 0, sizeof *r->meetings, 256, &range, err) != GR_OK)
        return false;
    r->met = range->addr;
    r->meetings = (struct Meetings *)gr_vm_mem_view(r->mem, range->addr, sizeof *r->meetings);
    if (gr_vm_mem_alloc(r->mem, VM_MEM_DEVICE, 0, sizeof(GrHold), 256, &range, err) != GR_OK)
        return false;
    r->hold = range->addr;
    *(GrHold *)gr_vm_mem_view(r->mem, range->addr, sizeof(GrHold)) = (GrHold){.host = GR_HOST_OPEN};
    for (int w = 0; w < r->n_ways; w++) {
        VmConfig c = r->ways[w].config;
        c.mem = r->mem;
        c.extensions = gr_vm_extensions;
        c.watchdog_ns = 10000000000;
        if (gr_vm_create(&c, &r->device[w], err) != GR_OK)
            return false;
    }
    return true;
}

static void close_rig(Rig *r) {
    for (int w = 0; w < r->n_ways; w++)
        gr_vm_destroy(r->device[w]);
    gr_vm_mem_destroy(r->mem);
}

static void fill(uint8_t *view) {
    memset(view, 0, BYTES);
    for (unsigned k = 0; k < RANDOM_TABLE; k++)
        view[OWN_BYTES + k] = (uint8_t)(k * 167 ^ k >> 3);
    memset(view + OWN_BYTES + RANDOM_TABLE, 0xa5, RANDOM_COUNTS);
}

// The rewritten text with the mutant's change in it.
static bool mutate(const Mutant *m, const StrBuf *text, StrBuf *out) {
    for (const char *line = text->data, *end; *line; line = end + 1) {
        end = strchr(line, '\n');
        const char *in = strstr(line, m->in), *at = strstr(line, m->from), *to = m->to;
        bool applies = !strncmp(line, "\t/*@gr", 6) && in && in < end && at && at < end;
        if (applies && !strcmp(m->from, ", %f")) { // the comparison's type
            gr_str_addf(out, "%.*s", (int)(in - line), line);
            gr_str_add(out, "setp.neu.f32");
            gr_str_addn(out, in + strlen("setp.ne.b32"), (size_t)(end + 1 - in) - strlen("setp.ne.b32"));
            continue;
        }
        if (!applies) {
            gr_str_addn(out, line, (size_t)(end + 1 - line));
            continue;
        }
        gr_str_addn(out, line, (size_t)(at - line));
        gr_str_add(out, to);
        at += strlen(m->from);
        if (!strcmp(m->in, "activemask"))
            gr_str_addf(out, "%.*s, -1;\n", (int)(strchr(at, ';') - at), at);
        else
            gr_str_addn(out, at, (size_t)(end + 1 - at));
    }
    return !out->oom;
}

// The kernel as that way has it.
static bool parse(const Way *way, const Mutant *mutant, const RandomKernel *k, PtxModule **out,
                  gr_error *err) {
    static GrSiteStatus status[SITES + 1];
    if (gr_ptx_parse_ours(k->text.data, k->text.len, "random", out, err) != GR_OK)
        return false;
    if (!way->collider.suffix)
        return true;
    if ((*out)->n_sites > SITES) {
        gr_fail(err, GR_ERR_INTERNAL, "more than %d accesses", SITES);
        return false;
    }
    StrBuf text = {0}, damaged = {0};
    bool ok = gr_collider_rewrite(*out, &way->collider, status, err) == GR_OK;
    if (ok && way->meets) {
        static uint16_t targets[SITES + 1];
        for (unsigned t = 1; t <= SITES; t++)
            targets[t] = (uint16_t)(t <= GR_MEET_TARGETS ? t : 0);
        MeetOptions o = {.suffix = way->collider.suffix, .targets = targets};
        ok = gr_meet_rewrite(*out, &o, err) == GR_OK;
    }
    if (ok && mutant) {
        ok = gr_ptx_print(*out, 0, &text, err) == GR_OK && mutate(mutant, &text, &damaged);
        gr_ptx_free(*out);
        *out = NULL;
        ok = ok && gr_ptx_parse_ours(damaged.data, damaged.len, "random", out, err) == GR_OK;
    }
    gr_str_free(&text);
    gr_str_free(&damaged);
    return ok;
}

// Tells the module where reports go, and forgets old ones.
static bool attach(Rig *r, const Way *way, VmModule *m, const PtxModule *ptx, gr_error *err) {
    char name[64];
    uint64_t at, size;
    bool managed;
    r->n_sites = 0;
    if (!way->collider.suffix)
        return true;
    if (!gr_vm_module_global(m, gr_collider_control_name(way->collider.suffix, name, sizeof name), &at, &size,
                             &managed)) {
        gr_fail(err, GR_ERR_INTERNAL, "no %s in the rewritten module", name);
        return false;
    }
    r->n_sites = ptx->n_sites;
    memset(r->seen, 0, (ptx->n_sites + 1) * GR_CLASS_COUNT * sizeof *r->seen);
    GrControl control = {.slots = r->slots, .n_sites = ptx->n_sites, .windows = way->meets ? r->met : 0};
    if (way->collider.beside) {
        control.hold = r->hold;
        control.beside = 1 << GR_BESIDE_NUMBER | 1 << GR_BESIDE_SHORTER;
    }
    memset(r->meetings, 0, sizeof *r->meetings);
    for (unsigned k = 0; k < GR_MEET_TARGETS; k++)
        r->meetings->table.records[k] = r->met + offsetof(struct Meetings, of) + k * sizeof(GrMeeting);
    memcpy(gr_vm_mem_view(r->mem, at, sizeof control), &control, sizeof control);
    return true;
}

// Nothing may have been reported, and nobody may have met, or have left a window open.
static bool silent(const Rig *r, gr_error *err) {
    for (uint32_t k = 0; r->n_sites && k < (r->n_sites + 1) * GR_CLASS_COUNT; k++)
        if (r->seen[k].count) {
            gr_fail(err, GR_ERR_INTERNAL, "report of class %u at site %u, thread %u of block %u",
                    k % GR_CLASS_COUNT, k / GR_CLASS_COUNT, r->seen[k].thread[0], r->seen[k].block[0]);
            return false;
        }
    for (unsigned k = 0; r->n_sites && k < GR_MEET_TARGETS; k++)
        if (r->meetings->of[k].state) {
            gr_fail(err, GR_ERR_INTERNAL, "site %u was met by site %u", k + 1, r->meetings->of[k].other.site);
            return false;
        }
    for (unsigned k = 0; r->n_sites && k < GR_MEET_ROWS * GR_MEET_ROW_WORDS; k++)
        if (r->meetings->table.words[k / GR_MEET_ROW_WORDS][k % GR_MEET_ROW_WORDS]) {
            gr_fail(err, GR_ERR_INTERNAL, "a window is left open");
            return false;
        }
    return true;
}

// Runs the kernel one way; what is wrong is said in err.
static bool run(Rig *r, int way, const RandomKernel *k, gr_error *err) {
    VmDevice *d = r->device[way];
    VmModule *m = NULL;
    VmLaunch *l = NULL;
    PtxModule *ptx = NULL;
    uint64_t params[3] = {r->addr, r->addr + OWN_BYTES, r->addr + OWN_BYTES + RANDOM_TABLE};
    fill(r->view);
    bool ok = parse(&r->ways[way], r->mutant, k, &ptx, err) &&
              gr_vm_module_load(d, &ptx, 1, NULL, NULL, &m, err) == GR_OK &&
              attach(r, &r->ways[way], m, ptx, err);
    VmLaunchParams p = {.grid = {k->grid, 1, 1}, .block = {k->block, 1, 1}, .params = params, .launch = 1};
    if (ok) {
        p.func = gr_vm_module_func(m, "k");
        ok = gr_vm_launch(d, &p, &l, err) == GR_OK;
    }
    while (ok && gr_vm_run(d, UINT64_MAX) != VM_RUN_IDLE)
        ;
    if (ok && gr_vm_launch_fault(l)) {
        gr_fail(err, GR_ERR_INTERNAL, "it faults: %s (line %u)", gr_vm_launch_fault(l)->msg,
                gr_vm_launch_fault(l)->ptx_line);
        ok = false;
    }
    if (ok && l->undefined_collectives) {
        gr_fail(err, GR_ERR_INTERNAL, "it does what PTX leaves undefined, %llu times",
                (unsigned long long)l->undefined_collectives);
        ok = false;
    }
    ok = ok && silent(r, err);
    if (l)
        gr_vm_launch_free(l);
    if (m)
        gr_vm_module_unload(m);
    gr_ptx_free(ptx);
    return ok;
}

static bool agree(Rig *r, const RandomKernel *k, uint8_t *want, int *way, gr_error *err) {
    bool ok = true;
    *way = 0;
    for (int w = 0; w < r->n_ways && ok; w++) {
        *way = w;
        ok = run(r, w, k, err);
        if (!ok)
            break;
        if (w == 0) {
            memcpy(want, r->view, BYTES);
        } else if (memcmp(want, r->view, BYTES)) {
            unsigned at = 0;
            while (want[at] == r->view[at])
                at++;
            if (at < OWN_BYTES)
                gr_fail(err, GR_ERR_INTERNAL, "byte %u of thread %u of block %u differs", at % RANDOM_OWN,
                        at / RANDOM_OWN % k->block, at / RANDOM_OWN / k->block);
            else
                gr_fail(err, GR_ERR_INTERNAL, "byte %u of the counters differs",
                        at - OWN_BYTES - RANDOM_TABLE);
            ok = false;
        }
    }
    return ok;
}

// Every mutant must be noticed by one of the kernels.
static int try_mutants(Rig *r, uint64_t first, uint64_t count, uint8_t *want) {
    int missed = 0;
    RandomKernel k = {0};
    for (int m = 0; m < MUTANTS; m++) {
        gr_error err = {0};
        int way = 0;
        uint64_t n = first;
        r->mutant = &mutants[m];
        while (n < first + count && random_kernel(n, &k) && agree(r, &k, want, &way, &err))
            n++;
        bool noticed = n < first + count;
        printf("%s: %s", mutants[m].name, noticed ? "noticed" : "NOT NOTICED");
        if (noticed)
            printf(" with kernel %llu, %s: %s", (unsigned long long)n, r->ways[way].name, err.msg);
        printf("\n");
        missed += !noticed;
    }
    gr_str_free(&k.text);
    return missed;
}

// Of approximate instructions each device has its own answers.
static bool is_exact(const RandomKernel *k) { return !strstr(k->text.data, ".approx"); }

// The driver's device against what ran here.
static bool driver_agrees(const RandomKernel *k, const uint8_t *want, uint8_t *got, gr_error *err) {
    const size_t offset[3] = {0, OWN_BYTES, OWN_BYTES + RANDOM_TABLE};
    fill(got);
    const char *wrong = driver_run_on(k->text.data, got, BYTES, offset, 3, k->grid, k->block);
    if (wrong) {
        gr_fail(err, GR_ERR_INTERNAL, "the driver's device: %s", wrong);
        return false;
    }
    for (unsigned at = 0; at < BYTES; at++)
        if (want[at] != got[at]) {
            gr_fail(err, GR_ERR_INTERNAL, "byte %u is %02x on the driver's device, not %02x", at, got[at],
                    want[at]);
            return false;
        }
    return true;
}

int main(int argc, char **argv) {
    uint64_t first = 1, count = 100;
    const char *folder = NULL, *library = NULL;
    bool collider = false, damaged = false;
    DriverInfo info;
    for (int k = 1; k + 1 < argc; k += 2) {
        if (!strcmp(argv[k], "--first"))
            first = strtoull(argv[k + 1], NULL, 0);
        else if (!strcmp(argv[k], "--count"))
            count = strtoull(argv[k + 1], NULL, 0);
        else if (!strcmp(argv[k], "--emit"))
            folder = argv[k + 1];
        else if (!strcmp(argv[k], "--driver"))
            library = argv[k + 1];
        else if (!strcmp(argv[k], "--collider"))
            collider = true;
        else if (!strcmp(argv[k], "--mutants"))
            collider = damaged = true;
    }
    gr_error err = {0};
    Rig rig = {.ways = collider ? collided : ways, .n_ways = collider ? COLLIDED : WAYS};
    RandomKernel k = {0};
    uint8_t *want = malloc(BYTES), *got = malloc(BYTES);
    int failed = 0;
    uint64_t exact = 0;
    if (library && !driver_open(library, &info))
        return 77;
    if (!want || !got || (!folder && !open_rig(&rig, &err))) {
        fprintf(stderr, "random_kernels: %s\n", err.msg);
        return 2;
    }
    if (damaged) {
        failed = try_mutants(&rig, first, count, want);
        count = 0;
    }
    for (uint64_t n = first; n < first + count && !failed; n++) {
        char path[4096];
        int way = 0;
        if (!random_kernel(n, &k)) {
            failed = 2;
        } else if (folder) {
            snprintf(path, sizeof path, "%s/%llu.ptx", folder, (unsigned long long)n);
            failed = gr_file_write(path, k.text.data, k.text.len, &err) != GR_OK;
        } else if (!agree(&rig, &k, want, &way, &err) ||
                   (library && is_exact(&k) && !driver_agrees(&k, want, got, &err))) {
            fprintf(stderr, "kernel %llu (%u blocks of %u threads), %s: %s\n", (unsigned long long)n, k.grid,
                    k.block, rig.ways[way].name, err.msg);
            fprintf(stderr, "its PTX: random_kernels --emit . --first %llu --count 1\n",
                    (unsigned long long)n);
            failed = 1;
        } else {
            exact += is_exact(&k);
        }
    }
    if (!failed && !folder && !damaged)
        printf("%llu kernels, %d ways each: the same results%s\n", (unsigned long long)count, rig.n_ways,
               collider ? ", no reports" : "");
    if (!failed && library)
        printf("%llu of them, without approximate instructions, on %s as well\n", (unsigned long long)exact,
               info.name);
    gr_str_free(&k.text);
    free(want);
    free(got);
    if (!folder)
        close_rig(&rig);
    return failed;
}
