// SPDX-License-Identifier: Apache-2.0
// held — kernels with loads that are held back: nvcc hoists a load out of its guard, and a select throws its value away
// for some of the threads. Between load and select, lanes that the device has parted meet in every way that there is,
// others store, and threads end.
#include "maker.h"

#include <string.h>

enum { WAITS = MBARS, NEVER = MBARS + 8, PARTS = 320, ROWS = 448, OPS = 64, TO = 256 };

typedef struct Round {
    Maker *m;
    uint32_t word;       // in DATA
    Where where;         // of the word
    uint32_t block;      // whose threads do so with global memory
    uint16_t holders;    // threads that load it, in each block
    uint16_t met;        // those that come after the load: met with the holders
    bool orders;         // there are such
    uint32_t parity;     // of the mbarrier
    bool over;           // an mbarrier's phase: what comes next is for who saw it
    uint32_t n, chosen;  // loads, and choices, up to now
    uint32_t late;       // arrivals
    uint8_t style[HELD]; // of each load
} Round;

// The same lanes in every block.
static uint16_t everywhere(const Maker *m, uint32_t lanes) {
    return (uint16_t)(lanes * 0x111) & all_slots(m);
}

static uint16_t some_lanes(Maker *m) { return everywhere(m, 1 + below(m, (1u << slots(m)) - 1)); }

static Statement *by(Maker *m, StatementOp op, uint16_t who) {
    Statement *s = add(m, op);
    s->who = who;
    return s;
}

// ---- Meetings that order nothing -----------------------------------------------------------------------------------

static uint32_t first_holder(const Round *r) { return (uint32_t)__builtin_ctz(r->holders); }

static void meet(Maker *m, MeetKind kind, uint16_t who) {
    bool aligned = kind >= MEET_LDMATRIX && kind <= MEET_WMMA;
    Statement *s = by(m, OP_MEET, aligned || chance(m, 3) ? EVERYONE : who);
    s->value = (uint8_t)kind;
    s->at = (uint16_t)(kind == MEET_STMATRIX ? PARTS : chance(m, 16) ? DATA : ROWS);
    if (aligned && m->k->block > 4)
        s->warp = 0;
}

// An arrival that comes when the thread's cp.async are done. The phase is never over.
static void arrive_late(Round *r) {
    uint16_t who = slot_of_every_block(r->m, first_holder(r));
    Statement *s = by(r->m, OP_CP_ASYNC, who);
    s->at = (uint16_t)(OPS + 16 + 4 * (r->late++ % 12));
    s->other = OWN;
    by(r->m, OP_CP_ARRIVE, who)->at = NEVER;
}

// ---- Meetings that order -------------------------------------------------------------------------------------------

static uint16_t with_others(Maker *m, uint16_t who) {
    return chance(m, 2) ? all_slots(m) : (uint16_t)(who | some_lanes(m));
}

// One more load of the same threads, of a word of its own, between the two halves of a meeting.
static void hold(Round *r);

static void by_mbarrier(Round *r) {
    uint16_t all = all_slots(r->m);
    mbar(r->m, OP_MBAR_ARRIVE, all, WAITS);
    hold(r);
    wait_mbar(r->m, all, WAITS, r->parity++ & 1);
    r->over = true;
}

static void by_half(Round *r) {
    Maker *m = r->m;
    uint32_t to = r->holders & 3 ? 0 : 1;
    r->orders = !(r->holders & (to ? 3 : 12));
    r->met = to ? 0x333 : 0xccc;
    Statement *s = add(m, OP_BAR_ARRIVE);
    s->warp = (int8_t)to;
    s->value = 4;
    s->count = 64;
    s = add(m, OP_BARRIER);
    s->warp = (int8_t)!to;
    s->value = 4;
    s->count = 64;
}

static void by_copy(Round *r) {
    Maker *m = r->m;
    uint16_t who = slot_of_every_block(m, first_holder(r));
    Statement *s = by(m, OP_CP_ASYNC, who);
    s->at = (uint16_t)(OPS + 4 * first_holder(r));
    s->other = OWN;
    by(m, OP_CP_COMMIT, all_slots(m));
    hold(r);
    by(m, OP_CP_WAIT, all_slots(m))->count = chance(m, 3) ? 9 : 0;
}

