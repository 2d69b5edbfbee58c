// SPDX-License-Identifier: Apache-2.0
// growth — how many races a campaign knew after how many runs, as a drawing.
//
// SVG that stands alone as a file and inside a page of HTML: light and dark, no scripts. One line is for all runs. Each
// combination of engine and schedule has a line, too: what it alone would have found in as many runs. Runs come by
// number, so interruptions of the campaign do not change the drawing.
#ifndef GR_CAMPAIGN_GROWTH_H
#define GR_CAMPAIGN_GROWTH_H

#include "base/str.h"
#include "campaign/known.h"

// Draws the runs that are done. GR_ERR_NOMEM only.
gr_status gr_growth_svg(const GrKnown *k, StrBuf *out, gr_error *err);

#endif
