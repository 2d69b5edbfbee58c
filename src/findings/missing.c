// SPDX-License-Identifier: Apache-2.0
#include "findings/missing.h"

#include <string.h>

static const char *const orders[] = {[GR_WIDTH_LANES] = MISSING_LANES,
                                     [GR_WIDTH_WARPS] = MISSING_WARPS,
                                     [GR_WIDTH_CLUSTER] = MISSING_CLUSTER,
                                     [GR_WIDTH_BLOCKS] = MISSING_BLOCKS,
                                     [GR_WIDTH_LAUNCHES] = MISSING_LAUNCHES};

GrWidth gr_missing_width(const char *order) {
    for (unsigned k = GR_WIDTH_LANES; order && k <= GR_WIDTH_LAUNCHES; k++)
        if (!strncmp(order, orders[k], strlen(orders[k])))
            return (GrWidth)k;
    return GR_WIDTH_NONE;
}
