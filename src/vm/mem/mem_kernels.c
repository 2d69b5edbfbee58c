// SPDX-License-Identifier: Apache-2.0
// mem_kernels — the quick handlers of loads and stores of global, generic, shared and local memory. Compiled once per
// instruction set (see CMakeLists.txt).
//
// Each instruction has an inline cache of the range it touched last. If every address lies in it and is aligned,
// nothing can go wrong; else the slow handler does the whole instruction. The handler decides before it moves anything.
// How it moves lanes depends on where they point, which it guesses from the first and the last and then proves for all:
// consecutive addresses as vectors, equal ones as a splat, others by gathering.
//
// Stores that do not all go to consecutive addresses go through chunks of eight lanes, and through the lanes within a
// scattered chunk, from a seeded start: so not always the same lane is the last to store to an address.
#include "vm/mem/mem_kernels.h"

#include "vm/core/commit.h"
#include "vm/core/device.h"
#include "vm/core/exec.h"
#include "vm/core/exec_mem.h"
#include "vm/core/launch.h"
#include "vm/mem/mem_vec.h"

enum { CHUNK = 8, CHUNKS = VM_LANES / CHUNK };

// The addresses [lo, hi) that an instruction may touch without asking; their bytes are delta away.
typedef struct Reach {
    uint64_t lo, hi;
    ptrdiff_t delta;
    bool host; // threads of the host can touch them, too
} Reach;

// Finds where the instruction may touch. False: it has to ask.
INLINE bool place(const VmWarp *w, const VmInsn *i, int where, uint64_t first, Reach *out) {
    if (where == MEM_SHARED32 || where == MEM_SHARED64) {
        *out = (Reach){w->shared_base, w->shared_base + w->shared_bytes,
                       (ptrdiff_t)((uintptr_t)w->shared - w->shared_base), false};
        return true;
    }
    if (where == MEM_GENERIC && first - VM_SHARED_BASE < VM_SHARED_SIZE) {
        uint64_t base = VM_SHARED_BASE + w->shared_base;
        *out = (Reach){base, base + w->shared_bytes, (ptrdiff_t)((uintptr_t)w->shared - base), false};
        return true;
    }
    const VmCache *c = &w->caches[i->e];
    *out = (Reach){c->lo, c->hi, c->delta, c->host};
    return c->hi != 0;
}

// The addresses of one instruction: register, width, constant offset.
typedef struct Lanes {
    const void *a;
    uint64_t offset;
    bool narrow;
} Lanes;

INLINE uint64_t raw(const Lanes *x, unsigned l) {
    return x->narrow ? ((const uint32_t *)x->a)[l] : ((const uint64_t *)x->a)[l];
}
INLINE uint64_t at(const Lanes *x, unsigned l) {
    return x->narrow ? (uint32_t)(raw(x, l) + x->offset) : raw(x, l) + x->offset;
}
// A 32-bit address and an offset of this size cannot wrap around into a window except by the sum's own sign: so the
// sign-extended address may be added to a pointer.
INLINE bool offset_is_small(const Lanes *x) { return !x->narrow || x->offset + (1 << 28) < 1 << 29; }

// Lanes [from, from + n) access consecutive elements of that size.
INLINE bool consecutive(const Lanes *x, unsigned size, unsigned from, unsigned n) {
    return raw(x, from + n - 1) - raw(x, from) == (uint64_t)(n - 1) * size &&
           in_step(x->a, x->narrow, raw(x, from) - (uint64_t)from * size, shift_of(size), false, from & 16u,
                   n <= 16 ? 16 : 32, (n < 32 ? (UINT32_C(1) << n) - 1 : UINT32_MAX) << from, n < 16);
}
INLINE bool equal(const Lanes *x, unsigned from, unsigned n) {
    return raw(x, from + n - 1) == raw(x, from) &&
           in_step(x->a, x->narrow, raw(x, from), 0, true, from, n, 0, false);
}

