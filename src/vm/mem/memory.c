// SPDX-License-Identifier: Apache-2.0
// memory — the unified address space: one piece of shared memory, mapped twice. See memory.h.
//
// The piece is anonymous, and mremap makes its second view. A file would take a descriptor, which programs run out of
// and close, and would fall under the limit on the size of files.
//
// The region is cut into zones, one for each way of being mapped for the host. Plain device memory must fault there,
// managed and pinned memory must not, and protection has the grain of a page. Within a zone addresses only grow until
// the zone is used up. A gap stands behind each allocation, so that running over its end finds nothing.
//
// What the host reaches is mapped allocation by allocation, with a page that it does not reach in between. Linux lets a
// process have some 65 000 mappings (vm.max_map_count). So from the DENSE_FROM-th such allocation on they lie side by
// side, each with its gap in its own last page: they are one mapping.
#include "vm/mem/memory_parts.h"

#include "base/limits.h"
#include "base/vec.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ZONES = 4, DEVICES = 32, GAP = 256, REMEMBERED = 256, DENSE_FROM = 4096 };
enum { LARGE = 1 << 16, SWEPT = 1 << 20 }; // bytes: what is given back at once; what is let gather

#define DEVICE_BYTES (UINT64_C(16) << 30) // that each device has

typedef struct Freed {
    uint64_t addr, size;
} Freed;

typedef struct Zone {
    uint64_t start, end, next;
} Zone;

struct VmMem {
    uint64_t base, size; // user view
    char *view;          // device view
    Zone zone[ZONES];
    VEC(VmRange *) ranges;   // by address
    VEC(VmRange *) pageable; // of host memory, in no order; only what was looked for since it was forgotten
    bool allow_pageable, used_pageable;
    bool moved; // its region is not the usual one
    uint64_t used[DEVICES];
    uint64_t generation, serial;
    uint64_t n_host; // ranges that the host may touch, of this region
    Freed freed[REMEMBERED];
    size_t n_freed;
    uint64_t dead;                 // bytes of small ranges that were freed since the last sweep
    bool threads;                  // several look for ranges
    bool concurrent;               // and change them
    pthread_mutex_t pageable_lock; // taken while there are several threads
    pthread_rwlock_t lock;         // taken while concurrent
    VEC(VmRange *) graveyard;      // freed while concurrent
    VmVirtual *virtual;            // virtual.c
};

// The lock is no part of the contents.
static bool read_lock(const VmMem *m) {
    return m->concurrent && pthread_rwlock_rdlock((pthread_rwlock_t *)&m->lock) == 0;
}
static bool write_lock(VmMem *m) { return m->concurrent && pthread_rwlock_wrlock(&m->lock) == 0; }
static void unlock(const VmMem *m, bool locked) {
    if (locked)
        pthread_rwlock_unlock((pthread_rwlock_t *)&m->lock);
}

static unsigned zone_of(VmMemKind kind) {
    switch (kind) {
    case VM_MEM_MANAGED: return 1;
    case VM_MEM_PINNED: return 2;
    case VM_MEM_HEAP:
    case VM_MEM_INTERNAL: return 3;
    default: return 0;
    }
}

static bool host_may_touch(VmMemKind kind) { return kind == VM_MEM_MANAGED || kind == VM_MEM_PINNED; }

bool gr_vm_mem_host_reaches(const VmRange *r) {
    return host_may_touch(r->kind) || r->kind == VM_MEM_HOST || r->kind == VM_MEM_PAGEABLE;
}

static uint64_t page_size(void) {
    long n = sysconf(_SC_PAGESIZE);
    return n > 0 ? (uint64_t)n : 4096;
}

