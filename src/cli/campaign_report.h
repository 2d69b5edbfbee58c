// SPDX-License-Identifier: Apache-2.0
// campaign_report — what a campaign came to: the reports of all its runs as one, where --format and --output want it;
// the drawing of its growth in its folder; the summary on standard error. Of a share, the summary only.
#ifndef GR_CLI_CAMPAIGN_REPORT_H
#define GR_CLI_CAMPAIGN_REPORT_H

#include "campaign/folder.h"
#include "campaign/known.h"
#include "campaign/plan.h"
#include "campaign/summary.h"
#include "cli/baseline_file.h"
#include "options/options.h"

typedef struct GrCampaignReport {
    const GrOptions *options;
    const GrCampaignPlan *plan;
    GrKnown *known; // its races are sorted
    GrCampaignFolder *folder;
    const GrBaselineFile *baseline;
    GrCampaignEnd end;
    bool waits; // others are still at work on it
} GrCampaignReport;

// *status: the exit status that it makes.
gr_status gr_campaign_report(const GrCampaignReport *c, int *status, gr_error *err);

#endif
