// SPDX-License-Identifier: Apache-2.0
#include "findings/misuse_record.h"

// One list of fields for both directions.
#define MISUSE(N32, N64, TEXT, m)                                                                            \
    N32((m)->class)                                                                                          \
    TEXT((m)->kernel)                                                                                        \
    TEXT((m)->detail)                                                                                        \
    N32((m)->ptx_line)                                                                                       \
    N32((m)->thread[0])                                                                                      \
    N32((m)->thread[1])                                                                                      \
    N32((m)->thread[2])                                                                                      \
    N32((m)->block[0])                                                                                       \
    N32((m)->block[1])                                                                                       \
    N32((m)->block[2])                                                                                       \
    N64((m)->launch)                                                                                         \
    N64((m)->count_at)

static void put_frame(StrBuf *out, const GrFrame *f) {
    gr_put_str(out, f->function);
    gr_put_str(out, f->file);
    gr_put_u32(out, f->line);
    gr_put_u32(out, f->col);
}

static const char *known(const char *s) { return s && *s ? s : NULL; }

static GrFrame get_frame(GrCursor *c, Arena *arena) {
    const char *function = known(gr_get_str(c, arena)), *file = known(gr_get_str(c, arena));
    uint32_t line = gr_get_u32(c);
    return (GrFrame){function, file, line, gr_get_u32(c)};
}

void gr_misuse_write(const GrMisuseInfo *m, StrBuf *out) {
#define PUT32(x)    gr_put_u32(out, (x));
#define PUT64(x)    gr_put_u64(out, (x));
#define PUT_TEXT(x) gr_put_str(out, (x));
    MISUSE(PUT32, PUT64, PUT_TEXT, m)
    put_frame(out, &m->at);
    gr_put_u32(out, m->n_inlined);
    for (uint32_t k = 0; k < m->n_inlined; k++)
        put_frame(out, &m->inlined[k]);
}

gr_status gr_misuse_read(const GrRecord *rec, Arena *arena, GrMisuseInfo *out, gr_error *err) {
    GrCursor c = gr_cursor(rec);
#define GET32(x)    (x) = gr_get_u32(&c);
#define GET64(x)    (x) = gr_get_u64(&c);
#define GET_TEXT(x) (x) = gr_get_str(&c, arena);
    MISUSE(GET32, GET64, GET_TEXT, out)
    out->at = get_frame(&c, arena);
    uint32_t n = out->n_inlined = gr_get_u32(&c);
    GrFrame *frames = n <= GR_MISUSE_FRAMES ? GR_NEW_ARRAY(arena, GrFrame, (size_t)n + 1) : NULL;
    if (!frames)
        return gr_fail(err, GR_ERR_FORMAT, "a misuse record makes no sense");
    for (uint32_t k = 0; k < n; k++)
        frames[k] = get_frame(&c, arena);
    out->inlined = frames;
    return c.bad ? gr_fail(err, GR_ERR_FORMAT, "a misuse record is cut short") : GR_OK;
}
