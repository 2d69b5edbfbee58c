// SPDX-License-Identifier: Apache-2.0
#include "findings/stack_record.h"

static void put_call(const GrStackCall *c, StrBuf *out) {
    gr_put_str(out, c->object);
    gr_put_str(out, c->symbol);
    gr_put_u64(out, c->at);
    gr_put_u32(out, c->interpreted);
}

void gr_stack_write(const GrStackInfo *s, StrBuf *out) {
    gr_put_u32(out, s->number);
    gr_put_u32(out, s->n);
    gr_put_str(out, s->entry);
    put_call(&s->called, out);
    for (uint32_t k = 0; k < s->n; k++)
        put_call(&s->calls[k], out);
}

static void get_call(GrCursor *c, Arena *arena, GrStackCall *out) {
    out->object = gr_get_str(c, arena);
    out->symbol = gr_get_str(c, arena);
    out->at = gr_get_u64(c);
    out->interpreted = gr_get_u32(c);
}

gr_status gr_stack_read(const GrRecord *rec, Arena *arena, GrStackInfo *out, gr_error *err) {
    GrCursor c = gr_cursor(rec);
    *out = (GrStackInfo){.number = gr_get_u32(&c)};
    out->n = gr_get_u32(&c);
    out->entry = gr_get_str(&c, arena);
    get_call(&c, arena, &out->called);
    for (uint32_t k = 0; k < out->n && k < GR_STACK_CALLS; k++)
        get_call(&c, arena, &out->calls[k]);
    return c.bad || out->n > GR_STACK_CALLS ? gr_fail(err, GR_ERR_FORMAT, "a stack record is cut short")
                                            : GR_OK;
}
