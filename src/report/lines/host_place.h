// SPDX-License-Identifier: Apache-2.0
// host_place — the source lines of instructions of the host's program, from its debugging information.
//
// binutils' addr2line is asked, which is there wherever nvcc's host compiler is. Without it, or where the program was
// compiled without -g, what is known is the function and how far into it.
#ifndef GR_REPORT_LINES_HOST_PLACE_H
#define GR_REPORT_LINES_HOST_PLACE_H

#include "findings/module_record.h"

// `symbol` at `symbol + into` (may be empty) is what the dynamic linker says of address `at` of the file `object`.
// Texts live in `arena`. All NULL when nothing is known.
GrFrame gr_host_place(const char *object, uint64_t at, const char *symbol, Arena *arena);

// Takes a place of address number `k`: of code that was inlined, the innermost first. Texts live in the arena; what is
// not known is NULL or 0.
typedef void GrTakePlace(void *user, unsigned k, const GrFrame *f);

enum { GR_HOST_PLACES_MOST = 64 };

// Hands over the places of `n` addresses of one file, at most so many. It starts one program.
void gr_host_places(const char *object, const uint64_t *at, unsigned n, Arena *arena, GrTakePlace *take,
                    void *user);

#endif
