// SPDX-License-Identifier: Apache-2.0
// place — where in the source the edit of a proposal goes. For propose.c.
#ifndef GR_REPAIR_PLACE_H
#define GR_REPAIR_PLACE_H

#include "repair/holds.h"
#include "repair/propose.h"
#include "repair/reach.h"

// A file, and what is known of its functions so far.
typedef struct GrRepairFile {
    GrCode code;
    char *text;
    GrReach *reach; // of each function; `code` NULL: not looked at yet
} GrRepairFile;

// NULL: the file cannot be read, is the toolkit's, or memory is out. `path` must outlive *r.
GrRepairFile *gr_repair_file(GrRepairs *r, const char *path);
// Who comes where in the function. NULL: out of memory.
const GrReach *gr_repair_reach(GrRepairFile *f, const GrFunctionCode *function);

// Where an access is in the text.
typedef struct GrPlace {
    GrRepairFile *file;
    const char *path;
    const GrFunctionCode *function;
    const GrStatement *statement;
    uint32_t line;
} GrPlace;

// The innermost place of an access in a file of the user's that can be read. False: there is none.
bool gr_place_of(GrRepairs *r, const GrAccess *a, GrPlace *out);

// Where proposals for a race are put.
typedef struct GrPlaces {
    GrRepairs *repairs;
    const GrFinding *found;
    GrProposal *out; // [GR_REPAIR_PROPOSALS]
    unsigned n;
} GrPlaces;

// Adds *proposal, its edits in the order of lines, unless it is there already or says nothing.
void gr_place_add(GrPlaces *p, const GrProposal *proposal);

// Adds to the proposal a line `text` before a line of the file, indented as `as` is. False: there is no such place.
bool gr_place_insert(GrPlaces *p, GrProposal *proposal, uint32_t before, uint32_t as, const char *text);

GrProposal gr_place_proposal(const GrPlace *at, const char *what);
// The statement, or what controls it, that is one of a block's. NULL: none.
const GrStatement *gr_place_in_block(const GrStatement *s);
// Adds to the proposal a line before, or behind, the statement; where its body has no braces, what controls it.
bool gr_place_put_before(GrPlaces *p, GrProposal *proposal, const GrStatement *s, const char *text);
bool gr_place_put_behind(GrPlaces *p, GrProposal *proposal, const GrStatement *s, const char *text);

// Fences where the sides signal to each other: behind what is written, before what is read, behind the wait for a flag.
void gr_place_fences(GrPlaces *p, const char *text, const char *what);
// A barrier between an access and the one thread that signals for all, or that waited for all.
void gr_place_leader(GrPlaces *p, GrVaries most, const char *text, const char *what);
// Wider scopes (scopes.def) in the lines and functions of both sides. `scope`: the wider one; NULL: what the order has.
void gr_place_scopes(GrPlaces *p, const char *scope, const char *what);
// A wait of the host's before what it accesses.
void gr_place_host_wait(GrPlaces *p);
// A wait between what submits the works of the sides: by the host, by a stream. Of a graph: by a stream only.
void gr_place_stream_wait(GrPlaces *p);
void gr_place_edge(GrPlaces *p);

// A fence between the proxies: behind the access by the generic one, before the asynchronous one.
void gr_place_proxy(GrPlaces *p, const char *what);
// A wait of the later launch's kernel for the launch before, in front of what accesses.
void gr_place_grid_wait(GrPlaces *p, const char *text, const char *what);
// A wait for the copy by the thread that issued it, behind its commit.
void gr_place_issuer_wait(GrPlaces *p, const char *text, const char *what);
// Waits that leave none of the copies under way, in place of those that leave some.
void gr_place_wait_for_all(GrPlaces *p, const char *what);
// A barrier that only some threads come to, moved out of the condition.
void gr_place_move(GrPlaces *p, const char *what);
// A barrier of the cluster: between the sides; at the kernel's end.
void gr_place_cluster(GrPlaces *p, const GrFinding *const *f, size_t n, const char *what);
void gr_place_cluster_end(GrPlaces *p, const char *what);

// A barrier where the findings' sides have none of those that count between them (barrier.c), and all threads come
// whose values vary no more than `most`.
void gr_place_barrier(GrPlaces *p, const GrFinding *const *f, size_t n, GrVaries most, GrHeldBy by,
                      const char *text, const char *what);

// Atomics in place of the updates that the findings' sides are.
void gr_place_atomics(GrPlaces *p, const GrFinding *const *f, size_t n);

#endif
