// SPDX-License-Identifier: Apache-2.0
// touch — the host's own accesses to memory that it shares with the device.
//
// The program's host threads are one thread here, of a launch that begins with the first access and ends when the host
// has waited for everything. That thread knows what the host has waited for (work.h), and work that is submitted after
// an access knows of that. A host function is another thread, of a launch that has the function's place in its stream
// and ends with it. Accesses of the two do not race here. An aligned access that the machine does at once counts as
// strong, of system scope, a read as an acquire and a write as a release. std::atomic and volatile become such accesses
// on the machines we run on, and plain ones look the same. So the host never races with strong accesses of system
// scope.
//
// The host may be seen through a hole only: pages that stay open (GrHostWatcher.opened). There the host may have read
// and written everything at any time, as far as order goes. It may know what the device released there, and the device
// may have acquired there what the host did before. That can hide a race, and never makes one.
#include "engines/exact/exact_internal.h"
#include "engines/exact/order/order_internal.h"

#include <stdlib.h>

enum { CHUNK = 1 << 30 };

static Launch *begin(Exact *x) {
    VmLaunchEvent e = {.device = -1, .grid = {1, 1, 1}, .block = {1, 1, 1}, .cluster = {1, 1, 1}};
    Launch *l = gr_order_launch_begin(&x->order, &e);
    if (!l || !gr_order_block_begin(&x->order, l, 0)) {
        x->nomem = true;
        return NULL;
    }
    l->host = true;
    // Nothing waits for it to end.
    if (x->order.active.len && x->order.active.data[x->order.active.len - 1] == l)
        x->order.active.len--;
    return l;
}

static void end(Exact *x, Launch **of) {
    Launch *l = *of;
    if (!l)
        return;
    *of = NULL;
    gr_order_block_end(&x->order, gr_order_block(l, 0));
    gr_order_launch_end(&x->order, l, false);
}

// The host's block of launch l, which knows what the host knows now.
static Block *block_of(Exact *x, Launch *l) {
    Block *b = l ? gr_order_block(l, 0) : NULL;
    if (!b)
        return NULL;
    Warp *w = &b->warps[0];
    if (l->known != x->work.host) {
        gr_clock_take(&l->known, gr_clock_retain(x->work.host));
        gr_clock_take(&w->imp, gr_clock_retain(x->work.host));
        w->has_imp = true;
        x->order.version++;
    }
    return b;
}

static Block *host_block(Exact *x) {
    if (!x->host) {
        x->host = begin(x);
        x->host_told = true;
    }
    return block_of(x, x->host);
}

// The block of the host function that runs, at the function's place in its stream.
static Block *function_block(Exact *x) {
    if (!x->function && (x->function = begin(x))) {
        x->function->stream = x->hosts.turn.stream;
        x->function->turn = x->hosts.turn.turn;
        x->function->sure = gr_clock_retain(x->hosts.function.known);
        x->function->has_sure = true;
        x->function_told = true;
    }
    return block_of(x, x->function);
}

// The host comes to know c: for all calls that begin from now on, or that began after the host function did.
static void tell(Exact *x, const Block *b, Clock *c) {
    gr_clock_merge(&x->work.host, c);
    if (b->launch == x->function)
        gr_hosts_function_did(&x->hosts, c);
    else
        gr_clock_merge(&x->hosts.besides, c);
}

static void keep_learnt(Exact *x, const Block *b) {
    Clock *c = b->warps[0].imp;
    if (c != x->work.host)
        tell(x, b, c);
}

// A host function learns by a strong read for sure; its launch keeps that apart from what it knows by real time.
static void read_strongly(Exact *x, Block *b, const StrongOp *op) {
    Launch *l = b->launch;
    Warp *w = &b->warps[0];
    if (l->has_sure)
        gr_clock_take(&w->imp, gr_clock_retain(l->sure));
    gr_order_strong_read(&x->order, b, w, 0, op);
    if (l->has_sure) {
        gr_clock_take(&l->sure, gr_clock_retain(w->imp));
        gr_clock_take(&w->imp, gr_clock_join(x->work.host, l->sure));
    }
}

