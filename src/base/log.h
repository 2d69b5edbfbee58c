// SPDX-License-Identifier: Apache-2.0
// log — messages to the user on standard error, each line prefixed "gpurace: ".
#ifndef GR_BASE_LOG_H
#define GR_BASE_LOG_H

typedef enum LogLevel { LOG_ERROR, LOG_WARN } LogLevel;

void gr_log(LogLevel level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
