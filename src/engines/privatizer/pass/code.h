// SPDX-License-Identifier: Apache-2.0
// code — one more copy of a kernel's code under construction: what its parts share.
#ifndef GR_PRIVATIZER_PASS_CODE_H
#define GR_PRIVATIZER_PASS_CODE_H

#include "engines/privatizer/pass/body.h"
#include "engines/privatizer/pass/privatizer_pass.h"
#include "ptx/speculate.h"

typedef struct Code {
    PtxFunc *f;
    const char *suffix;
    bool warps; // else for blocks
    Body body;
    const Liveness *live; // of the kernel's own code
    const DefUse *uses;   // likewise
    uint64_t *set;
    Arena *arena;
    // Registers of every thread, set where the code begins.
    PtxReg *copy, *me; // the number of the thread's private copy; and one more
    PtxReg *table, *rows, *row_bytes, *copies, *arena_base, *arena_bytes,
        *shared_bytes;      // rows, copies: where number 0 would be
    PtxReg *arena_table;    // where the table would be of an arena that begins at its first line
    PtxReg *number;         // where in a row the number of the thread's copy is
    PtxReg *unmade;         // where in a row the thread finds what its copy would hold
    PtxReg *unwritten;      // code for warps: a line of shared memory that nobody wrote
    PtxReg *left;           // rounds of loops that may still come
    PtxReg *asks, *unasked; // accesses are to be told, or not
    PtxReg *alone;          // code for warps: no other thread has this one's private copies
    PtxReg *
        plain; // likewise: and it has stored nothing in the region so far, in pass 2 nothing in pass 1 as well, and is not asked
    PtxReg *pass, *sequence;
    PtxReg *stores;   // a hash of what the thread stored, and where
    bool updates;     // the kernel has atomic operations or strong stores
    uint32_t granule; // PrivatizedKernel.granule
    PtxReg *notes, *note,
        *note_end;    // where the thread notes results of the region, in pass 1; NULL: the kernel has none
    PtxLabel *full;   // where a thread goes that has no room for them
    bool results;     // the kernel has accesses with results (suits.h)
    bool gathers;     // its lanes wait for each other
    bool by_warps;    // units are warps
    PtxReg *once;     // code for warps: regions run once
    PtxLabel *over;   // where a thread goes that has gone round too often
    PtxLabel *leaves; // where a thread goes that ends
    gr_error *err;
} Code;

// Inserts PTX text before `at` (NULL: at the end of the kernel). $0 ... stand for `ops`.
gr_status gr_code_put(const Code *c, PtxStmt *at, const PtxOperand *ops, unsigned n_ops, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));

// redirect.c: the access `copy`, which stands for the program's own `site`, goes to the private copy.
gr_status gr_code_redirect(const Code *c, PtxStmt *copy, const PtxSite *site);

// redirect.c: the instruction once more before itself, under another guard, at another address, with another destination (NULL: its own).
gr_status gr_code_again(const Code *c, PtxStmt *s, PtxReg *guard, PtxReg *at, const PtxOperand *destination);

// At the end of the kernel: code for threads that find no room for a note, or have gone round a loop too often. The threads go on with the code that follows.
gr_status gr_code_lost(const Code *c);

// notes.c: an access with a result (gr_has_result). It is done at `to`, a private copy, under `kept`, and at `common`, for all units, if that is not 0; NULL: nothing is private.
gr_status gr_code_result(const Code *c, PtxStmt *s, PtxReg *to, PtxReg *common, PtxReg *kept);

// regions.c: barriers and ends of threads become ends of regions, which run twice.
gr_status gr_code_regions(const Code *c);

#endif
