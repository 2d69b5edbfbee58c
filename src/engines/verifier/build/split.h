// SPDX-License-Identifier: Apache-2.0
// split — takes a command's text apart into words, and puts the words of response files in place of the files' names.
#ifndef GR_ENGINES_VERIFIER_BUILD_SPLIT_H
#define GR_ENGINES_VERIFIER_BUILD_SPLIT_H

#include "base/arena.h"
#include "base/status.h"
#include "base/vec.h"

typedef VEC(const char *) GrWords; // the texts live in an arena

// Appends the words of `text`, as a shell quotes them: '...', "..." and \. GR_ERR_SYNTAX: a quote has no end.
gr_status gr_split(Arena *a, const char *text, GrWords *out, gr_error *err);

// Appends `n` words. For @FILE, --options-file FILE and -optf FILE it appends the words of the file, whose name counts
// from `folder` (NULL: from here). GR_ERR_IO: such a file cannot be read. A missing @FILE stands for itself, as for
// compilers.
gr_status gr_split_responses(Arena *a, const char *folder, const char *const *words, size_t n, GrWords *out,
                             gr_error *err);

#endif
