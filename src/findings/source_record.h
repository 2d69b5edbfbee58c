// SPDX-License-Identifier: Apache-2.0
// source_record — a source that was compiled from memory, as a record of the results file (GR_RECORD_SOURCE).
#ifndef GR_FINDINGS_SOURCE_RECORD_H
#define GR_FINDINGS_SOURCE_RECORD_H

#include "base/arena.h"
#include "findings/reader.h"

typedef struct GrSourceInfo {
    const char *path, *text; // path: as line information names it; the file need not be there
} GrSourceInfo;

void gr_source_write(const GrSourceInfo *s, StrBuf *out);
// Texts live in `arena`. GR_ERR_FORMAT: it is cut short.
gr_status gr_source_read(const GrRecord *rec, Arena *arena, GrSourceInfo *out, gr_error *err);

#endif
