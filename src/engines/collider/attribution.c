// SPDX-License-Identifier: Apache-2.0
#include "engines/collider/attribution.h"

#include "engines/collider/decode.h"
#include "engines/collider/device/meet.h"
#include "engines/collider/pass/meet.h"
#include "options/options.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

enum { LATE_NS = 1 << 14 };

void gr_attribution_init(GrAttribution *a, GrSession *s, uint32_t longest) {
    *a = (GrAttribution){.session = s};
    const char *at = s ? getenv(GR_ATTRIBUTE_ENV) : NULL;
    if (!at)
        return;
    char *number_end;
    unsigned long way = (strtoul(at, &number_end, 10) + 2) % 3;
    a->stretch_ns = way ? longest : 0;
    a->stretch_mask = way == 2 ? 15 : 0;
    a->late_ns = way ? LATE_NS : 0;
    at = number_end + (*number_end == ' ');
    while (at && *at && a->targets.len < GR_MEET_TARGETS) {
        char *end;
        struct GrTarget t = {.module = strtoull(at, &end, 16)};
        if (end == at || *end != '.')
            break;
        t.site = (uint32_t)strtoul(end + 1, &end, 10);
        if (!gr_vec_push(&a->targets, t))
            break;
        at = end + (*end == ' ');
    }
}

void gr_attribution_free(GrAttribution *a) {
    gr_vec_free(&a->targets); // the tables stay: the driver may be gone
    gr_vec_free(&a->tables);
}

static uint64_t slots_end(const GrModule *m) { return gr_collider_slot_bytes(m->n_sites); }

gr_status gr_attribution_rewrite(GrAttribution *a, PtxModule *ptx, GrModule *m, const char *suffix,
                                 gr_error *err) {
    if (!a->targets.len)
        return GR_OK;
    uint16_t *of_site = calloc((size_t)m->n_sites + 1, sizeof *of_site);
    GR_NEED(of_site, err);
    m->record_bytes = slots_end(m);
    for (size_t k = 0; k < a->targets.len; k++)
        if (a->targets.data[k].module == m->hash && a->targets.data[k].site <= m->n_sites) {
            of_site[a->targets.data[k].site] = (uint16_t)(k + 1);
            m->record_bytes += sizeof(GrMeeting);
        }
    MeetOptions o = {.suffix = suffix, .targets = of_site, .late_ns = a->late_ns};
    gr_status st = gr_meet_rewrite(ptx, &o, err);
    free(of_site);
    return st;
}

static void complain(GrAttribution *a, const char *what, CUresult rc) {
    char text[128];
    snprintf(text, sizeof text, "%s (CUDA error %d)", what, (int)rc);
    if (!a->failed)
        a->session->note(a->session, "attribution", text);
    a->failed = true;
}

// The current context's table; it is made when the first module comes.
static CUdeviceptr table_here(GrAttribution *a) {
    CUcontext context = NULL;
    CUdeviceptr at = 0;
    GrSession *s = a->session;
    CUresult (*current)(CUcontext *) = (CUresult(*)(CUcontext *))s->driver(s, "cuCtxGetCurrent");
    CUresult (*alloc)(CUdeviceptr *, size_t) = (CUresult(*)(CUdeviceptr *, size_t))s->driver(s, "cuMemAlloc");
    CUresult rc = current && alloc ? current(&context) : CUDA_ERROR_NOT_FOUND;
    for (size_t k = 0; k < a->tables.len; k++)
        if (a->tables.data[k].context == context)
            return a->tables.data[k].at;
    if (rc == CUDA_SUCCESS)
        rc = alloc(&at, sizeof(GrMeetTable));
    GrMeetTable *table = rc == CUDA_SUCCESS ? calloc(1, sizeof *table) : NULL;
    if (table) {
        table->stretch_ns = a->stretch_ns;
        table->stretch_mask = a->stretch_mask;
        rc = s->write(s, at, table, sizeof *table);
    } else if (rc == CUDA_SUCCESS)
        rc = CUDA_ERROR_OUT_OF_MEMORY;
    free(table);
    if (rc != CUDA_SUCCESS) {
        complain(a, "no memory for the table of windows", rc);
        return 0;
    }
    struct GrTable t = {context, at};
    return gr_vec_push(&a->tables, t) ? at : 0;
}

void gr_attribution_attach(GrAttribution *a, const GrModule *m, GrControl *control) {
    GrSession *s = a->session;
    CUdeviceptr table = a->targets.len && m->record_bytes >= slots_end(m) ? table_here(a) : 0;
    if (!table)
        return;
    control->windows = table;
    uint64_t record = m->records_device + slots_end(m);
    for (size_t k = 0; k < a->targets.len; k++) {
        if (a->targets.data[k].module != m->hash || a->targets.data[k].site > m->n_sites)
            continue;
        CUresult rc =
            s->write(s, table + offsetof(GrMeetTable, records) + k * sizeof record, &record, sizeof record);
        if (rc != CUDA_SUCCESS)
            complain(a, "its table cannot be written", rc);
        record += sizeof(GrMeeting);
    }
}