// How the active lanes of a half lie; `part`: not all are.
INLINE VmShape half_shape(const Lanes *x, unsigned size, uint32_t mask, unsigned half, bool part,
                          uint64_t *base) {
    uint32_t some = mask & (UINT32_C(0xffff) << half * 16);
    if (part && !some) {
        *base = 0;
        return VM_SAME;
    }
    unsigned l0 = part ? (unsigned)__builtin_ctz(some) : half * 16,
             l1 = part ? 31 - (unsigned)__builtin_clz(some) : half * 16 + 15;
    uint64_t first = raw(x, l0), stretch = raw(x, l1) - first;
    if (stretch == (uint64_t)(l1 - l0) * size && !(size & (size - 1)) && size <= 16) {
        *base = at(x, l0) - (uint64_t)l0 * size;
        return in_step(x->a, x->narrow, first - (uint64_t)l0 * size, shift_of(size), false, half * 16, 16,
                       some, part)
                   ? VM_STEPS
                   : VM_SCATTERED;
    }
    *base = at(x, l0);
    return !stretch && in_step(x->a, x->narrow, first, 0, true, half * 16, 16, some, part) ? VM_SAME
                                                                                           : VM_SCATTERED;
}

// Tells the observers. `whole`: how all active lanes lie, if that is known.
static __attribute__((noinline)) void report(VmWarp *w, const VmInsn *i, const Reach *m, const Lanes *x,
                                             VmShape whole) {
    VmMemInfo *info = i->extra;
    const VmWarpRest *r = rest_of(w);
    const VmDevice *d = r->launch->device;
    if (r->holding & w->mask)
        gr_vm_settle_before(w, i);
    else if (!d->listens_always && !gr_vm_wanted(d, info->access == PTX_ACCESS_READ))
        return;
    PtxSpace space = info->space;
    if (space == PTX_GENERIC)
        space = m->lo - VM_SHARED_BASE < VM_SHARED_SIZE ? PTX_SHARED
                : m->lo == VM_LOCAL_BASE                ? PTX_LOCAL
                                                        : PTX_GLOBAL;
    uint64_t lo = space == PTX_SHARED || space == PTX_LOCAL ? m->lo : 0;
    uint32_t to = UINT32_MAX;
    if (d->glances && !info->speculated &&
        (space == PTX_GLOBAL || space == PTX_SHARED || space == PTX_CONST)) {
        if (i->tagged || info->silent)
            return;
        VmGlance g;
        Lanes y = {x->a, x->offset - lo, x->narrow};
        g.site = info->site.module ? &info->site : gr_vm_site_info(r, info);
        g.launch = r->launch->number;
        g.block_linear = r->block->linear;
        g.warp = r->index;
        g.mask = w->mask;
        g.space = space == PTX_SHARED ? PTX_SHARED : PTX_GLOBAL; // constants have addresses there
        g.turn = r->rotate;
        g.narrow = x->narrow;
        g.lanes = x->a;
        g.offset = y.offset;
        g.same = info->access == PTX_ACCESS_WRITE && !d->weak ? gr_vm_glance_same : NULL;
        g.who = w;
        g.insn = i;
        if (whole == VM_SCATTERED && w->mask == UINT32_MAX) {
            g.shape[0] = (uint8_t)half_shape(&y, info->size, UINT32_MAX, 0, false, &g.base[0]);
            g.shape[1] = (uint8_t)half_shape(&y, info->size, UINT32_MAX, 1, false, &g.base[1]);
        } else if (whole == VM_SCATTERED) {
            g.shape[0] = (uint8_t)half_shape(&y, info->size, w->mask, 0, true, &g.base[0]);
            g.shape[1] = (uint8_t)half_shape(&y, info->size, w->mask, 1, true, &g.base[1]);
        } else {
            unsigned l0 = (unsigned)__builtin_ctz(w->mask);
            g.shape[0] = g.shape[1] = (uint8_t)whole;
            g.base[0] = g.base[1] = at(&y, l0) - (whole == VM_STEPS ? (uint64_t)l0 * info->size : 0);
        }
        to = 0;
        for (size_t k = 0; k < d->observers.len; k++) {
            const VmObserver *o = &d->observers.data[k];
            if (o->access && (!o->glance || !o->glance(o->user, &g)))
                to |= UINT32_C(1) << k;
        }
        if (!to)
            return;
    }
    gr_vm_report_lanes(w, i, space, lo, to);
}

// The slow handler must do the access in one piece, as threads of the host may see it.
INLINE bool is_seen_whole(const VmInsn *i, const Reach *m) {
    return UNLIKELY(m->host) && gr_vm_is_whole(i->extra) && gr_vm_is_for_host(i->extra);
}

// ---- Elements of any size in registers of any width, and local memory ------------------------------------------

