// SPDX-License-Identifier: Apache-2.0
#include "findings/source_record.h"

void gr_source_write(const GrSourceInfo *s, StrBuf *out) {
    gr_put_str(out, s->path);
    gr_put_str(out, s->text);
}

gr_status gr_source_read(const GrRecord *rec, Arena *arena, GrSourceInfo *out, gr_error *err) {
    GrCursor c = gr_cursor(rec);
    out->path = gr_get_str(&c, arena);
    out->text = gr_get_str(&c, arena);
    return c.bad ? gr_fail(err, GR_ERR_FORMAT, "a source's record is cut short") : GR_OK;
}
