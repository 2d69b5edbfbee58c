// SPDX-License-Identifier: Apache-2.0
// order — what orders accesses: which barrier may be the last one before each, and which fences, atomics and strong
// accesses stand on every path to it or from it.
#include "engines/verifier/kernel/order.h"

#include "engines/verifier/kernel/exec.h"

#include <stdlib.h>

// ---- Barriers, as a walk comes to them --------------------------------------------------------------------------

GrBarrier *gr_new_barrier(KWalk *w, const KStmt *s, GrBarrierKind kind) {
    GrBarrier *b = GR_NEW(w->f->arena, GrBarrier);
    if (!b || !gr_vec_push(&w->out->barriers, b)) {
        w->nomem = true;
        return NULL;
    }
    b->id = (uint32_t)w->out->barriers.len - 1;
    b->kind = kind;
    b->each_round = true;
    b->guard = gr_term_true(w->t);
    if (!s)
        return b;
    b->stmt = s->origin;
    b->flat = s;
    b->place = s->place;
    b->guard = gr_bool_and(w->t, w->guard[s->block], gr_predicate(w, s));
    b->loop = w->f->loop_of[s->block] ? w->f->loop_of[s->block]->loop : NULL;
    if (!b->guard || !gr_map_put_u64(&w->barriers, s->id + 1, b))
        w->nomem = true;
    return b;
}

static bool is_of_library(const GrPlace *p) {
    return p->function && strstr(p->function, "cooperative_groups");
}

const GrPlace *gr_place_of_grid_sync(const GrPlace *p) {
    while (p && !(is_of_library(p) && strstr(p->function, "7details4grid4sync")))
        p = p->inlined_at;
    while (p && is_of_library(p))
        p = p->inlined_at;
    return p;
}

void gr_exec_barrier(KWalk *w, const KStmt *s) {
    const PtxInstr *i = s->stmt.instr;
    if (!w->out->barriers.len)
        gr_new_barrier(w, NULL, GR_BARRIER_ENTRY);
    if (i->op == PTX_OP_MBARRIER) {
        gr_exec_mbarrier(w, s);
        return;
    }
    if (gr_ptx_instr_has(i, PTX_MOD_cluster)) {
        gr_gap(w, s, true, "a barrier of a cluster");
        return;
    }
    if (gr_ptx_instr_has(i, PTX_MOD_warp)) {
        GrBarrier *b = gr_new_barrier(w, s, GR_BARRIER_WARP);
        if (b)
            b->mask = i->n_operands ? gr_operand(w, s, &i->operands[0], 32) : NULL;
        return;
    }
    bool red = gr_ptx_instr_has(i, PTX_MOD_red), arrive = gr_ptx_instr_has(i, PTX_MOD_arrive);
    unsigned first = red ? 1 : 0, most = first + (red ? 2 : 1);
    const GrTerm *number = i->n_operands > first ? gr_operand(w, s, &i->operands[first], 32) : NULL;
    bool counted = i->n_operands > most;
    const GrPlace *call = gr_place_of_grid_sync(s->place);
    if (call) { // a barrier of the block before and one behind: with what is between, one of the grid
        GrBarrier *b = gr_new_barrier(w, s, GR_BARRIER_GRID);
        if (b)
            b->place = call;
        return;
    }
    bool all = !counted && !arrive && number && number->op == GR_TERM_CONST;
    GrBarrier *b = gr_new_barrier(w, s, all ? GR_BARRIER_BLOCK : GR_BARRIER_SOME);
    if (b && !all) {
        b->number = number;
        b->count = counted ? gr_operand(w, s, &i->operands[first + 1], 32) : NULL;
    }
    if (red && i->n_operands)
        gr_assign_free(w, s, &i->operands[0], "bar.red");
}

// ---- The last barrier before an access ---------------------------------------------------------------------------

