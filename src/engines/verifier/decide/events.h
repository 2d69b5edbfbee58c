// SPDX-License-Identifier: Apache-2.0
// events — what a sink hears, as bytes, on the way from a child process to its parent. Both are one program, so
// structures go as they lie in memory.
#ifndef GR_ENGINES_VERIFIER_DECIDE_EVENTS_H
#define GR_ENGINES_VERIFIER_DECIDE_EVENTS_H

#include "base/str.h"
#include "engines/verifier/verifier.h"

// A sink that adds all to `out`. It uses `arena` for nothing; findings point into it.
GrStaticSink gr_events_sink(StrBuf *out, Arena *arena);
// Tells `to` these events in order, with strings in its arena. GR_ERR_FORMAT: the bytes broke off. Else `to`'s status.
gr_status gr_events_tell(const char *data, size_t len, const GrStaticSink *to, gr_error *err);

#endif
