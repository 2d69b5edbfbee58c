// SPDX-License-Identifier: Apache-2.0
// collider_matrix — see the header.
//
// Which lane gets which element is drawn in the ISA for some forms and unspecified for others (wmma), and what a lane
// gets may be expanded on the way (.b6x16_p32). So loads are not repeated as they are: once the warp has loaded, its
// lanes look at the bytes with ordinary strong loads, each at a part of them, wait, and look again:
//
//     ldmatrix…x4 {…}, [row];                       The lane that names a row looks at it; of a wmma matrix each lane
//     ld.relaxed.sys.shared.v4.b32 was, [row];      takes a thirty-second, which is contiguous in all layouts.
//     nanosleep.u32 delay;
//     ld.relaxed.sys.shared.v4.b32 is, [row];       Another lane may be the one that loaded what this one looks at, and
//                                                   may let
//     setp.ne.b32 q, was, is; …                     writers go ahead once it is done. It is not done before all have
//                                                   looked: the
//     vote.sync.any.pred any, q, -1;                vote waits for each lane's comparison, and orders no memory.
//     @any bra report;
//
// Stores cannot be looked at in the same way: a lane that reads what another one has just stored may read the value
// before. Each lane looks at what it stored itself: stmatrix's distribution is specified; wmma.store.d's is that of
// wmma.load.c, with which what is there is loaded back.
#include "engines/collider/pass/collider_matrix.h"

#include "base/str.h"
#include "engines/collider/pass/collider_held.h"
#include "engines/collider/pass/collider_look.h"
#include "engines/collider/pass/collider_segment.h"
#include "passes/matrix.h"

#include <stdio.h>
#include <string.h>

static bool has(const Access *a, PtxMod mod) { return gr_ptx_instr_has(a->stmt->instr, mod); }

static unsigned count_of(const Access *a) {
    return has(a, PTX_MOD_x1) ? 1 : has(a, PTX_MOD_x2) ? 2 : has(a, PTX_MOD_x4) ? 4 : 0;
}

// The fragment's registers as elements of *a; for a load, what it may overwrite.
static bool read_fragment(Access *a, const PtxOperand *list) {
    if (list->kind != PTX_O_VECTOR || list->n_sub > EMIT_MAX_ELEMENTS)
        return false;
    a->n = list->n_sub;
    for (unsigned k = 0; k < a->n; k++) {
        a->value[k] = &list->sub[k];
        a->used[k] = list->sub[k].kind == PTX_O_SINK ? 0 : UINT64_MAX;
        if (list->sub[k].kind != PTX_O_SINK &&
            (list->sub[k].kind != PTX_O_REG || gr_ptx_type_bits(list->sub[k].reg->type) < 32))
            return false;
    }
    return a->n > 0;
}

static bool start(Access *a, unsigned address, unsigned fragment) {
    const PtxInstr *i = a->stmt->instr;
    if (i->n_operands < 2 || i->operands[address].kind != PTX_O_ADDRESS || i->operands[address].n_sub != 1)
        return false;
    for (unsigned k = 2; k < i->n_operands; k++) // wmma's stride
        if (i->operands[k].kind != PTX_O_REG && i->operands[k].kind != PTX_O_INT)
            return false;
    a->address = i->operands[address];
    a->after = a->report = a->stmt->next;
    a->together = true;
    return read_fragment(a, &i->operands[fragment]);
}

// a->whole: whether the warp performs the access. a->guard is left to be that of single lanes.
static gr_status prepare(Access *a) {
    GR_MUST(gr_access_prepare(a));
    GR_MUST(gr_collider_own_guard(a));
    a->whole = a->guard;
    return GR_OK;
}

// The window of all lanes, also those that do not look. What is to be seen goes between the two.
static gr_status open_window(ColliderWork *w, const Access *a, uint32_t max_ns, Look *l) {
    Access all = *a;
    all.guard = (PtxReg *)a->whole;
    return gr_look_begin(w, &all, a->after, WAIT_WINDOW, max_ns, l);
}

static gr_status close_window(ColliderWork *w, const Access *a, const Look *l) {
    return gr_look_end(w, a, a->after, l, LOOK_NOT_HELD);
}

// "@p " or nothing: instructions that the whole warp performs.
static const char *whole_guard(const Access *a, char buf[64]) {
    gr_format(buf, 64, a->whole ? "@%s " : "", a->whole ? a->whole->name : "");
    return buf;
}

