// SPDX-License-Identifier: Apache-2.0
// selection — which part of a program the user wants checked: --kernel, --not-kernel, --file, --not-file.
//
// A kernel is wanted when its name matches --kernel and not --not-kernel, as the source spells it or as the linker
// does. A source file is wanted by --file and --not-file: the file of the access's headline (findings/headline.h),
// which reports name. All engines, and the report, which says what was left out, ask here.
#ifndef GR_ENGINES_CORE_SELECTION_H
#define GR_ENGINES_CORE_SELECTION_H

#include "base/vec.h"
#include "options/options.h"
#include "ptx/ptx.h"

#include <regex.h>

// The launches of --only-launches, by their numbers: from 1, of each process. Empty: all.
typedef struct GrLaunchRanges {
    VEC(struct GrLaunchRange {
        uint64_t first;
        uint64_t last;
    })
    of;
} GrLaunchRanges;

// GR_ERR_ARGUMENT: it is no list of numbers and ranges. Then nothing is left to be freed.
gr_status gr_launch_ranges_read(const char *text, GrLaunchRanges *out, gr_error *err);
bool gr_launch_ranges_have(const GrLaunchRanges *r, uint64_t launch);

typedef struct GrSelection {
    struct {
        regex_t regex;
        bool is_set;
    } kernel, not_kernel, file, not_file;
    const char *paths; // of --path-map, in the options: files are compared as reports name them
} GrSelection;

// On failure nothing is left to be freed. The options must live as long.
gr_status gr_selection_init(GrSelection *s, const GrOptions *o, gr_error *err);
void gr_selection_free(GrSelection *s);

// The option that excludes it ("--not-kernel"); NULL: it is wanted. file NULL: not known, which no --file matches.
const char *gr_selection_excludes_kernel(const GrSelection *s, const char *kernel);
const char *gr_selection_excludes_file(const GrSelection *s, const char *file);

static inline bool gr_selection_has_files(const GrSelection *s) {
    return s->file.is_set || s->not_file.is_set;
}
static inline bool gr_selection_has_kernels(const GrSelection *s) {
    return s->kernel.is_set || s->not_kernel.is_set;
}

// Whether the file of the site's headline is wanted.
bool gr_selection_wants_site(const GrSelection *s, const PtxModule *m, const PtxSite *site);

// Sets marked[index] of the functions that a wanted kernel may reach. `marked` has m->n_funcs elements, all false.
void gr_selection_mark(const GrSelection *s, const PtxModule *m, bool *marked);

#endif