// Finds lane l's bytes: stacks lie one after the other. Lanes that take no part move those at `nowhere`.
INLINE void find_lanes(const Lanes *x, uint64_t delta, uint64_t stride, uint32_t mask, void *nowhere,
                       uint8_t *host[VM_LANES]) {
    for (unsigned l = 0; l < VM_LANES; l++) {
        uint64_t p = delta + at(x, l) + l * stride;
        host[l] = (uint8_t *)(uintptr_t)(mask >> l & 1 ? p : (uint64_t)(uintptr_t)nowhere);
    }
}

#define READ_LANES(T, D)                                                                                     \
    do {                                                                                                     \
        if (together)                                                                                        \
            for (unsigned l = 0; l < VM_LANES; l++)                                                          \
                out[l] = (D)((const T *)(const void *)host[0])[l];                                           \
        else                                                                                                 \
            for (unsigned l = 0; l < VM_LANES; l++)                                                          \
                out[l] = (D) * (const T *)(const void *)(host[l] + skip);                                    \
    } while (0)

// Reads the element `skip` bytes from each lane's address, extended to 32 or 64 bits. `together`: consecutive elements.
INLINE void read32(uint32_t out[VM_LANES], uint8_t *const host[VM_LANES], unsigned skip, unsigned elem,
                   bool sext, bool together) {
    if (elem == 1 && sext)
        READ_LANES(int8_t, uint32_t);
    else if (elem == 1)
        READ_LANES(uint8_t, uint32_t);
    else if (elem == 2 && sext)
        READ_LANES(int16_t, uint32_t);
    else if (elem == 2)
        READ_LANES(uint16_t, uint32_t);
    else
        READ_LANES(uint32_t, uint32_t);
}
INLINE void read64(uint64_t out[VM_LANES], uint8_t *const host[VM_LANES], unsigned skip, unsigned elem,
                   bool sext, bool together) {
    if (elem == 8) {
        READ_LANES(uint64_t, uint64_t);
        return;
    }
    uint32_t low[VM_LANES];
    read32(low, host, skip, elem, sext, together);
    for (unsigned l = 0; l < VM_LANES; l++)
        out[l] = sext ? (uint64_t)(int32_t)low[l] : low[l];
}

INLINE void load_lanes(VmWarp *w, const VmMemInfo *info, unsigned e, uint8_t *const host[VM_LANES],
                       bool together, bool part) {
    unsigned skip = e * info->elem;
    if (info->reg_bytes[e] == 8) {
        uint64_t v[VM_LANES] __attribute__((aligned(64)));
        read64(v, host, skip, info->elem, info->sext, together);
        put_lanes(w, info->slot[e], v, 8, part);
        return;
    }
    uint32_t v[VM_LANES] __attribute__((aligned(64)));
    read32(v, host, skip, info->elem, info->sext, together);
    if (info->reg_bytes[e] == 4) {
        put_lanes(w, info->slot[e], v, 4, part);
        return;
    }
    uint16_t h[VM_LANES] __attribute__((aligned(64)));
    for (unsigned l = 0; l < VM_LANES; l++)
        h[l] = (uint16_t)v[l];
    put_lanes(w, info->slot[e], h, 2, part);
}

INLINE void store_lanes(VmWarp *w, const VmMemInfo *info, uint8_t *const host[VM_LANES]) {
    unsigned turn = rest_of(w)->rotate;
    for (unsigned k = 0; k < VM_LANES; k++) {
        unsigned l = commit_lane(k, turn);
        for (unsigned e = 0; e < info->vec; e++) {
            const uint8_t *reg = w->frame + info->slot[e] + (size_t)l * info->reg_bytes[e];
            uint8_t *p = host[l] + e * info->elem;
            switch (info->elem) {
            case 1: *p = *reg; break;
            case 2: memcpy(p, reg, 2); break;
            case 4: memcpy(p, reg, 4); break;
            default: memcpy(p, reg, 8);
            }
        }
    }
}

