// SPDX-License-Identifier: Apache-2.0
// log — messages to the user on standard error, each line prefixed "gpurace: ".
#ifndef GR_BASE_LOG_H
#define GR_BASE_LOG_H

typedef enum LogLevel { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG } LogLevel;

// Messages above this level are dropped; the default is LOG_WARN.
void gr_log_level(LogLevel level);
void gr_log(LogLevel level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
