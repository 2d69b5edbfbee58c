// SPDX-License-Identifier: Apache-2.0
#include "findings/headline.h"

#include <stddef.h>
#include <string.h>

bool gr_is_toolkit_file(const char *file) {
    static const char *const parts[][2] = {
#define TOOLKIT(part, later) {part, later},
#include "findings/toolkit.def"
#undef TOOLKIT
    };
    for (size_t k = 0; file && k < sizeof parts / sizeof *parts; k++) {
        const char *at = strstr(file, parts[k][0]);
        if (at && strstr(at, parts[k][1]))
            return true;
    }
    return false;
}

const char *gr_toolkit_name(const char *file) {
    static const char *const folders[] = {"/include/cccl/", "/include/", "/cub/cub/", "/thrust/thrust/"};
    for (size_t k = 0; k < sizeof folders / sizeof *folders && gr_is_toolkit_file(file); k++) {
        const char *at = strstr(file, folders[k]);
        if (at && k < 2)
            return at + strlen(folders[k]);
        if (at)
            return strchr(at + 1, '/') + 1;
    }
    return file;
}

uint32_t gr_headline(bool (*is_own)(void *places, uint32_t k), void *places, uint32_t n) {
    for (uint32_t k = 0; k < n; k++)
        if (is_own(places, k))
            return k;
    return 0;
}
