// SPDX-License-Identifier: Apache-2.0
// tables — accesses to a line of global memory, by instruction. For every element that an instruction has accessed, a
// table holds the accesses that a later one may race with, a few at most.
//
// Runs and histories (shadow.h) suit lines and words with few accesses. But arrays that are only read for many
// launches, or at places without pattern, or by overlapping windows, have many readers, all of which must be
// remembered. In a table of one line and one instruction a new access finds the one that it replaces at once. Weak
// writes of earlier launches move here, too, so that runs and cells hold only what the running launch did.
//
// A table holds all that must be remembered of its instruction and element. If it cannot take an access, runs or cells
// do.
#ifndef GR_ENGINES_EXACT_TABLES_H
#define GR_ENGINES_EXACT_TABLES_H

#include "base/vec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TABLE_MAX_ELEM = 16, TABLE_LINES = 1024 };

typedef struct Table {
    const void *line;  // the shadow's Line
    uint64_t kind;     // what the accesses have in common: instruction, mark, bytes of an element
    uint64_t fresh[2]; // a bit per element: what is there is of the last launch
    uint64_t told[2];  // a bit per element: what is there stands for all later reads
    uint64_t two[2];   // a bit per element: there is a second access
    bool nodes;        // some of the histories are nodes, which are counted
    uint32_t launch;   // index and 1 of the last: it knows all others of the table
    uint32_t next;     // of the same line, its number and 1
    uint32_t shift;    // of an element's size
    uint32_t rest;     // index and 1 of a launch that knows all tables behind this one,
    uint32_t changes;  // as long as `changed` of the line is this
    uint64_t begun;    // and the launch of that index began then
    uint32_t *first,
        *second; // histories by element, of one access and of a few; second: NULL until it is needed
} Table;

typedef struct Tables {
    VEC(Table) list;
    uint64_t *index; // by line and kind: some bits of the hash, and the number and 1
    size_t index_cap;
    VEC(uint32_t *) slabs;         // of elements
    size_t used_slabs, used;       // of the last slab
    uint64_t age;                  // changes when numbers of tables may mean others
    uint32_t changed[TABLE_LINES]; // by line's address: how often a table that was there got another launch
} Tables;

// The table of that line and kind, if need be a new one in front of those that *first names. NULL: out of memory.
Table *gr_tables_get(Tables *r, const void *line, uint64_t kind, uint32_t shift, uint32_t *first);
// The table of that line and kind. NULL: there is none.
Table *gr_tables_find(const Tables *r, const void *line, uint64_t kind);
// Takes elements for a table, all 0. NULL: out of memory.
uint32_t *gr_tables_elements(Tables *r, uint32_t shift);
void gr_tables_clear(Tables *r); // forgets all, and keeps the memory
void gr_tables_free(Tables *r);
size_t gr_tables_bytes(const Tables *r);

static inline unsigned gr_table_count(uint32_t shift) { return 128u >> shift; } // elements of a line

#endif
