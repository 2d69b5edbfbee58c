// SPDX-License-Identifier: Apache-2.0
// matrix — ldmatrix, stmatrix and movmatrix of 8 by 8 elements of 16 bits (PTX ISA 9.7.14.5.15 to 17), as a row of
// operations that the device has. Lanes with the addresses of rows hand them to the lanes with the elements (shfl),
// which load or store for themselves. So all 32 lanes meet as for any collective, and observers see each lane's own
// access.
//
// Lane l holds elements 2 (l mod 4) and the next of row l / 4 of each matrix; lane 8 k + r has the address of row r of
// matrix k. Transposed, lane l holds elements l / 4 of rows 2 (l mod 4) and the next.
#include "vm/core/matrix.h"

#include "vm/core/exec.h"
#include "vm/core/exec_mem.h"
#include "vm/core/fault.h"
#include "vm/core/launch.h"
#include "vm/core/sync_insn.h"
#include "vm/core/warp.h"

#include <stdio.h>

// Undefined behaviour (PTX ISA 9.7.14.5): some of the warp's threads do not execute the instruction. The others do.
static void tell_part(VmWarp *w, const VmInsn *i) {
    const VmWarpRest *r = rest_of(w);
    uint32_t gone = r->exists & ~r->live, elsewhere = r->live & ~w->mask, none = ~r->exists;
    char text[160];
    int n = 0;
    const struct {
        uint32_t lanes;
        const char *text;
    } missing[] = {{gone, "exited"}, {elsewhere, "at another instruction"}, {none, "not in the block"}};
    for (unsigned k = 0; k < sizeof missing / sizeof *missing; k++)
        if (missing[k].lanes)
            n += snprintf(text + n, sizeof text - (size_t)n, "%s%u %s", n ? ", " : "",
                          count_lanes(missing[k].lanes), missing[k].text);
    rest_of(w)->launch->undefined_collectives++;
    gr_vm_misuse(
        w, i, VM_MISUSE_PART_OF_WARP, (unsigned)__builtin_ctz(w->mask), count_lanes(w->mask),
        "executed the instruction with %u of the 32 threads of its warp (lanes 0x%08x); the others: %s",
        count_lanes(w->mask), w->mask, text);
}

void gr_vm_matrix_whole(VmWarp *w, const VmInsn *i) {
    if (w->mask != UINT32_MAX)
        tell_part(w, i);
}

// ---- Steps -------------------------------------------------------------------------------------------------

// d = a + imm as an address of 32 bits in the shared window; c: the width of a, e: whether it is a generic address.
static VM_HANDLER(run_address) {
    for (uint32_t m = w->mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        uint64_t at = (i->c == 8 ? VM_U64(w, i->a)[l] : VM_U32(w, i->a)[l]) + i->imm;
        if (i->e)
            at -= VM_SHARED_BASE;
        else if (i->c == 4)
            at = (uint32_t)at;
        VM_U32(w, i->d)[l] = at < VM_SHARED_SIZE ? (uint32_t)at : UINT32_MAX; // which is no lane's
    }
    return i + 1;
}

// d = (l / 4) * a / 2 + (l mod 4) * b + imm: lanes, and offsets in rows
static VM_HANDLER(run_place) {
    for (unsigned l = 0; l < VM_LANES; l++)
        VM_U32(w, i->d)[l] = (l >> 2) * i->a / 2 + (l & 3) * i->b + (uint32_t)i->imm;
    return i + 1;
}

// d = a + b; imm: the lanes have just met
static VM_HANDLER(run_add) {
    if (i->imm)
        gr_vm_matrix_whole(w, i);
    for (uint32_t m = w->mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        VM_U32(w, i->d)[l] = VM_U32(w, i->a)[l] + VM_U32(w, i->b)[l];
    }
    return i + 1;
}

VM_HANDLER(gr_vm_x_join16) { // of two registers of 16 bits
    for (uint32_t m = w->mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        VM_U32(w, i->d)[l] = VM_U16(w, i->a)[l] | (uint32_t)VM_U16(w, i->b)[l] << 16;
    }
    return i + 1;
}

VM_HANDLER(gr_vm_x_part16) { // d of 16 bits: half imm of a
    for (uint32_t m = w->mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        VM_U16(w, i->d)[l] = (uint16_t)(VM_U32(w, i->a)[l] >> 16 * i->imm);
    }
    return i + 1;
}

