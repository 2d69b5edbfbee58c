// SPDX-License-Identifier: Apache-2.0
// exec_mem — loads and stores of every kind, one lane at a time: what mem_kernels.c leaves over. Here are the
// checks and the faults.
#include "vm/core/exec_mem.h"

#include "base/address.h"
#include "vm/alu/alu.h"
#include "vm/core/block.h"
#include "vm/core/device.h"
#include "vm/core/exec.h"
#include "vm/core/extend.h"
#include "vm/core/fault.h"
#include "vm/core/launch.h"
#include "vm/core/warp.h"
#include "vm/mem/mem_kernels.h"
#include "vm/mem/weak.h"

#include <stdio.h>
#include <string.h>

// ---- Where addresses are -----------------------------------------------------------------------------------

static const char *verb_of(PtxAccess access) {
    switch (access) {
    case PTX_ACCESS_READ: return "read";
    case PTX_ACCESS_WRITE: return "wrote";
    default: return "updated";
    }
}

static const char *verb(const VmMemInfo *info) { return verb_of(info->access); }

// Describes what there is near a bad global address.
static void neighbourhood(const VmMem *m, uint64_t address, uint32_t size, char *out, size_t cap) {
    enum {
        FAR = 1 << 20,
        DRAWN_FAR = 1 << 12
    }; // how far what Linux drew is from what else it drew differs, too
    uint64_t start, bytes, far = gr_address_is_drawn(address) ? DRAWN_FAR : FAR;
    bool mapped;
    const VmRange *r = gr_vm_mem_before(m, address), *next = gr_vm_mem_after(m, address);
    if (r && address - r->addr < r->size && (r->absent || r->retired))
        snprintf(out, cap, "in a %llu-byte allocation that was freed", (unsigned long long)r->size);
    else if (r && address - r->addr < r->size)
        snprintf(out, cap, "the last %llu of them past the end of a %llu-byte allocation",
                 (unsigned long long)(size - (r->addr + r->size - address)), (unsigned long long)r->size);
    else if (gr_vm_mem_is_reserved(m, address, &bytes, &mapped))
        snprintf(out, cap, "in %llu reserved bytes, where %s", (unsigned long long)bytes,
                 mapped ? "memory is mapped to which no device was given access" : "no memory is mapped");
    else if (gr_vm_mem_was_freed(m, address, &start, &bytes))
        snprintf(out, cap, "in a %llu-byte allocation that was freed", (unsigned long long)bytes);
    else if (r && address - (r->addr + r->size) < far)
        snprintf(out, cap, "%llu bytes past the end of a %llu-byte allocation",
                 (unsigned long long)(address - (r->addr + r->size)), (unsigned long long)r->size);
    else if (next && next->addr - address < far)
        snprintf(out, cap, "%llu bytes before a %llu-byte allocation",
                 (unsigned long long)(next->addr - address), (unsigned long long)next->size);
    else if (address < 1 << 16)
        snprintf(out, cap, "a null pointer plus %llu", (unsigned long long)address);
    else
        snprintf(out, cap, "near no allocation");
}

static bool fault_global(VmWarp *w, const VmInsn *i, unsigned lane, uint64_t address, uint32_t size,
                         PtxAccess access) {
    char near[120], at[GR_ADDRESS_TEXT];
    if (rest_of(w)->strays == VM_STRAYS_QUIET && rest_of(w)->launch->device->config.pass_strays)
        return false;
    neighbourhood(rest_of(w)->launch->device->mem, address, size, near, sizeof near);
    gr_vm_report_gone(w, i, lane, address, size, access, NULL);
    gr_vm_stray(w, i, VM_FAULT_ILLEGAL_ADDRESS, lane, address, "%s %u bytes at %s, %s", verb_of(access), size,
                gr_address_text(address, at), near);
    return false;
}

