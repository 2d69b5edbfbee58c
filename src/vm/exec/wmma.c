// SPDX-License-Identifier: Apache-2.0
// wmma — wmma.load and wmma.store (PTX ISA 9.7.14.4.3 and 9.7.14.4.4), as a row of operations that the device has. The
// lanes meet; each computes where its parts of the matrix are (fragment.h), and loads or stores them for itself. So
// observers see each lane's own access.
//
// PTX wants one address and one stride of all lanes. Here each lane goes by its own, and observers hear of differences.
#include "vm/core/exec.h"
#include "vm/core/exec_mem.h"
#include "vm/core/fault.h"
#include "vm/core/launch.h"
#include "vm/core/matrix.h"
#include "vm/core/warp.h"
#include "vm/exec/fragment.h"

#include <inttypes.h>

// ---- Where a part is -----------------------------------------------------------------------------------------

typedef struct Place {
    uint32_t n, first; // elements of a lane; the part's first among them
    uint32_t length;   // of the lines by which the matrix is parted, in elements
    uint32_t bits;     // of an element
    bool across;       // lines in memory are the columns of these
    bool wide;         // 64-bit addresses
} Place;

static uint64_t address_of(const VmWarp *w, const VmInsn *i, unsigned lane) {
    const Place *p = i->extra;
    return p->wide ? VM_U64(w, i->a)[lane] : VM_U32(w, i->a)[lane];
}

// Undefined behaviour (PTX ISA 9.7.14.5): lanes that differ from the first one. Each lane uses its own values.
static void tell_unlike(VmWarp *w, const VmInsn *i) {
    unsigned first = (unsigned)__builtin_ctz(w->mask);
    uint64_t address = address_of(w, i, first);
    uint32_t stride = VM_U32(w, i->b)[first], unlike = 0;
    for (uint32_t m = w->mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        if (VM_U32(w, i->b)[l] != stride || address_of(w, i, l) != address)
            unlike |= 1u << l;
    }
    if (!unlike)
        return;
    unsigned lane = (unsigned)__builtin_ctz(unlike);
    rest_of(w)->launch->undefined_collectives++;
    gr_vm_misuse(w, i, VM_MISUSE_UNLIKE_OPERANDS, lane, count_lanes(unlike),
                 "gave address 0x%" PRIx64 " and stride %u, lane %u of its warp 0x%" PRIx64 " and %u",
                 address_of(w, i, lane) + i->imm, VM_U32(w, i->b)[lane], first, address + i->imm, stride);
}

// d = a + the offset of the lane's part of the matrix with stride b; extra: Place
static VM_HANDLER(run_place) {
    const Place *p = i->extra;
    if (p->first == 0) {
        gr_vm_matrix_whole(w, i);
        tell_unlike(w, i);
    }
    for (uint32_t m = w->mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        uint32_t e = l * p->n + p->first, line = e / p->length, at = e % p->length;
        uint64_t stride = VM_U32(w, i->b)[l],
                 offset = (p->across ? at * stride + line : line * stride + at) * p->bits / 8;
        if (p->wide)
            VM_U64(w, i->d)[l] = VM_U64(w, i->a)[l] + i->imm + offset;
        else
            VM_U32(w, i->d)[l] = VM_U32(w, i->a)[l] + (uint32_t)(i->imm + offset);
    }
    return i + 1;
}

// ---- Decoding ------------------------------------------------------------------------------------------------

typedef struct Wmma {
    const PtxInstr *i;
    VmFragment f;
    bool store, column;
    PtxAccess access;
    uint32_t address, stride, reg[VM_MAX_FRAGMENT];
    uint64_t offset;
    uint8_t width; // of the address
} Wmma;

static bool is_mod(const PtxInstr *i, unsigned at, PtxMod m) { return at < i->n_mods && i->mods[at].id == m; }

static bool layouts_exist(const Wmma *w) { // A of less than bytes by rows only, B by columns
    return w->f.bits >= 8 || w->f.matrix == VM_MATRIX_C || w->column == (w->f.matrix == VM_MATRIX_B);
}

// The one type among the modifiers, which may be anywhere behind the letter of the matrix.
static bool read_element(const PtxInstr *i, VmElement *e) {
    for (unsigned k = 2; k < i->n_mods; k++)
        if (gr_vm_element(i->mods[k].id, e))
            return true;
    return false;
}

