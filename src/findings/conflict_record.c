// SPDX-License-Identifier: Apache-2.0
#include "findings/conflict_record.h"

// One list of fields for both directions.
#define SIDE(N32, N64, s)                                                                                    \
    N64((s)->function)                                                                                       \
    N32((s)->nth)                                                                                            \
    N32((s)->waits)                                                                                          \
    N32((s)->first)                                                                                          \
    N64((s)->launch)                                                                                         \
    N64((s)->block)                                                                                          \
    N32((s)->warp)
#define CONFLICT(N32, N64, c)                                                                                \
    SIDE(N32, N64, &(c)->side[0])                                                                            \
    SIDE(N32, N64, &(c)->side[1])                                                                            \
    N32((c)->likely)                                                                                         \
    N32((c)->met)

void gr_conflict_write(const Conflict *c, StrBuf *out) {
#define PUT32(x) gr_put_u32(out, (x));
#define PUT64(x) gr_put_u64(out, (x));
    CONFLICT(PUT32, PUT64, c)
}

gr_status gr_conflict_read(const GrRecord *rec, Conflict *out, gr_error *err) {
    GrCursor c = gr_cursor(rec);
    *out = (Conflict){.met = false};
#define GET32(x) (x) = gr_get_u32(&c);
#define GET64(x) (x) = gr_get_u64(&c);
    CONFLICT(GET32, GET64, out)
    if (c.bad)
        return gr_fail(err, GR_ERR_FORMAT, "a conflict record is cut short");
    // A file of --coverage with such a line would not be read again.
    return out->side[0].nth && out->side[1].nth
               ? GR_OK
               : gr_fail(err, GR_ERR_FORMAT, "a conflict record is of no access");
}
