// SPDX-License-Identifier: Apache-2.0
// file — every fatbin in a file on disk: host programs, libraries, object files, archives, .fatbin, .cubin, .ptx.
#ifndef GR_FATBIN_FILE_H
#define GR_FATBIN_FILE_H

#include "fatbin/fatbin.h"

typedef struct FatbinPlace {
    Fatbin *fatbin;
    const char *section; // ".nv_fatbin", "__nv_relfatbin"; "" where the file is the container
    const char *member;  // of an archive, NULL otherwise
} FatbinPlace;

typedef struct FatbinFile {
    ImageKind image; // what the file itself is
    FatbinPlace *places;
    size_t count;
    void *priv; // the file's bytes
} FatbinFile;

// Finds the containers in the file at `path`; a .cubin or .ptx file becomes a container of one entry. The result lives
// in `arena`, its payloads until gr_fatbin_close. A file without any is no error (count 0), except that a file which
// is neither ELF, archive, fatbin nor PTX is GR_ERR_FORMAT, as are malformed and truncated containers.
gr_status gr_fatbin_open(const char *path, Arena *arena, FatbinFile *out, gr_error *err);
void gr_fatbin_close(FatbinFile *f);

#endif
