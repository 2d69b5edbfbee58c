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
    ProbeStream one = {context, stream, event, last_with(s, key), false};
    if (!gr_vec_reserve(&s->open, s->all.len + 1) || !gr_vec_push(&s->all, one))
        return NULL;
    if (!gr_map_put_u64(&s->number, key, (void *)(uintptr_t)s->all.len)) {
        s->all.len--;
        return NULL;
    }
    return &s->all.data[s->all.len - 1];
}

void gr_streams_open(ProbeStreams *s, ProbeStream *one) {
    if (!one->open)
        s->open.data[s->open.len++] = (size_t)(one - s->all.data);
    one->open = true;
}

bool gr_streams_close(ProbeStreams *s, CUcontext context, bool (*is_over)(void *data, const ProbeStream *one),
                      void *data) {
    bool all = true;
    size_t left = 0;
    for (size_t k = 0; k < s->open.len; k++) {
        ProbeStream *one = &s->all.data[s->open.data[k]];
        bool asked = all && one->context == context;
        one->open = !asked || !is_over(data, one);
        all = all && (!asked || !one->open);
        if (one->open)
            s->open.data[left++] = s->open.data[k];
    }
    s->open.len = left;
    return all;
}

void gr_streams_forget(ProbeStreams *s, CUcontext context) {
    size_t n = s->all.len;
    gr_map_free(&s->number);
    s->number = (Map){0};
    s->all.len = s->open.len = 0;
    for (size_t k = 0; k < n; k++) { // the array has room, and each comes to a place that was looked at
        ProbeStream one = s->all.data[k];
        ProbeStream *kept =
            one.context == context ? NULL : gr_streams_add(s, one.context, one.stream, one.event);
        if (kept && one.open)
            gr_streams_open(s, kept);
    }
}

void gr_streams_free(ProbeStreams *s) {
    gr_vec_free(&s->all);
    gr_vec_free(&s->open);
    gr_map_free(&s->number);
}
