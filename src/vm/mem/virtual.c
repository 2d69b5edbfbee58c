// SPDX-License-Identifier: Apache-2.0
// virtual — reserved addresses, pages and mappings. See vm/virtual.h.
//
// The program's addresses lie in one region. The tool reads and writes at the same distance from each of them, so
// mappings side by side can be used as one range. Pages are pieces of pools of anonymous shared memory, and a mapping
// is a second view of its piece. (Files would take descriptors, which programs run out of and close.) A piece is not
// used again: the system gets its memory back, and its addresses when all of the pool is gone.
#include "vm/virtual.h"

#include "base/limits.h"
#include "base/vec.h"
#include "vm/mem/memory_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef __SANITIZE_THREAD__ // which keeps most of the address space to itself
#define REGION UINT64_C(0x1000000000)
#define EXTENT (UINT64_C(1) << 37)
#define DELTA  UINT64_C(0x2000000000)
#else
#define REGION UINT64_C(0x110000000000)
#define EXTENT (UINT64_C(1) << 43)
#define DELTA  UINT64_C(0x80000000000)
#endif

enum { POOL_SHIFT = 36 }; // bytes of a pool, of which none is taken before it is used

typedef struct VmPool {
    char *at;
    uint64_t size, used;
    size_t live; // pages
} Pool;

struct VmVirtual {
    Pool *pool;                    // the newest; NULL: there is none yet
    uint64_t next;                 // of the region: no reservation was here or after it
    VEC(VmReservation *) reserved; // by address, like the next
    VEC(VmMapping *) mappings;
};

static void *view_of(uint64_t addr) { return (void *)(uintptr_t)(addr + DELTA); }

static VmVirtual *virtual_of(VmMem *m, gr_error *err) {
    VmVirtual **at = gr_vm_mem_virtual(m);
    if (*at)
        return *at;
    VmVirtual *v = calloc(1, sizeof *v);
    if (!v) {
        gr_no_memory(err);
        return NULL;
    }
    v->next = REGION;
    return *at = v;
}

static void free_pool(Pool *p) {
    munmap(p->at, p->size);
    free(p);
}

// A pool with room for `size` bytes.
static Pool *new_pool(uint64_t size) {
    Pool *p = malloc(sizeof *p);
    uint64_t bytes = size > UINT64_C(1) << POOL_SHIFT ? size : UINT64_C(1) << POOL_SHIFT;
    void *at = MAP_FAILED;
    for (; p && at == MAP_FAILED && bytes >= size;
         bytes >>= 1) { // where address space is limited, a smaller one
        at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (at != MAP_FAILED) {
            (void)madvise(at, bytes, MADV_DONTDUMP);
            *p = (Pool){.at = at, .size = bytes};
            return p;
        }
    }
    free(p);
    return NULL;
}

static Pool *pool_for(VmVirtual *v, uint64_t size) {
    Pool *old = v->pool;
    if (old && size <= old->size - old->used)
        return old;
    Pool *p = new_pool(size);
    if (!p)
        return NULL;
    if (old && !old->live)
        free_pool(old);
    return v->pool = p;
}

static void free_pages(VmVirtual *v, VmPages *p) {
    (void)madvise(p->at, p->size, MADV_REMOVE);
    if (--p->pool->live == 0 && p->pool != v->pool)
        free_pool(p->pool);
    free(p);
}

void gr_vm_virtual_free(VmVirtual *v) {
    if (!v)
        return;
    for (size_t k = 0; k < v->mappings.len; k++) {
        VmPages *p = v->mappings.data[k]->pages;
        if (--p->mappings == 0 && p->released)
            free_pages(v, p);
        free(v->mappings.data[k]);
    }
    for (size_t k = 0; k < v->reserved.len; k++) {
        munmap((void *)(uintptr_t)v->reserved.data[k]->addr, v->reserved.data[k]->size);
        munmap(view_of(v->reserved.data[k]->addr), v->reserved.data[k]->size);
        free(v->reserved.data[k]);
    }
    gr_vec_free(&v->mappings);
    gr_vec_free(&v->reserved);
    if (v->pool)
        free_pool(v->pool);
    free(v);
}

bool gr_vm_virtual_owns(const VmVirtual *v, uint64_t addr) {
    return v && (addr - REGION < EXTENT || addr - REGION - DELTA < EXTENT);
}

// ---- Pages ---------------------------------------------------------------------------------------------------