static bool fault_local(VmWarp *w, const VmInsn *i, unsigned lane, uint64_t offset, uint64_t have) {
    const VmMemInfo *info = i->extra;
    gr_vm_stray(w, i, VM_FAULT_ILLEGAL_ADDRESS, lane, offset,
                "%s %u bytes at offset 0x%llx of %llu bytes of local memory", verb(info), info->size,
                (unsigned long long)offset, (unsigned long long)have);
    return false;
}

// Another device's memory needs permission: given to the context (peer access) or with the memory (pools).
static bool may_use(const VmLaunch *l, const VmRange *r) {
    int self = l->device->config.index;
    if (r->kind == VM_MEM_MAPPED)
        return r->peers >> self & 1;
    if (r->device < 0 || r->device == self || r->kind == VM_MEM_MANAGED || r->kind == VM_MEM_PINNED)
        return true;
    return (l->peers >> r->device & 1) || (r->peers >> self & 1);
}

uint8_t *gr_vm_global_at(VmWarp *w, const VmInsn *i, unsigned lane, uint64_t address, uint32_t size,
                         PtxAccess access) {
    VmCache *c = &w->caches[i->e];
    if (address >= c->lo && address < c->hi && c->hi - address >= size)
        return (uint8_t *)(uintptr_t)address + c->delta;
    const VmLaunch *l = rest_of(w)->launch;
    VmRange *r = gr_vm_mem_reach(l->device->mem, address, l->number);
    if (!r || r->size - (address - r->addr) < size) {
        fault_global(w, i, lane, address, size, access);
        return NULL;
    }
    if (!may_use(l, r)) {
        gr_vm_stray(w, i, VM_FAULT_ILLEGAL_ADDRESS, lane, address,
                    "%s %u bytes at 0x%llx in memory of device %d, to which device %d was given no access",
                    verb_of(access), size, (unsigned long long)address, r->device, l->device->config.index);
        return NULL;
    }
    if (r->read_only && access != PTX_ACCESS_READ) {
        char at[GR_ADDRESS_TEXT];
        gr_vm_stray(w, i, VM_FAULT_ILLEGAL_ADDRESS, lane, address, "%s %u bytes of %s memory at %s",
                    verb_of(access), size,
                    r->kind == VM_MEM_PAGEABLE ? "the host's read-only"
                    : r->kind == VM_MEM_MAPPED ? "mapped read-only"
                                               : "constant",
                    gr_address_text(address, at));
        return NULL;
    }
    *c = (VmCache){r->addr, r->addr + r->size, r->delta, gr_vm_mem_host_reaches(r)};
    return (uint8_t *)(uintptr_t)address + r->delta;
}

// How many bytes of the access must lie in the `room` bytes that memory still has at its address. For most accesses
// all. But there are no atomic operations on one byte and few on two: libcu++ reads the aligned word around such a
// variable with a strong load, and replaces it with atom.cas. GPUs hand memory out in larger pieces, so memory is
// there, and such a word may end behind the allocation.
static uint32_t bytes_inside(const VmMemInfo *info, uint64_t room) {
    bool strong = info->access == PTX_ACCESS_RMW || (info->sem != PTX_SEM_NONE && info->sem != PTX_WEAK);
    return strong && info->size == 4 && room > 0 && room < 4 ? (uint32_t)room : info->size;
}

static uint8_t *global_at(VmWarp *w, const VmInsn *i, unsigned lane, uint64_t address) {
    const VmMemInfo *info = i->extra;
    const VmCache *c = &w->caches[i->e];
    if (address >= c->lo && address < c->hi && c->hi - address >= info->size)
        return (uint8_t *)(uintptr_t)address + c->delta;
    const VmLaunch *l = rest_of(w)->launch;
    const VmRange *r = gr_vm_mem_reach(l->device->mem, address, l->number);
    uint32_t inside = bytes_inside(info, r ? r->size - (address - r->addr) : 0);
    return gr_vm_global_at(w, i, lane, address, inside, info->access);
}

