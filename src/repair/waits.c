// SPDX-License-Identifier: Apache-2.0
// waits — waits of the host, and of streams for each other.
#include "repair/submits.h"

#include <string.h>

#define DEVICE_WAIT "cudaDeviceSynchronize();"
#define DEVICE_WHAT "insert cudaDeviceSynchronize()"
#define STREAM_WHAT "insert cudaStreamSynchronize()"
#define EVENT_WHAT  "insert cudaStreamWaitEvent()"

// "cudaStreamSynchronize(s);" of what was submitted. NULL: its stream is not known.
static const char *stream_wait(GrPlaces *p, const GrSubmit *s) {
    return s->stream ? gr_arena_printf(&p->repairs->arena, "cudaStreamSynchronize(%s);", s->stream) : NULL;
}

static void add_before(GrPlaces *p, const GrPlace *at, const char *text, const char *what) {
    GrProposal one = gr_place_proposal(at, what);
    if (text && gr_place_put_before(p, &one, at->statement, text))
        gr_place_add(p, &one);
}

static void add_behind(GrPlaces *p, const GrPlace *at, const char *text, const char *what) {
    GrProposal one = gr_place_proposal(at, what);
    if (text && gr_place_put_behind(p, &one, at->statement, text))
        gr_place_add(p, &one);
}

void gr_place_host_wait(GrPlaces *p) {
    GrPlace at, kernel;
    GrSubmit submits[GR_SUBMITS];
    for (int k = 0; k < 2; k++) {
        const GrAccess *a = &p->found->accesses[k], *other = &p->found->accesses[1 - k];
        if (!a->host || !gr_place_of(p->repairs, a, &at))
            continue;
        unsigned n =
            gr_submits_kernel(p->repairs, other, &kernel) ? gr_submits(p->repairs, &kernel, submits) : 0;
        if (n == 1 && submits[0].place.function == at.function)
            add_before(p, &at, stream_wait(p, &submits[0]), STREAM_WHAT);
        add_before(p, &at, DEVICE_WAIT, DEVICE_WHAT);
    }
}

// ---- Two launches ------------------------------------------------------------------------------------------

// An event that is recorded in the stream between the two statements of one function. NULL: none.
static const GrToken *event_between(const GrSubmit *a, const GrSubmit *b) {
    const GrCode *c = &a->place.file->code;
    for (uint32_t k = a->place.statement->to; k + 4 < b->place.statement->from; k++) {
        const GrToken *t = &c->tokens.data[k];
        if (gr_token_is(t, "cudaEventRecord") && gr_token_is(t + 1, "(") && gr_token_is_name(t + 2) &&
            gr_token_is(t + 3, ",") && t[4].len == strlen(a->stream) &&
            !memcmp(t[4].text, a->stream, t[4].len))
            return t + 2;
    }
    return NULL;
}

// The stream of the second waits for what is in that of the first.
static const char *event_wait(GrPlaces *p, const GrSubmit *a, const GrSubmit *b) {
    const char *stream = b->stream ? b->stream : "0";
    const GrToken *event = a->stream ? event_between(a, b) : NULL;
    if (!a->stream)
        return NULL;
    if (event)
        return gr_arena_printf(&p->repairs->arena, "cudaStreamWaitEvent(%s, %.*s, 0);", stream,
                               (int)event->len, event->text);
    return gr_arena_printf(&p->repairs->arena,
                           "{ cudaEvent_t done; cudaEventCreateWithFlags(&done, cudaEventDisableTiming); "
                           "cudaEventRecord(done, %s); cudaStreamWaitEvent(%s, done, 0); }",
                           a->stream, stream);
}

// Whether a loop has both.
static bool in_loop(const GrStatement *a, const GrStatement *b) {
    for (const GrStatement *s = a->parent; s; s = s->parent)
        if (s->kind == GR_STMT_LOOP && b->from >= s->from && b->to <= s->to)
            return true;
    return false;
}

// Of statements of one function: what comes second in the text waits; then the first, for the second of a loop's last
// turn; both.
static void between_two(GrPlaces *p, const GrSubmit *a, const GrSubmit *b, bool host) {
    if (a->place.function != b->place.function || a->place.statement == b->place.statement)
        return;
    bool swap = b->place.statement->from < a->place.statement->from;
    const GrSubmit *first = swap ? b : a, *second = swap ? a : b;
    bool loop = in_loop(a->place.statement, b->place.statement);
    const char *forth = host ? stream_wait(p, first) : event_wait(p, first, second),
               *back = host ? stream_wait(p, second) : event_wait(p, second, first);
    const char *what = host ? STREAM_WHAT : EVENT_WHAT;
    GrProposal both = gr_place_proposal(&second->place, what);
    add_before(p, &second->place, forth, what);
    if (loop && forth && back && gr_place_put_before(p, &both, second->place.statement, forth) &&
        gr_place_put_before(p, &both, first->place.statement, back)) {
        add_before(p, &first->place, back, what);
        gr_place_add(p, &both);
    }
}

