// SPDX-License-Identifier: Apache-2.0
// collider_deferred — the collider's code around stores of other shapes: st.async, which is performed later, and
// st.bulk, which clears a range.
#ifndef GR_ENGINES_COLLIDER_PASS_COLLIDER_DEFERRED_H
#define GR_ENGINES_COLLIDER_PASS_COLLIDER_DEFERRED_H

#include "engines/collider/pass/collider_access.h"

// Reads the store at `site`, and inserts its checks where the status is GR_SITE_CHECKED. *a has func, stmt, site,
// nested and err.
gr_status gr_collider_store_async(ColliderWork *w, Access *a, GrSiteStatus *status);
gr_status gr_collider_store_bulk(ColliderWork *w, Access *a, GrSiteStatus *status);

#endif
