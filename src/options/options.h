// SPDX-License-Identifier: Apache-2.0
// options — the table of options, parsed: command line, GPURACE_OPTIONS, and back to text.
//
// One table (options.def) is all there is: a field of GrOptions, a command-line option and a key of the same
// name per row. `gpurace run` merges its sources (defaults, then GPURACE_OPTIONS, then the command line) and
// hands the result to libgpurace.so as text in the environment, which the same parser reads back.
#ifndef GR_OPTIONS_H
#define GR_OPTIONS_H

#include "base/arena.h"
#include "base/status.h"
#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { OPT_RUN = 1, OPT_PTX = 2, OPT_COVERAGE = 4, OPT_REPRODUCE = 1024 };

// What an option's effect hangs on: a bit for each row of applies.def.
enum {
#define APPLIES(id, where, condition, why) OPT_BIT_##id,
#include "options/applies.def"
#undef APPLIES
#define APPLIES(id, where, condition, why) OPT_ON_##id = 1 << OPT_BIT_##id,
#include "options/applies.def"
#undef APPLIES
};

typedef const char *GrOpt_TEXT, *GrOpt_REGEX, *GrOpt_CHOICE;
typedef uint64_t GrOpt_NUMBER;
typedef bool GrOpt_YESNO, GrOpt_FLAG;

typedef struct GrOptions {
    Arena arena;    // of the texts
    uint64_t given; // a bit for each row: by the command line or GPURACE_OPTIONS
#define OPTION(id, name, type, deflt, commands, applies, arg, help) GrOpt_##type id;
#include "options/options.def"
#undef OPTION
} GrOptions;

typedef enum GrOptType { OPT_TEXT, OPT_REGEX, OPT_CHOICE, OPT_NUMBER, OPT_YESNO, OPT_FLAG } GrOptType;

typedef struct GrOptRow {
    const char *name, *deflt, *arg, *help;
    size_t offset; // of its field in GrOptions
    GrOptType type;
    unsigned commands, applies;
} GrOptRow;

// The rows of the table, from 0; NULL: there are no more. And what a NUMBER takes; false: the row is none.
const GrOptRow *gr_options_row(size_t k);
bool gr_options_range(const GrOptRow *r, uint64_t *lowest, uint64_t *highest);

// Where the launcher puts the merged options for libgpurace.so.
#define GR_OPTIONS_ENV "GPURACE_MERGED_OPTIONS"
// And the compute capability of the GPU it found, for what is rewritten before the driver is there ("90").
#define GR_DEVICE_CC_ENV "GPURACE_DEVICE_CC"
// And, for a replay that looks for the other sides of races, at which sites (engines/collider/attribution.h).
#define GR_ATTRIBUTE_ENV "GPURACE_ATTRIBUTE_SITES"

// The defaults.
gr_status gr_options_init(GrOptions *o, gr_error *err);
void gr_options_free(GrOptions *o);

// Reads `key=value key=value …`; values may be quoted with ' or ". Keys are the options' names; an unknown
// one is an error.
gr_status gr_options_parse_text(GrOptions *o, const char *text, gr_error *err);

// Reads the options of `command` (OPT_RUN, …) from argv[1] on: `--name value`, `--name=value`, `-o value` for
// --output. Stops after `--`, or at the first word that is no option: its index is *rest. `--help` sets
// *help and stops.
gr_status gr_options_parse_args(GrOptions *o, unsigned command, int argc, char **argv, int *rest, bool *help,
                                gr_error *err);

// Appends every option that is not at its default as `key='value'`, so that gr_options_parse_text reads it
// back.
void gr_options_to_text(const GrOptions *o, StrBuf *out);

// Appends ` --name value` for the options that repeat a run: the engine, device and seed always, others when
// not at their defaults, quoted for a shell.
void gr_options_reproduce(const GrOptions *o, StrBuf *out);

// Of a device and an engine that are chosen: the word of --schedule that holds; how many threads run the blocks of a kernel at most; and of what
// an option needs (its row's bits) what does not hold, a sentence without its end, NULL: it has an effect.
const char *gr_options_schedule(const GrOptions *o);
uint64_t gr_options_threads(const GrOptions *o);
const char *gr_options_misses(const GrOptions *o, unsigned needs);
// Names each option that was given, asks for something ("no", "auto" and a number's default do not) and has no effect.
void gr_options_unheeded(const GrOptions *o, void (*tell)(void *user, const char *option, const char *why),
                         void *user);

// Appends `word`, quoted for a POSIX shell where it needs it.
void gr_shell_quote(const char *word, StrBuf *out);

// The rows of `command` as help text, and all rows as the page docs/options.md.
void gr_options_help(unsigned command, FILE *out);
void gr_options_markdown(StrBuf *out);

#endif
