// SPDX-License-Identifier: Apache-2.0
// attach — a results file is looked at and joined at once.
#ifndef GR_TESTS_FINDINGS_ATTACH_H
#define GR_TESTS_FINDINGS_ATTACH_H

#include "findings/results.h"

static inline gr_status attach(const char *path, GrResults *out, gr_error *err) {
    gr_status st = gr_results_look(path, out, err);
    if (st == GR_OK)
        gr_results_join(out);
    return st;
}

#endif
