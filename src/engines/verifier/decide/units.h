// SPDX-License-Identifier: Apache-2.0
// units — the device code of the files, and which of it is one program.
#ifndef GR_VERIFIER_UNITS_H
#define GR_VERIFIER_UNITS_H

#include "engines/verifier/host/host.h"
#include "engines/verifier/kernel/linked.h"

// The device code of one file.
typedef struct GrUnit {
    const char *file; // the user's name
    const char *ptx;  // a file with the PTX, for replays
    bool temporary;   // that file is ours
    char *text;       // the PTX
    PtxModule *module;
    size_t source;    // its number; not of a PTX file
    bool relocatable; // linked with others of its program
} GrUnit;

// A unit with what it is linked with. A unit that two programs link in the same way is one; else its kernels are not the same in both.
typedef struct GrLinkedUnit {
    const GrUnit *unit;
    GrLinked linked;
    const char **ptx;     // the PTX files of linked.modules
    VEC(size_t) programs; // by number
    bool several;         // the unit is linked in another way, too
} GrLinkedUnit;

typedef struct GrUnits {
    Arena arena;
    VEC(GrUnit *) all;
    VEC(GrLinkedUnit *) linked; // in the order of `all`
    VEC(const char *) reasons;  // names that a program defines twice
} GrUnits;

void gr_units_init(GrUnits *u);
void gr_units_free(GrUnits *u); // its files go, too

// The PTX files together. If none of them refers to what another one defines, each is linked alone. GR_ERR_IO, GR_ERR_SYNTAX: as reading and parsing fail.
gr_status gr_units_of_ptx(GrUnits *u, const char *const *files, size_t n, gr_error *err);
// The PTX of sources, whose text is taken out of *code, linked as their programs link it. Fails as writing and parsing do.
gr_status gr_units_of_code(GrUnits *u, GrHostCode *code, gr_error *err);

#endif
