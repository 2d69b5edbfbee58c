// SPDX-License-Identifier: Apache-2.0
// collider_async — the collider's code before cp.async (figure 4b of the paper) and before bulk copies (4d, and its
// converse).
//
// A copy may read its source and write its destination at any time from its issue on. So a thread that touches either
// in a way that conflicts races with the copy, and the inserted code may do at the issue what the copy does:
//
//     ld.global.b32  v, [src];                  the program's copy, as ordinary accesses
//     st.shared.b32  [dst], v;
//     nanosleep.u32  delay;
//     ld.relaxed.sys.global.b32 s, [src];       s is not v: clobbered read, of the source
//     ld.relaxed.sys.shared.b32 d, [dst];       d is not v: lost update, of the destination
//     st.relaxed.sys.shared.b32 [dst], ~s…;     clobbered: a thread that reads before the copy has written sees it
//     cp.async.ca.shared.global [dst], [src], 4;
//
// The program's result stays what it was: an asynchronous operation is ordered after prior instructions of its thread
// (PTX ISA 9.0, 8.9.1.1). So the clobbered bytes come before the copy's in coherence order, and a thread that is
// ordered after the copy's write sees the copy's bytes. A bulk copy writes through the async proxy: there a proxy
// fence, of the destination's space alone, goes between the two.
#ifndef GR_ENGINES_COLLIDER_PASS_COLLIDER_ASYNC_H
#define GR_ENGINES_COLLIDER_PASS_COLLIDER_ASYNC_H

#include "engines/collider/pass/collider_pace.h"

// A copy's two ends; what is inserted for either stands before the copy.
typedef struct Copy {
    PtxSite src_site, dst_site; // the copy's, as a read of its source and a write of its destination
    Access src, dst;
    unsigned bytes; // cp.async: how many are written
    // How many are read, where that is not the same: `size`, and none where `ignore` is true. NULL: all. Bulk: the size
    // of both.
    const PtxOperand *size, *ignore;
    bool bulk;
    const PtxOperand *ranks; // bulk: the blocks of the cluster that are written; NULL: one
    bool source_only;        // the destination is updated atomically
} Copy;

// A bulk copy's ends as generic addresses, its size, and the hash of what the destination is the complement of (NULL:
// it is not), in registers.
typedef struct CopyEnds {
    PtxReg *dst, *src, *size, *hash;
} CopyEnds;

// Reads the copy at `site` (site->copy). GR_SITE_CHECKED when it can be instrumented; its Access structs point into *c.
GrSiteStatus gr_copy_read(const PtxSite *site, bool nested, gr_error *err, Copy *c);

// Inserts the checks before the copy.
gr_status gr_collider_copy(ColliderWork *w, Copy *c);
// collider_bulk.c: the same for bulk copies.
gr_status gr_collider_bulk(ColliderWork *w, Copy *c);

// At `at`, where `where` holds (NULL: always): bulk copies that come next are late, by up to `times` the longest that
// one is.
gr_status gr_bulk_jam(ColliderWork *w, const Access *a, PtxStmt *at, uint32_t times, const PtxReg *where);

// Both begin with this: what they insert goes before gate->at, and may be left out as other windows are.
gr_status gr_copy_open(ColliderWork *w, Copy *c, Gate *gate);

// Emits code at `at` that leaves the generic address of one end in the new register *out.
gr_status gr_copy_generic(const Access *end, PtxStmt *at, PtxReg **out);

// The longest delay of a copy, which is a load and a store.
uint32_t gr_copy_delay_ns(const ColliderWork *w);

// Whether threads hold operations back, or issue them later (ColliderOptions.holds).
bool gr_copy_may_be_late(const ColliderWork *w);

// The runtime that the module needs: its copies are done by inserted code, by collider_copy.c, or by
// collider_cluster.c. `holds`: copies may be held back.
const char *gr_copy_runtime(const PtxModule *m, bool holds);

#endif
