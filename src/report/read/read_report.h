// SPDX-License-Identifier: Apache-2.0
// read_report — a report that was written as JSON (docs/report.schema.json) becomes a report again; several become one.
//
// A report that was read is the one it was written from, as far as any format shows it: written as JSON again it is the
// same to the byte, and as text too (source files below GrReport.folder are named relative to it).
//
// A report of several runs has the union of their races, by GrRace.id, and says for each which runs saw it
// (GrRace.seen). It shows a race as the run with the lowest seed saw it, with the sum of the counts. Merging is
// idempotent and independent of order: a run goes by a hash of its report, and a run that is there already adds
// nothing. Coverage is the most that any run says of each thing; texts are there once. The verdict is races if a run
// found some, clean if all were, else inconclusive.
#ifndef GR_REPORT_READ_READ_REPORT_H
#define GR_REPORT_READ_READ_REPORT_H

#include "report/report.h"

// Reads the report in the file `path` into *r, fresh from gr_report_init. The caller sets folder and max_reports before
// or after. GR_ERR_SYNTAX: no JSON, with the place; GR_ERR_FORMAT: no report of gpurace's, with what is wrong. After a
// failure only gr_report_free is left to do.
gr_status gr_report_read(const char *path, GrReport *r, gr_error *err);

// Reads a report from `text`, which errors call `path`.
gr_status gr_report_parse(const char *path, const char *text, size_t len, GrReport *r, gr_error *err);

// Reads the report in the file `path` and adds it to *r, which is fresh from gr_report_init or was made by this
// function. After a failure *r is as it was, but for GR_ERR_NOMEM: then gr_report_free is all that can be done with it.
gr_status gr_report_add_file(GrReport *r, const char *path, gr_error *err);

// Adds a report from `text`, which errors call `path`.
gr_status gr_report_add_text(GrReport *r, const char *path, const char *text, size_t len, gr_error *err);

// All reports are added: finds the causes of their races.
gr_status gr_report_added(GrReport *r, gr_error *err);

#endif
