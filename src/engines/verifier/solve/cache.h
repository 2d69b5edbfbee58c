// SPDX-License-Identifier: Apache-2.0
// cache — answers of the solver, kept in files from run to run, by the content of the question.
//
// The key is the whole question: every term as a graph, every symbol with its range, the bytes, the reading, and the
// version of the verifier. Names, lines and times are no part of it. A file repeats its question, and counts only if
// that is the same to the byte; so only the same question, word by word, gets its answer. Only NO and YES are kept: an
// UNKNOWN may be one of time. The solver evaluates a kept YES again before it answers with it (solve.c).
#ifndef GR_ENGINES_VERIFIER_SOLVE_CACHE_H
#define GR_ENGINES_VERIFIER_SOLVE_CACHE_H

#include "engines/verifier/solve/solve.h"

typedef struct GrCache GrCache;

// Makes the folder and those above it. Answers of another `version` (copied) do not count. GR_ERR_IO: none was made.
gr_status gr_cache_open(const char *folder, const char *version, GrCache **out, gr_error *err);
void gr_cache_close(GrCache *c);

// False: no answer is there, or a damaged one. *out is the caller's to free (gr_solved_free).
bool gr_cache_get(const GrCache *c, const GrTerms *t, const GrQuery *q, GrSolved *out);
// Keeps a NO or a YES. What cannot be written is left out: a cache may forget.
void gr_cache_put(const GrCache *c, const GrTerms *t, const GrQuery *q, const GrSolved *s);

#endif