gr_status gr_vm_pages_create(VmMem *m, int device, uint64_t size, VmPages **out, gr_error *err) {
    *out = NULL;
    if (!size || size % VM_GRANULARITY)
        return gr_fail(err, GR_ERR_ARGUMENT, "%llu bytes of pages", (unsigned long long)size);
    VmVirtual *v = virtual_of(m, err);
    VmPages *p = v ? malloc(sizeof *p) : NULL;
    GR_NEED(p, err);
    if (!gr_vm_mem_take(m, device, size)) {
        free(p);
        return gr_fail(err, GR_ERR_NOMEM, "device %d does not have %llu bytes left", device,
                       (unsigned long long)size);
    }
    Pool *pool = pool_for(v, size);
    if (!pool) {
        gr_vm_mem_put_back(m, device, size);
        free(p);
        return gr_fail(err, GR_ERR_NOMEM, "no room for %llu bytes: %s%s", (unsigned long long)size,
                       strerror(errno), gr_limit_advice(errno));
    }
    *p = (VmPages){.device = device, .size = size, .pool = pool, .at = pool->at + pool->used};
    pool->used += size;
    pool->live++;
    *out = p;
    return GR_OK;
}

static void drop_unused(VmMem *m, VmPages *p) {
    if (p->mappings || !p->released)
        return;
    gr_vm_mem_put_back(m, p->device, p->size);
    free_pages(*gr_vm_mem_virtual(m), p);
}

void gr_vm_pages_release(VmMem *m, VmPages *p) {
    p->released = true;
    drop_unused(m, p);
}

// ---- Reservations --------------------------------------------------------------------------------------------

// The number of those that start at or before addr. Both kinds begin with their address.
#define COUNT_TO(vec, address, n)                                                                            \
    do {                                                                                                     \
        size_t lo_ = 0, hi_ = (vec)->len;                                                                    \
        while (lo_ < hi_) {                                                                                  \
            size_t mid_ = (lo_ + hi_) / 2;                                                                   \
            if ((vec)->data[mid_]->addr <= (address))                                                        \
                lo_ = mid_ + 1;                                                                              \
            else                                                                                             \
                hi_ = mid_;                                                                                  \
        }                                                                                                    \
        (n) = lo_;                                                                                           \
    } while (0)

#define REMOVE(vec, at)                                                                                      \
    (free((vec)->data[at]),                                                                                  \
     memmove((vec)->data + (at), (vec)->data + (at) + 1, ((vec)->len - (at)-1) * sizeof *(vec)->data),       \
     (vec)->len--)

static size_t reservations_to(const VmVirtual *v, uint64_t addr) {
    size_t n;
    COUNT_TO(&v->reserved, addr, n);
    return n;
}

static size_t mappings_to(const VmVirtual *v, uint64_t addr) {
    size_t n;
    COUNT_TO(&v->mappings, addr, n);
    return n;
}

static bool take_addresses(uint64_t at, uint64_t size) {
    void *want = (void *)(uintptr_t)at;
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
    void *user = mmap(want, size, PROT_NONE, flags, -1, 0);
    void *view = user == want ? mmap(view_of(at), size, PROT_NONE, flags, -1, 0) : MAP_FAILED;
    if (view == view_of(at)) {
        (void)madvise(view, size, MADV_DONTDUMP);
        return true;
    }
    if (user != MAP_FAILED)
        munmap(user, size);
    if (view != MAP_FAILED)
        munmap(view, size);
    return false;
}

// The first place from `from` on that none of our reservations has; 0: there is none.
static uint64_t place_from(const VmVirtual *v, uint64_t from, uint64_t size, uint64_t align) {
    for (;;) {
        uint64_t at = (from + align - 1) & ~(align - 1);
        if (at < from || at < REGION || size > EXTENT || at - REGION > EXTENT - size)
            return 0;
        size_t n = reservations_to(v, at + size - 1);
        const VmReservation *r = n ? v->reserved.data[n - 1] : NULL;
        if (!r || r->addr + r->size <= at)
            return at;
        from = r->addr + r->size;
    }
}

// Something else of the process may lie in the region: the next try is further on.
static uint64_t take_from(const VmVirtual *v, uint64_t from, uint64_t size, uint64_t align) {
    enum { TRIES = 64 };
    uint64_t at = place_from(v, from, size, align);
    for (unsigned k = 0; at && k < TRIES; k++) {
        if (take_addresses(at, size))
            return at;
        at = place_from(v, at + (EXTENT >> 8), size, align);
    }
    return 0;
}

