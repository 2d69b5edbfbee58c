// SPDX-License-Identifier: Apache-2.0
// classes — the classes of findings. Every engine has a table of them.
//
// A class goes by its number in results files and in the report. The number is unique over all engines, and no number is used again after
// its class is gone: a results file never changes its meaning. docs/classes.md lists them all.
#ifndef GR_FINDINGS_CLASSES_H
#define GR_FINDINGS_CLASSES_H

#include <stddef.h>
#include <stdint.h>

typedef enum GrClassKind {
    GR_KIND_RACE,
    GR_KIND_HOISTED, // a race of a load whose value was not used: explains what another engine reports of that load
    GR_KIND_MISUSE, // synchronization that is wrong in itself
} GrClassKind;

typedef struct GrClass {
    uint32_t number; // from 1
    const char *name, *meaning;
    GrClassKind kind;
} GrClass;

// `table` ends with number 0, or is NULL. NULL: it has no such class.
static inline const GrClass *gr_class_in(const GrClass *table, uint32_t number) {
    for (const GrClass *c = table; c && c->number; c++)
        if (c->number == number)
            return c;
    return NULL;
}

#endif
