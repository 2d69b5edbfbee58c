// SPDX-License-Identifier: Apache-2.0
// mem_kernels — the quick handlers of loads and stores: elements of 4 or 8 bytes whose registers have the same
// width, of global, generic and shared memory. Compiled once per instruction set (see CMakeLists.txt).
//
// Each instruction has an inline cache of the range it touched last. If every address lies in it and is
// aligned, nothing can go wrong and lanes are moved in chunks of eight: consecutive addresses as vectors, equal
// ones as a splat, others one by one. If not, the slow handler does the whole instruction. The decision is made
// before anything is moved.
//
// Stores go through the chunks, and the lanes within a scattered chunk, from a seeded start: which of several
// stores to the same address comes last is not always the same lane.
#include "vm/mem_kernels.h"

#include "vm/commit.h"
#include "vm/exec.h"
#include "vm/mem_insn.h"
#include "vm/warp.h"

#include <string.h>
#ifdef __AVX__
#include <immintrin.h>
#endif

#define INLINE static inline __attribute__((always_inline))

typedef uint64_t V64 __attribute__((vector_size(32), may_alias));
typedef uint32_t V32 __attribute__((vector_size(32), may_alias));

enum { CHUNK = 8, CHUNKS = VM_LANES / CHUNK };

typedef struct Where {
    uint64_t lo, hi;
    ptrdiff_t delta;
} Where;

INLINE bool any64(V64 v) {
#ifdef __AVX__
    return !_mm256_testz_si256((__m256i)v, (__m256i)v);
#else
    return (v[0] | v[1] | v[2] | v[3]) != 0;
#endif
}
INLINE bool any32(V32 v) {
    V64 x = (V64)v;
    return any64(x);
}

// Whether all 32 addresses are in [lo, hi - size] and aligned. All bounds are far below 2^63, so an address
// outside makes one of the two differences negative.
INLINE bool all_inside64(const uint64_t *a, uint64_t offset, const Where *m, unsigned size) {
    V64 bad = {0}, low = {0};
    uint64_t from = m->lo - offset, to = m->hi - size - offset;
    for (unsigned k = 0; k < VM_LANES / 4; k++) {
        V64 x = *(const V64 *)(const void *)(a + 4 * k);
        bad |= (x - from) | (to - x);
        low |= x + offset;
    }
    V64 sign = {0};
    sign = (bad >> 63) | (low & (uint64_t)(size - 1));
    return !any64(sign);
}

INLINE bool all_inside32(const uint32_t *a, uint32_t offset, const Where *m, unsigned size) {
    V32 bad = {0};
    if (m->hi - m->lo < size)
        return false;
    uint32_t to = (uint32_t)(m->hi - m->lo) - size;
    offset -= (uint32_t)m->lo;
    for (unsigned k = 0; k < VM_LANES / 8; k++) {
        V32 x = *(const V32 *)(const void *)(a + 8 * k) + offset;
        bad |= ((x | (to - x)) >> 31) | (x & (size - 1));
    }
    return !any32(bad);
}

enum { CONSECUTIVE, EQUAL, SCATTERED };

INLINE int pattern64(const uint64_t *a, unsigned size) {
    V64 x = *(const V64 *)(const void *)a, y = *(const V64 *)(const void *)(a + 4);
    V64 first = {a[0], a[0], a[0], a[0]};
    V64 i0 = {0, size, 2 * size, 3 * size}, i1 = {4 * size, 5 * size, 6 * size, 7 * size};
    if (!any64((x - first - i0) | (y - first - i1)))
        return CONSECUTIVE;
    return any64((x - first) | (y - first)) ? SCATTERED : EQUAL;
}

INLINE int pattern32(const uint32_t *a, unsigned size) {
    V32 x = *(const V32 *)(const void *)a;
    V32 i = {0, size, 2 * size, 3 * size, 4 * size, 5 * size, 6 * size, 7 * size};
    x -= a[0];
    if (!any32(x - i))
        return CONSECUTIVE;
    return any32(x) ? SCATTERED : EQUAL;
}

INLINE void move_lane(VmWarp *w, const uint32_t *slot, uint8_t *p, unsigned lane, bool store, unsigned elem,
                      unsigned vec) {
    for (unsigned e = 0; e < vec; e++) {
        if (!store && vec > 1 && slot[e] == VM_NO_SLOT)
            continue;
        uint8_t *reg = w->frame + slot[e] + (size_t)lane * elem;
        if (store)
            memcpy(p + e * elem, reg, elem);
        else
            memcpy(reg, p + e * elem, elem);
    }
}

