// SPDX-License-Identifier: Apache-2.0
// collective — shfl, vote, match, redux, elect, activemask and bar.warp.sync (PTX ISA 9.7.9.6, 9.7.13).
//
// A .sync collective is executed once all lanes of its member mask that have not exited are at an instruction of that
// kind with that mask, at any place. Lanes that come early wait as splits of their own. One computation then serves all
// lanes, and lanes at one place go on together.
#include "vm/core/exec.h"
#include "vm/core/fault.h"
#include "vm/core/launch.h"
#include "vm/core/sync_insn.h"
#include "vm/core/tell.h"
#include "vm/core/warp.h"

#include <math.h>
#include <string.h>

typedef struct Lanes {
    uint32_t mask; // lanes that are here
    uint64_t a[VM_LANES], d[VM_LANES];
    uint32_t b[VM_LANES], c[VM_LANES];
    uint32_t pred;    // predicate source
    uint32_t p;       // second result
    uint32_t missing; // lanes that shuffle with one that is not here
    const VmCollectiveInfo *info[VM_LANES];
} Lanes;

// ---- What lanes compute ------------------------------------------------------------------------------------

// PTX ISA 9.7.9.6, pseudo-code of shfl. A source lane that does not take part gives 0, as on an H200.
static void shfl(Lanes *x, unsigned lane) {
    uint32_t bval = x->b[lane] & 31, cval = x->c[lane] & 31, seg = x->c[lane] >> 8 & 31;
    int min = (int)(lane & seg), max = (int)((lane & seg) | (cval & ~seg)), j;
    bool p;
    switch (x->info[lane]->op) {
    case VM_SHFL_UP:
        j = (int)lane - (int)bval;
        p = j >= max;
        break;
    case VM_SHFL_DOWN:
        j = (int)(lane + bval);
        p = j <= max;
        break;
    case VM_SHFL_BFLY:
        j = (int)(lane ^ bval);
        p = j <= max;
        break;
    default: j = min | (int)(bval & ~seg); p = j <= max;
    }
    if (!p)
        j = (int)lane;
    if (!(x->mask >> (j & 31) & 1)) {
        x->missing |= UINT32_C(1) << lane;
        x->d[lane] = 0;
    } else
        x->d[lane] = x->a[j & 31];
    x->p |= (uint32_t)p << lane;
}

static uint64_t vote(const Lanes *x, unsigned lane) {
    uint32_t yes = x->pred & x->mask;
    switch (x->info[lane]->op) {
    case VM_VOTE_ALL: return yes == x->mask;
    case VM_VOTE_ANY: return yes != 0;
    case VM_VOTE_UNI: return yes == x->mask || !yes;
    default: return yes;
    }
}

// All lanes at once: the common cases, all different because growing and all equal, take one pass.
static void match(Lanes *x) {
    bool growing = true, equal = true;
    uint64_t last = 0;
    for (uint32_t m = x->mask, first = 1; m; m &= m - 1, first = 0) {
        uint64_t v = x->a[__builtin_ctz(m)];
        if (!first) {
            growing &= v > last;
            equal &= v == last;
        }
        last = v;
    }
    for (uint32_t left = x->mask; left;) {
        unsigned l = (unsigned)__builtin_ctz(left);
        uint32_t same = growing ? UINT32_C(1) << l : x->mask;
        if (!growing && !equal) {
            same = 0;
            for (unsigned k = 0; k < VM_LANES; k++)
                same |= (uint32_t)(x->a[k] == x->a[l]) << k;
            same &= x->mask;
        }
        for (uint32_t m = same; m; m &= m - 1) {
            unsigned k = (unsigned)__builtin_ctz(m);
            bool all = same == x->mask;
            x->d[k] = x->info[k]->op == VM_MATCH_ANY || all ? same : 0;
            x->p |= (uint32_t)all << k;
        }
        left &= ~same;
    }
}

