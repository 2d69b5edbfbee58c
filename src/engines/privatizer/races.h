// SPDX-License-Identifier: Apache-2.0
// races — finds the accesses that made private copies differ: runs the launch again and asks for accesses; and writes
// them into the results.
#ifndef GR_ENGINES_PRIVATIZER_RACES_H
#define GR_ENGINES_PRIVATIZER_RACES_H

#include "engines/privatizer/decode.h"
#include "engines/privatizer/passes.h"

// What became of the regions of a log in which copies differ.
typedef struct RacesFound {
    unsigned placed, unplaced; // regions with a pair of accesses that race, and without
    unsigned races;            // pairs of instructions that no launch had before
    unsigned cut;              // runs that asked for accesses and did not come to their end
    bool outside;              // one of them went to memory without private copies
} RacesFound;

// A place where copies of a kernel's units differed in some launch, and which races that was.
typedef struct Known {
    uint32_t mode, kind, region, part;
    uint64_t layout;   // the number of the memory's layout
    bool others;       // in place of that: of all layouts that have none of their own
    uint64_t launches; // that found it
    uint64_t last;     // of them: its number
    bool placed;       // accesses were found
    VEC(uint16_t) races;
} Known;

typedef VEC(Known) KnownRaces;

// What a kernel's launches find again and again is searched for in the first of them, and in the 2nd, 4th, 8th and so
// on, as each search runs a part of the launch again. In between the known races are counted. Launches in other memory
// count by themselves, for at most GR_MOST_LAYOUTS layouts: else a program with new memory for each launch would always
// be searched.
enum { GR_MOST_LAYOUTS = 16 };
void gr_races_free(KnownRaces *known);

// Sets *out to what needs no search this time: the launch need not be held if it finds only that.
void gr_races_expect(const Passes *p, const PassPlan *plan, const KnownRaces *known, GrPrivExpected *out);
// Counts what a launch found of `expected`; bits of `again`.
void gr_races_count(const Passes *p, const GrPrivExpected *expected, uint64_t again, GrPrivateArea *area,
                    KnownRaces *known, RacesFound *found);

// Finds the accesses behind what `log` says, writes them into the area, and adds to *found and the kernel's *known.
CUresult gr_races_find(Passes *p, const PassPlan *plan, const GrPrivLog *log, GrPrivateArea *area,
                       KnownRaces *known, RacesFound *found);

#endif