// Bounds and displacement of what the instruction may touch without asking. False: ask.
INLINE bool place(const VmWarp *w, const VmInsn *i, int where, uint64_t first, Where *out) {
    if (where == MEM_SHARED32 || where == MEM_SHARED64) {
        *out = (Where){w->shared_base, w->shared_base + w->shared_bytes,
                       (ptrdiff_t)((uintptr_t)w->shared - w->shared_base)};
        return true;
    }
    if (where == MEM_GENERIC && first - VM_SHARED_BASE < VM_SHARED_SIZE) {
        uint64_t base = VM_SHARED_BASE + w->shared_base;
        *out = (Where){base, base + w->shared_bytes, (ptrdiff_t)((uintptr_t)w->shared - base)};
        return true;
    }
    const VmCache *c = &w->caches[i->e];
    *out = (Where){c->lo, c->hi, c->delta};
    return c->hi != 0;
}

INLINE const VmInsn *access_part(VmWarp *w, const VmInsn *i, bool store, int where, unsigned elem,
                                 unsigned vec) {
    unsigned size = elem * vec;
    bool narrow = where == MEM_SHARED32;
    const uint64_t *a64 = VM_U64(w, i->a);
    const uint32_t *a32 = VM_U32(w, i->a);
    unsigned first = (unsigned)__builtin_ctz(w->mask);
    Where m;
    if (w->budget <= 1 || !place(w, i, where, narrow ? a32[first] : a64[first] + i->imm, &m) ||
        m.hi - m.lo < size)
        return gr_vm_x_mem(w, i);
    uint64_t span = m.hi - m.lo - size;
    for (uint32_t k = w->mask; k; k &= k - 1) {
        unsigned l = (unsigned)__builtin_ctz(k);
        uint64_t a = narrow ? (uint32_t)(a32[l] + (uint32_t)i->imm) : a64[l] + i->imm;
        if (a - m.lo > span || (a & (size - 1)))
            return gr_vm_x_mem(w, i);
    }
    w->budget--;
    uint32_t one = store ? i->b : i->d;
    const uint32_t *slot = vec == 1 ? &one : ((const VmMemInfo *)i->extra)->slot;
    unsigned turn = rest_of(w)->rotate;
    if (store)
        for (unsigned k = 0; k < VM_LANES; k++) {
            unsigned l = commit_lane(k, turn);
            uint64_t a = narrow ? (uint32_t)(a32[l] + (uint32_t)i->imm) : a64[l] + i->imm;
            if (w->mask >> l & 1)
                move_lane(w, slot, (uint8_t *)(uintptr_t)(a + (uint64_t)m.delta), l, true, elem, vec);
        }
    else
        for (uint32_t k = w->mask; k; k &= k - 1) {
            unsigned l = (unsigned)__builtin_ctz(k);
            uint64_t a = narrow ? (uint32_t)(a32[l] + (uint32_t)i->imm) : a64[l] + i->imm;
            move_lane(w, slot, (uint8_t *)(uintptr_t)(a + (uint64_t)m.delta), l, false, elem, vec);
        }
    return i + 1;
}

INLINE const VmInsn *access_full(VmWarp *w, const VmInsn *i, bool store, int where, unsigned elem,
                                 unsigned vec) {
    unsigned size = elem * vec;
    bool narrow = where == MEM_SHARED32;
    const uint64_t *a64 = VM_U64(w, i->a);
    const uint32_t *a32 = VM_U32(w, i->a);
    uint64_t offset = i->imm;
    Where m;
    if (w->mask != UINT32_MAX) // the last warp of a block, or lanes have exited
        return access_part(w, i, store, where, elem, vec);
    if (w->budget <= 1 || !place(w, i, where, narrow ? a32[0] : a64[0] + offset, &m) ||
        !(narrow ? all_inside32(a32, (uint32_t)offset, &m, size) : all_inside64(a64, offset, &m, size)))
        return gr_vm_x_mem(w, i);
    w->budget--;
    // A number, not a pointer: delta is below zero where the view is mapped below the device's addresses.
    uint64_t base = (uint64_t)m.delta + offset;
    uint32_t one = store ? i->b : i->d;
    const uint32_t *slot = vec == 1 ? &one : ((const VmMemInfo *)i->extra)->slot;
    unsigned turn = store ? rest_of(w)->rotate : 0;
    for (unsigned n = 0; n < CHUNKS; n++) {
        unsigned c = store ? (n + turn) % CHUNKS : n, l = c * CHUNK;
        int pattern = narrow ? pattern32(a32 + l, size) : pattern64(a64 + l, size);
        uint8_t *p = (uint8_t *)(uintptr_t)(narrow ? (uint32_t)(a32[l] + (uint32_t)offset) + (uint64_t)m.delta
                                                   : base + a64[l]);
        if (vec == 1 && pattern == CONSECUTIVE) {
            uint8_t *reg = w->frame + one + (size_t)l * elem;
            if (store)
                memcpy(p, reg, CHUNK * elem);
            else
                memcpy(reg, p, CHUNK * elem);
        } else if (vec == 1 && !store && pattern == EQUAL) {
            if (elem == 4) {
                uint32_t v;
                memcpy(&v, p, 4);
                V32 x = {v, v, v, v, v, v, v, v};
                *(V32 *)(void *)(w->frame + one + l * 4) = x;
            } else {
                uint64_t v;
                memcpy(&v, p, 8);
                V64 x = {v, v, v, v};
                V64 *reg = (V64 *)(void *)(w->frame + one + l * 8);
                reg[0] = reg[1] = x;
            }
        } else {
            for (unsigned k = 0; k < CHUNK; k++) {
                unsigned lane = store ? commit_lane(n * CHUNK + k, turn) : l + k;
                p = (uint8_t *)(uintptr_t)(narrow
                                               ? (uint32_t)(a32[lane] + (uint32_t)offset) + (uint64_t)m.delta
                                               : base + a64[lane]);
                move_lane(w, slot, p, lane, store, elem, vec);
            }
        }
    }
    return i + 1;
}

