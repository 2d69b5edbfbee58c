// SPDX-License-Identifier: Apache-2.0
// patterns — what programs do to be free of races: each writes statements that are, in every execution.
#include "maker.h"

// One thread writes, says so, and others that are told read. `link`: a third passes it on.
static void message(Maker *m) {
    Where flags = m->k->grid > 1 && !chance(m, 3) ? IN_GLOBAL : either(m),
          data = flags == IN_SHARED ? either(m) : IN_GLOBAL;
    uint32_t at = DATA + 8 * below(m, 4), flag = FLAGS + 8 * below(m, 4), n = slots(m);
    uint32_t block = below(m, m->k->grid), slot = below(m, n);
    uint16_t writer = bit(block, slot), readers = 0, link = 0;
    for (uint32_t k = 1 + below(m, 2); k; k--) {
        uint32_t b = flags == IN_SHARED ? block : below(m, m->k->grid);
        readers |= bit(b, below(m, n));
    }
    readers &= (uint16_t)~writer;
    if (chance(m, 3)) {
        link = bit(flags == IN_SHARED ? block : below(m, m->k->grid), below(m, n));
        link &= (uint16_t) ~(writer | readers);
    }
    memory(m, OP_STORE, writer, data, at);
    bool fenced = chance(m, 2);
    if (fenced)
        fence(m, writer, flags, false);
    static const StatementOp ways[] = {OP_STORE, OP_EXCH, OP_RED};
    StatementOp how = ways[below(m, 3)];
    Statement *s = strong(m, how, writer, flags, flag, fenced ? PTX_RELAXED : PTX_RELEASE);
    s->value = 1;
    if (fenced && how == OP_STORE && chance(m, 3))
        s->sem = PTX_VOLATILE;
    uint32_t sees = 1;
    if (link) {
        if (chance(m, 2)) { // a read-modify-write in between
            s = strong(m, OP_ATOM, link, flags, flag, PTX_RELAXED);
            s->tests = true;
            s->value = 1;
            sees = 2;
        } else {
            s = strong(m, OP_AWAIT, link, flags, flag, PTX_ACQUIRE);
            s->value = 1;
            flag = FLAGS + 8 * ((flag - FLAGS) / 8 + 1) % 32;
            s = strong(m, OP_STORE, link, flags, flag, PTX_RELEASE);
            s->value = 1;
            s->if_seen = true;
        }
    }
    bool fences = chance(m, 2);
    s = strong(m, OP_AWAIT, readers, flags, flag, fences ? PTX_RELAXED : PTX_ACQUIRE);
    s->value = (uint8_t)sees;
    if (fences)
        fence(m, readers, flags, true);
    s = memory(m, chance(m, 4) && !(readers & (readers - 1)) ? OP_STORE : OP_LOAD, readers, data, at);
    s->if_seen = true;
}

static void locked(Maker *m) {
    Where where = m->k->grid > 1 ? IN_GLOBAL : either(m);
    uint32_t lock = LOCKS + 4 * below(m, 3), at = DATA + 4 * below(m, 8);
    uint16_t who = 0;
    for (uint32_t k = 2 + below(m, 2); k; k--)
        who |= someone(m);
    bool fences = chance(m, 2);
    // One after the other in the text: lanes of a warp in turn.
    for (uint16_t left = who; left; left &= (uint16_t)(left - 1)) {
        uint16_t one = left & (uint16_t)-left;
        if (chance(m, 2) && (left & (left - 1)))
            one = left; // all by the same statements
        strong(m, OP_LOCK, one, where, lock, fences ? PTX_RELAXED : PTX_ACQUIRE);
        if (fences)
            fence(m, one, where, true);
        memory(m, OP_LOAD, one, where, at)->if_seen = true;
        memory(m, OP_STORE, one, where, at)->if_seen = true;
        if (fences)
            fence(m, one, where, true);
        Statement *s = strong(m, chance(m, 2) ? OP_STORE : OP_EXCH, one, where, lock,
                              fences ? PTX_RELAXED : PTX_RELEASE);
        s->if_seen = true;
        s->value = 0;
        if (one == left)
            break;
    }
}

