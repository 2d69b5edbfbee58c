// SPDX-License-Identifier: Apache-2.0
// replay — catches in replays (`--attribute`) the other sides of races of which a value-based engine saw one side.
//
// A report is built from the first run. Its races that have one side are the targets of a replay. The results of the
// replay tell which threads met there (GR_SEEN_BY_MEETING). A meeting is given to the race at the same place in the
// source.
#ifndef GR_REPORT_REPLAY_H
#define GR_REPORT_REPLAY_H

#include "report/report.h"

// Appends the sites of races without another side, as they stand in the environment of a replay: "9f3c….12 9f3c….14".
// `view` is of the run that `r` was built from. Returns how many races these are.
size_t gr_replay_targets(const GrReport *r, const GrResultsView *view, StrBuf *out);

// Takes the meetings of replay `number` into the races of `r`, which lives on without `view`.
gr_status gr_replay_take(GrReport *r, const GrResultsView *view, unsigned number, uint64_t seed,
                         gr_error *err);

#endif