#define KERNEL(name, store, where, elem, vec)                                                                \
    static const VmInsn *name##_full(VmWarp *w, const VmInsn *i) {                                           \
        return access_full(w, i, store, where, elem, vec);                                                   \
    }                                                                                                        \
    static const VmInsn *name##_part(VmWarp *w, const VmInsn *i) {                                           \
        return access_part(w, i, store, where, elem, vec);                                                   \
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

// The usual ones: one element of 4 or 8 bytes whose place is known. Addition is done here, the rest through the
// operation's function.
INLINE const VmInsn *atom_quick(VmWarp *w, const VmInsn *i, int where, unsigned elem, bool add) {
    const VmMemInfo *info = i->extra;
    bool narrow = where == MEM_SHARED32;
    const uint64_t *a64 = VM_U64(w, i->a);
    const uint32_t *a32 = VM_U32(w, i->a);
    unsigned first = (unsigned)__builtin_ctz(w->mask), turn = rest_of(w)->rotate;
    uint64_t at[VM_LANES];
    Where m;
    if (w->budget <= 1 || !place(w, i, where, narrow ? a32[first] : a64[first] + i->imm, &m) ||
        m.hi - m.lo < elem)
        return gr_vm_x_atom(w, i);
    uint64_t span = m.hi - m.lo - elem, bad = 0;
    for (unsigned l = 0; l < VM_LANES; l++) {
        uint64_t a = narrow ? (uint32_t)(a32[l] + (uint32_t)i->imm) : a64[l] + i->imm;
        bool out = a - m.lo > span || (a & (elem - 1));
        bad |= (uint64_t)out << l;
        at[l] = a + (uint64_t)m.delta;
    }
    if (bad & w->mask)
        return gr_vm_x_atom(w, i);
    w->budget--;
    bool real = w->atomics && where != MEM_SHARED32 && where != MEM_SHARED64;
    for (unsigned k = 0; k < VM_LANES; k++) {
        unsigned l = commit_lane(k, turn);
        if (!(w->mask >> l & 1))
            continue;
        uint8_t *p = (uint8_t *)(uintptr_t)at[l];
        uint64_t old = 0, v;
        uint64_t b = elem == 4 ? VM_U32(w, info->b[0])[l] : VM_U64(w, info->b[0])[l];
        uint64_t c = !info->op.cas ? 0 : elem == 4 ? VM_U32(w, info->c[0])[l] : VM_U64(w, info->c[0])[l];
        if (real)
            old = gr_vm_commit(p, elem, add ? NULL : info->op.apply, b, c);
        else {
            memcpy(&old, p, elem);
            v = add ? old + b : info->op.apply(old, b, c);
            memcpy(p, &v, elem);
        }
        if (info->has_result) {
            if (elem == 4)
                VM_U32(w, info->slot[0])[l] = (uint32_t)old;
            else
                VM_U64(w, info->slot[0])[l] = old;
        }
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

#define CAT2(a, b) a##b
#define CAT(a, b)  CAT2(a, b)
const VmMemKernels CAT(gr_vm_mem_kernels_, GR_VM_ISA) = {
    {
        {ROW(ld_global), ROW(ld_generic), ROW(ld_shared64), ROW(ld_shared32)},
        {ROW(st_global), ROW(st_generic), ROW(st_shared64), ROW(st_shared32)},
    },
    {ATOM_ROW(atom_global), ATOM_ROW(atom_generic), ATOM_ROW(atom_shared64), ATOM_ROW(atom_shared32)}};
