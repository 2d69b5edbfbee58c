// SPDX-License-Identifier: Apache-2.0
// host — copies, memsets and frees are launches of one thread; what the host does says what comes after what (work.h).
#include "engines/exact/exact_internal.h"
#include "engines/exact/order/order_internal.h"

// Tells a row in pieces, as a row may be longer than an access may be.
static void host_row(Exact *x, Access *a, uint64_t at, uint64_t width) {
    static const uint64_t most = UINT64_C(1) << 30;
    for (uint64_t done = 0; done < width; done += most) {
        uint32_t size = (uint32_t)(width - done < most ? width - done : most);
        a->address[0] = at + done;
        if (x->freed.len) // as the copy was submitted it was there
            gr_exact_accesses_freed(x, a, size);
        gr_exact_touch(x, a, 1, size);
    }
}

static void host_access(Exact *x, Block *b, const GrBox *box, PtxAccess access, bool fill) {
    Access a = {.view = {.launch = b->launch, .block = b, .warp = &b->warps[0]}};
    Stamp s = {.at = {.id = b->id, .epoch = 1, .launch = b->launch->index},
               .access = (unsigned)access & 3,
               .elem = fill};
    a.stamp = box->at ? gr_shadow_stamp(&x->shadow, &s, x->moment) : 0;
    for (uint64_t row = 0; a.stamp && row < box->height * box->depth; row++) {
        uint64_t at = box->at + row / box->height * box->slice + row % box->height * box->pitch;
        host_row(x, &a, at, box->width);
        if (access != PTX_ACCESS_READ)
            gr_order_overwritten(&x->order, &x->order.sync, at, box->width);
    }
}

// Begins the item's launch of one thread; takes the references of both clocks.
static void host_begins(Exact *x, const GrWork *w, Clock *known, Clock *sure) {
    VmLaunchEvent e = {.device = w->device, .grid = {1, 1, 1}, .block = {1, 1, 1}, .cluster = {1, 1, 1}};
    Launch *l = gr_order_launch_begin(&x->order, &e);
    Block *b = NULL;
    if (l) {
        l->call = w->call;
        l->known = known;
        l->sure = sure;
        l->has_sure = x->hosts.several;
        b = gr_order_block_begin(&x->order, l, 0);
    } else {
        gr_clock_release(known);
        gr_clock_release(sure);
    }
    if (!b || !gr_map_put_u64(&x->copies, w->item, l)) {
        x->nomem = true;
        return;
    }
    if (w->type == GR_WORK_ALLOC) {
        View by = {.launch = l, .block = b, .warp = &b->warps[0]};
        if (w->to.at)
            gr_exact_allocated(x, &by, w);
        return;
    }
    if (w->type == GR_WORK_FREE) {
        View by = {.launch = l, .block = b, .warp = &b->warps[0]};
        Stamp s = {.at = {.id = b->id, .epoch = 1, .launch = l->index}, .mark = w->node ? STAMP_NODE : 0};
        if (w->to.at)
            gr_exact_freed(x, &by, &s, w->to.at, w->to.width);
        return;
    }
    host_access(x, b, &w->from, PTX_ACCESS_READ, false);
    host_access(x, b, &w->to, PTX_ACCESS_WRITE, w->type == GR_WORK_FILL);
}

static Launch *done_by(Exact *x, const GrWork *w) {
    if (w->type == GR_WORK_KERNEL)
        return gr_order_told(&x->order, w->launch);
    Launch *l = gr_map_remove_u64(&x->copies, w->item);
    if (l) {
        gr_order_block_end(&x->order, gr_order_block(l, 0));
        gr_order_launch_end(&x->order, l, false);
    }
    return l;
}

static void watch(const Exact *x, bool on) {
    if (x->options.watch)
        x->options.watch(x->options.user, on);
}

// The submission counts with what the host knew when its call began.
static void keep_known(Exact *x, const GrWork *w) {
    Clock *now = x->work.host;
    x->work.host = gr_hosts_when_begun(&x->hosts, &x->work, w);
    gr_work_submitted(&x->work, w);
    gr_clock_take(&x->work.host, now);
}

// The host frees memory itself and waits for nothing first: the free comes after what the host had waited for at its
// call, and before what it submits from then on.
static void host_frees(Exact *x, const GrWork *w) {
    WorkTurn turn = gr_work_host_did(&x->work);
    gr_clock_add(&x->hosts.besides, gr_stream_key(turn.stream), turn.turn);
    keep_known(x, w);
}

