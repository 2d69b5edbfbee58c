// SPDX-License-Identifier: Apache-2.0
// collider_tensor — the collider's code around loads and stores of tensor memory: tcgen05.ld and tcgen05.st (PTX ISA
// 9.7.16.8).
#ifndef GR_ENGINES_COLLIDER_PASS_COLLIDER_TENSOR_H
#define GR_ENGINES_COLLIDER_PASS_COLLIDER_TENSOR_H

#include "engines/collider/pass/collider_access.h"

// Reads the access at `site`, and inserts its checks where the status is GR_SITE_CHECKED. *a has func, stmt, site,
// nested and err.
gr_status gr_collider_tensor(ColliderWork *w, Access *a, GrSiteStatus *status);

#endif