// Each writes its own, and after a barrier somebody else's is read.
static void phases(Maker *m) {
    Where where = either(m);
    uint32_t n = slots(m), rounds = 1 + below(m, 2), shift = 0;
    bool loop = chance(m, 4), warp = chance(m, 3) && m->k->block <= 4;
    if (loop)
        add(m, OP_LOOP)->count = 2;
    for (uint32_t r = 0; r < rounds; r++) {
        for (uint32_t s = 0; s < n; s++)
            for (uint32_t b = 0; b < m->k->grid; b++)
                if (!chance(m, 3))
                    memory(m, OP_STORE, where == IN_SHARED ? slot_of_every_block(m, s) : bit(b, s), where,
                           OWN + 4 * (s + n * (where == IN_SHARED ? 0 : b)));
        if (warp)
            add(m, OP_WARP_SYNC)->who = all_slots(m);
        else
            barrier(m);
        shift = 1 + below(m, n - 1);
        for (uint32_t s = 0; s < n; s++)
            for (uint32_t b = 0; b < m->k->grid; b++)
                if (!chance(m, 3))
                    memory(m, OP_LOAD, bit(b, s), where,
                           OWN + 4 * ((s + shift) % n + n * (where == IN_SHARED ? 0 : b)));
        if (warp)
            add(m, OP_WARP_SYNC)->who = all_slots(m);
        else
            barrier(m);
    }
    if (loop)
        add(m, OP_END_LOOP);
}

static void tree(Maker *m) {
    for (uint32_t s = 0; s < slots(m); s++)
        memory(m, OP_STORE, slot_of_every_block(m, s), IN_SHARED, OWN + 4 * s);
    for (uint32_t d = slots(m) / 2; d; d /= 2) {
        barrier(m);
        for (uint32_t s = 0; s < d; s++) {
            memory(m, OP_LOAD, slot_of_every_block(m, s), IN_SHARED, OWN + 4 * (s + d));
            memory(m, OP_STORE, slot_of_every_block(m, s), IN_SHARED, OWN + 4 * s);
        }
    }
}

// Everyone counts; whoever is last reads all.
static void last_one(Maker *m) {
    uint32_t n = 0;
    uint16_t who = slot_of_every_block(m, 0);
    if (m->k->grid == 1)
        who = all_slots(m);
    for (uint16_t left = who; left; left &= (uint16_t)(left - 1), n++)
        memory(m, OP_STORE, left & (uint16_t)-left, IN_GLOBAL, OWN + 4 * n);
    bool fences = chance(m, 2);
    if (fences)
        fence(m, who, IN_GLOBAL, false);
    Statement *s = strong(m, OP_ATOM, who, IN_GLOBAL, COUNTS, fences ? PTX_RELAXED : PTX_ACQ_REL);
    s->tests = true;
    s->value = (uint8_t)(n - 1);
    if (fences)
        fence(m, who, IN_GLOBAL, true);
    for (uint32_t k = 0; k < n; k++)
        memory(m, OP_LOAD, who, IN_GLOBAL, OWN + 4 * k)->if_seen = true;
}

static void arrivals(Maker *m) {
    uint32_t n = slots(m), at = MBARS + 8 * below(m, 2), rounds = 1 + below(m, 2);
    Where where = either(m);
    init_mbar(m, at, n);
    for (uint32_t r = 0; r < rounds; r++) {
        for (uint32_t s = 0; s < n; s++)
            for (uint32_t b = 0; b < m->k->grid; b++)
                memory(m, OP_STORE, bit(b, s), where,
                       OWN + 4 * (s + n * (r + (where == IN_SHARED ? 0 : 2 * b))));
        bool fenced = chance(m, 5);
        if (fenced)
            fence(m, all_slots(m), IN_SHARED, false);
        Statement *s = mbar(m, OP_MBAR_ARRIVE, all_slots(m), at);
        if (fenced || chance(m, 3)) {
            s->sem = fenced ? PTX_RELAXED : PTX_RELEASE;
            s->scope = PTX_SCOPE_CTA;
        }
        wait_mbar(m, all_slots(m), at, r);
        for (uint32_t t = 0; t < n; t++)
            for (uint32_t b = 0; b < m->k->grid; b++) {
                Statement *l = memory(m, OP_LOAD, bit(b, t), where,
                                      OWN + 4 * ((t + 1) % n + n * (r + (where == IN_SHARED ? 0 : 2 * b))));
                l->if_seen = true;
            }
    }
}

