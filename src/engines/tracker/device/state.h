// SPDX-License-Identifier: Apache-2.0
// state — the thread that executes inserted code, for both rule sets: its number and block, where metadata is, and how
// a pair is recorded. Device code only.
#ifndef GR_ENGINES_TRACKER_DEVICE_STATE_H
#define GR_ENGINES_TRACKER_DEVICE_STATE_H

#include "device_api/device.h"
#include "engines/tracker/device/record.h"

#ifdef GR_SEQUENTIAL
#define GR_CONTROL (*gr_now.control)
#else
extern GR_GLOBAL GrTrackerControl __gr_control;
#define GR_CONTROL __gr_control
#endif

#ifndef GR_SEQUENTIAL
GR_SREG32(gr_ntid_z, "ntid.z")
GR_SREG32(gr_nctaid_x, "nctaid.x")
GR_SREG32(gr_nctaid_y, "nctaid.y")
GR_SREG32(gr_nctaid_z, "nctaid.z")
GR_SREG32(gr_total_smem, "total_smem_size")
#endif

#include "engines/tracker/device/launches.h"

// Lanes that come to the runtime together leave it together, as the assembler expects: where lanes have met at
// bar.warp.sync, it leaves out the next one, and what shuffles need, if nothing between seems to part them. It does not
// see that calls do.
#define GR_TOGETHER(call)                                                                                    \
    do {                                                                                                     \
        uint32_t lanes_of_call = gr_active_mask();                                                           \
        call;                                                                                                \
        gr_rejoin(lanes_of_call);                                                                            \
    } while (0)

// The thread that executes this.
typedef struct Me {
    uint32_t launch; // of %gridid
    uint32_t block;  // linear
    uint32_t tid;    // linear within the block
    GR_GLOBAL GrThreadState *state;
} Me;

GR_INLINE GR_GLOBAL GrThreadState *gr_thread_state(uint32_t block, uint32_t tid) {
    uint32_t n = gr_ntid_x() * gr_ntid_y() * gr_ntid_z();
    return gr_thread_place(gr_places_of((uint32_t)gr_grid_id()), block * n + tid);
}

GR_INLINE GR_GLOBAL GrBlockState *gr_block_state(uint32_t block) {
    return gr_block_place(gr_places_of((uint32_t)gr_grid_id()), block);
}

GR_INLINE Me gr_me(void) {
    Me m;
    m.launch = (uint32_t)gr_grid_id();
    m.block = gr_ctaid_x() + gr_nctaid_x() * (gr_ctaid_y() + gr_nctaid_y() * gr_ctaid_z());
    m.tid = gr_tid_x() + gr_ntid_x() * (gr_tid_y() + gr_ntid_y() * gr_tid_z());
    m.state = gr_thread_state(m.block, m.tid);
    return m;
}

// The grid has more blocks than the word of an access tells apart.
GR_INLINE int gr_blocks_alias(void) {
    return (uint64_t)gr_nctaid_x() * gr_nctaid_y() * gr_nctaid_z() > GR_BLOCKS;
}

// ---- Clusters ------------------------------------------------------------------------------------------------

#ifdef GR_CLUSTERS
#ifndef GR_SEQUENTIAL
GR_SREG32(gr_cluster_nctaid_x, "cluster_nctaid.x")
GR_SREG32(gr_cluster_nctaid_y, "cluster_nctaid.y")
GR_SREG32(gr_cluster_nctaid_z, "cluster_nctaid.z")
GR_SREG32(gr_cluster_blocks, "cluster_nctarank")

GR_INLINE uint32_t gr_rank_of(uint64_t at) {
    uint32_t rank;
    __asm__("getctarank.shared::cluster.u64 %0, %1;" : "=r"(rank) : "l"(at));
    return rank;
}

GR_INLINE int gr_is_cluster_shared(uint64_t generic, uint64_t *at) {
    uint32_t yes;
    __asm__("{ .reg .pred p; isspacep.shared::cluster p, %1; selp.u32 %0, 1, 0, p; }"
            : "=r"(yes)
            : "l"(generic));
    if (yes)
        __asm__("cvta.to.shared::cluster.u64 %0, %1;" : "=l"(*at) : "l"(generic));
    return (int)yes;
}
#endif

typedef struct Place {
    uint32_t x, y, z;
} Place;

GR_INLINE Place gr_place(uint32_t block) {
    uint32_t nx = gr_nctaid_x(), ny = gr_nctaid_y();
    return (Place){block % nx, block / nx % ny, block / nx / ny};
}

// The two blocks, by linear numbers, are of one cluster.
GR_INLINE int gr_same_cluster(uint32_t a, uint32_t b) {
    if (gr_cluster_blocks() == 1)
        return 0;
    Place p = gr_place(a), q = gr_place(b);
    uint32_t cx = gr_cluster_nctaid_x(), cy = gr_cluster_nctaid_y(), cz = gr_cluster_nctaid_z();
    return p.x / cx == q.x / cx && p.y / cy == q.y / cy && p.z / cz == q.z / cz;
}

