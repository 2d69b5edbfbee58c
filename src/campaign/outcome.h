// SPDX-License-Identifier: Apache-2.0
// outcome — what a run's report says of it, as far as a campaign keeps that apart.
#ifndef GR_CAMPAIGN_OUTCOME_H
#define GR_CAMPAIGN_OUTCOME_H

#include "base/arena.h"
#include "campaign/store.h"

// Fills verdict, report, reasons and races; texts are in `arena`, the caller frees both vectors. Without a file, and
// with one that is no report, the run failed.
gr_status gr_outcome_read(const char *path, Arena *arena, GrCampaignOutcome *o, gr_error *err);

#endif
