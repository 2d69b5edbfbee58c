// SPDX-License-Identifier: Apache-2.0
// path_map — files that lie elsewhere than where they were compiled (--path-map): FROM=TO, several with commas between.
#ifndef GR_BASE_PATH_MAP_H
#define GR_BASE_PATH_MAP_H

#include "base/arena.h"
#include "base/status.h"

// GR_ERR_ARGUMENT: a part is not FROM=TO. The empty map is right.
gr_status gr_path_map_check(const char *map, gr_error *err);

// The path with TO in place of FROM, by the first part whose FROM is the path or a folder above it. `path` itself,
// which may be NULL: there is no such part, or no memory.
const char *gr_path_mapped(const char *map, const char *path, Arena *arena);

#endif
