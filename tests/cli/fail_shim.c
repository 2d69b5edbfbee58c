// SPDX-License-Identifier: Apache-2.0
// fail_shim — preloaded into gpurace, lets memory run out, or a crash happen, while it writes a report.
//
// GPURACE_TEST_FAIL="KIND CHILD NUMBER": in the CHILD-th process that gpurace forks (1 asks for the GPU, 2 is the
// program, 3 the full report, 4 the short one; 0: each from 3 on) the NUMBER-th allocation fails ("null"), or it and
// all after it do ("nulls"), or it is a crash ("crash").
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

extern char *program_invocation_short_name;
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t size);

static char kind[16];
static unsigned wanted, forks;
static unsigned long number, count;
static bool active;

static bool fails(void) {
    if (!active || ++count < number)
        return false;
    if (!strcmp(kind, "crash"))
        *(volatile int *)16 = 0;
    return count == number || !strcmp(kind, "nulls");
}

EXPORT void *malloc(size_t size) { return fails() ? NULL : __libc_malloc(size); }
EXPORT void *calloc(size_t n, size_t size) { return fails() ? NULL : __libc_calloc(n, size); }
EXPORT void *realloc(void *p, size_t size) { return fails() ? NULL : __libc_realloc(p, size); }

static void before_fork(void) { forks++; }
static void in_child(void) { active = wanted ? forks == wanted : forks >= 3; }

__attribute__((constructor)) static void begin(void) {
    const char *text = getenv("GPURACE_TEST_FAIL");
    if (!text || strcmp(program_invocation_short_name, "gpurace") != 0 ||
        sscanf(text, "%15s %u %lu", kind, &wanted, &number) != 3)
        return;
    pthread_atfork(before_fork, NULL, in_child);
}
