// SPDX-License-Identifier: Apache-2.0
#include "report/misuse_record.h"

// One list of fields for both directions.
#define MISUSE(N32, N64, TEXT, m)                                                                            \
    TEXT((m)->class)                                                                                         \
    TEXT((m)->meaning)                                                                                       \
    TEXT((m)->kernel)                                                                                        \
    TEXT((m)->function)                                                                                      \
    TEXT((m)->outer_file)                                                                                    \
    TEXT((m)->file)                                                                                          \
    TEXT((m)->detail)                                                                                        \
    N32((m)->outer_line)                                                                                     \
    N32((m)->line)                                                                                           \
    N32((m)->column)                                                                                         \
    N32((m)->ptx_line)                                                                                       \
    N32((m)->thread[0])                                                                                      \
    N32((m)->thread[1])                                                                                      \
    N32((m)->thread[2])                                                                                      \
    N32((m)->block[0])                                                                                       \
    N32((m)->block[1])                                                                                       \
    N32((m)->block[2])                                                                                       \
    N64((m)->launch)                                                                                         \
    N64((m)->count_at)

void gr_misuse_write(const GrMisuseInfo *m, StrBuf *out) {
#define PUT32(x)    gr_put_u32(out, (x));
#define PUT64(x)    gr_put_u64(out, (x));
#define PUT_TEXT(x) gr_put_str(out, (x));
    MISUSE(PUT32, PUT64, PUT_TEXT, m)
}

gr_status gr_misuse_read(const GrRecord *rec, Arena *arena, GrMisuseInfo *out, gr_error *err) {
    GrCursor c = gr_cursor(rec);
#define GET32(x)    (x) = gr_get_u32(&c);
#define GET64(x)    (x) = gr_get_u64(&c);
#define GET_TEXT(x) (x) = gr_get_str(&c, arena);
    MISUSE(GET32, GET64, GET_TEXT, out)
    return c.bad ? gr_fail(err, GR_ERR_FORMAT, "a misuse record is cut short") : GR_OK;
}
