// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include "base/escape.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void gr_log(LogLevel level, const char *fmt, ...) {
    char text[1000];
    va_list ap;
    va_start(ap, fmt);
    int written = vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    size_t len = written > 0 ? strnlen(text, sizeof text) : 0;
    // One write per message: lines of processes and threads must not mix. The program's names may hold anything.
    char line[4096];
    size_t n = (size_t)snprintf(line, sizeof line, "gpurace: %s", level == LOG_WARN ? "warning: " : "");
    for (size_t k = 0; k < len && n < sizeof line - GR_ESCAPED_ROOM;) {
        k += gr_escape_char(text + k, len - k, line + n);
        n += strlen(line + n);
    }
    line[n++] = '\n';
    if (write(STDERR_FILENO, line, n) < 0)
        return; // nowhere left to complain
}
