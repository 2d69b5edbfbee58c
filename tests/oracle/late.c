// SPDX-License-Identifier: Apache-2.0
// late — see late.h.
#include "late.h"

#include <stdlib.h>
#include <string.h>

// The letter and the number of a register like %h3, to which the access loads. 0: it does not load to such a one.
static char mark_of(const VmAccessEvent *e, uint32_t *number) {
    const PtxInstr *i = e->where.stmt->instr;
    if (i->op != PTX_OP_LD || i->n_operands < 1 || i->operands[0].kind != PTX_O_REG)
        return 0;
    const char *name = i->operands[0].reg->name;
    if (name[0] != '%' || !strchr("hvgq", name[1]) || name[2] < '0' || name[2] > '9')
        return 0;
    *number = (uint32_t)atoi(name + 2);
    return name[1];
}

static bool is_open(const LateLoad *l, uint32_t thread) {
    return l->thread == thread && l->fate == FATE_OPEN;
}

// Lanes come to a place; those that came before, in another part, are with them unless they have been there already.
// Yields which of t->late->coming they are.
static uint32_t come(Trace *t, const VmWhere *w, MeetKind kind, bool holding) {
    size_t k = 0;
    for (; k < t->late->coming.len; k++) {
        const Coming *x = &t->late->coming.data[k];
        if (x->launch == w->launch && x->block == w->block_linear && x->warp == w->warp &&
            x->site == w->site && !(x->lanes & w->mask))
            break;
    }
    Coming fresh = {w->launch, w->block_linear, w->warp, w->site, 0, 0, false};
    if (k == t->late->coming.len && !gr_vec_push(&t->late->coming, fresh)) {
        t->nomem = true;
        return 0;
    }
    Coming *c = &t->late->coming.data[k];
    c->lanes |= w->mask;
    c->parts++;
    c->holds |= holding;
    if (c->parts > 1 && c->holds)
        t->late->meetings |= UINT64_C(1) << kind;
    return (uint32_t)k;
}

// The thread is about to load. If it has not chosen the value of last time, the device takes that as used.
static void begin(Trace *t, const VmWhere *w, uint32_t thread, uint32_t number, uint32_t way) {
    for (size_t k = 0; k < t->late->loads.len; k++)
        if (is_open(&t->late->loads.data[k], thread) && t->late->loads.data[k].number == number)
            t->late->loads.data[k].fate = FATE_USED;
    LateLoad l = {thread,    trace_event(t, thread, w, (Event){.kind = EV_OTHER, .what = "thrown away"}),
                  number,    way,
                  FATE_OPEN, false};
    if (!gr_vec_push(&t->late->loads, l))
        t->nomem = true;
}

static void decide(Trace *t, uint32_t thread, uint32_t number, bool uses) {
    for (size_t k = 0; k < t->late->loads.len; k++)
        if (is_open(&t->late->loads.data[k], thread) && t->late->loads.data[k].number == number)
            t->late->loads.data[k].fate = uses ? FATE_USED : FATE_THROWN_AWAY;
}

// The device tells of the load: of the first that it has not told yet.
static void fill(Trace *t, const VmAccessEvent *e, uint32_t lane, uint32_t thread, uint32_t number) {
    for (size_t k = 0; k < t->late->loads.len; k++) {
        LateLoad *l = &t->late->loads.data[k];
        if (l->thread != thread || l->number != number || l->told)
            continue;
        Event *x = &t->events.data[l->event];
        l->told = true;
        x->site = e->where.site;
        x->line = e->where.stmt->line;
        x->reads = true;
        x->sem = PTX_WEAK;
        x->size = e->size;
        x->place = (Place){.space = e->space, .at = e->address[lane]};
        if (e->space == PTX_SHARED) {
            x->place.launch = e->where.launch;
            x->place.block = e->owner;
        }
        return;
    }
    t->late->wrong = "a load was told that was not made";
}

static void at_meeting(Trace *t, const VmWhere *w, MeetKind kind) {
    bool holding = false;
    for (size_t k = 0; k < t->late->loads.len && !holding; k++) {
        const LateLoad *l = &t->late->loads.data[k];
        const Thread *x = &t->threads.data[l->thread];
        bool here = w->mask >> x->lane & 1;
        // Of lanes that end, others hold.
        holding = is_open(l, l->thread) && x->launch == w->launch && x->block == w->block_linear &&
                  x->warp == w->warp && here == (kind != MEET_EXIT);
    }
    if (kind == MEET_EXIT)
        t->late->meetings |= holding ? UINT64_C(1) << kind : 0;
    else
        (void)come(t, w, kind, holding);
}

bool late_access(Trace *t, const VmAccessEvent *e) {
    uint32_t number = 0;
    char letter = mark_of(e, &number);
    uint32_t way = letter == 'h' ? come(t, &e->where, MEET_NONE, false) : 0;
    if (letter == 'q')
        at_meeting(t, &e->where, (MeetKind)number);
    for (uint32_t m = letter && letter != 'q' ? e->where.mask : 0; m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m), thread = trace_thread(t, &e->where, lane);
        switch (letter) {
        case 'h': begin(t, &e->where, thread, number, way); break;
        case 'g': decide(t, thread, number, e->address[lane] & 4); break;
        default: fill(t, e, lane, thread, number);
        }
    }
    return letter != 0;
}

Late *late_new(void) { return calloc(1, sizeof(Late)); }

void late_free(Late *l) {
    if (!l)
        return;
    gr_vec_free(&l->loads);
    gr_vec_free(&l->coming);
    free(l);
}

void late_orders(Trace *t, uint32_t thread) {
    for (size_t k = 0; k < t->late->loads.len; k++)
        if (is_open(&t->late->loads.data[k], thread))
            t->late->loads.data[k].fate = FATE_USED;
}

void late_arrives(Trace *t, uint32_t thread) {
    for (size_t k = 0; k < t->late->loads.len; k++) {
        const LateLoad *l = &t->late->loads.data[k];
        if (is_open(l, thread) && t->late->coming.data[l->way].parts > 1)
            t->late->meetings |= UINT64_C(1) << MEET_CP_ARRIVE;
    }
}

void late_end(Trace *t) {
    for (size_t k = 0; k < t->late->loads.len; k++) {
        const LateLoad *l = &t->late->loads.data[k];
        if (l->fate != FATE_USED)
            continue;
        t->events.data[l->event].kind = EV_ACCESS;
        t->events.data[l->event].what = "read";
        if (!l->told)
            t->late->wrong = "a load was never told";
    }
}