typedef struct Search {
    KWalk *w;
    Events *events; // by block
    GrReach reach;
    const GrBarrier *from;
    const KLoop *loop;  // around it
    uint8_t *seen;      // by block: bit of crossings
    uint8_t *hit;       // by access
    uint64_t *crossed;  // by block: loops whose back edge may have been taken since the barrier
    uint64_t *turned;   // by access: such loops
    VEC(uint32_t) todo; // block * 3 + crossings
} Search;

// A barrier that every thread which comes by takes part in.
static bool stops(const Search *s, const GrBarrier *b) {
    const PtxInstr *i = b->stmt ? b->stmt->instr : NULL;
    return !(i && i->guard) && gr_barrier_joins(b->kind, s->reach);
}

// Notes accesses of a block behind event `from`. False: a barrier stops the way.
static bool scan(Search *s, uint32_t block, size_t from, unsigned crossings) {
    for (size_t k = from; k < s->events[block].list.len; k++) {
        const Event *e = &s->events[block].list.data[k];
        if (e->access) {
            s->hit[e->access->id] |= (uint8_t)(1u << crossings);
            s->turned[e->access->id] |= from ? 0 : s->crossed[block];
        } else if (e->barrier && stops(s, e->barrier)) {
            return false;
        }
    }
    return true;
}

// Loops whose back edge an edge of the graph is.
static uint64_t back_edges(const KFlat *f, uint32_t from, uint32_t to) {
    uint64_t loops = 0;
    for (const KLoop *l = f->loop_of[to]; l; l = l->parent)
        if (l->header == to && gr_flat_in_loop(f, l, from) && l->loop->id < 64)
            loops |= UINT64_C(1) << l->loop->id;
    return loops;
}

static bool follow(Search *s, uint32_t block, unsigned crossings) {
    const CfgBlock *b = &s->w->f->cfg.blocks[block];
    for (uint32_t k = 0; k < b->n_succs; k++) {
        uint32_t to = b->succs[k];
        if (gr_walk_never_takes(s->w, block, to))
            continue;
        bool header = s->loop && to == s->loop->header,
             back = header && gr_flat_in_loop(s->w->f, s->loop, block);
        unsigned now = back && crossings < 2 ? crossings + 1 : crossings;
        if (header && !back) // the loop was left and begins again: its rounds say nothing of the barrier's
            now = 2;
        uint64_t crossed = s->crossed[to] | s->crossed[block] | back_edges(s->w->f, block, to);
        if (s->seen[to] & 1u << now && crossed == s->crossed[to])
            continue;
        s->seen[to] |= (uint8_t)(1u << now);
        s->crossed[to] = crossed;
        if (!gr_vec_push(&s->todo, to * 3 + now))
            return false;
    }
    return true;
}

// A loop whose header is on every way from the barrier to the access.
static uint64_t still(const Search *s, const GrKernelAccess *a, uint32_t block) {
    const KStmt *at = a->flat;
    uint64_t loops = 0;
    for (size_t k = 0; k < s->w->f->loops.len; k++) {
        const KLoop *l = s->w->f->loops.data[k];
        bool before = s->from->stmt && gr_flat_dominates(s->w->f, l->header, block);
        if (l->loop->id < 64 && !before && gr_flat_dominates(s->w->f, l->header, at->block))
            loops |= UINT64_C(1) << l->loop->id;
    }
    return loops & ~s->turned[a->id];
}

static bool add_after(Search *s, GrKernelAccess *a, uint8_t hit, uint32_t block) {
    const KStmt *at = a->flat;
    GrRounds r = GR_ROUNDS_SAME;
    if (s->loop)
        r = !gr_flat_in_loop(s->w->f, s->loop, at->block) ? GR_ROUNDS_LEFT
            : hit & 4 || (hit & 3) == 3                   ? GR_ROUNDS_ANY
            : hit & 2                                     ? GR_ROUNDS_NEXT
                                                          : GR_ROUNDS_SAME;
    GrAfter after = {.barrier = s->from, .rounds = r, .taken = hit, .still = still(s, a, block)};
    return gr_vec_push(&a->after[s->reach], after);
}

