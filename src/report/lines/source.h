// SPDX-License-Identifier: Apache-2.0
// source — lines of source files, for reports. A file is read once, however many places are in it.
//
// A report that was read brings the lines around its places with it (gr_source_give): these are the lines of the run,
// so they come before what the file says now, and the file need not be there.
#ifndef GR_REPORT_LINES_SOURCE_H
#define GR_REPORT_LINES_SOURCE_H

#include "base/map.h"
#include "base/str.h"

#include <stdbool.h>

// How many lines before and behind a place a report keeps.
enum { GR_SOURCE_AROUND = 4 };

typedef struct GrSources {
    Map files; // path -> what is in it
} GrSources;

void gr_sources_free(GrSources *s);

// Appends the line alone, as gr_source_excerpt does.
void gr_source_line_excerpt(GrSources *s, const char *path, uint32_t line, StrBuf *out);

// Appends lines around `line` of `path`, with a caret under column `col` (0: none). Nothing when it cannot be read.
// `path` must outlive the sources.
void gr_source_excerpt(GrSources *s, const char *path, uint32_t line, uint32_t col, StrBuf *out);

// A line's bytes, without what ends it. NULL: not known. They live as long as the sources; `path` must outlive them.
const char *gr_source_line(GrSources *s, const char *path, uint32_t line, size_t *len);

// A line's text without white space, hashed, and how many lines before have that text. False: not known, or no memory.
bool gr_source_mark(GrSources *s, const char *path, uint32_t line, uint64_t *says, uint32_t *before);

// Says a line's text, which must outlive the sources, as must `path`. If two texts differ, the first in alphabetical
// order stays, whichever came first. False: out of memory.
bool gr_source_give(GrSources *s, const char *path, uint32_t line, const char *text);

// Says the whole text of a file, which comes before what is on the disk. Two texts of one path that differ: its lines
// are not known. Before lines of it are asked for. `path` must outlive the sources. False: out of memory.
bool gr_source_give_file(GrSources *s, const char *path, const char *text);

// Gives what `from` was given, in texts of `texts`. False: out of memory.
bool gr_source_give_all(GrSources *s, const GrSources *from, Interner *texts);

#endif
