// SPDX-License-Identifier: Apache-2.0
// work — tells listeners (hooks.h) when items are submitted, begin and end, and what the host waits for.
#include "driver/cuda/driver.h"
#include "driver/cuda/queue.h"
#include "driver/cuda/stream.h"

#include "device_api/hooks.h"

#include <dlfcn.h>

typedef struct Ear {
    void (*hear)(void *user, const GrWork *w);
    void *user;
} Ear;

static VEC(Ear) ears;
static uint32_t (*call_of)(void); // gr_api_call; NULL: there is no such tool

uint32_t gr_work_call(void) { return call_of ? call_of() : 0; }

__attribute__((visibility("default"))) int
gr_cpu_device_observe_work(void (*hear)(void *user, const GrWork *w), void *user) {
    gr_cu_lock();
    bool ok = gr_vec_push(&ears, ((Ear){hear, user}));
    call_of = (uint32_t(*)(void))dlsym(RTLD_DEFAULT, "gr_api_call");
    gr_cu_unlock();
    return ok ? 0 : -1;
}

static void tell(const GrWork *w) {
    for (size_t k = 0; k < ears.len; k++)
        ears.data[k].hear(ears.data[k].user, w);
}

static uint64_t waits;
uint64_t gr_work_waits(void) { return waits; }

static void add_caller(GrWork *w) {
    w->thread = (uint64_t)gr_cu_caller(&w->began);
    w->waits = waits;
}

static void describe(const Item *it, GrWork *w) {
    const CopyJob *c = &it->copy;
    const FillJob *f = &it->fill;
    switch (it->kind) {
    case ITEM_KERNEL:
        w->type = GR_WORK_KERNEL;
        w->launch = it->kernel.params.launch;
        w->early = it->kernel.early;
        break;
    case ITEM_COPY:
        w->type = GR_WORK_COPY;
        w->from = (GrBox){c->src_addr, c->width, c->height, c->depth, c->src_pitch, c->src_slice};
        w->to = (GrBox){c->dst_addr, c->width, c->height, c->depth, c->dst_pitch, c->dst_slice};
        break;
    case ITEM_FILL:
        w->type = GR_WORK_FILL;
        w->to = (GrBox){f->addr, f->width * f->element, f->height, 1, f->pitch, 0};
        break;
    case ITEM_RECORD:
    case ITEM_WAIT:
        w->type = it->kind == ITEM_RECORD ? GR_WORK_RECORD : GR_WORK_WAIT;
        w->mark = it->mark;
        break;
    case ITEM_WRITE_VALUE:
    case ITEM_WAIT_VALUE:
        w->type = it->kind == ITEM_WRITE_VALUE ? GR_WORK_RECORD : GR_WORK_WAIT;
        w->mark = it->value.view;
        break;
    case ITEM_HOST: w->type = GR_WORK_HOST; break;
    case ITEM_ALLOC:
    case ITEM_FREE: {
        const VmRange *r = gr_vm_mem_find(gr_cu.mem, it->address); // NULL: it has gone meanwhile
        bool there = r && !(it->kind == ITEM_FREE && r->absent);
        w->type = it->kind == ITEM_FREE ? GR_WORK_FREE : GR_WORK_ALLOC;
        w->node = it->node;
        w->to = (GrBox){there ? it->address : 0, there ? r->size : 0, 1, 1, 0, 0};
        break;
    }
    default: w->type = GR_WORK_OTHER;
    }
}

void gr_work_item(const Item *it, GrWorkKind kind) {
    if (!ears.len)
        return;
    const Stream *s = it->stream;
    GrWork w = {.size = sizeof w,
                .kind = kind,
                .item = it->seq,
                .call = it->call,
                .stream = s->id,
                .context = s->ctx->id,
                .device = s->ctx->dev->ordinal,
                .legacy = s == s->ctx->legacy,
                .blocking = !(s->flags & CU_STREAM_NON_BLOCKING)};
    describe(it, &w);
    waits += kind == GR_WORK_BEGINS && it->kind == ITEM_HOST;
    if (kind == GR_WORK_SUBMITTED || it->kind == ITEM_HOST)
        add_caller(&w);
    tell(&w);
}

void gr_work_waited(GrWaited waited) {
    GrWork w = {.size = sizeof w,
                .kind = GR_WORK_WAITED,
                .stream = waited.stream,
                .context = waited.ctx ? waited.ctx->id : 0,
                .legacy = waited.legacy,
                .mark = waited.mark};
    waits++;
    if (!ears.len)
        return;
    add_caller(&w);
    w.contended = gr_cu_contended();
    tell(&w);
}

void gr_work_frees(GrWorkKind kind, uint64_t item, uint64_t launch, uint64_t addr, uint64_t size,
                   uint32_t call) {
    GrWork w = {.size = sizeof w,
                .kind = kind,
                .type = GR_WORK_FREE,
                .item = item,
                .launch = launch,
                .call = call,
                .to = {addr, size, 1, 1, 0, 0}};
    if (!ears.len)
        return;
    if (kind == GR_WORK_FREES)
        add_caller(&w);
    tell(&w);
}
