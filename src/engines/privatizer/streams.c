// SPDX-License-Identifier: Apache-2.0
#include "engines/privatizer/streams.h"

static uint64_t key_of(CUcontext context, CUstream stream) {
    return (uint64_t)(uintptr_t)stream * UINT64_C(0x9E3779B97F4A7C15) ^ (uint64_t)(uintptr_t)context;
}

static size_t last_with(const ProbeStreams *s, uint64_t key) {
    return (size_t)(uintptr_t)gr_map_get_u64(&s->number, key);
}

ProbeStream *gr_streams_find(ProbeStreams *s, CUcontext context, CUstream stream) {
    for (size_t n = last_with(s, key_of(context, stream)); n; n = s->all.data[n - 1].next) {
        ProbeStream *one = &s->all.data[n - 1];
        s->compared++;
        if (one->context == context && one->stream == stream)
            return one;
    }
    return NULL;
}

ProbeStream *gr_streams_add(ProbeStreams *s, CUcontext context, CUstream stream, CUevent event) {
    uint64_t key = key_of(context, stream);
    ProbeStream one = {context, stream, event, last_with(s, key)};
    if (!gr_vec_push(&s->all, one))
        return NULL;
    if (!gr_map_put_u64(&s->number, key, (void *)(uintptr_t)s->all.len)) {
        s->all.len--;
        return NULL;
    }
    return &s->all.data[s->all.len - 1];
}

void gr_streams_forget(ProbeStreams *s, CUcontext context) {
    size_t n = s->all.len;
    gr_map_free(&s->number);
    s->number = (Map){0};
    s->all.len = 0;
    for (size_t k = 0; k < n; k++) { // the array has room, and each comes to a place that was looked at
        ProbeStream one = s->all.data[k];
        if (one.context != context)
            (void)gr_streams_add(s, one.context, one.stream, one.event);
    }
}

void gr_streams_free(ProbeStreams *s) {
    gr_vec_free(&s->all);
    gr_map_free(&s->number);
}
