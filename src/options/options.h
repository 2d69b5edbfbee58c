// SPDX-License-Identifier: Apache-2.0
// options — the table of options, parsed: command line, GPURACE_OPTIONS, and back to text.
//
// Tables are all there is: a field, a command-line option and a key of the same name per row. One table has the options
// of all engines (options.def, the fields of GrOptions). An engine may bring one more. `gpurace run` merges its sources
// (defaults, then GPURACE_OPTIONS, then the command line) and hands the result to libgpurace.so as text in the
// environment, which the same parser reads back.
#ifndef GR_OPTIONS_OPTIONS_H
#define GR_OPTIONS_OPTIONS_H

#include "base/arena.h"
#include "base/status.h"
#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum {
    OPT_RUN = 1,
    OPT_PTX = 2,
    OPT_COVERAGE = 4,
    OPT_CHECK = 8,
    OPT_REPORT = 16,
    OPT_DIFF = 32,
    OPT_CAMPAIGN = 64,
    OPT_REPAIR = 128,
    OPT_REPRODUCE = 1024
};

// What an option's effect hangs on: a bit for each row of applies.def.
enum {
#define APPLIES(id, where, condition, why) OPT_BIT_##id,
#include "options/applies.def"
#undef APPLIES
#define APPLIES(id, where, condition, why) OPT_ON_##id = 1 << OPT_BIT_##id,
#include "options/applies.def"
#undef APPLIES
};

typedef const char *GrOpt_TEXT, *GrOpt_OUTPUT, *GrOpt_REGEX, *GrOpt_CHOICE, *GrOpt_WORDS, *GrOpt_SWITCH;
typedef uint64_t GrOpt_NUMBER;
typedef bool GrOpt_YESNO, GrOpt_FLAG;

// What an engine can do, as far as other parts have to know: a bit for each row of caps.def.
enum {
#define CAP(id, text) CAP_BIT_##id,
#include "options/caps.def"
#undef CAP
#define CAP(id, text) CAP_##id = 1 << CAP_BIT_##id,
#include "options/caps.def"
#undef CAP
};

typedef struct GrOptions {
    Arena arena;   // of the texts
    bool *given;   // [rows of all tables]: by the command line or GPURACE_OPTIONS
    void **tables; // [tables]: the fields of each; those of the first are this structure's own
    // Caps of the engine, once one is chosen (engines/core/engine.h); of two at once, what either can do.
    unsigned caps;
    unsigned beside; // for one of two engines that run at once: the caps of the other
#define OPTION(id, name, type, deflt, commands, group, applies, arg, help) GrOpt_##type id;
#include "options/options.def"
#undef OPTION
} GrOptions;
// Which question an option answers: a row of groups.def.
enum {
#define GROUP(id, question) OPT_GROUP_##id,
#include "options/groups.def"
#undef GROUP
    OPT_GROUPS
};

typedef enum GrOptType {
    OPT_TEXT,
    OPT_OUTPUT,
    OPT_REGEX,
    OPT_CHOICE,
    OPT_WORDS,
    OPT_NUMBER,
    OPT_YESNO,
    OPT_SWITCH,
    OPT_FLAG
} GrOptType;

typedef struct GrOptRow {
    const char *name, *deflt, *arg, *help;
    size_t offset; // of its field in the table's structure
    GrOptType type;
    unsigned commands, applies, group;
} GrOptRow;

// What `--output -` becomes.
#define GR_STANDARD_OUTPUT "/dev/fd/1"

// Whether the option may stand without a word: that is yes then.
static inline bool gr_option_is_bare(const GrOptRow *r) {
    return r->type == OPT_FLAG || r->type == OPT_SWITCH;
}

// What a NUMBER takes: of the row with the same offset.
typedef struct GrOptRange {
    size_t offset;
    uint64_t lowest, highest;
} GrOptRange;

typedef struct GrOptTable {
    const char *engine; // whose options these are; NULL: those of all engines
    const GrOptRow *rows;
    const GrOptRange *ranges;
    size_t n_rows, n_ranges;
    size_t size; // of the structure with the fields
} GrOptTable;

