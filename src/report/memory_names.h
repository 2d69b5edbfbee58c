// SPDX-License-Identifier: Apache-2.0
// memory_names — which memory an address is part of: what came and went, by process and launch.
#ifndef GR_REPORT_MEMORY_NAMES_H
#define GR_REPORT_MEMORY_NAMES_H

#include "report/host_stacks.h"

typedef struct GrMemoryNames {
    GrReport *report;
    struct GrCame *came; // [n], in the order in which they came
    size_t n;
    GrHostStacks *stacks;
} GrMemoryNames;

// Reads the records. GR_ERR_NOMEM.
gr_status gr_memory_names_read(GrReport *r, const GrResultsView *view, GrHostStacks *stacks,
                               GrMemoryNames *out, gr_error *err);
void gr_memory_names_free(GrMemoryNames *m);

// Says of an access to `space` by this process what memory it is in, if that is certain. False: out of memory.
bool gr_memory_name(GrMemoryNames *m, uint64_t process, const char *space, GrAccess *a);

#endif