// The block with that rank in the cluster.
GR_INLINE uint32_t gr_block_of_rank(uint32_t rank) {
    uint32_t cx = gr_cluster_nctaid_x(), cy = gr_cluster_nctaid_y(), cz = gr_cluster_nctaid_z();
    uint32_t x = gr_ctaid_x() / cx * cx + rank % cx, y = gr_ctaid_y() / cy * cy + rank / cx % cy,
             z = gr_ctaid_z() / cz * cz + rank / cx / cy;
    return x + gr_nctaid_x() * (y + gr_nctaid_y() * z);
}

#else
GR_INLINE int gr_same_cluster(uint32_t a, uint32_t b) { return 0 * (int)(a + b); }
#endif

// In a cluster the block's rank stands above the offset; an address of the own block may have none.
enum { GR_SHARED_OFFSET = 0xffffff };

// The address is of shared memory; *at then becomes the offset in the memory of block *owner.
GR_INLINE int gr_shared_owner(uint32_t space, uint32_t block, uint64_t *at, uint32_t *owner) {
    *owner = block;
    if (space == GR_SPACE_GLOBAL)
        return 0;
    if (space == GR_SPACE_SHARED || (space == GR_SPACE_GENERIC && gr_is_shared(*at, at))) {
        *at &= GR_SHARED_OFFSET;
        return 1;
    }
#ifdef GR_CLUSTERS
    uint64_t in = *at;
    if (space == GR_SPACE_GENERIC && !gr_is_cluster_shared(*at, &in))
        return 0;
    *owner = gr_block_of_rank(gr_rank_of(in));
    *at = in & GR_SHARED_OFFSET;
    return 1;
#else
    return space == GR_SPACE_CLUSTER;
#endif
}

// ---- Where metadata lies -----------------------------------------------------------------------------------

// The cells of the block's shared memory, for *bytes of it; 0: none. Blocks whose numbers are equal modulo a power of
// two share cells: an access's word says whose it is.
GR_INLINE uint64_t gr_shared_cells(uint32_t block, uint32_t *bytes) {
    uint32_t size = 1024 + gr_total_smem(); // the system's own come first
    uint32_t room = 0x80000000u >> __builtin_clz(size - 1) << 1;
    const uint32_t cell = GR_HISTORY <= 2 ? 32 : GR_HISTORY <= 4 ? 64 : GR_HISTORY <= 8 ? 128 : 256;
    uint32_t slot = room / 4 * cell, all = (uint32_t)GR_CONTROL.shared_bytes; // powers of two
    *bytes = slot <= all ? room : 0;
    return *bytes ? GR_CONTROL.shared + ((uint64_t)block * slot & (all - 1)) : 0;
}

// The cell of the four bytes at that offset from the address that `cells` begin with.
GR_INLINE GR_GLOBAL GrCell *gr_cell(uint64_t cells, uint32_t offset) {
    return (GR_GLOBAL GrCell *)(cells + gr_group_offset(offset >> 2, sizeof(GrCell)));
}

// The cell of the four bytes around a global address; 0: none. `where`: GrTrackerControl.dir.
GR_INLINE GR_GLOBAL GrCell *gr_global_cell_in(uint64_t where, uint64_t at) {
    GR_GLOBAL uint64_t *dir = (GR_GLOBAL uint64_t *)where;
    const uint64_t top = at >> GR_DIR_SHIFT;
    if (top >= GR_DIR_COUNT)
        return 0;
    GR_GLOBAL uint64_t *part = (GR_GLOBAL uint64_t *)gr_fetch64(&dir[top]);
    if (!part)
        return 0;
    uint64_t cells = gr_fetch64(&part[at >> GR_PART_SHIFT & (GR_PART_COUNT - 1)]);
    return cells ? gr_cell(cells, (uint32_t)at & ((1u << GR_PART_SHIFT) - 1)) : 0;
}

GR_INLINE GR_GLOBAL GrCell *gr_global_cell(uint64_t at) { return gr_global_cell_in(GR_CONTROL.dir, at); }

// ---- Races -------------------------------------------------------------------------------------------------

typedef struct Side {
    uint32_t site, what, block, tid;
    GR_GLOBAL GrLaunchState *of; // of another launch; 0: of this one, or of no kernel
} Side;

