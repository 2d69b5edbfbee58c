// SPDX-License-Identifier: Apache-2.0
// exec — what single instructions do to the values of a walk.
#ifndef GR_ENGINES_VERIFIER_KERNEL_EXEC_H
#define GR_ENGINES_VERIFIER_KERNEL_EXEC_H

#include "engines/verifier/kernel/values.h"

// ---- alu.c: instructions that compute -------------------------------------------------------------------------------

// The value of an operand in `bits` bits.
const GrTerm *gr_operand(KWalk *w, const KStmt *s, const PtxOperand *o, uint32_t bits);
// When the statement is executed by threads that reach it: its predicate.
const GrTerm *gr_predicate(KWalk *w, const KStmt *s);
// Assigns the destination; under a predicate the old value may stay.
void gr_assign(KWalk *w, const KStmt *s, const PtxOperand *dst, const GrTerm *value);
// Every register of a destination becomes anything.
void gr_assign_free(KWalk *w, const KStmt *s, const PtxOperand *dst, const char *why);
void gr_exec_alu(KWalk *w, const KStmt *s);

// ---- address.c: which memory an address is in -----------------------------------------------------------------------

typedef struct KTarget { // one of several memories that an address may be in
    const GrTerm *when;  // 1 bit
    const KVar *local;   // local memory, or parameters; else `object`
    GrObject *object;
    const GrTerm *offset; // 64 bits; of an unknown object the address itself
} KTarget;

enum { K_MOST_TARGETS = 8 };
unsigned gr_address(KWalk *w, const KStmt *s, const GrTerm *address, KTarget out[K_MOST_TARGETS]);
// The address of a module's or a block's variable.
const GrTerm *gr_variable(KWalk *w, const KStmt *s, const PtxVar *v);
GrObject *gr_object(KWalk *w, GrObjectKind kind, const void *what, uint32_t param, uint32_t offset,
                    const char *name);

// ---- memory.c: instructions that access memory ----------------------------------------------------------------------

void gr_exec_memory(KWalk *w, const KStmt *s);
void gr_exec_barrier(KWalk *w, const KStmt *s); // order.c
// The call of the library's grid barrier that has this place, whose memory is not the program's. NULL: none.
const GrPlace *gr_place_of_grid_sync(const GrPlace *p);
GrBarrier *gr_new_barrier(KWalk *w, const KStmt *s, GrBarrierKind kind); // NULL: memory is out
// mbarrier.c: a thread that arrives at one and waits, as all of its block do, is at a barrier of the block.
void gr_exec_mbarrier(KWalk *w, const KStmt *s);
void gr_mbarriers_end(KWalk *w); // after the last walk: what that hangs on, to the model's gaps
const GrTerm *gr_address_of(KWalk *w, const KStmt *s, const PtxOperand *o); // of an operand in brackets
void gr_exec_call(KWalk *w, const KStmt *s); // of a function that is not inlined
void gr_gap(KWalk *w, const KStmt *s, bool whole, const char *why);
void gr_gap_of_link(KWalk *w, const KStmt *s, const char *why); // NULL: memory is out

#endif
