// SPDX-License-Identifier: Apache-2.0
// gpurace selftest — can this setup find a race at all? With a program: a known race is planted beside its first
// launch. Without: each engine runs a small program of gpurace's own, a racy kernel and its repaired twin.
//
// Exit status: 68 when a planted race was missed or the twin was reported; else that of `gpurace run`, or 0.
#include "base/own.h"
#include "base/process.h"
#include "cli/commands.h"
#include "cli/run/child.h"
#include "cli/run/gpu.h"
#include "cli/run_command.h"
#include "engines/core/control.h"
#include "engines/core/engine.h"
#include "report/read/read_report.h"

#include <cuda.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- The program of its own: a host program for the driver API ------------------------------------------------------

#define OWN_PROGRAM "the-planted-kernels" // the word that starts it

typedef struct Driver {
    void *handle;
    const char *failed; // the first call that did not work
    CUresult error;
} Driver;

// Calls a function of the driver, unless one failed before.
#define CALL(d, name, type, ...)                                                                             \
    do {                                                                                                     \
        CUresult(*call_) type = (d)->failed ? NULL : (CUresult(*) type)dlsym((d)->handle, name);             \
        if (!(d)->failed && ((d)->error = call_ ? call_(__VA_ARGS__) : CUDA_ERROR_NOT_SUPPORTED))            \
            (d)->failed = name;                                                                              \
    } while (0)

static void run_kernel(Driver *d, const char *ptx, const char *name) {
    CUmodule module = NULL;
    CUfunction f = NULL;
    CALL(d, "cuModuleLoadData", (CUmodule *, const void *), &module, ptx);
    CALL(d, "cuModuleGetFunction", (CUfunction *, CUmodule, const char *), &f, module, name);
    CALL(d, "cuLaunchKernel",
         (CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, void **,
          void **),
         f, GR_CONTROL_BLOCKS, 1, 1, GR_CONTROL_THREADS, 1, 1, 0, NULL, NULL, NULL);
    CALL(d, "cuCtxSynchronize", (void));
}

static int own_program(void) {
    Driver d = {.handle = dlopen("libcuda.so.1", RTLD_NOW)};
    CUdevice device = 0;
    CUcontext context = NULL;
    if (!d.handle) {
        fprintf(stderr, "gpurace: selftest: %s\n", dlerror());
        return EXIT_OURS;
    }
    CALL(&d, "cuInit", (unsigned), 0);
    CALL(&d, "cuDeviceGet", (CUdevice *, int), &device, 0);
    CALL(&d, "cuDevicePrimaryCtxRetain", (CUcontext *, CUdevice), &context, device);
    CALL(&d, "cuCtxSetCurrent", (CUcontext), context);
    run_kernel(&d, gr_control_racy, GR_CONTROL_RACY);
    run_kernel(&d, gr_control_twin, GR_CONTROL_TWIN);
    if (d.failed)
        fprintf(stderr, "gpurace: selftest: %s failed with CUDA error %d\n", d.failed, (int)d.error);
    return d.failed ? EXIT_OURS : 0;
}

// ---- Each engine ---------------------------------------------------------------------------------------------------

typedef struct Selftest {
    const char *device; // the word of --device
    char **options;     // of the command line, n_options
    int n_options;
    char self[PATH_MAX], folder[PATH_MAX];
    unsigned engines, passed;
} Selftest;

static void print_log(const char *log) {
    char *text = NULL;
    size_t len;
    if (gr_file_read(log, &text, &len, NULL) == GR_OK)
        fwrite(text, 1, len, stderr);
    free(text);
}

static bool has_race(const GrReport *r, const char *kernel) {
    for (size_t k = 0; k < r->races.len; k++)
        if (r->races.data[k].found.kernel && !strcmp(r->races.data[k].found.kernel, kernel))
            return true;
    return false;
}

// Says what the report of the engine's run shows. True: the race and nothing else.
static bool judge(const char *engine, const GrReport *r) {
    bool found = has_race(r, GR_CONTROL_RACY), twin = has_race(r, GR_CONTROL_TWIN);
    printf("%-12s %s%s\n", engine, found ? "found" : "missed",
           twin ? ", and the repaired twin was reported as well" : "");
    for (size_t k = 0; k < r->reasons.len; k++)
        printf("%-12s %s\n", "", r->reasons.data[k].text);
    return found && !twin;
}

