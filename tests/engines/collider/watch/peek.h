// SPDX-License-Identifier: Apache-2.0
// peek — what tests look up in a Watch.
#ifndef GR_TESTS_WATCH_PEEK_H
#define GR_TESTS_WATCH_PEEK_H

#include "engines/collider/watch/watch_internal.h"

// Windows that are open: copies and operations included.
static inline uint64_t peek_open(const Watch *w) { return w->n_open + w->copies.len; }

#endif
