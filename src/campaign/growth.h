// SPDX-License-Identifier: Apache-2.0
// growth — how many races a campaign knew after how many runs, as a drawing.
//
// SVG that stands alone as a file and inside a page of HTML: light and dark, and no scripts. A line each for all runs and, where there are
// several combinations of engine and schedule, for each of those: what it alone would have found in as many runs of its own. Runs come by
// their numbers, so the drawing is the same however often the campaign was interrupted.
#ifndef GR_CAMPAIGN_GROWTH_H
#define GR_CAMPAIGN_GROWTH_H

#include "base/str.h"
#include "campaign/known.h"

// Of the runs that are done. GR_ERR_NOMEM only.
gr_status gr_growth_svg(const GrKnown *k, StrBuf *out, gr_error *err);

#endif