GR_INLINE void gr_put_side(GR_GLOBAL GrTrackedSide *to, const Side *s) {
    uint32_t nx = gr_ntid_x(), ny = gr_ntid_y(), gx = gr_nctaid_x(), gy = gr_nctaid_y();
    if (s->of) {
        nx = gr_load32(&s->of->block[0]), ny = gr_load32(&s->of->block[1]);
        gx = gr_load32(&s->of->grid[0]), gy = gr_load32(&s->of->grid[1]);
        gr_store32(&to->module, gr_load32(&s->of->module));
    }
    gr_store64(&to->launch, s->what >> GR_WHAT_BY ? 0 : s->of ? gr_load64(&s->of->number) : gr_grid_id());
    gr_store32(&to->site, s->site);
    gr_store32(&to->what, s->what);
    gr_store32(&to->warp, s->tid / 32);
    gr_store32(&to->thread[0], s->tid % nx);
    gr_store32(&to->thread[1], s->tid / nx % ny);
    gr_store32(&to->thread[2], s->tid / nx / ny);
    gr_store32(&to->block[0], s->block % gx);
    gr_store32(&to->block[1], s->block / gx % gy);
    gr_store32(&to->block[2], s->block / gx / gy);
}

// How far apart the two are: lanes of a warp, warps of a block, blocks, launches. A pair that races at several of these
// widths has a record of each: what orders lanes does not order warps. Classes are below 64.
enum { GR_OF_LANES, GR_OF_WARPS, GR_OF_BLOCKS, GR_OF_LAUNCHES };

GR_INLINE uint32_t gr_pair_width(const Side *a, const Side *b) {
    return b->of || b->what >> GR_WHAT_BY ? GR_OF_LAUNCHES
           : a->block != b->block         ? GR_OF_BLOCKS
           : a->tid / 32 != b->tid / 32   ? GR_OF_WARPS
                                          : GR_OF_LANES;
}

GR_INLINE uint64_t gr_pair_key(uint32_t width, uint32_t class, uint32_t site, uint32_t other) {
    uint64_t key =
        (uint64_t)(width << 6 | class) << 56 | (uint64_t)(site & 0xfffffff) << 28 | (other & 0xfffffff);
    return key ? key : 1;
}

GR_INLINE uint32_t gr_pair_slot(uint64_t key) { return (uint32_t)(key * UINT64_C(0x9E3779B97F4A7C15) >> 40); }

static void gr_put_pair(uint32_t class, uint32_t rule, uint32_t shared, uint64_t address, uint32_t bytes,
                        const Side *mine, const Side *other) {
    GR_GLOBAL GrTrackedHeader *head = (GR_GLOBAL GrTrackedHeader *)GR_CONTROL.area;
    GR_GLOBAL GrPair *pairs = (GR_GLOBAL GrPair *)(head + 1);
    if (!other->site && !(other->what >> GR_WHAT_BY)) { // above the sites that a word can name
        gr_count(&head->dropped, 1);
        return;
    }
    uint32_t by = other->what >> GR_WHAT_BY; // all calls of the API's are one
    // Makes other numbers of sites of another module, and of no site, than this module's sites have.
    uint32_t far =
        (other->of ? gr_load32(&other->of->module) ^ GR_CONTROL.module : 0) * 0x9E3779B1u ^ by << 24;
    uint64_t key = gr_pair_key(gr_pair_width(mine, other), class, mine->site, (by ? 0 : other->site) ^ far);
    uint32_t at = gr_pair_slot(key);
    GR_ROLLED
    for (uint32_t k = 0; k < GR_PAIR_TRIES; k++) {
        GR_GLOBAL GrPair *p = &pairs[(at + k) & (GR_CONTROL.pairs - 1)];
        uint64_t there = gr_load64(&p->key);
        if (!there)
            there = gr_compare_swap64(&p->key, 0, key);
        if (there && there != key)
            continue;
        gr_count(&p->count, 1);
        if (!there) {
            gr_store32(&p->rule, rule);
            gr_store64(&p->address, address);
            gr_store32(&p->class, class);
            gr_store32(&p->space, shared);
            gr_store32(&p->bytes, bytes);
            gr_put_side(&p->side[0], mine);
            gr_put_side(&p->side[1], other);
            gr_store32(&p->state, GR_PAIR_READY);
        }
        if (GR_CONTROL.stop)
            gr_trap();
        return;
    }
    gr_count(&head->dropped, 1);
}

// A thread of another launch, or of a later block, has taken the thread's place.
GR_INLINE void gr_put_crowded(void) { gr_count(&((GR_GLOBAL GrTrackedHeader *)GR_CONTROL.area)->crowded, 1); }

// The program accessed memory without metadata. Strong accesses are not counted: they synchronize, often in memory of
// the system (cooperative groups), and race with weak ones only.
GR_INLINE void gr_put_unchecked(uint64_t at) {
    GR_GLOBAL GrTrackedHeader *head = (GR_GLOBAL GrTrackedHeader *)GR_CONTROL.area;
    if (!gr_load64(&head->unchecked))
        gr_store64(&head->unchecked, at ? at : 1);
}

#endif
