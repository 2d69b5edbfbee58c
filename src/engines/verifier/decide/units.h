// SPDX-License-Identifier: Apache-2.0
// units — the device code of the files, and which files make one program.
#ifndef GR_ENGINES_VERIFIER_DECIDE_UNITS_H
#define GR_ENGINES_VERIFIER_DECIDE_UNITS_H

#include "engines/verifier/host/host.h"
#include "engines/verifier/kernel/linked.h"

// The device code of one file.
typedef struct GrUnit {
    const char *file; // the user's name
    char *text;       // the PTX
    size_t len;
    PtxModule *module;
    size_t source;    // its number; not of a PTX file
    bool relocatable; // linked with others of its program
} GrUnit;

// A unit and its link partners. Two programs that link it alike share one; else its kernels differ between them.
typedef struct GrLinkedUnit {
    const GrUnit *unit;
    const GrLinked *linked;  // the whole program, or the unit alone
    const PtxModule **needs; // the modules that it needs, in the order of the program, and their units
    const GrUnit **units;
    size_t n_needs;
    VEC(size_t) programs; // by number
    bool several;         // the unit is linked in another way, too
} GrLinkedUnit;

typedef struct GrUnits {
    Arena arena;
    VEC(GrUnit *) all;
    VEC(GrLinkedUnit *) linked; // in the order of `all`
    VEC(GrLinked *) links;      // what they point to
    VEC(const char *) reasons;  // names that a program defines twice
    VEC(const char *) unread;   // PTX files that cannot be read or make no sense, each with what to do
} GrUnits;

void gr_units_init(GrUnits *u);
void gr_units_free(GrUnits *u);

// The PTX files together. If none of them refers to what another one defines, each is linked alone. GR_ERR_NOMEM only.
gr_status gr_units_of_ptx(GrUnits *u, const char *const *files, size_t n, gr_error *err);
// Links the PTX of sources, whose text is taken out of *code, as their programs link it. Fails as parsing does.
gr_status gr_units_of_code(GrUnits *u, GrHostCode *code, gr_error *err);

#endif
