// SPDX-License-Identifier: Apache-2.0
// generate — which statements a kernel is made of: patterns that are free of races, patterns less something, statements at random, and
// mixtures.
#include "kernel.h"

#include <string.h>

// Where things are. Data of the several sizes overlap; flags and locks are apart.
enum { DATA = 0, DATA_BYTES = 32, FLAGS = 64, LOCKS = 96, COUNTS = 112, OWN = 128, MBARS = 256 };

typedef struct Maker {
    Rng rng;
    Kernel *k;
} Maker;

static uint32_t below(Maker *m, uint32_t n) { return gr_rng_below(&m->rng, n); }
static bool chance(Maker *m, uint32_t one_in) { return below(m, one_in) == 0; }

static Statement *add(Maker *m, StatementOp op) {
    static Statement spare;
    Statement *s = m->k->n < STATEMENTS ? &m->k->s[m->k->n++] : &spare;
    *s = (Statement){.op = op, .who = EVERYONE, .warp = -1, .size = 4, .vec = 1};
    return s;
}

static uint32_t slots(const Maker *m) { return m->k->block == 2 ? 2 : SLOTS; }

static uint16_t bit(uint32_t block, uint32_t slot) { return (uint16_t)(1u << (4 * block + slot)); }

static uint16_t all_slots(const Maker *m) {
    uint16_t who = 0;
    for (uint32_t b = 0; b < m->k->grid; b++)
        for (uint32_t s = 0; s < slots(m); s++)
            who |= bit(b, s);
    return who;
}

static uint16_t slot_of_every_block(const Maker *m, uint32_t slot) {
    uint16_t who = 0;
    for (uint32_t b = 0; b < m->k->grid; b++)
        who |= bit(b, slot);
    return who;
}

static uint16_t someone(Maker *m) { return bit(below(m, m->k->grid), below(m, slots(m))); }

// The scope that reaches every thread of the kernel that may meet at that place.
static PtxScope wide(const Maker *m, Where where) {
    return m->k->grid == 1 || (where == IN_SHARED && !m->k->cluster) ? PTX_SCOPE_CTA
           : m->k->cluster                                           ? PTX_SCOPE_CLUSTER
                                                                     : PTX_SCOPE_GPU;
}

static PtxScope wide_or_wider(Maker *m, Where where) {
    PtxScope s = wide(m, where);
    return (PtxScope)(s + below(m, PTX_SCOPE_SYS - s + 1u));
}

static Statement *memory(Maker *m, StatementOp op, uint16_t who, Where where, uint32_t at) {
    Statement *s = add(m, op);
    s->who = who;
    s->where = where;
    s->at = (uint16_t)at;
    s->generic = chance(m, 6);
    s->value = 7;
    return s;
}

static Statement *strong(Maker *m, StatementOp op, uint16_t who, Where where, uint32_t at, PtxSem sem) {
    Statement *s = memory(m, op, who, where, at);
    s->sem = sem;
    s->scope = wide_or_wider(m, where);
    return s;
}

static void fence(Maker *m, uint16_t who, Where where, bool seen) {
    Statement *s = add(m, OP_FENCE);
    s->who = who;
    s->if_seen = seen;
    s->sem = chance(m, 3) ? PTX_SC : PTX_ACQ_REL;
    s->scope = wide_or_wider(m, where);
}

static void barrier(Maker *m) {
    Statement *s = add(m, OP_BARRIER);
    if (m->k->block == 64 && chance(m, 3)) {
        s->value = (uint8_t)(1 + below(m, 3));
        s->count = 64;
    }
}

static Where either(Maker *m) { return chance(m, 2) ? IN_SHARED : IN_GLOBAL; }

// ---- Patterns without races ----------------------------------------------------------------------------------------

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

static Statement *mbar(Maker *m, StatementOp op, uint16_t who, uint32_t at) {
    Statement *s = add(m, op);
    s->who = who;
    s->at = (uint16_t)at;
    return s;
}

static void init_mbar(Maker *m, uint32_t at, uint32_t count) {
    mbar(m, OP_MBAR_INIT, slot_of_every_block(m, 0), at)->count = (uint8_t)count;
    add(m, OP_BARRIER);
}

