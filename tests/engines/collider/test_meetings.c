// SPDX-License-Identifier: Apache-2.0
// A replay in which every access is a target: in a program without races nobody may meet anybody, however it
// synchronizes (flags, locks, barriers, atomics). Usage: test_meetings LIBGPURACE CPU_DEVICE_DIR SEEDS PROGRAM…; a
// program whose name ends in _race must have meetings, every other one none.
#include "base/arena.h"
#include "engines/collider/device/meet.h"
#include "engines/collider/device/record.h"
#include "findings/module_record.h"
#include "findings/reader.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct Setup {
    const char *injection, *device, *program;
    unsigned seed;
} Setup;

static bool run(const Setup *s, const char *targets, const char *file, GrResultsView *view) {
    gr_error err = {0};
    if (gr_results_create(file, &err) != GR_OK)
        return false;
    pid_t pid = fork();
    if (pid == 0) {
        char preload[3000], options[100], device[100];
        snprintf(preload, sizeof preload, "%s:%s/libcuda.so.1:%s/libcudart.so.13", s->injection, s->device,
                 s->device);
        snprintf(options, sizeof options, "engine=collider device=cpu seed=%u", s->seed);
        snprintf(device, sizeof device, "seed=%u", s->seed);
        setenv("GPURACE_RESULTS", file, 1);
        setenv("GPURACE_MERGED_OPTIONS", options, 1);
        setenv("GPURACE_CPU_DEVICE", device, 1);
        if (targets)
            setenv("GPURACE_ATTRIBUTE_SITES", targets, 1);
        setenv("LD_PRELOAD", preload, 1);
        dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO);
        alarm(120);
        execl(s->program, s->program, (char *)NULL);
        _exit(127);
    }
    int status;
    return waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) < 126 &&
           gr_results_open(file, view, &err) == GR_OK;
}

// As for the replay of that number: all accesses, as many as there are targets; of later processes and modules too.
static char *all_sites(const GrResultsView *view, unsigned replay) {
    StrBuf out = {0};
    Arena arena;
    unsigned n = 0;
    gr_arena_init(&arena);
    gr_str_addf(&out, "%u", replay);
    for (size_t i = 0; i < view->records.len; i++) {
        GrModuleInfo m;
        if (view->records.data[i].kind != GR_RECORD_MODULE ||
            gr_module_read(&view->records.data[i], "", &arena, &m, NULL) != GR_OK)
            continue;
        for (uint32_t s = 1; s <= m.n_sites && n < GR_MEET_TARGETS; s++)
            gr_str_addf(&out, " %llx.%u", (unsigned long long)m.hash, s), n++;
    }
    gr_arena_free(&arena);
    return out.oom ? NULL : gr_str_take(&out);
}

static unsigned count_meetings(const GrResultsView *view, const char *program) {
    Arena arena;
    unsigned n = 0;
    gr_arena_init(&arena);
    for (size_t i = 0; i < view->records.len; i++) {
        GrModuleInfo m;
        if (view->records.data[i].kind != GR_RECORD_MODULE ||
            gr_module_read(&view->records.data[i], "", &arena, &m, NULL) != GR_OK || !m.area_bytes ||
            !gr_results_at(view, m.area, m.area_bytes))
            continue;
        uint64_t at = ((uint64_t)m.n_sites + 1) * GR_CLASS_COUNT * sizeof(GrSlot);
        for (; at + sizeof(GrMeeting) <= m.area_bytes; at += sizeof(GrMeeting)) {
            GrMeeting met;
            memcpy(&met, view->data + m.area + at, sizeof met);
            if (!met.first.ready || !met.other.ready)
                continue;
            if (n++ < 3)
                printf("%s: line %u meets line %u\n", program, m.sites[met.first.site].at.line,
                       m.sites[met.other.site].at.line);
        }
    }
    gr_arena_free(&arena);
    return n;
}

// -1: it did not run.
static int meetings_of(const Setup *s) {
    char file[] = "/tmp/gpurace-test-meetings-XXXXXX";
    int fd = mkstemp(file), n = -1;
    GrResultsView view;
    if (fd < 0)
        return -1;
    close(fd);
    bool ok = run(s, NULL, file, &view);
    char *targets = ok ? all_sites(&view, s->seed) : NULL;
    if (ok)
        gr_results_close(&view);
    if (targets && strchr(targets, '.') && run(s, targets, file, &view)) {
        n = (int)count_meetings(&view, s->program);
        gr_results_close(&view);
    }
    free(targets);
    unlink(file);
    return n;
}

// One with a race needs to show it once.
static bool check(Setup s, unsigned seeds) {
    size_t len = strlen(s.program);
    bool racy = len > 5 && !strcmp(s.program + len - 5, "_race"), met = false;
    for (s.seed = 1; s.seed <= seeds && !met; s.seed++) {
        int n = meetings_of(&s);
        met = n > 0;
        if (n >= 0 && (racy || !n))
            continue;
        printf("FAIL %s, seed %u: %d meetings\n", s.program, s.seed, n);
        return false;
    }
    if (racy && !met)
        printf("FAIL %s: no meetings\n", s.program);
    return racy == met;
}

int main(int argc, char **argv) {
    if (argc < 5)
        return 2;
    unsigned failed = 0, seeds = (unsigned)atoi(argv[3]);
    for (int k = 4; k < argc; k++)
        failed += !check((Setup){argv[1], argv[2], argv[k], 0}, seeds);
    printf("%d programs, %u seeds each: %u wrong\n", argc - 4, seeds, failed);
    return failed != 0;
}