static void copies(Maker *m) {
    uint32_t slot = below(m, slots(m)), at = DATA + 16 * below(m, 2), from = OWN + 16 * below(m, 4);
    uint16_t who = slot_of_every_block(m, slot);
    Statement *s = add(m, OP_CP_ASYNC);
    s->who = who;
    s->at = (uint16_t)at;
    s->other = (uint16_t)from;
    s->size = (uint8_t)(4 << below(m, 3));
    add(m, OP_CP_COMMIT)->who = who;
    s = add(m, OP_CP_WAIT);
    s->who = who;
    s->count = chance(m, 3) ? 9 : 0;
    barrier(m);
    memory(m, OP_LOAD, slot_of_every_block(m, below(m, slots(m))), IN_SHARED, at);
}

static void copies_mbarrier(Maker *m) {
    uint32_t at = DATA + 16 * below(m, 2), bar = MBARS + 8 * below(m, 2);
    uint16_t who = slot_of_every_block(m, below(m, slots(m)));
    init_mbar(m, bar, 1);
    Statement *s = add(m, OP_CP_ASYNC);
    s->who = who;
    s->at = (uint16_t)at;
    s->other = OWN;
    mbar(m, OP_CP_ARRIVE, who, bar);
    uint16_t readers = slot_of_every_block(m, below(m, slots(m)));
    wait_mbar(m, readers, bar, 0);
    memory(m, OP_LOAD, readers, IN_SHARED, at)->if_seen = true;
}

static void bulk_load(Maker *m) {
    uint32_t at = DATA + 16 * below(m, 2), bar = MBARS + 8 * below(m, 2);
    uint16_t who = slot_of_every_block(m, below(m, slots(m))), all = all_slots(m);
    init_mbar(m, bar, 1);
    if (chance(m, 2)) { // the stage is filled again
        memory(m, OP_LOAD, slot_of_every_block(m, below(m, slots(m))), IN_SHARED, at + 4 * below(m, 4));
        uint32_t fencer = below(m, 3); // a thread before the barrier, the issuer, or none
        if (fencer == 0)
            add(m, OP_PROXY_FENCE)->who = slot_of_every_block(m, below(m, slots(m)));
        barrier(m);
        if (fencer == 1)
            add(m, OP_PROXY_FENCE)->who = who;
    }
    Statement *s = mbar(m, OP_MBAR_EXPECT, who, bar);
    s->count = 16;
    s = add(m, OP_BULK_LOAD);
    s->who = who;
    s->at = (uint16_t)at;
    s->other = OWN;
    s->value = (uint8_t)(bar - MBARS);
    wait_mbar(m, all, bar, 0);
    memory(m, OP_LOAD, all, IN_SHARED, at)->if_seen = true;
}

static void bulk_store(Maker *m) {
    uint32_t slot = below(m, slots(m)), writer = below(m, slots(m)), block = below(m, m->k->grid);
    uint16_t who = bit(block, slot);
    memory(m, OP_STORE, slot_of_every_block(m, writer), IN_SHARED, DATA + 4 * below(m, 4));
    uint32_t fencer = below(m, 3); // the writer, the issuer or a third
    if (fencer == 0)
        add(m, OP_PROXY_FENCE)->who = slot_of_every_block(m, writer);
    if (chance(m, 3)) // the destination is read before
        memory(m, OP_LOAD, slot_of_every_block(m, below(m, slots(m))), IN_GLOBAL, OWN + 4 * below(m, 4));
    barrier(m);
    if (fencer == 2) {
        add(m, OP_PROXY_FENCE)->who = slot_of_every_block(m, below(m, slots(m)));
        barrier(m);
    }
    if (fencer == 1)
        add(m, OP_PROXY_FENCE)->who = who;
    Statement *s = add(m, chance(m, 3) ? OP_BULK_REDUCE : OP_BULK_STORE);
    s->who = who;
    s->at = OWN;
    s->other = DATA;
    add(m, OP_BULK_COMMIT)->who = who;
    if (chance(m, 2)) {
        s = add(m, OP_BULK_WAIT);
        s->who = who;
        s->tests = true;
        memory(m, OP_STORE, who, IN_SHARED, DATA + 8);
    }
    add(m, OP_BULK_WAIT)->who = who;
    barrier(m);
    memory(m, OP_LOAD, bit(block, below(m, slots(m))), IN_GLOBAL, OWN + 4);
}

