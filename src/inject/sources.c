// SPDX-License-Identifier: Apache-2.0
#include "inject/sources.h"

#include "findings/source_record.h"
#include "inject/session.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// A program may compile without end. What comes later is not kept.
enum { MOST_BYTES = 32 << 20, MOST_TEXTS = 20000 };

typedef struct Compiled {
    struct Compiled *next;
    char *name, *text;
} Compiled;

static Compiled *pending;   // atomic: the last one first
static size_t bytes, texts; // atomic

static void drop(Compiled *c) {
    free(c->name);
    free(c->text);
    free(c);
}

// The compiler's line information has names that are not absolute in the working folder.
static char *absolute(const char *name) {
    char folder[4096];
    StrBuf b = {0};
    if (*name != '/' && getcwd(folder, sizeof folder))
        gr_str_addf(&b, "%s/", folder);
    gr_str_add(&b, name);
    return gr_str_take(&b);
}

void gr_source_compiled(const char *name, const char *text) {
    size_t size = strlen(text);
    if (__atomic_add_fetch(&bytes, size, __ATOMIC_RELAXED) > MOST_BYTES ||
        __atomic_add_fetch(&texts, 1, __ATOMIC_RELAXED) > MOST_TEXTS)
        return;
    Compiled *c = calloc(1, sizeof *c);
    if (!c)
        return;
    c->name = absolute(name);
    c->text = strdup(text);
    if (!c->name || !c->text) {
        drop(c);
        return;
    }
    c->next = __atomic_load_n(&pending, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&pending, &c->next, c, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
    }
}

void gr_sources_record(void) {
    if (!__atomic_load_n(&pending, __ATOMIC_RELAXED))
        return;
    for (Compiled *c = __atomic_exchange_n(&pending, NULL, __ATOMIC_ACQUIRE), *next; c; c = next) {
        StrBuf b = {0};
        next = c->next;
        gr_source_write(&(GrSourceInfo){c->name, c->text}, &b);
        gr_results_append(&gr_session.results, GR_RECORD_SOURCE, &b);
        gr_str_free(&b);
        drop(c);
    }
}
