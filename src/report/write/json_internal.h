// SPDX-License-Identifier: Apache-2.0
// json_internal — what the files that write JSON share. Functions that make a value return NULL when memory is out, and
// take NULL for one: a check at the end is enough.
#ifndef GR_REPORT_WRITE_JSON_INTERNAL_H
#define GR_REPORT_WRITE_JSON_INTERNAL_H

#include "report/report_internal.h"

#include <jansson.h>

// Of docs/report.schema.json. 2: with causes.
enum { GR_JSON_FORMAT = 2 };

// Makes UTF-8 of a text, as JSON wants it: other bytes become \xNN, as in the text report. NULL stays NULL.
json_t *gr_json_text(const char *s);

// Sets a key of `o`, which may be any text. Takes `v` over.
bool gr_json_set(json_t *o, const char *key, json_t *v);

// The whole report.
json_t *gr_json_report(const GrReport *r);

// What accesses of this status (site_status.def) are called.
const char *gr_json_status(unsigned status);

// Source lines around the places of all misuses and the first `listed` races, where known: file -> line -> text.
json_t *gr_json_sources(const GrReport *r, size_t listed);

#endif
