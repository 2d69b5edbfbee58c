// SPDX-License-Identifier: Apache-2.0
// touch — the host's own accesses to memory that it shares with the device.
//
// The program's threads on the host are one thread here, of a launch that begins with the first access and ends when the host has
// waited for everything. It knows what the host has waited for (work.h), and what is submitted after an access knows of that.
// An aligned access that the machine does at once is taken for a strong one of system scope, a read for an acquire and a
// write for a release: that is what std::atomic and volatile become on the machines we run on, which
// cannot be told from plain accesses there. So the host never races with strong accesses of system scope.
//
// The host may be seen through a hole only: pages that stay open (GrHostWatcher.opened). In those pages the host may have read
// and written everything at any time, as far as order goes. It may know what the device released there, and the device may have
// acquired there what the host did before. That can hide a race, and never makes one.
#include "engines/exact/exact_internal.h"
#include "engines/exact/order/order_internal.h"

enum { CHUNK = 1 << 30, SPANS = 64 };

static Block *host_block(Exact *x) {
    if (!x->host) {
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
        x->host = l;
        x->host_told = true;
    }
    Block *b = gr_order_block(x->host, 0);
    Warp *w = &b->warps[0];
    if (x->host->known != x->work.host) {
        gr_clock_take(&x->host->known, gr_clock_retain(x->work.host));
        gr_clock_take(&w->imp, gr_clock_retain(x->work.host));
        w->has_imp = true;
        x->order.version++;
    }
    return b;
}

static void keep_learnt(Exact *x, const Warp *w) {
    if (w->imp == x->work.host)
        return;
    gr_clock_merge(&x->work.host, w->imp);
    gr_clock_merge(&x->hosts.besides, w->imp);
}

static bool is_open(const Exact *x, uint64_t at) {
    for (size_t k = 0; k < x->open.len; k++)
        if (at - x->open.data[k].at < x->open.data[k].size)
            return true;
    return false;
}

// What the device has released in open memory may be known to the host.
static void learn_unseen(Exact *x, Block *b) {
    if (!x->open.len || !x->host_news)
        return;
    for (size_t k = 0; k < x->order.sync.len; k++) {
        const SyncVar *v = x->order.sync.entries[k].live ? x->order.sync.entries[k].value : NULL;
        if (!v || !is_open(x, v->at))
            continue;
        StrongOp op = {.at = v->at,
                       .vars = &x->order.sync,
                       .talks = &x->order.talks,
                       .size = v->size,
                       .sem = PTX_ACQUIRE,
                       .scope = PTX_SCOPE_SYS};
        gr_order_strong_read(&x->order, b, &b->warps[0], 0, &op);
    }
    x->host_news = false;
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
    Block *b = host_block(x);
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
        gr_order_strong_read(&x->order, b, w, 0, &op);
    Access a = {.view = {.launch = b->launch, .block = b, .warp = w}};
    Stamp s = {.at = {.id = b->id, .epoch = w->epoch[0], .launch = b->launch->index},
               .site = site_of(x, t->pc),
               .size = (uint32_t)t->size,
               .access = (uint8_t)t->access,
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
    x->host_told = false;
    keep_learnt(x, w);
}

void gr_exact_host_opened(void *exact, uint64_t at, uint64_t size) {
    Exact *x = exact;
    Span s = {at, size}, *last = x->open.len ? &x->open.data[x->open.len - 1] : NULL;
    x->host_news = true; // what was released there before
    if (last && last->at + last->size == at) {
        last->size += size;
        return;
    }
    if (last && x->open.len == SPANS) { // all of them and what is between
        uint64_t end = at + size;
        for (size_t k = 0; k < x->open.len; k++) {
            const Span *o = &x->open.data[k];
            s.at = o->at < s.at ? o->at : s.at;
            end = o->at + o->size > end ? o->at + o->size : end;
        }
        s.size = end - s.at;
        x->open.len = 0;
    }
    if (!gr_vec_push(&x->open, s))
        x->nomem = true;
}

void gr_exact_host_releases(Exact *x) {
    if (!x->host && !x->open.len)
        return;
    Block *b = host_block(x);
    if (!b)
        return;
    Warp *w = &b->warps[0];
    learn_unseen(x, b);
    keep_learnt(x, w);
    if (x->host_told)
        return;
    gr_clock_add(&x->work.host, key_of(BY_THREAD, b->id, 0, 0), w->epoch[0]);
    gr_clock_add(&x->hosts.besides, key_of(BY_THREAD, b->id, 0, 0), w->epoch[0]);
    gr_order_bump(&x->order, b, w, 1);
    x->host_told = true;
}

void gr_exact_host_unseen(Exact *x, Block *b, Warp *w, uint32_t lane, const StrongOp *s) {
    if (s->vars != &x->order.sync || s->scope != PTX_SCOPE_SYS || !is_open(x, s->at))
        return;
    gr_exact_host_releases(x);
    gr_order_observe(&x->order, b, w, lane, s->sem, SAME_SYSTEM, x->work.host);
}

void gr_exact_host_ends(Exact *x) {
    Launch *l = x->host;
    x->open.len = 0;
    if (!l)
        return;
    x->host = NULL;
    gr_order_block_end(&x->order, gr_order_block(l, 0));
    gr_order_launch_end(&x->order, l, false);
}
