// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

void gr_log(LogLevel level, const char *fmt, ...) {
    // One write per message: lines of several processes or threads must not mix.
    char line[1024];
    int n = snprintf(line, sizeof line, "gpurace: %s", level == LOG_WARN ? "warning: " : "");
    va_list ap;
    va_start(ap, fmt);
    int m = vsnprintf(line + n, sizeof line - (size_t)n - 1, fmt, ap);
    va_end(ap);
    n = m < 0 ? n : n + m;
    if (n > (int)sizeof line - 2)
        n = (int)sizeof line - 2;
    line[n++] = '\n';
    if (write(STDERR_FILENO, line, (size_t)n) < 0)
        return; // nowhere left to complain
}
