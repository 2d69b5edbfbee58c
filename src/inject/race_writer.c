// SPDX-License-Identifier: Apache-2.0
#include "inject/race_writer.h"

#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COUNTS = 4096 }; // per area

void gr_race_writer_free(RaceWriter *w) { gr_vec_free(&w->modules); }

bool gr_race_writer_module(RaceWriter *w, uint64_t fingerprint, uint64_t number) {
    WrittenModule m = {fingerprint, number};
    return gr_vec_push(&w->modules, m);
}

static uint64_t number_of(const RaceWriter *w, uint64_t fingerprint) {
    for (size_t k = w->modules.len; k-- > 0;)
        if (w->modules.data[k].fingerprint == fingerprint)
            return w->modules.data[k].number;
    return 0;
}

// Where an instruction of the host's program is. `symbol` gets the text, if there is one.
static void place_host(uint64_t pc, GrRaceSide *out, StrBuf *symbol) {
    Dl_info info = {0};
    struct link_map *map = NULL;
    if (!pc || !dladdr1((const void *)(uintptr_t)pc, &info, (void **)&map, RTLD_DL_LINKMAP) || !map)
        return;
    // The program itself has no name there.
    static char program[4096];
    ssize_t n = map->l_name[0] ? 0 : readlink("/proc/self/exe", program, sizeof program - 1);
    out->object = map->l_name[0] ? map->l_name : n > 0 ? program : info.dli_fname;
    out->at = pc - map->l_addr;
    if (info.dli_sname)
        gr_str_addf(symbol, "%s+0x%llx", info.dli_sname,
                    (unsigned long long)(pc - (uintptr_t)info.dli_saddr));
    else
        gr_str_addf(symbol, "%s+0x%llx",
                    strrchr(out->object, '/') ? strrchr(out->object, '/') + 1 : out->object,
                    (unsigned long long)out->at);
    out->symbol = symbol->data;
}

uint64_t *gr_race_writer_count(RaceWriter *w, uint64_t *at) {
    GrSession *s = w->session;
    if (!w->counts || w->counts_used == COUNTS) {
        w->counts = s->area(s, COUNTS * sizeof *w->counts, &w->counts_at);
        w->counts_used = 0;
    }
    if (!w->counts)
        return NULL;
    *at = w->counts_at + w->counts_used * sizeof *w->counts;
    return &w->counts[w->counts_used++];
}

static uint32_t narrow(uint64_t bytes) { return bytes > UINT32_MAX ? UINT32_MAX : (uint32_t)bytes; }

static GrRaceSide side_of(const RaceWriter *w, const RaceSide *s, StrBuf *symbol) {
    GrRaceSide out = {.module = number_of(w, s->module),
                      .site = s->site,
                      .access = s->access,
                      .scope = s->strong ? (uint32_t)s->scope : 0,
                      .marks =
                          (s->is_volatile ? GR_SIDE_VOLATILE : 0) | (s->discarded ? GR_SIDE_DISCARDED : 0),
                      .by = s->by == RACE_BY_HOST   ? GR_SIDE_HOST
                            : s->by == RACE_BY_COPY ? GR_SIDE_COPY
                            : s->by == RACE_BY_FILL ? GR_SIDE_FILL
                            : s->async              ? GR_SIDE_ASYNC
                                                    : GR_SIDE_THREAD,
                      .launch = s->launch,
                      .address = s->address,
                      .thread = {s->thread[0], s->thread[1], s->thread[2]},
                      .block = {s->block[0], s->block[1], s->block[2]},
                      .size = narrow(s->size)};
    if (s->by == RACE_BY_HOST)
        place_host(s->pc, &out, symbol);
    return out;
}

// The launch of who came, else of who was there: one of them may be the host or a copy, or be over.
static void stop_launch(const RaceWriter *w, const Race *race) {
    int (*stop)(uint64_t, const char *) =
        (int (*)(uint64_t, const char *))w->session->symbol(w->session, "gr_cpu_device_stop");
    for (unsigned k = 0; stop && k < 2; k++)
        if (race->side[k].launch && stop(race->side[k].launch, "its first race was found (--stop)") == 0)
            return;
}

uint64_t *gr_race_writer_put(RaceWriter *w, const Race *race, GrSeenBy seen_by) {
    StrBuf symbol[2] = {{0}, {0}}, b = {0};
    GrRaceInfo info = {.class = race->class,
                       .space = race->space == PTX_SHARED,
                       .seen_by = seen_by,
                       .overlap = race->overlap,
                       .overlap_bytes = narrow(race->overlap_bytes),
                       .order = race->order};
    for (unsigned k = 0; k < 2; k++)
        info.side[k] = side_of(w, &race->side[k], &symbol[k]);
    uint64_t *count = gr_race_writer_count(w, &info.count_at);
    gr_race_write(&info, &b);
    w->session->record(w->session, GR_RECORD_RACE, &b);
    gr_str_free(&b);
    for (unsigned k = 0; k < 2; k++)
        gr_str_free(&symbol[k]);
    if (w->stop)
        stop_launch(w, race);
    return count;
}