static uint8_t *shared_at(VmWarp *w, const VmInsn *i, unsigned lane, uint64_t offset) {
    const VmMemInfo *info = i->extra;
    uint64_t own = offset - w->shared_base;
    uint32_t inside = bytes_inside(info, own < w->shared_bytes ? w->shared_bytes - own : 0);
    if (own <= w->shared_bytes && w->shared_bytes - own >= inside)
        return w->shared + own;
    VmBlock *owner = NULL;
    VmSharedMiss miss;
    uint8_t *p = gr_vm_shared_find(rest_of(w)->block->cluster, offset, inside, &owner, &miss);
    uint64_t at = offset & (VM_SHARED_SLOT - 1);
    if (!p && miss == VM_SHARED_OUTSIDE && at < owner->shared_bytes) { // the end of another block's
        inside = bytes_inside(info, owner->shared_bytes - at);
        p = gr_vm_shared_find(rest_of(w)->block->cluster, offset, inside, &owner, &miss);
    }
    if (p && !info->cluster) {
        gr_vm_stray(w, i, VM_FAULT_ADDRESS_SPACE, lane, offset,
                    "%s %u bytes of the shared memory of block (%u,%u,%u) as if it were its own, without "
                    ".shared::cluster",
                    verb(info), info->size, owner->ctaid[0], owner->ctaid[1], owner->ctaid[2]);
        return NULL;
    }
    if (!p)
        gr_vm_shared_fault(w, i, lane, verb(info), offset, info->size);
    return p;
}

static uint8_t *local_at(VmWarp *w, const VmInsn *i, unsigned lane, uint64_t offset) {
    const VmMemInfo *info = i->extra;
    VmWarpRest *r = rest_of(w);
    uint32_t have = r->launch->stack_bytes;
    uint8_t *stacks = gr_vm_local(r);
    if (!stacks || offset > have || have - offset < info->size) {
        fault_local(w, i, lane, offset, have);
        return NULL;
    }
    return stacks + (size_t)lane * w->local_stride + offset;
}

static uint8_t *generic_at(VmWarp *w, const VmInsn *i, unsigned lane, uint64_t address) {
    if (address - VM_SHARED_BASE < VM_SHARED_SIZE)
        return shared_at(w, i, lane, address - VM_SHARED_BASE);
    if (address - VM_LOCAL_BASE < VM_LOCAL_SIZE)
        return local_at(w, i, lane, address - VM_LOCAL_BASE);
    return global_at(w, i, lane, address);
}

static uint8_t *lane_at(VmWarp *w, const VmInsn *i, PtxSpace space, unsigned lane, uint64_t address) {
    switch (space) {
    case PTX_SHARED: return shared_at(w, i, lane, address);
    case PTX_LOCAL: return local_at(w, i, lane, address);
    case PTX_GENERIC: return generic_at(w, i, lane, address);
    default:
        // The other windows are not global memory, though they have addresses in the same space.
        if (address - VM_SHARED_BASE < VM_SHARED_SIZE || address - VM_LOCAL_BASE < VM_LOCAL_SIZE) {
            gr_vm_stray(w, i, VM_FAULT_ADDRESS_SPACE, lane, address,
                        "used a generic address of %s memory, 0x%llx, as one of %s memory",
                        address - VM_SHARED_BASE < VM_SHARED_SIZE ? "shared" : "local",
                        (unsigned long long)address, gr_ptx_space_text(space));
            return NULL;
        }
        return global_at(w, i, lane, address);
    }
}

// Where the lane's bytes are. NULL: the access is stray (gr_vm_stray).
static uint8_t *aligned_at(VmWarp *w, const VmInsn *i, unsigned lane, uint64_t address) {
    const VmMemInfo *info = i->extra;
    if (!(address & (info->size - 1u)))
        return lane_at(w, i, info->space, lane, address);
    char at[GR_ADDRESS_TEXT];
    gr_vm_stray(w, i, VM_FAULT_MISALIGNED, lane, address, "%s %u bytes at %s, which is not a multiple of %u",
                verb(info), info->size, gr_address_text(address, at), info->size);
    return NULL;
}