static void wait_mbar(Maker *m, uint16_t who, uint32_t at, uint32_t parity) {
    Statement *s = mbar(m, OP_MBAR_WAIT, who, at);
    s->value = (uint8_t)parity;
    if (chance(m, 3)) {
        s->sem = PTX_ACQUIRE;
        s->scope = chance(m, 2) ? PTX_SCOPE_CTA : PTX_SCOPE_CLUSTER;
    } else if (chance(m, 5)) {
        s->sem = PTX_RELAXED;
        s->scope = PTX_SCOPE_CTA;
        fence(m, who, IN_SHARED, true);
    }
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
static void named_barriers(Maker *m) {
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

static void pattern(Maker *m) {
    const Kernel *k = m->k;
    switch (below(m, 14)) {
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
    case 12: k->cluster ? remote_arrival(m) : k->block == 64 ? named_barriers(m) : message(m); break;
    default: counters(m);
    }
}

// ---- Anything ------------------------------------------------------------------------------------------------------

static PtxSem any_sem(Maker *m, StatementOp op) {
    static const PtxSem loads[] = {PTX_WEAK,    PTX_WEAK,    PTX_WEAK,    PTX_VOLATILE,
                                   PTX_RELAXED, PTX_RELAXED, PTX_ACQUIRE, PTX_ACQUIRE},
                        stores[] = {PTX_WEAK,    PTX_WEAK,    PTX_WEAK,    PTX_VOLATILE,
                                    PTX_RELAXED, PTX_RELAXED, PTX_RELEASE, PTX_RELEASE},
                        atoms[] = {PTX_SEM_NONE, PTX_RELAXED, PTX_RELAXED, PTX_ACQUIRE,
                                   PTX_RELEASE,  PTX_ACQ_REL, PTX_ACQ_REL, PTX_RELAXED},
                        reds[] = {PTX_SEM_NONE, PTX_RELAXED, PTX_RELEASE, PTX_RELEASE};
    switch (op) {
    case OP_LOAD:
    case OP_AWAIT: return loads[below(m, 8)];
    case OP_STORE: return stores[below(m, 8)];
    case OP_RED: return reds[below(m, 4)];
    default: return atoms[below(m, 8)];
    }
}

static PtxScope any_scope(Maker *m) { return (PtxScope)(1 + below(m, 4)); }

static Where anywhere(Maker *m) { return m->k->cluster && chance(m, 4) ? IN_REMOTE : either(m); }

static uint16_t anybody(Maker *m) {
    uint16_t who = someone(m);
    while (chance(m, 2))
        who |= someone(m);
    return chance(m, 5) ? all_slots(m) : who;
}

static void any_access(Maker *m) {
    static const StatementOp ops[] = {OP_LOAD, OP_LOAD, OP_LOAD, OP_STORE, OP_STORE, OP_STORE,
                                      OP_ATOM, OP_RED,  OP_EXCH, OP_AWAIT, OP_AWAIT};
    StatementOp op = ops[below(m, sizeof ops / sizeof *ops)];
    Statement *s = memory(m, op, anybody(m), anywhere(m), 0);
    s->sem = any_sem(m, op);
    s->scope = any_scope(m);
    bool any_size = op == OP_LOAD || op == OP_STORE;
    s->size = (uint8_t)(any_size ? 1 << below(m, 4) : 4 << chance(m, 4));
    if (chance(m, 2))
        s->size = 4;
    if (any_size && chance(m, 8) && s->size < 8)
        s->vec = 2;
    uint32_t bytes = s->size * s->vec;
    s->at = chance(m, 2) ? (uint16_t)(DATA + 4 * below(m, 2)) : (uint16_t)(DATA + below(m, 16));
    s->at &= (uint16_t) ~(bytes - 1);
    s->value = (uint8_t)(1 + below(m, 2));
    s->if_seen = chance(m, 5);
    s->tests = op == OP_ATOM && chance(m, 3);
}

static void any_async(Maker *m) {
    static const StatementOp ops[] = {OP_CP_ASYNC,    OP_CP_ASYNC,   OP_CP_COMMIT,
                                      OP_CP_WAIT,     OP_BULK_STORE, OP_BULK_REDUCE,
                                      OP_BULK_COMMIT, OP_BULK_WAIT,  OP_PROXY_FENCE};
    Statement *s = add(m, ops[below(m, sizeof ops / sizeof *ops)]);
    s->who = chance(m, 2) ? someone(m) : anybody(m);
    s->at = (uint16_t)(DATA + 16 * below(m, 2));
    s->other = (uint16_t)(DATA + 16 * below(m, 2));
    if (s->op == OP_CP_ASYNC)
        s->size = (uint8_t)(4 << below(m, 3));
    if (s->op == OP_BULK_REDUCE && chance(m, 3))
        s->size = 8;
    s->count = s->op == OP_CP_WAIT && chance(m, 4) ? 9 : (uint8_t)below(m, 2);
    s->tests = chance(m, 2);
}

static void any_sync(Maker *m) {
    Statement *s;
    switch (below(m, m->k->cluster ? 9 : 8)) {
    case 0:
    case 1:
    case 2:
        s = add(m, OP_FENCE);
        s->who = chance(m, 3) ? EVERYONE : anybody(m);
        s->sem = chance(m, 3)   ? PTX_SC
                 : chance(m, 5) ? PTX_ACQUIRE
                 : chance(m, 5) ? PTX_RELEASE
                                : PTX_ACQ_REL;
        s->scope = any_scope(m);
        break;
    case 3:
    case 4: barrier(m); break;
    case 5:
        s = add(m, OP_WARP_SYNC);
        s->who = chance(m, 4) ? EVERYONE : anybody(m);
        if (s->who != EVERYONE && m->k->grid > 1) // the same lanes in every block
            s->who = (uint16_t)((s->who | s->who >> 4 | s->who >> 8) & 15) * 0x111;
        break;
    case 6: any_async(m); break;
    case 7:
        if (chance(m, 3)) {
            s = add(m, OP_EXIT);
            s->who = someone(m);
            s->if_seen = chance(m, 2);
        }
        break;
    default:
        add(m, OP_CLUSTER_ARRIVE)->sem = chance(m, 3) ? PTX_RELAXED : PTX_RELEASE;
        if (chance(m, 2))
            any_access(m);
        add(m, OP_CLUSTER_WAIT);
    }
}

static void anything(Maker *m, uint32_t n) {
    bool loop = chance(m, 5);
    if (loop)
        add(m, OP_LOOP)->count = (uint8_t)(2 + below(m, 2));
    while (n--)
        if (chance(m, 3))
            any_sync(m);
        else if (chance(m, 10))
            any_async(m);
        else
            any_access(m);
    if (loop)
        add(m, OP_END_LOOP);
}

// Patterns of release and acquire that are right, wrong or nearly right: the same few places, strong operations only.
static void litmus(Maker *m) {
    uint32_t flags = 1 + below(m, 2);
    Where where = m->k->grid > 1 ? IN_GLOBAL : either(m);
    for (uint32_t n = 4 + below(m, 8); n; n--) {
        static const StatementOp ops[] = {OP_STORE, OP_STORE, OP_LOAD, OP_LOAD, OP_ATOM, OP_RED, OP_EXCH};
        Statement *s;
        if (chance(m, 3)) { // data
            s = memory(m, chance(m, 2) ? OP_STORE : OP_LOAD, someone(m), where, DATA);
        } else if (chance(m, 4)) {
            s = add(m, OP_FENCE);
            s->who = someone(m);
            s->sem = chance(m, 3) ? PTX_SC : PTX_ACQ_REL;
            s->scope = chance(m, 4) ? any_scope(m) : wide_or_wider(m, where);
        } else {
            StatementOp op = ops[below(m, 7)];
            s = memory(m, op, someone(m), where, FLAGS + 8 * below(m, flags));
            do
                s->sem = any_sem(m, op);
            while (s->sem == PTX_WEAK);
            s->scope = chance(m, 4) ? any_scope(m) : wide_or_wider(m, where);
        }
    }
}

// Weak accesses to a few words, and all sorts of meetings in between: of warps in part, of all, of whoever has not left yet.
static void meetings(Maker *m) {
    bool loop = chance(m, 4);
    if (loop)
        add(m, OP_LOOP)->count = 2;
    for (uint32_t n = 4 + below(m, 10); n; n--) {
        Statement *s;
        uint16_t lanes;
        switch (below(m, 12)) {
        case 0:
        case 1: barrier(m); break;
        case 2:
        case 3:
        case 4:
            s = add(m, OP_WARP_SYNC);
            lanes = (uint16_t)(1 + below(m, 15));
            s->who = chance(m, 5) ? EVERYONE : (uint16_t)((lanes * 0x111) & all_slots(m));
            break;
        case 5:
            if (chance(m, 2) && !loop) {
                s = add(m, OP_EXIT);
                s->who = someone(m);
            } else if (m->k->block == 64) {
                named_barriers(m);
            }
            break;
        case 6:
            if (m->k->cluster) {
                add(m, OP_CLUSTER_ARRIVE)->sem = chance(m, 3) ? PTX_RELAXED : PTX_RELEASE;
                if (chance(m, 2))
                    memory(m, OP_STORE, someone(m), IN_REMOTE, DATA);
                add(m, OP_CLUSTER_WAIT);
            } else if (m->k->block == 64) { // all warps arrive, and nobody waits
                s = add(m, OP_BAR_ARRIVE);
                s->value = 5;
                s->count = 64;
            }
            break;
        default:
            memory(m, chance(m, 2) ? OP_LOAD : OP_STORE, someone(m), anywhere(m), DATA + 4 * below(m, 2));
        }
    }
    if (loop)
        add(m, OP_END_LOOP);
}

// Asynchronous operations, and accesses to what they touch.
static void transfers(Maker *m) {
    uint32_t bar = MBARS + 8 * below(m, 2);
    bool mbarrier = chance(m, 2);
    if (mbarrier)
        init_mbar(m, bar, 1 + below(m, 2));
    for (uint32_t n = 4 + below(m, 10); n; n--)
        switch (below(m, 8)) {
        case 0:
        case 1:
        case 2: any_async(m); break;
        case 3:
            if (!mbarrier)
                barrier(m);
            else if (chance(m, 2))
                mbar(m, chance(m, 2) ? OP_CP_ARRIVE : OP_MBAR_ARRIVE, someone(m), bar);
            else
                wait_mbar(m, anybody(m), bar, below(m, 2));
            break;
        case 4: barrier(m); break;
        case 5: add(m, OP_PROXY_FENCE)->who = anybody(m); break;
        default:
            memory(m, chance(m, 2) ? OP_LOAD : OP_STORE, someone(m), either(m), DATA + 4 * below(m, 4))
                ->if_seen = chance(m, 4);
        }
}

// A flag that releases and acquires, and an asynchronous operation that may write over it.
static void overwritten_flag(Maker *m) {
    Where where = m->k->grid > 1 ? IN_GLOBAL : either(m);
    uint32_t block = below(m, m->k->grid);
    uint16_t writer = bit(block, below(m, slots(m))), copier = bit(block, below(m, slots(m)));
    memory(m, OP_STORE, writer, where, OWN);
    strong(m, OP_STORE, writer, where, DATA, PTX_RELEASE)->value = 1;
    if (chance(m, 3))
        strong(m, chance(m, 2) ? OP_STORE : OP_RED, someone(m), where, DATA + 4 * below(m, 2), PTX_RELAXED)
            ->value = 1;
    Statement *s = add(m, where == IN_SHARED ? OP_CP_ASYNC : chance(m, 2) ? OP_BULK_REDUCE : OP_BULK_STORE);
    s->who = copier;
    s->at = DATA;
    s->other = OWN + 64;
    s->size = where == IN_SHARED ? (uint8_t)(4 << below(m, 3)) : 4;
    uint16_t reader = someone(m);
    strong(m, OP_LOAD, reader, where, DATA, PTX_ACQUIRE);
    memory(m, OP_LOAD, reader, where, OWN);
}

// ---- Kernels -------------------------------------------------------------------------------------------------------

static void shape(Maker *m) {
    static const uint32_t blocks[] = {2, 4, 4, 4, 34, 64};
    Kernel *k = m->k;
    k->cluster = chance(m, 5);
    k->grid = k->cluster ? 2 : 1 + below(m, 3);
    k->block = blocks[below(m, 6)];
    k->launches = 1;
    if (chance(m, 12)) {
        k->launches = 2;
        k->together = chance(m, 2);
    }
}

void kernel_make(uint64_t number, Kernel *k) {
    Maker m = {.rng = gr_rng_fork(number, 0x0a1c, 0), .k = k};
    memset(k, 0, sizeof *k);
    shape(&m);
    switch (below(&m, 13)) {
    case 0:
    case 1:
        k->kind = "pattern";
        k->together = false;
        pattern(&m);
        break;
    case 2:
        k->kind = "two patterns";
        k->together = false;
        pattern(&m);
        barrier(&m);
        pattern(&m);
        break;
    case 3:
    case 4:
        k->kind = "mutant";
        k->together = false;
        pattern(&m);
        (void)kernel_mutate(number, k);
        break;
    case 5:
        k->kind = "litmus";
        chance(&m, 4) ? overwritten_flag(&m) : litmus(&m);
        break;
    case 6:
        k->kind = "meetings";
        meetings(&m);
        break;
    case 7:
        k->kind = "transfers";
        transfers(&m);
        break;
    case 8:
    case 9:
        k->kind = "two patterns, one after the other";
        k->together = false;
        pattern(&m);
        barrier(&m);
        pattern(&m);
        break;
    case 10:
        k->kind = "mixture";
        pattern(&m);
        anything(&m, 1 + below(&m, 3));
        break;
    default: k->kind = "anything"; anything(&m, 3 + below(&m, 9));
    }
}

static bool weaken(Maker *m, Statement *s, bool *drop) {
    bool narrow = chance(m, 2);
    *drop = false;
    switch (s->op) {
    case OP_FENCE:
        if (narrow && s->scope > PTX_SCOPE_CTA)
            s->scope = PTX_SCOPE_CTA;
        else
            *drop = true;
        return true;
    case OP_BARRIER:
    case OP_WARP_SYNC:
    case OP_PROXY_FENCE:
    case OP_CP_WAIT:
    case OP_BULK_WAIT: *drop = true; return true;
    case OP_LOAD:
    case OP_STORE:
    case OP_ATOM:
    case OP_EXCH:
    case OP_RED:
    case OP_AWAIT:
    case OP_LOCK:
        if (s->sem == PTX_WEAK || s->sem == PTX_SEM_NONE || s->sem == PTX_VOLATILE)
            return false;
        if (narrow && s->scope > PTX_SCOPE_CTA)
            s->scope = PTX_SCOPE_CTA;
        else if (s->sem != PTX_RELAXED)
            s->sem = PTX_RELAXED;
        else if (s->op == OP_STORE || s->op == OP_AWAIT)
            s->sem = PTX_WEAK;
        else
            return false;
        return true;
    case OP_MBAR_ARRIVE:
    case OP_MBAR_WAIT:
        if (s->sem == PTX_RELAXED)
            return false;
        s->sem = PTX_RELAXED;
        s->scope = s->scope ? s->scope : PTX_SCOPE_CTA;
        return true;
    case OP_CLUSTER_ARRIVE: s->sem = PTX_RELAXED; return true;
    default: return false;
    }
}

bool kernel_mutate(uint64_t number, Kernel *k) {
    Maker m = {.rng = gr_rng_fork(number, 0x0a1d, 0), .k = k};
    for (unsigned tries = 0; tries < 40 && k->n; tries++) {
        uint32_t at = below(&m, k->n);
        bool drop;
        if (!weaken(&m, &k->s[at], &drop))
            continue;
        if (drop) {
            memmove(&k->s[at], &k->s[at + 1], (k->n - at - 1) * sizeof *k->s);
            k->n--;
        }
        return true;
    }
    return false;
}
