// SPDX-License-Identifier: Apache-2.0
#include "engines/core/engines.h"

#include <string.h>

const GrEngine *const gr_engines[] = {
#define ENGINE(id) &gr_engine_##id,
#include GR_ENGINES_DEF
#undef ENGINE
    NULL,
};

const char *gr_engine_choice(const char *name, bool elsewhere) {
    return strcmp(name, "auto") ? name : elsewhere ? "collider" : "exact";
}

const GrEngine *gr_engine_find(const char *name) {
    for (const GrEngine *const *e = gr_engines; *e; e++)
        if (!strcmp((*e)->name, name))
            return *e;
    return NULL;
}