// A new register with the number of the lane.
static gr_status put_lane(Access *a, PtxStmt *at, PtxReg **lane) {
    *lane = gr_ptx_new_reg(a->func, PTX_U32);
    return gr_access_put(a, at, NULL, 0, "mov.u32 %s, %%laneid;", (*lane)->name);
}

// a->guard: the lanes of `mask`, which is not 0.
static gr_status put_lane_guard(Access *a, uint32_t mask) {
    if (mask == UINT32_MAX)
        return GR_OK;
    PtxReg *bit = gr_ptx_new_reg(a->func, PTX_U32), *p = gr_ptx_new_reg(a->func, PTX_PRED);
    GR_PUT(a, a->before, "mov.u32 %s, %%lanemask_eq; and.b32 %s, %s, 0x%x;", bit->name, bit->name, bit->name,
           mask);
    if (a->whole)
        GR_PUT(a, a->before, "setp.ne.and.u32 %s, %s, 0, %s;", p->name, bit->name, a->whole->name);
    else
        GR_PUT(a, a->before, "setp.ne.u32 %s, %s, 0;", p->name, bit->name);
    a->guard = p;
    return GR_OK;
}

// Strong loads of a->n elements at a->address, at most 16 bytes at a time.
static gr_status put_look(Access *a, PtxOperand *seen) {
    Access part = *a;
    PtxType type = a->bytes == 8 ? PTX_B64 : PTX_B32;
    unsigned most = 16 / a->bytes;
    for (unsigned k = 0; k < a->n; k += most) {
        part.n = a->n - k < most ? a->n - k : most;
        part.address.offset = a->address.offset + k * a->bytes;
        memcpy(part.used, a->used + k, part.n * sizeof *part.used);
        GR_MUST(gr_collider_repeat(&part, gr_ptx_type_text(type), type, seen + k));
    }
    return GR_OK;
}

static gr_status look_twice(ColliderWork *w, Access *a, bool keeps) {
    PtxOperand before[EMIT_MAX_ELEMENTS], again[EMIT_MAX_ELEMENTS];
    Look window;
    GR_MUST(put_look(a, before));
    GR_MUST(gr_held_in_window(w, a, 1, a->after));
    GR_MUST(open_window(w, a, w->o->read_delay_ns, &window));
    GR_MUST(put_look(a, again));
    GR_MUST(gr_collider_compare(w, a, before, again, a->bytes * 8, GR_CLASS_CLOBBERED_READ, NULL));
    GR_MUST(close_window(w, a, &window));
    if (keeps)
        GR_MUST(gr_segment_keep(w, a, a->after, before, a->bytes * 8, GR_CLASS_CLOBBERED_READ));
    return GR_OK;
}

// ---- ldmatrix ------------------------------------------------------------------------------------------------

// Lane r names row r: of eight rows a matrix, or sixteen (.m16n16).
gr_status gr_collider_ldmatrix(ColliderWork *w, Access *a, GrSiteStatus *status) {
    unsigned rows = has(a, PTX_MOD_m16n16) ? 16 : 8, n = count_of(a), per_matrix = rows / 8;
    *status = GR_SITE_NOT_UNDERSTOOD;
    if (!start(a, 1, 0) || (!has(a, PTX_MOD_m8n8) && !has(a, PTX_MOD_m8n16) && rows == 8) ||
        a->n != n * per_matrix || n * rows > 32)
        return GR_OK;
    *status = GR_SITE_CHECKED;
    if (w->classifies)
        return GR_OK;
    GR_MUST(prepare(a));
    uint32_t mask = 0; // rows of which some lane uses the elements
    for (unsigned k = 0; k < a->n; k++)
        if (a->used[k])
            mask |= (rows == 16 ? 0xffffu : 0xffu) << k / per_matrix * rows;
    if (!mask)
        return GR_OK;
    GR_MUST(put_lane_guard(a, mask));
    // Rows of 6-bit and of 4-bit elements end in padding.
    unsigned bytes = has(a, PTX_MOD_b6x16_p32) ? 12 : has(a, PTX_MOD_b4x16_p64) ? 8 : 16;
    a->n = 4;
    a->bytes = 4;
    for (unsigned k = 0; k < a->n; k++)
        a->used[k] = k * 4 < bytes ? UINT64_MAX : 0;
    GR_MUST(look_twice(
        w, a,
        false)); // which lane gets what is specified: one may be done with its part while the lane that looked is not
    return GR_OK;
}