static bool search(Search *s, const GrBarrier *from, uint32_t block, size_t event) {
    GrKernelModel *m = s->w->out;
    s->from = from;
    s->loop = from->stmt ? s->w->f->loop_of[block] : NULL;
    memset(s->seen, 0, s->w->f->cfg.n_blocks);
    memset(s->hit, 0, m->accesses.len);
    memset(s->crossed, 0, s->w->f->cfg.n_blocks * sizeof *s->crossed);
    memset(s->turned, 0, m->accesses.len * sizeof *s->turned);
    s->todo.len = 0;
    if (scan(s, block, event, 0) && !follow(s, block, 0))
        return false;
    while (s->todo.len) {
        uint32_t t = s->todo.data[--s->todo.len];
        if (scan(s, t / 3, 0, t % 3) && !follow(s, t / 3, t % 3))
            return false;
    }
    for (size_t k = 0; k < m->accesses.len; k++)
        if (s->hit[k] && !add_after(s, m->accesses.data[k], s->hit[k], block))
            return false;
    return true;
}

static bool is_of_groups(const PtxInstr *i) {
    return i->op == PTX_OP_CP && !i->guard && !gr_ptx_instr_has(i, PTX_MOD_bulk) &&
           (gr_ptx_instr_has(i, PTX_MOD_wait_all) || gr_ptx_instr_has(i, PTX_MOD_wait_group) ||
            gr_ptx_instr_has(i, PTX_MOD_commit_group));
}

static bool gather(KWalk *w, Events *events) {
    GrKernelModel *m = w->out;
    size_t next = 0;
    // Accesses come in the order of the walk, statement by statement.
    for (uint32_t k = 0; k < w->f->cfg.n_order; k++) {
        uint32_t b = w->f->cfg.order[k];
        const CfgBlock *blk = &w->f->cfg.blocks[b];
        for (const PtxStmt *s = blk->first; s; s = s == blk->last ? NULL : s->next) {
            if (s->kind != PTX_INSTR)
                continue;
            const KStmt *at = (const KStmt *)s;
            GrBarrier *barrier = gr_map_get_u64(&w->barriers, at->id + 1);
            if ((barrier || is_of_groups(at->stmt.instr)) &&
                !gr_vec_push(&events[b].list, ((Event){at, barrier, NULL})))
                return false;
            for (; next < m->accesses.len && m->accesses.data[next]->flat == at; next++)
                if (!gr_vec_push(&events[b].list, ((Event){at, NULL, m->accesses.data[next]})))
                    return false;
        }
    }
    return true;
}

static bool search_all(Search *s) {
    GrKernelModel *m = s->w->out;
    for (unsigned reach = 0; reach < GR_REACHES; reach++) {
        if (reach == GR_REACH_GRID && !gr_kernel_has_grid_barrier(m))
            continue;
        s->reach = (GrReach)reach;
        if (!search(s, m->barriers.data[0], s->w->f->cfg.order[0], 0))
            return false;
        for (uint32_t b = 0; b < s->w->f->cfg.n_blocks; b++)
            for (size_t k = 0; k < s->events[b].list.len; k++) {
                const GrBarrier *from = s->events[b].list.data[k].barrier;
                if (from && gr_barrier_joins(from->kind, s->reach) && !search(s, from, b, k + 1))
                    return false;
            }
    }
    return true;
}

// ---- Fences, atomics, strong accesses -------------------------------------------------------------------------

typedef struct Sync {
    GrSync *sync;
    const KStmt *at;
    uint32_t rpo;
} Sync;

typedef struct Syncs {
    VEC(Sync) list;
} Syncs;

static void see_owner(void *user, const GrSymbol *s) {
    const void **want = user;
    if (s->kind == GR_SYM_FREE && s->owner == want[0])
        want[1] = want;
}

static bool mentions(const GrTerm *a, const KStmt *s) {
    const void *want[2] = {s, NULL};
    return a && gr_term_symbols(a, see_owner, want) && want[1];
}

