// SPDX-License-Identifier: Apache-2.0
// map — a hash map from string or 64-bit keys to pointers, open addressing, insertion order kept.
//
// Entries sit in one array in the order they were first put, so that iterating is deterministic; a removed
// entry leaves a hole whose `live` is false.
#ifndef GR_BASE_MAP_H
#define GR_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct MapEntry {
    const char *str; // string key (not copied: it must outlive the map), or NULL
    uint64_t key;    // integer key, or the string's hash
    void *value;
    bool live;
} MapEntry;

typedef struct Map {
    MapEntry *entries;
    size_t len, cap; // len counts holes too
    uint32_t *index; // entry number + 1, 0 empty
    size_t index_cap, live;
} Map;

void gr_map_free(Map *m);

// Put replaces. False when memory is out.
bool gr_map_put(Map *m, const char *key, void *value);
bool gr_map_put_u64(Map *m, uint64_t key, void *value);

// NULL when absent.
void *gr_map_get(const Map *m, const char *key);
void *gr_map_get_u64(const Map *m, uint64_t key);

// The removed value, NULL when absent.
void *gr_map_remove_u64(Map *m, uint64_t key);

#endif
