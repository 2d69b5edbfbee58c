// SPDX-License-Identifier: Apache-2.0
#include "report/memory_names.h"

#include "findings/range_record.h"

#include <stdlib.h>
#include <string.h>

// Memory, from the launch after `after` to launch `last`.
struct GrCame {
    GrRangeInfo info;
    uint64_t process, after, last;
};
typedef VEC(struct GrCame) Came;

// What went is the last that came there.
static void went(Came *all, uint64_t process, const GrRangeInfo *info) {
    for (size_t k = all->len; k-- > 0;) {
        struct GrCame *c = &all->data[k];
        if (c->process == process && c->info.at == info->at && c->last == UINT64_MAX) {
            c->last = info->launch;
            return;
        }
    }
}

gr_status gr_memory_names_read(GrReport *r, const GrResultsView *view, GrHostStacks *stacks,
                               GrMemoryNames *out, gr_error *err) {
    Came all = {0};
    *out = (GrMemoryNames){.report = r, .stacks = stacks};
    for (size_t k = 0; k < view->records.len; k++) {
        const GrRecord *rec = &view->records.data[k];
        GrRangeInfo info;
        if (rec->kind != GR_RECORD_CAME && rec->kind != GR_RECORD_WENT)
            continue;
        gr_status st = gr_range_read(rec, &r->arena, &info, NULL);
        if (st == GR_ERR_FORMAT)
            r->damaged++;
        else if (st == GR_OK && rec->kind == GR_RECORD_WENT)
            went(&all, rec->process, &info);
        else if (st != GR_OK ||
                 !gr_vec_push(&all, ((struct GrCame){info, rec->process, info.launch, UINT64_MAX}))) {
            gr_vec_free(&all);
            return gr_no_memory(err);
        }
    }
    out->came = all.data;
    out->n = all.len;
    return GR_OK;
}

void gr_memory_names_free(GrMemoryNames *m) { free(m->came); }

// The only memory that held the address when the launch ran (no launch: ever). NULL: none, or several.
static const struct GrCame *holder(const GrMemoryNames *m, uint64_t process, uint64_t address,
                                   uint64_t launch) {
    const struct GrCame *found = NULL;
    for (size_t k = 0; k < m->n; k++) {
        const struct GrCame *c = &m->came[k];
        if (c->process != process || address < c->info.at || address - c->info.at >= c->info.size ||
            (launch && (launch <= c->after || launch > c->last)))
            continue;
        if (found)
            return NULL;
        found = c;
    }
    return found;
}

bool gr_memory_name(GrMemoryNames *m, uint64_t process, const char *space, GrAccess *a) {
    bool addressed = a->has_thread || a->host || (!a->ptx_line && a->address);
    if (!m->n || !addressed || !space || strcmp(space, "global"))
        return true;
    const struct GrCame *c = holder(m, process, a->address, a->launch);
    if (!c)
        return true;
    GrHeld *memory = GR_NEW(&m->report->arena, GrHeld);
    if (!memory)
        return false;
    const GrStack *stack = gr_host_stack(m->stacks, process, c->info.stack);
    *memory = (GrHeld){.kind = c->info.kind,
                       .name = *c->info.name ? c->info.name : NULL,
                       .place = stack && stack->n ? stack->frames[0] : (GrFrame){.function = NULL},
                       .stack = stack,
                       .offset = a->address - c->info.at,
                       .size = c->info.size};
    a->memory = memory;
    return true;
}
