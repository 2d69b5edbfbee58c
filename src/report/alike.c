// SPDX-License-Identifier: Apache-2.0
// Texts that come again: equal ones are counted, and of many that differ only in numbers one stands for all.
#include "report/report_internal.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { FEW = 4 }; // texts that differ only in numbers are each told up to so many

bool gr_report_count(GrCountedVec *v, const char *text) {
    size_t at = (size_t)gr_map_get(&v->at, text);
    if (at) {
        v->data[at - 1].count++;
        return true;
    }
    GrCounted c = {text, 1};
    return gr_vec_push(v, c) && gr_map_put(&v->at, text, (void *)v->len);
}

void gr_counted_free(GrCountedVec *v) {
    gr_vec_free(v);
    gr_map_free(&v->at);
}

// Texts that are one but for their numbers.
typedef struct Shape {
    size_t texts;   // how many there are
    uint64_t count; // how often they came, all together
    bool told;
} Shape;

// `text` with a '#' for each number. NULL: out of memory.
static char *shape_of(const char *text, Arena *arena) {
    char *shape = gr_arena_strdup(arena, text), *to = shape;
    for (const char *c = text; shape && *c; c++)
        if (!isdigit((unsigned char)*c))
            *to++ = *c;
        else if (!isdigit((unsigned char)c[1]))
            *to++ = '#';
    if (shape)
        *to = '\0';
    return shape;
}

// The shapes of all texts: `of` gets each text's. False: out of memory.
static bool find_shapes(const GrCountedVec *v, Shape **of, Map *shapes, Arena *arena) {
    for (size_t k = 0; k < v->len; k++) {
        char *name = shape_of(v->data[k].text, arena);
        Shape *s = name ? gr_map_get(shapes, name) : NULL;
        if (!s && (!name || !(s = GR_NEW(arena, Shape)) || !gr_map_put(shapes, name, s)))
            return false;
        s->texts++;
        s->count += v->data[k].count;
        of[k] = s;
    }
    return true;
}

// What the first of its shape says. NULL: out of memory.
static char *told(const GrCounted *first, const Shape *s, Arena *arena) {
    return gr_arena_printf(arena, "%s; %zu more differ from this only in numbers", first->text, s->texts - 1);
}

// Keeps texts of few alike, and of many the first.
static bool fold(GrCountedVec *v, Shape *const *of, Arena *arena) {
    size_t n = 0;
    for (size_t k = 0; k < v->len; k++) {
        GrCounted c = v->data[k];
        Shape *s = of[k];
        if (s->texts > FEW) {
            if (s->told)
                continue;
            c = (GrCounted){told(&c, s, arena), s->count == s->texts ? 1 : s->count};
            s->told = true;
            if (!c.text)
                return false;
        }
        v->data[n++] = c;
    }
    v->len = n;
    return true;
}

bool gr_report_fold(GrCountedVec *v, Arena *arena) {
    if (v->len <= FEW)
        return true;
    Map shapes = {0};
    Arena scratch;
    gr_arena_init(&scratch);
    Shape **of = GR_NEW_ARRAY(&scratch, Shape *, v->len);
    bool done = of && find_shapes(v, of, &shapes, &scratch) && fold(v, of, arena);
    gr_map_free(&shapes); // numbers of texts have changed
    gr_map_free(&v->at);
    gr_arena_free(&scratch);
    return done;
}
