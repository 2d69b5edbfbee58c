// SPDX-License-Identifier: Apache-2.0
// vm_bench — how fast the CPU device is: runs the kernels of kernels.cu, checks what they computed, prints
// thread-instructions per second.
//
//     vm_bench KERNELS.ptx [kernel] [--repeat N] [--output FILE] [--split N] [--observe] [--exact] [--seed N] [--jobs
//         N] [--cpu]
//     vm_bench KERNELS.ptx --threads N [--repeat N]        the kernel `many`, by so many threads
//     vm_bench KERNELS.ptx --exact --memory MIB [touch1]   what the causality engine takes for a working set of so many
//                                                          MiB
//
// Only the kernels are timed, on the wall (--cpu: processor time). The output of the last repetition goes to FILE.
#include "base/str.h"
#include "engines/exact/exact.h"
#include "vm/core/launch.h"
#include "vm/extension.h"
#include "vm/vm.h"
#include "workload.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef struct Bench {
    VmMem *mem;
    VmDevice *dev;
    VmModule *mod;
    uint64_t launches;
    const char *output;
    bool failed;
} Bench;

static double read_clock(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static clockid_t clock_used = CLOCK_MONOTONIC;
static double now(void) { return read_clock(clock_used); }
static double cpu_now(void) { return read_clock(CLOCK_PROCESS_CPUTIME_ID); }

// One launch; the instructions executed.
static uint64_t launch(Bench *b, const Work *w, const uint64_t *buf, uint32_t level) {
    gr_error err = {0};
    uint8_t params[256] = {0};
    VmFunc *f = gr_vm_module_func(b->mod, w->name);
    const VmParam *layout;
    size_t have = f ? gr_vm_func_params(f, &layout, NULL) : 0;
    for (unsigned k = 0; k < WORK_ARGS && w->arg[k].kind && k < have; k++) {
        uint64_t v = w->arg[k].kind == WORK_BUFFER  ? buf[w->arg[k].value]
                     : w->arg[k].kind == WORK_LEVEL ? level
                                                    : w->arg[k].value;
        memcpy(params + layout[k].offset, &v, layout[k].size);
    }
    VmLaunchParams p = {.func = f,
                        .grid = {w->grid, 1, 1},
                        .block = {w->block, 1, 1},
                        .params = params,
                        .launch = ++b->launches};
    VmLaunch *l;
    if (!f || gr_vm_launch(b->dev, &p, &l, &err) != GR_OK) {
        fprintf(stderr, "%s: %s\n", w->name, f ? err.msg : "no such kernel");
        b->failed = true;
        return 0;
    }
    while (gr_vm_run(b->dev, UINT64_MAX) != VM_RUN_IDLE)
        ;
    if (gr_vm_launch_fault(l)) {
        fprintf(stderr, "%s: %s\n", w->name, gr_vm_launch_fault(l)->msg);
        b->failed = true;
    }
    uint64_t count = l->instructions;
    gr_vm_launch_free(l);
    return count;
}

// All launches of one repetition: seconds.
static double once(Bench *b, const Work *w, const uint64_t *buf, uint64_t *count) {
    double t = 0;
    uint32_t *again = w->again < 0 ? NULL : gr_vm_mem_view(b->mem, buf[w->again], 4), level = 0;
    *count = 0;
    do {
        if (again)
            *again = 0;
        double from = now();
        *count += launch(b, w, buf, level++);
        t += now() - from;
    } while (again && *again && !b->failed);
    return t;
}

static bool write_output(const char *path, const void *data, size_t bytes) {
    FILE *f = fopen(path, "wb");
    bool ok = f && fwrite(data, 1, bytes, f) == bytes;
    return f && fclose(f) == 0 && ok;
}

static void time_kernel(Bench *b, const Work *w, unsigned repeat) {
    uint64_t buf[WORK_BUFFERS] = {0}, count = 0;
    void *view[WORK_BUFFERS] = {0};
    double best = 1e9;
    for (unsigned k = 0; k < WORK_BUFFERS; k++) {
        VmRange *r;
        if (!w->bytes[k])
            continue;
        if (gr_vm_mem_alloc(b->mem, VM_MEM_DEVICE, 0, w->bytes[k], 256, &r, NULL) != GR_OK) {
            b->failed = true;
            return;
        }
        buf[k] = r->addr;
        view[k] = gr_vm_mem_view(b->mem, r->addr, r->size);
    }
    for (unsigned n = 0; n < repeat + 1 && !b->failed; n++) { // the first one warms up
        for (unsigned k = 0; k < WORK_BUFFERS; k++)
            if (view[k])
                w->fill(w, k, view[k]);
        double t = once(b, w, buf, &count);
        if (n && t < best)
            best = t;
    }
    bool right = !b->failed && w->check(w, view);
    if (b->output && !write_output(b->output, view[w->output], (size_t)w->out_words * 4))
        right = false;
    printf("%-8s %9.3f ms %10.1f M thread-instructions %8.2f G/s  %s\n", w->name, best * 1e3,
           (double)count * 1e-6, (double)count / best * 1e-9, right ? "right" : "WRONG");
    b->failed |= !right;
    for (unsigned k = 0; k < WORK_BUFFERS; k++)
        if (buf[k])
            gr_vm_mem_free(b->mem, buf[k], NULL);
}

// The milliseconds of the whole launch, on the wall and of processor time, and until its first instruction has run.
static void time_threads(Bench *b, uint64_t threads, unsigned repeat) {
    VmRange *r;
    if (gr_vm_mem_alloc(b->mem, VM_MEM_DEVICE, 0, 1 << 19, 256, &r, NULL) != GR_OK) {
        b->failed = true;
        return;
    }
    uint64_t params[2] = {r->addr, r->addr + (1 << 18)};
    double best = 1e9, cpu = 1e9, begun = 1e9;
    for (unsigned n = 0; n < repeat && !b->failed; n++) {
        VmLaunchParams p = {.func = gr_vm_module_func(b->mod, "many"),
                            .grid = {(uint32_t)((threads + 255) / 256), 1, 1},
                            .block = {256, 1, 1},
                            .params = params,
                            .launch = ++b->launches};
        gr_error err = {0};
        VmLaunch *l;
        double from = now(), cpu_from = cpu_now();
        if (gr_vm_launch(b->dev, &p, &l, &err) != GR_OK) {
            fprintf(stderr, "many: %s\n", err.msg);
            b->failed = true;
            return;
        }
        gr_vm_run(b->dev, 1);
        double first = now() - from;
        while (gr_vm_run(b->dev, UINT64_MAX) != VM_RUN_IDLE)
            ;
        double all = now() - from, cpu_all = cpu_now() - cpu_from;
        best = all < best ? all : best;
        cpu = cpu_all < cpu ? cpu_all : cpu;
        begun = first < begun ? first : begun;
        b->failed |= gr_vm_launch_fault(l) != NULL;
        gr_vm_launch_free(l);
    }
    printf("%llu threads %.3f ms, %.3f of processor time, begun after %.3f\n", (unsigned long long)threads,
           best * 1e3, cpu * 1e3, begun * 1e3);
}

static uint64_t resident(void) {
    unsigned long all, pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (f && fscanf(f, "%lu %lu", &all, &pages) != 2)
        pages = 0;
    if (f)
        fclose(f);
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

// Every element of `bytes` bytes is read and written once; then, how much memory that took for each of them.
static void weigh(Bench *b, const Exact *x, const char *name, uint64_t bytes) {
    VmRange *r;
    if (gr_vm_mem_alloc(b->mem, VM_MEM_DEVICE, 0, bytes, 256, &r, NULL) != GR_OK) {
        b->failed = true;
        return;
    }
    memset(gr_vm_mem_view(b->mem, r->addr, r->size), 1, r->size);
    uint64_t n = strcmp(name, "touch1") ? bytes / 4 : bytes, buf[WORK_BUFFERS] = {r->addr},
             before = resident();
    Work w = {.name = name,
              .grid = (uint32_t)((n + 255) / 256),
              .block = 256,
              .arg = {{WORK_BUFFER, 0}, {WORK_WORD, (uint32_t)n}}};
    double from = now();
    launch(b, &w, buf, 0);
    double t = now() - from;
    uint64_t took = x ? gr_exact_shadow_bytes(x) : 0, grown = resident() - before;
    printf("%s of %llu MiB: %.3f bytes of shadow per byte touched, %.3f of resident memory, %.1f s\n", name,
           (unsigned long long)(bytes >> 20), (double)took / (double)bytes, (double)grown / (double)bytes, t);
    gr_vm_mem_free(b->mem, r->addr, NULL);
}

static void hear(void *user, const VmAccessEvent *e) { *(uint64_t *)user += e->where.mask; }

int main(int argc, char **argv) {
    const char *only = NULL;
    unsigned repeat = 10;
    uint64_t threads = 0, weighed = 0;
    VmConfig config = {.seed = 1, .extensions = gr_vm_extensions};
    bool observe = false, exact = false;
    Bench b = {0};
    for (int k = 2; k < argc; k++) {
        if (!strcmp(argv[k], "--repeat") && k + 1 < argc)
            repeat = (unsigned)atoi(argv[++k]);
        else if (!strcmp(argv[k], "--output") && k + 1 < argc)
            b.output = argv[++k];
        else if (!strcmp(argv[k], "--split") && k + 1 < argc)
            config.split_one_in = (uint32_t)atoi(argv[++k]);
        else if (!strcmp(argv[k], "--seed") && k + 1 < argc)
            config.seed = (uint64_t)atoll(argv[++k]);
        else if (!strcmp(argv[k], "--jobs") && k + 1 < argc)
            config.jobs = (uint32_t)atoi(argv[++k]);
        else if (!strcmp(argv[k], "--threads") && k + 1 < argc)
            threads = (uint64_t)atoll(argv[++k]);
        else if (!strcmp(argv[k], "--memory") && k + 1 < argc)
            weighed = (uint64_t)atoll(argv[++k]);
        else if (!strcmp(argv[k], "--observe"))
            observe = true;
        else if (!strcmp(argv[k], "--cpu"))
            clock_used = CLOCK_PROCESS_CPUTIME_ID;
        else if (!strcmp(argv[k], "--exact"))
            exact = true;
        else
            only = argv[k];
    }
    gr_error err = {0};
    char *text = NULL;
    size_t len;
    PtxModule *ptx = NULL;
    uint64_t heard = 0;
    VmObserver o = {.user = &heard, .access = hear};
    if (argc < 2 || gr_file_read(argv[1], &text, &len, &err) != GR_OK ||
        gr_ptx_parse_ours(text, len, argv[1], &ptx, &err) != GR_OK ||
        gr_vm_mem_create(&b.mem, &err) != GR_OK) {
        fprintf(stderr, "usage: vm_bench KERNELS.ptx [kernel] …\n%s\n", err.msg);
        return 2;
    }
    config.mem = b.mem;
    if (gr_vm_create(&config, &b.dev, &err) != GR_OK ||
        gr_vm_module_load(b.dev, &ptx, 1, NULL, NULL, &b.mod, &err) != GR_OK ||
        (observe && gr_vm_observe(b.dev, &o, &err) != GR_OK)) {
        fprintf(stderr, "%s\n", err.msg);
        return 2;
    }
    Exact *x = NULL;
    if (exact) {
        if (gr_exact_create(NULL, &x, &err) == GR_OK) {
            o = gr_exact_observer(x);
            if (gr_vm_observe(b.dev, &o, &err) != GR_OK)
                return 2;
        }
    }
    if (weighed)
        weigh(&b, x, only ? only : "touch4", weighed << 20);
    else if (threads)
        time_threads(&b, threads, repeat);
    for (size_t k = 0; k < gr_n_work && !threads && !weighed; k++)
        if (!only || !strcmp(only, gr_work[k].name))
            time_kernel(&b, &gr_work[k], repeat);
    gr_vm_destroy(b.dev);
    if (x)
        fprintf(stderr, "exact: %zu pairs of sites raced%s\n", gr_exact_races(x),
                gr_exact_incomplete(x) ? "; INCOMPLETE" : "");
    gr_exact_free(x);
    gr_ptx_free(ptx);
    gr_vm_mem_destroy(b.mem);
    free(text);
    return b.failed;
}