static void cluster_phases(Maker *m) {
    uint32_t slot = below(m, slots(m)), other = below(m, slots(m));
    memory(m, OP_STORE, slot_of_every_block(m, slot), IN_SHARED, OWN + 64);
    bool relaxed = chance(m, 3);
    if (relaxed) {
        Statement *s = add(m, OP_FENCE);
        s->sem = PTX_ACQ_REL;
        s->scope = PTX_SCOPE_CLUSTER;
    }
    add(m, OP_CLUSTER_ARRIVE)->sem = relaxed ? PTX_RELAXED : PTX_RELEASE;
    add(m, OP_CLUSTER_WAIT);
    memory(m, OP_LOAD, slot_of_every_block(m, other), IN_REMOTE, OWN + 64);
    add(m, OP_CLUSTER_ARRIVE);
    add(m, OP_CLUSTER_WAIT);
}

static void remote_arrival(Maker *m) {
    uint32_t at = MBARS + 16, slot = below(m, slots(m)), other = below(m, slots(m));
    init_mbar(m, at, 1);
    add(m, OP_CLUSTER_ARRIVE);
    add(m, OP_CLUSTER_WAIT);
    memory(m, OP_STORE, slot_of_every_block(m, slot), IN_REMOTE, OWN + 80);
    Statement *s = mbar(m, OP_MBAR_ARRIVE, slot_of_every_block(m, slot), at);
    s->where = IN_REMOTE;
    s->sem = PTX_RELEASE;
    s->scope = PTX_SCOPE_CLUSTER;
    s = mbar(m, OP_MBAR_WAIT, slot_of_every_block(m, other), at);
    s->sem = PTX_ACQUIRE;
    s->scope = PTX_SCOPE_CLUSTER;
    memory(m, OP_LOAD, slot_of_every_block(m, other), IN_SHARED, OWN + 80)->if_seen = true;
    add(m, OP_CLUSTER_ARRIVE);
    add(m, OP_CLUSTER_WAIT);
}

// One warp produces, the other consumes.
void make_named_barriers(Maker *m) {
    uint32_t to = below(m, 2);
    memory(m, OP_STORE, slot_of_every_block(m, 2 * to), IN_SHARED, OWN + 96);
    Statement *s = add(m, OP_BAR_ARRIVE);
    s->warp = (int8_t)to;
    s->value = 4;
    s->count = 64;
    s = add(m, OP_BARRIER);
    s->warp = (int8_t)!to;
    s->value = 4;
    s->count = 64;
    memory(m, OP_LOAD, slot_of_every_block(m, 2 * !to), IN_SHARED, OWN + 96);
}

static void counters(Maker *m) {
    Where where = either(m);
    uint32_t at = COUNTS + 8;
    for (uint32_t k = 2 + below(m, 3); k; k--) {
        Statement *s = strong(m, chance(m, 2) ? OP_ATOM : OP_RED, all_slots(m), where, at, PTX_RELAXED);
        if (chance(m, 3))
            s->sem = s->op == OP_ATOM && chance(m, 2) ? PTX_ACQUIRE : PTX_RELEASE;
        if (chance(m, 2))
            s->who = someone(m);
    }
}

static void fence_sc(Maker *m, uint16_t who, Where where) {
    fence(m, who, where, false);
    m->k->s[m->k->n - 1].sem = PTX_SC;
}

