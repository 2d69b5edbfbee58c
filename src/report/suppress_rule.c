// SPDX-License-Identifier: Apache-2.0
// The rule that hides one race.
#include "findings/headline.h"
#include "report/report_internal.h"
#include "report/suppress.h"

#include <string.h>

// The end of the path, which tells the file on any machine: its folder's name and its own. NULL: no rule can have it.
static const char *end_of(const char *path) {
    if (!path || path[strcspn(path, " \t\n<,")])
        return NULL;
    if (gr_is_toolkit_file(path))
        return gr_toolkit_name(path);
    const char *at = strrchr(path, '/');
    while (at && at > path && at[-1] != '/')
        at--;
    return at ? at : path;
}

// The innermost place, and where the user meets it. False: it has none that a rule could name.
static bool add_place(const GrAccess *a, StrBuf *out) {
    const char *file = end_of(a->at.file);
    const GrFrame *headline = gr_access_frame(a, a->headline);
    if (!file || !a->at.line)
        return false;
    gr_str_addf(out, "%s:%u", file, a->at.line);
    file = end_of(headline->file);
    if (a->headline && file && headline->line)
        gr_str_addf(out, "<%s:%u", file, headline->line);
    return true;
}

void gr_race_rule(const GrRace *race, StrBuf *out) {
    const GrRace *pair = race->watched ? race->watched : race->found.n_accesses > 1 ? race : race->witness;
    StrBuf rule = {0};
    Arena arena;
    if (pair && add_place(&pair->found.accesses[0], &rule)) {
        gr_str_addc(&rule, ' ');
        if (add_place(&pair->found.accesses[1], &rule)) {
            gr_str_addf(out, "pair:%s", rule.data);
            out->oom |= rule.oom;
            gr_str_free(&rule);
            return;
        }
    }
    gr_str_free(&rule);
    // One side by its function, up to its arguments.
    gr_arena_init(&arena);
    const GrAccess *a = &race->found.accesses[0];
    const GrFrame *f = gr_access_frame(a, a->headline);
    const char *name = gr_demangle(f->function ? f->function : race->found.kernel, &arena);
    if (name)
        gr_str_addf(out, "race:%.*s", (int)strcspn(name, "(<\n"), name);
    else if (end_of(f->file))
        gr_str_addf(out, "file:%s$", end_of(f->file));
    else
        gr_str_addf(out, "module:%s", race->found.module ? race->found.module : "*");
    gr_arena_free(&arena);
}