// Addresses that were reserved before come last.
static uint64_t find_addresses(const VmVirtual *v, uint64_t size, uint64_t align, uint64_t hint) {
    uint64_t at = 0;
    if (hint && !(hint & (align - 1)) && place_from(v, hint, size, align) == hint &&
        take_addresses(hint, size))
        return hint;
    at = take_from(v, v->next, size, align);
    return at ? at : take_from(v, REGION, size, align);
}

gr_status gr_vm_reserve(VmMem *m, uint64_t size, uint64_t align, uint64_t hint, uint64_t *out,
                        gr_error *err) {
    if (!size || size % VM_GRANULARITY || (align & (align - 1)) || hint % VM_GRANULARITY)
        return gr_fail(err, GR_ERR_ARGUMENT, "a reservation of %llu bytes aligned to %llu",
                       (unsigned long long)size, (unsigned long long)align);
    align = align < VM_GRANULARITY ? VM_GRANULARITY : align;
    VmVirtual *v = virtual_of(m, err);
    VmReservation *r = v ? malloc(sizeof *r) : NULL;
    if (!r || !gr_vec_reserve(&v->reserved, v->reserved.len + 1)) {
        free(r);
        return gr_no_memory(err);
    }
    uint64_t at = find_addresses(v, size, align, hint);
    if (!at) {
        free(r);
        return gr_fail(err, GR_ERR_NOMEM, "no addresses for %llu bytes", (unsigned long long)size);
    }
    *r = (VmReservation){at, size};
    size_t n = reservations_to(v, at);
    memmove(v->reserved.data + n + 1, v->reserved.data + n, (v->reserved.len - n) * sizeof *v->reserved.data);
    v->reserved.data[n] = r;
    v->reserved.len++;
    // A gap, so that running over the end finds nothing there.
    v->next = at + size >= v->next ? at + size + VM_GRANULARITY : v->next;
    *out = at;
    return GR_OK;
}

const VmReservation *gr_vm_reservation(const VmMem *m, uint64_t addr) {
    const VmVirtual *v = gr_vm_mem_virtual_of(m);
    size_t n = v ? reservations_to(v, addr) : 0;
    const VmReservation *r = n ? v->reserved.data[n - 1] : NULL;
    return r && addr - r->addr < r->size ? r : NULL;
}

gr_status gr_vm_unreserve(VmMem *m, uint64_t addr, uint64_t size, gr_error *err) {
    VmVirtual *v = *gr_vm_mem_virtual(m);
    const VmReservation *r = gr_vm_reservation(m, addr);
    const VmMapping *x = gr_vm_mapping_from(m, addr);
    if (!r || r->addr != addr || r->size != size || (x && x->addr < addr + size))
        return gr_fail(err, GR_ERR_ARGUMENT, "0x%llx is not the start of %llu reserved bytes without memory",
                       (unsigned long long)addr, (unsigned long long)size);
    munmap((void *)(uintptr_t)addr, size);
    munmap(view_of(addr), size);
    size_t at = reservations_to(v, addr) - 1;
    REMOVE(&v->reserved, at);
    return GR_OK;
}

bool gr_vm_mem_is_reserved(const VmMem *m, uint64_t addr, uint64_t *size, bool *mapped) {
    const VmReservation *r = gr_vm_reservation(m, addr);
    *size = r ? r->size : 0;
    *mapped = r && gr_vm_mapping(m, addr);
    return r;
}

// ---- Mappings ------------------------------------------------------------------------------------------------

VmMapping *gr_vm_mapping_from(const VmMem *m, uint64_t addr) {
    const VmVirtual *v = gr_vm_mem_virtual_of(m);
    size_t n = v ? mappings_to(v, addr) : 0;
    VmMapping *x = n ? v->mappings.data[n - 1] : NULL;
    if (x && addr - x->addr < x->size)
        return x;
    return v && n < v->mappings.len ? v->mappings.data[n] : NULL;
}

VmMapping *gr_vm_mapping(const VmMem *m, uint64_t addr) {
    VmMapping *x = gr_vm_mapping_from(m, addr);
    return x && x->addr <= addr ? x : NULL;
}