// Rows and ranges of a .def file, for fields of a structure: GR_OPT_ROW and GR_OPT_RANGE stand for OPTION and RANGE.
#define GR_OPT_ROW(structure, id, name, type, deflt, commands, group, applies, arg, help)                    \
    {name, deflt, arg, help, offsetof(structure, id), OPT_##type, commands, applies, OPT_GROUP_##group},
#define GR_OPT_RANGE(structure, id, lowest, highest) {offsetof(structure, id), lowest, highest},

extern const GrOptTable gr_common_options;
// The tables of this program, gr_common_options first, NULL behind the last; defined where its engines are listed.
extern const GrOptTable *const gr_option_tables[];

// The rows of all tables, from 0; NULL: there are no more. `table` may be NULL.
const GrOptRow *gr_options_row(size_t k, const GrOptTable **table);
// What a NUMBER takes; false: the row is none.
bool gr_options_range(const GrOptTable *t, const GrOptRow *r, uint64_t *lowest, uint64_t *highest);
// The fields of a table, NULL: the program has no such table. gr_options_text: one value as text, in `buf` when it is a
// number; NULL: there is no such option.
const void *gr_options_of(const GrOptions *o, const GrOptTable *t);
const char *gr_options_text(const GrOptions *o, const char *name, char buf[32]);

// Where the launcher puts the merged options for libgpurace.so.
#define GR_OPTIONS_ENV "GPURACE_MERGED_OPTIONS"
// The compute capability of the GPU that the launcher found, for rewriting before the driver is there ("90").
#define GR_DEVICE_CC_ENV "GPURACE_DEVICE_CC"
// The version of that GPU's driver ("13000").
#define GR_DRIVER_VERSION_ENV "GPURACE_DRIVER_VERSION"
// Where gpurace-ptxas is, which stands in for each ptxas that the program starts.
#define GR_PTXAS_ENV "GPURACE_PTXAS_STAND_IN"
// For a replay that looks for the other sides of races: at which sites (engines/collider/attribution.h).
#define GR_ATTRIBUTE_ENV "GPURACE_ATTRIBUTE_SITES"
// "1": a race is to be planted beside the program's first launch (inject/plant.h).
#define GR_PLANT_ENV "GPURACE_PLANT"
// "1": an engine will follow what the host does (CAP_HOST, or watchpoints).
#define GR_HOST_WATCH_ENV "GPURACE_HOST_WATCH"

// The defaults.
gr_status gr_options_init(GrOptions *o, gr_error *err);
void gr_options_free(GrOptions *o);

// Reads `key=value key=value …`; values may be quoted with ' or ". Keys are the options' names; others are errors.
gr_status gr_options_parse_text(GrOptions *o, const char *text, gr_error *err);

// Reads the options of `command` (OPT_RUN, …; OPT_CAMPAIGN takes those of OPT_RUN, too) from argv[1] on: `--name
// value`, `--name=value`, `-o value` for --output. Stops after `--`, or at the first word that is no option: its index
// is *rest. `--help` sets *help and stops.
gr_status gr_options_parse_args(GrOptions *o, unsigned command, int argc, char **argv, int *rest, bool *help,
                                gr_error *err);

// The option of that name, for a command (OPT_RUN, …; several joined by `|`). NULL: there is none, and *err says which
// one was meant perhaps.
const GrOptRow *gr_options_find(const char *name, unsigned commands, gr_error *err);
// Sets an option of `command`, as the command line does.
gr_status gr_options_give(GrOptions *o, unsigned command, const char *name, const char *value, gr_error *err);

// Reads options that stand before, between and behind the command's words: argv[1] … argv[*n_words] become these words,
// in their order. What stands behind `--` begins at argv[*rest]; without `rest` that is words, too.
gr_status gr_options_parse_words(GrOptions *o, unsigned command, int argc, char **argv, int *n_words,
                                 int *rest, bool *help, gr_error *err);

// Appends every option that is not at its default as `key='value'`, so that gr_options_parse_text reads it
// back; those of a campaign, which are nothing to its runs, are left out.
void gr_options_to_text(const GrOptions *o, StrBuf *out);

// Appends ` --name value` for the options that repeat a run of `command`: the engine, device and seed always, others
// when they were given or are not at their defaults, quoted for a shell.
void gr_options_reproduce(const GrOptions *o, unsigned command, StrBuf *out);

// The engine `name` is the one that is chosen, or one of several ("collider+exact").
bool gr_options_uses(const GrOptions *o, const char *name);

// For a chosen device and engine (`caps`). gr_options_schedule: the word of --schedule that holds; gr_options_threads:
// how many threads run a kernel's blocks at most; gr_options_misses: why an option has no effect, the need of its row
// that does not hold, a sentence without its end. NULL: it has an effect.
const char *gr_options_schedule(const GrOptions *o);
uint64_t gr_options_threads(const GrOptions *o);
const char *gr_options_misses(const GrOptions *o, unsigned needs);
bool gr_options_pass_strays(const GrOptions *o); // --on-fault continue, on a device that can
// Where --watchpoints and --aim work, as their rows say. (Several threads run blocks only while no observer listens.)
#define GR_WATCHPOINTS_NEED (OPT_ON_WINDOWS | OPT_ON_CPU | OPT_ON_ONE_THREAD | OPT_ON_WATCHES)
#define GR_AIM_NEEDS        (OPT_ON_WINDOWS | OPT_ON_CPU | OPT_ON_DIRECTED | OPT_ON_WATCHES)
// Names each option that was given, asks for something ("no", "auto" and a number's default do not) and has no effect.
void gr_options_unheeded(const GrOptions *o, void (*tell)(void *user, const char *option, const char *why),
                         void *user);

// Appends `word`, quoted for a POSIX shell if need be, as one line that can be shown ($'\033'; dash lacks that).
void gr_shell_quote(const char *word, StrBuf *out);

// The rows of `command` as help text, below headings: the questions that they answer, where there are many.
void gr_options_help(unsigned command, FILE *out);
// Whether an engine with these `caps` heeds an option on one of its devices, whatever the device and other options are.
bool gr_options_heeds(const GrOptTable *t, const GrOptRow *r, const char *engine, unsigned caps);

#endif
