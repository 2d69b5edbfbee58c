// SPDX-License-Identifier: Apache-2.0
#include "engines/privatizer/targets.h"

#include "base/demangle.h"
#include "base/regex.h"
#include "passes/named.h"

#include <stdlib.h>

gr_status gr_targets_init(Targets *t, const char *regex, gr_error *err) {
    gr_error why = {0};
    t->is_set = false;
    if (!regex[0])
        return GR_OK;
    gr_status st = gr_regex_compile(&t->regex, regex, &why);
    if (st != GR_OK)
        return gr_fail(err, st, "--variable %s: %s", regex, why.msg);
    t->is_set = true;
    return GR_OK;
}

void gr_targets_free(Targets *t) {
    if (t->is_set)
        regfree(&t->regex);
    t->is_set = false;
}

bool gr_targets_want(const Targets *t, const char *variable) {
    if (!t->is_set || !variable)
        return !t->is_set;
    Arena arena;
    gr_arena_init(&arena);
    const char *spelled = gr_demangle(variable, &arena);
    bool wants = regexec(&t->regex, variable, 0, NULL, 0) == 0 ||
                 (spelled && regexec(&t->regex, spelled, 0, NULL, 0) == 0);
    gr_arena_free(&arena);
    return wants;
}

bool gr_targets_match(const Targets *t, const PtxModule *m) {
    for (uint32_t k = 0; t->is_set && k < m->n_vars; k++)
        if (gr_targets_want(t, m->vars[k]->name))
            return true;
    return !t->is_set;
}

uint8_t *gr_targets_of_sites(const Targets *t, const PtxModule *m) {
    uint8_t *out = calloc((size_t)m->n_sites + 1, 1);
    Arena arena;
    Named names = {0};
    bool ok = out != NULL;
    gr_arena_init(&arena);
    for (uint32_t k = 1; t->is_set && ok && k <= m->n_sites; k++) {
        const PtxSite *site = &m->sites[k];
        if (names.f != site->func) { // a function's sites follow one another
            gr_arena_rewind(&arena);
            ok = gr_named_index(site->func, &arena, &names);
        }
        const PtxVar *v = ok ? gr_named_at(&names, site->stmt).variable : NULL;
        if (v)
            out[k] = gr_targets_want(t, v->name) ? TARGET_WANTED : TARGET_OTHER;
    }
    gr_arena_free(&arena);
    if (ok)
        return out;
    free(out);
    return NULL;
}
