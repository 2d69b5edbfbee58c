// SPDX-License-Identifier: Apache-2.0
#include "inject/inside_run.h"

#include "options/options.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const names[GR_RUN_VARIABLES] = {[GR_RUN_RESULTS] = GR_RESULTS_ENV,
                                                    GR_RESULTS_FD_ENV,
                                                    [GR_RUN_PRELOAD] = GR_PRELOAD_ENV,
                                                    GR_OPTIONS_ENV,
                                                    "GPURACE_CPU_DEVICE",
                                                    GR_DEVICE_CC_ENV,
                                                    GR_DRIVER_VERSION_ENV,
                                                    GR_HOST_WATCH_ENV,
                                                    GR_PLANT_ENV,
                                                    GR_ATTRIBUTE_ENV,
                                                    GR_PTXAS_ENV};

static struct {
    bool begun;
    char *entries[GR_RUN_VARIABLES];
    char program[PATH_MAX];
    GrResults results;
    gr_error failure;
} run = {.results = {.fd = -1}};

static void take_variables(void) {
    for (unsigned k = 0; k < GR_RUN_VARIABLES; k++) {
        const char *value = getenv(names[k]);
        if (value && asprintf(&run.entries[k], "%s=%s", names[k], value) < 0)
            run.entries[k] = NULL;
    }
}

const char *gr_run_variable(const char *name) {
    gr_run_begin();
    for (unsigned k = 0; k < GR_RUN_VARIABLES; k++)
        if (run.entries[k] && !strcmp(names[k], name))
            return run.entries[k] + strlen(name) + 1;
    return NULL;
}

const char *gr_run_entry(unsigned k) { return k < GR_RUN_VARIABLES ? run.entries[k] : NULL; }

// Some programs close all descriptors before they start another one (Python's subprocess). The next program gets the
// descriptor back, by its old number if that is free, so that its children inherit it; else for this process alone.
static void restore_descriptor(const char *path, int number) {
    int opened =
        number >= 0 && run.results.header && run.results.fd < 0 ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (opened < 0)
        return;
    int fd = fcntl(opened, F_DUPFD_CLOEXEC, number);
    close(opened);
    if (fd == number)
        fcntl(fd, F_SETFD, 0);
    run.results.fd = fd;
}

void gr_run_begin(void) {
    if (run.begun)
        return;
    run.begun = true;
    take_variables();
    const char *path = gr_run_variable(GR_RESULTS_ENV), *number = gr_run_variable(GR_RESULTS_FD_ENV);
    if (!path || !*path) {
        gr_fail(&run.failure, GR_ERR_NOT_FOUND, "not started by `gpurace run`");
        return;
    }
    int fd = number ? atoi(number) : -1;
    ssize_t n = readlink("/proc/self/exe", run.program, sizeof run.program - 1);
    if (gr_results_look_by(path, fd, &run.results, &run.failure) != GR_OK)
        return;
    restore_descriptor(path, fd);
    run.results.program = n > 0 ? run.program : NULL;
}

__attribute__((constructor)) static void begin(void) { gr_run_begin(); }

const GrResults *gr_run_results(void) {
    gr_run_begin();
    return &run.results;
}

const char *gr_run_failure(void) { return run.failure.msg; }
