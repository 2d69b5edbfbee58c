// SPDX-License-Identifier: Apache-2.0
// ended — a thread's access to the shared memory of another block of its cluster has to come before that block's end,
// as the memory is gone then. A barrier of the cluster, or an mbarrier, must keep one of the block's threads from
// exiting before.
//
// The device stops a kernel that accesses the memory too late. Here a launch in which nothing orders the two is enough.
// The threads must have waited; they need not see what the other wrote.
#include "engines/exact/exact_internal.h"

#include <stdio.h>
#include <string.h>

enum { SEEN = 64 };

typedef struct Ending {
    Exact *x;
    Block *b;
    struct {
        uint32_t stamp, lanes; // that have been looked at; stamp 0: none
    } seen[SEEN];
} Ending;

static void place(uint64_t linear, const uint32_t dims[3], uint32_t out[3]) {
    out[0] = (uint32_t)(linear % dims[0]);
    out[1] = (uint32_t)(linear / dims[0] % dims[1]);
    out[2] = (uint32_t)(linear / dims[0] / dims[1]);
}

// Reports what lanes of one warp, of which `lane` is the first, did.
static void tell(const Ending *n, const Point *at, uint32_t lanes, const PtxStmt *stmt, const char *function,
                 const char *did) {
    const Exact *x = n->x;
    const Launch *l = n->b->launch;
    uint32_t lane = (uint32_t)__builtin_ctz(lanes), of[3];
    char text[512];
    VmMisuseEvent e = {.kind = VM_MISUSE_SHARED_ENDED,
                       .threads = (uint32_t)__builtin_popcount(lanes),
                       .launch = l->number,
                       .kernel = l->kernel,
                       .function = function,
                       .stmt = stmt,
                       .module = l->ptx,
                       .detail = text};
    place(gr_order_info(&x->order, at->id)->linear, l->grid, e.block);
    place((uint64_t)at->warp * LANES + lane, l->block, e.thread);
    place(n->b->linear, l->grid, of);
    snprintf(
        text, sizeof text,
        "thread (%u,%u,%u) of block (%u,%u,%u) %s the shared memory of block (%u,%u,%u), and nothing orders "
        "that before the end of all threads of that block",
        e.thread[0], e.thread[1], e.thread[2], e.block[0], e.block[1], e.block[2], did, of[0], of[1], of[2]);
    x->options.misused(x->options.user, &e);
}

static void look(Ending *n, uint32_t stamp, uint32_t lanes) {
    Exact *x = n->x;
    const Stamp *s = &x->shadow.stamps.data[stamp];
    uint32_t late = 0, slot = stamp % SEEN;
    if (s->at.launch != n->b->launch->index || gr_order_info(&x->order, s->at.id)->linear == n->b->linear ||
        s->mark & STAMP_DISCARDED)
        return;
    if (n->seen[slot].stamp != stamp)
        n->seen[slot].lanes = 0;
    n->seen[slot].stamp = stamp;
    for (uint32_t m = lanes & ~n->seen[slot].lanes; m; m &= m - 1)
        late |= gr_order_ends_after(&x->order, n->b, &s->at, (uint32_t)__builtin_ctz(m)) ? 0 : m & -m;
    n->seen[slot].lanes |= lanes;
    const PtxSite *site = late && gr_exact_is_wanted(x, s) ? gr_exact_code(x, n->b->launch, s->site) : NULL;
    if (!site)
        return;
    char did[96];
    bool by_op = gr_order_info(&x->order, s->at.id)->copies || s->proxy == VM_PROXY_ASYNC ||
                 gr_ptx_op_flags(site->stmt->instr->op) & PTX_F_ASYNC;
    snprintf(did, sizeof did, "%s%s %u bytes of", by_op ? "started an operation that " : "",
             s->access == PTX_ACCESS_READ    ? by_op ? "reads" : "read"
             : s->access == PTX_ACCESS_WRITE ? by_op ? "writes" : "wrote"
             : by_op                         ? "updates"
                                             : "updated",
             s->size);
    tell(n, &s->at, late, site->stmt, site->func->name, did);
}

static void look_at_line(Ending *n, const Line *line) {
    const Shadow *s = &n->x->shadow;
    Entry e;
    for (unsigned k = 0; k < LINE_CELLS && gr_line_has_cells(line); k++) {
        for (History h = line->wide.cells[k].writes; gr_history_next(s, &h, &e);)
            look(n, e.stamp, e.lanes);
        for (History h = line->wide.cells[k].reads; gr_history_next(s, &h, &e);)
            look(n, e.stamp, e.lanes);
    }
    for (unsigned k = 0; k < 2 && !gr_line_has_cells(line); k++)
        for (const Run *r = &line->side[k]; r && r->stamp; r = r->next ? &s->runs.data[r->next - 1] : NULL)
            look(n, r->stamp, r->lanes);
}

// The function that has the statement.
static const char *function_of(const PtxModule *m, const PtxStmt *stmt) {
    for (uint32_t f = 0; stmt && f < m->n_funcs; f++)
        for (const PtxStmt *s = m->funcs[f]->first; s; s = s->next)
            if (s == stmt)
                return m->funcs[f]->name;
    return NULL;
}

void gr_exact_block_ends(Exact *x, Block *b) {
    Ending n = {.x = x, .b = b};
    if (!x->options.misused || b->launch->unwanted)
        return;
    const Tile *t = b->visited ? b->tile : NULL;
    for (uint32_t k = 0; t && k < t->n_lines; k++)
        if (t->made[k] == t->generation)
            look_at_line(&n, &t->lines[k]);
    for (size_t k = 0; k < b->arrivals.len; k++) {
        const Arrival *a = &b->arrivals.data[k];
        if (!gr_order_ends_after(&x->order, b, &a->at, a->lane))
            tell(&n, &a->at, UINT32_C(1) << a->lane, a->stmt, function_of(b->launch->ptx, a->stmt),
                 "arrived at an mbarrier in");
    }
}
