// SPDX-License-Identifier: Apache-2.0
#include "engines/core/misuses.h"

#include "base/rng.h"
#include "engines/core/listen.h"
#include "engines/core/place.h"
#include "findings/misuse_record.h"

#include <string.h>

enum { NAMED_SHUFFLES = 4 };

// By number of VmMisuse.
const GrClass gr_misuse_classes[] = {
#define MISUSE(id, number, text, meaning) {number, text, meaning, GR_KIND_MISUSE},
#include "vm/misuse.def"
#undef MISUSE
    {.number = 0},
};

static uint64_t mix_text(uint64_t h, const char *s) {
    return gr_mix64(h ^ (s ? gr_hash_bytes(s, strlen(s)) : 1));
}

// Copies of one instruction that the compiler unrolled are at one place.
static uint64_t place_of(const VmMisuseEvent *e) {
    uint64_t h = gr_mix64((uint64_t)e->kind << 32 | (e->stmt && !e->stmt->loc ? e->stmt->line : 0));
    h = mix_text(mix_text(h, e->kernel), e->function);
    for (const PtxLoc *l = e->stmt ? e->stmt->loc : NULL; l; l = l->inlined_at)
        h = mix_text(h ^ ((uint64_t)l->line << 32 | l->col), gr_ptx_file(e->module, l->file));
    return h;
}

static GrFrame frame_of(const VmMisuseEvent *e, const PtxLoc *l) {
    const char *function = l->inlined_at && l->function ? l->function : e->function;
    return (GrFrame){function, gr_ptx_file(e->module, l->file), l->line, l->col};
}

static uint64_t *put(Misuses *m, const VmMisuseEvent *e) {
    GrFrame inlined[GR_MISUSE_FRAMES];
    GrMisuseInfo info = {.class = gr_misuse_classes[e->kind].number,
                         .kernel = e->kernel,
                         .detail = e->detail,
                         .at = {.function = e->function},
                         .inlined = inlined,
                         .ptx_line = e->stmt ? e->stmt->line : 0,
                         .thread = {e->thread[0], e->thread[1], e->thread[2]},
                         .block = {e->block[0], e->block[1], e->block[2]},
                         .launch = e->launch};
    const PtxLoc *l = e->stmt ? e->stmt->loc : NULL;
    if (l)
        info.at = frame_of(e, l);
    for (l = l ? l->inlined_at : NULL; l && info.n_inlined < GR_MISUSE_FRAMES; l = l->inlined_at)
        inlined[info.n_inlined++] = frame_of(e, l);
    uint64_t *count = gr_race_writer_count(m->writer, &info.count_at);
    StrBuf b = {0};
    gr_misuse_write(&info, &b);
    m->writer->session->record(m->writer->session, GR_RECORD_MISUSE, &b);
    gr_str_free(&b);
    return count;
}

static void note_shuffle(Misuses *m, const VmMisuseEvent *e) {
    GrFileOwners owners = {.ptx = e->module};
    const PtxLoc *l = gr_place_headline(&owners, e->stmt ? e->stmt->loc : NULL);
    const char *file = l ? gr_ptx_file(e->module, l->file) : NULL;
    uint64_t line = l         ? l->line
                    : e->stmt ? e->stmt->line
                              : 0,
             place = mix_text(line, file ? file : e->kernel);
    if (gr_map_get_u64(&m->shuffles, place))
        return;
    m->incomplete |= !gr_map_put_u64(&m->shuffles, place, m);
    if (m->shuffles.live > NAMED_SHUFFLES)
        return;
    if (m->shuffled.len)
        gr_str_add(&m->shuffled, ", ");
    if (file)
        gr_str_addf(&m->shuffled, "%s:%u", file, (unsigned)line);
    else
        gr_str_addf(&m->shuffled, "PTX line %u of %s", (unsigned)line, e->kernel);
}

void gr_misuses_finish(Misuses *m) {
    size_t n = m->shuffles.live;
    if (!n)
        return;
    StrBuf b = {0};
    gr_str_addf(&b,
                "%zu shuffle%s took values from lanes that do not execute %s: PTX leaves these values "
                "undefined (0 on the CPU device and on an H200): %s",
                n, n == 1 ? "" : "s", n == 1 ? "it" : "them", m->shuffled.data ? m->shuffled.data : "");
    if (n > NAMED_SHUFFLES)
        gr_str_addf(&b, " and %zu more", n - NAMED_SHUFFLES);
    m->writer->session->remark(m->writer->session, b.data ? b.data : "memory ran out");
    gr_str_free(&b);
}

void gr_misuses_hear(void *misuses, const VmMisuseEvent *e) {
    static uint64_t uncounted; // stands for a count that there is none of
    Misuses *m = misuses;
    if ((e->kind == VM_MISUSE_STRAY) != m->strays || (e->ends && m->no_faults) ||
        (m->selection && gr_selection_excludes_kernel(m->selection, e->kernel)) ||
        !m->writer->session->wants_launch(m->writer->session, e->launch))
        return;
    if (e->kind == VM_SHUFFLE_OF_MISSING) {
        note_shuffle(m, e);
        return;
    }
    uint64_t place = place_of(e), *count = gr_map_get_u64(&m->places, place);
    if (!count) {
        count = put(m, e);
        count = count ? count : &uncounted;
        m->incomplete |= !gr_map_put_u64(&m->places, place, count);
    }
    *count += e->threads;
}

gr_status gr_misuses_listen(Misuses *m, gr_error *err) {
    VmObserver o = {.user = m, .misuse = gr_misuses_hear};
    bool heard;
    return gr_listen(m->writer->session, &o, NULL, NULL, &heard, err);
}
