// SPDX-License-Identifier: Apache-2.0
// race_record — a race both of whose sides are known, as a record of the results file (GR_RECORD_RACE). The record is
// written when a pair of sites is first seen to race. Its count is a 64-bit word in an area, which goes on counting.
#ifndef GR_FINDINGS_RACE_RECORD_H
#define GR_FINDINGS_RACE_RECORD_H

#include "base/arena.h"
#include "findings/finding.h"
#include "findings/reader.h"

typedef enum GrSideKind {
    GR_SIDE_THREAD,
    GR_SIDE_ASYNC, // an asynchronous operation that the thread started
    GR_SIDE_COPY,  // of the host's API: neither site nor thread mean anything
    GR_SIDE_FILL,  // of the host's API: neither site nor thread mean anything
    GR_SIDE_HOST,  // the program's own access, by an instruction of the host's
    // Freed memory: by a thread (`launch` is set) at line `at` of file `object`, line `site` of the PTX; else by the
    // API.
    GR_SIDE_FREE,
    GR_SIDE_ALLOC, // it was allocated, in the order of a stream or by a node of a graph
} GrSideKind;

enum { GR_SIDE_VOLATILE = 1, GR_SIDE_DISCARDED = 2, GR_SIDE_NODE = 4 };

typedef struct GrRaceSide {
    uint64_t module;              // GrModuleInfo.number; 0: not known
    uint32_t site, access, scope; // PtxAccess; PtxScope of a strong operation, else 0
    uint32_t by;                  // GrSideKind
    // GR_SIDE_VOLATILE; GR_SIDE_DISCARDED: the loaded value was not used; GR_SIDE_NODE: a graph's node (FREE, ALLOC).
    uint32_t marks;
    uint64_t launch, address;
    uint32_t thread[3], block[3], size;
    // FREE by a thread: the source file and the function. HOST: the instruction's file, its address there, and the
    // function as far as the dynamic linker knows it. NULL: not known.
    const char *object, *symbol;
    uint64_t at;
    uint32_t stack; // of the call that launched or did it (stack_record.h); 0: not known
} GrRaceSide;

typedef struct GrRaceInfo {
    uint32_t class;   // GrClass.number
    uint32_t space;   // 0 global, 1 shared
    uint32_t seen_by; // GrSeenBy
    GrRaceSide side[2];
    uint64_t overlap;
    uint32_t overlap_bytes;
    const char *order; // what was missing
    uint64_t count_at; // place of the count in the file: of the accesses that raced as this pair
    uint64_t tally_at; // of the count of any pair with these headlines (headline.h); 0: not known
} GrRaceInfo;

void gr_race_write(const GrRaceInfo *r, StrBuf *out);

// Texts live in `arena`. GR_ERR_FORMAT when the payload makes no sense.
gr_status gr_race_read(const GrRecord *rec, Arena *arena, GrRaceInfo *out, gr_error *err);

#endif
