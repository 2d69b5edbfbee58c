// SPDX-License-Identifier: Apache-2.0
// race_writer — races both of whose sides are known, from an engine that listens to the CPU device into the results file: a record when
// a pair of places is first seen to race, and a count that lives in the file, so that whatever becomes of the program its races are there.
// Modules of the device and of the injection are matched by fingerprint.
#ifndef GR_INJECT_RACE_WRITER_H
#define GR_INJECT_RACE_WRITER_H

#include "base/vec.h"
#include "exact/race.h"
#include "inject/engine.h"
#include "report/race_record.h"

typedef struct WrittenModule {
    uint64_t fingerprint, number;
} WrittenModule;

typedef struct RaceWriter {
    GrSession *session;
    VEC(WrittenModule) modules;
    uint64_t *counts, counts_at;
    uint32_t counts_used;
    bool stop; // --stop: the first race ends its launch
} RaceWriter;

void gr_race_writer_free(RaceWriter *w);
// False: out of memory.
bool gr_race_writer_module(RaceWriter *w, uint64_t fingerprint, uint64_t number);
// A word of the results file, and its place there. NULL when there is none.
uint64_t *gr_race_writer_count(RaceWriter *w, uint64_t *at);
// Writes the record. What to count further ones in, or NULL.
uint64_t *gr_race_writer_put(RaceWriter *w, const Race *race, GrSeenBy seen_by);

#endif
