// SPDX-License-Identifier: Apache-2.0
// line_files — source files in an object's line tables (DWARF 5, 6.2.4), for where addr2line names the wrong one.
//
// nvcc hands the host compiler a file of its own, tmpxft_…_app.cudafe1.cpp, whose first line says that what follows is
// of app.cu. So of the unit's line table file 0 is nvcc's, and file 1 the program's. Code that the linker may drop
// (members that are defined in their class, instances of templates) has a section for itself, where rows are of file 1
// until something else is said; binutils up to 2.40 at least takes that for file 0.
#ifndef GR_REPORT_LINES_LINE_FILES_H
#define GR_REPORT_LINES_LINE_FILES_H

#include "base/arena.h"

#include <stdbool.h>

// Whether the file is one that nvcc hands to the host compiler, which is gone once that is done.
bool gr_is_nvcc_file(const char *path);

// File 1 of the unit of `object` whose file 0 has `path`'s name, in any folder. NULL: there is none, or no memory.
const char *gr_first_line_file(const char *object, const char *path, Arena *arena);

#endif
