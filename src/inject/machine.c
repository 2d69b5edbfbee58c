// SPDX-License-Identifier: Apache-2.0
#include "inject/machine.h"

#include "base/map.h"
#include "base/str.h"
#include "fatbin/cubin.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef struct Machine {
    FatbinWrapper wrapper; // of version 2: `extra` has the units; `data` is a container with nothing in it
    struct LoadedModule *list; // or what it was linked from
    size_t len;                // of the code
} Machine;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Map made; // hash of the code -> Machine
static Map
    sizes; // of the codes -> themselves: what has another size need not be hashed, and libraries have a lot of it

// ---- Units -------------------------------------------------------------------------------------------------

static bool add(MachineUnits *units, void *container) {
    if (container && gr_vec_push(units, container))
        return true;
    free(container);
    return false;
}

bool gr_machine_unit(MachineUnits *units, const char *text, size_t len, const char *name) {
    FatbinPtx ptx;
    void *container = NULL;
    size_t size;
    len = strnlen(text, len);
    if (!gr_fatbin_describe(text, len, &ptx))
        return false;
    ptx.source = name && *name ? name : NULL;
    return gr_fatbin_build(&ptx, 1, &container, &size, NULL) == GR_OK && add(units, container);
}

static void *copy_of(const void *data, size_t size) {
    void *copy = malloc(size);
    return copy ? memcpy(copy, data, size) : NULL;
}

// Containers one after another. False: memory is out, or they end in something else.
static bool add_all(MachineUnits *units, const void *at, size_t len) {
    Arena arena;
    bool ok = true;
    gr_arena_init(&arena);
    for (Fatbin *fb; ok && (fb = gr_cubin_next_kept(&at, &len, &arena));) {
        bool has_ptx = false;
        for (size_t k = 0; k < fb->count; k++)
            has_ptx |= fb->entries[k].kind == FATBIN_PTX;
        ok = !has_ptx || add(units, copy_of(fb->data, fb->size));
    }
    gr_arena_free(&arena);
    return ok && !len;
}

void gr_machine_units_free(MachineUnits *units) {
    for (size_t k = 0; k < units->len; k++)
        free(units->data[k]);
    gr_vec_free(units);
}

// ---- The table ---------------------------------------------------------------------------------------------

// How many bytes count; 0: the image tells nothing.
static size_t size_of(const void *image, size_t len) {
    Arena arena;
    Fatbin *fb;
    size_t size = 0;
    switch (gr_image_kind(image, len)) {
    case IMAGE_CUBIN: return gr_cubin_size(image, len);
    case IMAGE_FATBIN:
        gr_arena_init(&arena);
        if (gr_fatbin_parse(image, len, &arena, &fb, NULL) == GR_OK)
            size = fb->size;
        gr_arena_free(&arena);
        return size;
    default: return 0;
    }
}

static Machine *find(const void *image, size_t size) {
    if (!size)
        return NULL;
    pthread_mutex_lock(&lock);
    bool may_be = gr_map_get_u64(&sizes, size) != NULL;
    Machine *m = may_be ? gr_map_get_u64(&made, gr_hash_bytes(image, size)) : NULL;
    pthread_mutex_unlock(&lock);
    return m && m->len == size ? m : NULL;
}

// The first entry stays, as the driver may know its units by their addresses.
static void put(const void *code, size_t size, Machine m) {
    uint64_t key = gr_hash_bytes(code, size);
    Machine *new = malloc(sizeof *new);
    if (!new)
        return;
    m.len = size;
    *new = m;
    pthread_mutex_lock(&lock);
    if (gr_map_get_u64(&made, key) || !gr_map_put_u64(&sizes, size, (void *)(uintptr_t)size) ||
        !gr_map_put_u64(&made, key, new))
        free(new);
    pthread_mutex_unlock(&lock);
}

