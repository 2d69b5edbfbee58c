// SPDX-License-Identifier: Apache-2.0
// read_internal — what the files that read a report share. Functions that read the value of `key` note the first
// mistake in the reader, and go on with nothing: one check at the end will do. The object may be NULL (no keys).
#ifndef GR_REPORT_READ_READ_INTERNAL_H
#define GR_REPORT_READ_READ_INTERNAL_H

#include "report/write/json_internal.h"

typedef struct GrReader {
    GrReport *report;
    const char *path;
    char where[64]; // "race 3: "; "": the report as a whole
    Interner texts; // in the report's arena
    gr_status st;
    gr_error *err;
} GrReader;

void gr_read_wrong(GrReader *x, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void gr_read_nomem(GrReader *x);

const char *gr_read_text(GrReader *x, const json_t *o, const char *key);   // NULL: there is none, or null
const char *gr_read_needed(GrReader *x, const json_t *o, const char *key); // never NULL
uint64_t gr_read_number(GrReader *x, const json_t *o, const char *key, uint64_t highest); // 0: none
bool gr_read_flag(const json_t *o, const char *key);
const json_t *gr_read_object(GrReader *x, const json_t *o, const char *key); // NULL: none
const json_t *gr_read_list(GrReader *x, const json_t *o, const char *key);   // NULL: none
// False: there are none.
bool gr_read_triple(GrReader *x, const json_t *o, const char *key, uint32_t out[3]);

GrFrame gr_read_frame(GrReader *x, const json_t *o);

// The races, or misuses, of `list` (read_race.c). `what` is what one of them is called.
void gr_read_races(GrReader *x, const json_t *list, const char *what, GrRaceVec *out);

#endif
