// SPDX-License-Identifier: Apache-2.0
// summary — what a campaign came to, as text: races, with the runs that saw them first, and runs that failed, by name.
#ifndef GR_CAMPAIGN_SUMMARY_H
#define GR_CAMPAIGN_SUMMARY_H

#include "base/str.h"
#include "campaign/known.h"

typedef enum GrCampaignVerdict {
    GR_CAMPAIGN_CLEAN,
    GR_CAMPAIGN_RACES,
    GR_CAMPAIGN_INCONCLUSIVE
} GrCampaignVerdict;

typedef struct GrCampaignEnd {
    uint64_t stop_after; // the campaign ended because so many runs saw nothing new; 0: it did not
    bool partial;        // not all runs were to be done here: what is open is no reason
} GrCampaignEnd;

GrCampaignVerdict gr_campaign_verdict(const GrKnown *k, const GrCampaignEnd *end);
// Whether what the campaign was made for came to nothing: no run left a report, or a report is void (GrReport.is_void).
bool gr_campaign_is_void(const GrKnown *k);
// The status of the first run, by number, that did not end with 0; 0: all did. A run that raced has no known status.
int gr_campaign_status(const GrKnown *k);
// Changes the order of the races of `k` (gr_known_sort). GR_ERR_NOMEM only.
gr_status gr_campaign_summary(GrKnown *k, const GrCampaignEnd *end, StrBuf *out, gr_error *err);

#endif
