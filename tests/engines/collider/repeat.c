// SPDX-License-Identifier: Apache-2.0
// repeat — calls the main of a program many times, in one process: a CUDA context and a compiled module serve all of
// these runs.
//
//     LD_PRELOAD=librepeat.so:$LD_PRELOAD REPEAT_OF=NAME REPEAT='20 ARGV0 WORD...;5 ARGV0 WORD...' REPEAT_LOG=FILE
//         ./NAME
//
// NAME is the program whose main is called; others are left alone. The commands between semicolons run one after the
// other, each so often as its number says. Before each call gpurace is told that another run begins, if it is there:
// run 1 has the seed that was given, run 2 the next one, and launches count from 0, as if each run had a process of its
// own. After each call a line in FILE says which command it was (from 0), what it returned, and how many kernels were
// launched so far.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned long launches;

#define COUNTED(name, params, args)                                                                          \
    int name params {                                                                                        \
        int(*real) params = (int(*) params)dlsym(RTLD_NEXT, #name);                                          \
        launches++;                                                                                          \
        return real args;                                                                                    \
    }
typedef struct Dim {
    unsigned x, y, z;
} Dim;
COUNTED(__cudaLaunchKernel, (const void *f, Dim g, Dim b, void **a, size_t s, void *t), (f, g, b, a, s, t))
COUNTED(__cudaLaunchKernel_ptsz, (const void *f, Dim g, Dim b, void **a, size_t s, void *t),
        (f, g, b, a, s, t))
COUNTED(cudaLaunchKernel, (const void *f, Dim g, Dim b, void **a, size_t s, void *t), (f, g, b, a, s, t))
COUNTED(cudaLaunchCooperativeKernel, (const void *f, Dim g, Dim b, void **a, size_t s, void *t),
        (f, g, b, a, s, t))
COUNTED(cudaLaunchKernelExC, (const void *c, const void *f, void **a), (c, f, a))

// Of bench/kernel_times.c, if the driver has loaded it.
static void mark_times(void) {
    const char *path = getenv("CUDA_INJECTION64_PATH");
    void *times = path ? dlopen(path, RTLD_NOW | RTLD_NOLOAD) : NULL;
    void (*mark)(void) = times ? (void (*)(void))dlsym(times, "kernel_times_mark") : NULL;
    if (mark)
        mark();
}

static int (*program)(int, char **, char **);

static int repeated(int argc, char **argv, char **env) {
    const char *name = getenv("REPEAT_OF"), *commands = getenv("REPEAT"), *path = getenv("REPEAT_LOG");
    if (!name || !commands || !path || strcmp(name, program_invocation_short_name) != 0)
        return program(argc, argv, env);
    FILE *log = fopen(path, "w");
    int worst = log ? 0 : 1;
    char *rest = strdup(commands), *command;
    for (int number = 0; log && (command = strsep(&rest, ";")); number++) {
        char *words[16] = {0}, *word;
        int n = 0, times = atoi(strsep(&command, " "));
        while (n < 15 && (word = strsep(&command, " ")))
            words[n++] = word;
        void (*next_run)(unsigned) = (void (*)(unsigned))dlsym(RTLD_DEFAULT, "gr_next_run");
        int (*wait)(void) = (int (*)(void))dlsym(RTLD_DEFAULT, "cudaDeviceSynchronize");
        for (int k = 1; k <= times; k++) {
            if (next_run)
                next_run((unsigned)k - 1);
            int status = program(n, words, env);
            if (wait)
                wait(); // kernels of one run are over when the next one begins
            mark_times();
            fprintf(log, "%d\t%d\t%lu\n", number, status, launches);
            fflush(log);
            worst = status > worst ? status : worst;
        }
    }
    return worst;
}

int __libc_start_main(int (*main)(int, char **, char **), int argc, char **argv, void (*init)(void),
                      void (*fini)(void), void (*ld)(void), void *stack) {
    int (*real)(int (*)(int, char **, char **), int, char **, void (*)(void), void (*)(void), void (*)(void),
                void *);
    real = (int (*)(int (*)(int, char **, char **), int, char **, void (*)(void), void (*)(void),
                    void (*)(void), void *))dlsym(RTLD_NEXT, "__libc_start_main");
    program = main;
    return real(repeated, argc, argv, init, fini, ld, stack);
}