gr_status gr_vm_map(VmMem *m, uint64_t addr, VmPages *p, gr_error *err) {
    VmVirtual *v = *gr_vm_mem_virtual(m);
    const VmReservation *r = gr_vm_reservation(m, addr);
    const VmMapping *there = gr_vm_mapping_from(m, addr);
    if (addr % VM_GRANULARITY || !r || p->size > r->size - (addr - r->addr) ||
        (there && there->addr < addr + p->size))
        return gr_fail(err, GR_ERR_ARGUMENT,
                       "%llu bytes at 0x%llx are not reserved, or something is mapped there",
                       (unsigned long long)p->size, (unsigned long long)addr);
    VmMapping *x = malloc(sizeof *x);
    if (!x || !gr_vec_reserve(&v->mappings, v->mappings.len + 1)) {
        free(x);
        return gr_no_memory(err);
    }
    // From size 0, mremap maps the shared memory once more.
    if (mremap(p->at, 0, p->size, MREMAP_MAYMOVE | MREMAP_FIXED, view_of(addr)) == MAP_FAILED) {
        free(x);
        return gr_fail(err, GR_ERR_NOMEM, "cannot map %llu bytes: %s", (unsigned long long)p->size,
                       strerror(errno));
    }
    *x = (VmMapping){.addr = addr, .size = p->size, .pages = p, .serial = gr_vm_mem_next_serial(m)};
    size_t n = mappings_to(v, addr);
    memmove(v->mappings.data + n + 1, v->mappings.data + n, (v->mappings.len - n) * sizeof *v->mappings.data);
    v->mappings.data[n] = x;
    v->mappings.len++;
    p->mappings++;
    return GR_OK;
}

static bool is_mapped(const VmRange *r) { return r && r->kind == VM_MEM_MAPPED; }

static bool go_together(const VmMapping *a, const VmMapping *b) {
    return a->addr + a->size == b->addr && a->pages->device == b->pages->device && a->readers == b->readers &&
           a->writers == b->writers;
}

// Makes the ranges anew of all mappings that touch [from, to).
static bool make_ranges(VmMem *m, uint64_t from, uint64_t to) {
    const VmRange *r = gr_vm_mem_find(m, from - 1);
    from = is_mapped(r) ? r->addr : from;
    r = gr_vm_mem_find(m, to);
    to = is_mapped(r) ? r->addr + r->size : to;
    while (is_mapped(r = gr_vm_mem_after(m, from - 1)) && r->addr < to)
        gr_vm_mem_drop_range(m, r->addr);
    const VmVirtual *v = gr_vm_mem_virtual_of(m);
    bool ok = true;
    for (size_t k = mappings_to(v, from - 1), last; k < v->mappings.len; k = last + 1) {
        const VmMapping *x = v->mappings.data[k];
        if (x->addr >= to)
            break;
        for (last = k; last + 1 < v->mappings.len; last++)
            if (!go_together(v->mappings.data[last], v->mappings.data[last + 1]))
                break;
        const VmMapping *y = v->mappings.data[last];
        if (x->readers)
            ok &= gr_vm_mem_add_range(m, &(VmRange){.addr = x->addr,
                                                    .size = y->addr + y->size - x->addr,
                                                    .delta = DELTA,
                                                    .kind = VM_MEM_MAPPED,
                                                    .device = x->pages->device,
                                                    .peers = x->readers,
                                                    .read_only = !x->writers}) != NULL;
    }
    return ok;
}

gr_status gr_vm_set_access(VmMem *m, VmMapping *x, uint32_t readers, uint32_t writers, gr_error *err) {
    if (writers && readers != writers)
        return gr_fail(err, GR_ERR_UNSUPPORTED, "memory that one device may write and another only read");
    if (x->readers == readers && x->writers == writers)
        return GR_OK;
    if (x->readers && !readers)
        gr_vm_mem_note_freed(m, x->addr, x->size);
    x->readers = readers;
    x->writers = writers;
    return make_ranges(m, x->addr, x->addr + x->size) ? GR_OK : gr_no_memory(err);
}

void gr_vm_unmap(VmMem *m, VmMapping *x) {
    VmVirtual *v = *gr_vm_mem_virtual(m);
    VmPages *p = x->pages;
    uint64_t addr = x->addr, size = x->size;
    (void)gr_vm_set_access(m, x, 0, 0, NULL);
    // A copy that a graph has kept may still write there: to nowhere.
    (void)mmap(view_of(addr), size, PROT_READ | PROT_WRITE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
    size_t at = mappings_to(v, addr) - 1;
    REMOVE(&v->mappings, at);
    p->mappings--;
    drop_unused(m, p);
}