// Two threads each raise a flag, and one of them at most sees that of the other down: that one may go on.
static void crosswise(Maker *m) {
    uint16_t who[2] = {someone(m), someone(m)};
    Where where = m->k->grid > 1 ? IN_GLOBAL : either(m);
    uint32_t flag = FLAGS + 8 * below(m, 2), at = DATA + 4 * below(m, 4);
    while (who[1] == who[0])
        who[1] = someone(m);
    for (unsigned k = 0; k < 2; k++) {
        strong(m, chance(m, 2) ? OP_STORE : OP_EXCH, who[k], where, flag + 8 * k, PTX_RELAXED)->value = 1;
        fence_sc(m, who[k], where);
        Statement *s = strong(m, OP_AWAIT, who[k], where, flag + 8 * !k, PTX_RELAXED);
        s->value = 0;
        memory(m, OP_LOAD, who[k], where, at)->if_seen = true;
        memory(m, OP_STORE, who[k], where, at)->if_seen = true;
    }
}

// fence.sc here and there, and strong accesses that may or may not say in which order they came.
void make_fences(Maker *m) {
    static const StatementOp ops[] = {OP_STORE, OP_STORE, OP_LOAD, OP_LOAD, OP_ATOM, OP_EXCH};
    Where where = m->k->grid > 1 ? IN_GLOBAL : either(m);
    uint32_t flags = 1 + below(m, 3);
    for (uint32_t n = 6 + below(m, 12); n; n--) {
        uint16_t who = chance(m, 6) ? all_slots(m) : someone(m);
        if (chance(m, 3)) {
            fence_sc(m, who, where);
            if (chance(m, 6))
                m->k->s[m->k->n - 1].scope = (PtxScope)(PTX_SCOPE_CTA + below(m, 4));
        } else if (chance(m, 3)) {
            memory(m, chance(m, 2) ? OP_STORE : OP_LOAD, someone(m), where, DATA + 4 * below(m, 2));
        } else if (chance(m, 12)) {
            chance(m, 2) ? barrier(m) : (void)add(m, OP_WARP_SYNC);
        } else {
            strong(m, ops[below(m, 6)], who, where, FLAGS + 8 * below(m, flags), PTX_RELAXED);
        }
    }
}

// Words that nobody writes are read by windows that overlap, by several launches.
static void windows(Maker *m) {
    uint32_t n = slots(m), reach = 1 + below(m, 3), step = 1u << (2 * below(m, 2));
    m->k->launches = 2 + below(m, LAUNCHES - 1);
    for (uint32_t d = 0; d < reach; d++) {
        for (uint32_t s = 0; s < n; s++)
            memory(m, OP_LOAD, slot_of_every_block(m, s), IN_GLOBAL, DATA + step * (s + d))->size =
                (uint8_t)step;
        if (chance(m, 3))
            memory(m, OP_LOAD, all_slots(m), IN_GLOBAL, DATA + 8)->vec = 2;
    }
    for (uint32_t s = 0; s < n; s++)
        for (uint32_t b = 0; b < m->k->grid; b++)
            memory(m, chance(m, 3) ? OP_LOAD : OP_STORE, bit(b, s), IN_GLOBAL, OWN + 4 * (s + n * b));
}

// All look at one place and change it, by several launches.
static void contended(Maker *m) {
    static const StatementOp ops[] = {OP_LOAD, OP_LOAD, OP_ATOM, OP_RED, OP_EXCH};
    Where where = either(m);
    if (chance(m, 2))
        m->k->launches = 2;
    strong(m, OP_LOAD, all_slots(m), where, COUNTS + 8, chance(m, 3) ? PTX_VOLATILE : PTX_RELAXED);
    for (uint32_t k = 2 + below(m, 3); k; k--)
        strong(m, ops[below(m, 5)], chance(m, 2) ? all_slots(m) : someone(m), where, COUNTS + 8, PTX_RELAXED);
}

