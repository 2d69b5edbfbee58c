// SPDX-License-Identifier: Apache-2.0
// baseline — which races another report has, too.
#include "report/baseline.h"

#include "base/map.h"
#include "report/report_internal.h"

#include <stdlib.h>

// The names of a report's races: either of the two will do, because lines move, and sources are not always there.
static bool add_names(Map *ids, Map *line_ids, const GrRaceVec *races) {
    bool ok = true;
    for (size_t k = 0; k < races->len && ok; k++)
        ok = gr_map_put(ids, races->data[k].id, &races->data[k]) &&
             gr_map_put(line_ids, races->data[k].line_id, &races->data[k]);
    return ok;
}

static bool is_in(const GrRace *race, const Map *ids, const Map *line_ids) {
    return gr_map_get(ids, race->id) || gr_map_get(line_ids, race->line_id);
}

static uint64_t mark_known(GrRaceVec *races, const Map *ids, const Map *line_ids) {
    uint64_t known = 0;
    for (size_t k = 0; k < races->len; k++) {
        races->data[k].known = is_in(&races->data[k], ids, line_ids);
        known += races->data[k].known;
    }
    return known;
}

// Counts the causes of which the names have all races, and those of which they have none. False: out of memory.
static bool count_causes(const GrReport *r, const Map *ids, const Map *line_ids, uint64_t *all,
                         uint64_t *none) {
    struct Count {
        size_t races, in;
    } *of = calloc(r->causes.len + 1, sizeof *of);
    *all = *none = 0;
    for (size_t k = 0; of && k < r->races.len; k++) {
        struct Count *c = &of[r->races.data[k].cause];
        c->races++;
        c->in += is_in(&r->races.data[k], ids, line_ids);
    }
    for (size_t k = 1; of && k <= r->causes.len; k++) {
        *all += of[k].races && of[k].in == of[k].races;
        *none += of[k].races && !of[k].in;
    }
    bool ok = of;
    free(of);
    return ok;
}

gr_status gr_report_compare(GrReport *r, const GrReport *base, const char *name, gr_error *err) {
    Map ids = {0}, line_ids = {0}, mine = {0}, my_lines = {0}, possible = {0};
    bool ok = add_names(&ids, &line_ids, &base->races) && add_names(&ids, &line_ids, &base->misuses) &&
              add_names(&mine, &my_lines, &r->races) && add_names(&mine, &my_lines, &r->misuses);
    ok = ok && gr_possible_by_text(base, &possible);
    uint64_t kept;
    ok = ok && count_causes(r, &ids, &line_ids, &r->baseline.causes.known, &r->baseline.causes.fresh) &&
         count_causes(base, &mine, &my_lines, &kept, &r->baseline.causes.gone);
    if (ok) {
        // What a report counts only may be anything.
        GrRaceVec theirs = {0};
        r->baseline.name = name;
        r->baseline.known = mark_known(&r->races, &ids, &line_ids) + mark_known(&r->misuses, &ids, &line_ids);
        r->baseline.fresh = r->races.len + r->misuses.len + r->unlisted - r->baseline.known;
        r->baseline.gone = 0;
        for (unsigned v = 0; v < 2; v++) {
            theirs = v ? base->misuses : base->races;
            for (size_t k = 0; k < theirs.len; k++)
                r->baseline.gone += !is_in(&theirs.data[k], &mine, &my_lines);
        }
        for (size_t k = 0; k < r->possible.len; k++)
            r->possible.data[k].known = gr_map_get(&possible, r->possible.data[k].pair.text);
        gr_report_order(r);
    }
    gr_map_free(&ids);
    gr_map_free(&line_ids);
    gr_map_free(&mine);
    gr_map_free(&my_lines);
    gr_map_free(&possible);
    return ok ? GR_OK : gr_no_memory(err);
}
