// SPDX-License-Identifier: Apache-2.0
// status — how a gpurace function says that it failed, and why.
//
// A function that can fail returns gr_status and takes a caller-owned gr_error as its last parameter (NULL is
// allowed: the text is then dropped). Inside the user's process nothing of ours ever aborts or exits: a failure
// travels up as a status, is counted, and makes the verdict inconclusive.
#ifndef GR_BASE_STATUS_H
#define GR_BASE_STATUS_H

#include <stdarg.h>

typedef enum gr_status {
    GR_OK = 0,
    GR_ERR_NOMEM,       // an allocation failed
    GR_ERR_IO,          // a file could not be opened, read or written
    GR_ERR_SYNTAX,      // text that is not what its grammar says; file, line and col are set
    GR_ERR_FORMAT,      // a binary container is malformed or truncated
    GR_ERR_UNSUPPORTED, // well formed, but something gpurace does not do; msg names it
    GR_ERR_ARGUMENT,    // the caller or the user asked for something that makes no sense
    GR_ERR_NOT_FOUND,
    GR_ERR_LIMIT,    // a documented limit was reached
    GR_ERR_INTERNAL, // an invariant of ours did not hold
} gr_status;

// What failed and where. `file` may be empty; line and col count from 1, 0 means unknown.
typedef struct gr_error {
    gr_status code;
    unsigned line, col;
    char file[256];
    char msg[512];
} gr_error;

// Fills *err (if not NULL) and returns `code`, so that `return gr_fail(err, GR_ERR_IO, "...")` reads well.
gr_status gr_fail(gr_error *err, gr_status code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

// Fails with a place in a file.
gr_status gr_fail_at(gr_error *err, gr_status code, const char *file, unsigned line, unsigned col,
                     const char *fmt, ...) __attribute__((format(printf, 6, 7)));

// GR_ERR_NOMEM, "out of memory".
gr_status gr_no_memory(gr_error *err);

// "file:line:col: msg" into buf (always terminated); returns buf.
const char *gr_error_text(const gr_error *err, char *buf, unsigned size);

// Runs `expr`; on failure returns its status.
#define GR_MUST(expr)                                                                                        \
    do {                                                                                                     \
        gr_status must_ = (expr);                                                                            \
        if (must_ != GR_OK)                                                                                  \
            return must_;                                                                                    \
    } while (0)

// Returns `failure` unless `ok`; for memory that was asked for: gr_no_memory(err).
#define GR_NEED_OR(ok, failure)                                                                              \
    do {                                                                                                     \
        if (!(ok))                                                                                           \
            return failure;                                                                                  \
    } while (0)
#define GR_NEED(ok, err) GR_NEED_OR(ok, gr_no_memory(err))

// For a function that has something to release: on failure sets the local `st` and goes to the local label `done`.
#define GR_TRY(expr)                                                                                         \
    do {                                                                                                     \
        st = (expr);                                                                                         \
        if (st != GR_OK)                                                                                     \
            goto done;                                                                                       \
    } while (0)

#endif
