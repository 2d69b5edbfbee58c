// SPDX-License-Identifier: Apache-2.0
// range_record — memory that came and went, as records of the results file (GR_RECORD_CAME, GR_RECORD_WENT), so that a
// report can say what an address is part of.
#ifndef GR_FINDINGS_RANGE_RECORD_H
#define GR_FINDINGS_RANGE_RECORD_H

#include "base/arena.h"
#include "findings/reader.h"

typedef struct GrRangeInfo {
    uint64_t at, size;
    uint64_t launch;  // how many launches there had been
    const char *kind; // "device", "managed", …: of a variable "variable". "": it went
    const char *name; // of a variable; else ""
    uint32_t stack;   // of the call that asked for it (stack_record.h); 0: not known
} GrRangeInfo;

void gr_range_write(const GrRangeInfo *r, StrBuf *out);
// Texts live in `arena`. GR_ERR_FORMAT: it is cut short.
gr_status gr_range_read(const GrRecord *rec, Arena *arena, GrRangeInfo *out, gr_error *err);

#endif
