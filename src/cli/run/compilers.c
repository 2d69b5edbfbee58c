// SPDX-License-Identifier: Apache-2.0
#include "cli/run/compilers.h"

#include "base/own.h"
#include "base/process.h"
#include "cli/run/toolkit.h"
#include "options/options.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef enum Kind { WORD, CPU, KEPT, FRESH, PTXAS, STAND_IN } Kind;

typedef struct Setting {
    const char *variable;
    Kind kind;
    const char *value;
} Setting;

static const Setting settings[] = {
#define SETTING(variable, kind, value, why) {variable, kind, value},
#include "cli/run/compilers.def"
#undef SETTING
};

static char fresh[PATH_MAX]; // the folder of this run; "": none was made

static bool join(char out[PATH_MAX], const char *folder, const char *name) {
    int n = snprintf(out, PATH_MAX, "%s/%s", folder, name);
    return n > 0 && n < PATH_MAX;
}

static bool make_fresh(void) { return fresh[0] || gr_own_folder(fresh, "kernels", NULL) == GR_OK; }

// Whether a program could make the folder: what there is of the way to it may be written to.
static bool can_be_made(const char *path) {
    char there[PATH_MAX];
    snprintf(there, sizeof there, "%s", path);
    for (char *slash; access(there, F_OK) && (slash = strrchr(there, '/')) && slash != there;)
        *slash = 0;
    return access(there, W_OK | X_OK) == 0;
}

// Beside other programs' caches; where that cannot be, in the folder of this run.
static bool kept_folder(char out[PATH_MAX], const char *name) {
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    bool given = cache && cache[0] == '/';
    int n = snprintf(out, PATH_MAX, "%s%s/gpurace/kernels/%s",
                     given  ? cache
                     : home ? home
                            : "",
                     given ? "" : "/.cache", name);
    if ((given || (home && home[0] == '/')) && n < PATH_MAX && can_be_made(out))
        return true;
    return make_fresh() && join(out, fresh, name);
}

static bool own_ptxas(char out[PATH_MAX]) {
    char self[PATH_MAX];
    if (gr_process_self(self, NULL) != GR_OK)
        return false;
    *strrchr(self, '/') = 0;
    return join(out, self, "gpurace-ptxas") && !access(out, X_OK);
}

// The program's own ptxas, or the user's, is the one that gpurace-ptxas calls.
static bool instead_of(char out[PATH_MAX], const char *variable) {
    const char *before = getenv(variable);
    if (!own_ptxas(out))
        return false;
    if (before && *before && strcmp(before, out) != 0)
        setenv("GPURACE_PTXAS", before, 0);
    return true;
}

static bool value_of(const Setting *s, char out[PATH_MAX]) {
    switch (s->kind) {
    case KEPT: return kept_folder(out, s->value);
    case FRESH: return make_fresh() && join(out, fresh, s->value);
    case PTXAS: return instead_of(out, s->variable);
    case STAND_IN: return own_ptxas(out);
    case WORD:
    case CPU: break;
    }
    snprintf(out, PATH_MAX, "%s", s->value);
    return true;
}

gr_status gr_compilers_set_up(bool on_gpu, gr_error *err) {
    char value[PATH_MAX];
    for (size_t k = 0; k < sizeof settings / sizeof *settings; k++) {
        const Setting *s = &settings[k];
        if (!(on_gpu && s->kind == CPU) && value_of(s, value) && setenv(s->variable, value, 1))
            return gr_no_memory(err);
    }
    return GR_OK;
}

void gr_compilers_clean_up(void) {
    if (fresh[0])
        (void)gr_own_remove_folder(fresh, NULL);
    fresh[0] = 0;
}
