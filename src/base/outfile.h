// SPDX-License-Identifier: Apache-2.0
// outfile — a file that is written piece by piece and appears as a whole. own.h decides whether gpurace may write it.
//
// The pieces go to a new temporary file beside the target, which replaces it when all are written: no reader, and no
// kill -9, meets half a file. The target's mode and owner stay. A link stays: the file at its end is replaced. If a
// file has several names (hard links), only this name gets the new text. Written in place: what is no ordinary file (a
// device, a pipe), a link to nothing, an ordinary file in a folder that takes no new names. A file that is open as
// standard output or standard error, or named as a descriptor (/dev/fd/3), is written where the descriptor stands, like
// all that this process prints.
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