static void read_unseen(Exact *x, Block *b, const SyncVar *v) {
    StrongOp op = {.at = v->at,
                   .vars = &x->order.sync,
                   .talks = &x->order.talks,
                   .size = v->size,
                   .sem = PTX_ACQUIRE,
                   .scope = PTX_SCOPE_SYS};
    x->looks++;
    read_strongly(x, b, &op);
}

// Reads what was released in the span, by the pages where anything was released.
static void read_span(Exact *x, Block *b, const Span *s) {
    const Order *o = &x->order;
    uint64_t end = s->at + s->size,
             step = o->var_sizes & (0 - o->var_sizes); // operations lie at multiples of their size
    for (uint64_t at = s->at; step && at < end; at = (at / SYNC_PAGE + 1) * SYNC_PAGE) {
        if (!gr_map_get_u64(&o->sync_pages, at / SYNC_PAGE))
            continue;
        for (uint64_t k = (at + step - 1) / step * step; k < end && k / SYNC_PAGE == at / SYNC_PAGE;
             k += step) {
            const SyncVar *v = gr_map_get_u64(&o->sync, k);
            if (v)
                read_unseen(x, b, v);
        }
    }
}

static void read_all(Exact *x, Block *b) {
    for (size_t k = 0; k < x->order.sync.len; k++) {
        const SyncVar *v = x->order.sync.entries[k].live ? x->order.sync.entries[k].value : NULL;
        if (v && gr_exact_is_open(x, v->at))
            read_unseen(x, b, v);
    }
}

// The host may know what the device has released in open memory. The thread or host function that looks first learns
// it.
static void learn_unseen(Exact *x, Block *b) {
    if (!x->open.len || (!x->unread.len && !x->all_unread))
        return;
    bool all = x->all_unread || x->reader != b->id || x->order.talking;
    if (all)
        read_all(x, b);
    for (size_t k = 0; k < x->unread.len && !all; k++)
        read_span(x, b, &x->unread.data[k]);
    x->reader = b->id;
    x->unread.len = 0;
    x->all_unread = false;
}

void gr_exact_host_closed(Exact *x) {
    x->open.len = 0;
    x->unread.len = 0;
    x->all_unread = false;
}

static uint32_t site_of(Exact *x, uint64_t pc) {
    uint32_t site = (uint32_t)(uintptr_t)gr_map_get_u64(&x->host_sites, pc);
    if (site)
        return site;
    if (!x->n_sites) // 0 stands for copies
        x->n_sites = 1;
    HostSite s = {x->n_sites++, pc};
    if (!gr_vec_push(&x->host_pcs, s) || !gr_map_put_u64(&x->host_sites, pc, (void *)(uintptr_t)s.site))
        x->nomem = true;
    return s.site;
}

