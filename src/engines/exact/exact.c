// SPDX-License-Identifier: Apache-2.0
// exact — modules and their sites; hands events to the parts that they concern. See exact.h.
#include "engines/exact/exact_internal.h"

#include "base/rng.h"

#include <stdlib.h>
#include <string.h>

enum {
    // Launches, blocks and clocks may take so much before a sweep pays.
    TIDY_BYTES = 4 << 20,
    MODULES_SEEN = 256, // if more are loaded, their fingerprints are computed again
};

// ---- Modules and sites ---------------------------------------------------------------------------------------------

static uint64_t add_text(uint64_t h, const char *s) {
    return gr_mix64(h ^ (s ? gr_hash_bytes(s, strlen(s)) : 1));
}

// Hashes opcodes and constants: what no pass changes of an instruction that it leaves in place.
static uint64_t add_code(uint64_t h, PtxFunc *f) {
    if (gr_ptx_open(f, NULL) != GR_OK)
        return h;
    for (const PtxStmt *s = f->first; s; s = s->next) {
        if (s->kind != PTX_INSTR || s->tag.inserted)
            continue;
        h = gr_mix64(h + s->instr->op);
        for (unsigned k = 0; k < s->instr->n_operands; k++) {
            const PtxOperand *o = &s->instr->operands[k];
            if (o->kind == PTX_O_INT || o->kind == PTX_O_F32 || o->kind == PTX_O_F64)
                h = gr_mix64(h ^ o->bits);
        }
    }
    gr_ptx_close(f);
    return h;
}

uint64_t gr_exact_fingerprint(const PtxModule *m) {
    uint64_t h = gr_mix64(m->n_sites + 1);
    for (uint32_t f = 0; f < m->n_funcs; f++)
        if (!m->funcs[f]->tag.inserted)
            h = add_code(add_text(h, m->funcs[f]->name), m->funcs[f]);
    for (uint32_t k = 1; k <= m->n_sites; k++) {
        const PtxSite *s = &m->sites[k];
        const PtxLoc *l = s->loc;
        h = gr_mix64(h ^ ((uint64_t)s->access << 40 | (uint64_t)s->space << 32 | s->size));
        h = gr_mix64(h + (l ? (uint64_t)l->line << 32 | l->col << 8 | l->file : 0));
        h = add_text(h, s->func->name);
    }
    return h;
}

// Some scope is so narrow that a third thread's access may be strong with only one of two others.
static bool has_narrow(const PtxModule *m) {
    for (uint32_t k = 1; k <= m->n_sites; k++) {
        const PtxSite *s = &m->sites[k];
        if ((s->scope == PTX_SCOPE_CTA || s->scope == PTX_SCOPE_CLUSTER) && s->space != PTX_SHARED)
            return true;
    }
    return false;
}

// Notes which sites of the module are not wanted. They are numbered from x->n_sites on; the first number is no site's.
static bool note_passed(Exact *x, const PtxModule *ptx) {
    if (!x->options.wanted_site)
        return true;
    while (x->passed.len <= x->n_sites) // the host's have numbers too
        if (!gr_vec_push(&x->passed, false))
            return false;
    for (uint32_t k = 1; k <= ptx->n_sites; k++)
        if (!gr_vec_push(&x->passed, !x->options.wanted_site(x->options.user, ptx, &ptx->sites[k])))
            return false;
    return true;
}

// Code that is loaded again, or twice, is the same module.
static const Module *module_of(Exact *x, const PtxModule *ptx) {
    if (x->last_module < x->modules.len && x->modules.data[x->last_module].serial == ptx->serial)
        return &x->modules.data[x->last_module];
    uintptr_t seen = (uintptr_t)gr_map_get_u64(&x->modules_seen, ptx->serial);
    if (seen) {
        x->last_module = (uint32_t)(seen - 1);
        x->modules.data[seen - 1].serial = ptx->serial;
        return &x->modules.data[seen - 1];
    }
    uint64_t fingerprint = gr_exact_fingerprint(ptx);
    size_t k = 0;
    while (k < x->modules.len && x->modules.data[k].fingerprint != fingerprint)
        k++;
    if (k == x->modules.len) {
        Module m = {.fingerprint = fingerprint, .first = x->n_sites, .n_sites = ptx->n_sites};
        if (!note_passed(x, ptx) || !gr_exact_note_reach(x, ptx, x->n_sites) ||
            !gr_vec_push(&x->modules, m)) {
            x->nomem = true;
            return NULL;
        }
        x->n_sites += ptx->n_sites + 1;
    }
    if (x->modules_seen.live >= MODULES_SEEN)
        gr_map_free(&x->modules_seen);
    if (!gr_map_put_u64(&x->modules_seen, ptx->serial, (void *)(uintptr_t)(k + 1)))
        x->nomem = true;
    x->modules.data[k].serial = ptx->serial;
    x->narrow |= has_narrow(ptx);
    x->last_module = (uint32_t)k;
    return &x->modules.data[k];
}