// ---- stmatrix ------------------------------------------------------------------------------------------------

// The row that this lane names, as a 32-bit address of shared memory.
static gr_status put_row(Access *a, PtxReg **row) {
    const PtxOperand *base = &a->address.sub[0];
    bool wide = base->kind == PTX_O_REG && gr_ptx_type_bits(base->reg->type) == 64;
    bool generic = a->site->space == PTX_GENERIC;
    *row = gr_ptx_new_reg(a->func, PTX_U32);
    if (generic || wide) {
        PtxReg *t = gr_ptx_new_reg(a->func, PTX_U64);
        GR_PUT_OPS(a, a->before, base, 1,
                   generic ? "cvta.to.shared.u64 %s, $0; cvt.u32.u64 %s, %s;"
                           : "mov.u64 %s, $0; cvt.u32.u64 %s, %s;",
                   t->name, (*row)->name, t->name);
    } else {
        GR_PUT_OPS(a, a->before, base, 1, "mov.u32 %s, $0;", (*row)->name);
    }
    if (a->address.offset)
        GR_PUT(a, a->before, "add.s32 %s, %s, %lld;", (*row)->name, (*row)->name,
               (long long)a->address.offset);
    return GR_OK;
}

// to = what lane `from` has in `value`
static gr_status put_fetch(Access *a, PtxStmt *at, PtxOperand value, const PtxReg *from, PtxReg **to) {
    char guard[64];
    *to = gr_ptx_new_reg(a->func, PTX_B32);
    return gr_access_put(a, at, &value, 1, "%sshfl.sync.idx.b32 %s, $0, %s, 31, 0xffffffff;",
                         whole_guard(a, guard), (*to)->name, from->name);
}

// The 16 bytes that this lane's row is about to be given, in half[]. Word j of row r of a matrix is lane 4 r + j's;
// transposed, element c of it is in lane 4 c + r / 2, half r mod 2.
static gr_status put_row_values(Access *a, PtxStmt *at, const PtxOperand *fragment, unsigned n, bool trans,
                                const PtxReg *lane, PtxReg *const half[2]) {
    PtxReg *from = gr_ptx_new_reg(a->func, PTX_U32), *shift = gr_ptx_new_reg(a->func, PTX_U32),
           *mine[4] = {NULL};
    GR_PUT(a, at, "and.b32 %s, %s, 7; and.b32 %s, %s, 1; shl.b32 %s, %s, 4;", from->name, lane->name,
           shift->name, lane->name, shift->name, shift->name);
    GR_PUT(a, at, trans ? "shr.u32 %s, %s, 1;" : "shl.b32 %s, %s, 2;", from->name, from->name);
    GR_PUT(a, at, "mov.u64 %s, 0; mov.u64 %s, 0;", half[0]->name, half[1]->name);
    for (unsigned k = 1; k < n; k++) {
        PtxReg *m = gr_ptx_new_reg(a->func, PTX_U32);
        mine[k] = gr_ptx_new_reg(a->func, PTX_PRED);
        GR_PUT(a, at, "shr.u32 %s, %s, 3; setp.eq.u32 %s, %s, %u;", m->name, lane->name, mine[k]->name,
               m->name, k);
    }
    unsigned parts = trans ? 8 : 4, bits = 128 / parts;
    for (unsigned j = 0; j < parts; j++) {
        PtxReg *got, *one, *wide = gr_ptx_new_reg(a->func, PTX_U64), *into = half[j * bits / 64];
        GR_MUST(put_fetch(a, at, fragment[0], from, &got));
        for (unsigned k = 1; k < n; k++) {
            GR_MUST(put_fetch(a, at, fragment[k], from, &one));
            GR_PUT(a, at, "selp.b32 %s, %s, %s, %s;", got->name, one->name, got->name, mine[k]->name);
        }
        if (trans)
            GR_PUT(a, at, "shr.u32 %s, %s, %s; and.b32 %s, %s, 0xffff;", got->name, got->name, shift->name,
                   got->name, got->name);
        GR_PUT(a, at, "cvt.u64.u32 %s, %s; shl.b64 %s, %s, %u; or.b64 %s, %s, %s; add.u32 %s, %s, %u;",
               wide->name, got->name, wide->name, wide->name, j * bits % 64, into->name, into->name,
               wide->name, from->name, from->name, trans ? 4 : 1);
    }
    return GR_OK;
}

