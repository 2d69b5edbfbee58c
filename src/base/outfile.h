// SPDX-License-Identifier: Apache-2.0
// outfile — a file that is written piece by piece and appears as a whole.
//
// The pieces go to a temporary name beside `path`, which takes its place when all are written: a reader never sees half of it. What is
// there and is no ordinary file (a device, a pipe) is written to, and so is an ordinary one in a folder that takes no new names.
#ifndef GR_BASE_OUTFILE_H
#define GR_BASE_OUTFILE_H

#include "base/str.h"

#include <stdio.h>

typedef struct GrOutFile {
    FILE *f;
    const char *path; // the caller's
    char *temporary;  // NULL: it is written in place
} GrOutFile;

gr_status gr_out_open(GrOutFile *o, const char *path, gr_error *err);
// GR_ERR_IO when it cannot be written (the disk is full): gr_out_drop is then what is left to do.
gr_status gr_out_write(GrOutFile *o, const void *data, size_t len, gr_error *err);
// Puts it in its place. Either way it is closed.
gr_status gr_out_close(GrOutFile *o, gr_error *err);
// Leaves what was at `path` as it was. Nothing happens when it is closed, or was never opened (all zero).
void gr_out_drop(GrOutFile *o);

#endif
