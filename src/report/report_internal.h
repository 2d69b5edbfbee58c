// SPDX-License-Identifier: Apache-2.0
// report_internal — what the files that build a report share.
#ifndef GR_REPORT_REPORT_INTERNAL_H
#define GR_REPORT_REPORT_INTERNAL_H

#include "findings/module_record.h"
#include "report/report.h"

// Whether the i-th race is still listed, after `bytes` of others. (Their causes take as much again.)
static inline bool gr_report_lists(const GrReport *r, size_t i, size_t bytes) {
    return i < r->races.len && (!r->max_reports || (i < r->max_reports && bytes < (size_t)5 << 20));
}

// How many races are listed, whatever their size.
static inline size_t gr_report_listed(const GrReport *r) {
    return r->max_reports && r->max_reports < r->races.len ? (size_t)r->max_reports : r->races.len;
}

// A file's name: below the report's folder relative to that; a toolkit's file as programs include it.
const char *gr_report_file(const GrReport *r, const char *file);

// FILE:LINE, relative to the report's folder where it lies below that.
void gr_report_place(const GrReport *r, const GrFrame *f, StrBuf *out);

// Merges races that the collider saw twice, by value and by watchpoint; gives its other races their evidence.
gr_status gr_report_merge(GrReport *r, gr_error *err);

// Races that are one mistake get one cause, and proposals of repair (cause.c). Those that the report lists.
gr_status gr_report_find_causes(GrReport *r, gr_error *err);

// For a run of two engines (GrReport.causal): says of the collider's races whether causality confirms them.
gr_status gr_report_confirm(GrReport *r, gr_error *err);

// The race with both sides of this one: itself, or one seen in another way. NULL: only one side is known.
static inline const GrRace *gr_race_pair(const GrRace *r) {
    return r->watched ? r->watched : r->found.order ? r : r->witness;
}

// Another engine looked at the same execution, and saw no such race.
static inline bool gr_race_is_unconfirmed(const GrRace *r) { return r->judged && !r->witness; }

// The command that shows the race again.
static inline const char *gr_race_reproduce(const GrReport *r, const GrRace *race) {
    return race->n_seen ? race->seen[0].run->reproduce : r->reproduce;
}

// Finds possible races (GrPossibleRace) by their texts, which are those of reasons. False: out of memory.
bool gr_possible_by_text(const GrReport *r, Map *out);

// "3 new (1 cause)": how many races, `which` ones, and how many causes have no others.
void gr_report_counted(uint64_t races, uint64_t causes, const char *which, StrBuf *out);

// Where the race is told.
static inline const GrFrame *gr_race_place(const GrRace *race) {
    const GrAccess *a = race->watched ? &race->watched->found.accesses[0] : &race->found.accesses[0];
    return gr_access_frame(a, a->headline);
}

// Appends who did `a`, beside the other side: "thread (1,0,0) of block (2,0,0)", "the host", "a copy".
void gr_race_who(const GrReport *r, const GrAccess *a, const GrAccess *other, StrBuf *out);

// Appends the variable, argument or memory of an access: ", in data", ", through argument 2, byte 4 of 64 …".
void gr_access_memory(const GrReport *r, const GrAccess *a, Arena *arena, StrBuf *out);

// The line at which the program asked the API for it. NULL: not known, or the access is none of the API's.
static inline const GrFrame *gr_access_call_line(const GrAccess *a) {
    const GrStack *s = a->ptx_line || a->host ? NULL : a->stack;
    return s && s->n && s->frames->file && s->frames->line ? s->frames : NULL;
}

// Appends what the program called, and where: "cudaMemcpyAsync at app.cu:41", "a free node in the graph of …". False:
// that is not known, or the access is none of the API's.
bool gr_access_call(const GrReport *r, const GrAccess *a, StrBuf *out);

// Compares by all places, in the order of the sources. 0: the same place, as far as people tell places apart.
int gr_compare_sides(const GrAccess *a, const GrAccess *b);
int gr_compare_texts(const char *a, const char *b); // NULL is as good as ""
// The race whose threads are further apart comes first (findings/missing.h).
int gr_compare_widths(const GrRace *a, const GrRace *b);

// Puts races in the order of reports: new ones first, then the surest, then the most frequent, then by source.
void gr_report_order(GrReport *r);

// Names races and misuses (identity.c).
gr_status gr_report_identify(GrReport *r, gr_error *err);

// Races between the same lines of the user's become one (group.c).
gr_status gr_report_group(GrReport *r, gr_error *err);

// The thread whose value changed, where the two sides that are shown are another occurrence of the race: GrRace.watched
// has them. NULL: it is the first of the two, or there is no such.
const GrAccess *gr_race_noticed_elsewhere(const GrRace *race);

// The user did not want this kernel (NULL: not known) or the file of this access's headline checked.
bool gr_report_excludes(const GrReport *r, const char *kernel, const GrAccess *a);

// Races of the same places become one (races.c).
void gr_report_sort(GrReport *r);

// Hands the findings in the module's area to `to`. Without a decoder of such areas that is noted, and in a damaged area
// it is counted; both is no failure. `area` says the module and what its callbacks need.
gr_status gr_report_decode(GrReport *r, const GrResultsView *view, GrArea area, const GrSink *to,
                           gr_error *err);

// Adds a text to a list, or counts it. `text` lives in the report's arena, or is a constant. False: out of memory.
bool gr_report_count(GrCountedVec *v, const char *text);
void gr_counted_free(GrCountedVec *v);

// Folds five and more texts that differ only in numbers: the first says how many there are, and the others go. `arena`
// gets the text. False: out of memory. gr_report_count knows none of the texts behind it.
bool gr_report_fold(GrCountedVec *v, Arena *arena);

// Adds the run to r->so_far.path.
gr_status gr_report_cover(GrReport *r, gr_error *err);

// Accesses that --sample could choose.
static inline uint64_t gr_report_qualifying(const GrReport *r) {
    return r->sites[GR_SITE_CHECKED] + r->sites[GR_SITE_SAMPLED_OUT];
}

// Where the user meets one side of a race (spot.c).
typedef struct GrSpot {
    const char *kind; // of what has no place in a kernel: "copy", "host read"; else NULL
    const char *file, *module;
    uint32_t line, ptx_line;
} GrSpot;

int gr_compare_spots(const GrSpot *a, const GrSpot *b);

// The spots of both sides of `pair`, the lower one first; where only one side is known, twice that.
void gr_race_spots(const GrRace *pair, GrSpot spots[2]);

#endif
