// SPDX-License-Identifier: Apache-2.0
// launch — what is known of a kernel's launch before it is made: from host code (LLVM IR), or from a recorded run.
#ifndef GR_ENGINES_VERIFIER_HOST_LAUNCH_H
#define GR_ENGINES_VERIFIER_HOST_LAUNCH_H

#include "base/status.h"
#include "base/vec.h"
#include "engines/verifier/term/term.h"

// Which values a symbol of the host's takes, by its `owner`. NULL: whatever the facts allow. gr_host_derived: only some
// of these, as a loop that multiplies makes them. A loop: the symbol is its counter, and its other symbols do not take
// all their values at the same time.
extern const char gr_host_derived[];

// HGRD's classes of facts (section 4); each can be switched off (docs: what each is worth).
typedef enum GrFactClass {
    GR_FACT_BRANCH = 1,     // 1: asserts and every branch on the way to the launch
    GR_FACT_DIMENSIONS = 2, // 2: grid and block
    GR_FACT_SHARED = 3,     // 3: parameters that share a host variable
    GR_FACT_LOOP = 4,       // 4: bounds of the host's loops
    GR_FACT_ALLOCATION = 5, // 5: sizes of allocations
} GrFactClass;

typedef struct GrFact {
    const GrTerm *term; // 1 bit
    GrFactClass class;
    const char *file;
    uint32_t line;
    const char *text; // for people: "assert(rows == cols)", "grid is (n / 16, 1, 1)"
} GrFact;

typedef struct GrAllocation {
    uint32_t id;
    const char *call; // "cudaMalloc", "a parameter of launch()", "a variable"
    const char *name; // of the host's variable, where known
    const char *file;
    uint32_t line;
    const GrTerm *size;   // bytes, 64 bits; NULL: not known
    bool distinct;        // made by an allocating call: apart from every other allocation
    const char *variable; // of a recorded launch: it is this variable of a module; NULL: it is none
    bool several;         // of earlier rounds of a loop: of one round or another
} GrAllocation;

// Where a pointer points if `when` holds (1 bit).
typedef struct GrChoice {
    const GrTerm *when;
    const GrAllocation *allocation; // a distinct one
    const GrTerm *at;               // bytes into it, 64 bits
} GrChoice;

// A known part of the launch's parameters.
typedef struct GrArgument {
    uint32_t param, offset, bits;
    const GrTerm *value; // of a scalar; NULL: a pointer
    // Where a pointer points, or a recorded number that may be one; NULL: not known.
    const GrAllocation *allocation;
    const GrTerm *at; // bytes into the allocation, 64 bits
    // One of several pointers, as of buffers that a loop swaps: the first that holds. The last one needs no condition.
    const GrChoice *choices;
    size_t n_choices;
    // The allocation holds only 0 when the launch begins: what is at zero_file and zero_line sets it.
    bool zero;
    const char *zero_file;
    uint32_t zero_line;
} GrArgument;

typedef struct GrHostLaunch {
    const char *kernel;          // the entry's name in PTX
    const char *file, *function; // where it is launched
    uint32_t line;
    const GrTerm *grid[3], *block[3], *shared_bytes; // 32 bits each
    size_t program;                                  // which one makes it; not of a recorded one
    bool cooperative, recorded;                      // recorded: of a run, not of all
    bool by_pointer;                                 // through a pointer, which may be to another kernel
    bool variables_begin;                            // the module's variables hold their initial values
    bool arguments_known;                            // of a recorded one: param_bytes counts
    VEC(uint32_t) param_bytes;                       // of a recorded one: of each parameter
    VEC(GrArgument) arguments;
    VEC(GrFact) facts;
    VEC(const char *)
    gaps; // what could not be followed, a sentence each: facts are missing, so the launch is less known
} GrHostLaunch;

typedef struct GrHost {
    Arena arena;
    size_t program; // the one that is being read
    VEC(GrHostLaunch *) launches;
    VEC(GrAllocation *) allocations;
    VEC(const char *) remarks; // "compiled with -DNDEBUG: asserts are no facts"
    VEC(const char *) reasons; // what is missing for a verdict
    VEC(const char *) unread;  // sources that nvcc refuses, each with what to do
} GrHost;

void gr_host_init(GrHost *h);
void gr_host_free(GrHost *h);

#endif
