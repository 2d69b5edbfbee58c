// SPDX-License-Identifier: Apache-2.0
// race_writer — writes to the results file the races of an engine that listens to the CPU device. Both sides of such a
// race are known. A record is written when a pair of places is first seen to race. The count lives in the file, so the
// races are there whatever becomes of the program. Modules of the device and of the injection are matched by
// fingerprint.
#ifndef GR_ENGINES_CORE_RACE_WRITER_H
#define GR_ENGINES_CORE_RACE_WRITER_H

#include "base/map.h"
#include "base/vec.h"
#include "engines/core/engine.h"
#include "findings/race.h"
#include "findings/race_record.h"

typedef struct WrittenModule {
    uint64_t number;     // of the last that was loaded with this fingerprint
    uint64_t *headlines; // of each site: what the report tells apart (headline.h)
    uint32_t n_sites;
} WrittenModule;

typedef struct RaceWriter {
    GrSession *session;
    const GrClass *classes; // Race.class is a place in it
    Map modules;            // fingerprint -> WrittenModule
    uint64_t *counts, counts_at;
    uint32_t counts_used;
    Map tallies; // of races with the same headlines
    bool stop;   // --stop: the first race ends its launch
} RaceWriter;

// `ptx` is read now only. False: out of memory.
bool gr_race_writer_module(RaceWriter *w, uint64_t fingerprint, const PtxModule *ptx, uint64_t number);
// A word of the results file, and its place there. NULL when there is none.
uint64_t *gr_race_writer_count(RaceWriter *w, uint64_t *at);
// Writes the record, and says what its accesses are to be counted in: race->mine.count, race->ours.
void gr_race_writer_put(RaceWriter *w, Race *race, GrSeenBy seen_by);

#endif
