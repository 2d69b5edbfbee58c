// SPDX-License-Identifier: Apache-2.0
#include "engines/core/selection.h"

#include "base/demangle.h"
#include "base/path_map.h"
#include "base/regex.h"
#include "engines/core/control.h"
#include "engines/core/place.h"
#include "ptx/reach.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

// A number from 1 on, if one stands there; else `other`.
static uint64_t number_at(const char **p, uint64_t other) {
    char *end;
    if (!isdigit((unsigned char)**p))
        return other;
    uint64_t n = strtoull(*p, &end, 10);
    *p = end;
    return n;
}

gr_status gr_launch_ranges_read(const char *text, GrLaunchRanges *out, gr_error *err) {
    *out = (GrLaunchRanges){0};
    for (const char *p = text; *p;) {
        const char *begin = p;
        struct GrLaunchRange r = {.first = number_at(&p, 1)};
        bool ranges = !strncmp(p, "..", 2), numbered = p > begin;
        p += ranges ? 2 : 0;
        const char *behind = p;
        r.last = ranges ? number_at(&p, UINT64_MAX) : r.first;
        bool good = (numbered || p > behind) && r.first && r.first <= r.last && (!*p || (*p == ',' && p[1]));
        if (good && gr_vec_push(&out->of, r)) {
            p += *p == ',';
            continue;
        }
        gr_vec_free(&out->of);
        return good
                   ? gr_no_memory(err)
                   : gr_fail(err, GR_ERR_ARGUMENT,
                             "--only-launches takes numbers and ranges, such as 40..60 or 3,7,20.., not '%s'",
                             text);
    }
    return GR_OK;
}

bool gr_launch_ranges_have(const GrLaunchRanges *r, uint64_t launch) {
    for (size_t k = 0; k < r->of.len; k++)
        if (launch >= r->of.data[k].first && launch <= r->of.data[k].last)
            return true;
    return !r->of.len;
}

static gr_status compile(const char *option, const char *text, regex_t *regex, bool *is_set, gr_error *err) {
    if (!text[0])
        return GR_OK;
    gr_error why = {0};
    gr_status st = gr_regex_compile(regex, text, &why);
    if (st != GR_OK)
        return gr_fail(err, st, "%s %s: %s", option, text, why.msg);
    *is_set = true;
    return GR_OK;
}

gr_status gr_selection_init(GrSelection *s, const GrOptions *o, gr_error *err) {
    gr_status st;
    *s = (GrSelection){.paths = o->path_map};
    GR_TRY(compile("--kernel", o->kernel, &s->kernel.regex, &s->kernel.is_set, err));
    GR_TRY(compile("--not-kernel", o->not_kernel, &s->not_kernel.regex, &s->not_kernel.is_set, err));
    GR_TRY(compile("--file", o->file, &s->file.regex, &s->file.is_set, err));
    GR_TRY(compile("--not-file", o->not_file, &s->not_file.regex, &s->not_file.is_set, err));
done:
    if (st != GR_OK)
        gr_selection_free(s);
    return st;
}

void gr_selection_free(GrSelection *s) {
    if (s->kernel.is_set)
        regfree(&s->kernel.regex);
    if (s->not_kernel.is_set)
        regfree(&s->not_kernel.regex);
    if (s->file.is_set)
        regfree(&s->file.regex);
    if (s->not_file.is_set)
        regfree(&s->not_file.regex);
    memset(s, 0, sizeof *s);
}

static bool matches(const regex_t *regex, const char *text) { return regexec(regex, text, 0, NULL, 0) == 0; }

const char *gr_selection_excludes_kernel(const GrSelection *s, const char *kernel) {
    if (!gr_selection_has_kernels(s) || gr_control_is(kernel))
        return NULL;
    Arena arena;
    gr_arena_init(&arena);
    const char *spelled = gr_demangle(kernel, &arena), *why = NULL;
    if (s->kernel.is_set && !matches(&s->kernel.regex, kernel) && !matches(&s->kernel.regex, spelled))
        why = "--kernel";
    else if (s->not_kernel.is_set &&
             (matches(&s->not_kernel.regex, kernel) || matches(&s->not_kernel.regex, spelled)))
        why = "--not-kernel";
    gr_arena_free(&arena);
    return why;
}

const char *gr_selection_excludes_file(const GrSelection *s, const char *file) {
    if (s->file.is_set && (!file || !matches(&s->file.regex, file)))
        return "--file";
    if (s->not_file.is_set && file && matches(&s->not_file.regex, file))
        return "--not-file";
    return NULL;
}

bool gr_selection_wants_site(const GrSelection *s, const PtxModule *m, const PtxSite *site) {
    if (!gr_selection_has_files(s) || gr_control_is(site->func->name))
        return true;
    Arena arena;
    gr_arena_init(&arena);
    const char *file = gr_path_mapped(s->paths, gr_place_file(m, site->loc), &arena);
    bool wants = !gr_selection_excludes_file(s, file);
    gr_arena_free(&arena);
    return wants;
}

void gr_selection_mark(const GrSelection *s, const PtxModule *m, bool *marked) {
    // Without words about kernels, functions that no kernel of the module reaches are wanted: other modules may call
    // them.
    for (uint32_t k = 0; k < m->n_funcs; k++)
        if (!gr_selection_has_kernels(s) ||
            (m->funcs[k]->is_entry && !gr_selection_excludes_kernel(s, m->funcs[k]->name)))
            gr_ptx_mark_reachable(m, m->funcs[k], marked);
}
