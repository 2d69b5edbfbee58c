// SPDX-License-Identifier: Apache-2.0
// applies — which options of a run had no effect, as their rows say where they have one (options.def, applies.def).
#include "options/options.h"

#include <string.h>

const char *gr_options_schedule(const GrOptions *o) {
    if (strcmp(o->schedule, "auto"))
        return o->schedule;
    // What listens to every access sees a race however far apart its sides are.
    return o->caps & CAP_WINDOWS ? "directed" : "default";
}

uint64_t gr_options_threads(const GrOptions *o) {
    unsigned needs = OPT_ON_CPU | OPT_ON_UNHEARD | OPT_ON_UNORDERED | OPT_ON_PLAIN | OPT_ON_STOPS;
    return gr_options_misses(o, needs) ? 1 : o->jobs;
}

bool gr_options_pass_strays(const GrOptions *o) {
    return !strcmp(o->on_fault, "continue") && !gr_options_misses(o, OPT_ON_PASSES | OPT_ON_CHOSEN);
}

bool gr_options_uses(const GrOptions *o, const char *name) {
    size_t n = strlen(name);
    for (const char *p = o->engine; p; p = strchr(p, '+') ? strchr(p, '+') + 1 : NULL)
        if (!strncmp(p, name, n) && (!p[n] || p[n] == '+'))
            return true;
    return false;
}

const char *gr_options_misses(const GrOptions *o, unsigned needs) {
#define APPLIES(id, where, condition, why)                                                                   \
    if ((needs & OPT_ON_##id) && !(condition))                                                               \
        return why;
#include "options/applies.def"
#undef APPLIES
    return NULL;
}
