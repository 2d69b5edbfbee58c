// SPDX-License-Identifier: Apache-2.0
// coverage_list — what the lists of `gpurace coverage` share: how an access is shown, and the list of conflicts.
#ifndef GR_CLI_COVERAGE_LIST_H
#define GR_CLI_COVERAGE_LIST_H

#include "coverage/coverage.h"

#include <jansson.h>

// Compares by place, kind and size; copies of one access are equal.
int gr_covered_compare(const GrCoveredSite *a, const GrCoveredSite *b);
// "FILE:LINE:COLUMN: store of 4 bytes in f(int*)", to standard output.
void gr_covered_print(const GrCoveredFunction *f, const GrCoveredSite *s, Arena *arena);
json_t *gr_covered_text(const char *s); // or null

// Prints conflicts that never overlapped, one for all copies of two lines, and how many others. False: out of memory.
bool gr_coverage_print_conflicts(const GrCoverage *c, Arena *arena);
// Those conflicts, without merging copies.
json_t *gr_coverage_conflicts_json(const GrCoverage *c, Arena *arena);

#endif
