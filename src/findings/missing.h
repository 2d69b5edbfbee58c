// SPDX-License-Identifier: Apache-2.0
// missing — what would have ordered two accesses, as the end of a sentence, for engines that name both sides of a race;
// and how far apart two threads are whom such an order is missing.
#ifndef GR_FINDINGS_MISSING_H
#define GR_FINDINGS_MISSING_H

#define MISSING_HOST(did, what)  "the host did not wait for the " what " before it " did
#define MISSING_HOST_READ_LAUNCH MISSING_HOST("read", "launch (cudaDeviceSynchronize, an event or a stream)")
#define MISSING_HOST_WRITE_LAUNCH                                                                            \
    MISSING_HOST("wrote", "launch (cudaDeviceSynchronize, an event or a stream)")
#define MISSING_HOST_READ_COPY                                                                               \
    MISSING_HOST("read", "copy or memset (cudaDeviceSynchronize, an event or a stream)")
#define MISSING_HOST_WRITE_COPY                                                                              \
    MISSING_HOST("wrote", "copy or memset (cudaDeviceSynchronize, an event or a stream)")
#define MISSING_STREAM   "no stream order, event or synchronization between the two"
#define MISSING_EDGE     "no edge of the graph, stream order, event or synchronization between the two"
#define MISSING_LAUNCHES "no stream order, event or synchronization between the two launches"
#define MISSING_GRID_WAIT                                                                                    \
    "the later launch may begin before the earlier one has ended (programmatic dependent launch), and its "  \
    "thread did not wait "                                                                                   \
    "for that with cudaGridDependencySynchronize()"
#define MISSING_ASYNC                                                                                        \
    "no wait for the asynchronous operation (its group, or the mbarrier it completes on) between"
#define MISSING_BLOCKS                                                                                       \
    "no release by the one and acquire by the other (fences included) and no barrier of both blocks between"
#define MISSING_CLUSTER                                                                                      \
    "the two blocks are of one cluster, and no cluster barrier and no release and acquire is between"
#define MISSING_LANES "both are lanes of one warp, and no __syncwarp() or barrier is between"
#define MISSING_WARPS "no __syncthreads() or other barrier of both warps between"
#define MISSING_CHANCE                                                                                       \
    "the one came first only because its fence.sc (__threadfence() is one) did, and nothing that was read "  \
    "or "                                                                                                    \
    "overwritten decides the order of the two fences: another execution may have it the other way round"

// What orders threads that are so far apart also orders those that are nearer.
typedef enum GrWidth {
    GR_WIDTH_NONE, // the order is not one of these
    GR_WIDTH_LANES,
    GR_WIDTH_WARPS,
    GR_WIDTH_CLUSTER,
    GR_WIDTH_BLOCKS,
    GR_WIDTH_LAUNCHES,
} GrWidth;

// By a sentence's end that one of these texts begins. NULL: GR_WIDTH_NONE.
GrWidth gr_missing_width(const char *order);

#endif
