// SPDX-License-Identifier: Apache-2.0
// reader — reads a results file and trusts nothing in it.
//
// The file may come from a program that was killed at any instruction, may be cut short, and may come from any source.
// So every offset and size is checked, and a record counts only if its hash is right. Bytes between records that belong
// to no record are counted as damage, which makes a verdict inconclusive.
#ifndef GR_FINDINGS_READER_H
#define GR_FINDINGS_READER_H

#include "base/status.h"
#include "base/vec.h"
#include "findings/results.h"

typedef struct GrRecord {
    GrRecordKind kind;
    uint64_t process;
    const uint8_t *payload;
    size_t size;
} GrRecord;

typedef struct GrResultsView {
    const uint8_t *data;
    size_t len;
    VEC(GrRecord) records;
    uint64_t dropped;     // counted by the writers
    uint32_t lost_to;     // the error of the first of those, 0: not known
    uint64_t acquired;    // calls of gpurace_acquire
    uint64_t damaged;     // bytes that belong to no record
    uint64_t hidden_more; // notes of hidden processes (hidden.h) that found no room
} GrResultsView;

// Reads the records of `len` bytes at `data`, which must outlive the view.
gr_status gr_results_parse(const void *data, size_t len, GrResultsView *out, gr_error *err);

// Maps the file at `path` and parses it.
gr_status gr_results_open(const char *path, GrResultsView *out, gr_error *err);
void gr_results_close(GrResultsView *v); // of gr_results_open; gr_results_release of gr_results_parse
void gr_results_release(GrResultsView *v);

// Note number `k` of hidden processes, from 0, copied to *out, its program terminated. False: there is no such note.
bool gr_results_hidden(const GrResultsView *v, unsigned k, GrHidden *out);

// `size` bytes of an area at `offset`, or NULL when they are not all inside the file.
const void *gr_results_at(const GrResultsView *v, uint64_t offset, uint64_t size);

// Takes a payload apart. Past the end everything reads as 0 or "", and `bad` is set.
typedef struct GrCursor {
    const uint8_t *p, *end;
    bool bad;
} GrCursor;

GrCursor gr_cursor(const GrRecord *r);
uint32_t gr_get_u32(GrCursor *c);
uint64_t gr_get_u64(GrCursor *c);
// A terminated copy in `arena`, which may hold any bytes but NUL ('?').
const char *gr_get_str(GrCursor *c, Arena *arena);

#endif
