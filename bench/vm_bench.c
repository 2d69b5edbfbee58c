// SPDX-License-Identifier: Apache-2.0
// vm_bench — how fast the CPU device is: runs the kernels of kernels.cu, checks what they computed, prints
// thread-instructions per second.
//
//     vm_bench KERNELS.ptx [kernel] [--repeat N] [--split N] [--observe] [--seed N]
#include "base/str.h"
#include "vm/vm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { N = 1 << 20, MATRIX = 256, COLLATZ = 1 << 16 };

typedef struct Bench {
    VmMem *mem;
    VmDevice *dev;
    VmModule *mod;
    uint64_t buf[3];
    uint64_t launches;
    bool failed;
} Bench;

// Processor time: the machine may be busy with other things.
static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void *view(const Bench *b, unsigned k) { return gr_vm_mem_view(b->mem, b->buf[k], (uint64_t)N * 4); }

// One launch; the instructions executed.
static uint64_t run(Bench *b, const char *name, uint32_t grid, uint32_t block, const uint64_t *args,
                    unsigned n) {
    gr_error err = {0};
    uint8_t params[256] = {0};
    VmFunc *f = gr_vm_module_func(b->mod, name);
    const VmParam *layout;
    size_t have = f ? gr_vm_func_params(f, &layout, NULL) : 0;
    for (unsigned k = 0; k < n && k < have; k++)
        memcpy(params + layout[k].offset, &args[k], layout[k].size);
    VmLaunchParams p = {
        .func = f, .grid = {grid, 1, 1}, .block = {block, 1, 1}, .params = params, .launch = ++b->launches};
    VmLaunch *l;
    if (!f || gr_vm_launch(b->dev, &p, &l, &err) != GR_OK) {
        fprintf(stderr, "%s: %s\n", name, f ? err.msg : "no such kernel");
        b->failed = true;
        return 0;
    }
    while (gr_vm_run(b->dev, UINT64_MAX) != VM_RUN_IDLE)
        ;
    if (gr_vm_launch_fault(l)) {
        fprintf(stderr, "%s: %s\n", name, gr_vm_launch_fault(l)->msg);
        b->failed = true;
    }
    uint64_t count = gr_vm_launch_instructions(l);
    gr_vm_launch_free(l);
    return count;
}

static uint64_t word(float f) {
    uint32_t u;
    memcpy(&u, &f, 4);
    return u;
}

static uint64_t launch(Bench *b, const char *name) {
    const uint64_t *m = b->buf;
    if (!strcmp(name, "saxpy"))
        return run(b, name, N / 256, 256, (uint64_t[]){N, word(1.0f), m[0], m[1]}, 4);
    if (!strcmp(name, "matmul"))
        return run(b, name, MATRIX / 16 * (MATRIX / 16), 256, (uint64_t[]){m[0], m[1], m[2], MATRIX}, 4);
    if (!strcmp(name, "reduce"))
        return run(b, name, N / 256, 256, (uint64_t[]){m[0], m[2], N}, 3);
    if (!strcmp(name, "hist"))
        return run(b, name, 64, 256, (uint64_t[]){m[0], m[2], N}, 3);
    return run(b, "collatz", COLLATZ / 256, 256, (uint64_t[]){m[2], COLLATZ}, 2);
}

static void prepare(Bench *b, const char *name) {
    uint32_t *x = view(b, 0), *y = view(b, 1);
    bool ints = !strcmp(name, "reduce") || !strcmp(name, "hist");
    for (uint32_t k = 0; k < N; k++) {
        float f = (float)(k % 17), g = (float)(k % 5);
        x[k] = ints ? k * 2654435761u >> 20 : (uint32_t)word(f);
        y[k] = (uint32_t)word(g);
    }
    memset(view(b, 2), 0, (size_t)N * 4);
}