void gr_machine_made(const void *code, size_t len, MachineUnits *units) {
    void *nothing = NULL;
    size_t size = size_of(code, len), ignored;
    if (!size || !units->len || find(code, size) ||
        gr_fatbin_build(NULL, 0, &nothing, &ignored, NULL) != GR_OK || !gr_vec_push(units, NULL)) {
        free(nothing);
        gr_machine_units_free(units);
        return;
    }
    put(code, size, (Machine){.wrapper = {GR_FATBIN_WRAPPER_MAGIC, 2, nothing, units->data}});
}

void gr_machine_linked(const void *code, size_t len, struct LoadedModule *list) {
    size_t size = size_of(code, len);
    if (size && !find(code, size))
        put(code, size, (Machine){.list = list});
}

// What the code is made of. PTX that it keeps itself is noted when first met, as the program's memory may go.
static Machine *known(const void *image, size_t len) {
    size_t size = size_of(image, len), kept;
    Machine *m = find(image, size);
    const void *at = m || !size ? NULL : gr_cubin_kept(image, size, &kept);
    MachineUnits units = {0};
    if (!at)
        return m;
    if (add_all(&units, at, kept))
        gr_machine_made(image, size, &units);
    else
        gr_machine_units_free(&units);
    return find(image, size);
}

const FatbinWrapper *gr_machine_wrapper(const void *image, size_t len) {
    const Machine *m = known(image, len);
    return m && m->wrapper.extra ? &m->wrapper : NULL;
}

struct LoadedModule *gr_machine_modules(const void *image, size_t len) {
    const Machine *m = known(image, len);
    return m ? m->list : NULL;
}

// ---- In fatbinaries ----------------------------------------------------------------------------------------

// A library may hold hundreds of megabytes of packed machine code. Ours is packed where nvcc packs it (-rdc=true, -G,
// -compress-mode=size), and then it is small. All unpacking together must not take longer than a blink.
static bool worth_unpacking(const FatbinEntry *e) {
    enum { LARGEST = 8 << 20, MOST = 128 << 20 };
    static size_t unpacked; // atomic
    return e->size <= LARGEST && __atomic_add_fetch(&unpacked, e->size, __ATOMIC_RELAXED) <= MOST;
}

static const FatbinWrapper *wrapper_of_entry(const FatbinEntry *e) {
    char *code;
    size_t len;
    if (e->packing == FATBIN_STORED)
        return gr_machine_wrapper(e->payload, e->packed_size);
    if (!worth_unpacking(e) || gr_fatbin_unpack(e, &code, &len, NULL) != GR_OK)
        return NULL;
    const FatbinWrapper *w = gr_machine_wrapper(code, len);
    free(code);
    return w;
}

const FatbinEntry *gr_machine_ptx(const Fatbin *fb, uint32_t cc, Arena *arena) {
    for (size_t i = 0; i < fb->count; i++) {
        const FatbinEntry *e = &fb->entries[i];
        const FatbinWrapper *w = NULL;
        Fatbin *unit;
        if (e->kind == FATBIN_CUBIN && e->sm / 10 == cc / 10 && e->sm <= cc)
            w = wrapper_of_entry(e);
        if (w && gr_fatbin_parse(*(void **)w->extra, GR_FATBIN_UNBOUNDED, arena, &unit, NULL) == GR_OK)
            return gr_fatbin_best_ptx(unit, cc, FATBIN_PREFER_SPECIFIC);
    }
    return NULL;
}

bool gr_machine_units_of(MachineUnits *units, const void *image, size_t len) {
    const FatbinWrapper *w = gr_machine_wrapper(image, len);
    if (!w)
        return gr_image_kind(image, len) == IMAGE_FATBIN && add_all(units, image, size_of(image, len));
    for (void *const *unit = w->extra; *unit; unit++) {
        size_t size = size_of(*unit, GR_FATBIN_UNBOUNDED);
        if (!size || !add(units, copy_of(*unit, size)))
            return false;
    }
    return true;
}
