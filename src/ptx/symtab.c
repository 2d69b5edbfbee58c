// SPDX-License-Identifier: Apache-2.0
#include "ptx/symtab.h"

#include <stdlib.h>
#include <string.h>

void gr_sym_init(SymTab *t, Arena *arena, Arena *inner) { *t = (SymTab){.arena = arena, .inner = inner}; }

void gr_sym_free(SymTab *t) {
    free(t->slots);
    free(t->scopes);
    *t = (SymTab){0};
}

bool gr_sym_push(SymTab *t) {
    if (t->depth + 1 >= t->scopes_cap) {
        uint32_t cap = t->scopes_cap ? t->scopes_cap * 2 : 16;
        Sym **scopes = realloc(t->scopes, cap * sizeof *scopes);
        if (!scopes)
            return false;
        if (!t->scopes)
            scopes[0] = NULL;
        t->scopes = scopes;
        t->scopes_cap = cap;
    }
    t->scopes[++t->depth] = NULL;
    return true;
}

void gr_sym_pop(SymTab *t) {
    for (Sym *s = t->scopes[t->depth]; s; s = s->sibling)
        s->name->top = s->outer;
    t->depth--;
}

static uint32_t hash_of(const char *s, size_t len) {
    uint32_t h = 2166136261u;
    for (size_t i = 0; i < len; i++)
        h = (h ^ (unsigned char)s[i]) * 16777619u;
    return h ^ (h >> 15);
}

static SymName **slot_of(const SymTab *t, const char *s, size_t len, uint32_t hash) {
    size_t k = hash & (t->cap - 1);
    for (; t->slots[k]; k = (k + 1) & (t->cap - 1))
        if (t->slots[k]->hash == hash && t->slots[k]->len == len && !memcmp(t->slots[k]->s, s, len))
            break;
    return &t->slots[k];
}

Sym *gr_sym_find(const SymTab *t, const char *s, size_t len) {
    if (!t->cap)
        return NULL;
    SymName *n = *slot_of(t, s, len, hash_of(s, len));
    return n ? n->top : NULL;
}

static bool grow(SymTab *t) {
    size_t cap = t->cap ? t->cap * 2 : 64;
    SymName **old = t->slots, **slots = calloc(cap, sizeof *slots);
    if (!slots)
        return false;
    for (size_t i = 0; i < t->cap; i++) {
        if (!old[i])
            continue;
        size_t k = old[i]->hash & (cap - 1);
        while (slots[k])
            k = (k + 1) & (cap - 1);
        slots[k] = old[i];
    }
    free(old);
    t->slots = slots;
    t->cap = cap;
    return true;
}

Sym *gr_sym_bind(SymTab *t, const char *s, size_t len, SymKind kind, void *obj) {
    if (len > UINT32_MAX || ((t->count + 1) * 2 > t->cap && !grow(t)))
        return NULL;
    if (!t->scopes) { // scope 0 is always open
        if (!gr_sym_push(t))
            return NULL;
        t->depth = 0;
    }
    uint32_t hash = hash_of(s, len);
    SymName **slot = slot_of(t, s, len, hash);
    if (!*slot) {
        SymName *n = GR_NEW(t->arena, SymName);
        if (!n)
            return NULL;
        *n = (SymName){.s = s, .len = (uint32_t)len, .hash = hash};
        *slot = n;
        t->count++;
    }
    Sym *sym = GR_NEW(t->depth ? t->inner : t->arena, Sym);
    if (!sym)
        return NULL;
    *sym = (Sym){.name = *slot,
                 .outer = (*slot)->top,
                 .sibling = t->scopes[t->depth],
                 .kind = kind,
                 .depth = t->depth,
                 .obj = obj};
    (*slot)->top = t->scopes[t->depth] = sym;
    return sym;
}