static VM_HANDLER(run_transposed) { // half (l / 4) mod 2 of a, and of b above it
    gr_vm_matrix_whole(w, i);
    for (uint32_t m = w->mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m), shift = 16 * (l >> 2 & 1);
        uint32_t low = VM_U32(w, i->a)[l] >> shift & 0xffff, high = VM_U32(w, i->b)[l] >> shift & 0xffff;
        VM_U32(w, i->d)[l] = low | high << 16;
    }
    return i + 1;
}

// ---- Decoding ------------------------------------------------------------------------------------------------

VmInsn *gr_vm_emit3(Decoder *d, VmExec x, uint32_t to, uint32_t a, uint32_t b, uint64_t imm) {
    VmInsn *n = gr_vm_emit(d, x, x);
    if (n) {
        n->d = to;
        n->a = a;
        n->b = b;
        n->imm = imm;
    }
    return n;
}

static uint32_t place(Decoder *d, uint32_t twice_row_step, uint32_t column_step, uint64_t start) {
    uint32_t to = gr_vm_new_slot(d, 4);
    gr_vm_emit3(d, run_place, to, twice_row_step, column_step, start);
    return to;
}

// A register with what lane `from` of each lane has in `value`.
static uint32_t fetch(Decoder *d, uint32_t value, uint32_t from) {
    VmCollectiveInfo *info = GR_NEW(d->f->arena, VmCollectiveInfo);
    uint32_t to = gr_vm_new_slot(d, 4), clamp = gr_vm_const_slot(d, 31, 4),
             all = gr_vm_const_slot(d, 0xffffffff, 4);
    VmInsn *n = info ? gr_vm_emit(d, gr_vm_x_collective, gr_vm_x_collective) : NULL;
    if (!n) {
        d->oom = true;
        return to;
    }
    *info = (VmCollectiveInfo){.kind = VM_COLL_SHFL,
                               .op = VM_SHFL_IDX,
                               .type = PTX_B32,
                               .sync = true,
                               .bytes = 4,
                               .has_d = true,
                               .constant = true};
    n->d = to;
    n->a = value;
    n->b = from;
    n->c = clamp;
    n->e = all;
    n->extra = info;
    gr_vm_fix_rejoin(d);
    return to;
}

bool gr_vm_matrix_meet(Decoder *d) {
    VmCollectiveInfo *info = GR_NEW(d->f->arena, VmCollectiveInfo);
    uint32_t all = gr_vm_const_slot(d, 0xffffffff, 4);
    VmInsn *n = info ? gr_vm_emit(d, gr_vm_x_collective, gr_vm_x_collective) : NULL;
    if (!n)
        return false;
    *info = (VmCollectiveInfo){.kind = VM_COLL_MATRIX,
                               .op = VM_COLL_NO_OP,
                               .type = PTX_B32,
                               .sync = true,
                               .bytes = UINT8_MAX,
                               .constant = true};
    n->e = all;
    n->extra = info;
    gr_vm_fix_rejoin(d);
    return true;
}

bool gr_vm_matrix_access(Decoder *d, VmMemInfo *info, uint32_t address) {
    VmExec x[2];
    gr_vm_mem_select(d, info, info->access == PTX_ACCESS_WRITE, x);
    VmInsn *n = gr_vm_emit(d, x[0], x[1]);
    if (!n)
        return false;
    n->a = address;
    n->b = n->d = info->slot[0];
    n->e = d->m->counts.caches++;
    n->part = 1;
    n->extra = info;
    gr_vm_fix_rejoin(d);
    return true;
}

// A load or store of `bytes` at the shared address in `address`, of the whole register `reg` of that width.
static bool access(Decoder *d, const PtxInstr *i, uint32_t address, uint32_t reg, unsigned bytes) {
    VmMemInfo *info =
        gr_vm_mem_elements(d, i, i->op == PTX_OP_STMATRIX ? PTX_ACCESS_WRITE : PTX_ACCESS_READ, bytes, 1);
    if (!info)
        return false;
    info->space = PTX_SHARED;
    info->reg_bytes[0] = (uint8_t)bytes;
    info->address_size = 4;
    info->slot[0] = reg;
    return gr_vm_matrix_access(d, info, address);
}

static uint32_t row_address(Decoder *d, uint32_t rows, uint32_t from, uint32_t offset, bool first) {
    uint32_t row = fetch(d, rows, from), to = gr_vm_new_slot(d, 4);
    gr_vm_emit3(d, run_add, to, row, offset, first);
    return to;
}

