// SPDX-License-Identifier: Apache-2.0
#include "findings/range_record.h"

// One list of fields for both directions.
#define CALL(N64, TEXT, c)                                                                                   \
    TEXT((c)->object)                                                                                        \
    TEXT((c)->symbol)                                                                                        \
    N64((c)->pc)
#define RANGE(N64, TEXT, r)                                                                                  \
    N64((r)->at)                                                                                             \
    N64((r)->size)                                                                                           \
    N64((r)->launch)                                                                                         \
    TEXT((r)->kind)                                                                                          \
    TEXT((r)->name)                                                                                          \
    CALL(N64, TEXT, &(r)->calls[0])                                                                          \
    CALL(N64, TEXT, &(r)->calls[1])                                                                          \
    CALL(N64, TEXT, &(r)->calls[2])                                                                          \
    CALL(N64, TEXT, &(r)->calls[3])

void gr_range_write(const GrRangeInfo *r, StrBuf *out) {
#define PUT64(x)    gr_put_u64(out, (x));
#define PUT_TEXT(x) gr_put_str(out, (x));
    RANGE(PUT64, PUT_TEXT, r)
}

gr_status gr_range_read(const GrRecord *rec, Arena *arena, GrRangeInfo *out, gr_error *err) {
    GrCursor c = gr_cursor(rec);
#define GET64(x)    (x) = gr_get_u64(&c);
#define GET_TEXT(x) (x) = gr_get_str(&c, arena);
    RANGE(GET64, GET_TEXT, out)
    bool full = out->kind && out->name;
    for (unsigned k = 0; k < GR_RANGE_CALLS; k++)
        full = full && out->calls[k].object && out->calls[k].symbol;
    GR_NEED(full, err);
    return c.bad ? gr_fail(err, GR_ERR_FORMAT, "a record of memory is cut short") : GR_OK;
}