// Rows are aligned to 16 bytes: they overlap where they are the same.
static gr_status put_row_check(ColliderWork *w, Access *a, const PtxOperand *fragment, unsigned n, bool trans,
                               const PtxReg *row, const PtxReg *lane) {
    PtxReg *key = gr_ptx_new_reg(a->func, PTX_U32), *peers = gr_ptx_new_reg(a->func, PTX_B32);
    PtxReg *rest = gr_ptx_new_reg(a->func, PTX_B32), *same = gr_ptx_new_reg(a->func, PTX_PRED);
    char guard[64];
    const char *g = whole_guard(a, guard);
    if (n == 4) {
        key = (PtxReg *)row;
    } else { // lanes without a row are alone
        PtxReg *named = gr_ptx_new_reg(a->func, PTX_PRED);
        GR_PUT(a, a->before, "setp.lt.u32 %s, %s, %u; not.b32 %s, %s; selp.b32 %s, %s, %s, %s;", named->name,
               lane->name, 8 * n, key->name, lane->name, key->name, row->name, key->name, named->name);
    }
    GR_PUT(a, a->before, "%smatch.any.sync.b32 %s, %s, 0xffffffff; add.s32 %s, %s, -1; and.b32 %s, %s, %s;",
           g, peers->name, key->name, rest->name, peers->name, rest->name, rest->name, peers->name);
    if (a->whole)
        GR_PUT(a, a->before, "setp.ne.and.u32 %s, %s, 0, %s;", same->name, rest->name, a->whole->name);
    else
        GR_PUT(a, a->before, "setp.ne.u32 %s, %s, 0;", same->name, rest->name);
    Detour d;
    PtxLabel *others;
    PtxReg *any = gr_ptx_new_reg(a->func, PTX_PRED), *address = gr_ptx_new_reg(a->func, PTX_U64);
    PtxReg *half[2] = {gr_ptx_new_reg(a->func, PTX_B64), gr_ptx_new_reg(a->func, PTX_B64)};
    // All lanes hand over what they have, whether or not their own row is one of those.
    if (a->whole)
        GR_PUT(a, a->before, "setp.ne.u32 %s, 0, 0;", any->name);
    GR_PUT(a, a->before, "%svote.sync.any.pred %s, %s, 0xffffffff;", g, any->name, same->name);
    GR_MUST(gr_collider_open_detour(a, a->before, any, &d));
    GR_MUST(put_row_values(a, d.at, fragment, n, trans, lane, half));
    others = gr_ptx_new_label(a->func);
    PtxOperand target = gr_ptx_label_operand(others);
    GR_PUT_OPS(a, d.at, &target, 1, "@!%s bra $0;", same->name);
    GR_PUT(a, d.at, "cvt.u64.u32 %s, %s;", address->name, row->name);
    GR_MUST(gr_collider_report_warp(w, a, d.at, 8, address, peers, half));
    return gr_collider_close_together(a, &d, others);
}