static void by_bulk(Round *r) {
    Maker *m = r->m;
    for (uint32_t b = 0; b < m->k->grid; b++) {
        Statement *s = by(m, OP_BULK_STORE, bit(b, first_holder(r)));
        s->at = (uint16_t)(TO + 16 * b);
        s->other = OWN;
    }
    by(m, OP_BULK_COMMIT, all_slots(m));
    hold(r);
    by(m, OP_BULK_WAIT, all_slots(m))->tests = chance(m, 3);
}

// Ways to order; those from BY_CLUSTER on are for clusters.
enum {
    BY_WARP,
    BY_ALL,
    BY_RED,
    BY_COUNT,
    BY_HALF,
    BY_MBARRIER,
    BY_COPY,
    BY_BULK,
    BY_FUNCTION,
    BY_FENCE,
    BY_STRONG,
    BY_CLUSTER,
    WAYS
};

static void order(Round *r, unsigned way) {
    Maker *m = r->m;
    uint16_t who = with_others(m, r->holders);
    Statement *s;
    r->met = way == BY_WARP || way == BY_FUNCTION ? who : all_slots(m);
    r->orders = way != BY_COPY && way != BY_BULK && way != BY_FENCE && way != BY_STRONG;
    if ((way == BY_WARP || way == BY_FUNCTION) && m->k->block > 4) { // one warp's do
        unsigned warp = r->holders & 3 ? 0 : 1;
        r->orders = !(r->holders & (warp ? 3 : 12));
        r->met &= warp ? 0xccc : 0x333;
    }
    if (way == BY_CLUSTER && !m->k->cluster)
        way = BY_COUNT;
    if (way == BY_HALF && m->k->block <= 4)
        way = BY_RED;
    switch (way) {
    case BY_WARP: add(m, OP_WARP_SYNC)->who = chance(m, 4) ? EVERYONE : who; break;
    case BY_ALL: add(m, OP_BARRIER); break;
    case BY_RED: add(m, OP_MEET)->value = MEET_RED; break;
    case BY_COUNT:
        s = add(m, OP_BARRIER);
        s->value = (uint8_t)(1 + below(m, 3));
        s->count = m->k->block > 4 ? 64 : 32; // a warp counts as a whole one
        break;
    case BY_HALF: by_half(r); break;
    case BY_MBARRIER: by_mbarrier(r); break;
    case BY_COPY: by_copy(r); break;
    case BY_BULK: by_bulk(r); break;
    case BY_FUNCTION: by(m, OP_AWAY, who)->value = !chance(m, 3); break;
    case BY_FENCE: fence(m, who, r->where, false); break;
    case BY_STRONG: strong(m, OP_RED, who, IN_GLOBAL, COUNTS, PTX_RELEASE); break;
    default:
        add(m, OP_CLUSTER_ARRIVE)->sem = chance(m, 4) ? PTX_RELAXED : PTX_RELEASE;
        add(m, OP_CLUSTER_WAIT);
    }
}

// ---- A round -------------------------------------------------------------------------------------------------------

static void others_store(Round *r) {
    Maker *m = r->m;
    uint32_t slot = below(m, slots(m));
    while (!chance(m, 16) && !(r->met >> slot & 1))
        slot = below(m, slots(m));
    uint16_t who = r->where == IN_GLOBAL ? bit(r->block, slot) : slot_of_every_block(m, slot);
    memory(m, OP_STORE, who, r->where, r->word)->if_seen = r->over;
}

static void hold(Round *r) {
    Maker *m = r->m;
    if (r->n == HELD)
        return;
    r->word = DATA + 4 * (chance(m, 12) ? below(m, HELD) : r->n);
    uint16_t who = r->where == IN_GLOBAL ? r->holders & (uint16_t)(0xf << 4 * r->block) : r->holders;
    Statement *s = memory(m, OP_HOLD, who, r->where, r->word);
    s->value = (uint8_t)r->n;
    s->size = (uint8_t)(1u << below(m, 3));
    r->style[r->n] = (uint8_t)below(m, HOLD_STYLES);
    s->count = r->style[r->n++];
}

