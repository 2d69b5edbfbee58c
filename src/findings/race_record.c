// SPDX-License-Identifier: Apache-2.0
#include "findings/race_record.h"

// One list of fields for both directions.
#define SIDE(N32, N64, TEXT, s)                                                                              \
    N64((s)->module)                                                                                         \
    N32((s)->site)                                                                                           \
    N32((s)->access)                                                                                         \
    N32((s)->scope)                                                                                          \
    N32((s)->by)                                                                                             \
    N32((s)->marks)                                                                                          \
    N64((s)->launch)                                                                                         \
    N64((s)->address)                                                                                        \
    N32((s)->thread[0])                                                                                      \
    N32((s)->thread[1])                                                                                      \
    N32((s)->thread[2])                                                                                      \
    N32((s)->block[0])                                                                                       \
    N32((s)->block[1])                                                                                       \
    N32((s)->block[2])                                                                                       \
    N32((s)->size)                                                                                           \
    TEXT((s)->object)                                                                                        \
    TEXT((s)->symbol)                                                                                        \
    N64((s)->at)                                                                                             \
    N32((s)->stack)
#define RACE(N32, N64, TEXT, r)                                                                              \
    N32((r)->class)                                                                                          \
    N32((r)->space)                                                                                          \
    N32((r)->seen_by)                                                                                        \
    SIDE(N32, N64, TEXT, &(r)->side[0])                                                                      \
    SIDE(N32, N64, TEXT, &(r)->side[1])                                                                      \
    N64((r)->overlap)                                                                                        \
    N32((r)->overlap_bytes)                                                                                  \
    TEXT((r)->order)                                                                                         \
    N64((r)->count_at)                                                                                       \
    N64((r)->tally_at)

void gr_race_write(const GrRaceInfo *r, StrBuf *out) {
#define PUT32(x)    gr_put_u32(out, (x));
#define PUT64(x)    gr_put_u64(out, (x));
#define PUT_TEXT(x) gr_put_str(out, (x));
    RACE(PUT32, PUT64, PUT_TEXT, r)
}

gr_status gr_race_read(const GrRecord *rec, Arena *arena, GrRaceInfo *out, gr_error *err) {
    GrCursor c = gr_cursor(rec);
#define GET32(x)    (x) = gr_get_u32(&c);
#define GET64(x)    (x) = gr_get_u64(&c);
#define GET_TEXT(x) (x) = gr_get_str(&c, arena);
    RACE(GET32, GET64, GET_TEXT, out)
    GR_NEED(out->order, err);
    return c.bad ? gr_fail(err, GR_ERR_FORMAT, "a race record is cut short") : GR_OK;
}
