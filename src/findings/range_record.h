// SPDX-License-Identifier: Apache-2.0
// range_record — memory that came and went, as records of the results file (GR_RECORD_CAME, GR_RECORD_WENT), so that a
// report can say what an address is part of.
#ifndef GR_FINDINGS_RANGE_RECORD_H
#define GR_FINDINGS_RANGE_RECORD_H

#include "base/arena.h"
#include "findings/reader.h"

// Wrappers may stand between the program and CUDA.
enum { GR_RANGE_CALLS = 4 };

typedef struct GrRangeInfo {
    uint64_t at, size;
    uint64_t launch;  // how many launches there had been
    const char *kind; // "device", "managed", …: of a variable "variable". "": it went
    const char *name; // of a variable; else ""
    // The calls on the host that asked for it, the innermost first: the file that holds the instruction, its address
    // there, and the function. "": not known, or there are no more.
    struct GrRangeCall {
        const char *object, *symbol;
        uint64_t pc;
    } calls[GR_RANGE_CALLS];
} GrRangeInfo;

void gr_range_write(const GrRangeInfo *r, StrBuf *out);
// GR_ERR_NOMEM, or GR_ERR_FORMAT: it is cut short.
gr_status gr_range_read(const GrRecord *rec, Arena *arena, GrRangeInfo *out, gr_error *err);

#endif