// Tiles come by cp.async some stages ahead, each by its own thread, and others read them.
static void pipeline(Maker *m) {
    enum { FETCHERS = 2 };
    uint32_t stages = 2 + below(m, 2), rounds = stages + 1 + below(m, 2);
    uint16_t who = slot_of_every_block(m, 0) | slot_of_every_block(m, 1);
    for (uint32_t t = 0; t < rounds + stages - 1; t++) {
        for (uint32_t s = 0; s < FETCHERS && t < rounds; s++) {
            Statement *c = add(m, OP_CP_ASYNC);
            c->who = slot_of_every_block(m, s);
            c->at = (uint16_t)(DATA + 8 * (t % stages) + 4 * s);
            c->other = (uint16_t)(OWN + 4 * s);
        }
        add(m, OP_CP_COMMIT)->who = who;
        if (t + 1 < stages)
            continue;
        Statement *w = add(m, OP_CP_WAIT);
        w->who = who;
        w->count = (uint8_t)(stages - 1);
        barrier(m);
        for (uint32_t s = 0; s < FETCHERS; s++)
            memory(m, OP_LOAD, slot_of_every_block(m, s), IN_SHARED, DATA + 8 * ((t + 1) % stages) + 4 * !s);
        barrier(m);
    }
}

// Words of shared memory, or parts of them, go from hand to hand several times between barriers of all: lanes of one
// warp wait for each other, in pairs or all. Where there are more warps, for barriers.
static void exchanges(Maker *m) {
    uint32_t n = slots(m), count = 1u << below(m, 4);
    bool warp = m->k->block <= 4, loop = chance(m, 2), in_pairs = warp && chance(m, 3);
    barrier(m);
    if (loop)
        add(m, OP_LOOP)->count = 2;
    for (uint32_t round = 2 + below(m, 2); round; round--) {
        uint32_t shift = in_pairs ? 1 : below(m, n);
        for (uint32_t s = 0; s < n; s++) {
            Statement *own = memory(m, OP_STORE, slot_of_every_block(m, s), IN_SHARED, OWN + 8 * s);
            own->size = (uint8_t)(chance(m, 3) ? 1u << below(m, 4) : count);
            if (chance(m, 4))
                memory(m, chance(m, 2) ? OP_LOAD : OP_STORE, slot_of_every_block(m, s), IN_SHARED,
                       OWN + 8 * s);
            if (chance(m, 6))
                strong(m, OP_RED, slot_of_every_block(m, s), IN_SHARED, COUNTS, PTX_RELAXED);
        }
        for (unsigned k = 0; k < 2; k++) {
            if (!warp)
                barrier(m);
            else if (!in_pairs)
                add(m, OP_WARP_SYNC)->who = all_slots(m);
            for (uint32_t s = 0; s < n && in_pairs; s += 2)
                add(m, OP_WARP_SYNC)->who = slot_of_every_block(m, s) | slot_of_every_block(m, s + 1);
            for (uint32_t s = 0; s < n && !k; s++) {
                Statement *other = memory(m, OP_LOAD, slot_of_every_block(m, s), IN_SHARED,
                                          OWN + 8 * (in_pairs ? s ^ 1 : (s + shift) % n));
                other->size = (uint8_t)(1u << below(m, 4));
                other->sem = chance(m, 5) ? PTX_VOLATILE : other->sem;
            }
        }
    }
    if (loop)
        add(m, OP_END_LOOP);
}

void make_pattern(Maker *m) {
    const Kernel *k = m->k;
    switch (below(m, 20)) {
    case 0:
    case 1: message(m); break;
    case 2: locked(m); break;
    case 3: phases(m); break;
    case 4: tree(m); break;
    case 5: last_one(m); break;
    case 6: arrivals(m); break;
    case 7: copies(m); break;
    case 8: copies_mbarrier(m); break;
    case 9: bulk_load(m); break;
    case 10: bulk_store(m); break;
    case 11: k->cluster ? cluster_phases(m) : phases(m); break;
    case 12: k->cluster ? remote_arrival(m) : k->block == 64 ? make_named_barriers(m) : message(m); break;
    case 13: windows(m); break;
    case 14: contended(m); break;
    case 15: pipeline(m); break;
    case 16:
    case 17: exchanges(m); break;
    case 18: crosswise(m); break;
    default: counters(m);
    }
}
