// SPDX-License-Identifier: Apache-2.0
// emit — what every pass needs to add code around a memory access: guards, addresses, elements, out-of-line blocks.
//
// A pass writes PTX text; names of its own registers go into the text, the program's registers go in as operands ($0
// …), because a program's names may be shadowed in nested scopes.
#ifndef GR_PASSES_EMIT_H
#define GR_PASSES_EMIT_H

#include "ptx/ptx.h"
#include "ptx/site_status.h"
#include "ptx/speculate.h"

enum { EMIT_MAX_ELEMENTS = 128 }; // as many as tcgen05.ld loads; ld and st have at most 8

// Where code goes that comes before all of the function's: behind its declarations. NULL: the body's end.
PtxStmt *gr_function_start(const PtxFunc *f);

// One memory access under instrumentation.
typedef struct Access {
    PtxFunc *func;
    PtxStmt *stmt;   // the access itself
    PtxStmt *before; // insert here for "before the access": its pragma, if it has one, else stmt
    PtxStmt *after;  // insert before this for "after the access"; NULL: the end of the body
    PtxStmt *report; // branch to a report before this; `after`, or further on when the value may be discarded
    const PtxSite *site;
    bool nested;        // inside a { } scope of the program
    PtxOperand address; // may be used after the access: a copy of the base if the access overwrites it
    unsigned n;         // vector elements
    unsigned bytes;     // per element
    PtxType type;
    const PtxOperand *value[EMIT_MAX_ELEMENTS]; // registers loaded, or operands stored
    uint64_t used[EMIT_MAX_ELEMENTS]; // loads: bits of the element the program uses (pragma used_bytes_mask)
    // The addresses of elements that do not lie side by side; at[0] NULL: they do.
    const PtxReg *at[EMIT_MAX_ELEMENTS];
    bool offsets;        // these are offsets in shared memory, even if the site's address is generic
    bool together;       // performed by the whole warp at once: lanes look again together, too
    const PtxReg *whole; // then, whether the warp performs it; NULL: it does
    PtxReg *guard;       // lanes for which the access happens (and may race); NULL: all active ones
    gr_error *err;
} Access;

// Reads the access at `site`. GR_SITE_CHECKED: a pass may instrument it; else what the site is (NOT_UNDERSTOOD, …).
GrSiteStatus gr_access_read(const PtxSite *site, Access *a);

// Reads strong accesses, too. An atomic operation has n = 0: no element is told.
GrSiteStatus gr_access_read_any(const PtxSite *site, Access *a);

// Inserts code: statements before `at`, tagged with the access's site. `fmt` is a printf format; $0 … stand for `ops`.
gr_status gr_access_put(const Access *a, PtxStmt *at, const PtxOperand *ops, unsigned n_ops, const char *fmt,
                        ...) __attribute__((format(printf, 5, 6)));
// Inserts code that belongs to no access.
gr_status gr_emit(PtxFunc *f, PtxStmt *at, uint32_t site, const PtxOperand *ops, unsigned n_ops,
                  gr_error *err, const char *fmt, ...) __attribute__((format(printf, 7, 8)));
// Inserts `text`, and frees it.
gr_status gr_emit_str(PtxFunc *f, PtxStmt *at, uint32_t site, StrBuf *text, const PtxOperand *ops,
                      unsigned n_ops, gr_error *err);
// The macros return what fails; GR_PUT and GR_EMIT have no operands, and GR_EMIT no site.
#define GR_PUT_OPS(a, at, ops, n, ...) GR_MUST(gr_access_put(a, at, ops, n, __VA_ARGS__))
#define GR_PUT(a, at, ...)             GR_PUT_OPS(a, at, NULL, 0, __VA_ARGS__)
#define GR_EMIT(f, at, err, ...)       GR_MUST(gr_emit(f, at, 0, NULL, 0, err, __VA_ARGS__))

// "@%p3 " or nothing, written to buf.
const char *gr_access_guard(const Access *a, char *buf, size_t size);

// Emits at `at`, in the new register *p, for which lanes the statement is performed.
gr_status gr_access_performs(const Access *a, PtxStmt *at, PtxReg **p);

// Makes the address survive until `report`, which is set before this is called, even if the program changes its base
// register. Emits, before the access, the guard (the access's own predicate, and "not local" for generic addresses)
// and, if needed, the copy of the base register.
gr_status gr_access_prepare(Access *a);

// Emits code at `at`, behind spec->last, that narrows the predicate `into` to the lanes that keep a speculated value.
gr_status gr_access_kept(const Access *a, PtxStmt *at, const Speculation *spec, const PtxReg *into);

// Emits code at `at` that copies a register or literal of `bits` bits (16, 32, 64) to the new 64-bit register *out.
gr_status gr_access_widen(const Access *a, PtxStmt *at, PtxOperand value, unsigned bits, PtxReg **out);

// No instruction compares registers of 8 or 128 bits: emits code at `at` that unpacks or widens them, after which
// value[] has registers that can be compared.
gr_status gr_access_comparable(Access *a, PtxStmt *at);

// Emits code at `at` that leaves the 64-bit address of the access (as its space counts) in the new register *out.
gr_status gr_access_address64(const Access *a, PtxStmt *at, PtxReg **out);

// The width in bits in which element values are compared: 16, 32, 64; of the register, not of the memory.
unsigned gr_access_compare_bits(const Access *a);

#endif