// Finds the lanes' bytes. *stray: the lanes that have none. False: a lane faulted.
static bool resolve(VmWarp *w, const VmInsn *i, uint64_t address[VM_LANES], uint8_t *host[VM_LANES],
                    uint32_t *stray) {
    const VmMemInfo *info = i->extra;
    const uint64_t *a64 = VM_U64(w, i->a);
    const uint32_t *a32 = VM_U32(w, i->a);
    bool narrow = info->address_size == 4;
    *stray = 0;
    for (uint32_t m = w->mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        uint64_t a = narrow ? (uint32_t)(a32[l] + (uint32_t)i->imm) : a64[l] + i->imm;
        address[l] = a;
        host[l] = aligned_at(w, i, l, a);
        if (!host[l] && w->stop == VM_STOP_FAULT)
            return false;
        *stray |= (uint32_t)!host[l] << l;
    }
    return true;
}

const VmInsn *gr_vm_access_lanes(VmWarp *w, const VmInsn *i,
                                 void (*access)(VmWarp *w, const VmInsn *i, const uint64_t address[VM_LANES],
                                                uint8_t *host[VM_LANES]),
                                 void (*pass)(VmWarp *w, const VmInsn *i, const uint64_t address[VM_LANES],
                                              uint32_t lanes)) {
    uint64_t address[VM_LANES];
    uint8_t *host[VM_LANES];
    uint32_t stray, mask = w->mask;
    if (!resolve(w, i, address, host, &stray))
        return NULL;
    w->mask &= ~stray;
    if (w->mask)
        access(w, i, address, host);
    w->mask = mask;
    if (stray)
        pass(w, i, address, stray);
    return i + 1;
}

bool gr_vm_look_up(VmWarp *w, const VmInsn *i, uint64_t address[VM_LANES], uint8_t *host[VM_LANES],
                   uint32_t *lanes) {
    uint32_t stray;
    rest_of(w)->strays = VM_STRAYS_QUIET;
    bool found = resolve(w, i, address, host, &stray);
    rest_of(w)->strays = VM_STRAYS_TOLD;
    *lanes = found ? w->mask & ~stray : 0;
    return found;
}

// ---- Moving ------------------------------------------------------------------------------------------------

// memcpy of a size that is not known to the compiler may take several accesses, some of them twice.
void gr_vm_copy_whole(void *to, const void *from, uint32_t size) {
    switch (size) {
    case 1: memcpy(to, from, 1); break;
    case 2: memcpy(to, from, 2); break;
    case 4: memcpy(to, from, 4); break;
    case 8: memcpy(to, from, 8); break;
#ifdef __x86_64__ // aligned ones are atomic on processors with AVX (Intel SDM, volume 3, 9.1.1; AMD agrees)
    case 16:
        __asm__ volatile("movdqu (%1), %%xmm0\n\tmovdqu %%xmm0, (%0)"
                         :
                         : "r"(to), "r"(from)
                         : "xmm0", "memory");
        break;
#endif
    default: memcpy(to, from, size);
    }
}

static void load_lane(VmWarp *w, const VmMemInfo *info, unsigned e, unsigned l, const uint8_t *p) {
    uint64_t v = 0;
    if (info->slot[e] == VM_NO_SLOT)
        return;
    if (info->reg_bytes[e] == 16) {
        uint64_t lohi[2] = {0, 0};
        memcpy(lohi, p, info->elem);
        VM_U64(w, info->slot[e])[l] = lohi[0];
        VM_U64(w, info->slot[e])[VM_LANES + l] = lohi[1];
        return;
    }
    gr_vm_copy_whole(&v, p, info->elem);
    if (info->sext && info->elem < 8) {
        unsigned shift = 64 - 8u * info->elem;
        v = (uint64_t)((int64_t)(v << shift) >> shift);
    }
    switch (info->reg_bytes[e]) {
    case 2: VM_U16(w, info->slot[e])[l] = (uint16_t)v; break;
    case 4: VM_U32(w, info->slot[e])[l] = (uint32_t)v; break;
    default: VM_U64(w, info->slot[e])[l] = v;
    }
}

