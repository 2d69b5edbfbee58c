// SPDX-License-Identifier: Apache-2.0
// capture — what others call for streams that are captured into graphs. graph.h has the graphs.
#ifndef GR_DRIVER_CUDA_CAPTURE_H
#define GR_DRIVER_CUDA_CAPTURE_H

#include "driver/cuda/queue.h"

// A capture in the context forbids what the caller is about to do, and becomes invalid.
bool gr_capture_forbids(Ctx *ctx);
// CUDA_SUCCESS: no capture forbids to wait for the stream or ask about it, to ask about a captured event, or to use the
// legacy stream beside blocking ones. Else the capture becomes invalid.
CUresult gr_capture_stream_forbids(Stream *s);
CUresult gr_capture_event_forbids(const Event *e);
CUresult gr_capture_implicit(const Stream *s);
// An error if captures forbid calls that they do not observe.
CUresult gr_capture_unsafe(void);
CUresult gr_capture_unsafe_in(const Stream *s); // the same with a stream that does not capture
// The entry point is such a call (unsafe.def).
bool gr_capture_is_unsafe(const char *function);
// These add nodes to the graph that the stream captures.
CUresult gr_capture_item(Stream *s, Item *it); // takes the item
CUresult gr_capture_copy(Stream *s, const CUDA_MEMCPY3D *copy);
CUresult gr_capture_alloc(Stream *s, size_t size, CUdeviceptr *out);
CUresult gr_capture_free(Stream *s, CUdeviceptr address);
CUresult gr_capture_event(Stream *s, Event *e, CUgraphNodeType type);
// From now on the event stands for what the stream captured last.
CUresult gr_capture_record(Stream *s, Event *e);
// The stream waits for what the event stands for.
CUresult gr_capture_wait(Stream *s, Event *e);
void gr_capture_forget(Stream *s); // the stream is about to go

// What graph nodes do, as items that are not submitted (launch.c, copy.c, fill.c).
CUresult gr_launch_item(Ctx *ctx, const CUlaunchConfig *config, CUfunction f, void **params, void **extra,
                        Item **out);
CUresult gr_copy_item(const CUDA_MEMCPY3D *copy, Item **out);
CUresult gr_fill_item(const CUDA_MEMSET_NODE_PARAMS *fill, Item **out);

#endif
