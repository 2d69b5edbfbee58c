// SPDX-License-Identifier: Apache-2.0
// strict — what --strict makes of a report that is neither clean nor fails by its races.
#ifndef GR_CLI_STRICT_H
#define GR_CLI_STRICT_H

#include "options/exits.h"
#include "report/baseline.h"

#include <string.h>

// Whether the exit status is EXIT_INCONCLUSIVE. `open`: there are reasons; `is_void`: one of them fails by itself.
static inline bool gr_strictly_fails(const char *strict, bool open, bool is_void) {
    return !strcmp(strict, "yes") ? open : !strcmp(strict, "auto") && is_void;
}

// Races that are all known decide nothing: then the reasons beside them do.
static inline bool gr_strictly_fails_report(const char *strict, const GrReport *r) {
    return !gr_report_fails(r) && gr_strictly_fails(strict, r->reasons.len != 0, r->is_void);
}

#endif
