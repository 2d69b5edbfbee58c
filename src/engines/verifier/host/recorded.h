// SPDX-License-Identifier: Apache-2.0
// recorded — launches of a run, as `gpurace run --record-launches FILE` leaves them: constants for grid, block and
// scalars, and for each pointer the allocation and the place in it (docs/verifier.md has the format).
#ifndef GR_ENGINES_VERIFIER_HOST_RECORDED_H
#define GR_ENGINES_VERIFIER_HOST_RECORDED_H

#include "engines/verifier/host/launch.h"

// Reads the launches of the file `path` into *out, to be freed in every case (gr_host_free). out->reasons: what the
// file says that it lacks. GR_ERR_IO: it cannot be read. GR_ERR_SYNTAX: line err->line breaks the format.
// GR_ERR_UNSUPPORTED: another version. GR_ERR_LIMIT: a line, or the file, is too long.
gr_status gr_recorded_read(GrTerms *t, const char *path, GrHost *out, gr_error *err);

#endif