static float as_float(uint32_t v) {
    float f;
    memcpy(&f, &v, 4);
    return f;
}

static uint32_t redux_f32(const VmCollectiveInfo *info, uint32_t a, uint32_t b) {
    if (info->abs) {
        a &= 0x7fffffff;
        b &= 0x7fffffff;
    }
    float x = as_float(a), y = as_float(b);
    if (isnan(x) || isnan(y)) {
        if (info->nan || (isnan(x) && isnan(y)))
            return 0x7fffffff;
        return isnan(x) ? b : a;
    }
    if (x == y) // +0 > -0
        return info->op == VM_REDUX_MIN ? (a >> 31 ? a : b) : (a >> 31 ? b : a);
    return (x < y) == (info->op == VM_REDUX_MIN) ? a : b;
}

static uint32_t redux2(const VmCollectiveInfo *info, uint32_t a, uint32_t b) {
    if (info->type == PTX_F32)
        return redux_f32(info, a, b);
    bool less = info->type == PTX_S32 ? (int32_t)a < (int32_t)b : a < b;
    switch (info->op) {
    case VM_REDUX_ADD: return a + b;
    case VM_REDUX_MIN: return less ? a : b;
    case VM_REDUX_MAX: return less ? b : a;
    case VM_REDUX_AND: return a & b;
    case VM_REDUX_OR: return a | b;
    default: return a ^ b;
    }
}

static uint64_t redux(const Lanes *x, unsigned lane) {
    const VmCollectiveInfo *info = x->info[lane];
    unsigned first = (unsigned)__builtin_ctz(x->mask);
    uint32_t v = (uint32_t)x->a[first];
    if (info->type == PTX_F32 && info->abs)
        v &= 0x7fffffff;
    for (uint32_t m = x->mask & (x->mask - 1); m; m &= m - 1)
        v = redux2(info, v, (uint32_t)x->a[__builtin_ctz(m)]);
    return v;
}

static void compute(Lanes *x) {
    uint32_t leader = (uint32_t)__builtin_ctz(x->mask);
    if (x->info[leader]->kind == VM_COLL_MATCH) {
        match(x);
        return;
    }
    for (uint32_t m = x->mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        switch (x->info[l]->kind) {
        case VM_COLL_SHFL: shfl(x, l); break;
        case VM_COLL_VOTE: x->d[l] = vote(x, l); break;
        case VM_COLL_REDUX: x->d[l] = redux(x, l); break;
        case VM_COLL_ELECT:
            x->d[l] = leader;
            x->p |= (uint32_t)(l == leader) << l;
            break;
        default: break;
        }
    }
}

// ---- Reading and writing registers -------------------------------------------------------------------------

static void gather(Lanes *x, const uint8_t *frame, const VmInsn *i, uint32_t mask) {
    const VmCollectiveInfo *info = i->extra;
    const uint32_t *a32 = (const uint32_t *)(const void *)(frame + i->a);
    const uint64_t *a64 = (const uint64_t *)(const void *)(frame + i->a);
    x->mask |= mask;
    if (info->bytes == 0)
        x->pred = (x->pred & ~mask) | (*a32 & mask);
    for (uint32_t m = mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        x->info[l] = info;
        if (info->bytes == 4)
            x->a[l] = a32[l];
        else if (info->bytes == 8)
            x->a[l] = a64[l];
        if (info->kind == VM_COLL_SHFL) {
            x->b[l] = ((const uint32_t *)(const void *)(frame + i->b))[l];
            x->c[l] = ((const uint32_t *)(const void *)(frame + i->c))[l];
        }
    }
}

