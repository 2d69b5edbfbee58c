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

static uint64_t mark_known(GrRaceVec *races, const Map *ids, const Map *line_ids) {
    uint64_t known = 0;
    for (size_t k = 0; k < races->len; k++) {
        GrRace *race = &races->data[k];
        race->known = gr_map_get(ids, race->id) || gr_map_get(line_ids, race->line_id);
        known += race->known;
    }
    return known;
}

gr_status gr_report_compare(GrReport *r, const GrReport *base, const char *name, gr_error *err) {
    Map ids = {0}, line_ids = {0}, mine = {0}, my_lines = {0};
    bool ok = add_names(&ids, &line_ids, &base->races) && add_names(&ids, &line_ids, &base->misuses) &&
              add_names(&mine, &my_lines, &r->races) && add_names(&mine, &my_lines, &r->misuses);
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
                r->baseline.gone +=
                    !gr_map_get(&mine, theirs.data[k].id) && !gr_map_get(&my_lines, theirs.data[k].line_id);
        }
        gr_report_order(r);
    }
    gr_map_free(&ids);
    gr_map_free(&line_ids);
    gr_map_free(&mine);
    gr_map_free(&my_lines);
    return ok ? GR_OK : gr_no_memory(err);
}