// Lane l stores words l mod 4 of rows l / 4; transposed, elements l / 4 of rows 2 (l mod 4) and the next (9.7.14.5.16).
gr_status gr_collider_stmatrix(ColliderWork *w, Access *a, GrSiteStatus *status) {
    unsigned n = count_of(a), parts = has(a, PTX_MOD_trans) ? 2 : 1;
    *status = has(a, PTX_MOD_m16n8) ? GR_SITE_UNSPECIFIED : GR_SITE_NOT_UNDERSTOOD;
    if (!start(a, 0, 1) || !has(a, PTX_MOD_m8n8) || a->n != n)
        return GR_OK;
    for (unsigned k = 0; k < n; k++)
        if (a->value[k]->kind != PTX_O_REG)
            return GR_OK;
    *status = GR_SITE_CHECKED;
    if (w->classifies)
        return GR_OK;
    a->offsets = true;
    PtxReg *row, *lane, *from = gr_ptx_new_reg(a->func, PTX_U32), *column = gr_ptx_new_reg(a->func, PTX_U32);
    PtxOperand fragment[4], stored[EMIT_MAX_ELEMENTS], again[EMIT_MAX_ELEMENTS];
    for (unsigned k = 0; k < n; k++)
        fragment[k] = *a->value[k];
    GR_MUST(prepare(a));
    GR_MUST(put_lane(a, a->before, &lane));
    GR_MUST(put_row(a, &row));
    GR_MUST(put_row_check(w, a, fragment, n, parts == 2, row, lane));

    // Where this lane's elements are.
    if (parts == 2)
        GR_PUT(a, a->after, "and.b32 %s, %s, 3; shl.b32 %s, %s, 1; shr.u32 %s, %s, 2; shl.b32 %s, %s, 1;",
               from->name, lane->name, from->name, from->name, column->name, lane->name, column->name,
               column->name);
    else
        GR_PUT(a, a->after, "shr.u32 %s, %s, 2; and.b32 %s, %s, 3; shl.b32 %s, %s, 2;", from->name,
               lane->name, column->name, lane->name, column->name, column->name);
    PtxReg *seen[EMIT_MAX_ELEMENTS];
    char guard[64];
    const char *g = whole_guard(a, guard);
    a->n = n * parts;
    a->bytes = 4 / parts;
    for (unsigned k = 0; k < a->n; k++) {
        PtxReg *at;
        if (k)
            GR_PUT(a, a->after, "add.u32 %s, %s, %u;", from->name, from->name,
                   parts == 1 ? 8
                   : k % 2    ? 1
                              : 7);
        GR_MUST(put_fetch(a, a->after, gr_ptx_reg_operand(row), from, &at));
        GR_PUT(a, a->after, "add.u32 %s, %s, %s;", at->name, at->name, column->name);
        a->at[k] = at;
        a->used[k] = UINT64_MAX;
    }
    Look window;
    GR_MUST(open_window(w, a, w->o->write_delay_ns, &window));
    for (unsigned k = 0; k < a->n; k++) {
        seen[k] = gr_ptx_new_reg(a->func, parts == 2 ? PTX_B16 : PTX_B32);
        again[k] = gr_ptx_reg_operand(seen[k]);
        GR_PUT(a, a->after, "%sld.relaxed.sys.shared.b%u %s, [%s];", g, a->bytes * 8, seen[k]->name,
               a->at[k]->name);
        if (parts == 1) {
            stored[k] = fragment[k];
        } else if (k % 2 == 0) {
            PtxReg *h[2] = {gr_ptx_new_reg(a->func, PTX_B16), gr_ptx_new_reg(a->func, PTX_B16)};
            GR_PUT_OPS(a, a->after, &fragment[k / 2], 1, "mov.b32 {%s, %s}, $0;", h[0]->name, h[1]->name);
            stored[k] = gr_ptx_reg_operand(h[0]);
            stored[k + 1] = gr_ptx_reg_operand(h[1]);
        }
    }
    GR_MUST(gr_collider_compare(w, a, stored, again, a->bytes * 8, GR_CLASS_LOST_UPDATE, NULL));
    return close_window(w, a, &window);
}

// ---- wmma ----------------------------------------------------------------------------------------------------

// a->address becomes that of this lane's thirty-second: a part of a line.
static gr_status put_part(Access *a, const PtxMatrix *m, unsigned part) {
    const PtxInstr *i = a->stmt->instr;
    const PtxOperand base = a->address.sub[0];
    bool wide = base.kind != PTX_O_REG ? a->site->space == PTX_GENERIC || a->site->space == PTX_GLOBAL
                                       : gr_ptx_type_bits(base.reg->type) == 64;
    unsigned per_line = m->length * m->bits / 8 / part, shift = (unsigned)__builtin_ctz(per_line);
    PtxReg *at = gr_ptx_new_reg(a->func, wide ? PTX_U64 : PTX_U32), *lane, *line = NULL;
    PtxReg *stride = gr_ptx_new_reg(a->func, PTX_U32);
    GR_MUST(put_lane(a, a->before, &lane));
    line = gr_ptx_new_reg(a->func, PTX_U32);
    GR_PUT_OPS(a, a->before, &base, 1, "mov.u%u %s, $0; shr.u32 %s, %s, %u;", wide ? 64 : 32, at->name,
               line->name, lane->name, shift);
    PtxOperand given = i->n_operands > 2 ? i->operands[2] : gr_ptx_int_operand(m->length);
    if (m->bits >= 8)
        GR_PUT_OPS(a, a->before, &given, 1, "mov.u32 %s, $0; mul.lo.u32 %s, %s, %u;", stride->name,
                   stride->name, stride->name, m->bits / 8);
    else
        GR_PUT_OPS(a, a->before, &given, 1, "mov.u32 %s, $0; shr.u32 %s, %s, %u;", stride->name, stride->name,
                   stride->name, m->bits == 4 ? 1 : 3);
    const char *mad = wide ? "wide" : "lo";
    GR_PUT(a, a->before, "mad.%s.u32 %s, %s, %s, %s;", mad, at->name, line->name, stride->name, at->name);
    if (per_line > 1)
        GR_PUT(a, a->before, "and.b32 %s, %s, %u; mad.%s.u32 %s, %s, %u, %s;", lane->name, lane->name,
               per_line - 1, mad, at->name, lane->name, part, at->name);
    PtxOperand *sub = GR_NEW(&a->func->module->arena, PtxOperand);
    GR_NEED(sub, a->err);
    *sub = gr_ptx_reg_operand(at);
    a->address.sub = sub;
    return GR_OK;
}