// wmma.{load.{a,b,c},store.d}.sync.aligned.layout.shape{.space}.type r, [p]{, stride}; store: [p], r{, stride}
static bool read_instr(Decoder *d, const PtxInstr *i, Wmma *w) {
    unsigned mnk[3], n_regs;
    VmElement element;
    w->i = i;
    w->store = is_mod(i, 0, PTX_MOD_store);
    w->access = w->store ? PTX_ACCESS_WRITE : PTX_ACCESS_READ;
    w->column = gr_ptx_instr_has(i, PTX_MOD_col);
    if ((i->n_operands != 2 && i->n_operands != 3) || i->n_mods < 6 || !gr_vm_matrix_shape(i, mnk) ||
        !read_element(i, &element))
        return false;
    VmMatrix matrix = is_mod(i, 1, PTX_MOD_a)   ? VM_MATRIX_A
                      : is_mod(i, 1, PTX_MOD_b) ? VM_MATRIX_B
                                                : VM_MATRIX_C;
    w->f = gr_vm_fragment(matrix, element, mnk, true);
    PtxOperand tmp[8];
    const PtxOperand *e = gr_vm_elements(d, &i->operands[w->store], tmp, &n_regs);
    if (!layouts_exist(w) || n_regs != w->f.written)
        return false;
    PtxType type = w->f.reg_bytes == 8 ? PTX_B64 : PTX_B32;
    for (unsigned k = 0; k < n_regs; k++) {
        w->reg[k] = w->store ? gr_vm_src(d, &e[k], type) : gr_vm_dst(d, &e[k], type);
        if (w->reg[k] == VM_NO_SLOT)
            return false;
    }
    unsigned length = w->column ? w->f.rows : w->f.columns;
    w->stride = i->n_operands == 3 ? gr_vm_src(d, &i->operands[2], PTX_B32) : gr_vm_const_slot(d, length, 4);
    return w->stride != VM_NO_SLOT &&
           gr_vm_decode_address(d, &i->operands[!w->store], i->space, &w->address, &w->width, &w->offset);
}

// The slot of the address of a lane's part number k; all instructions of a function share these.
static uint32_t put_place(Decoder *d, const Wmma *w, unsigned k, unsigned first) {
    Place *p = GR_NEW(d->f->arena, Place);
    if (!d->scratch[k])
        d->scratch[k] = gr_vm_new_slot(d, 8) + 1;
    uint32_t to = d->scratch[k] - 1;
    VmInsn *n = p ? gr_vm_emit3(d, run_place, to, w->address, w->stride, w->offset) : NULL;
    if (!n) {
        d->oom = true;
        return to;
    }
    bool by_columns = w->column && w->f.matrix != VM_MATRIX_C;
    *p = (Place){.n = w->f.n,
                 .first = first,
                 .length = by_columns ? w->f.rows : w->f.columns,
                 .bits = w->f.bits,
                 .across = w->column && !by_columns,
                 .wide = w->width == 8};
    n->extra = p;
    return to;
}

static VmMemInfo *describe(Decoder *d, const Wmma *w, unsigned bytes, unsigned vec) {
    VmMemInfo *info = gr_vm_mem_elements(d, w->i, w->access, bytes, vec);
    if (info)
        info->address_size = w->width;
    return info;
}

// A lane's registers lie side by side, at most 16 bytes at a time.
static bool put_lines(Decoder *d, const Wmma *w) {
    unsigned most = 16 / w->f.reg_bytes, parts = (w->f.regs + most - 1) / most;
    uint32_t at[VM_MAX_FRAGMENT];
    for (unsigned k = 0; k < parts; k++) // before any of them is loaded: what is loaded may be the address
        at[k] = put_place(d, w, k, k * most * w->f.per_reg);
    for (unsigned k = 0; k < parts; k++) {
        unsigned n = w->f.regs - k * most < most ? w->f.regs - k * most : most;
        VmMemInfo *info = describe(d, w, w->f.reg_bytes, n);
        if (!info)
            return false;
        for (unsigned e = 0; e < n; e++) {
            info->slot[e] = w->reg[k * most + e];
            info->reg_bytes[e] = w->f.reg_bytes;
        }
        if (!gr_vm_matrix_access(d, info, at[k]))
            return false;
    }
    for (unsigned k = w->f.regs; k < w->f.written && !w->store; k++)
        gr_vm_emit3(d, gr_vm_x_mov32, w->reg[k], w->reg[k % w->f.regs], 0, 0);
    return true;
}

// Accesses each element by itself, for an accumulator that lies in memory by columns.
static bool put_elements(Decoder *d, const Wmma *w) {
    uint32_t at[VM_MAX_FRAGMENT], part[VM_MAX_FRAGMENT];
    bool halves = w->f.bits == 16;
    for (unsigned k = 0; k < w->f.n; k++) {
        at[k] = put_place(d, w, k, k);
        part[k] = halves ? gr_vm_new_slot(d, 2) : w->reg[k];
        if (halves && w->store)
            gr_vm_emit3(d, gr_vm_x_part16, part[k], w->reg[k / 2], 0, k % 2);
    }
    for (unsigned k = 0; k < w->f.n; k++) {
        VmMemInfo *info = describe(d, w, w->f.bits / 8, 1);
        if (!info)
            return false;
        info->slot[0] = part[k];
        info->reg_bytes[0] = w->f.bits / 8;
        if (!gr_vm_matrix_access(d, info, at[k]))
            return false;
    }
    for (unsigned k = 0; k < w->f.n && halves && !w->store; k += 2)
        gr_vm_emit3(d, gr_vm_x_join16, w->reg[k / 2], part[k], part[k + 1], 0);
    return true;
}

bool gr_vm_decode_wmma(Decoder *d, const PtxInstr *i, bool *control) {
    Wmma w = {0};
    if (i->op != PTX_OP_WMMA || is_mod(i, 0, PTX_MOD_mma) || !read_instr(d, i, &w))
        return false;
    *control = true;
    return gr_vm_matrix_meet(d) &&
           (w.column && w.f.matrix == VM_MATRIX_C ? put_elements(d, &w) : put_lines(d, &w));
}