// Forgets the memory, as nothing can use it any more.
static void host_freed(Exact *x, const GrWork *w) {
    Clock *known = gr_work_freed(&x->work, w);
    WorkTurn turn = {0, gr_clock_get(known, gr_stream_key(0))};
    gr_hosts_freed(&x->hosts, w);
    host_begins(x, w, known, gr_clock_retain(known));
    Launch *l = done_by(x, w);
    if (l)
        gr_order_had_turn(l, turn);
}

static void submitted(Exact *x, const GrWork *w) {
    keep_known(x, w);
    gr_exact_host_closed(x);
    watch(x, true);
}

static void begins(Exact *x, const GrWork *w) {
    Clock *prior, *known = gr_work_begins(&x->work, w, &prior), *sure = gr_hosts_begins(&x->hosts, w);
    if (w->type == GR_WORK_KERNEL || w->type == GR_WORK_COPY || w->type == GR_WORK_FILL)
        gr_exact_meet_allocations(x, known);
    if (w->type == GR_WORK_KERNEL) {
        x->order.begins.number = w->launch;
        x->order.begins.call = w->call;
        gr_order_expect_prior(&x->order, w->launch, prior);
        gr_order_expect(&x->order, w->launch, known);
        gr_hosts_expect(&x->hosts, w->launch, sure);
        return;
    }
    if (w->type == GR_WORK_COPY || w->type == GR_WORK_FILL || w->type == GR_WORK_FREE ||
        w->type == GR_WORK_ALLOC) {
        host_begins(x, w, known, sure);
        return;
    }
    if (w->type == GR_WORK_HOST) { // a thread of the host's runs it, which may tell the others
        gr_clock_merge(&x->work.host, known);
        gr_hosts_function_begins(&x->hosts, &x->work, w, sure);
    }
    gr_clock_release(known);
    gr_clock_release(sure);
}

// What follows the host function in its stream knows what the host knew when the function returned. The function takes
// a turn even if it accessed no memory: what it tells others names that.
static void function_ended(Exact *x, const GrWork *w) {
    gr_exact_host_releases(x);
    Clock *now = x->work.host, *turn_of = NULL;
    x->work.host = gr_hosts_when_begun(&x->hosts, &x->work, w);
    WorkTurn turn = gr_work_ended(&x->work, w, true, NULL);
    gr_clock_merge(&now, x->work.host);
    gr_clock_take(&x->work.host, now);
    gr_clock_add(&turn_of, gr_stream_key(turn.stream), turn.turn);
    gr_hosts_function_did(&x->hosts, turn_of);
    gr_clock_release(turn_of);
    gr_exact_function_ends(x);
    gr_hosts_ended(&x->hosts, w, NULL);
}

static void ended(Exact *x, const GrWork *w) {
    if (w->type == GR_WORK_HOST) {
        function_ended(x, w);
        return;
    }
    Launch *done = done_by(x, w);
    WorkTurn turn = gr_work_ended(&x->work, w, done != NULL, done ? done->end : NULL);
    if (done && turn.turn)
        gr_order_had_turn(done, turn);
    if (done && turn.turn && w->type == GR_WORK_ALLOC)
        gr_exact_allocation_ended(x, done, w);
    gr_hosts_ended(&x->hosts, w, done);
}

// Everything is over, and all later work knows that.
static void settle(Exact *x) {
    gr_work_settle(&x->work);
    gr_order_settle(&x->order);
    gr_hosts_settled(&x->hosts);
    gr_shadow_clear(&x->shadow);
    gr_exact_freed_forget(x);
    gr_exact_allocations_forget(x);
}

static void waited(Exact *x, const GrWork *w) {
    bool over = gr_work_waited(&x->work, w) && !x->order.active.len;
    gr_hosts_note_wait(&x->hosts, &x->work, w);
    if (!over)
        return;
    gr_exact_host_ends(x);
    watch(x, false);
    if (!gr_hosts_keep(&x->hosts, w))
        settle(x);
}

void gr_exact_work(void *exact, const GrWork *w) {
    Exact *x = exact;
    x->moment++;
    gr_exact_make_room(x);
    gr_exact_tidy(x);
    x->launch = NULL;
    x->order.told = true;
    if (w->kind == GR_WORK_SUBMITTED)
        gr_exact_host_releases(x);
    gr_hosts_hear(&x->hosts, &x->work, w);
    switch (w->kind) {
    case GR_WORK_SUBMITTED: submitted(x, w); break;
    case GR_WORK_BEGINS: begins(x, w); break;
    case GR_WORK_ENDED: ended(x, w); break;
    case GR_WORK_FREES: host_frees(x, w); break;
    case GR_WORK_FREED: host_freed(x, w); break;
    case GR_WORK_WAITED: waited(x, w); break;
    }
}
