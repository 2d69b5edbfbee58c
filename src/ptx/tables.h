// SPDX-License-Identifier: Apache-2.0
// tables — look-ups from text that only the parser needs.
#ifndef GR_PTX_TABLES_H
#define GR_PTX_TABLES_H

#include "ptx/ptx.h"

PtxType gr_ptx_type_find(const char *text, size_t len);   // NOTYPE when it is no type at all
PtxSpace gr_ptx_space_find(const char *text, size_t len); // GENERIC when it is no space

// Whether "%name" (its ".x" excluded) is a special register of PTX ISA chapter 10.
bool gr_ptx_is_sreg(const char *text, size_t len);

#endif
