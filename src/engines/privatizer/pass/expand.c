// SPDX-License-Identifier: Apache-2.0
// expand — what one instruction does for several threads, done by plain loads and stores, each of which goes to its
// thread's private copy.
//
//     ldmatrix…x2.shared.b16 {a, b}, [p];             row = shfl(p, lane / 4); ld.shared.b32 a, [row + lane % 4 * 4];
//                                                     b: the same of the rows of lanes 8 to 15. PTX ISA 9.7.14.5.15
//                                                     draws which lane gets which element.
//                                                     Transposed: two elements of 16 bits, of two rows.
//     wmma.load…shared.f16 {…}, [p], stride;          each lane copies some bytes of the matrix to memory of the warp;
//                                                     bar.warp.sync; wmma.load…global.f16 {…}, [memory], …; which lane
//                                                     gets which element is unspecified. wmma.store the reverse.
#include "engines/privatizer/device/control.h"
#include "engines/privatizer/pass/code.h"

#include <stdio.h>
#include <string.h>

static gr_status done_with(PtxStmt *s) {
    s->kind = PTX_RAW;
    s->text = "";
    return GR_OK;
}

// ---- ldmatrix, stmatrix ---------------------------------------------------------------------------------------------

static unsigned n_matrices(const PtxInstr *i) {
    return gr_ptx_instr_has(i, PTX_MOD_x4)   ? 4
           : gr_ptx_instr_has(i, PTX_MOD_x2) ? 2
           : gr_ptx_instr_has(i, PTX_MOD_x1) ? 1
                                             : 0;
}

static bool is_rows(const PtxInstr *i) {
    return (i->op == PTX_OP_LDMATRIX || i->op == PTX_OP_STMATRIX) && !i->guard && n_matrices(i) &&
           gr_ptx_instr_has(i, PTX_MOD_m8n8) && i->type[0] == PTX_B16;
}

// The address that lane `which` names, and `more` bytes; in the new register *out.
static gr_status put_row(const Code *c, PtxStmt *s, const PtxReg *own, const PtxReg *which,
                         const PtxReg *more, PtxReg **out) {
    *out = gr_ptx_new_reg(c->f, PTX_B64);
    return gr_code_put(
        c, s, NULL, 0,
        "{ .reg .b32 low, high; mov.b64 {low, high}, %s; shfl.sync.idx.b32 low, low, %s, 31, "
        "0xffffffff; shfl.sync.idx.b32 high, high, %s, 31, 0xffffffff; mov.b64 %s, {low, high}; "
        "} add.u64 %s, %s, %s;",
        own->name, which->name, which->name, (*out)->name, (*out)->name, (*out)->name, more->name);
}

static gr_status rows(const Code *c, PtxStmt *s, const PtxSite *site) {
    PtxFunc *f = c->f;
    const PtxInstr *i = s->instr;
    bool loads = i->op == PTX_OP_LDMATRIX, turned = gr_ptx_instr_has(i, PTX_MOD_trans);
    const PtxOperand *all = &i->operands[loads ? 0 : 1];
    PtxReg *own, *row, *which = gr_ptx_new_reg(f, PTX_B32), *more = gr_ptx_new_reg(f, PTX_B64),
                       *half[2] = {gr_ptx_new_reg(f, PTX_B16), gr_ptx_new_reg(f, PTX_B16)};
    const char *space = gr_space_words(site->space);
    GR_MUST(gr_code_address(c, s, &i->operands[loads ? 1 : 0], &own));
    // In which row of a matrix the lane's elements are, and how many bytes behind its begin; turned: in that row and
    // the next one.
    PtxReg *part = gr_ptx_new_reg(f, PTX_B32);
    GR_CODE(c, s, "mov.u32 %s, %%laneid; shr.u32 %s, %s, 2; and.b32 %s, %s, 3;", part->name, which->name,
            part->name, part->name, part->name);
    if (turned)
        GR_CODE(c, s, "mul.wide.u32 %s, %s, 2; shl.b32 %s, %s, 1;", more->name, which->name, which->name,
                part->name);
    else
        GR_CODE(c, s, "mul.wide.u32 %s, %s, 4;", more->name, part->name);
    for (unsigned k = 0; k < n_matrices(i); k++) {
        const PtxOperand *element = all->kind == PTX_O_VECTOR ? &all->sub[k] : all;
        if (turned && !loads)
            GR_CODE_OPS(c, s, element, 1, "mov.b32 {%s, %s}, $0;", half[0]->name, half[1]->name);
        for (unsigned h = 0; h < (turned ? 2 : 1); h++) {
            PtxReg *from = gr_ptx_new_reg(f, PTX_B32);
            GR_CODE(c, s, "add.u32 %s, %s, %u;", from->name, which->name, 8 * k + h);
            GR_MUST(put_row(c, s, own, from, more, &row));
            if (loads && turned)
                GR_MUST(gr_code_access(c, s, site, PTX_ACCESS_READ, site->space, 2, NULL, 0,
                                       "ld%s.b16 %s, [%s];", space, half[h]->name, row->name));
            else if (loads)
                GR_MUST(gr_code_access(c, s, site, PTX_ACCESS_READ, site->space, 4, element, 1,
                                       "ld%s.b32 $0, [%s];", space, row->name));
            else if (turned)
                GR_MUST(gr_code_access(c, s, site, PTX_ACCESS_WRITE, site->space, 2, NULL, 0,
                                       "st%s.b16 [%s], %s;", space, row->name, half[h]->name));
            else
                GR_MUST(gr_code_access(c, s, site, PTX_ACCESS_WRITE, site->space, 4, element, 1,
                                       "st%s.b32 [%s], $0;", space, row->name));
        }
        if (turned && loads)
            GR_CODE_OPS(c, s, element, 1, "mov.b32 $0, {%s, %s};", half[0]->name, half[1]->name);
    }
    return done_with(s);
}

