// SPDX-License-Identifier: Apache-2.0
#include "base/path_map.h"

#include <string.h>

gr_status gr_path_map_check(const char *map, gr_error *err) {
    for (const char *p = map; *p; p += *p == ',') {
        size_t n = strcspn(p, ","), from = strcspn(p, "=,");
        if (!from || from >= n)
            return gr_fail(err, GR_ERR_ARGUMENT,
                           "--path-map takes FROM=TO, several with commas between, not '%s'", map);
        p += n;
    }
    return GR_OK;
}

// Whether from[0 .. n) is the path, or a folder above it.
static bool is_above(const char *from, size_t n, const char *path) {
    return !strncmp(from, path, n) && (!path[n] || path[n] == '/' || from[n - 1] == '/');
}

const char *gr_path_mapped(const char *map, const char *path, Arena *arena) {
    for (const char *p = map; p && *p && path; p += *p == ',') {
        size_t n = strcspn(p, ","), from = strcspn(p, "=,");
        if (from && from < n && is_above(p, from, path)) {
            const char *mapped =
                gr_arena_printf(arena, "%.*s%s", (int)(n - from - 1), p + from + 1, path + from);
            return mapped ? mapped : path;
        }
        p += n;
    }
    return path;
}
