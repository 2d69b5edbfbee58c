// SPDX-License-Identifier: Apache-2.0
#include "inject/memory.h"

#include "inject/recording.h"
#include "inject/session.h"

#include <stdlib.h>

static Map ranges; // by address -> GrRange

// Those ranges in the order of addresses, made when they are asked for: `stale` until then.
static VEC(const GrRange *) ordered;
static bool stale;

bool gr_ranges_are_told(void) {
    return gr_session.engine->allocated || gr_session.engine->freed || gr_recording_is_on();
}

static void tell_freed(GrRange *r) {
    const Session *s = &gr_session;
    stale = true;
    if (r && s->engine->freed)
        s->engine->freed(s->engine_self, r);
    free(r);
}

void gr_range_add(const GrRange *r) {
    const Session *s = &gr_session;
    if (!gr_ranges_are_told() || !r->at || !r->size)
        return;
    GrRange *kept = malloc(sizeof *kept);
    gr_range_remove(r->at); // a free that no interposed call showed
    if (!kept || !gr_map_put_u64(&ranges, r->at, kept)) {
        gr_session_notef("out of memory: an engine is not told of a range of memory");
        free(kept);
        return;
    }
    *kept = *r;
    stale = true;
    if (s->engine->allocated)
        s->engine->allocated(s->engine_self, kept);
}

void gr_range_remove(CUdeviceptr at) {
    if (gr_ranges_are_told())
        tell_freed(gr_map_remove_u64(&ranges, at));
}

// What is removed leaves a hole in the list of entries, so the list can be walked meanwhile.
#define REMOVE_IF(r, condition)                                                                              \
    for (size_t i = 0; gr_ranges_are_told() && i < ranges.len; i++) {                                        \
        const GrRange *r = ranges.entries[i].value;                                                          \
        if (ranges.entries[i].live && (condition))                                                           \
            gr_range_remove(r->at);                                                                          \
    }

// The lowest mapping that has a byte in [at, end), NULL: none has.
static const GrRange *mapping_in(CUdeviceptr at, CUdeviceptr end) {
    const GrRange *first = NULL;
    for (size_t i = 0; i < ranges.len; i++) {
        const GrRange *r = ranges.entries[i].value;
        if (ranges.entries[i].live && r->kind == GR_RANGE_MAPPING && r->at < end && at < r->at + r->size &&
            (!first || r->at < first->at))
            first = r;
    }
    return first;
}

static void add_mapping(CUdeviceptr at, CUdeviceptr end) {
    if (at < end)
        gr_range_add(&(GrRange){.at = at, .size = end - at, .kind = GR_RANGE_MAPPING});
}

void gr_range_add_mappings(CUdeviceptr at, size_t size) {
    CUdeviceptr end = at + size;
    for (const GrRange *r; (r = mapping_in(at, end)); at = r->at + r->size)
        add_mapping(at, r->at);
    add_mapping(at, end);
}

void gr_range_remove_mappings(CUdeviceptr at, size_t size) {
    for (const GrRange *r; (r = mapping_in(at, at + size));) {
        CUdeviceptr from = r->at, to = r->at + r->size;
        gr_range_remove(from);
        add_mapping(from, at);
        add_mapping(at + size, to);
    }
}

static int by_address(const void *a, const void *b) {
    CUdeviceptr x = (*(const GrRange *const *)a)->at, y = (*(const GrRange *const *)b)->at;
    return (x > y) - (x < y);
}

static void sort(void) {
    ordered.len = 0;
    stale = false;
    for (size_t i = 0; i < ranges.len && !stale; i++)
        if (ranges.entries[i].live)
            stale = !gr_vec_push(&ordered, (const GrRange *)ranges.entries[i].value);
    if (ordered.len)
        qsort(ordered.data, ordered.len, sizeof *ordered.data, by_address);
}

const GrRange *gr_range_at(CUdeviceptr address) {
    if (stale)
        sort();
    size_t low = 0, high = stale ? 0 : ordered.len; // stale: memory is out
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (ordered.data[middle]->at <= address)
            low = middle + 1;
        else
            high = middle;
    }
    const GrRange *r = low ? ordered.data[low - 1] : NULL;
    return r && address - r->at < r->size ? r : NULL;
}

void gr_ranges_remove_of_module(const void *owner) { REMOVE_IF(r, r->owner && r->owner == owner) }

void gr_ranges_remove_of_context(CUcontext ctx) { REMOVE_IF(r, r->context == ctx) }
