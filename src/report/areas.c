// SPDX-License-Identifier: Apache-2.0
// The areas of modules in a results file, handed to the decoders of the engines that wrote them.
#include "report/report_internal.h"

// Names the engine, the format and the version: the area is not understood, which is no damage.
static bool note_unknown(GrReport *r, const GrModuleInfo *m) {
    const GrAreaTag *tag = &m->area_tag;
    char *text =
        gr_arena_printf(&r->arena,
                        "module %s has results of the engine %s (format %u, version %u) that this gpurace "
                        "does not understand",
                        m->name, tag->engine && *tag->engine ? tag->engine : "?", tag->format, tag->version);
    return text && gr_report_count(&r->notes, text);
}

gr_status gr_report_decode(GrReport *r, const GrResultsView *view, GrArea area, const GrSink *to,
                           gr_error *err) {
    const GrModuleInfo *m = area.module;
    if (!m->area_bytes)
        return GR_OK;
    const GrDecoder *decoder = r->find_decoder ? r->find_decoder(&m->area_tag) : NULL;
    if (!decoder)
        return note_unknown(r, m) ? GR_OK : gr_no_memory(err);
    area.bytes = gr_results_at(view, m->area, m->area_bytes);
    area.arena = &r->arena;
    gr_status st = area.bytes ? decoder->decode(&area, to, err) : GR_ERR_FORMAT;
    if (st != GR_ERR_FORMAT)
        return st;
    r->damaged++;
    return GR_OK;
}
