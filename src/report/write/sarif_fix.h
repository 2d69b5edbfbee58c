// SPDX-License-Identifier: Apache-2.0
// sarif_fix — an edit as SARIF has it.
#ifndef GR_REPORT_WRITE_SARIF_FIX_H
#define GR_REPORT_WRITE_SARIF_FIX_H

#include <jansson.h>

// The hunks of a unified diff as a list of `replacement` objects, each of whole lines. NULL: out of memory.
json_t *gr_sarif_replacements(const char *hunks);

#endif