static void store_lane(const VmWarp *w, const VmMemInfo *info, unsigned e, unsigned l, uint8_t *p) {
    switch (info->reg_bytes[e]) {
    case 2: gr_vm_copy_whole(p, &VM_U16(w, info->slot[e])[l], info->elem); break;
    case 4: gr_vm_copy_whole(p, &VM_U32(w, info->slot[e])[l], info->elem); break;
    case 8: gr_vm_copy_whole(p, &VM_U64(w, info->slot[e])[l], info->elem); break;
    default:
        memcpy(p, &VM_U64(w, info->slot[e])[l], 8);
        memcpy(p + 8, &VM_U64(w, info->slot[e])[VM_LANES + l], 8);
    }
}

void gr_vm_stored(const VmWarp *w, const VmMemInfo *info, unsigned lane, uint8_t *out) {
    for (unsigned e = 0; e < info->vec; e++)
        store_lane(w, info, e, lane, out + e * info->elem);
}

// The other lanes that store to any of those bytes.
static uint32_t overlapping(const VmAccessEvent *e, unsigned lane, uint32_t from, uint32_t n, uint32_t size) {
    // Where an access begins that ends with the first of them.
    uint64_t first = e->address[lane] + from - (size - 1);
    uint32_t lanes = 0;
    for (unsigned l = 0; l < VM_LANES; l++)
        lanes |= (uint32_t)(e->address[l] - first < n + size - 1) << l;
    return lanes & e->where.mask & ~(UINT32_C(1) << lane);
}

bool gr_vm_stores_same(const VmAccessEvent *e, unsigned lane, uint32_t from, uint32_t n) {
    const VmInsn *i = e->insn;
    const VmMemInfo *info = i->extra;
    VmWarp *w = (VmWarp *)e->warp;
    uint8_t stored[16 * VM_MAX_VEC], there[16 * VM_MAX_VEC];
    uint64_t raw = info->address_size == 4 ? (uint32_t)(VM_U32(w, i->a)[lane] + (uint32_t)i->imm)
                                           : VM_U64(w, i->a)[lane] + i->imm;
    if (from + n > info->size)
        return false;
    // The bytes are there, as an earlier question has shown.
    gr_vm_program_bytes(rest_of(w)->launch->device, lane_at(w, i, info->space, lane, raw), info->size, there);
    uint32_t others = overlapping(e, lane, from, n, info->size);
    for (unsigned k = 0; others; k++) {
        unsigned l = commit_lane(k, e->turn);
        if (l == lane)
            break;
        if (!(others >> l & 1))
            continue;
        others &= ~(UINT32_C(1) << l);
        uint64_t above = e->address[l] - e->address[lane], below = e->address[lane] - e->address[l];
        gr_vm_stored(w, info, l, stored);
        if (above < info->size)
            memcpy(there + above, stored, info->size - above);
        else
            memcpy(there, stored + below, info->size - below);
    }
    gr_vm_stored(w, info, lane, stored);
    return !memcmp(there + from, stored + from, n);
}

// Reads what memory holds where the lanes store side by side, from lane `first` on. False: they do not.
static bool side_by_side(const VmGlance *g, unsigned first, uint8_t *there) {
    VmWarp *w = (VmWarp *)g->who;
    const VmInsn *i = g->insn;
    uint32_t size = ((const VmMemInfo *)i->extra)->size;
    unsigned last = 31 - (unsigned)__builtin_clz(g->mask);
    if (g->space != PTX_GLOBAL || g->shape[0] != VM_STEPS || g->shape[1] != VM_STEPS ||
        g->base[0] != g->base[1] || size > 16)
        return false;
    const uint8_t *from = global_at(w, i, first, gr_vm_glance_at(g, first)),
                  *to = global_at(w, i, last, gr_vm_glance_at(g, last));
    if (!from || !to || (size_t)(to - from) != (last - first) * size)
        return false;
    gr_vm_program_bytes(rest_of(w)->launch->device, from, (last - first + 1) * size, there);
    return true;
}

