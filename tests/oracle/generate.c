// SPDX-License-Identifier: Apache-2.0
// generate — which statements a kernel is made of: patterns that are free of races, patterns less something, statements
// at random, and mixtures.
#include "maker.h"

#include <string.h>

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

// Weak accesses to a few words, and all sorts of meetings in between: of warps in part, of all, of whoever has not left
// yet.
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
                make_named_barriers(m);
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
        k->launches = 2 + below(m, LAUNCHES - 1);
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
        make_pattern(&m);
        break;
    case 2:
        k->kind = "two patterns";
        k->together = false;
        make_pattern(&m);
        barrier(&m);
        make_pattern(&m);
        break;
    case 3:
    case 4:
        k->kind = "mutant";
        k->together = false;
        make_pattern(&m);
        (void)kernel_mutate(number, k);
        break;
    case 5:
        k->kind = "litmus";
        chance(&m, 4) ? overwritten_flag(&m) : chance(&m, 3) ? make_fences(&m) : litmus(&m);
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
        make_pattern(&m);
        barrier(&m);
        make_pattern(&m);
        break;
    case 10:
        k->kind = "mixture";
        make_pattern(&m);
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
