// SPDX-License-Identifier: Apache-2.0
// place — where the user meets an instruction: the headline (findings/headline.h) of the places that PTX gives for it.
#ifndef GR_ENGINES_CORE_PLACE_H
#define GR_ENGINES_CORE_PLACE_H

#include "ptx/ptx.h"

// Which files of a module are the user's own, as far as this has been asked.
typedef struct GrFileOwners {
    const PtxModule *ptx;
    uint8_t *whose; // one for each of its files, zeroed; NULL: asked again each time
} GrFileOwners;

// The place, of `loc` and those that it was inlined at, that people are told. NULL: `loc` is NULL.
const PtxLoc *gr_place_headline(GrFileOwners *o, const PtxLoc *loc);

// The file of that place. NULL: not known.
const char *gr_place_file(const PtxModule *m, const PtxLoc *loc);

#endif
