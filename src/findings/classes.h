// SPDX-License-Identifier: Apache-2.0
// classes — the classes of findings. Every engine has a table of them.
//
// A class goes by its number in results files and in the report. The number is unique over all engines, and no number
// is used again after its class is gone: a results file never changes its meaning. docs/classes.md lists them all.
#ifndef GR_FINDINGS_CLASSES_H
#define GR_FINDINGS_CLASSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef enum GrClassKind {
    GR_KIND_RACE,
    GR_KIND_HOISTED, // a race of a load whose value was not used: explains what another engine reports of that load
    GR_KIND_MISUSE, // what is wrong in itself: synchronization, a stray access
} GrClassKind;

typedef struct GrClass {
    uint32_t number; // from 1
    const char *name, *meaning;
    GrClassKind kind;
} GrClass;

// The class of stray accesses, the one misuse that is no synchronization. It goes by name: read reports have no number.
#define GR_STRAY_ACCESS "stray access"
static inline bool gr_class_is_stray(const GrClass *c) { return !strcmp(c->name, GR_STRAY_ACCESS); }
// What a headline calls a misuse of that class.
static inline const char *gr_misuse_title(const GrClass *c) {
    return gr_class_is_stray(c) ? "memory misuse" : "synchronization misuse";
}

// `table` ends with number 0, or is NULL. NULL: it has no such class.
static inline const GrClass *gr_class_in(const GrClass *table, uint32_t number) {
    for (const GrClass *c = table; c && c->number; c++)
        if (c->number == number)
            return c;
    return NULL;
}

#endif
