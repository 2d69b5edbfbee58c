// SPDX-License-Identifier: Apache-2.0
// propose — edits that may repair a race: by the missing order (patterns.def) and the places of both sides in the text.
//
// A proposal is a guess that is worth trying: `gpurace repair` tries it. docs/repair.md says what is proposed and
// where.
#ifndef GR_REPAIR_PROPOSE_H
#define GR_REPAIR_PROPOSE_H

#include "base/map.h"
#include "base/str.h"
#include "findings/finding.h"
#include "repair/code.h"

enum { GR_REPAIR_EDITS = 48, GR_REPAIR_PROPOSALS = 12 };

// One line: a new one before `line`, or one that replaces it.
typedef struct GrEdit {
    uint32_t line;
    bool replaces;
    const char *text; // without what ends a line; NULL: the line goes
} GrEdit;

typedef struct GrProposal {
    const char *what; // "insert __syncthreads()": lives for ever
    const char *file; // as the finding calls it
    const GrCode *code;
    GrEdit edits[GR_REPAIR_EDITS]; // by line
    unsigned n;
    uint32_t loop; // the line of the loop whose turns it keeps apart; 0: none
} GrProposal;

// Files that were read, and the texts of proposals. Zeroed, then gr_repairs_free.
typedef struct GrRepairs {
    Arena arena;
    Map files; // path -> what is in it
} GrRepairs;

void gr_repairs_free(GrRepairs *r);

// Proposals that fit all `n` findings of one mistake, the most likely first, into out[0] to
// out[GR_REPAIR_PROPOSALS - 1]; returns how many. They live as long as *r, as must the findings. None: no pattern fits,
// a source cannot be read, or no edit would order every pair.
unsigned gr_repair_propose(GrRepairs *r, const GrFinding *const *f, size_t n,
                           GrProposal out[GR_REPAIR_PROPOSALS]);

// What an update does (updates.def).
typedef enum GrUpdateOp {
#define UPDATE(op, name) GR_UPDATE_##op,
#include "repair/updates.def"
#undef UPDATE
} GrUpdateOp;

// An object that is read, changed and written back by one statement.
typedef struct GrUpdate {
    GrUpdateOp op;
    const char *name;   // of `op`: "add", "max"
    const char *file;   // as the finding calls it
    uint32_t line;      // of the statement
    const char *object; // its expression, "bins[data[i] % BINS]"; NULL: the source cannot be read
} GrUpdate;

// Whether both sides are one update that is no atomic: x += y, x++, x = x + y, x = max(x, y), if (y > x) x = y. The
// source says so; where it cannot be read, a load and a store of one line. Texts live as long as *r and *f.
bool gr_repair_update(GrRepairs *r, const GrFinding *f, GrUpdate *out);

// Whether what stands at `at` is done under a condition that stands, in part, at that line of the file.
bool gr_repair_depends(GrRepairs *r, const GrFrame *at, const char *file, uint32_t line);

// The whole file with the edits made.
void gr_repair_apply(const GrProposal *p, StrBuf *out);

// The edits as the hunks of a unified diff: what follows its first two lines, which name the file.
void gr_repair_hunks(const GrProposal *p, StrBuf *out);

bool gr_proposal_same(const GrProposal *a, const GrProposal *b);

#endif