static void scatter(const Lanes *x, uint8_t *frame, const VmInsn *i, uint32_t mask) {
    const VmCollectiveInfo *info = i->extra;
    uint32_t *d = (uint32_t *)(void *)(frame + i->d), *p = (uint32_t *)(void *)(frame + i->d2);
    if (info->has_d && info->d_is_pred) {
        uint32_t v = 0;
        for (uint32_t m = mask; m; m &= m - 1)
            v |= (uint32_t)(x->d[__builtin_ctz(m)] != 0) << __builtin_ctz(m);
        *d = (*d & ~mask) | v;
    } else if (info->has_d)
        for (uint32_t m = mask; m; m &= m - 1)
            d[__builtin_ctz(m)] = (uint32_t)x->d[__builtin_ctz(m)];
    if (info->has_d2)
        *p = (*p & ~mask) | (x->p & mask);
}

static void report(VmWarpRest *r, const VmInsn *i, uint32_t mask, uint32_t met) {
    const VmCollectiveInfo *info = i->extra;
    if (info->kind == VM_COLL_BARRIER)
        gr_vm_report_sync(r, i, mask, VM_SYNC_WARP, met, PTX_SEM_NONE, PTX_SCOPE_CTA);
}

// ---- Meeting -----------------------------------------------------------------------------------------------

static const VmCollectiveInfo *info_of(const VmSplit *p) { return p->pc->extra; }

static bool together(const VmSplit *p, const VmSplit *q) {
    return q->state == VM_SPLIT_COLLECTIVE && q->member == p->member && info_of(q)->kind == info_of(p)->kind;
}

// Undefined behaviour (PTX ISA 9.7.9.6), though programs often throw the result away. Reports a place once in a row.
static void tell_missing(VmWarp *w, const VmInsn *i, uint32_t lanes) {
    VmLaunch *l = rest_of(w)->launch;
    const VmInsn **told = &l->told_shuffle[(uintptr_t)i / sizeof *i % TOLD_SHUFFLES];
    l->undefined_collectives += count_lanes(lanes);
    if (*told == i)
        return;
    *told = i;
    unsigned lane = (unsigned)__builtin_ctz(lanes);
    gr_vm_misuse(w, i, VM_SHUFFLE_OF_MISSING, lane, 1, "is lane %u of its warp", lane);
}

// Executes the collective that split number s waits in, if no lane is missing.
static bool try_meet(VmWarpRest *r, uint32_t s) {
    VmSplit key = r->splits[s];
    uint32_t here = 0;
    for (uint32_t k = 0; k < r->n_splits; k++)
        if (together(&key, &r->splits[k]))
            here |= r->splits[k].mask;
    if (key.member & r->live & ~here)
        return false;
    Lanes x;
    memset(&x, 0, sizeof x);
    for (uint32_t k = 0; k < r->n_splits; k++)
        if (together(&key, &r->splits[k]))
            gather(&x, r->splits[k].act->frame, r->splits[k].pc, r->splits[k].mask);
    compute(&x);
    for (uint32_t k = 0; k < r->n_splits; k++) {
        VmSplit *p = &r->splits[k];
        if (!together(&key, p))
            continue;
        scatter(&x, p->act->frame, p->pc, p->mask);
        uint32_t cur = r->cur;
        r->cur = k;
        report(r, p->pc, p->mask, here);
        if (x.missing & p->mask)
            tell_missing(&r->hot, p->pc, x.missing & p->mask);
        r->cur = cur;
        p->pc++;
        gr_vm_split_set_state(r, k, VM_SPLIT_READY);
    }
    if (r->n_splits > 1)
        gr_vm_merge_ready(r);
    return true;
}

void gr_vm_collective_recheck(VmWarpRest *r) {
    for (uint32_t s = 0; s < r->n_splits; s++)
        if (r->splits[s].state == VM_SPLIT_COLLECTIVE && try_meet(r, s))
            s = UINT32_MAX; // splits have moved: from the start
}

static uint32_t lanes_with(const uint32_t *member, uint32_t mask, uint32_t value) {
    uint32_t same = 0;
    for (uint32_t m = mask; m; m &= m - 1)
        same |= (uint32_t)(member[__builtin_ctz(m)] == value) << __builtin_ctz(m);
    return same;
}

