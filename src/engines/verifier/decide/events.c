// SPDX-License-Identifier: Apache-2.0
// events — one function for each structure writes it and reads it, so that the two cannot differ.
#include "engines/verifier/decide/events.h"

#include <string.h>

typedef enum Event { KERNEL, REASON, UNREAD, REMARK, POSSIBLE, FINDING } Event;

// Writes to `out`, or (out NULL) reads from `at` and makes what it reads in `arena`.
typedef struct Stream {
    StrBuf *out;
    const char *at, *end;
    Arena *arena;
    bool bad; // it broke off, or memory is out
} Stream;

static void bytes(Stream *s, void *p, size_t n) {
    if (s->out)
        gr_str_addn(s->out, p, n);
    else if ((size_t)(s->end - s->at) < n)
        s->bad = true;
    else {
        memcpy(p, s->at, n);
        s->at += n;
    }
}

// An array of *n elements; in reading, it is new and all 0. NULL stays NULL.
static void *array(Stream *s, const void *p, uint32_t *n, size_t size) {
    uint8_t there = p != NULL;
    bytes(s, n, sizeof *n);
    bytes(s, &there, 1);
    if (s->out || s->bad || !there)
        return there && !s->bad ? (void *)(uintptr_t)p : NULL;
    // Each element takes a byte at least.
    void *made = *n <= (size_t)(s->end - s->at) ? gr_arena_array(s->arena, *n + 1u, size) : NULL;
    s->bad |= !made;
    return made;
}

static void text(Stream *s, const char **p) {
    uint32_t n = s->out && *p ? (uint32_t)strlen(*p) + 1 : 0;
    char *made = array(s, *p, &n, 1);
    if (made)
        bytes(s, made, n);
    *p = made;
}

static void block(Stream *s, const uint8_t **p, uint32_t n) {
    uint8_t *made = array(s, *p, &n, 1);
    if (made)
        bytes(s, made, n);
    *p = made;
}

static void frame(Stream *s, GrFrame *f) {
    bytes(s, f, sizeof *f);
    text(s, &f->function);
    text(s, &f->file);
}

static void frames(Stream *s, const GrFrame **p, uint32_t n) {
    GrFrame *all = array(s, *p, &n, sizeof *all);
    for (uint32_t k = 0; all && k < n && !s->bad; k++) {
        GrFrame one = all[k]; // what is written keeps its pointers
        frame(s, &one);
        if (!s->out)
            all[k] = one;
    }
    *p = all;
}

// Numbers go as they lie in memory; every pointer follows, and the reader makes it anew.
static void access_of(Stream *s, GrAccess *a) {
    bytes(s, a, sizeof *a);
    text(s, &a->kind);
    text(s, &a->at.function);
    text(s, &a->at.file);
    frames(s, &a->inlined, a->n_inlined);
    frames(s, &a->near, 1);
    text(s, &a->kernel);
    text(s, &a->strong);
    text(s, &a->did);
}

static void finding(Stream *s, GrFinding *f) {
    bytes(s, f, sizeof *f);
    const char **texts[] = {&f->engine, &f->evidence, &f->kernel, &f->module,
                            &f->space,  &f->order,    &f->detail};
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
        text(s, texts[k]);
    block(s, &f->expected, f->size);
    block(s, &f->seen, f->size);
    for (unsigned k = 0; k < 2; k++)
        access_of(s, &f->accesses[k]);
}

static void possible_of(Stream *s, GrPossible *p) {
    bytes(s, p, sizeof *p);
    text(s, &p->text);
    text(s, &p->kernel);
    frame(s, &p->sides[0]);
    frame(s, &p->sides[1]);
}

// ---- Writing --------------------------------------------------------------------------------------------------------

static gr_status put(StrBuf *out, Event e, const char *first, const char *second) {
    Stream s = {.out = out};
    bytes(&s, &e, sizeof e);
    text(&s, &first);
    text(&s, &second);
    return out->oom ? GR_ERR_NOMEM : GR_OK;
}

static gr_status kernel(void *user, const char *name, const char *file) {
    return put(user, KERNEL, name, file);
}
static gr_status reason(void *user, const char *what) { return put(user, REASON, what, NULL); }
static gr_status unread(void *user, const char *what) { return put(user, UNREAD, what, NULL); }
static gr_status remark(void *user, const char *what) { return put(user, REMARK, what, NULL); }

static bool take(void *user, const GrFinding *f) {
    StrBuf *out = user;
    Event e = FINDING;
    Stream s = {.out = out};
    GrFinding copy = *f;
    bytes(&s, &e, sizeof e);
    finding(&s, &copy);
    return !out->oom;
}

static gr_status possible(void *user, const GrPossible *p) {
    StrBuf *out = user;
    Event e = POSSIBLE;
    Stream s = {.out = out};
    GrPossible copy = *p;
    bytes(&s, &e, sizeof e);
    possible_of(&s, &copy);
    return out->oom ? GR_ERR_NOMEM : GR_OK;
}

GrStaticSink gr_events_sink(StrBuf *out, Arena *arena) {
    return (GrStaticSink){arena, {out, take}, out, kernel, reason, unread, remark, NULL, possible};
}

// ---- Reading --------------------------------------------------------------------------------------------------------

static gr_status tell_one(Stream *s, const GrStaticSink *to) {
    Event e = KERNEL;
    const char *first = NULL, *second = NULL;
    GrFinding f = {0};
    GrPossible p = {0};
    bytes(s, &e, sizeof e);
    if (e == FINDING)
        finding(s, &f);
    else if (e == POSSIBLE) {
        possible_of(s, &p);
        first = p.text;
    } else {
        text(s, &first);
        text(s, &second);
    }
    if (s->bad || (e != FINDING && !first))
        return GR_ERR_FORMAT;
    switch (e) {
    case KERNEL: return to->kernel(to->user, first, second);
    case REASON: return to->reason(to->user, first);
    case UNREAD: return to->unread(to->user, first);
    case REMARK: return to->remark(to->user, first);
    case POSSIBLE: return to->possible(to->user, &p);
    case FINDING: return to->findings.take(to->findings.user, &f) ? GR_OK : GR_ERR_NOMEM;
    }
    return GR_ERR_FORMAT;
}

gr_status gr_events_tell(const char *data, size_t len, const GrStaticSink *to, gr_error *err) {
    Stream s = {.at = data, .end = data + len, .arena = to->arena};
    gr_status st = GR_OK;
    while (st == GR_OK && s.at < s.end)
        st = tell_one(&s, to);
    return st == GR_OK ? GR_OK : gr_fail(err, st, st == GR_ERR_NOMEM ? "out of memory" : "a child broke off");
}
