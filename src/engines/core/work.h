// SPDX-License-Identifier: Apache-2.0
// work — the order that the program's API calls make between launches, copies and memsets: streams, events, the
// legacy stream, and what the host waits for.
//
// One clock per stream (what its next item comes after), per event's record, and one for the host: what it submits
// comes after what it has waited for. Clocks name the last known work of a stream, which comes after all the earlier.
// The host is one thread here; hosts.h orders several threads.
#ifndef GR_ENGINES_CORE_WORK_H
#define GR_ENGINES_CORE_WORK_H

#include "base/vec.h"
#include "device_api/work.h"
#include "engines/core/clock.h"

// In clocks: all work of a stream up to a turn. A key's lowest three bits say what it names; engines may add levels.
enum { GR_STREAM_LEVEL = 3 };
static inline uint64_t gr_stream_key(uint64_t stream) { return stream << 3 | GR_STREAM_LEVEL; }

// The place of a piece of work that accesses memory, in the order of its stream. turn 0: none.
typedef struct WorkTurn {
    uint64_t stream; // WorkStream.number; 0: the host's own
    uint32_t turn;
} WorkTurn;

typedef struct WorkStream {
    uint64_t id, context;
    bool legacy, blocking;
    uint32_t turn;   // of the last of its work that has ended
    uint64_t number; // of all streams there have been
    Clock *clock;
    // The last item was a kernel, and this is what it knew as it began: so does the next one if it may begin early.
    Clock *before;
    bool kernel;
    bool newer; // a blocking one whose clock the legacy stream of its context may not have (Work.newer)
} WorkStream;

typedef struct Work {
    VEC(WorkStream) streams;
    Map of;               // id -> its place in streams, and 1
    VEC(size_t) legacies; // places of legacy streams
    VEC(size_t) newer;    // of blocking ones that are WorkStream.newer
    size_t n_known;       // of so many streams, from the first, a host that knows `knew` knows all
    Clock *knew;
    uint64_t n_streams; // all there have been
    uint32_t host_turn; // of what the host did itself, which is stream 0
    Map marks;          // record of an event -> Clock
    Map submitted;      // item -> Clock of the host then
    Clock *host;
    uint64_t pending;
    bool nomem;
} Work;

void gr_work_free(Work *w);
// The streams, events and submitted items of `from`, but not what the host knows, into one that has none.
void gr_work_copy(Work *to, const Work *from);

// NULL: it has had no work since all was settled.
const WorkStream *gr_work_stream(const Work *w, uint64_t id);

void gr_work_submitted(Work *w, const GrWork *e);
// What the item comes after. *prior: for a kernel that may begin before its predecessor ends (GrWork.early), what it
// comes after once it has waited; else NULL. Both are references of the caller's own.
Clock *gr_work_begins(Work *w, const GrWork *e, Clock **prior);
// The turn that an item takes when it ends, and nothing else of its stream before.
WorkTurn gr_work_next_turn(Work *w, const GrWork *e);
// `accesses`: the item accesses memory, and takes a turn; `end`: what its threads knew besides, or NULL.
WorkTurn gr_work_ended(Work *w, const GrWork *e, bool accesses, Clock *end);
// Memory that the host freed now goes (GR_WORK_FREES): what the host knew at that call. A reference of the caller's
// own.
Clock *gr_work_freed(Work *w, const GrWork *e);
// The host itself did it, at once: what it submits from now on comes after.
WorkTurn gr_work_host_did(Work *w);
// True when everything is over and known to the host, hence to all that comes.
bool gr_work_waited(Work *w, const GrWork *e);
// After gr_work_waited has returned true: all work is forgotten.
void gr_work_settle(Work *w);
// Filters its clocks.
void gr_work_sweep(Work *w, ClockFilter *f);

#endif
