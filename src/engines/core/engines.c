// SPDX-License-Identifier: Apache-2.0
// engines — the engines of this program by name, their classes and decoders.
#include "base/near.h"
#include "engines/core/compose.h"
#include "engines/core/engine.h"
#include "engines/core/misuses.h"
#include "options/options.h"

#include <stdio.h>
#include <string.h>

const GrEngine *gr_engine_find(const char *name) {
    for (const GrEngine *const *e = gr_engines; *e; e++)
        if (!strcmp((*e)->name, name))
            return *e;
    return strchr(name, '+') ? gr_engine_compose(name) : NULL;
}

const char *gr_engine_meant(const char *name, char hint[GR_NEAR_ROOM]) {
    hint[0] = 0;
    for (const char *part = name;; part++) { // of two, those are changed that there are not
        GrNear near = {.word = part, .len = strcspn(part, "+")};
        for (const GrEngine *const *e = gr_engines; *e && near.len; e++)
            gr_near_try(&near, (*e)->name);
        if (near.best && near.distance)
            snprintf(hint, GR_NEAR_ROOM, "; did you mean %.*s%s%s?", (int)(part - name), name, near.best,
                     part + near.len);
        part += near.len;
        if (!*part)
            return hint;
    }
}

const char *gr_engines_that(unsigned caps) {
    static char names[256];
    size_t n = 0;
    names[0] = 0;
    for (const GrEngine *const *e = gr_engines; *e; e++)
        if (((*e)->caps & caps) == caps && n < sizeof names)
            n += (size_t)snprintf(names + n, sizeof names - n, "%s%s", n ? ", " : "", (*e)->name);
    return names;
}

const GrEngine *gr_engine_choose(GrOptions *o, bool elsewhere) {
    if (!strcmp(o->engine, "auto"))
        o->engine = elsewhere ? "collider" : "exact";
    const GrEngine *e = gr_engine_find(o->engine);
    o->caps = e ? e->caps : CAP_CPU | CAP_GPU | CAP_CHECKS;
    return e;
}

const GrClass *gr_engine_class(uint32_t number) {
    const GrClass *found = gr_class_in(gr_misuse_classes, number);
    for (const GrEngine *const *e = gr_engines; *e && !found; e++)
        found = gr_class_in((*e)->classes, number);
    return found;
}

static bool same_tag(const GrAreaTag *a, const GrAreaTag *b) {
    return a->engine && b->engine && !strcmp(a->engine, b->engine) && a->format == b->format &&
           a->version == b->version;
}

const GrDecoder *gr_engine_decoder(const GrAreaTag *tag) {
    for (const GrEngine *const *e = gr_engines; *e; e++)
        if ((*e)->decoder && same_tag(&(*e)->decoder->tag, tag))
            return (*e)->decoder;
    return NULL;
}
