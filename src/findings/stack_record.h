// SPDX-License-Identifier: Apache-2.0
// stack_record — from where the program called CUDA, as a record of the results file (GR_RECORD_STACK). Launches,
// copies, memory and sides of races name a stack by its number, which is the process's own.
#ifndef GR_FINDINGS_STACK_RECORD_H
#define GR_FINDINGS_STACK_RECORD_H

#include "base/arena.h"
#include "findings/reader.h"

enum { GR_STACK_CALLS = 48 }; // what is further out is left out

// A place in the host's program. `object`: the file that holds the instruction, whose address there is `at`; `symbol`:
// the function, as far as the dynamic linker knows it. With `interpreted`, `object` is a file of source and `at` a
// line of it.
typedef struct GrStackCall {
    const char *object, *symbol;
    uint64_t at;
    uint32_t interpreted;
} GrStackCall;

typedef struct GrStackInfo {
    uint32_t number, n;
    GrStackCall called;                // the function of CUDA
    const char *entry;                 // that of the driver which came of it
    GrStackCall calls[GR_STACK_CALLS]; // the innermost first
} GrStackInfo;

void gr_stack_write(const GrStackInfo *s, StrBuf *out);
// Texts live in `arena`. GR_ERR_FORMAT: it is cut short.
gr_status gr_stack_read(const GrRecord *rec, Arena *arena, GrStackInfo *out, gr_error *err);

#endif
