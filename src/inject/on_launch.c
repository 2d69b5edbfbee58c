// SPDX-License-Identifier: Apache-2.0
// Launches of kernels, and the captures in which they are not run.
#include "inject/handlers.h"
#include "inject/launches.h"
#include "inject/plant.h"

CUresult gr_on_launch_kernel(CUresult (*real)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned,
                                              unsigned, unsigned, CUstream, void **, void **),
                             CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                             unsigned bz, unsigned shared, CUstream stream, void **params, void **extra) {
    Launching l = {.launch = {.func = f,
                              .grid = {gx, gy, gz},
                              .block = {bx, by, bz},
                              .shared_bytes = shared,
                              .stream = gr_call_stream(stream)},
                   .params = params,
                   .extra = extra};
    gr_plant_before(l.launch.stream);
    gr_launch_begin(&l);
    CUresult rc =
        l.shown ? gr_launch_around(&l) : real(l.twin, gx, gy, gz, bx, by, bz, shared, stream, params, extra);
    if (gr_launch_again(&l, rc))
        rc = real(f, gx, gy, gz, bx, by, bz, shared, stream, params, extra);
    return gr_launch_end(&l, rc);
}

CUresult gr_on_launch_kernel_ex(CUresult (*real)(const CUlaunchConfig *, CUfunction, void **, void **),
                                const CUlaunchConfig *c, CUfunction f, void **params, void **extra) {
    if (!c || (c->numAttrs && !c->attrs))
        return real(c, f, params, extra);
    Launching l = {.launch = {.func = f,
                              .grid = {c->gridDimX, c->gridDimY, c->gridDimZ},
                              .block = {c->blockDimX, c->blockDimY, c->blockDimZ},
                              .shared_bytes = c->sharedMemBytes,
                              .stream = gr_call_stream(c->hStream),
                              .attributes = c->attrs,
                              .n_attributes = c->numAttrs},
                   .params = params,
                   .extra = extra};
    gr_plant_before(l.launch.stream);
    gr_launch_begin(&l);
    CUresult rc = l.shown ? gr_launch_around(&l) : real(c, l.twin, params, extra);
    if (gr_launch_again(&l, rc))
        rc = real(c, f, params, extra);
    return gr_launch_end(&l, rc);
}

CUresult gr_on_launch_cooperative(CUresult (*real)(CUfunction, unsigned, unsigned, unsigned, unsigned,
                                                   unsigned, unsigned, unsigned, CUstream, void **),
                                  CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                                  unsigned by, unsigned bz, unsigned shared, CUstream stream, void **params) {
    Launching l = {.launch = {.func = f,
                              .grid = {gx, gy, gz},
                              .block = {bx, by, bz},
                              .shared_bytes = shared,
                              .stream = gr_call_stream(stream),
                              .cooperative = true},
                   .params = params};
    gr_plant_before(l.launch.stream);
    gr_launch_begin(&l);
    CUresult rc =
        l.shown ? gr_launch_around(&l) : real(l.twin, gx, gy, gz, bx, by, bz, shared, stream, params);
    if (gr_launch_again(&l, rc))
        rc = real(f, gx, gy, gz, bx, by, bz, shared, stream, params);
    return gr_launch_end(&l, rc);
}

// ---- Captures -------------------------------------------------------------------------------------------------

static CUresult capture_began(CUresult rc) {
    if (rc == CUDA_SUCCESS)
        gr_capture_began();
    return rc;
}

CUresult gr_on_begin_capture_v1(CUresult (*real)(CUstream), CUstream stream) {
    return capture_began(real(stream));
}

CUresult gr_on_begin_capture(CUresult (*real)(CUstream, CUstreamCaptureMode), CUstream stream,
                             CUstreamCaptureMode mode) {
    return capture_began(real(stream, mode));
}

CUresult gr_on_begin_capture_to_graph(CUresult (*real)(CUstream, CUgraph, const CUgraphNode *,
                                                       const CUgraphEdgeData *, size_t, CUstreamCaptureMode),
                                      CUstream stream, CUgraph graph, const CUgraphNode *after,
                                      const CUgraphEdgeData *edges, size_t n, CUstreamCaptureMode mode) {
    return capture_began(real(stream, graph, after, edges, n, mode));
}

CUresult gr_on_end_capture(CUresult (*real)(CUstream, CUgraph *), CUstream stream, CUgraph *out) {
    CUresult rc = real(stream, out);
    // These two errors end a capture as well.
    if (rc == CUDA_SUCCESS || rc == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED ||
        rc == CUDA_ERROR_STREAM_CAPTURE_UNJOINED)
        gr_capture_ended();
    return rc;
}
