// SPDX-License-Identifier: Apache-2.0
// random_kernels — runs random kernels in every way that must not matter: other interleavings, parted warps, instructions one at a
// time, on several threads. Each must end well and leave the same memory.
//
//     random_kernels [--first N] [--count N]     runs them; prints the number of the first one that differs
//     random_kernels --emit DIR --first N --count N     writes their PTX there (for ptxas)
//     random_kernels --driver LIBCUDA …                 runs them through that driver as well: on a GPU, say
#include "generate.h"

#include "../conformance/driver.h"
#include "vm/vm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    OWN_BYTES = RANDOM_BLOCKS * RANDOM_THREADS * RANDOM_OWN,
    BYTES = OWN_BYTES + RANDOM_TABLE + RANDOM_COUNTS
};

static const struct {
    const char *name;
    VmConfig config;
} ways[] = {
    {"plain", {.seed = 1}},
    {"other seed, warps parted often", {.seed = 2, .split_one_in = 3}},
    {"one instruction at a time", {.seed = 3, .quantum = 1}},
    {"short turns, warps parted", {.seed = 4, .split_one_in = 20, .quantum = 9, .sm_count = 1}},
    {"without shortcuts", {.seed = 1, .unfused = true}},
    {"two threads", {.seed = 5, .jobs = 2}},
    {"three threads, warps parted", {.seed = 6, .jobs = 3, .split_one_in = 10, .quantum = 30}},
};
enum { WAYS = sizeof ways / sizeof *ways };

typedef struct Rig {
    VmMem *mem;
    VmDevice *device[WAYS];
    uint64_t addr;
    uint8_t *view;
} Rig;

static bool open_rig(Rig *r, gr_error *err) {
    VmRange *range;
    if (gr_vm_mem_create(&r->mem, err) != GR_OK ||
        gr_vm_mem_alloc(r->mem, VM_MEM_DEVICE, 0, BYTES, 256, &range, err) != GR_OK)
        return false;
    r->addr = range->addr;
    r->view = gr_vm_mem_view(r->mem, range->addr, BYTES);
    for (int w = 0; w < WAYS; w++) {
        VmConfig c = ways[w].config;
        c.mem = r->mem;
        c.watchdog_ns = 10000000000;
        if (gr_vm_create(&c, &r->device[w], err) != GR_OK)
            return false;
    }
    return true;
}

static void close_rig(Rig *r) {
    for (int w = 0; w < WAYS; w++)
        gr_vm_destroy(r->device[w]);
    gr_vm_mem_destroy(r->mem);
}

static void fill(uint8_t *view) {
    memset(view, 0, BYTES);
    for (unsigned k = 0; k < RANDOM_TABLE; k++)
        view[OWN_BYTES + k] = (uint8_t)(k * 167 ^ k >> 3);
    memset(view + OWN_BYTES + RANDOM_TABLE, 0xa5, RANDOM_COUNTS);
}

// Runs the kernel one way; what is wrong is said in err.
static bool run(Rig *r, int way, PtxModule *ptx, const RandomKernel *k, gr_error *err) {
    VmDevice *d = r->device[way];
    VmModule *m = NULL;
    VmLaunch *l = NULL;
    uint64_t params[3] = {r->addr, r->addr + OWN_BYTES, r->addr + OWN_BYTES + RANDOM_TABLE};
    fill(r->view);
    bool ok = gr_vm_module_load(d, &ptx, 1, &m, err) == GR_OK;
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
    if (ok && gr_vm_launch_undefined(l)) {
        gr_fail(err, GR_ERR_INTERNAL, "it does what PTX leaves undefined, %llu times",
                (unsigned long long)gr_vm_launch_undefined(l));
        ok = false;
    }
    if (l)
        gr_vm_launch_free(l);
    if (m)
        gr_vm_module_unload(m);
    return ok;
}

static bool agree(Rig *r, const RandomKernel *k, uint8_t *want, int *way, gr_error *err) {
    PtxModule *ptx = NULL;
    bool ok = gr_ptx_parse(k->text.data, k->text.len, "random", &ptx, err) == GR_OK;
    *way = 0;
    for (int w = 0; w < WAYS && ok; w++) {
        *way = w;
        ok = run(r, w, ptx, k, err);
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
    gr_ptx_free(ptx);
    return ok;
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
    }
    gr_error err = {0};
    Rig rig = {0};
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
                    k.block, ways[way].name, err.msg);
            fprintf(stderr, "its PTX: random_kernels --emit . --first %llu --count 1\n",
                    (unsigned long long)n);
            failed = 1;
        } else {
            exact += is_exact(&k);
        }
    }
    if (!failed && !folder)
        printf("%llu kernels, %d ways each: the same results\n", (unsigned long long)count, WAYS);
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
