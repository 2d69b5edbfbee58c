// SPDX-License-Identifier: Apache-2.0
#include "findings/range_record.h"

// One list of fields for both directions.
#define RANGE(N32, N64, TEXT, r)                                                                             \
    N64((r)->at)                                                                                             \
    N64((r)->size)                                                                                           \
    N64((r)->launch)                                                                                         \
    TEXT((r)->kind)                                                                                          \
    TEXT((r)->name)                                                                                          \
    N32((r)->stack)

void gr_range_write(const GrRangeInfo *r, StrBuf *out) {
#define PUT32(x)    gr_put_u32(out, (x));
#define PUT64(x)    gr_put_u64(out, (x));
#define PUT_TEXT(x) gr_put_str(out, (x));
    RANGE(PUT32, PUT64, PUT_TEXT, r)
}

gr_status gr_range_read(const GrRecord *rec, Arena *arena, GrRangeInfo *out, gr_error *err) {
    GrCursor c = gr_cursor(rec);
#define GET32(x)    (x) = gr_get_u32(&c);
#define GET64(x)    (x) = gr_get_u64(&c);
#define GET_TEXT(x) (x) = gr_get_str(&c, arena);
    RANGE(GET32, GET64, GET_TEXT, out)
    return c.bad ? gr_fail(err, GR_ERR_FORMAT, "a record of memory is cut short") : GR_OK;
}