static void choose(Round *r) {
    for (; r->chosen < r->n; r->chosen++) {
        Statement *s = by(r->m, OP_CHOOSE, chance(r->m, 4) ? EVERYONE : r->holders);
        s->value = (uint8_t)r->chosen;
        s->count = r->style[r->chosen];
        s->other = chance(r->m, 2) ? 0 : r->holders & some_lanes(r->m);
    }
}

static void a_round(Round *r, unsigned way, bool last) {
    Maker *m = r->m;
    r->where = m->k->cluster && chance(m, 6) ? IN_REMOTE : either(m);
    r->block = below(m, m->k->grid);
    r->holders = some_lanes(m);
    if (m->k->block > 4 && chance(m, 2)) { // of one warp
        uint16_t half = chance(m, 2) ? 0x333 : 0xccc;
        r->holders = r->holders & half ? r->holders & half : r->holders;
    }
    r->met = r->holders;
    r->over = false;
    if (!chance(m, 4)) // may come while the load is held back
        arrive_late(r);
    hold(r);
    if (chance(m, 16))
        others_store(r);
    for (uint32_t n = 1 + below(m, 2); n; n--)
        meet(m, (MeetKind)below(m, MEET_RED), with_others(m, r->holders));
    if (last && chance(m, 2))
        by(m, OP_EXIT, someone(m));
    bool first = chance(m, 5);
    if (first)
        choose(r);
    r->orders = false;
    if (!chance(m, 10))
        order(r, way);
    if (r->orders ? !chance(m, 4) : chance(m, 6))
        others_store(r);
    choose(r);
    if (chance(m, 6))
        barrier(m);
}

void kernel_make_held(uint64_t number, Kernel *k) {
    static const uint32_t blocks[] = {2, 4, 4, 34, 34, 64};
    Maker m = {.rng = gr_rng_fork(number, 0x0a1e, 0), .k = k};
    memset(k, 0, sizeof *k);
    k->kind = "held";
    k->marks = true;
    k->linked = chance(&m, 2);
    k->cluster = below(&m, 5) < 2;
    k->grid = k->cluster ? 2 : 1 + below(&m, 2);
    k->block = blocks[below(&m, 6)];
    k->launches = 1;
    Round r = {.m = &m};
    mbar(&m, OP_MBAR_INIT, slot_of_every_block(&m, 0), WAITS)->count = (uint8_t)slots(&m);
    mbar(&m, OP_MBAR_INIT, slot_of_every_block(&m, 0), NEVER)->count = 200;
    add(&m, OP_BARRIER);
    unsigned ways[WAYS];
    for (unsigned n = 0; n < WAYS; n++) { // in any order
        unsigned to = below(&m, n + 1);
        ways[n] = ways[to];
        ways[to] = n;
    }
    // What not every kernel can have, early.
    for (unsigned n = 0; n < WAYS; n++)
        if ((ways[n] == BY_CLUSTER && k->cluster) || (ways[n] == BY_HALF && k->block > 4)) {
            unsigned to = below(&m, 3), way = ways[n];
            ways[n] = ways[to];
            ways[to] = way;
        }
    bool loop = chance(&m, 6);
    uint32_t rounds = k->block > 4 ? 4 + below(&m, 2) : 6 + below(&m, 2);
    if (loop)
        add(&m, OP_LOOP)->count = 2;
    for (uint32_t n = 0; n < rounds; n++)
        a_round(&r, ways[n], n + 1 == rounds);
    if (loop)
        add(&m, OP_END_LOOP);
    if (k->cluster && !chance(&m, 8)) { // else what is remote may be gone
        add(&m, OP_CLUSTER_ARRIVE);
        add(&m, OP_CLUSTER_WAIT);
    }
}