// Moves one variable in every lane's stack, in registers of its width: lane l's is at p + l * stride.
INLINE void move_strided(VmWarp *w, const VmMemInfo *info, unsigned elem, uint8_t *p, uint32_t stride,
                         bool part) {
    uint32_t step[VM_LANES] __attribute__((aligned(64)));
    for (unsigned l = 0; l < VM_LANES; l++)
        step[l] = l * stride;
    for (unsigned e = 0; e < info->vec; e++, p += elem) {
        if (info->access == PTX_ACCESS_READ) {
            if (info->slot[e] != VM_NO_SLOT)
                gather(w, info->slot[e], elem, step, true, (uint64_t)(uintptr_t)p, 0, VM_LANES, part);
            continue;
        }
        const uint8_t *reg = w->frame + info->slot[e];
        if (part)
            for (uint32_t m = w->mask; m; m &= m - 1) {
                unsigned l = (unsigned)__builtin_ctz(m);
                memcpy(p + step[l], reg + (size_t)l * elem, elem);
            }
        else
            for (unsigned l = 0; l < VM_LANES; l++)
                memcpy(p + step[l], reg + (size_t)l * elem, elem);
    }
}

static const VmInsn *lanes(VmWarp *w, const VmInsn *i) {
    const VmMemInfo *info = i->extra;
    const Lanes x = {w->frame + i->a, i->imm, info->address_size == 4};
    unsigned l0 = (unsigned)__builtin_ctz(w->mask);
    uint64_t first = at(&x, l0), stride = 0;
    Reach m;
    if (UNLIKELY(--w->budget <= 0) && gr_vm_access_hook(w, i))
        return NULL;
    bool generic = info->space == PTX_GENERIC, found;
    if (info->space == PTX_LOCAL || (generic && first - VM_LOCAL_BASE < VM_LOCAL_SIZE)) {
        uint64_t lo = generic ? VM_LOCAL_BASE : 0;
        m = (Reach){lo, lo + w->local_bytes, (ptrdiff_t)((uintptr_t)w->local - lo), false};
        stride = w->local_stride;
        found = w->local != NULL;
    } else if (generic)
        found = place(w, i, MEM_GENERIC, first, &m);
    else
        found = place(w, i, info->space == PTX_SHARED ? MEM_SHARED64 : MEM_GLOBAL, first, &m);
    if (!found || !all_inside(x.a, x.narrow, x.offset, m.lo, m.hi, info->size, w->mask, true) ||
        is_seen_whole(i, &m))
        return gr_vm_x_mem_rest(w, i);
    if (UNLIKELY(w->listens))
        report(w, i, &m, &x, VM_SCATTERED);
    if (stride && info->same_width &&
        in_step(x.a, x.narrow, raw(&x, l0), 0, true, 0, VM_LANES, w->mask, true)) {
        uint8_t *p = (uint8_t *)(uintptr_t)((uint64_t)m.delta + first);
        bool part = w->mask != UINT32_MAX;
        if (info->elem == 4 && part)
            move_strided(w, info, 4, p, w->local_stride, true);
        else if (info->elem == 4)
            move_strided(w, info, 4, p, w->local_stride, false);
        else
            move_strided(w, info, 8, p, w->local_stride, part);
        return i + 1;
    }
    uint8_t *host[VM_LANES];
    uint64_t nowhere[VM_MAX_VEC] = {0};
    find_lanes(&x, (uint64_t)m.delta, stride, w->mask, nowhere, host);
    if (info->access == PTX_ACCESS_WRITE) {
        store_lanes(w, info, host);
        return i + 1;
    }
    bool together = info->vec == 1 && !stride && w->mask == UINT32_MAX &&
                    raw(&x, 31) - raw(&x, 0) == UINT64_C(31) * info->size &&
                    in_step(x.a, x.narrow, raw(&x, 0), shift_of(info->size), false, 0, VM_LANES, 0, false);
    for (unsigned e = 0; e < info->vec; e++)
        if (info->slot[e] != VM_NO_SLOT)
            load_lanes(w, info, e, host, together, true);
    return i + 1;
}

// ---- Elements of 4 or 8 bytes in registers of the same width --------------------------------------------------

