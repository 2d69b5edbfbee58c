// SPDX-License-Identifier: Apache-2.0
// misuse_record — synchronization that is wrong in itself (vm/misuse.def), as a record of the results file
// (GR_RECORD_MISUSE), written when a place first shows it. Its count is a 64-bit word in an area, and goes on.
#ifndef GR_FINDINGS_MISUSE_RECORD_H
#define GR_FINDINGS_MISUSE_RECORD_H

#include "base/arena.h"
#include "findings/module_record.h"
#include "findings/reader.h"

enum { GR_MISUSE_FRAMES = 32 };

typedef struct GrMisuseInfo {
    uint32_t class;              // GrClass.number
    const char *kernel, *detail; // "": not known
    GrFrame at;
    const GrFrame *inlined; // where `at` was inlined, innermost first
    uint32_t n_inlined, ptx_line;
    uint32_t thread[3], block[3];
    uint64_t launch, count_at;
} GrMisuseInfo;

void gr_misuse_write(const GrMisuseInfo *m, StrBuf *out);

// Texts live in `arena`. GR_ERR_FORMAT when the payload makes no sense.
gr_status gr_misuse_read(const GrRecord *rec, Arena *arena, GrMisuseInfo *out, gr_error *err);

#endif
