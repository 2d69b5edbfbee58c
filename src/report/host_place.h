// SPDX-License-Identifier: Apache-2.0
// host_place — the source line of an instruction of the host's program, from its debugging information.
//
// binutils' addr2line is asked, which is there wherever nvcc's host compiler is. Without it, or where the program was
// compiled without -g, what is known is the function and how far into it.
#ifndef GR_REPORT_HOST_PLACE_H
#define GR_REPORT_HOST_PLACE_H

#include "findings/module_record.h"

// `symbol` at `symbol + into` (may be empty) is what the dynamic linker says of address `at` of the file `object`.
// Texts live in `arena`. All NULL when nothing is known.
GrFrame gr_host_place(const char *object, uint64_t at, const char *symbol, Arena *arena);

// The innermost place of `at` in the user's own code where code was inlined; else as gr_host_place.
GrFrame gr_host_own_place(const char *object, uint64_t at, const char *symbol, Arena *arena);

#endif
