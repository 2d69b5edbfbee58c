// SPDX-License-Identifier: Apache-2.0
#include "report/memory_names.h"

#include "base/path_map.h"
#include "findings/headline.h"
#include "findings/range_record.h"
#include "report/host_place.h"

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

gr_status gr_memory_names_read(GrReport *r, const GrResultsView *view, GrMemoryNames *out, gr_error *err) {
    Came all = {0};
    *out = (GrMemoryNames){.report = r};
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

void gr_memory_names_free(GrMemoryNames *m) {
    gr_map_free(&m->places);
    free(m->came);
}

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

// A function of NVIDIA's runtime, or of its headers, which may be part of the program.
static bool is_runtime(const char *function, Arena *arena) {
    static const char *const begins[] = {"cuda", "__cuda", "libcudart_static"};
    const char *name = gr_demangle(function, arena);
    for (size_t k = 0; name && k < sizeof begins / sizeof *begins; k++)
        if (!strncmp(name, begins[k], strlen(begins[k])))
            return true;
    return false;
}

// The source line of a place. Asking starts a program, so each place is asked for once. NULL: out of memory.
static const GrFrame *place_of(GrMemoryNames *m, const GrRangeInfo *info) {
    uint64_t of[2 * GR_RANGE_CALLS];
    for (unsigned k = 0; k < GR_RANGE_CALLS; k++) {
        of[2 * k] = info->calls[k].pc;
        of[2 * k + 1] = gr_hash_bytes(info->calls[k].object, strlen(info->calls[k].object));
    }
    uint64_t key = gr_hash_bytes(of, sizeof of);
    GrFrame *place = gr_map_get_u64(&m->places, key);
    if (place)
        return place;
    place = GR_NEW(&m->report->arena, GrFrame);
    if (!place || !gr_map_put_u64(&m->places, key, place))
        return NULL;
    // The innermost in the user's own code; without lines there is no telling, and nothing more is asked.
    bool foreign = true;
    for (unsigned k = 0; k < GR_RANGE_CALLS && *info->calls[k].object && foreign; k++) {
        const struct GrRangeCall *c = &info->calls[k];
        GrFrame f = gr_host_own_place(c->object, c->pc, c->symbol, &m->report->arena);
        foreign = f.line ? gr_is_toolkit_file(f.file) : is_runtime(f.function, &m->report->arena);
        if (!k || !foreign)
            *place = f;
    }
    place->file = gr_path_mapped(m->report->paths, place->file, &m->report->arena);
    return place;
}

bool gr_memory_name(GrMemoryNames *m, uint64_t process, const char *space, GrAccess *a) {
    bool addressed = a->has_thread || a->host || (!a->ptx_line && a->address);
    if (!m->n || !addressed || !space || strcmp(space, "global"))
        return true;
    const struct GrCame *c = holder(m, process, a->address, a->launch);
    if (!c)
        return true;
    const GrFrame *place = place_of(m, &c->info);
    GrHeld *memory = GR_NEW(&m->report->arena, GrHeld);
    if (!place || !memory)
        return false;
    *memory = (GrHeld){.kind = c->info.kind,
                       .name = *c->info.name ? c->info.name : NULL,
                       .place = *place,
                       .offset = a->address - c->info.at,
                       .size = c->info.size};
    a->memory = memory;
    return true;
}
