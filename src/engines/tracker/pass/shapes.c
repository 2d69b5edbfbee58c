// SPDX-License-Identifier: Apache-2.0
// shapes — accesses of instructions other than ld, st, atom and red: matrices of a warp, and accesses that are
// performed later (work.h).
#include "engines/tracker/device/record.h"
#include "engines/tracker/pass/work.h"
#include "passes/matrix.h"

// An access at an address operand of the instruction, by the lanes below `lanes`.
typedef struct Part {
    unsigned operand; // where its address is
    PtxAccess access;
    PtxSpace space;
    unsigned size, lanes; // size 0: the operand `bytes` says it
    const PtxOperand *bytes;
    uint32_t how; // bits besides
} Part;

enum {
    BY_THREAD = GR_ASYNC << GR_WHAT_STRENGTH,         // over when its thread has waited
    BY_MBARRIER = BY_THREAD | (uint32_t)GR_WHAT_WIDE, // over when an mbarrier has told
};

static gr_status put_operand(const TrackerWork *w, const Access *from, const Part *part) {
    unsigned operand = part->operand, size = part->size, lanes = part->lanes;
    PtxAccess access = part->access;
    PtxSpace space = part->space;
    char text[64];
    if (w->classifies)
        return GR_OK;
    Access a = *from;
    PtxSite site = *from->site;
    site.space = space;
    site.access = access;
    site.strong &= (part->how & BY_THREAD) != BY_THREAD; // else it is as BY_THREAD says
    a.site = &site;
    a.before = a.after = a.report = a.stmt;
    a.address = a.stmt->instr->operands[operand];
    a.n = 0;
    a.guard = NULL;
    if (a.address.kind != PTX_O_ADDRESS || a.address.n_sub != 1)
        return gr_fail(w->err, GR_ERR_UNSUPPORTED, "line %u: operand %u is no address", a.stmt->line,
                       operand + 1);
    GR_MUST(gr_access_prepare(&a));
    PtxReg *own = gr_ptx_new_reg(a.func, PTX_PRED), *address;
    PtxReg *lane = gr_ptx_new_reg(a.func, PTX_U32);
    GR_PUT(&a, a.before, "mov.u32 %s, %%laneid; setp.lt.u32 %s, %s, %u;", lane->name, own->name, lane->name,
           lanes);
    if (a.guard) {
        PtxOperand g = gr_ptx_reg_operand(a.guard);
        GR_PUT_OPS(&a, a.before, &g, 1, "and.pred %s, %s, $0;", own->name, own->name);
    }
    a.guard = own;
    GR_MUST(gr_access_address64(&a, a.before, &address));
    uint32_t what = gr_tracker_what(&site, access, space, size) | part->how;
    if (size)
        GR_MUST(gr_tracker_put_call(w, &a, a.before, what, address, "0xffffffffffffffff"));
    else
        GR_PUT_OPS(&a, a.before, part->bytes, 1, "@%s call __gr%s_range, (%u, %u, %s, $0%s);", own->name,
                   w->o->suffix, site.id, what, address->name, gr_tracker_own(w, text, sizeof text));
    return GR_OK;
}

static unsigned matrices(const PtxInstr *i) {
    return gr_ptx_instr_has(i, PTX_MOD_x4) ? 4 : gr_ptx_instr_has(i, PTX_MOD_x2) ? 2 : 1;
}

// cp.async and cp.async.bulk. The bytes may be read and written at any time from here on.
static gr_status put_copy(const TrackerWork *w, const Access *a, GrSiteStatus *status) {
    const PtxInstr *i = a->stmt->instr;
    if (i->n_operands < 3 || gr_ptx_instr_has(i, PTX_MOD_tensor) ||
        gr_ptx_instr_has(i, PTX_MOD_multicast__cluster) || gr_ptx_instr_has(i, PTX_MOD_cp_mask) ||
        i->operands[1].kind != PTX_O_ADDRESS)
        return GR_OK;
    bool bulk = gr_ptx_instr_has(i, PTX_MOD_bulk);
    uint32_t how = !bulk                                     ? BY_THREAD
                   : gr_ptx_instr_has(i, PTX_MOD_bulk_group) ? BY_THREAD | GR_WHAT_BULK
                                                             : BY_MBARRIER;
    unsigned size = bulk ? 0 : a->site->size;
    if (bulk ? i->operands[2].kind != PTX_O_REG && i->operands[2].kind != PTX_O_INT : !size || size > 16)
        return GR_OK;
    *status = GR_SITE_CHECKED;
    uint32_t reduces = gr_ptx_instr_has(i, PTX_MOD_reduce) ? GR_WHAT_REDUCES : 0;
    Part to = {0, PTX_ACCESS_WRITE, a->site->space, size, 32, &i->operands[2], how | reduces};
    Part from = {1, PTX_ACCESS_READ, a->site->src_space, size, 32, &i->operands[2], how};
    gr_status st = put_operand(w, a, &to);
    // A fourth operand of cp.async: fewer bytes may be read.
    return st != GR_OK || (!bulk && i->n_operands > 3) ? st : put_operand(w, a, &from);
}