static bool add_sync(KWalk *w, Syncs *all, const KStmt *s, GrKernelAccess *a) {
    const PtxInstr *i = s->stmt.instr;
    GrSync *y = GR_NEW(w->f->arena, GrSync);
    if (!y || !gr_vec_push(&all->list, ((Sync){y, s, w->f->cfg.blocks[s->block].rpo})))
        return false;
    bool fence = gr_ptx_op_flags(i->op) & PTX_F_FENCE;
    *y = (GrSync){.stmt = s->origin, .scope = i->scope, .sem = i->sem, .is_fence = fence, .place = s->place};
    y->is_cas = gr_ptx_instr_has(i, PTX_MOD_cas);
    y->is_exch = gr_ptx_instr_has(i, PTX_MOD_exch);
    if (fence && i->op == PTX_OP_MEMBAR)
        y->scope = gr_ptx_instr_has(i, PTX_MOD_cta)  ? PTX_SCOPE_CTA
                   : gr_ptx_instr_has(i, PTX_MOD_gl) ? PTX_SCOPE_GPU
                                                     : PTX_SCOPE_SYS;
    if (!a)
        return true;
    y->access = a;
    a->sync = y;
    y->scope = a->scope;
    y->is_read = a->reads;
    y->is_write = a->writes;
    y->object = a->object;
    y->offset = a->offset;
    const PtxOperand *dst = &i->operands[0];
    if (a->reads && !(gr_ptx_instr_flags(i) & PTX_F_NO_DST) && dst->kind == PTX_O_REG)
        y->result = gr_walk_reg(w, s, dst->reg);
    for (const KLoop *l = w->f->loop_of[s->block]; l && !y->spins; l = l->parent) {
        const GrTerm *left = gr_walk_left(w, l);
        if (mentions(left, s)) {
            y->spins = true;
            y->until = left;
            y->wait = l->loop;
            y->round = l->parent ? l->parent->loop : NULL;
        }
    }
    return true;
}

static bool add_barrier(KWalk *w, Syncs *all, const GrBarrier *b) {
    const KStmt *s = b->flat;
    GrSync *y = GR_NEW(w->f->arena, GrSync);
    if (!y || !gr_vec_push(&all->list, ((Sync){y, s, w->f->cfg.blocks[s->block].rpo})))
        return false;
    *y = (GrSync){.stmt = s->origin, .barrier = b, .place = s->place};
    return true;
}

static bool gather_syncs(KWalk *w, Syncs *all) {
    GrKernelModel *m = w->out;
    for (size_t k = 0; k < w->f->stmts.len; k++) {
        const KStmt *s = w->f->stmts.data[k];
        if ((gr_ptx_op_flags(s->stmt.instr->op) & PTX_F_FENCE) &&
            w->f->cfg.blocks[s->block].rpo != UINT32_MAX && !add_sync(w, all, s, NULL))
            return false;
    }
    bool waits = false;
    for (size_t k = 0; k < m->accesses.len; k++) {
        GrKernelAccess *a = m->accesses.data[k];
        if (a->strong && !add_sync(w, all, a->flat, a))
            return false;
        waits |= a->sync && a->sync->spins;
    }
    for (size_t k = 0; waits && k < m->barriers.len; k++)
        if (m->barriers.data[k]->kind == GR_BARRIER_BLOCK && !add_barrier(w, all, m->barriers.data[k]))
            return false;
    return true;
}

static int by_place(const void *a, const void *b) {
    const Sync *x = a, *y = b;
    return x->rpo != y->rpo ? (x->rpo > y->rpo) - (x->rpo < y->rpo)
                            : (x->at->id > y->at->id) - (x->at->id < y->at->id);
}