void gr_vm_glance_same(const VmGlance *g, uint32_t lanes[4]) {
    VmWarp *w = (VmWarp *)g->who;
    const VmInsn *i = g->insn;
    const VmMemInfo *info = i->extra;
    const VmDevice *d = rest_of(w)->launch->device;
    unsigned first = (unsigned)__builtin_ctz(g->mask);
    uint8_t stored[16 * VM_MAX_VEC], all[VM_LANES * 16], one[16 * VM_MAX_VEC];
    bool together = side_by_side(g, first, all), word = info->vec == 1 && info->size == 4;
    word &= info->reg_bytes[0] == 4;
    memset(lanes, 0, 4 * sizeof *lanes);
    for (uint32_t m = g->mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        const uint8_t *there = together ? all + (l - first) * info->size : one;
        if (!together) {
            uint64_t at = gr_vm_glance_at(g, l);
            const uint8_t *host = g->space == PTX_SHARED ? w->shared + at : global_at(w, i, l, at);
            if (!host)
                continue;
            gr_vm_program_bytes(d, host, info->size, one);
        }
        if (word) {
            uint32_t now;
            memcpy(&now, there, sizeof now);
            lanes[0] |= (uint32_t)(now == VM_U32(w, info->slot[0])[l]) << l;
            continue;
        }
        gr_vm_stored(w, info, l, stored);
        for (unsigned k = 0; k < 4 && k * 4 < info->size; k++)
            lanes[k] |= memcmp(stored + k * 4, there + k * 4, info->size < 4 ? info->size : 4) ? 0 : m & -m;
    }
}

static void move_whole(VmWarp *w, const VmMemInfo *info, bool store, unsigned l, uint8_t *host) {
    _Alignas(16) uint8_t bytes[16];
    if (!store)
        gr_vm_copy_whole(bytes, host, info->size);
    for (unsigned e = 0; e < info->vec; e++)
        if (store)
            store_lane(w, info, e, l, bytes + e * info->elem);
        else
            load_lane(w, info, e, l, bytes + e * info->elem);
    if (store)
        gr_vm_copy_whole(host, bytes, info->size);
}

// Moves a weak access. False: the caller performs it as usual.
static bool move_weakly(VmWarp *w, const VmInsn *i, bool store, unsigned l, uint64_t address, uint8_t *host) {
    const VmMemInfo *info = i->extra;
    uint64_t shared = info->space == PTX_SHARED ? 0 : VM_SHARED_BASE;
    bool global =
        info->space == PTX_GLOBAL || (info->space == PTX_GENERIC && address - shared >= VM_SHARED_SIZE);
    if ((!global && info->space != PTX_SHARED && info->space != PTX_GENERIC) ||
        (info->space == PTX_GENERIC && address - VM_LOCAL_BASE < VM_LOCAL_SIZE))
        return false;
    if (info->sem != PTX_SEM_NONE && info->sem != PTX_WEAK) {
        gr_vm_weak_strong(w, l, host, info->size, info->sem, store);
        return false;
    }
    for (unsigned e = 0; e < info->vec; e++) {
        uint8_t bytes[16];
        unsigned at = e * info->elem;
        if (store) {
            store_lane(w, info, e, l, bytes);
            gr_vm_weak_store(w, l, global, address + at, host + at, bytes, info->elem);
        } else {
            gr_vm_weak_load(w, l, host + at, bytes, info->elem);
            load_lane(w, info, e, l, bytes);
        }
    }
    return true;
}

VM_HANDLER(gr_vm_x_mem) {
    return --w->budget <= 0 && gr_vm_access_hook(w, i) ? NULL : gr_vm_x_mem_rest(w, i);
}