INLINE void load_mixed(VmWarp *w, const Lanes *x, uint64_t base, const uint32_t *slot, unsigned elem,
                       unsigned vec, bool part) {
    if (vec == 1 && !part) {
        for (unsigned l = 0; l < VM_LANES; l += 16) {
            const uint8_t *p =
                (const uint8_t *)(uintptr_t)(base +
                                             (x->narrow ? (uint64_t)(int64_t)(int32_t)raw(x, l) : raw(x, l)));
            if (consecutive(x, elem, l, 16))
                memcpy(w->frame + slot[0] + (size_t)l * elem, p, 16 * elem);
            else if (equal(x, l, 16))
                splat_lanes(w, slot[0], elem, p, l, 16, false);
            else
                gather(w, slot[0], elem, x->a, x->narrow, base, l, 16, false);
        }
        return;
    }
    if (vec == 1) {
        gather(w, slot[0], elem, x->a, x->narrow, base, 0, VM_LANES, part);
        return;
    }
    uint64_t a[VM_LANES] __attribute__((aligned(64))); // a destination may be the address
    memcpy(a, x->a, x->narrow ? sizeof a / 2 : sizeof a);
    for (unsigned e = 0; e < vec; e++)
        if (slot[e] != VM_NO_SLOT)
            gather(w, slot[e], elem, a, x->narrow, base + e * elem, 0, VM_LANES, part);
}

INLINE void store_lane(const VmWarp *w, const uint32_t *slot, uint8_t *p, unsigned lane, unsigned elem,
                       unsigned vec) {
    for (unsigned e = 0; e < vec; e++)
        memcpy(p + e * elem, w->frame + slot[e] + (size_t)lane * elem, elem);
}

INLINE void store_mixed(VmWarp *w, const Lanes *x, uint64_t delta, const uint32_t *slot, unsigned elem,
                        unsigned vec, bool part) {
    unsigned turn = rest_of(w)->rotate;
    for (unsigned n = 0; n < CHUNKS; n++) {
        unsigned l = (n + turn) % CHUNKS * CHUNK;
        if (vec == 1 && !part && consecutive(x, elem, l, CHUNK)) {
            memcpy((uint8_t *)(uintptr_t)(delta + at(x, l)), w->frame + slot[0] + (size_t)l * elem,
                   CHUNK * elem);
            continue;
        }
        for (unsigned k = 0; k < CHUNK; k++) {
            unsigned lane = commit_lane(n * CHUNK + k, turn);
            if (!part || (w->mask >> lane & 1))
                store_lane(w, slot, (uint8_t *)(uintptr_t)(delta + at(x, lane)), lane, elem, vec);
        }
    }
}

INLINE const VmInsn *access(VmWarp *w, const VmInsn *i, bool store, int where, unsigned elem, unsigned vec,
                            bool part) {
    const unsigned size = elem * vec;
    const Lanes x = {w->frame + i->a, i->imm, where == MEM_SHARED32};
    uint32_t mask = part ? w->mask : UINT32_MAX;
    unsigned l0 = part ? (unsigned)__builtin_ctz(mask) : 0,
             l1 = part ? 31 - (unsigned)__builtin_clz(mask) : 31;
    uint64_t first = at(&x, l0), stretch = at(&x, l1) - first;
    if (where == MEM_GENERIC && first - VM_LOCAL_BASE < VM_LOCAL_SIZE)
        return lanes(w, i);
    if (UNLIKELY(--w->budget <= 0) && gr_vm_access_hook(w, i))
        return NULL;
    Reach m;
    if (UNLIKELY(!place(w, i, where, first, &m)) || (vec > 1 && is_seen_whole(i, &m)))
        return gr_vm_x_mem_rest(w, i);
    uint32_t one = store ? i->b : i->d;
    const uint32_t *slot = vec == 1 ? &one : ((const VmMemInfo *)i->extra)->slot;
    uint64_t room = m.hi - m.lo - size, delta = (uint64_t)m.delta;
    bool fits = first - m.lo <= room && stretch <= room - (first - m.lo) && m.hi - m.lo >= size &&
                !(first & (size - 1));
    if (vec == 1 && stretch == (uint64_t)(l1 - l0) * size && fits &&
        in_step(x.a, x.narrow, raw(&x, l0) - (uint64_t)l0 * size, shift_of(size), false, 0, VM_LANES, mask,
                part)) {
        if (UNLIKELY(w->listens))
            report(w, i, &m, &x, VM_STEPS);
        uint8_t *p = (uint8_t *)(uintptr_t)(delta + first - (uint64_t)l0 * size);
        if (store)
            store_consecutive(w, one, elem, p, part);
        else
            load_consecutive(w, one, elem, p, part);
        return i + 1;
    }
    if (!store && stretch == 0 && fits &&
        in_step(x.a, x.narrow, raw(&x, l0), 0, true, 0, VM_LANES, mask, part)) {
        if (UNLIKELY(w->listens))
            report(w, i, &m, &x, VM_SAME);
        for (unsigned e = 0; e < vec; e++)
            if (vec == 1 || slot[e] != VM_NO_SLOT)
                splat_lanes(w, slot[e], elem, (const uint8_t *)(uintptr_t)(delta + first) + e * elem, 0,
                            VM_LANES, part);
        return i + 1;
    }
    if (!all_inside(x.a, x.narrow, x.offset, m.lo, m.hi, size, mask, part) || !offset_is_small(&x))
        return gr_vm_x_mem_rest(w, i);
    if (UNLIKELY(w->listens))
        report(w, i, &m, &x, VM_SCATTERED);
    if (store)
        store_mixed(w, &x, delta, slot, elem, vec, part);
    else
        load_mixed(w, &x, delta + x.offset, slot, elem, vec, part);
    return i + 1;
}

