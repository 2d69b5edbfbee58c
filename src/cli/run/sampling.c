// SPDX-License-Identifier: Apache-2.0
#include "cli/run/sampling.h"

#include "aim/aim.h"
#include "coverage/aims.h"
#include "coverage/coverage.h"
#include "passes/sample.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_LISTED = 32 };

static gr_status find_file(GrOptions *o, gr_error *err) {
    char path[PATH_MAX], folder[PATH_MAX];
    if (!realpath(o->coverage, path)) {
        // Not there yet: its folder has to be.
        const char *slash = strrchr(o->coverage, '/'), *name = slash ? slash + 1 : o->coverage;
        size_t n = slash ? (size_t)(slash - o->coverage) + 1 : 0;
        snprintf(folder, sizeof folder, "%.*s", n ? (int)n : 1, n ? o->coverage : ".");
        if (errno != ENOENT || !*name || !realpath(folder, path) ||
            strlen(path) + strlen(name) + 2 > sizeof path)
            return gr_fail(err, GR_ERR_IO, "the coverage file %s cannot be created: %s", o->coverage,
                           strerror(errno));
        strcat(path, "/");
        strcat(path, name);
    }
    // The file is written anew beside itself and renamed.
    snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(path, '/') - path) + 1, path);
    if (access(folder, W_OK) || (!access(path, F_OK) && access(path, W_OK)))
        return gr_fail(err, GR_ERR_IO, "the coverage file %s cannot be written: %s", o->coverage,
                       strerror(errno));
    o->coverage = gr_arena_strdup(&o->arena, path);
    return o->coverage ? GR_OK : gr_no_memory(err);
}

gr_status gr_sampling_check(GrOptions *o, gr_error *err) {
    SampleSpec sample; // the engine reads it again
    gr_status st = gr_sample_parse(o->sample, &sample, err);
    gr_sample_free(&sample);
    if (st == GR_OK)
        st = gr_aim_check(o->aim, err);
    if (st != GR_OK || !o->coverage[0])
        return st;
    GrCoverage coverage;
    gr_coverage_init(&coverage);
    GR_TRY(gr_coverage_read(o->coverage, &coverage, err));
    GR_TRY(find_file(o, err));
done:
    gr_coverage_free(&coverage);
    return st;
}

gr_status gr_sampling_aim(GrOptions *o, gr_error *err) {
    if (o->aim[0] || !o->coverage[0] || gr_options_misses(o, GR_AIM_NEEDS))
        return GR_OK;
    StrBuf aim = {0};
    GrCoverage coverage;
    gr_coverage_init(&coverage);
    gr_status st;
    GR_TRY(gr_coverage_read(o->coverage, &coverage, err));
    GR_TRY(gr_aims_choose(&coverage, o->seed, &aim, err));
    o->aim = aim.len ? gr_arena_strdup(&o->arena, aim.data) : "";
    if (!o->aim)
        st = gr_no_memory(err);
done:
    gr_str_free(&aim);
    gr_coverage_free(&coverage);
    return st;
}

bool gr_sampling_again(const GrReport *r, StrBuf *out) {
    unsigned n = 0;
    for (size_t i = 0; i < r->functions.len; i++) {
        const GrFunctionCoverage *f = &r->functions.data[i];
        for (uint32_t s = 0; s < f->n_sites; s++) {
            if (f->sites[s].status != GR_SITE_CHECKED)
                continue;
            if (n++ == MOST_LISTED)
                return false;
            gr_str_add(out, out->len ? "," : "");
            gr_sample_name((SampleSite){f->id, s + 1}, out);
        }
    }
    return n && !out->oom;
}