// Every run tries these places in this order. Linux never maps anything by itself at the first three, whatever it draws
// (base/address.c): they are above the reserved addresses of virtual.c and below a third of the address space.
// AddressSanitizer takes nothing there. The others are for processes in which something else has the first three.
static bool reserve(VmMem *m) {
#ifdef __SANITIZE_THREAD__ // which keeps most of the address space to itself
    static const uint64_t bases[] = {0x6000000000}, most = UINT64_C(1) << 36;
#else
    static const uint64_t bases[] = {0x220000000000, 0x240000000000, 0x260000000000, 0x7e0000000000,
                                     0x700000000000, 0x600000000000, 0x7000000000};
    static const uint64_t most = UINT64_C(1) << 40;
#endif
    for (uint64_t size = most; size >= UINT64_C(1) << 30; size >>= 2)
        for (size_t k = 0; k < sizeof bases / sizeof *bases; k++) {
            void *want = (void *)(uintptr_t)bases[k];
            void *p = mmap(want, size, PROT_NONE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
            if (p == MAP_FAILED)
                continue;
            if (p != want) { // a kernel that does not know MAP_FIXED_NOREPLACE
                munmap(p, size);
                continue;
            }
            void *v =
                mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
            if (v != MAP_FAILED) {
                (void)madvise(v, size, MADV_DONTDUMP);
                m->base = bases[k];
                m->moved = m->base != bases[0];
                m->size = size;
                m->view = v;
                return true;
            }
            munmap(p, size);
        }
    return false;
}

gr_status gr_vm_mem_create(VmMem **out, gr_error *err) {
    *out = NULL;
    VmMem *m = calloc(1, sizeof *m);
    GR_NEED(m, err);
    if (!reserve(m)) {
        gr_status st = gr_fail(err, GR_ERR_NOMEM, "cannot reserve address space for device memory: %s%s",
                               strerror(errno), gr_limit_advice(errno));
        free(m);
        return st;
    }
    for (unsigned z = 0; z < ZONES; z++) {
        m->zone[z].start = m->zone[z].next = m->base + m->size / ZONES * z;
        m->zone[z].end = m->zone[z].start + m->size / ZONES;
    }
    pthread_rwlock_init(&m->lock, NULL);
    pthread_mutex_init(&m->pageable_lock, NULL);
    *out = m;
    return GR_OK;
}

void gr_vm_mem_destroy(VmMem *m) {
    if (!m)
        return;
    for (size_t k = 0; k < m->ranges.len; k++)
        free(m->ranges.data[k]);
    gr_vec_free(&m->ranges);
    gr_vm_mem_forget_pageable(m);
    gr_vec_free(&m->pageable);
    gr_vec_free(&m->graveyard);
    gr_vm_virtual_free(m->virtual);
    pthread_rwlock_destroy(&m->lock);
    pthread_mutex_destroy(&m->pageable_lock);
    munmap((void *)(uintptr_t)m->base, m->size);
    munmap(m->view, m->size);
    free(m);
}

bool gr_vm_mem_moved(const VmMem *m) { return m->moved; }

// Number of ranges that start at or before addr.
static size_t upper_bound(const VmMem *m, uint64_t addr) {
    size_t lo = 0, hi = m->ranges.len;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (m->ranges.data[mid]->addr <= addr)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static void new_generation(VmMem *m) {
    __atomic_store_n(&m->generation, m->generation + 1, __ATOMIC_RELAXED);
}

static bool insert_range(VmMem *m, VmRange *r) {
    size_t at = upper_bound(m, r->addr);
    if (!gr_vec_push(&m->ranges, r))
        return false;
    memmove(m->ranges.data + at + 1, m->ranges.data + at, (m->ranges.len - 1 - at) * sizeof *m->ranges.data);
    m->ranges.data[at] = r;
    new_generation(m);
    r->serial = ++m->serial;
    return true;
}

// First address in the zone with room for `size` bytes and a gap: after everything, else between ranges.
static uint64_t find_room(VmMem *m, Zone *z, uint64_t size, uint64_t gap, uint64_t align) {
    uint64_t at = (z->next + align - 1) & ~(align - 1);
    if (at < z->end && size <= z->end - at && z->end - at - size >= GAP) {
        z->next = at + size + gap;
        return at;
    }
    uint64_t from = z->start;
    for (size_t k = upper_bound(m, z->start ? z->start - 1 : 0);; k++) {
        const VmRange *r = k < m->ranges.len ? m->ranges.data[k] : NULL;
        uint64_t limit = r && r->addr < z->end ? r->addr : z->end;
        at = (from + align - 1) & ~(align - 1);
        if (at < limit && size <= limit - at && limit - at - size >= GAP)
            return at;
        if (!r || r->addr >= z->end)
            return 0;
        from = r->addr + r->size + GAP;
    }
}

static void *user_map(VmMem *m, uint64_t addr, uint64_t size, bool open) {
    if (open)
        return mremap(m->view + (addr - m->base), 0, size, MREMAP_MAYMOVE | MREMAP_FIXED,
                      (void *)(uintptr_t)addr); // of shared memory, from size 0: the same once more
    return mmap((void *)(uintptr_t)addr, size, PROT_NONE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

static uint64_t page_round(uint64_t n) {
    uint64_t p = page_size();
    return (n + p - 1) / p * p;
}

static gr_status allocate(VmMem *m, VmMemKind kind, int device, uint64_t size, uint64_t align, VmRange **out,
                          gr_error *err) {
    *out = NULL;
    if (size == 0 || (align & (align - 1)) || kind == VM_MEM_HOST)
        return gr_fail(err, GR_ERR_ARGUMENT, "a device allocation of %llu bytes aligned to %llu",
                       (unsigned long long)size, (unsigned long long)align);
    bool counted = kind != VM_MEM_PINNED && kind != VM_MEM_INTERNAL && device >= 0 && device < DEVICES;
    if (size > m->size || (counted && size > DEVICE_BYTES - m->used[device]))
        return gr_fail(err, GR_ERR_NOMEM, "device %d does not have %llu bytes left", device,
                       (unsigned long long)size);
    uint64_t min_align = kind == VM_MEM_HEAP || kind == VM_MEM_INTERNAL ? 16 : 256;
    if (host_may_touch(kind))
        min_align = page_size();
    if (align < min_align)
        align = min_align;
    Zone *z = &m->zone[zone_of(kind)];
    bool dense = host_may_touch(kind) && m->n_host >= DENSE_FROM;
    uint64_t room = host_may_touch(kind) ? page_round(dense ? size + GAP : size) : size;
    bool fresh = true;
    uint64_t before = z->next;
    uint64_t at = find_room(m, z, room, dense ? 0 : GAP, align);
    if (!at)
        return gr_fail(err, GR_ERR_NOMEM, "no address space for %llu bytes", (unsigned long long)size);
    fresh = at >= before;
    VmRange *r = calloc(1, sizeof *r);
    GR_NEED(r, err);
    *r = (VmRange){.addr = at,
                   .size = size,
                   .room = room,
                   .delta = m->view - (char *)(uintptr_t)m->base,
                   .kind = kind,
                   .device = device};
    if (!fresh)
        memset((char *)(uintptr_t)at + r->delta, 0, size);
    if (host_may_touch(kind) && user_map(m, at, room, true) == MAP_FAILED) {
        free(r);
        return gr_fail(err, GR_ERR_NOMEM, "cannot map %llu bytes for the host: %s", (unsigned long long)size,
                       strerror(errno));
    }
    if (!insert_range(m, r)) {
        free(r);
        return gr_no_memory(err);
    }
    if (counted)
        m->used[device] += size;
    m->n_host += host_may_touch(kind);
    *out = r;
    return GR_OK;
}

gr_status gr_vm_mem_alloc(VmMem *m, VmMemKind kind, int device, uint64_t size, uint64_t align, VmRange **out,
                          gr_error *err) {
    bool locked = write_lock(m);
    gr_status st = allocate(m, kind, device, size, align, out, err);
    unlock(m, locked);
    return st;
}

static void remove_at(VmMem *m, size_t at) {
    if (!m->concurrent)
        free(m->ranges.data[at]);
    else
        (void)!gr_vec_push(&m->graveyard, m->ranges.data[at]); // out of memory: it leaks
    gr_vec_remove(&m->ranges, at);
    new_generation(m);
}

// Gives whole pages of [from, to) back to the system; they read as zero if they are ever used again.
static void give_back(VmMem *m, uint64_t from, uint64_t to) {
    uint64_t p = page_size(), lo = page_round(from - m->base), hi = (to - m->base) / p * p;
    if (hi > lo)
        (void)madvise(m->view + lo, hi - lo, MADV_REMOVE);
}

// Gives back what lies between the ranges of a zone.
static void sweep(VmMem *m, const Zone *z) {
    uint64_t from = z->start;
    for (size_t k = upper_bound(m, z->start - 1); from < z->next; k++) {
        const VmRange *r = k < m->ranges.len && m->ranges.data[k]->addr < z->next ? m->ranges.data[k] : NULL;
        give_back(m, from, r ? r->addr : z->next);
        from = r ? r->addr + r->size : z->next;
    }
}

// Small ranges share pages and never reuse addresses: looks for dead pages once there are many.
static void note_dead(VmMem *m, uint64_t bytes) {
    m->dead += bytes + GAP;
    if (m->dead < SWEPT + m->ranges.len * GAP)
        return;
    m->dead = 0;
    for (unsigned z = 0; z < ZONES; z++)
        sweep(m, &m->zone[z]);
}

static gr_status free_range(VmMem *m, uint64_t addr, gr_error *err) {
    size_t n = upper_bound(m, addr);
    VmRange *r = n ? m->ranges.data[n - 1] : NULL;
    if (!r || r->addr != addr || r->kind == VM_MEM_HOST)
        return gr_fail(err, GR_ERR_ARGUMENT, "0x%llx is not the start of an allocation",
                       (unsigned long long)addr);
    if (r->kind != VM_MEM_PINNED && r->kind != VM_MEM_INTERNAL && r->device >= 0 && r->device < DEVICES)
        m->used[r->device] -= r->size;
    if (!r->retired)
        gr_vm_mem_note_freed(m, r->addr, r->size);
    if (host_may_touch(r->kind)) {
        user_map(m, r->addr, r->room, false);
        m->n_host--;
    }
    uint64_t size = r->size;
    remove_at(m, n - 1);
    if (size >= LARGE)
        give_back(m, addr, addr + size);
    else
        note_dead(m, size);
    return GR_OK;
}

gr_status gr_vm_mem_free(VmMem *m, uint64_t addr, gr_error *err) {
    bool locked = write_lock(m);
    gr_status st = free_range(m, addr, err);
    unlock(m, locked);
    return st;
}

gr_status gr_vm_mem_retire(VmMem *m, uint64_t addr, uint64_t last_launch) {
    bool locked = write_lock(m);
    size_t n = upper_bound(m, addr);
    VmRange *r = n ? m->ranges.data[n - 1] : NULL;
    bool there = r && r->addr == addr && !r->retired;
    if (there) {
        r->retired = true;
        r->last_launch = last_launch;
        gr_vm_mem_note_freed(m, r->addr, r->size);
        new_generation(m);
    }
    unlock(m, locked);
    return there ? GR_OK : GR_ERR_ARGUMENT;
}

void gr_vm_mem_set_absent(VmMem *m, VmRange *r, bool yes) {
    bool locked = write_lock(m);
    r->absent = yes;
    new_generation(m);
    unlock(m, locked);
}

gr_status gr_vm_mem_register(VmMem *m, void *host, uint64_t size, unsigned flags, VmRange **out,
                             gr_error *err) {
    *out = NULL;
    uint64_t addr = (uint64_t)(uintptr_t)host;
    if (!host || !size || addr + size < addr)
        return gr_fail(err, GR_ERR_ARGUMENT, "cannot register %llu bytes of host memory",
                       (unsigned long long)size);
    size_t n = upper_bound(m, addr + size - 1);
    if (n && m->ranges.data[n - 1]->addr + m->ranges.data[n - 1]->size > addr)
        return gr_fail(err, GR_ERR_ARGUMENT, "host memory at %p is registered already", host);
    VmRange *r = calloc(1, sizeof *r);
    GR_NEED(r, err);
    *r = (VmRange){.addr = addr, .size = size, .kind = VM_MEM_HOST, .device = -1, .flags = flags};
    if (!insert_range(m, r)) {
        free(r);
        return gr_no_memory(err);
    }
    *out = r;
    return GR_OK;
}

gr_status gr_vm_mem_unregister(VmMem *m, void *host, gr_error *err) {
    uint64_t addr = (uint64_t)(uintptr_t)host;
    size_t n = upper_bound(m, addr);
    VmRange *r = n ? m->ranges.data[n - 1] : NULL;
    if (!r || r->addr != addr || r->kind != VM_MEM_HOST)
        return gr_fail(err, GR_ERR_ARGUMENT, "host memory at %p is not registered", host);
    remove_at(m, n - 1);
    return GR_OK;
}

// The last range that starts at or before addr.
static VmRange *range_below(const VmMem *m, uint64_t addr) {
    bool locked = read_lock(m);
    size_t n = upper_bound(m, addr);
    VmRange *r = n ? m->ranges.data[n - 1] : NULL;
    unlock(m, locked);
    return r;
}

VmRange *gr_vm_mem_find(const VmMem *m, uint64_t addr) {
    VmRange *r = range_below(m, addr);
    return r && addr - r->addr < r->size && !r->retired ? r : NULL;
}

VmRange *gr_vm_mem_find_for(const VmMem *m, uint64_t addr, uint64_t launch) {
    VmRange *r = range_below(m, addr);
    return r && addr - r->addr < r->size && !(r->retired && launch > r->last_launch) ? r : NULL;
}

// ---- For virtual.c -------------------------------------------------------------------------------------------

VmVirtual **gr_vm_mem_virtual(VmMem *m) { return &m->virtual; }
const VmVirtual *gr_vm_mem_virtual_of(const VmMem *m) { return m->virtual; }

bool gr_vm_mem_take(VmMem *m, int device, uint64_t size) {
    if (device < 0 || device >= DEVICES || size > DEVICE_BYTES - m->used[device])
        return false;
    m->used[device] += size;
    return true;
}

void gr_vm_mem_put_back(VmMem *m, int device, uint64_t size) { m->used[device] -= size; }

uint64_t gr_vm_mem_next_serial(VmMem *m) { return ++m->serial; }

VmRange *gr_vm_mem_add_range(VmMem *m, const VmRange *range) {
    VmRange *r = malloc(sizeof *r);
    if (!r)
        return NULL;
    *r = *range;
    if (insert_range(m, r))
        return r;
    free(r);
    return NULL;
}

void gr_vm_mem_drop_range(VmMem *m, uint64_t addr) {
    size_t n = upper_bound(m, addr);
    if (n && m->ranges.data[n - 1]->addr == addr)
        remove_at(m, n - 1);
}

void gr_vm_mem_note_freed(VmMem *m, uint64_t addr, uint64_t size) {
    m->freed[m->n_freed++ % REMEMBERED] = (Freed){addr, size};
}

// ---- Host memory that was not announced ----------------------------------------------------------------------

void gr_vm_mem_allow_pageable(VmMem *m, bool yes) { m->allow_pageable = yes; }

bool gr_vm_mem_used_pageable(const VmMem *m) { return m->used_pageable; }

void gr_vm_mem_forget_pageable(VmMem *m) {
    if (m->pageable.len == 0)
        return;
    for (size_t k = 0; k < m->pageable.len; k++)
        free(m->pageable.data[k]);
    m->pageable.len = 0;
    new_generation(m);
}

// The mapping around `addr`, from the system's list. False where there is none, or none that may be read as memory.
static bool look_up_mapping(uint64_t addr, VmRange *out) {
    FILE *f = fopen("/proc/self/maps", "re");
    bool found = false;
    char line[512];
    bool at_start = true;
    while (f && !found && fgets(line, sizeof line, f)) {
        unsigned long long lo, hi;
        char mode[5], name[8] = "";
        if (at_start && sscanf(line, "%llx-%llx %4s %*s %*s %*s %7s", &lo, &hi, mode, name) >= 3 &&
            addr >= lo && addr < hi) {
            // The kernel's own pages ([vvar], [vdso]) are not the program's.
            found = mode[0] == 'r' && strncmp(name, "[v", 2) != 0;
            *out = (VmRange){.addr = lo,
                             .size = hi - lo,
                             .kind = VM_MEM_PAGEABLE,
                             .device = -1,
                             .read_only = mode[1] != 'w'};
            break;
        }
        at_start = strchr(line, '\n') != NULL; // a long path takes several reads
    }
    if (f)
        fclose(f);
    return found;
}

static VmRange *reach_pageable(VmMem *m, uint64_t addr) {
    for (size_t k = 0; k < m->pageable.len; k++)
        if (addr - m->pageable.data[k]->addr < m->pageable.data[k]->size)
            return m->pageable.data[k];
    VmRange found, *r;
    if (!look_up_mapping(addr, &found) || !(r = malloc(sizeof *r)))
        return NULL;
    *r = found;
    if (!gr_vec_push(&m->pageable, r)) {
        free(r);
        return NULL;
    }
    m->used_pageable = true;
    return r;
}

bool gr_vm_mem_owns(const VmMem *m, uint64_t addr) {
    return addr - m->base < m->size || addr - (uint64_t)(uintptr_t)m->view < m->size ||
           gr_vm_virtual_owns(m->virtual, addr);
}

VmRange *gr_vm_mem_reach(VmMem *m, uint64_t addr, uint64_t launch) {
    VmRange *r = gr_vm_mem_find_for(m, addr, launch);
    if (r && r->absent)
        return NULL;
    if (r || !m->allow_pageable || gr_vm_mem_owns(m, addr))
        return r;
    bool locked = m->threads && pthread_mutex_lock(&m->pageable_lock) == 0;
    r = reach_pageable(m, addr);
    if (locked)
        pthread_mutex_unlock(&m->pageable_lock);
    return r;
}

VmRange *gr_vm_mem_before(const VmMem *m, uint64_t addr) { return range_below(m, addr); }

VmRange *gr_vm_mem_after(const VmMem *m, uint64_t addr) {
    bool locked = read_lock(m);
    size_t n = upper_bound(m, addr);
    VmRange *r = n < m->ranges.len ? m->ranges.data[n] : NULL;
    unlock(m, locked);
    return r;
}

bool gr_vm_mem_was_freed(const VmMem *m, uint64_t addr, uint64_t *start, uint64_t *size) {
    bool locked = read_lock(m), found = false;
    size_t have = m->n_freed < REMEMBERED ? m->n_freed : REMEMBERED;
    for (size_t k = 1; k <= have && !found; k++) {
        const Freed *f = &m->freed[(m->n_freed - k) % REMEMBERED];
        found = addr - f->addr < f->size;
        if (found) {
            *start = f->addr;
            *size = f->size;
        }
    }
    unlock(m, locked);
    return found;
}

void *gr_vm_mem_view(const VmMem *m, uint64_t addr, uint64_t size) {
    const VmRange *r = gr_vm_mem_find(m, addr);
    if (!r || size > r->size - (addr - r->addr))
        return NULL;
    return (char *)(uintptr_t)addr + r->delta;
}

void gr_vm_mem_views(const VmMem *m, uint64_t *base, uint64_t *size, int64_t *delta) {
    *base = m->base;
    *size = m->size;
    *delta = m->view - (char *)(uintptr_t)m->base;
}

void gr_vm_mem_info(const VmMem *m, int device, uint64_t *used, uint64_t *total) {
    bool known = device >= 0 && device < DEVICES;
    *used = known ? m->used[device] : 0;
    *total = known ? DEVICE_BYTES : 0;
}

uint64_t gr_vm_mem_generation(const VmMem *m) { return __atomic_load_n(&m->generation, __ATOMIC_RELAXED); }

void gr_vm_mem_concurrent(VmMem *m, bool threads, bool allocates) {
    m->threads = threads;
    m->concurrent = allocates;
    for (size_t k = 0; k < m->graveyard.len && !allocates; k++)
        free(m->graveyard.data[k]);
    if (!allocates)
        m->graveyard.len = 0;
}