const PtxSite *gr_exact_code(Exact *x, const Launch *running, uint32_t site) {
    const Module *m = running->ptx ? module_of(x, running->ptx) : NULL;
    return m && site > m->first && site - m->first <= m->n_sites ? &running->ptx->sites[site - m->first]
                                                                 : NULL;
}

uint32_t gr_exact_site(Exact *x, const PtxModule *module, uint32_t site) {
    const Module *m = module ? module_of(x, module) : NULL;
    return m && site && site <= m->n_sites ? m->first + site : 0;
}

// ---- Events --------------------------------------------------------------------------------------------------------

Launch *gr_exact_launch(Exact *x, uint64_t number) {
    if (!x->launch || x->launch->number != number)
        x->launch = gr_order_launch(&x->order, number);
    return x->launch;
}

Block *gr_exact_block_at(const Launch *l, uint64_t linear) { return l ? gr_order_block(l, linear) : NULL; }

Block *gr_exact_block_of(Exact *x, const VmWhere *w) {
    Block *b = gr_exact_block_at(gr_exact_launch(x, w->launch), w->block_linear);
    return b && w->warp < b->n_warps ? b : NULL;
}

bool gr_exact_is_passed(Exact *x, const Launch *l, const PtxModule *m, uint32_t site) {
    if (!gr_exact_passes_some(x))
        return false;
    if (l->unwanted)
        return true;
    site = x->options.wanted_site ? gr_exact_site(x, m, site) : 0;
    return site && site < x->passed.len && x->passed.data[site];
}

// Drops launches, blocks and clocks that no remembered access refers to.
static void sweep(Exact *x) {
    const Shadow *s = &x->shadow;
    Sweep sweep;
    gr_order_mark_begin(&x->order);
    for (size_t word = 0; word * 64 < s->used_to; word++)
        for (uint64_t m = s->used[word]; m; m &= m - 1) {
            size_t number = word * 64 + (size_t)__builtin_ctzll(m);
            if (number && number < s->stamps.len)
                gr_order_mark(&x->order, s->stamps.data[number].at.launch, s->stamps.data[number].at.id);
        }
    for (size_t k = 0; k < x->freed.len; k++)
        gr_order_mark(&x->order, x->freed.data[k].stamp.at.launch, x->freed.data[k].stamp.at.id);
    gr_exact_allocations_mark(x);
    gr_order_sweep(&x->order, &sweep);
    gr_work_sweep(&x->work, &sweep.filter);
    gr_hosts_sweep(&x->hosts, &sweep);
    gr_order_sweep_end(&sweep);
    x->tidy_at = 2 * gr_order_bytes(&x->order) + TIDY_BYTES + gr_shadow_bytes(s) / 8;
}

void gr_exact_tidy(Exact *x) {
    if (gr_order_bytes(&x->order) >= x->tidy_at)
        gr_exact_collect(x);
}

void gr_exact_collect(Exact *x) {
    gr_shadow_collect_begin(&x->shadow);
    for (size_t k = 0; k < x->order.active.len; k++) {
        const Launch *l = x->order.active.data[k];
        for (uint64_t p = 0; l->pages && p <= l->n_blocks / PAGE_BLOCKS; p++)
            for (unsigned i = 0; l->pages[p] && i < l->pages[p]->n; i++)
                if (l->pages[p]->block[i] && l->pages[p]->block[i]->tile)
                    gr_shadow_collect_tile(&x->shadow, l->pages[p]->block[i]->tile);
    }
    gr_shadow_collect_end(&x->shadow);
    if (x->shadow.used) // else memory is out
        sweep(x);
}

// ---- Stores and loads crosswise -------------------------------------------------------------------------------------

static uint64_t place_of(uint64_t launch, uint64_t owner) { return launch << 32 ^ (owner + 1); }

static uint64_t at_glance(const void *g, unsigned lane) { return gr_vm_glance_at(g, lane); }
static uint64_t at_event(const void *e, unsigned lane) { return ((const VmAccessEvent *)e)->address[lane]; }

static void look_at_event(Exact *x, Block *b, const VmAccessEvent *e) {
    DekkerAccess a = {e->where.module,
                      e->where.site,
                      e->where.mask,
                      e->space == PTX_SHARED ? place_of(e->where.launch, e->owner) : 0,
                      e,
                      at_event};
    gr_dekker_access(&x->dekker, &x->order, b, &b->warps[e->where.warp], &a);
}

static void look_at_glance(Exact *x, Block *b, const VmGlance *g) {
    DekkerAccess a = {g->site->module,
                      g->site->site,
                      g->mask,
                      g->space == PTX_SHARED ? place_of(g->launch, g->block_linear) : 0,
                      g,
                      at_glance};
    gr_dekker_access(&x->dekker, &x->order, b, &b->warps[g->warp], &a);
}

