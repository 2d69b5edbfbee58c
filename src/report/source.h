// SPDX-License-Identifier: Apache-2.0
// source — lines of source files, for reports. A file is read once, however many places are in it.
#ifndef GR_REPORT_SOURCE_H
#define GR_REPORT_SOURCE_H

#include "base/map.h"
#include "base/str.h"

typedef struct GrSources {
    Map files; // path -> what is in it
} GrSources;

void gr_sources_free(GrSources *s);

// Appends lines around `line` of `path`, with a caret under column `col` (0: none). Nothing when it cannot be read. `path` must outlive
// the sources.
void gr_source_excerpt(GrSources *s, const char *path, uint32_t line, uint32_t col, StrBuf *out);

#endif
