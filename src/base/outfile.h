// SPDX-License-Identifier: Apache-2.0
// outfile — a file that is written piece by piece and appears as a whole. own.h decides whether gpurace may write it.
//
// The pieces go to a new temporary name beside the file, which takes its place when all are written: a reader never sees half of it, and
// neither does a kill -9. What was there keeps its mode and owner. A link stays: the file at its end is the one that is replaced. Of a file
// with several names (hard links) only this name gets the new text. In place are written: what is no ordinary file (a device, a pipe), a link
// to nothing, and an ordinary file in a folder that takes no new names. To what is open as standard output or standard error, or is named
// as a descriptor (/dev/fd/3), is written where the descriptor stands, as anything else that this process prints.
#ifndef GR_BASE_OUTFILE_H
#define GR_BASE_OUTFILE_H

#include "base/str.h"

#include <stdio.h>

typedef struct GrOutFile {
    FILE *f;
    const char *path; // the caller's
    char *target;     // what the rename replaces
    char *temporary;  // NULL: it is written in place
} GrOutFile;

gr_status gr_out_open(GrOutFile *o, const char *path, gr_error *err);
// GR_ERR_IO when it cannot be written (the disk is full): gr_out_drop is then what is left to do.
gr_status gr_out_write(GrOutFile *o, const void *data, size_t len, gr_error *err);
// Puts it in its place. Either way it is closed.
gr_status gr_out_close(GrOutFile *o, gr_error *err);
// Leaves what was at `path` as it was. Nothing happens when it is closed, or was never opened (all zero).
void gr_out_drop(GrOutFile *o);

// Writes a whole file at once.
gr_status gr_file_write(const char *path, const void *data, size_t len, gr_error *err);

// The descriptor of this process that `path` leads to; -1: none.
int gr_out_descriptor(const char *path);

#endif