// st.async and red.async, to the shared memory of a block of the cluster: an mbarrier there tells.
static gr_status put_later(const TrackerWork *w, const Access *a, GrSiteStatus *status) {
    const PtxInstr *i = a->stmt->instr;
    if (!a->site->async || a->site->space != PTX_SHARED_CLUSTER || i->n_operands != 3 ||
        i->operands[2].kind != PTX_O_ADDRESS || !a->site->size)
        return GR_OK;
    *status = GR_SITE_CHECKED;
    uint32_t how = i->op == PTX_OP_RED ? BY_MBARRIER | (uint32_t)GR_WHAT_REDUCES : BY_MBARRIER;
    return put_operand(w, a, &(Part){0, PTX_ACCESS_WRITE, a->site->space, a->site->size, 32, NULL, how});
}

// ---- wmma ------------------------------------------------------------------------------------------------------

// The matrix in memory, in 32 parts: that of a lane is what the CPU device's lane accesses. On a GPU, PTX leaves open
// which lane it is.
typedef struct Layout {
    unsigned part;       // bytes of a lane
    unsigned per_line;   // lanes that share a line; else per_row lanes share a row, and a line is a column
    unsigned n, per_row; // n 0: the part lies in one line; else it is n elements of one row
} Layout;

static bool layout_of(const PtxInstr *i, const PtxMatrix *m, Layout *l) {
    unsigned line = m->length * m->bits / 8;
    bool accumulator = i->mods[1].id == PTX_MOD_c || i->mods[1].id == PTX_MOD_d;
    *l = (Layout){.part = m->lines * line / 32};
    if (!l->part)
        return false;
    if (!accumulator || !gr_ptx_instr_has(i, PTX_MOD_col)) {
        l->per_line = line / l->part;
        return line % l->part == 0;
    }
    l->n = l->part * 8 / m->bits;
    l->per_row = l->n ? m->lines / l->n : 0;
    return l->per_row && m->lines % l->n == 0;
}

static gr_status put_parts(const TrackerWork *w, const Access *a, const PtxMatrix *m, const Layout *l,
                           const PtxReg *base) {
    const PtxInstr *i = a->stmt->instr;
    PtxReg *lane = gr_ptx_new_reg(a->func, PTX_U32), *stride = gr_ptx_new_reg(a->func, PTX_U32);
    PtxReg *at = gr_ptx_new_reg(a->func, PTX_U64);
    PtxOperand given = i->n_operands > 2 ? i->operands[2] : gr_ptx_int_operand(m->length);
    GR_PUT_OPS(a, a->before, &given, 1, "mov.u32 %s, %%laneid; mov.u32 %s, $0;", lane->name, stride->name);
    GR_PUT(a, a->before, "mul.lo.u32 %s, %s, %u; shr.u32 %s, %s, 3;", stride->name, stride->name, m->bits,
           stride->name, stride->name); // in bytes
    uint32_t what = gr_tracker_what(a->site, a->site->access, a->site->space, l->n ? m->bits / 8 : l->part) |
                    GR_WHAT_WIDE;                       // of a weak access: performed by the warp
    unsigned sharing = l->n ? l->per_row : l->per_line; // lanes
    PtxReg *major = gr_ptx_new_reg(a->func, PTX_U32), *minor = gr_ptx_new_reg(a->func, PTX_U32);
    GR_PUT(a, a->before, "div.u32 %s, %s, %u; rem.u32 %s, %s, %u;", major->name, lane->name, sharing,
           minor->name, lane->name, sharing);
    if (l->n)
        GR_PUT(a, a->before,
               "mad.wide.u32 %s, %s, %u, %s; mul.lo.u32 %s, %s, %u; mad.wide.u32 %s, %s, %s, %s;", at->name,
               major->name, m->bits / 8, base->name, minor->name, minor->name, l->n, at->name, minor->name,
               stride->name, at->name);
    else
        GR_PUT(a, a->before, "mad.wide.u32 %s, %s, %s, %s; mad.wide.u32 %s, %s, %u, %s;", at->name,
               major->name, stride->name, base->name, at->name, minor->name, l->part, at->name);
    PtxReg *step = gr_ptx_new_reg(a->func, PTX_U64);
    GR_PUT(a, a->before, "cvt.u64.u32 %s, %s;", step->name, stride->name);
    for (unsigned k = 0; k < (l->n ? l->n : 1); k++) {
        if (k)
            GR_PUT(a, a->before, "add.s64 %s, %s, %s;", at->name, at->name, step->name);
        GR_MUST(gr_tracker_put_call(w, a, a->before, what, at, "0xffffffffffffffff"));
    }
    return GR_OK;
}