// After one launch.
static bool check(const Bench *b, const char *name) {
    const uint32_t *x = view(b, 0), *out = view(b, 2);
    const float *fx = view(b, 0), *fy = view(b, 1), *fo = view(b, 2);
    if (!strcmp(name, "saxpy")) {
        for (uint32_t k = 0; k < N; k++)
            if (fy[k] != (float)(k % 17) + (float)(k % 5))
                return false;
    } else if (!strcmp(name, "matmul")) {
        for (uint32_t k = 0; k < MATRIX * MATRIX; k += 97) {
            float sum = 0; // small integers: exact in any order
            for (uint32_t j = 0; j < MATRIX; j++)
                sum += fx[k / MATRIX * MATRIX + j] * fy[j * MATRIX + k % MATRIX];
            if (fo[k] != sum)
                return false;
        }
    } else if (!strcmp(name, "reduce")) {
        for (uint32_t k = 0; k < N / 256; k++) {
            uint32_t sum = 0;
            for (uint32_t j = 0; j < 256; j++)
                sum += x[k * 256 + j];
            if (out[k] != sum)
                return false;
        }
    } else if (!strcmp(name, "hist")) {
        uint32_t want[256] = {0};
        for (uint32_t k = 0; k < N; k++)
            want[x[k] & 255]++;
        return !memcmp(want, out, sizeof want);
    } else {
        for (uint32_t k = 0; k < COLLATZ; k++) {
            uint32_t steps = 0;
            for (uint64_t v = k + 1; v != 1; steps++)
                v = v & 1 ? 3 * v + 1 : v / 2;
            if (out[k] != steps)
                return false;
        }
    }
    return true;
}

static void time_kernel(Bench *b, const char *name, unsigned repeat) {
    prepare(b, name);
    launch(b, name);
    bool right = check(b, name);
    double best = 1e9;
    uint64_t count = 0;
    for (unsigned k = 0; k < repeat; k++) {
        double t = now();
        count = launch(b, name);
        t = now() - t;
        best = t < best ? t : best;
    }
    printf("%-8s %9.3f ms %10.1f M thread-instructions %8.2f G/s  %s\n", name, best * 1e3,
           (double)count * 1e-6, (double)count / best * 1e-9, right ? "right" : "WRONG");
    b->failed |= !right;
}

static void hear(void *user, const VmAccessEvent *e) { *(uint64_t *)user += e->where.mask; }

int main(int argc, char **argv) {
    static const char *const all[] = {"saxpy", "matmul", "reduce", "hist", "collatz"};
    const char *only = NULL;
    unsigned repeat = 10;
    VmConfig config = {.seed = 1};
    bool observe = false;
    for (int k = 2; k < argc; k++) {
        if (!strcmp(argv[k], "--repeat") && k + 1 < argc)
            repeat = (unsigned)atoi(argv[++k]);
        else if (!strcmp(argv[k], "--split") && k + 1 < argc)
            config.split_one_in = (uint32_t)atoi(argv[++k]);
        else if (!strcmp(argv[k], "--seed") && k + 1 < argc)
            config.seed = (uint64_t)atoll(argv[++k]);
        else if (!strcmp(argv[k], "--observe"))
            observe = true;
        else
            only = argv[k];
    }
    Bench b = {0};
    gr_error err = {0};
    char *text = NULL;
    size_t len;
    PtxModule *ptx = NULL;
    uint64_t heard = 0;
    VmObserver o = {.user = &heard, .access = hear};
    if (argc < 2 || gr_file_read(argv[1], &text, &len, &err) != GR_OK ||
        gr_ptx_parse(text, len, argv[1], &ptx, &err) != GR_OK || gr_vm_mem_create(&b.mem, &err) != GR_OK) {
        fprintf(stderr, "usage: vm_bench KERNELS.ptx [kernel] …\n%s\n", err.msg);
        return 2;
    }
    config.mem = b.mem;
    if (gr_vm_create(&config, &b.dev, &err) != GR_OK ||
        gr_vm_module_load(b.dev, &ptx, 1, &b.mod, &err) != GR_OK ||
        (observe && gr_vm_observe(b.dev, &o, &err) != GR_OK)) {
        fprintf(stderr, "%s\n", err.msg);
        return 2;
    }
    for (unsigned k = 0; k < 3; k++) {
        VmRange *r;
        if (gr_vm_mem_alloc(b.mem, VM_MEM_DEVICE, 0, (uint64_t)N * 4, 256, &r, &err) != GR_OK)
            return 2;
        b.buf[k] = r->addr;
    }
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        if (!only || !strcmp(only, all[k]))
            time_kernel(&b, all[k], repeat);
    gr_vm_destroy(b.dev);
    gr_ptx_free(ptx);
    gr_vm_mem_destroy(b.mem);
    free(text);
    return b.failed;
}
