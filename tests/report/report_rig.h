// SPDX-License-Identifier: Apache-2.0
// report_rig — a results file made by hand, for the tests of the report. Each test has a file of its own.
#ifndef GR_TESTS_REPORT_RIG_H
#define GR_TESTS_REPORT_RIG_H

#include "engines/collider/device/record.h"
#include "findings/race_record.h"
#include "report/report.h"

enum { RIG_SITES = 6 };

extern gr_error rig_err;
extern char rig_path[64]; // of the test's file
extern GrSiteInfo
    rig_sites[RIG_SITES + 1];    // of each module: two kernels and a device function; site 5 has no line
extern unsigned rig_room;        // for so many meetings, behind a module's slots
extern const GrAreaTag *rig_tag; // of modules' areas; NULL: the collider's
extern bool rig_short;           // the last byte of modules' areas is cut off

// Set a test up, with an empty file, and take it down.
int rig_new_file(void **state);
int rig_remove_file(void **state);

// Makes the file empty again.
void rig_empty_file(void);

// A process that writes to the file, until rig_end or gr_results_detach.
void rig_attach(GrResults *r);

// Records. rig_append frees the payload; rig_module yields the module's slots, which live as long as `r`.
void rig_append(GrResults *r, GrRecordKind kind, StrBuf *payload);
void rig_text(GrResults *r, GrRecordKind kind, const char *text);
GrSlot *rig_module(GrResults *r, uint64_t number, const char *name, const char *unchecked);
void rig_kernel(GrResults *r, uint64_t index, uint64_t module, const char *name, GrKernelCounts n);
void rig_log(GrResults *r, const uint32_t *kernels, uint64_t n);
void rig_slot(GrSlot *slots, uint32_t site, GrRaceClass class, GrSlot s, uint64_t expected, uint64_t seen);
// `class` is a RaceClass.
void rig_pair(GrResults *r, const GrRaceInfo *info);
void rig_end(GrResults *r, uint64_t unfinished);

// A process with four races, all but its end.
void rig_racy_run(GrResults *r);

// Builds the report of the file; an engine that is not named is the collider.
void rig_build(GrReport *report, const char *device);
// The same of a new report, on the CPU device.
void rig_report(GrReport *report);
// Its JSON, read again, is the same report, as JSON and as text.
void rig_round_trip(const GrReport *report);
// Does that, and compares it with golden/NAME.txt and NAME.json, or writes them: UPDATE_GOLDEN=1.
void rig_compare(const GrReport *report, const char *name);

#endif
