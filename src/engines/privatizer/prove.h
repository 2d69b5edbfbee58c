// SPDX-License-Identifier: Apache-2.0
// prove — finds the levels of a launch that need no private copies, as no two of its units come to the same bytes, one
// of them to write (pass/places.h). And the memory that needs none: nothing writes there, or nothing reads and no two
// units write the same bytes.
//
// The proof assumes that an access whose address is computed from a pointer stays in the memory that the pointer points
// into, and that an index does not leave its variable.
#ifndef GR_ENGINES_PRIVATIZER_PROVE_H
#define GR_ENGINES_PRIVATIZER_PROVE_H

#include "engines/privatizer/device/control.h"
#include "engines/privatizer/memory.h"
#include "engines/privatizer/pass/places.h"

enum { GR_PROVED_BLOCKS = 1, GR_PROVED_THREADS = 2 };

// What is proved of a launch. Zeros: nothing.
typedef struct Proved {
    unsigned levels;                               // GR_PROVED_...
    GrPrivProved only_read[GR_ONLY_READ];          // as in GrPrivControl
    GrPrivProved only_written[2][GR_ONLY_WRITTEN]; // the same: by blocks; by threads
} Proved;

// What was found out about launches of a kernel.
typedef struct Proofs {
    VEC(struct Proof {
        uint64_t launch; // a number for all that the proof hangs on
        Proved proved;
    })
    known;
    size_t next; // the one that a new one takes the place of
} Proofs;

// What is proved of the launch; nothing if memory is out. The caller has the lock of `r`.
Proved gr_prove(const GrPlaces *p, const GrLaunch *l, const Ranges *r, Proofs *known);

#endif