// ---- wmma -----------------------------------------------------------------------------------------------------------

// A matrix in memory: lines of so many bytes, a power of two.
typedef struct Matrix {
    unsigned lines, bytes, bits; // bits: of an element
} Matrix;

static bool find_matrix(const PtxInstr *i, Matrix *out) {
    static const struct {
        const char *text;
        unsigned bits;
    } types[] = {{"f16", 16}, {"bf16", 16}, {"tf32", 32}, {"f32", 32}, {"s32", 32}, {"f64", 64},
                 {"s8", 8},   {"u8", 8},    {"s4", 4},    {"u4", 4},   {"b1", 1}};
    unsigned m = 0, n = 0, k = 0;
    char which = 0;
    bool row = false, col = false;
    *out = (Matrix){0};
    for (unsigned j = 0; j < i->n_mods; j++) {
        const char *text = i->mods[j].text;
        unsigned a, b, d;
        if (sscanf(text, "m%un%uk%u", &a, &b, &d) == 3)
            m = a, n = b, k = d;
        if (strlen(text) == 1)
            which = text[0];
        row |= !strcmp(text, "row");
        col |= !strcmp(text, "col");
        for (size_t t = 0; t < sizeof types / sizeof *types; t++)
            if (!strcmp(text, types[t].text))
                out->bits = types[t].bits;
    }
    unsigned height = which == 'b' ? k : m, width = which == 'a' ? k : n;
    out->lines = row ? height : width;
    out->bytes = (row ? width : height) * out->bits / 8;
    unsigned all = out->lines * out->bytes;
    return row != col && which && all >= 128 && all <= GR_STAGE && !(all & (all - 1)) && out->bytes >= 4 &&
           !(out->bytes & (out->bytes - 1));
}

bool gr_stages(const PtxInstr *i) {
    return i->op == PTX_OP_WMMA && gr_ptx_instr_flags(i) & (PTX_F_READS | PTX_F_WRITES);
}

static unsigned log2_of(unsigned v) {
    unsigned n = 0;
    while (v >>= 1)
        n++;
    return n;
}

// Copies between the matrix, whose lines are *step bytes apart, and the warp's memory, where they are `stride`.
static gr_status put_stage(const Code *c, PtxStmt *s, const PtxSite *site, const Matrix *m, const PtxReg *at,
                           const PtxReg *step, unsigned stride, bool in) {
    PtxFunc *f = c->f;
    unsigned of_lane = m->lines * m->bytes / 32, piece = of_lane < 16 ? of_lane : 16, in_line = m->bytes;
    piece = piece < in_line ? piece : in_line;
    const char *vector = piece == 4 ? "" : piece == 8 ? ".v2" : ".v4";
    PtxReg *v[4], *number = gr_ptx_new_reg(f, PTX_B32), *line = gr_ptx_new_reg(f, PTX_B32),
                  *low = gr_ptx_new_reg(f, PTX_B64), *there = gr_ptx_new_reg(f, PTX_B64),
                  *here = gr_ptx_new_reg(f, PTX_B64);
    char list[200], *end = list;
    for (unsigned k = 0; k < piece / 4; k++) {
        v[k] = gr_ptx_new_reg(f, PTX_B32);
        end += snprintf(end, (size_t)(list + sizeof list - end), "%s%s", k ? ", " : "{", v[k]->name);
    }
    snprintf(end, (size_t)(list + sizeof list - end), "}");
    const char *elements = piece == 4 ? v[0]->name : list;
    for (unsigned k = 0; k < of_lane / piece; k++) {
        GR_CODE(c, s,
                "mov.u32 %s, %%laneid; add.u32 %s, %s, %u; shr.u32 %s, %s, %u; and.b32 %s, %s, %u; "
                "mul.wide.u32 %s, %s, %u;",
                number->name, number->name, number->name, 32 * k, line->name, number->name,
                log2_of(in_line / piece), number->name, number->name, in_line / piece - 1, low->name,
                number->name, piece);
        GR_CODE(c, s,
                "mad.wide.u32 %s, %s, %s, %s; add.u64 %s, %s, %s; mad.wide.u32 %s, %s, %u, %s; "
                "add.u64 %s, %s, %s;",
                there->name, line->name, step->name, at->name, there->name, there->name, low->name,
                here->name, line->name, stride, c->stage->name, here->name, here->name, low->name);
        if (in)
            GR_MUST(gr_code_access(c, s, site, PTX_ACCESS_READ, site->space, piece, NULL, 0,
                                   "ld%s%s.b32 %s, [%s];", gr_space_words(site->space), vector, elements,
                                   there->name));
        if (in)
            GR_CODE(c, s, "st.global%s.b32 [%s], %s;", vector, here->name, elements);
        else
            GR_CODE(c, s, "ld.global%s.b32 %s, [%s];", vector, elements, here->name);
        if (!in)
            GR_MUST(gr_code_access(c, s, site, PTX_ACCESS_WRITE, site->space, piece, NULL, 0,
                                   "st%s%s.b32 [%s], %s;", gr_space_words(site->space), vector, there->name,
                                   elements));
    }
    return GR_OK;
}