static bool is_strong(PtxSem sem, PtxAccess access) {
    return access == PTX_ACCESS_RMW || (sem != PTX_SEM_NONE && sem != PTX_WEAK);
}

char *gr_exact_dekker(const Exact *x) { return gr_dekker_text(&x->dekker); }

static void on_access(void *user, const VmAccessEvent *e) {
    Exact *x = user;
    x->order.moment_now = ++x->moment;
    gr_exact_make_room(x);
    Block *b = e->space == PTX_GLOBAL || e->space == PTX_SHARED || e->space == PTX_CONST
                   ? gr_exact_block_of(x, &e->where)
                   : NULL;
    bool strong = is_strong(e->sem, e->access);
    if (b && strong)
        look_at_event(x, b, e);
    // A thread that sees a strong write is ordered behind it. So strong accesses are remembered, wanted or not
    // (gr_exact_report).
    if (b && !strong && gr_exact_is_passed(x, b->launch, e->where.module, e->where.site))
        gr_exact_pass_by(x, b, e);
    else if (b)
        gr_exact_access(x, b, e);
}

static bool on_glance(void *user, const VmGlance *g) {
    Exact *x = user;
    x->order.moment_now = ++x->moment;
    gr_exact_make_room(x);
    Block *b = gr_exact_block_at(gr_exact_launch(x, g->launch), g->block_linear);
    if (!b || g->warp >= b->n_warps)
        return true;
    if (is_strong(g->site->sem, g->site->access))
        look_at_glance(x, b, g);
    if (gr_exact_passes_some(x)) {
        bool weak = g->site->sem == PTX_SEM_NONE || g->site->sem == PTX_WEAK;
        if (gr_exact_is_passed(x, b->launch, g->site->module, g->site->site))
            return weak && g->site->access == PTX_ACCESS_READ;
        if (weak && g->site->access != PTX_ACCESS_READ) // it may overwrite what another released
            return false;
    }
    if (gr_exact_glance(x, b, g))
        return true;
    x->moment--; // the same accesses are told again: what has been counted of them is not counted twice
    return false;
}

static void on_sync(void *user, const VmSyncEvent *e) {
    Exact *x = user;
    x->order.moment_now = ++x->moment;
    Block *b = gr_exact_block_of(x, &e->where);
    if (!b)
        return;
    uint32_t floor = b->floor;
    if (e->kind == VM_SYNC_FENCE && e->sem == PTX_SC)
        gr_dekker_fence(&b->warps[e->where.warp], e->where.mask);
    if (e->kind == VM_SYNC_BARRIER_RELEASE && b->tile && b->tile->phase == PHASE_BOARD &&
        gr_order_loses_exited(b, e))
        gr_exact_catch_up(x, b);
    gr_order_sync(&x->order, b, e);
    if (b->floor != floor && b->alone && !b->ragged && !b->launch->bulk)
        gr_exact_fresh(b);
    if (!b->alone && !b->launch->bulk && gr_order_cluster_meets(&x->order, b, e))
        gr_exact_fresh_cluster(b);
}

static void on_async(void *user, const VmAsyncEvent *e) {
    Exact *x = user;
    x->order.moment_now = ++x->moment;
    gr_exact_make_room(x);
    Block *b = gr_exact_block_of(x, &e->where);
    if (!b)
        return;
    if ((e->kind == VM_ASYNC_READ || e->kind == VM_ASYNC_WRITE) &&
        !gr_exact_is_passed(x, b->launch, e->where.module, e->where.site))
        gr_exact_async_access(x, b, e);
    gr_order_async(&x->order, b, e);
    if (e->kind == VM_ASYNC_ISSUE && e->completes == VM_COMPLETES_GROUP)
        gr_exact_watch(x, b, e);
}

static void on_launch_begin(void *user, const VmLaunchEvent *e) {
    Exact *x = user;
    gr_exact_tidy(x);
    if (!x->order.active.len && !x->order.told) { // the past is settled
        gr_order_settle(&x->order);
        gr_shadow_clear(&x->shadow);
        gr_exact_freed_forget(x);
        gr_exact_allocations_forget(x);
    }
    x->several_devices |= x->device && x->device != e->device + 1;
    x->device = e->device + 1;
    Launch *l = gr_order_launch_begin(&x->order, e);
    if (!l)
        return;
    l->ptx = e->module;
    l->kernel = e->kernel ? e->kernel->name : NULL;
    gr_hosts_launch_begins(&x->hosts, l);
    l->unwanted = x->options.wanted && !x->options.wanted(x->options.user, e->kernel->name, e->launch);
    x->leaves_out |= l->unwanted;
}

