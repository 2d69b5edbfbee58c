// SPDX-License-Identifier: Apache-2.0
// own — what gpurace may write to or remove: only what gpurace made.
//
// A file says by itself that gpurace made it: each kind of file has a mark in its text (the table in own.c), so it is
// known after a copy, on another machine, and after a kill -9. A folder for temporary files has a file `.gpurace` that
// names the folder's device and inode: a copy of the folder is not taken for it. Links are followed first; it is the
// file at their end that must be ours.
//
// All that src/ writes to or removes goes through here (tools/check-writers.py holds it to that).
#ifndef GR_BASE_OWN_H
#define GR_BASE_OWN_H

#include "base/outfile.h"

#include <limits.h>

// Marks that others write: the first words of the last line, of the first line, and SQLite's application_id.
#define GR_OWN_PTX_LINE  "// gpurace: "
#define GR_OWN_LOG_LINE  "gpurace campaign: "
#define GR_OWN_SQLITE_ID "gprc"

typedef enum GrOwnKind {
    GR_OWN_REPORT,   // whatever --output writes in one of the formats, of diff and repair too
    GR_OWN_PTX,      // of ptx, fatbin
    GR_OWN_COVERAGE, // --coverage
    GR_OWN_LAUNCHES, // --record-launches
    GR_OWN_RESULTS,  // a campaign's SQLite file
    GR_OWN_DRAWING,  // its growth.svg
    GR_OWN_LOG,      // what one of its runs printed
    GR_OWN_SCRIPT,   // its script for Slurm
    GR_OWN_MANUAL,   // a page of the manual
    GR_OWN_ANSWER,   // one that the verifier keeps
    GR_OWN_CUBIN,    // what ptxas made for gpurace-ptxas: any object file
    GR_OWN_SCRATCH,  // anything in a folder of gr_own_folder, whatever it holds
} GrOwnKind;

// What decides. GR_OK: nothing is there, or it is empty, has the mark of the kind, is a device or a pipe, or is where
// one of this process's descriptors leads (/dev/stdout). Else GR_ERR_ARGUMENT says what is in the way.
gr_status gr_own_check(const char *path, GrOwnKind kind, gr_error *err);
// Whether `path` is a file, not a link, with the mark of the kind. An empty one has none.
bool gr_own_is(const char *path, GrOwnKind kind);

// gr_own_check, then gr_out_open or gr_file_write.
gr_status gr_own_open(GrOutFile *o, const char *path, GrOwnKind kind, gr_error *err);
gr_status gr_own_write(const char *path, GrOwnKind kind, const void *data, size_t len, gr_error *err);
// Whether gr_own_open would do, before the work is done. Leaves nothing behind.
gr_status gr_own_try(const char *path, GrOwnKind kind, gr_error *err);
// Removes it if gr_own_is. False: there is something, and it stays.
bool gr_own_remove(const char *path, GrOwnKind kind);

// Removes a link in a folder of gr_own_folder.
bool gr_own_remove_link(const char *path);

// Makes a folder $TMPDIR/gpurace-WORD-XXXXXX with the mark. `out` is its real path.
gr_status gr_own_folder(char out[PATH_MAX], const char *word, gr_error *err);
// From now on `made` is told of each. One at a time; NULL: none.
void gr_own_tell_folders(void (*made)(const char *folder));
// Whether the real path of `path`, which need not be there, is in such a folder.
bool gr_own_in_folder(const char *path);
// Removes such a folder with all that is in it. Links in it are removed, not followed; what is mounted in it stays.
gr_status gr_own_remove_folder(const char *folder, gr_error *err);

#endif
