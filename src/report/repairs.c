// SPDX-License-Identifier: Apache-2.0
// repairs — what a report proposes for its races: the first proposal of each, as a text.
#include "repair/propose.h"
#include "report/report_internal.h"

#include <string.h>

// A proposal is a few lines; one of endless lines is none.
enum { LONGEST = 4000 };

static gr_status propose(GrReport *r, GrRepairs *repairs, GrRace *race, gr_error *err) {
    GrProposal all[GR_REPAIR_PROPOSALS];
    const GrRace *pair = gr_race_pair(race);
    StrBuf hunks = {0};
    const GrFinding *found = pair ? &pair->found : NULL;
    if (!pair || !gr_repair_propose(repairs, &found, 1, all))
        return GR_OK;
    gr_repair_hunks(&all[0], &hunks);
    GrRepair *repair = GR_NEW(&r->arena, GrRepair);
    char *copy = hunks.oom ? NULL : gr_arena_strdup(&r->arena, hunks.data);
    bool ok = repair && copy;
    if (ok && hunks.len <= LONGEST) {
        *repair = (GrRepair){all[0].what, all[0].file, copy};
        race->repair = repair;
    }
    gr_str_free(&hunks);
    return ok ? GR_OK : gr_no_memory(err);
}

gr_status gr_report_propose(GrReport *r, gr_error *err) {
    GrRepairs repairs = {.files = {0}};
    gr_status st = GR_OK;
    gr_arena_init(&repairs.arena);
    for (size_t k = 0; k < r->races.len && (!r->max_reports || k < r->max_reports) && st == GR_OK; k++)
        st = propose(r, &repairs, &r->races.data[k], err);
    gr_repairs_free(&repairs);
    return st;
}
