// SPDX-License-Identifier: Apache-2.0
// engine verifier — decides about CUDA source and PTX without running it. This is only its row. libgpurace-verifier.so
// decides; it has Z3 and LLVM in it and is loaded when files are checked. So neither the command nor what is injected
// into programs needs the two.
#include "engines/core/engine.h"
#include "base/process.h"
#include "engines/verifier/options.h"
#include "engines/verifier/verifier.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool is_in(const char *folder, char file[PATH_MAX]) {
    int n = snprintf(file, PATH_MAX, "%s/" GR_VERIFIER_LIBRARY, folder);
    return n > 0 && n < PATH_MAX && access(file, R_OK) == 0;
}

// Where the library is: beside the command as it was built, or installed.
static gr_status find(char command[PATH_MAX], char folder[PATH_MAX], gr_error *err) {
    char file[PATH_MAX], self[PATH_MAX], built[PATH_MAX + 8], installed[2 * PATH_MAX];
    GR_MUST(gr_process_self(command, err));
    snprintf(self, sizeof self, "%s", command);
    *strrchr(self, '/') = 0;
    snprintf(built, sizeof built, "%s/lib", self);
    snprintf(installed, sizeof installed, "%s%s" GPURACE_INSTALLED, GPURACE_INSTALLED[0] == '/' ? "" : self,
             GPURACE_INSTALLED[0] == '/' ? "" : "/");
    const char *there = is_in(built, file) ? built : is_in(installed, file) ? installed : NULL;
    if (!there)
        return gr_fail(err, GR_ERR_UNSUPPORTED,
                       GR_VERIFIER_LIBRARY " is neither in %s nor in %s: gpurace is not installed as a whole",
                       built, installed);
    return snprintf(folder, PATH_MAX, "%s", there) < PATH_MAX
               ? GR_OK
               : gr_fail(err, GR_ERR_LIMIT, "%s: the name is too long", there);
}

// Numbers with commas between.
static gr_status read_facts(const char *list, bool facts[6], gr_error *err) {
    for (const char *at = list; *at;) {
        if (*at < '1' || *at > '5' || (at[1] && at[1] != ','))
            return gr_fail(err, GR_ERR_ARGUMENT, "--facts %s: numbers from 1 to 5 with commas", list);
        facts[*at - '0'] = true;
        at += at[1] ? 2 : 1;
    }
    return GR_OK;
}

// The folder of kept answers. False: there is none.
static bool find_cache(const VerifierWords *words, char out[PATH_MAX]) {
    const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int n = words->no_cache      ? 0
            : words->cache[0]    ? snprintf(out, PATH_MAX, "%s", words->cache)
            : xdg && *xdg == '/' ? snprintf(out, PATH_MAX, "%s/gpurace", xdg)
            : home && *home      ? snprintf(out, PATH_MAX, "%s/.cache/gpurace", home)
                                 : 0;
    return n > 0 && n < PATH_MAX;
}

// How many kernels at once; one if `verbose`, whose output comes kernel by kernel.
static unsigned count_jobs(const VerifierWords *words, bool verbose) {
    long n = verbose ? 1 : words->processes ? (long)words->processes : sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 ? (unsigned)n : 1;
}

static gr_status check(const GrStaticInput *in, const GrStaticSink *to, gr_error *err) {
    const VerifierWords *words = gr_options_of(in->options, &gr_verifier_options);
    char command[PATH_MAX], folder[PATH_MAX], file[PATH_MAX], cache[PATH_MAX];
    GrVerifierSettings set = {.wrap = words->wrap,
                              .replay = words->replay,
                              .explain = words->explain,
                              .verbose = in->options->verbose,
                              .solver_seconds = (double)words->solver_time,
                              .jobs = count_jobs(words, in->options->verbose),
                              .cache = find_cache(words, cache) ? cache : NULL,
                              .cache_wanted = words->cache[0] && !words->no_cache,
                              .launches = words->launches[0] ? words->launches : NULL,
                              .command = command,
                              .folder = folder};
    GR_MUST(read_facts(words->facts, set.facts, err));
    GR_MUST(find(command, folder, err));
    is_in(folder, file);
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    GrVerifierCheck *go = library ? (GrVerifierCheck *)dlsym(library, GR_VERIFIER_CHECK) : NULL;
    // The library stays loaded: what it handed over may point into it.
    return go ? go(in, &set, to, err) : gr_fail(err, GR_ERR_UNSUPPORTED, "%s", dlerror());
}

static const GrStaticEngine table = {check};

const GrEngine gr_engine_verifier = {
    .name = "verifier",
    .summary = "decides, without running a program, for each kernel and launch which accesses can race: "
               "proofs, and races that were replayed",
    .evidence = "solved for, and confirmed by replay",
    .caps = CAP_CHECKS | CAP_STATIC,
    .blind = gr_verifier_blind,
    .still = &table,
};
