// SPDX-License-Identifier: Apache-2.0
// conflict_record — a conflict (findings/conflict.h) as a record of the results file (GR_RECORD_CONFLICT): written when
// it is first seen, and again when more is known of it.
#ifndef GR_FINDINGS_CONFLICT_RECORD_H
#define GR_FINDINGS_CONFLICT_RECORD_H

#include "findings/conflict.h"
#include "findings/reader.h"

void gr_conflict_write(const Conflict *c, StrBuf *out);
gr_status gr_conflict_read(const GrRecord *rec, Conflict *out, gr_error *err);

#endif
