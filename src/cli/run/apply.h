// SPDX-License-Identifier: Apache-2.0
// apply — edits that were confirmed, all together: as a patch, or made in the user's own files when the user asks.
#ifndef GR_CLI_RUN_APPLY_H
#define GR_CLI_RUN_APPLY_H

#include "cli/run/trial.h"

// The value of --apply that edits the user's own files.
#define GR_APPLY_IN_PLACE "in-place"

// Edits of several proposals, one GrProposal a file. Zeroed, then gr_applied_free.
typedef struct GrApplied {
    VEC(GrProposal) files;
} GrApplied;

// Adds the edits. False: they cannot be made beside those that are there (or memory is out), and none is added.
bool gr_applied_add(GrApplied *a, const GrProposal *p);
void gr_applied_free(GrApplied *a);

// Writes them to `to`: a patch file whose paths are relative to the folder, or GR_APPLY_IN_PLACE. Then each file must
// be in the folder by its real path, and be as it was copied; else none is edited. GR_ERR_ARGUMENT says which is not.
gr_status gr_applied_write(const GrApplied *a, const GrTrial *t, const char *to, gr_error *err);

#endif