// The instruction itself, on the warp's memory.
static gr_status put_on_stage(const Code *c, PtxStmt *s, unsigned address, unsigned stride) {
    PtxInstr *i = s->instr;
    PtxOperand *ops = GR_NEW_ARRAY(&c->f->module->arena, PtxOperand, 3),
               *sub = GR_NEW(&c->f->module->arena, PtxOperand);
    GR_NEED(ops && sub, c->err);
    memcpy(ops, i->operands, 2 * sizeof *ops);
    *sub = gr_ptx_reg_operand(c->stage);
    ops[address] = (PtxOperand){.kind = PTX_O_ADDRESS, .n_sub = 1, .sub = sub};
    ops[2] = gr_ptx_int_operand(stride);
    i->operands = ops;
    i->n_operands = 3;
    gr_code_change_space(i);
    return GR_OK;
}

static gr_status stage(const Code *c, PtxStmt *s, const PtxSite *site) {
    PtxFunc *f = c->f;
    PtxInstr *i = s->instr;
    bool loads = site->access == PTX_ACCESS_READ;
    unsigned address = loads ? 1 : 0;
    Matrix m;
    PtxReg *at, *step = gr_ptx_new_reg(f, PTX_B32);
    if (!find_matrix(i, &m))
        return gr_fail(c->err, GR_ERR_INTERNAL, "%s: a matrix of unknown shape", f->name);
    unsigned stride = m.bytes < 16 ? 16 : m.bytes;
    GR_MUST(gr_code_address(c, s, &i->operands[address], &at));
    if (i->n_operands > 2)
        GR_CODE_OPS(c, s, &i->operands[2], 1, "mov.b32 %s, $0; mul.lo.u32 %s, %s, %u; shr.u32 %s, %s, 3;",
                    step->name, step->name, step->name, m.bits, step->name, step->name);
    else
        GR_CODE(c, s, "mov.u32 %s, %u;", step->name, m.bytes);
    if (loads) {
        GR_MUST(put_stage(c, s, site, &m, at, step, stride, true));
        GR_CODE(c, s, "bar.warp.sync 0xffffffff;");
        GR_MUST(put_on_stage(c, s, address, stride * 8 / m.bits));
        GR_CODE(c, s->next, "bar.warp.sync 0xffffffff;");
    } else {
        PtxStmt *next = s->next; // the copies come behind
        GR_MUST(put_on_stage(c, s, address, stride * 8 / m.bits));
        GR_CODE(c, next, "bar.warp.sync 0xffffffff;");
        GR_MUST(put_stage(c, next, site, &m, at, step, stride, false));
        GR_CODE(c, next, "bar.warp.sync 0xffffffff;");
    }
    return GR_OK;
}

// ---- All of them ----------------------------------------------------------------------------------------------------

bool gr_expands(const PtxInstr *i) {
    Matrix m;
    return gr_is_copy(i) || is_rows(i) || (gr_stages(i) && !i->guard && find_matrix(i, &m));
}

gr_status gr_code_expand(const Code *c, PtxStmt *s, const PtxSite *site) {
    return gr_is_copy(s->instr) ? gr_code_copy(c, s, site)
           : is_rows(s->instr)  ? rows(c, s, site)
                                : stage(c, s, site);
}
