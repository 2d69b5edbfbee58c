// SPDX-License-Identifier: Apache-2.0
#include "base/map.h"

#include "base/rng.h"
#include "base/str.h"
#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

void gr_map_free(Map *m) {
    free(m->entries);
    free(m->index);
    *m = (Map){0};
}

static uint64_t slot_hash(uint64_t key) { return gr_mix64(key); }

static bool same(const MapEntry *e, const char *str, uint64_t key) {
    return e->live && e->key == key && (str ? e->str && !strcmp(e->str, str) : !e->str);
}

static MapEntry *find(const Map *m, const char *str, uint64_t key) {
    if (!m->index_cap)
        return NULL;
    size_t mask = m->index_cap - 1;
    for (size_t k = slot_hash(key) & mask; m->index[k]; k = (k + 1) & mask) {
        MapEntry *e = &m->entries[m->index[k] - 1];
        if (same(e, str, key))
            return e;
    }
    return NULL;
}

static void index_insert(Map *m, size_t entry) {
    size_t mask = m->index_cap - 1, k = slot_hash(m->entries[entry].key) & mask;
    while (m->index[k])
        k = (k + 1) & mask;
    m->index[k] = (uint32_t)entry + 1;
}

// Rebuilds the index twice as large, dropping the holes.
static bool rehash(Map *m) {
    size_t cap = 16;
    while (cap < (m->live + 1) * 4)
        cap *= 2;
    uint32_t *index = calloc(cap, sizeof *index);
    if (!index)
        return false;
    free(m->index);
    m->index = index;
    m->index_cap = cap;
    size_t n = 0;
    for (size_t i = 0; i < m->len; i++) {
        if (!m->entries[i].live)
            continue;
        m->entries[n] = m->entries[i];
        index_insert(m, n++);
    }
    m->len = n;
    return true;
}

static bool put(Map *m, const char *str, uint64_t key, void *value) {
    MapEntry *e = find(m, str, key);
    if (e) {
        e->value = value;
        return true;
    }
    if ((m->len + 1) * 2 > m->index_cap && !rehash(m))
        return false;
    if (m->len + 1 > m->cap && !gr_vec_grow((void **)&m->entries, &m->cap, m->len + 1, sizeof *m->entries))
        return false;
    m->entries[m->len] = (MapEntry){.str = str, .key = key, .value = value, .live = true};
    index_insert(m, m->len++);
    m->live++;
    return true;
}

static void *take(Map *m, const char *str, uint64_t key) {
    MapEntry *e = find(m, str, key);
    if (!e)
        return NULL;
    e->live = false; // its index slot stays, as a tombstone that matches nothing
    m->live--;
    return e->value;
}

static uint64_t str_key(const char *s) { return gr_hash_bytes(s, strlen(s)); }

bool gr_map_put(Map *m, const char *key, void *value) { return put(m, key, str_key(key), value); }
bool gr_map_put_u64(Map *m, uint64_t key, void *value) { return put(m, NULL, key, value); }

void *gr_map_get(const Map *m, const char *key) {
    MapEntry *e = find(m, key, str_key(key));
    return e ? e->value : NULL;
}

void *gr_map_get_u64(const Map *m, uint64_t key) {
    MapEntry *e = find(m, NULL, key);
    return e ? e->value : NULL;
}

void *gr_map_remove_u64(Map *m, uint64_t key) { return take(m, NULL, key); }