static gr_status wmma_load(ColliderWork *w, Access *a, GrSiteStatus *status) {
    PtxMatrix m;
    if (!start(a, 1, 0) || !gr_ptx_matrix(a->stmt->instr, &m))
        return GR_OK;
    unsigned part = m.lines * m.length * m.bits / 8 / 32, line = m.length * m.bits / 8;
    if (part < 4 || part > 32 || line % part || (line / part & (line / part - 1)))
        return GR_OK;
    *status = GR_SITE_CHECKED;
    if (w->classifies)
        return GR_OK;
    GR_MUST(prepare(a));
    GR_MUST(put_part(a, &m, part));
    a->bytes = m.bits == 64 ? 8 : 4;
    a->n = part / a->bytes;
    for (unsigned k = 0; k < a->n; k++)
        a->used[k] = UINT64_MAX;
    GR_MUST(look_twice(
        w, a, true)); // which lane gets what is not specified, so only what orders all lanes orders the load
    return GR_OK;
}

static gr_status wmma_store(ColliderWork *w, Access *a, GrSiteStatus *status) {
    gr_status st = GR_OK;
    PtxMatrix m;
    StrBuf text = {0};
    const PtxInstr *i = a->stmt->instr;
    if (!start(a, 0, 1) || !gr_ptx_matrix(a->stmt->instr, &m) || i->mods[1].id != PTX_MOD_d)
        return GR_OK;
    unsigned bits = m.bits < 32 ? 32 : m.bits; // of a register
    for (unsigned k = 0; k < a->n; k++)
        if (a->value[k]->kind != PTX_O_REG || gr_ptx_type_bits(a->value[k]->reg->type) != bits)
            return GR_OK;
    *status = GR_SITE_CHECKED;
    if (w->classifies)
        return GR_OK;
    GR_TRY(prepare(a));
    PtxReg *base = gr_ptx_new_reg(a->func, PTX_U64);
    GR_TRY(gr_access_address64(a, a->before, &base));
    PtxOperand stored[EMIT_MAX_ELEMENTS], again[EMIT_MAX_ELEMENTS], ops[2] = {a->address};
    char guard[64];
    gr_str_addf(&text, "%swmma.load.c", whole_guard(a, guard));
    for (unsigned k = 2; k < i->n_mods; k++)
        gr_str_addf(&text, ".%s", i->mods[k].text);
    for (unsigned k = 0; k < a->n; k++) {
        PtxReg *r = gr_ptx_new_reg(a->func, a->value[k]->reg->type);
        again[k] = gr_ptx_reg_operand(r);
        stored[k] = *a->value[k];
        a->at[k] = base; // which element it is is unspecified
        gr_str_addf(&text, "%s%s", k ? ", " : " {", r->name);
    }
    gr_str_add(&text, i->n_operands > 2 ? "}, $0, $1;" : "}, $0;");
    GR_TRY(!text.oom ? GR_OK : gr_no_memory(a->err));
    if (i->n_operands > 2)
        ops[1] = i->operands[2];
    a->bytes = bits / 8;
    Look window;
    GR_TRY(open_window(w, a, w->o->write_delay_ns, &window));
    GR_TRY(gr_access_put(a, a->after, ops, i->n_operands > 2 ? 2 : 1, "%s", text.data));
    GR_TRY(gr_collider_compare(w, a, stored, again, bits, GR_CLASS_LOST_UPDATE, NULL));
    GR_TRY(close_window(w, a, &window));
done:
    gr_str_free(&text);
    return st;
}

gr_status gr_collider_wmma(ColliderWork *w, Access *a, GrSiteStatus *status) {
    *status = GR_SITE_NOT_UNDERSTOOD;
    return a->site->access == PTX_ACCESS_READ ? wmma_load(w, a, status) : wmma_store(w, a, status);
}