static void move_lanes(VmWarp *w, const VmInsn *i, const uint64_t address[VM_LANES],
                       uint8_t *host[VM_LANES]) {
    const VmMemInfo *info = i->extra;
    gr_vm_report_access(w, i, address);
    bool store = info->access == PTX_ACCESS_WRITE;
    unsigned turn = store ? gr_vm_rotation(w) : 0;
    bool weak = rest_of(w)->launch->device->weak, beside = w->atomics || gr_vm_is_for_host(info);
    bool whole = beside && gr_vm_is_whole(info);
    if (beside && store && info->sem == PTX_RELEASE)
        __atomic_thread_fence(__ATOMIC_RELEASE);
    for (unsigned k = 0; k < VM_LANES; k++) {
        unsigned l = commit_lane(k, turn);
        if (!(w->mask >> l & 1))
            continue;
        if (weak && move_weakly(w, i, store, l, address[l], host[l]))
            continue;
        if (whole) {
            move_whole(w, info, store, l, host[l]);
            continue;
        }
        for (unsigned e = 0; e < info->vec; e++)
            if (store)
                store_lane(w, info, e, l, host[l] + e * info->elem);
            else
                load_lane(w, info, e, l, host[l] + e * info->elem);
    }
    if (beside && !store && info->sem == PTX_ACQUIRE)
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
}

// ---- Strays --------------------------------------------------------------------------------------------------

// What each lane of a warp last stored where no memory is: an engine that looks again must find it, or sees a race.
struct VmStrayStores {
    uint64_t address[VM_LANES];
    uint32_t size[VM_LANES];
    uint8_t bytes[VM_LANES][16 * VM_MAX_VEC];
};

static void keep_stored(VmWarp *w, const VmMemInfo *info, unsigned l, uint64_t address) {
    VmWarpRest *r = rest_of(w);
    if (!r->stray_stores)
        r->stray_stores = gr_vm_own(r->launch, sizeof *r->stray_stores);
    if (!r->stray_stores) // out of memory: the look finds zero
        return;
    r->stray_stores->address[l] = address;
    r->stray_stores->size[l] = info->size;
    gr_vm_stored(w, info, l, r->stray_stores->bytes[l]);
}

// What an inserted instruction loads there; the program's own reads zero.
static const uint8_t *kept(VmWarp *w, const VmInsn *i, unsigned l, uint64_t address) {
    static const uint8_t zero[16 * VM_MAX_VEC];
    const struct VmStrayStores *s = i->tagged ? rest_of(w)->stray_stores : NULL;
    uint64_t skip = s ? address - s->address[l] : UINT64_MAX;
    const VmMemInfo *info = i->extra;
    return s && skip < s->size[l] && info->size <= s->size[l] - skip ? s->bytes[l] + skip : zero;
}

// The lanes' access goes nowhere.
static void pass(VmWarp *w, const VmInsn *i, const uint64_t address[VM_LANES], uint32_t lanes) {
    const VmMemInfo *info = i->extra;
    for (uint32_t m = lanes; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        if (info->access == PTX_ACCESS_WRITE) {
            keep_stored(w, info, l, address[l]);
            continue;
        }
        const uint8_t *from = kept(w, i, l, address[l]);
        for (unsigned e = 0; e < info->vec; e++)
            load_lane(w, info, e, l, from + e * info->elem);
    }
}

VM_HANDLER(gr_vm_x_mem_rest) { return gr_vm_access_lanes(w, i, move_lanes, pass); }

// ---- Choosing ----------------------------------------------------------------------------------------------

static const VmMemKernels *chosen; // by a test
static bool no_kernels;

static const VmMemKernels *kernels_of(const char *isa) {
    if (!gr_alu_has(isa))
        return NULL;
#ifdef GR_VM_HAVE_LEVELS
    if (!strcmp(isa, "v4"))
        return &gr_vm_mem_kernels_v4;
    if (!strcmp(isa, "v3"))
        return &gr_vm_mem_kernels_v3;
#endif
    return &gr_vm_mem_kernels_base;
}

