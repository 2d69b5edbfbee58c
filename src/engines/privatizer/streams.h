// SPDX-License-Identifier: Apache-2.0
// streams — the streams with launches that were not on private copies, found by context and stream.
#ifndef GR_ENGINES_PRIVATIZER_STREAMS_H
#define GR_ENGINES_PRIVATIZER_STREAMS_H

#include "base/map.h"
#include "base/vec.h"

#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct ProbeStream {
    CUcontext context;
    CUstream stream;
    CUevent event; // behind the last launch that was not on private copies
    size_t next;   // number + 1 of another one with the same key; 0: none
    bool open;     // that launch may be under way
} ProbeStream;

typedef struct ProbeStreams {
    VEC(ProbeStream) all;
    Map number;        // + 1, of the last one with a key
    VEC(size_t) open;  // the numbers of those that are open; it has room for all
    uint64_t compared; // streams that lookups looked at
} ProbeStreams;

// NULL: there is no such stream. The pointer is valid until the next gr_streams_add or gr_streams_forget.
ProbeStream *gr_streams_find(ProbeStreams *s, CUcontext context, CUstream stream);
ProbeStream *gr_streams_add(ProbeStreams *s, CUcontext context, CUstream stream,
                            CUevent event);              // NULL: out of memory
void gr_streams_open(ProbeStreams *s, ProbeStream *one); // a launch may be under way there from now on
// Closes streams of the context for which is_over() is true, in the order in which they were opened, up to the first
// for which it is not. True: all are closed.
bool gr_streams_close(ProbeStreams *s, CUcontext context, bool (*is_over)(void *data, const ProbeStream *one),
                      void *data);
void gr_streams_forget(ProbeStreams *s, CUcontext context); // all of a context that ended
void gr_streams_free(ProbeStreams *s);

#endif
