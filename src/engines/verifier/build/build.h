// SPDX-License-Identifier: Apache-2.0
// build — how a project compiles and links its sources: from a compilation database, or from a build that was watched.
#ifndef GR_ENGINES_VERIFIER_BUILD_BUILD_H
#define GR_ENGINES_VERIFIER_BUILD_BUILD_H

#include "engines/verifier/build/split.h"
#include "engines/verifier/host/host.h"

// A file that a command made, and the sources in it.
typedef struct GrOutput {
    const char *path; // absolute
    VEC(size_t) sources;
    bool program; // it was linked: a program or a shared library
    bool merged;  // is linked into another one, or was made anew
} GrOutput;

typedef struct GrBuild {
    Arena arena;
    VEC(GrHostSource) sources;
    VEC(GrHostProgram) programs; // none: not known
    VEC(GrOutput) outputs;
    VEC(const char *) reasons; // what is missing for a verdict
    VEC(const char *) unread;  // files that cannot be looked at, each with why and what to do
    VEC(const char *) remarks; // worth knowing
    const char *top; // of a build that was watched: the folder where it ran; NULL: links are not known
    const char *const *words; // the user's words for nvcc, beside those of each source
    size_t n_words;
} GrBuild;

// *words must live as long as the build.
void gr_build_init(GrBuild *b, const char *const *words);
void gr_build_free(GrBuild *b);

// Adds a source that the user names, with the user's words. A missing one is named in b->unread. GR_ERR_NOMEM only.
gr_status gr_build_add_file(GrBuild *b, const char *file, gr_error *err);

// Adds a text to b->unread; NULL: memory is out.
gr_status gr_build_unread(GrBuild *b, const char *text, gr_error *err);
// Why a source cannot be read; NULL: it can.
const char *gr_build_missing(const char *file);

// Adds what a command in `folder` compiles and makes (it ran, or would run); nothing if it is no compiler's.
gr_status gr_build_add_command(GrBuild *b, const char *folder, const char *const *words, size_t n,
                               gr_error *err);

// Reads a compilation database (compile_commands.json). b->unread names entries that make no sense or whose source is
// not there, and the database itself if it cannot be read or is none. GR_ERR_NOMEM only.
gr_status gr_build_read_database(GrBuild *b, const char *path, gr_error *err);

// Runs `command` by sh, and adds each command by which it compiled, linked or archived. `library`: GR_BUILD_LIBRARY
// with its path. The build's output goes where ours goes. GR_ERR_ARGUMENT: the build failed, or compiled nothing.
gr_status gr_build_watch(GrBuild *b, const char *command, const char *library, gr_error *err);

// link.c: what a command links or archives, and what it makes of that.
typedef struct GrLink {
    const char *folder, *output;
    VEC(size_t) sources;      // compiled by the same command
    VEC(const char *) inputs; // objects, archives, shared libraries; -lNAME
    VEC(const char *) places; // of -L
    bool program;
} GrLink;
gr_status gr_build_add_link(GrBuild *b, const GrLink *l, gr_error *err);
// Called once all commands are there: leaves out sources that are no longer there, as those by which a build tries its
// compiler. b->reasons names what else was linked with one of them.
gr_status gr_build_drop_gone(GrBuild *b, gr_error *err);
// Finds which sources make which program. If there is none, a remark says so.
gr_status gr_build_find_programs(GrBuild *b, gr_error *err);
// `name` as counted from `folder`, without "." and ".." if possible. NULL: memory is out.
const char *gr_build_path(Arena *a, const char *folder, const char *name);

#endif
