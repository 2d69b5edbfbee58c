// SPDX-License-Identifier: Apache-2.0
// headline — where the user meets a race: the innermost place, of an access and its inlining, in the user's own code.
//
// A race inside a header of the toolkit (CUDA, libcu++, CUB, Thrust; toolkit.def) is told at the line of the user's
// that called it, with the header's places beneath. Races with the same headlines are one report, so the process that
// counts them needs it as well.
#ifndef GR_FINDINGS_HEADLINE_H
#define GR_FINDINGS_HEADLINE_H

#include <stdbool.h>
#include <stdint.h>

// The file belongs to the toolkit or to the system, not to the user. NULL: it does not.
bool gr_is_toolkit_file(const char *file);

// A toolkit's file as programs include it, "cub/block/block_scan.cuh"; any other as it is.
const char *gr_toolkit_name(const char *file);

// The number of the first of `n` places, the innermost first, in the user's own code; 0 when none is.
uint32_t gr_headline(bool (*is_own)(void *places, uint32_t k), void *places, uint32_t n);

#endif
