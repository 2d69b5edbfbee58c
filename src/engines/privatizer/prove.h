// SPDX-License-Identifier: Apache-2.0
// prove — which levels of a launch need no private copies: no two of its units can come to the same bytes, one of them
// to write (pass/places.h). And which memory needs none: nothing is written there, or nothing is read and no two units
// write the same bytes.
//
// What is taken for granted: an access whose address is computed from a pointer stays in the memory that the pointer
// points into, and an index does not leave its variable.
#ifndef GR_ENGINES_PRIVATIZER_PROVE_H
#define GR_ENGINES_PRIVATIZER_PROVE_H

#include "engines/privatizer/device/control.h"
#include "engines/privatizer/memory.h"
#include "engines/privatizer/pass/places.h"

enum { GR_PROVED_BLOCKS = 1, GR_PROVED_THREADS = 2 };

// Of a launch. Zeros: nothing.
typedef struct Proved {
    unsigned levels;                               // GR_PROVED_...
    GrPrivProved only_read[GR_ONLY_READ];          // as in GrPrivControl
    GrPrivProved only_written[2][GR_ONLY_WRITTEN]; // likewise: by blocks; by threads
} Proved;

// What was found out of launches of a kernel.
typedef struct Proofs {
    VEC(struct Proof {
        uint64_t launch; // a number for all that the proof hangs on
        Proved proved;
    })
    known;
    size_t next; // the one that a new one takes the place of
} Proofs;

// What is known of the launch. Nothing where memory is out, too. The caller has the lock of `r`.
Proved gr_prove(const GrPlaces *p, const GrLaunch *l, const Ranges *r, Proofs *known);

#endif