const VmMemKernels *gr_vm_mem_kernels(void) {
    static const VmMemKernels *newest; // all threads find the same
    const VmMemKernels *k = chosen ? chosen : __atomic_load_n(&newest, __ATOMIC_RELAXED);
    for (const char *const *isa = (const char *const[]){"v4", "v3", "base"}; !k; isa++)
        __atomic_store_n(&newest, k = kernels_of(*isa), __ATOMIC_RELAXED);
    return k;
}

bool gr_vm_mem_use(const char *isa) {
    no_kernels = isa && !strcmp(isa, "none");
    chosen = isa && !no_kernels ? kernels_of(isa) : NULL;
    return !isa || no_kernels || chosen;
}

void gr_vm_mem_select(const Decoder *d, VmMemInfo *info, bool store, VmExec out[2]) {
    out[0] = out[1] = gr_vm_x_mem;
    if (no_kernels || d->m->device->weak || (d->m->device->config.jobs > 1 && gr_vm_is_whole(info)))
        return;
    int where, shape = -1;
#ifndef __x86_64__ // where every load acquires and every store releases
    if (info->sem == PTX_ACQUIRE || info->sem == PTX_RELEASE)
        return;
#endif
    switch (info->space) {
    case PTX_GLOBAL:
    case PTX_CONST: where = MEM_GLOBAL; break;
    case PTX_GENERIC: where = MEM_GENERIC; break;
    case PTX_SHARED: where = info->address_size == 4 ? MEM_SHARED32 : MEM_SHARED64; break;
    case PTX_LOCAL: where = -1; break;
    default: return;
    }
    bool same = true;
    for (unsigned e = 0; e < info->vec; e++) {
        if (info->reg_bytes[e] > 8)
            return;
        same &= info->reg_bytes[e] == info->elem;
    }
    info->same_width = same && (info->elem == 4 || info->elem == 8);
    const VmMemKernels *k = gr_vm_mem_kernels();
    out[0] = out[1] = k->lanes;
    if (!same || where < 0 || (where != MEM_SHARED32 && info->address_size != 8))
        return;
    if (info->elem == 4)
        shape = info->vec == 1 ? MEM_B32 : info->vec == 2 ? MEM_V2B32 : info->vec == 4 ? MEM_V4B32 : -1;
    else if (info->elem == 8)
        shape = info->vec == 1 ? MEM_B64 : info->vec == 2 ? MEM_V2B64 : -1;
    if (shape < 0 || (info->vec == 1 && info->slot[0] == VM_NO_SLOT))
        return;
    out[0] = k->exec[store][where][shape][0];
    out[1] = k->exec[store][where][shape][1];
}

// ---- For system calls --------------------------------------------------------------------------------------

void *gr_vm_generic(VmWarp *w, unsigned lane, uint64_t address, uint64_t size) {
    VmWarpRest *r = rest_of(w);
    if (r->launch->device->weak)
        gr_vm_weak_release(r, UINT32_C(1) << lane);
    if (address - VM_SHARED_BASE < VM_SHARED_SIZE) {
        VmBlock *owner;
        VmSharedMiss miss;
        return gr_vm_shared_find(r->block->cluster, address - VM_SHARED_BASE, size, &owner, &miss);
    }
    if (address - VM_LOCAL_BASE < VM_LOCAL_SIZE) {
        uint64_t o = address - VM_LOCAL_BASE, have = r->launch->stack_bytes;
        uint8_t *stacks = gr_vm_local(r);
        return stacks && o <= have && size <= have - o ? stacks + (size_t)lane * w->local_stride + o : NULL;
    }
    const VmRange *m = gr_vm_mem_reach(r->launch->device->mem, address, r->launch->number);
    return m && size <= m->size - (address - m->addr) ? (char *)(uintptr_t)address + m->delta : NULL;
}

const char *gr_vm_generic_string(VmWarp *w, unsigned lane, uint64_t address) {
    for (uint64_t n = 1; n < 1 << 20; n++) {
        const char *p = gr_vm_generic(w, lane, address, n);
        if (!p)
            return NULL;
        if (!p[n - 1])
            return p;
    }
    return NULL;
}
