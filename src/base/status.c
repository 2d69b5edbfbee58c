// SPDX-License-Identifier: Apache-2.0
#include "base/status.h"

#include <stdio.h>
#include <string.h>

static gr_status fill(gr_error *err, gr_status code, const char *file, unsigned line, unsigned col,
                      const char *fmt, va_list ap) {
    if (err) {
        err->code = code;
        err->line = line;
        err->col = col;
        snprintf(err->file, sizeof err->file, "%s", file ? file : "");
        vsnprintf(err->msg, sizeof err->msg, fmt, ap);
    }
    return code;
}

gr_status gr_fail(gr_error *err, gr_status code, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    fill(err, code, NULL, 0, 0, fmt, ap);
    va_end(ap);
    return code;
}

gr_status gr_fail_at(gr_error *err, gr_status code, const char *file, unsigned line, unsigned col,
                     const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    fill(err, code, file, line, col, fmt, ap);
    va_end(ap);
    return code;
}

gr_status gr_no_memory(gr_error *err) { return gr_fail(err, GR_ERR_NOMEM, "out of memory"); }

const char *gr_error_text(const gr_error *err, char *buf, unsigned size) {
    if (err->file[0] && err->line && err->col)
        snprintf(buf, size, "%s:%u:%u: %s", err->file, err->line, err->col, err->msg);
    else if (err->file[0] && err->line)
        snprintf(buf, size, "%s:%u: %s", err->file, err->line, err->msg);
    else if (err->file[0])
        snprintf(buf, size, "%s: %s", err->file, err->msg);
    else if (err->line)
        snprintf(buf, size, "line %u, column %u: %s", err->line, err->col, err->msg);
    else
        snprintf(buf, size, "%s", err->msg);
    return buf;
}
