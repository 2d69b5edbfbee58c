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

uint64_t *gr_race_writer_put(RaceWriter *w, GrRaceInfo *race, const uint64_t pc[2]) {
    StrBuf symbol[2] = {{0}, {0}}, b = {0};
    for (unsigned k = 0; k < 2; k++) {
        GrRaceSide *s = &race->side[k];
        if (s->by == GR_SIDE_HOST)
            place_host(pc[k], s, &symbol[k]);
        s->module = number_of(w, s->module);
    }
    uint64_t *count = gr_race_writer_count(w, &race->count_at);
    gr_race_write(race, &b);
    w->session->record(w->session, GR_RECORD_RACE, &b);
    gr_str_free(&b);
    for (unsigned k = 0; k < 2; k++)
        gr_str_free(&symbol[k]);
    return count;
}