// Drops the shared memory of blocks that will not end.
static void forget_blocks(Exact *x, const Launch *l) {
    for (uint64_t k = 0; l->pages && k <= l->n_blocks / PAGE_BLOCKS; k++)
        for (unsigned i = 0; l->pages[k] && l->pages[k]->live && i < l->pages[k]->n; i++)
            if (l->pages[k]->block[i])
                gr_shadow_forget(&x->shadow, l->pages[k]->block[i]);
}

static void on_launch_end(void *user, const VmLaunchEvent *e, bool faulted) {
    Exact *x = user;
    Launch *l = gr_exact_launch(x, e->launch);
    x->launch = NULL;
    if (!l)
        return;
    forget_blocks(x, l);
    gr_order_launch_end(&x->order, l, faulted);
}

static void on_block_begin(void *user, uint64_t launch, uint64_t linear) {
    Exact *x = user;
    gr_exact_tidy(x);
    Launch *l = gr_exact_launch(x, launch);
    if (l)
        gr_order_block_begin(&x->order, l, linear);
}

static void on_block_end(void *user, uint64_t launch, uint64_t linear) {
    Exact *x = user;
    Block *b = gr_exact_block_at(gr_exact_launch(x, launch), linear);
    if (b && (b->visited || b->arrivals.len))
        gr_exact_block_ends(x, b);
    if (b) {
        gr_shadow_forget(&x->shadow, b);
        gr_dekker_block_ends(&x->dekker, b);
        gr_order_block_end(&x->order, b);
    }
}

// ---- Creation -------------------------------------------------------------------------------------------------------

gr_status gr_exact_create(const ExactOptions *o, Exact **out, gr_error *err) {
    Exact *x = calloc(1, sizeof *x);
    GR_NEED(x, err);
    if (o)
        x->options = *o;
    x->hosts.order = x->options.threads;
    static uint64_t serial;
    x->serial = __atomic_add_fetch(&serial, 1, __ATOMIC_RELAXED);
    for (unsigned turn = 0; turn < 32; turn++)
        for (unsigned k = 0; k < LANES; k++)
            x->turns[turn][k] = (uint8_t)gr_vm_commit_lane(k, turn);
    gr_shadow_init(&x->shadow, x->options.collect_every);
    x->tidy_at = TIDY_BYTES;
    *out = x;
    return GR_OK;
}

void gr_exact_free(Exact *x) {
    if (!x)
        return;
    for (size_t k = 0; k < x->order.active.len; k++)
        forget_blocks(x, x->order.active.data[k]);
    gr_order_free(&x->order);
    gr_work_free(&x->work);
    gr_map_free(&x->copies);
    gr_hosts_free(&x->hosts);
    gr_shadow_free(&x->shadow);
    for (size_t k = 0; k < x->races.len; k++)
        free(x->races.data[k]);
    gr_vec_free(&x->races);
    gr_vec_free(&x->modules);
    gr_map_free(&x->modules_seen);
    gr_exact_reads_free(x);
    gr_vec_free(&x->kinds);
    gr_vec_free(&x->passed);
    gr_vec_free(&x->reach);
    gr_vec_free(&x->scratch);
    gr_vec_free(&x->readers);
    gr_map_free(&x->pairs);
    gr_exact_freed_free(x);
    gr_exact_allocations_free(x);
    gr_map_free(&x->proxy_reads);
    gr_map_free(&x->proxy_places);
    gr_str_free(&x->proxy_named);
    gr_map_free(&x->feeds);
    gr_map_free(&x->volatile_pairs);
    gr_map_free(&x->volatile_ordered);
    gr_dekker_free(&x->dekker);
    gr_map_free(&x->unsure_pairs);
    gr_str_free(&x->unsure_named);
    gr_map_free(&x->host_sites);
    gr_vec_free(&x->host_pcs);
    gr_vec_free(&x->open);
    gr_vec_free(&x->unread);
    free(x);
}

VmObserver gr_exact_observer(Exact *x) {
    return (VmObserver){.user = x,
                        .launch_begin = on_launch_begin,
                        .launch_end = on_launch_end,
                        .block_begin = on_block_begin,
                        .block_end = on_block_end,
                        .access = on_access,
                        .glance = on_glance,
                        .sync = on_sync,
                        .freed = gr_exact_device_freed,
                        .gone = gr_exact_gone,
                        .async = on_async};
}

bool gr_exact_incomplete(const Exact *x) {
    return x->nomem || x->order.nomem || x->shadow.nomem || x->work.nomem || x->hosts.nomem ||
           x->dekker.nomem || gr_clock_starved();
}

size_t gr_exact_races(const Exact *x) { return x->races.len; }
uint64_t gr_exact_shadow_bytes(const Exact *x) { return gr_shadow_bytes(&x->shadow) + x->read_bytes; }
