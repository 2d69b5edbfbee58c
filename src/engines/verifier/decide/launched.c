// SPDX-License-Identifier: Apache-2.0
// launched — matches the kernels of the files with the launches of a run.
#include "engines/verifier/decide/launched.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_NAMES = 12 }; // in one sentence

gr_status gr_launched_read(GrLaunched *l, GrTerms *t, const char *path, gr_error *err) {
    *l = (GrLaunched){.found = {0}};
    gr_arena_init(&l->names);
    return gr_recorded_read(t, path, &l->host, err);
}

void gr_launched_free(GrLaunched *l) {
    gr_host_free(&l->host);
    gr_map_free(&l->found);
    gr_map_free(&l->without);
    gr_arena_free(&l->names);
}

gr_status gr_launched_has(GrLaunched *l, const char *kernel, bool *yes, gr_error *err) {
    GrHostLaunch *of = NULL;
    for (size_t k = 0; k < l->host.launches.len && !of; k++)
        if (!strcmp(l->host.launches.data[k]->kernel, kernel))
            of = l->host.launches.data[k];
    *yes = of;
    char *name = gr_arena_strdup(&l->names, kernel);
    bool ok = name && (of ? gr_map_put(&l->found, name, of) : gr_map_put(&l->without, name, name));
    return ok ? GR_OK : gr_no_memory(err);
}

const char *gr_launched_misfit(const PtxFunc *f, const GrHostLaunch *l) {
    static const char *const other =
        "the launch passes other parameters than the kernel takes: it is of another "
        "version of the kernel";
    if (!l || !l->recorded || !l->arguments_known)
        return NULL;
    if (l->param_bytes.len != f->n_params)
        return other;
    for (uint32_t k = 0; k < f->n_params; k++)
        if (l->param_bytes.data[k] != f->params[k]->size)
            return other;
    return NULL;
}

// ---- What is said ---------------------------------------------------------------------------------------------------

static void add_names(const Map *names, StrBuf *out) {
    size_t n = 0;
    for (size_t k = 0; k < names->len; k++, n++)
        if (n < MOST_NAMES)
            gr_str_addf(out, "%s%s", n ? ", " : "", names->entries[k].str);
    if (n > MOST_NAMES)
        gr_str_addf(out, ", and %zu more", n - MOST_NAMES);
}

static gr_status say(gr_status (*how)(void *user, const char *text), void *user, StrBuf *text) {
    gr_status st = text->oom ? GR_ERR_NOMEM : how(user, text->data);
    gr_str_free(text);
    return st;
}

// A kernel without a launch does not weaken the verdict, as in a run; but a verdict on nothing at all is none.
static gr_status tell_without(const GrLaunched *l, const char *path, const GrStaticSink *to) {
    StrBuf text = {0};
    if (!l->without.len)
        return GR_OK;
    gr_str_addf(&text, "not decided: %s has no launch of ", path);
    add_names(&l->without, &text);
    return say(l->found.len ? to->remark : to->reason, to->user, &text);
}

// Launches of kernels that none of the files has.
static gr_status tell_strange(const GrLaunched *l, const char *path, const GrStaticSink *to) {
    StrBuf text = {0};
    Map strange = {0};
    gr_status st = GR_OK;
    for (size_t k = 0; k < l->host.launches.len && st == GR_OK; k++) {
        const GrHostLaunch *x = l->host.launches.data[k];
        if (!gr_map_get(&l->found, x->kernel) && !gr_map_put(&strange, x->kernel, (void *)(uintptr_t)x))
            st = GR_ERR_NOMEM;
    }
    if (st == GR_OK && strange.len) {
        gr_str_addf(&text,
                    "not decided: the files do not have these kernels, of which %s has launches: ", path);
        add_names(&strange, &text);
        st = say(to->reason, to->user, &text);
    }
    gr_map_free(&strange);
    return st;
}

gr_status gr_launched_tell(const GrLaunched *l, const char *path, const GrStaticSink *to, gr_error *err) {
    StrBuf text = {0};
    size_t n = 0;
    gr_status st = GR_OK;
    for (size_t k = 0; k < l->host.launches.len; k++)
        n += gr_map_get(&l->found, l->host.launches.data[k]->kernel) != NULL;
    for (size_t k = 0; k < l->host.reasons.len; k++)
        GR_TRY(to->reason(to->user, l->host.reasons.data[k]));
    GR_TRY(tell_without(l, path, to));
    GR_TRY(tell_strange(l, path, to));
    gr_str_addf(
        &text,
        "this is for the recorded launches only: %zu launches of %zu kernels in %s. Other launches of these "
        "kernels may race",
        n, l->found.len, path);
    GR_TRY(say(to->remark, to->user, &text));
done:
    return st == GR_ERR_NOMEM ? gr_fail(err, st, "out of memory") : st;
}