#define KERNEL(name, store, where, elem, vec)                                                                \
    static const VmInsn *name##_part(VmWarp *w, const VmInsn *i) {                                           \
        return access(w, i, store, where, elem, vec, true);                                                  \
    }                                                                                                        \
    static const VmInsn *name##_full(VmWarp *w, const VmInsn *i) {                                           \
        if (UNLIKELY(w->mask != UINT32_MAX)) /* the last warp of a block, or lanes have exited */            \
            return name##_part(w, i);                                                                        \
        return access(w, i, store, where, elem, vec, false);                                                 \
    }
#define SHAPES(prefix, store, where)                                                                         \
    KERNEL(prefix##_b32, store, where, 4, 1)                                                                 \
    KERNEL(prefix##_b64, store, where, 8, 1)                                                                 \
    KERNEL(prefix##_v2b32, store, where, 4, 2)                                                               \
    KERNEL(prefix##_v4b32, store, where, 4, 4)                                                               \
    KERNEL(prefix##_v2b64, store, where, 8, 2)
#define ROW(prefix)                                                                                          \
    {                                                                                                        \
        {prefix##_b32_full, prefix##_b32_part}, {prefix##_b64_full, prefix##_b64_part},                      \
            {prefix##_v2b32_full, prefix##_v2b32_part}, {prefix##_v4b32_full, prefix##_v4b32_part},          \
            {prefix##_v2b64_full, prefix##_v2b64_part},                                                      \
    }

SHAPES(ld_global, false, MEM_GLOBAL)
SHAPES(ld_generic, false, MEM_GENERIC)
SHAPES(ld_shared64, false, MEM_SHARED64)
SHAPES(ld_shared32, false, MEM_SHARED32)
SHAPES(st_global, true, MEM_GLOBAL)
SHAPES(st_generic, true, MEM_GENERIC)
SHAPES(st_shared64, true, MEM_SHARED64)
SHAPES(st_shared32, true, MEM_SHARED32)

// ---- Atomics -----------------------------------------------------------------------------------------------

INLINE void atom_lane(VmWarp *w, const VmMemInfo *info, uint8_t *p, unsigned l, unsigned elem, bool add,
                      bool real) {
    uint64_t old = 0, v;
    uint64_t b = elem == 4 ? VM_U32(w, info->b[0])[l] : VM_U64(w, info->b[0])[l];
    uint64_t c = !info->op.cas ? 0 : elem == 4 ? VM_U32(w, info->c[0])[l] : VM_U64(w, info->c[0])[l];
    if (real)
        old = gr_vm_commit(p, elem, add ? NULL : info->op.apply, b, c, gr_vm_may_idle(info->sem));
    else {
        memcpy(&old, p, elem);
        v = add ? old + b : info->op.apply(old, b, c);
        memcpy(p, &v, elem);
    }
    if (!info->has_result)
        return;
    if (elem == 4)
        VM_U32(w, info->slot[0])[l] = (uint32_t)old;
    else
        VM_U64(w, info->slot[0])[l] = old;
}

// Fetches the cache line, to write to it.
INLINE void want_line(const void *p) {
#ifdef __x86_64__
    __asm__ volatile("prefetchw %0" : : "m"(*(const char *)p)); // the builtin would only ask to read
#else
    __builtin_prefetch(p, 1);
#endif
}

// The usual atomics: one element of 4 or 8 bytes at a known place. Adds here; the operation's function does the rest.
INLINE const VmInsn *atom_quick(VmWarp *w, const VmInsn *i, int where, unsigned elem, bool add) {
    const VmMemInfo *info = i->extra;
    const Lanes x = {w->frame + i->a, i->imm, where == MEM_SHARED32};
    unsigned turn = rest_of(w)->rotate;
    uint32_t mask = w->mask;
    Reach m;
    if (UNLIKELY(--w->budget <= 0) && gr_vm_access_hook(w, i))
        return NULL;
    if (!place(w, i, where, at(&x, (unsigned)__builtin_ctz(mask)), &m) ||
        !all_inside(x.a, x.narrow, x.offset, m.lo, m.hi, elem, mask, true))
        return gr_vm_x_atom_rest(w, i);
    if (UNLIKELY(w->listens))
        report(w, i, &m, &x, VM_SCATTERED);
    bool real = (w->atomics || m.host) && where != MEM_SHARED32 && where != MEM_SHARED64;
    if (mask == UINT32_MAX && add && !info->has_result && !real) { // any order gives the same
        for (unsigned l = 0; l < VM_LANES; l++) {
            void *p = (void *)(uintptr_t)((uint64_t)m.delta + at(&x, l));
            if (elem == 4)
                *(uint32_t *)p += VM_U32(w, info->b[0])[l];
            else
                *(uint64_t *)p += VM_U64(w, info->b[0])[l];
        }
        return i + 1;
    }
    for (uint32_t k = real && add ? mask : 0; k; k &= k - 1) // let the lines come side by side
        want_line((const void *)(uintptr_t)((uint64_t)m.delta + at(&x, (unsigned)__builtin_ctz(k))));
    for (unsigned k = 0; k < VM_LANES; k++) {
        unsigned l = commit_lane(k, turn);
        if (mask >> l & 1)
            atom_lane(w, info, (uint8_t *)(uintptr_t)((uint64_t)m.delta + at(&x, l)), l, elem, add, real);
    }
    return i + 1;
}

#define ATOM(name, where, elem, add)                                                                         \
    static const VmInsn *name(VmWarp *w, const VmInsn *i) { return atom_quick(w, i, where, elem, add); }
#define ATOMS(prefix, where)                                                                                 \
    ATOM(prefix##_32, where, 4, false)                                                                       \
    ATOM(prefix##_64, where, 8, false)                                                                       \
    ATOM(prefix##_add32, where, 4, true)                                                                     \
    ATOM(prefix##_add64, where, 8, true)
ATOMS(atom_global, MEM_GLOBAL)
ATOMS(atom_generic, MEM_GENERIC)
ATOMS(atom_shared64, MEM_SHARED64)
ATOMS(atom_shared32, MEM_SHARED32)
#define ATOM_ROW(prefix)                                                                                     \
    {                                                                                                        \
        {prefix##_32, prefix##_64}, { prefix##_add32, prefix##_add64 }                                       \
    }

static bool distinct(const VmWarp *w, const VmInsn *i) {
    const int64_t *a64 = (const int64_t *)(const void *)(w->frame + i->a);
    const int32_t *a32 = (const int32_t *)(const void *)(w->frame + i->a);
    bool narrow = ((const VmMemInfo *)i->extra)->address_size == 4;
    if (w->mask == UINT32_MAX) {
        uint64_t down = 0; // the sign is set where one is not above the one before
        if (narrow)
            for (unsigned l = 1; l < VM_LANES; l++)
                down |= (uint32_t)(a32[l] <= a32[l - 1]);
        else
            for (unsigned l = 1; l < VM_LANES; l++)
                down |= (uint64_t)(a64[l] <= a64[l - 1]);
        return !down;
    }
    int64_t last = INT64_MIN;
    for (uint32_t m = w->mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        int64_t a = narrow ? a32[l] : a64[l];
        if (a <= last)
            return false;
        last = a;
    }
    return true;
}

#define CAT2(a, b) a##b
#define CAT(a, b)  CAT2(a, b)
const VmMemKernels CAT(gr_vm_mem_kernels_, GR_VM_ISA) = {
    {
        {ROW(ld_global), ROW(ld_generic), ROW(ld_shared64), ROW(ld_shared32)},
        {ROW(st_global), ROW(st_generic), ROW(st_shared64), ROW(st_shared32)},
    },
    {ATOM_ROW(atom_global), ATOM_ROW(atom_generic), ATOM_ROW(atom_shared64), ATOM_ROW(atom_shared32)},
    lanes,
    distinct};
