// SPDX-License-Identifier: Apache-2.0
// site_status — what became of a memory access site when an engine rewrote its module, for the coverage in the verdict.
#ifndef GR_PTX_SITE_STATUS_H
#define GR_PTX_SITE_STATUS_H

#include <stdbool.h>

typedef enum GrSiteStatus {
#define SITE_STATUS(id, text) GR_SITE_##id,
#include "ptx/site_status.def"
#undef SITE_STATUS
    GR_SITE_STATUS_COUNT
} GrSiteStatus;

// The user's options leave the site out.
static inline bool gr_site_is_left_alone(GrSiteStatus status) {
    return status == GR_SITE_FILTERED || status == GR_SITE_SAMPLED_OUT;
}

#endif
