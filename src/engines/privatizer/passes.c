// SPDX-License-Identifier: Apache-2.0
#include "engines/privatizer/passes.h"

#include <stddef.h>
#include <string.h>

uint64_t gr_passes_blocks(const GrLaunch *l) { return (uint64_t)l->grid[0] * l->grid[1] * l->grid[2]; }

uint64_t gr_passes_threads(const GrLaunch *l) { return (uint64_t)l->block[0] * l->block[1] * l->block[2]; }

uint64_t gr_passes_rounds(uint64_t n, uint64_t m) {
    uint64_t rounds = 1;
    for (uint64_t groups = m; groups < n; groups *= m)
        rounds++;
    return rounds;
}

static uint64_t power(uint64_t m, uint64_t e) {
    uint64_t n = 1;
    while (e--)
        n *= m;
    return n;
}

bool gr_log_has_found(const GrPrivLog *log) {
    for (unsigned k = 0; k < GR_MOST_FOUND; k++)
        if (log->found[k].state)
            return true;
    return false;
}

// As few copies as do it in so many rounds: less is to be compared.
enum { MANY_COPIES = 32 };

static uint64_t fewest(uint64_t units, uint64_t rounds) {
    uint64_t m = 2;
    while (power(m, rounds) < units)
        m++;
    return m;
}

bool gr_passes_plan(const Passes *p, uint32_t mode, uint32_t threads, PassPlan *out) {
    uint64_t blocks = gr_passes_blocks(p->launch), room = p->budget / p->layout->stride;
    uint64_t most = p->most_copies ? p->most_copies : MANY_COPIES;
    *out = (PassPlan){.mode = mode,
                      .threads = threads,
                      .units = mode == GR_OF_WARPS ? (gr_passes_threads(p->launch) + threads - 1) / threads
                                                   : blocks};
    if (room < 4)
        return false;
    most = most < 2 ? 2 : most > room - 2 ? room - 2 : most;
    out->rounds = gr_passes_rounds(out->units, most);
    out->copies = p->most_copies ? most : fewest(out->units, out->rounds);
    out->slots = mode == GR_OF_BLOCKS ? 1 : room / (out->copies + 2);
    out->slots = out->slots > blocks ? blocks : out->slots;
    out->slots = out->slots > p->most_slots ? p->most_slots : out->slots;
    return true;
}

static CUresult set(const Passes *p, const GrPrivControl *c) {
    return p->d->write(p->control, c, sizeof *c, p->launch->stream);
}

static CUresult step(const Passes *p, const GrPrivControl *c, CUfunction kernel) {
    uint64_t base = c->copies, stride = c->stride, span = c->span, lines = c->lines, log = c->log;
    uint32_t n = c->privates;
    uint64_t sums = c->sums;
    void *params[] = {&base, &stride, &span, &lines, &log, &n, &sums}; // the last one for `check`
    uint64_t groups = span / GR_LINE / 8 + 1;
    return p->d->launch(kernel, groups < 1024 ? (unsigned)groups : 1024, 1, 1, 256, 1, 1, 0,
                        p->launch->stream, params, NULL);
}

static CUresult run_blocks(const Passes *p, GrPrivControl *c) {
    CUresult rc = CUDA_SUCCESS;
    for (c->pass = 1; c->pass <= 2 && rc == CUDA_SUCCESS; c->pass++) {
        rc = set(p, c);
        if (rc == CUDA_SUCCESS)
            rc = p->run->submit(p->run, NULL);
        if (rc == CUDA_SUCCESS)
            rc = step(p, c, c->pass == 1 ? p->merge : p->check);
    }
    return rc;
}

static CUresult run_warps(const Passes *p, GrPrivControl *c) {
    CUresult rc = set(p, c);
    return rc == CUDA_SUCCESS ? p->run->submit(p->run, NULL) : rc;
}

