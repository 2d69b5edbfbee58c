// SPDX-License-Identifier: Apache-2.0
// launches_file — adds up the recorded launches of all processes, a line each.
#include "cli/run/launches_file.h"

#include "base/map.h"
#include "base/own.h"
#include "findings/reader.h"

#include <stdlib.h>
#include <string.h>

typedef struct Launches {
    Arena arena;
    Map counts; // line -> uint64_t
    uint64_t left_out;
} Launches;

gr_status gr_launches_file_try(const char *path, gr_error *err) {
    return gr_own_try(path, GR_OWN_LAUNCHES, err);
}

// A process that was killed may have left a line that it has not counted: it was about to launch that.
static gr_status take(Launches *l, const GrResultsView *view, const GrRecord *r, gr_error *err) {
    GrCursor c = gr_cursor(r);
    const char *line = gr_get_str(&c, &l->arena);
    const uint64_t *count = gr_results_at(view, gr_get_u64(&c), sizeof *count);
    if (c.bad || !line || !count)
        return gr_fail(err, GR_ERR_FORMAT, "the record of a launch is damaged");
    if (!*line) {
        l->left_out += *count;
        return GR_OK;
    }
    uint64_t *all = gr_map_get(&l->counts, line);
    if (!all) {
        all = GR_NEW(&l->arena, uint64_t);
        GR_NEED(all && gr_map_put(&l->counts, line, all), err);
        *all = 0;
    }
    *all += *count;
    return GR_OK;
}

static void add_lines(const Launches *l, StrBuf *out) {
    gr_str_add(out, "{\"format\":\"gpurace launches\",\"version\":1}\n");
    for (size_t k = 0; k < l->counts.len; k++) {
        uint64_t count = *(const uint64_t *)l->counts.entries[k].value;
        if (!count)
            continue;
        gr_str_add(out, l->counts.entries[k].str);
        gr_str_addf(out, ",\"count\":%llu}\n", (unsigned long long)count);
    }
    if (l->left_out)
        gr_str_addf(out, "{\"left_out\":%llu}\n", (unsigned long long)l->left_out);
}

gr_status gr_launches_file_write(const char *results, const char *path, gr_error *err) {
    GrResultsView view;
    StrBuf out = {0};
    Launches l = {.left_out = 0};
    gr_status st = gr_results_open(results, &view, err);
    if (st != GR_OK)
        return st;
    gr_arena_init(&l.arena);
    for (size_t k = 0; k < view.records.len && st == GR_OK; k++)
        if (view.records.data[k].kind == GR_RECORD_LAUNCH)
            st = take(&l, &view, &view.records.data[k], err);
    if (st == GR_OK) {
        add_lines(&l, &out);
        st = out.oom ? gr_no_memory(err) : gr_own_write(path, GR_OWN_LAUNCHES, out.data, out.len, err);
    }
    gr_str_free(&out);
    gr_map_free(&l.counts);
    gr_arena_free(&l.arena);
    gr_results_close(&view);
    return st;
}