static gr_status put_matrix(const TrackerWork *w, const Access *from, GrSiteStatus *status) {
    const PtxInstr *i = from->stmt->instr;
    unsigned operand = from->site->access == PTX_ACCESS_READ ? 1 : 0;
    PtxMatrix m;
    Layout l;
    if (i->n_operands < 2 || i->operands[operand].kind != PTX_O_ADDRESS || i->operands[operand].n_sub != 1 ||
        (i->n_operands > 2 && i->operands[2].kind != PTX_O_REG && i->operands[2].kind != PTX_O_INT) ||
        !gr_ptx_matrix(i, &m) || !layout_of(i, &m, &l))
        return GR_OK;
    *status = GR_SITE_CHECKED;
    if (w->classifies)
        return GR_OK;
    Access a = *from;
    PtxReg *base;
    a.before = a.after = a.report = a.stmt;
    a.address = i->operands[operand];
    a.n = 0;
    a.guard = NULL;
    GR_MUST(gr_access_prepare(&a));
    if (a.guard && a.guard == i->guard) { // its name may be shadowed
        PtxOperand g = gr_ptx_reg_operand(a.guard);
        a.guard = gr_ptx_new_reg(a.func, PTX_PRED);
        GR_PUT_OPS(&a, a.before, &g, 1, "mov.pred %s, $0;", a.guard->name);
    }
    GR_MUST(gr_access_address64(&a, a.before, &base));
    return put_parts(w, &a, &m, &l, base);
}

// ---- All -------------------------------------------------------------------------------------------------------

gr_status gr_tracker_put_other(const TrackerWork *w, const Access *a, GrSiteStatus *status) {
    const PtxInstr *i = a->stmt->instr;
    *status = GR_SITE_NOT_UNDERSTOOD;
    switch (i->op) {
    case PTX_OP_LDMATRIX:
        if (i->n_operands < 2)
            return GR_OK;
        *status = GR_SITE_CHECKED;
        return put_operand(w, a, &(Part){1, PTX_ACCESS_READ, a->site->space, 16, 8 * matrices(i), NULL, 0});
    case PTX_OP_STMATRIX:
        if (i->n_operands < 2)
            return GR_OK;
        *status = GR_SITE_CHECKED;
        return put_operand(w, a, &(Part){0, PTX_ACCESS_WRITE, a->site->space, 16, 8 * matrices(i), NULL, 0});
    case PTX_OP_CP: return put_copy(w, a, status);
    case PTX_OP_WMMA: return put_matrix(w, a, status);
    case PTX_OP_ST:
    case PTX_OP_RED: return put_later(w, a, status);
    case PTX_OP_WGMMA:
    case PTX_OP_TCGEN05: *status = GR_SITE_DESCRIPTOR; return GR_OK;
    case PTX_OP_MULTIMEM: *status = GR_SITE_MULTIMEM; return GR_OK;
    case PTX_OP_TENSORMAP:
    case PTX_OP_CLUSTERLAUNCHCONTROL: *status = GR_SITE_OPAQUE; return GR_OK;
    case PTX_OP_TEX:
    case PTX_OP_TLD4:
    case PTX_OP_SULD:
    case PTX_OP_SUST:
    case PTX_OP_SURED: *status = GR_SITE_TEXTURE; return GR_OK;
    default: return GR_OK;
    }
}
