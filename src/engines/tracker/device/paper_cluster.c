// SPDX-License-Identifier: Apache-2.0
// paper_cluster — paper.c for modules of sm_90 and later, whose blocks may be in clusters.
#define GR_CLUSTERS 1
#include "engines/tracker/device/paper.c"