static gr_status test_engine(Selftest *t, const char *engine, gr_error *err) {
    char report[PATH_MAX + 16], log[PATH_MAX + 16];
    int n = 0, status;
    snprintf(report, sizeof report, "%s/%s.json", t->folder, engine);
    snprintf(log, sizeof log, "%s/log", t->folder);
    char **argv = calloc((size_t)t->n_options + 16, sizeof *argv);
    GR_NEED(argv, err);
    char *first[] = {t->self, "run"};
    // `env`, as gpurace itself is no CUDA program.
    char *last[] = {"--engine", (char *)engine, "--format", "json",  "--output", report,     "--strict",
                    "no",       "--",           "env",      t->self, "selftest", OWN_PROGRAM};
    for (size_t k = 0; k < sizeof first / sizeof *first; k++)
        argv[n++] = first[k];
    for (int k = 0; k < t->n_options; k++)
        argv[n++] = t->options[k];
    for (size_t k = 0; k < sizeof last / sizeof *last; k++)
        argv[n++] = last[k];
    gr_status st = gr_cli_run(&(GrChild){argv, ".", log}, &status, err);
    free(argv);
    GR_MUST(st);
    GrReport r;
    gr_report_init(&r);
    t->engines++;
    if (gr_report_read(report, &r, err) == GR_OK) {
        t->passed += judge(engine, &r);
    } else {
        printf("%-12s could not run\n", engine);
        fflush(stdout);
        print_log(log);
    }
    gr_report_free(&r);
    return GR_OK;
}

static gr_status test_engines(Selftest *t, const char *only, gr_error *err) {
    bool on_gpu = strcmp(t->device, "cpu") && gr_probe_gpu().count > 0;
    unsigned caps = CAP_CHECKS | (on_gpu ? CAP_GPU : CAP_CPU);
    if (strcmp(only, "auto"))
        return test_engine(t, only, err);
    for (const GrEngine *const *e = gr_engines; *e; e++)
        if (((*e)->caps & caps) == caps && !((*e)->caps & CAP_STATIC))
            GR_MUST(test_engine(t, (*e)->name, err));
    return GR_OK;
}

// ---- The command ---------------------------------------------------------------------------------------------------

static int without_program(const GrOptions *o, char **options, int n) {
    gr_error err = {0};
    Selftest t = {.device = o->device, .options = options, .n_options = n};
    gr_status st;
    GR_TRY(gr_process_self(t.self, &err));
    GR_TRY(gr_own_folder(t.folder, "selftest", &err));
    st = test_engines(&t, o->engine, &err);
    gr_status removed = gr_own_remove_folder(t.folder, st == GR_OK ? &err : NULL);
    st = st == GR_OK ? removed : st;
done:
    if (st != GR_OK)
        return gr_complain(EXIT_OURS, &err);
    printf("%u of %u engine%s found the planted race and nothing in its repaired twin\n", t.passed, t.engines,
           t.engines == 1 ? "" : "s");
    return fflush(stdout) ? EXIT_OURS : t.passed == t.engines && t.engines ? 0 : EXIT_MISSED;
}

int gr_cmd_selftest(int argc, char **argv) {
    gr_error err = {0};
    GrOptions o;
    int rest, status;
    bool help;
    if (argc == 2 && !strcmp(argv[1], OWN_PROGRAM))
        return own_program();
    if (gr_options_init(&o, &err) != GR_OK)
        return gr_complain(EXIT_OURS, &err);
    if (gr_options_parse_args(&o, OPT_RUN, argc, argv, &rest, &help, &err) != GR_OK)
        status = gr_complain(EXIT_USAGE, &err);
    else if (help)
        status = gr_print_help("selftest", stdout);
    else if (rest < argc)
        status = gr_run_command(argc, argv, true);
    else
        status = without_program(&o, argv + 1, argc - 1 - !strcmp(argv[argc - 1], "--"));
    gr_options_free(&o);
    return status;
}
