// SPDX-License-Identifier: Apache-2.0
// Tells an engine that must know before the driver what is about to come: work other than single launches, and streams.
#include "inject/graphs.h"
#include "inject/handlers.h"
#include "inject/launches.h"
#include "inject/memory.h"

// This thread's call has told of work.
static __thread bool coming;
static __thread GrComing work;

bool gr_work_comes(GrComing w) {
    const Session *s = &gr_session;
    if (!s->engine->submitting)
        return false;
    w.stream = gr_call_stream(w.stream);
    if (gr_stream_is_captured(w.stream))
        return false;
    // What the engine asks of the driver would break a capture that is open in another stream.
    bool capturing = gr_a_capture_is_open();
    unsigned aside = capturing ? gr_aside_begin() : 0;
    bool staged = s->engine->submitting(s->engine_self, &w);
    if (capturing)
        gr_aside_end(aside);
    coming = true;
    work = w;
    return staged;
}

void gr_work_came(void) {
    const Session *s = &gr_session;
    if (coming && s->engine->submitted)
        s->engine->submitted(s->engine_self, &work);
    coming = false;
}

void gr_host_waits(GrWaitKind kind, CUstream stream) {
    const Session *s = &gr_session;
    if (s->engine->waiting)
        s->engine->waiting(s->engine_self, &(GrWait){kind, gr_call_stream(stream)});
}

void gr_host_waited(GrWaitKind kind, CUstream stream) {
    const Session *s = &gr_session;
    if (s->engine->waited)
        s->engine->waited(s->engine_self, &(GrWait){kind, gr_call_stream(stream)});
}

bool gr_copy_comes(const GrCopy *c, CUstream stream, bool async) {
    return c->to.at && gr_work_comes((GrComing){.kind = GR_COMING_COPY,
                                                .stream = stream,
                                                .async = async,
                                                .to = c->to.at,
                                                .from = c->from.at,
                                                .size = c->to.width * c->to.height * c->to.depth});
}

// ---- Streams ----------------------------------------------------------------------------------------------------

static CUresult created(CUresult rc, unsigned flags) {
    const Session *s = &gr_session;
    if (rc != CUDA_SUCCESS || !s->engine->stream_created)
        return rc;
    bool capturing = gr_a_capture_is_open();
    unsigned aside = capturing ? gr_aside_begin() : 0;
    s->engine->stream_created(s->engine_self, flags);
    if (capturing)
        gr_aside_end(aside);
    return rc;
}

CUresult gr_on_stream_create(CUresult (*real)(CUstream *, unsigned), CUstream *out, unsigned flags) {
    return created(real(out, flags), flags);
}

CUresult gr_on_stream_create_with_priority(CUresult (*real)(CUstream *, unsigned, int), CUstream *out,
                                           unsigned flags, int priority) {
    return created(real(out, flags, priority), flags);
}

CUresult gr_on_stream_destroy(CUresult (*real)(CUstream), CUstream stream) {
    CUresult (*ask)(CUstream, unsigned *) =
        (CUresult(*)(CUstream, unsigned *))gr_driver_function("cuStreamGetFlags");
    unsigned flags = 0;
    bool known = gr_session.engine->stream_destroyed && ask && stream && ask(stream, &flags) == CUDA_SUCCESS;
    CUresult rc = real(stream);
    if (rc != CUDA_SUCCESS || !known)
        return rc;
    gr_session_lock();
    gr_session.engine->stream_destroyed(gr_session.engine_self, flags);
    gr_session_unlock();
    return rc;
}
