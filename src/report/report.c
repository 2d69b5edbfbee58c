// SPDX-License-Identifier: Apache-2.0
// A report as it is made: findings and texts are added.
#include "base/path_map.h"
#include "report/report_internal.h"
#include "report/suppress.h"

#include <stdlib.h>
#include <string.h>

void gr_report_init(GrReport *r) {
    memset(r, 0, sizeof *r);
    gr_arena_init(&r->arena);
    r->sources = gr_arena_alloc(&r->arena, sizeof *r->sources);
    r->engine = r->evidence = r->device = r->reproduce = r->sample = r->paths = "";
    r->tool = "gpurace " GPURACE_VERSION;
}

void gr_report_free(GrReport *r) {
    gr_vec_free(&r->races);
    gr_vec_free(&r->causes);
    gr_vec_free(&r->possible);
    gr_vec_free(&r->hidden);
    gr_vec_free(&r->conflicts);
    gr_vec_free(&r->faulted);
    gr_vec_free(&r->misuses);
    gr_vec_free(&r->kernels);
    gr_vec_free(&r->functions);
    gr_map_free(&r->misuse_at);
    gr_counted_free(&r->absent);
    gr_vec_free(&r->not_understood);
    gr_counted_free(&r->notes);
    gr_counted_free(&r->doubts);
    gr_counted_free(&r->remarks);
    gr_counted_free(&r->faults);
    gr_counted_free(&r->blind);
    gr_counted_free(&r->reasons);
    gr_vec_free(&r->runs);
    gr_vec_free(&r->classes);
    if (r->owns_rules && r->suppressions)
        gr_suppressions_free(r->suppressions);
    if (r->owns_rules && r->bundled)
        gr_suppressions_free(r->bundled);
    if (r->comments)
        gr_suppressions_free(r->comments);
    if (r->sources)
        gr_sources_free(r->sources);
    gr_arena_free(&r->arena);
}

#define ADD_TEXT(to)                                                                                         \
    va_list words; /* of any length: names of templates are long */                                          \
    va_start(words, fmt);                                                                                    \
    char *copy = gr_arena_vprintf(&r->arena, fmt, words);                                                    \
    va_end(words);                                                                                           \
    return copy && gr_report_count(to, copy) ? GR_OK : GR_ERR_NOMEM

gr_status gr_report_reason(GrReport *r, const char *fmt, ...) { ADD_TEXT(&r->reasons); }
gr_status gr_report_remark(GrReport *r, const char *fmt, ...) { ADD_TEXT(&r->remarks); }

static bool copy_frame(GrReport *r, const GrFrame *f, GrFrame *out) {
    *out = *f;
    out->function = f->function ? gr_arena_strdup(&r->arena, f->function) : NULL;
    out->file = f->file ? gr_arena_strdup(&r->arena, f->file) : NULL;
    bool ok = (out->function || !f->function) && (out->file || !f->file);
    out->file = out->file ? gr_path_mapped(r->paths, out->file, &r->arena) : NULL;
    return ok;
}

gr_status gr_report_possible(GrReport *r, const GrPossible *p) {
    GrPossibleRace race = {.known = false};
    race.pair.text = gr_arena_strdup(&r->arena, p->text);
    race.pair.kernel = gr_arena_strdup(&r->arena, p->kernel);
    bool said = gr_map_get(&r->reasons.at, p->text);
    return race.pair.text && race.pair.kernel && copy_frame(r, &p->sides[0], &race.pair.sides[0]) &&
                   copy_frame(r, &p->sides[1], &race.pair.sides[1]) &&
                   (said || gr_vec_push(&r->possible, race))
               ? gr_report_reason(r, "%s", p->text)
               : GR_ERR_NOMEM;
}

bool gr_possible_by_text(const GrReport *r, Map *out) {
    bool ok = true;
    for (size_t k = 0; ok && k < r->possible.len; k++)
        ok = gr_map_put(out, r->possible.data[k].pair.text, &r->possible.data[k]);
    return ok;
}

gr_status gr_report_blind(GrReport *r, const char *fmt, ...) {
    GR_FORMATTED(text, 400, fmt);
    for (size_t k = 0; k < r->blind.len; k++)
        if (!strcmp(r->blind.data[k].text, text))
            return GR_OK;
    char *copy = gr_arena_strdup(&r->arena, text);
    return copy && gr_report_count(&r->blind, copy) ? GR_OK : GR_ERR_NOMEM;
}

bool gr_report_excludes(const GrReport *r, const char *kernel, const GrAccess *a) {
    const char *file = gr_access_frame(a, a->headline)->file;
    return (kernel && r->excludes_kernel && r->excludes_kernel(r->excludes_user, kernel)) ||
           (r->excludes_file && r->excludes_file(r->excludes_user, file));
}

const GrClass *gr_report_class(const GrReport *r, uint32_t number) {
    static const GrClass unknown = {.name = "?", .meaning = ""};
    if (number >= GR_CLASS_READ && number - GR_CLASS_READ < r->classes.len)
        return &r->classes.data[number - GR_CLASS_READ];
    const GrClass *c = r->find_class ? r->find_class(number) : NULL;
    return c ? c : &unknown;
}

// ---- Findings ----------------------------------------------------------------------------------------------

static void add_place(const GrFrame *f, StrBuf *key) {
    gr_str_addf(key, "\n%s:%u:%u", f->file ? f->file : "", f->line, f->col);
}

// What is the same for misuses that are one: the class, the kernel and the place. Freed by the caller.
static StrBuf misuse_key(const GrFinding *f) {
    StrBuf key = {0};
    const GrAccess *a = &f->accesses[0];
    gr_str_addf(&key, "%u %s", f->class, f->kernel ? f->kernel : "");
    add_place(&a->at, &key);
    if (!a->at.line)
        gr_str_addf(&key, " %u", a->ptx_line);
    for (uint32_t k = 0; k < a->n_inlined; k++)
        add_place(&a->inlined[k], &key);
    return key;
}

static bool add_new_misuse(GrReport *r, const GrFinding *f, const char *key) {
    GrRace misuse = {.found = *f, .number = r->misuses.len, .n_sites = 1};
    char *copy = gr_arena_strdup(&r->arena, key);
    return copy && gr_vec_push(&r->misuses, misuse) &&
           gr_map_put(&r->misuse_at, copy, (void *)r->misuses.len);
}

// Adds a misuse, or counts it: one class at one place, also in another process, is one misuse.
static bool add_misuse(GrReport *r, const GrFinding *f) {
    if (gr_report_excludes(r, f->kernel, &f->accesses[0]))
        return true;
    StrBuf key = misuse_key(f);
    size_t at = key.oom ? 0 : (size_t)gr_map_get(&r->misuse_at, key.data);
    if (at)
        r->misuses.data[at - 1].found.count += f->count;
    bool added = at || (!key.oom && add_new_misuse(r, f, key.data));
    gr_str_free(&key);
    return added;
}

gr_status gr_report_add(GrReport *r, const GrFinding *f, gr_error *err) {
    const GrClass *class = gr_report_class(r, f->class);
    if (!class->number || !f->n_accesses || f->n_accesses > 2)
        return gr_fail(err, GR_ERR_ARGUMENT, "a finding of class %u makes no sense", f->class);
    GrRace race = {.found = *f, .number = r->races.len, .n_sites = 1};
    bool added = class->kind == GR_KIND_MISUSE ? add_misuse(r, f) : gr_vec_push(&r->races, race);
    return added ? GR_OK : gr_no_memory(err);
}