void gr_exact_host_touched(void *exact, const GrHostTouch *t) {
    Exact *x = exact;
    x->moment++;
    gr_exact_make_room(x);
    bool function = x->hosts.function.id == t->thread && x->hosts.runs;
    Block *b = function ? function_block(x) : host_block(x);
    if (!b || !t->size)
        return;
    Warp *w = &b->warps[0];
    learn_unseen(x, b);
    const SyncVar *v = gr_map_get_u64(&x->order.sync, t->address);
    StrongOp op = {.at = t->address,
                   .vars = &x->order.sync,
                   .talks = &x->order.talks,
                   .size = v ? v->size : (uint32_t)t->size,
                   .sem = PTX_ACQ_REL,
                   .scope = PTX_SCOPE_SYS,
                   .rmw = t->access == PTX_ACCESS_RMW};
    if (t->is_atomic && t->access != PTX_ACCESS_WRITE)
        read_strongly(x, b, &op);
    Access a = {.view = {.launch = b->launch, .block = b, .warp = w}};
    Stamp s = {.at = {.id = b->id, .epoch = w->epoch[0], .launch = b->launch->index},
               .site = site_of(x, t->pc),
               .size = (uint32_t)t->size,
               .access = (unsigned)t->access & 3,
               .strong = t->is_atomic != 0,
               .scope = SAME_SYSTEM};
    a.stamp = gr_shadow_stamp(&x->shadow, &s, x->moment);
    for (uint64_t done = 0; a.stamp && done < t->size; done += CHUNK) {
        a.address[0] = t->address + done;
        gr_exact_touch(x, &a, 1, t->size - done < CHUNK ? (uint32_t)(t->size - done) : CHUNK);
    }
    if (t->is_atomic && t->access != PTX_ACCESS_READ)
        gr_order_strong_write(&x->order, b, w, 0, &op);
    else if (t->access != PTX_ACCESS_READ)
        gr_order_overwritten(&x->order, &x->order.sync, t->address, t->size);
    *(function ? &x->function_told : &x->host_told) = false;
    keep_learnt(x, b);
}

static int by_address(const void *x, const void *y) {
    const Span *a = x, *b = y;
    return (a->at > b->at) - (a->at < b->at);
}

// Too many spans: from now on they all, and what is between, are one.
static void open_between(Exact *x) {
    Span *s = x->open.data;
    uint64_t end = 0;
    qsort(s, x->open.len, sizeof *s, by_address);
    for (size_t k = 0; k < x->open.len; k++) {
        if (k && s[k].at > end)
            gr_exact_unread(x, end, s[k].at - end);
        end = s[k].at + s[k].size > end ? s[k].at + s[k].size : end;
    }
    s->size = end - s->at;
    x->open.len = 1;
}

void gr_exact_host_opened(void *exact, uint64_t at, uint64_t size) {
    Exact *x = exact;
    Span *last = x->open.len ? &x->open.data[x->open.len - 1] : NULL;
    gr_exact_unread(x, at, size); // what was released there before
    if (last && last->at + last->size == at) {
        last->size += size;
        return;
    }
    bool many = x->open.len == OPEN_SPANS;
    if (!gr_vec_push(&x->open, ((Span){at, size})))
        x->nomem = true;
    else if (many)
        open_between(x);
}

// What the block has done up to now comes before what the host submits.
static void release(Exact *x, Block *b, bool *told) {
    if (*told)
        return;
    Warp *w = &b->warps[0];
    Clock *did = NULL;
    gr_clock_add(&did, key_of(BY_THREAD, b->id, 0, 0), w->epoch[0]);
    tell(x, b, did);
    gr_clock_release(did);
    gr_order_bump(&x->order, b, w, 1);
    *told = true;
}

void gr_exact_host_releases(Exact *x) {
    Block *f = block_of(x, x->function);
    if (f)
        release(x, f, &x->function_told);
    if (!x->host && !x->open.len)
        return;
    Block *b = host_block(x);
    if (!b)
        return;
    learn_unseen(x, b);
    keep_learnt(x, b);
    release(x, b, &x->host_told);
}

void gr_exact_host_unseen(Exact *x, Block *b, Warp *w, uint32_t lane, const StrongOp *s) {
    if (s->vars != &x->order.sync || s->scope != PTX_SCOPE_SYS || !gr_exact_is_open(x, s->at))
        return;
    gr_exact_host_releases(x);
    gr_order_observe(&x->order, b, w, lane, s->sem, SAME_SYSTEM, x->work.host);
}

void gr_exact_host_ends(Exact *x) {
    gr_exact_host_closed(x);
    end(x, &x->host);
}

// The host knows for sure what the function learned from the device.
void gr_exact_function_ends(Exact *x) {
    if (x->function)
        gr_clock_merge(&x->hosts.function.known, x->function->sure);
    end(x, &x->function);
}