static bool matrix(Decoder *d, const PtxInstr *i, uint32_t rows, unsigned k, bool trans, uint32_t reg) {
    bool store = i->op == PTX_OP_STMATRIX;
    if (!trans) {
        uint32_t from = place(d, 2, 0, 8 * k), offset = place(d, 0, 4, 0);
        return access(d, i, row_address(d, rows, from, offset, k == 0), reg, 4);
    }
    uint32_t half[2], offset = place(d, 4, 0, 0);
    for (unsigned h = 0; h < 2; h++) {
        uint32_t from = place(d, 0, 2, 8 * k + h), address = row_address(d, rows, from, offset, k + h == 0);
        half[h] = gr_vm_new_slot(d, 2);
        if (store)
            gr_vm_emit3(d, gr_vm_x_part16, half[h], reg, 0, h);
        if (!access(d, i, address, half[h], 2))
            return false;
    }
    if (!store)
        gr_vm_emit3(d, gr_vm_x_join16, reg, half[0], half[1], 0);
    return true;
}

static bool has(const PtxInstr *i, PtxMod m) { return gr_ptx_instr_has(i, m); }

// xxmatrix.sync.aligned.m8n8.num{.trans}{.shared{::cta}}.b16, in any order (forms.def says that there is nothing else).
static bool decode_access(Decoder *d, const PtxInstr *i) {
    bool store = i->op == PTX_OP_STMATRIX, trans = has(i, PTX_MOD_trans),
         shared = has(i, PTX_MOD_shared) || has(i, PTX_MOD_shared__cta);
    unsigned n = has(i, PTX_MOD_x4) ? 4 : has(i, PTX_MOD_x2) ? 2 : 1;
    if (i->n_operands != 2)
        return false;
    PtxOperand tmp[8];
    unsigned n_regs;
    const PtxOperand *e = gr_vm_elements(d, &i->operands[store], tmp, &n_regs);
    uint32_t address, rows = gr_vm_new_slot(d, 4);
    uint8_t width;
    uint64_t offset;
    if (n_regs != n || !gr_vm_decode_address(d, &i->operands[!store], shared ? PTX_SHARED : PTX_GENERIC,
                                             &address, &width, &offset))
        return false;
    VmInsn *first = gr_vm_emit(d, run_address, run_address);
    if (!first)
        return false;
    first->d = rows;
    first->a = address;
    first->imm = offset;
    first->c = width;
    first->e = !shared;
    uint32_t loaded[4] = {0};
    for (unsigned k = 0; k < n; k++) {
        uint32_t reg = store ? gr_vm_src(d, &e[k], PTX_B32) : (loaded[k] = gr_vm_new_slot(d, 4));
        if (reg == VM_NO_SLOT || !matrix(d, i, rows, k, trans, reg))
            return false;
    }
    for (unsigned k = 0; k < n && !store; k++) { // at the end: a result may be the address
        uint32_t reg = gr_vm_dst(d, &e[k], PTX_B32);
        if (reg == VM_NO_SLOT)
            return false;
        gr_vm_emit3(d, gr_vm_x_mov32, reg, loaded[k], 0, 0);
    }
    return true;
}

// movmatrix.sync.aligned.m8n8.trans.b16 d, a: element (r, c) is in lane 4 c + r / 2.
static bool decode_transpose(Decoder *d, const PtxInstr *i) {
    if (i->n_operands != 2)
        return false;
    uint32_t a = gr_vm_src(d, &i->operands[1], PTX_B32), to = gr_vm_dst(d, &i->operands[0], PTX_B32), got[2];
    if (a == VM_NO_SLOT || to == VM_NO_SLOT)
        return false;
    for (unsigned h = 0; h < 2; h++) {
        // lane 4 c + r / 2, where r = l / 4 and c = 2 (l mod 4) + h
        got[h] = fetch(d, a, place(d, 1, 8, 4 * h));
    }
    gr_vm_emit3(d, run_transposed, to, got[0], got[1], 0);
    return true;
}

bool gr_vm_decode_matrix(Decoder *d, const PtxInstr *i, bool *control) {
    switch (i->op) {
    case PTX_OP_LDMATRIX:
    case PTX_OP_STMATRIX: *control = true; return decode_access(d, i);
    case PTX_OP_MOVMATRIX: *control = true; return decode_transpose(d, i);
    default: return false;
    }
}