// Device memory for the plan, and what the program's memory is in all copies.
static CUresult prepare(Passes *p, const PassPlan *to, uint64_t slots, GrPrivControl *c) {
    const PrivatizerDriver *d = p->d;
    const Layout *l = p->layout;
    CUstream stream = p->launch->stream;
    uint64_t n = slots * (to->copies + 2) + 1, n_lines = l->span / GR_LINE,
             line_bytes = GR_LINES_BYTES(n_lines), sum_bytes = 2 * to->copies * sizeof(uint64_t),
             own_bytes = sum_bytes + 8 + (slots + gr_passes_blocks(p->launch)) * sizeof(uint32_t) + n_lines,
             extent_bytes = l->outside.len * sizeof *l->outside.data;
    CUresult rc = gr_buffer_grow(d, p->copies, n * l->stride);
    rc = rc == CUDA_SUCCESS ? gr_buffer_grow(d, p->lines, slots * line_bytes + own_bytes) : rc;
    rc = rc == CUDA_SUCCESS ? gr_buffer_grow(d, p->log, sizeof(GrPrivLog)) : rc;
    rc = rc == CUDA_SUCCESS ? gr_buffer_grow(d, p->extents, extent_bytes + 1) : rc;
    if (rc == CUDA_SUCCESS && extent_bytes)
        rc = d->write(p->extents->at, l->outside.data, extent_bytes, stream);
    rc = rc == CUDA_SUCCESS ? gr_layout_fill(d, l, p->copies->at, n, stream) : rc;
    rc = rc == CUDA_SUCCESS ? d->fill(p->lines->at, 0, slots * line_bytes + own_bytes, stream) : rc;
    rc = rc == CUDA_SUCCESS ? d->fill(p->log->at, 0, sizeof(GrPrivLog), stream) : rc;
    *c = (GrPrivControl){.mode = to->mode,
                         .pass = 1,
                         .slots = slots,
                         .arena = l->arena,
                         .arena_bytes = l->arena_bytes,
                         .shared_bytes = l->shared_bytes,
                         .span = l->span,
                         .stride = l->stride,
                         .copies = p->copies->at,
                         .slot_stride = (to->copies + 2) * l->stride,
                         .lines = p->lines->at,
                         .lines_stride = line_bytes,
                         .extents = p->extents->at,
                         .n_extents = (uint32_t)l->outside.len,
                         .privates = (uint32_t)to->copies,
                         .threads = to->threads,
                         .log = p->log->at,
                         .sums = (p->lines->at + slots * line_bytes + 7) / 8 * 8,
                         .most_rounds = p->most_rounds};
    c->sum = p->copies->at + (n - 1) * l->stride;
    c->taken = c->sums + sum_bytes;
    c->slot_of = c->taken + slots * sizeof(uint32_t);
    c->changed = c->slot_of + gr_passes_blocks(p->launch) * sizeof(uint32_t);
    p->peak = n * l->stride > p->peak ? n * l->stride : p->peak;
    return rc;
}

CUresult gr_passes_run(Passes *p, const PassPlan *plan, uint64_t round, const GrPrivAsk *ask,
                       GrPrivLog *log) {
    GrPrivControl c, none = {.mode = GR_AS_IT_IS};
    memset(log, 0, sizeof *log);
    CUresult rc = prepare(p, plan, ask ? 1 : plan->slots, &c);
    c.divide = power(plan->copies, plan->rounds - 1 - round);
    if (ask)
        c.ask = *ask;
    if (rc == CUDA_SUCCESS)
        rc = plan->mode == GR_OF_BLOCKS ? run_blocks(p, &c) : run_warps(p, &c);
    if (rc == CUDA_SUCCESS)
        rc = p->d->read(log, p->log->at, sizeof *log, p->launch->stream);
    if (rc == CUDA_SUCCESS)
        rc = p->d->wait(p->launch->stream);
    p->rounds += !ask;
    CUresult restored = set(p, &none);
    return rc == CUDA_SUCCESS ? restored : rc;
}

bool gr_passes_plan_once(const Passes *p, uint32_t threads, PassPlan *out) {
    uint64_t blocks = gr_passes_blocks(p->launch), room = p->budget / p->layout->stride;
    *out = (PassPlan){.mode = GR_OF_WARPS,
                      .threads = threads,
                      .units = (gr_passes_threads(p->launch) + threads - 1) / threads,
                      .slots = blocks,
                      .rounds = 1};
    out->copies = out->units;
    return blocks < room / (out->copies + 2);
}

CUresult gr_passes_once(Passes *p, const PassPlan *plan, GrPrivLog *log) {
    GrPrivControl c, none = {.mode = GR_AS_IT_IS};
    memset(log, 0, sizeof *log);
    CUresult rc = prepare(p, plan, plan->slots, &c);
    c.once = 1;
    c.divide = 1;
    rc = rc == CUDA_SUCCESS ? run_warps(p, &c) : rc;
    rc = rc == CUDA_SUCCESS ? p->d->read(log, p->log->at, sizeof *log, p->launch->stream) : rc;
    rc = rc == CUDA_SUCCESS ? p->d->wait(p->launch->stream) : rc;
    void *params[] = {&p->control};
    if (rc == CUDA_SUCCESS && !log->outside && !log->over && !log->apart)
        rc = p->d->launch(p->commit, 64, 1, 1, 256, 1, 1, 0, p->launch->stream, params, NULL);
    if (rc == CUDA_SUCCESS) // the next launch, in another stream maybe, has the same copies
        rc = p->d->wait(p->launch->stream);
    CUresult restored = set(p, &none);
    return rc == CUDA_SUCCESS ? restored : rc;
}
