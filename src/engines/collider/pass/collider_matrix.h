// SPDX-License-Identifier: Apache-2.0
// collider_matrix — the collider's code around the loads and stores of matrices that a warp performs as one: ldmatrix,
// stmatrix, wmma.load and wmma.store (PTX ISA 9.7.14.4 and 9.7.14.5).
#ifndef GR_ENGINES_COLLIDER_PASS_COLLIDER_MATRIX_H
#define GR_ENGINES_COLLIDER_PASS_COLLIDER_MATRIX_H

#include "engines/collider/pass/collider_access.h"

// Reads the access at `site`, and inserts its checks where the status is GR_SITE_CHECKED. *a has stmt, nested and err.
gr_status gr_collider_ldmatrix(ColliderWork *w, Access *a, GrSiteStatus *status);
gr_status gr_collider_stmatrix(ColliderWork *w, Access *a, GrSiteStatus *status);
gr_status gr_collider_wmma(ColliderWork *w, Access *a, GrSiteStatus *status);

#endif
