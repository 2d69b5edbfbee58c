// SPDX-License-Identifier: Apache-2.0
// host_stacks — from where the program called CUDA: its call stacks (findings/stack_record.h) as source lines. A stack
// is looked up when a finding needs it, as that starts a program.
#ifndef GR_REPORT_HOST_STACKS_H
#define GR_REPORT_HOST_STACKS_H

#include "report/report_internal.h"

typedef struct GrHostStacks {
    GrReport *report;
    const GrResultsView *view;
    Map records; // process and number -> 1 + the record's place
    Map made;    // process and number -> GrStack
    bool nomem;
} GrHostStacks;

// Finds the records. GR_ERR_NOMEM.
gr_status gr_host_stacks_read(GrReport *r, const GrResultsView *view, GrHostStacks *out, gr_error *err);
void gr_host_stacks_free(GrHostStacks *s);

// The frames of the program's own, as far out as main. NULL: not known, or memory is out (`nomem`). In the report's
// arena.
const GrStack *gr_host_stack(GrHostStacks *s, uint64_t process, uint32_t number);

// Without the function that nvcc makes of a kernel, which is the innermost of its launch.
const GrStack *gr_host_stack_of_launch(GrHostStacks *s, uint64_t process, uint32_t number,
                                       const char *kernel);

#endif
