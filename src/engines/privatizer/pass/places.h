// SPDX-License-Identifier: Apache-2.0
// places — what a kernel's text says of where its accesses go: the LDetector paper (section 5.1) leaves out what is
// only read, and arrays with indices that are "easily analyzed statically". Here such indices are kept as they are
// computed, and judged for each launch (../prove.h).
#ifndef GR_ENGINES_PRIVATIZER_PASS_PLACES_H
#define GR_ENGINES_PRIVATIZER_PASS_PLACES_H

#include "engines/privatizer/pass/grid.h"

// How a number is computed from the launch's parameters and the thread's place. All are integers of 32 or 64 bits; one
// of 32 bits is kept with its sign.
typedef enum GrPlaceOp {
    GR_PLACE_UNKNOWN,
    GR_PLACE_INT,    // value
    GR_PLACE_PARAM,  // of parameter `a`, `value` bytes on, `b` bytes
    GR_PLACE_THREAD, // %tid, %ctaid, %ntid, %nctaid: of dimension `a`
    GR_PLACE_BLOCK,
    GR_PLACE_THREADS,
    GR_PLACE_BLOCKS,
    GR_PLACE_ADD, // the others: of the nodes `a` and `b`
    GR_PLACE_SUB,
    GR_PLACE_MUL,
    GR_PLACE_DIV,
    GR_PLACE_REM,
    GR_PLACE_SHL,
    GR_PLACE_SHR,
    GR_PLACE_AND,
    GR_PLACE_OR,
    GR_PLACE_XOR,
    GR_PLACE_WIDEN,  // 32 bits to 64
    GR_PLACE_NARROW, // 64 to 32
} GrPlaceOp;

typedef struct GrPlaceNode {
    uint8_t op, bits;
    bool is_signed; // DIV, REM, SHR, WIDEN: how the operands are read
    bool in_var;    // the address of a variable, and something: counted from the variable's begin
    uint32_t a, b;
    int64_t value;
} GrPlaceNode;

enum { GR_NO_VAR = 0, GR_VAR_EXTERN = 1 }; // all .extern .shared variables begin at one place

// What holds where an access is made: a comparison of two nodes, or the opposite of it.
typedef enum GrPlaceCompare {
    GR_PLACE_EQ,
    GR_PLACE_NE,
    GR_PLACE_LT,
    GR_PLACE_LE,
    GR_PLACE_GT,
    GR_PLACE_GE
} GrPlaceCompare;

typedef struct GrPlaceGuard {
    uint8_t compare, bits;
    bool is_signed, holds;
    uint32_t a, b;
} GrPlaceGuard;

enum { GR_PLACE_GUARDS = 4, GR_PLACE_GROUPS = 16, GR_PLACE_PUTS = 8 };

// Where one access goes.
typedef struct GrPlace {
    uint32_t node; // the address; 0: not known
    uint32_t size; // bytes
    bool write, atomic, shared, generic;
    bool of_block; // an atomic operation for the threads of a block only
    bool lost;     // not even in which variable or memory it is
    uint32_t var;  // in which variable; GR_NO_VAR: what one of `params` points to
    uint64_t params;
    uint32_t site;
    uint32_t group;    // of a weak load of what `params` point to: those with the same, from 1 on; 0: none
    uint32_t puts;     // likewise of a weak store, if nothing is loaded by these pointers
    uint32_t n_guards; // there may be more, that are not known
    GrPlaceGuard guards[GR_PLACE_GUARDS];
} GrPlace;

typedef struct GrPlaces {
    GrPlaceNode *nodes; // [0] is UNKNOWN
    GrPlace *places;    // all accesses of the kernel to memory that others see
    // A bit for each pair: two threads of a block may come to both between the same barriers.
    uint64_t *together;
    struct {
        uint32_t param, offset; // 64 bits of the parameters, which may be a pointer: bit k of GrPlace.params
    } pointers[64];
    uint32_t n_nodes, n_places, n_pointers;
    uint32_t n_groups, n_puts;
} GrPlaces;

static inline bool gr_places_meet(const GrPlaces *p, uint32_t one, uint32_t other) {
    uint64_t bit = (uint64_t)one * p->n_places + other;
    return p->together[bit / 64] >> bit % 64 & 1;
}

// In `arena`. *out is NULL where the text says too little: memory is accessed by more than loads, stores and atomic
// operations, or there are too many.
gr_status gr_places_find(const Cfg *g, const GrGrid *grid, Arena *arena, GrPlaces **out, gr_error *err);

// meet.c: fills p->together. sites[k]: the statement of place k.
gr_status gr_places_find_meetings(const Cfg *g, PtxStmt *const *sites, Arena *arena, GrPlaces *p,
                                  gr_error *err);

// A copy to be kept, by malloc. NULL: memory is out. gr_places_free() takes NULL.
GrPlaces *gr_places_keep(const GrPlaces *p);
void gr_places_free(GrPlaces *p);

#endif