// The list is in program order, so what is attached is, too.
static bool attach(const KWalk *w, const Syncs *all, GrKernelAccess *a) {
    const KStmt *at = a->flat;
    for (size_t k = 0; k < all->list.len; k++) {
        const Sync *s = &all->list.data[k];
        if (s->at == at || s->at->stmt.instr->guard)
            continue;
        bool same = s->at->block == at->block;
        if (same ? s->at->id < at->id : gr_flat_dominates(w->f, s->at->block, at->block)) {
            if (!gr_vec_push(&a->before, s->sync))
                return false;
        } else if (same || gr_cfg_postdominates(&w->f->cfg, s->at->block, at->block)) {
            if (!gr_vec_push(&a->behind, s->sync))
                return false;
        }
    }
    return true;
}

// ---- All ------------------------------------------------------------------------------------------------------------

// A loop is uniform if its end depends only on what these threads share, or if each round has a barrier of theirs.
typedef struct End {
    const GrLoop *loop;
    GrReach reach;
    bool differs;
} End;

static void see_end(void *user, const GrSymbol *s) {
    End *e = user;
    const GrLoop *parent = e->loop->parent;
    bool own = s->kind == GR_SYM_COUNTER &&
               (s->owner == e->loop || (parent && s->owner == parent && parent->uniform[e->reach]));
    e->differs |= !own && !gr_symbol_is_shared(s, e->reach == GR_REACH_GRID);
}

static bool ends_alike(const GrLoop *l, const GrTerm *left, GrReach reach) {
    End e = {l, reach, false};
    return left && gr_term_symbols(left, see_end, &e) && !e.differs;
}

static void describe_loops(KWalk *w) {
    for (size_t k = 0; k < w->f->loops.len; k++) { // outer ones first
        KLoop *l = w->f->loops.data[k];
        bool each_round = false, grid = false;
        for (size_t b = 0; b < w->out->barriers.len; b++) {
            GrBarrier *bar = w->out->barriers.data[b];
            if (!bar->flat || (bar->kind != GR_BARRIER_BLOCK && bar->kind != GR_BARRIER_GRID))
                continue;
            const KStmt *at = bar->flat;
            if (!gr_flat_in_loop(w->f, l, at->block))
                continue;
            l->loop->has_barrier = true;
            bool all = !at->stmt.instr->guard;
            for (size_t e = 0; e < l->latches.len; e++)
                all = all && gr_flat_dominates(w->f, at->block, l->latches.data[e]);
            bar->each_round &= all;
            each_round |= all;
            grid |= all && bar->kind == GR_BARRIER_GRID;
        }
        const GrTerm *left = gr_walk_left(w, l);
        for (unsigned reach = 0; reach < GR_REACHES; reach++)
            l->loop->uniform[reach] =
                (reach == GR_REACH_GRID ? grid : each_round) || ends_alike(l->loop, left, (GrReach)reach);
        l->loop->left = left;
    }
}

gr_status gr_kernel_order(KWalk *w) {
    if (!w->out->barriers.len)
        gr_new_barrier(w, NULL, GR_BARRIER_ENTRY);
    describe_loops(w);
    size_t n = w->f->cfg.n_blocks, accesses = w->out->accesses.len + 1;
    Search s = {.w = w,
                .events = calloc(n, sizeof(Events)),
                .seen = calloc(n, 1),
                .hit = calloc(accesses, 1),
                .crossed = calloc(n, sizeof(uint64_t)),
                .turned = calloc(accesses, sizeof(uint64_t))};
    Syncs all = {0};
    bool ok = !w->nomem && s.events && s.seen && s.hit && s.crossed && s.turned && gather(w, s.events) &&
              search_all(&s) && gr_flights(w, s.events) && gather_syncs(w, &all);
    if (ok && all.list.len)
        qsort(all.list.data, all.list.len, sizeof *all.list.data, by_place);
    for (size_t k = 0; ok && k < w->out->accesses.len; k++)
        ok = attach(w, &all, w->out->accesses.data[k]);
    for (size_t k = 0; s.events && k < n; k++)
        gr_vec_free(&s.events[k].list);
    free(s.events);
    free(s.seen);
    free(s.hit);
    free(s.crossed);
    free(s.turned);
    gr_vec_free(&s.todo);
    gr_vec_free(&all.list);
    return ok ? GR_OK : GR_ERR_NOMEM;
}