static void between_launches(GrPlaces *p, const GrPlace *one, const GrPlace *other, bool host) {
    GrSubmit a[GR_SUBMITS], b[GR_SUBMITS];
    unsigned n = gr_submits(p->repairs, one, a), m = gr_submits(p->repairs, other, b);
    for (unsigned i = 0; i < n; i++)
        for (unsigned k = 0; k < m; k++)
            between_two(p, &a[i], &b[k], host);
}

// Before each statement that submits one of the kernels, the last first: more likely it is the later one.
static void before_launches(GrPlaces *p, const GrPlace *kernel) {
    GrSubmit s[GR_SUBMITS];
    for (unsigned n = gr_submits(p->repairs, kernel, s); n--;)
        add_before(p, &s[n].place, DEVICE_WAIT, DEVICE_WHAT);
}

// ---- A launch and an operation of the API ------------------------------------------------------------------

static void behind_launches(GrPlaces *p, const GrPlace *kernel) {
    GrSubmit s[GR_SUBMITS];
    for (unsigned n = gr_submits(p->repairs, kernel, s); n--;) {
        add_behind(p, &s[n].place, stream_wait(p, &s[n]), STREAM_WHAT);
        if (!s[n].stream)
            add_behind(p, &s[n].place, DEVICE_WAIT, DEVICE_WHAT);
    }
}

static bool is_call(const GrToken *t, const char *kind) {
    if (!strncmp(kind, "free", 4))
        return gr_token_starts(t, "cudaFree");
    if (!strncmp(kind, "allocation", 10))
        return gr_token_starts(t, "cudaMalloc");
    return gr_token_starts(t, "cudaMemcpy") || gr_token_starts(t, "cudaMemset") ||
           gr_token_starts(t, "cudaMemPrefetch");
}

// Before host statements that do such an operation, the last first.
static void before_calls(GrPlaces *p, const GrPlace *in, const char *kind) {
    const GrCode *c = &in->file->code;
    for (size_t i = c->functions.len; i--;) {
        const GrFunctionCode *f = &c->functions.data[i];
        for (uint32_t k = f->body->to; !f->kernel && !f->device && k-- > f->body->from;) {
            GrPlace at = {in->file, in->path, f, NULL, c->tokens.data[k].line};
            if (!is_call(&c->tokens.data[k], kind))
                continue;
            at.statement = gr_cpp_at(c, f, at.line, 0);
            add_before(p, &at, DEVICE_WAIT, DEVICE_WHAT);
        }
    }
}

void gr_place_stream_wait(GrPlaces *p) {
    const GrAccess *a = p->found->accesses;
    GrPlace kernel[2], at;
    bool is[2] = {gr_submits_kernel(p->repairs, &a[0], &kernel[0]),
                  gr_submits_kernel(p->repairs, &a[1], &kernel[1])};
    if (is[0] && is[1]) {
        between_launches(p, &kernel[1], &kernel[0], true);
        between_launches(p, &kernel[1], &kernel[0], false);
        before_launches(p, &kernel[0]);
        before_launches(p, &kernel[1]);
        return;
    }
    unsigned other = is[0];
    const char *kind = a[other].kind ? a[other].kind : "copy";
    if (!a[other].host && gr_place_of(p->repairs, &a[other], &at)) // the call's own line
        add_before(p, &at, DEVICE_WAIT, DEVICE_WHAT);
    if (!is[0] && !is[1])
        return;
    bool first = !strncmp(kind, "allocation", 10) || (other == 1 && strncmp(kind, "free", 4) != 0);
    if (first) // the operation comes before the launch
        before_launches(p, &kernel[1 - other]);
    behind_launches(p, &kernel[1 - other]);
    if (!first)
        before_launches(p, &kernel[1 - other]);
    if (!a[other].host)
        before_calls(p, &kernel[1 - other], kind);
}

// In a graph that is being captured nothing may wait but a stream for an event.
void gr_place_edge(GrPlaces *p) {
    const GrAccess *a = p->found->accesses;
    GrPlace kernel[2];
    if (gr_submits_kernel(p->repairs, &a[0], &kernel[0]) && gr_submits_kernel(p->repairs, &a[1], &kernel[1]))
        between_launches(p, &kernel[1], &kernel[0], false);
}