// Undefined behaviour (PTX ISA): lanes outside their own mask. They take part with the lanes that are here at once.
static void tell_outside(VmWarp *w, const VmInsn *i, uint32_t lanes) {
    unsigned lane = (unsigned)__builtin_ctz(lanes);
    uint32_t n = count_lanes(lanes);
    rest_of(w)->launch->undefined_collectives += n;
    gr_vm_misuse(w, i, VM_MISUSE_MASK, lane, n, "is lane %u of its warp, and used the mask 0x%08x", lane,
                 VM_U32(w, i->e)[lane]);
}

// The running lanes by their member masks.
typedef struct Members {
    uint32_t outside; // lanes that their own masks do not name
    uint32_t first;   // lanes that use the mask of the first
    bool complete;    // no lane is missing
    bool leave_out;   // a mask does not name all lanes that run here, or would but for the device
} Members;

static Members members(const VmWarp *w, const VmInsn *i) {
    const VmCollectiveInfo *info = i->extra;
    const VmWarpRest *r = (const VmWarpRest *)(const void *)w;
    const uint32_t *member = VM_U32(w, i->e);
    uint32_t together = w->mask | (r->splits[r->cur].kin & r->live);
    Members m = {.first = 0, .complete = true};
    for (uint32_t left = w->mask; left;) {
        uint32_t value = member[__builtin_ctz(left)];
        uint32_t same = info->constant ? left : lanes_with(member, left, value);
        m.outside |= same & ~value;
        m.leave_out |= (together & ~value) != 0;
        m.complete &= !(same & value) || !(value & r->live & ~same);
        m.first = m.first ? m.first : same;
        left &= ~same;
    }
    return m;
}

// No lane is missing. Lanes shuffle with all that run here, as on an H200; other results are of one mask's lanes.
static const VmInsn *execute(VmWarp *w, const VmInsn *i, bool one_mask) {
    VmWarpRest *r = rest_of(w);
    const VmCollectiveInfo *info = i->extra;
    const uint32_t *member = VM_U32(w, i->e);
    Lanes x;
    for (uint32_t left = w->mask; left;) {
        uint32_t same = one_mask || info->kind == VM_COLL_SHFL
                            ? left
                            : lanes_with(member, left, member[__builtin_ctz(left)]);
        x.mask = x.pred = x.p = x.missing = 0;
        gather(&x, w->frame, i, same);
        compute(&x);
        scatter(&x, w->frame, i, same);
        report(r, i, same, same);
        if (x.missing)
            tell_missing(w, i, x.missing);
        left &= ~same;
    }
    return i + 1;
}

VM_HANDLER(gr_vm_x_collective) {
    VmWarpRest *r = rest_of(w);
    const VmCollectiveInfo *info = i->extra;
    if (!info->sync)
        return gr_vm_gathers(w, i) ? NULL : execute(w, i, true);
    Members m = members(w, i);
    if (m.leave_out && info->kind != VM_COLL_BARRIER && gr_vm_gathers(w, i))
        return NULL;
    if (!m.complete && m.first != w->mask) // each group of one mask waits by itself
        return gr_vm_diverge(w, m.first, i, i, i->rejoin);
    if (m.outside)
        tell_outside(w, i, m.outside);
    if (m.complete)
        return execute(w, i, m.first == w->mask);
    VmSplit *p = split_of(w);
    p->pc = i;
    p->member = VM_U32(w, i->e)[__builtin_ctz(w->mask)];
    gr_vm_split_set_state(r, r->cur, VM_SPLIT_COLLECTIVE);
    try_meet(r, r->cur);
    w->stop = VM_STOP_WAIT;
    return NULL;
}

VM_HANDLER(gr_vm_x_activemask) {
    if (gr_vm_gathers(w, i))
        return NULL;
    for (uint32_t m = w->mask; m; m &= m - 1)
        VM_U32(w, i->d)[__builtin_ctz(m)] = w->mask;
    return i + 1;
}
