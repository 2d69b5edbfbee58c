// SPDX-License-Identifier: Apache-2.0
#include "engines/privatizer/pass/grid.h"

#include "engines/privatizer/pass/suits.h"

#include <string.h>

GrGridPart gr_grid_part(const GrGrid *grid, const PtxStmt *s) {
    for (uint32_t k = 0; k < grid->n; k++)
        if (grid->pieces[k].s == s)
            return grid->pieces[k].part;
    return GR_GRID_NO_PART;
}

bool gr_grid_is_access(const GrGrid *grid, const PtxStmt *s) {
    GrGridPart part = gr_grid_part(grid, s);
    return part == GR_GRID_COUNTS || part == GR_GRID_LOOKS;
}

// ---- What points into the driver's memory ---------------------------------------------------------------------------

typedef struct Finder {
    const Cfg *g;
    bool *points; // by PtxReg.index: the register has such an address, or a part of one
    bool *seen;   // by CfgBlock.id
    uint32_t *queue;
    GrGrid *out;
} Finder;

static bool operand_points(const Finder *f, const PtxOperand *o) {
    if (o->kind == PTX_O_SREG)
        return !strcmp(o->text, "%envreg1") || !strcmp(o->text, "%envreg2");
    if (o->kind == PTX_O_REG)
        return f->points[o->reg->index];
    for (unsigned k = 0; k < o->n_sub; k++)
        if (operand_points(f, &o->sub[k]))
            return true;
    return false;
}

static bool computes_address(const PtxInstr *i) {
    switch (i->op) {
    case PTX_OP_MOV:
    case PTX_OP_CVT:
    case PTX_OP_CVTA:
    case PTX_OP_BFI:
    case PTX_OP_SHL:
    case PTX_OP_OR:
    case PTX_OP_ADD:
    case PTX_OP_MAD: return i->n_operands > 1 && i->operands[0].kind == PTX_O_REG;
    default: return false;
    }
}

static bool find_pointers(const Finder *f) {
    bool any = false;
    for (bool changed = true; changed;) {
        changed = false;
        for (const PtxStmt *s = f->g->func->first; s; s = s->next) {
            if (s->kind != PTX_INSTR || !computes_address(s->instr))
                continue;
            bool points = false, *to = &f->points[s->instr->operands[0].reg->index];
            for (unsigned k = 1; k < s->instr->n_operands; k++)
                points |= operand_points(f, &s->instr->operands[k]);
            changed |= points && !*to;
            *to |= points;
            any |= points;
        }
    }
    return any;
}

// ---- Barriers -------------------------------------------------------------------------------------------------------

static bool add(const Finder *f, const PtxStmt *s, GrGridPart part) {
    if (gr_grid_part(f->out, s)) // two counts behind one barrier of the block
        return false;
    f->out->pieces[f->out->n++] = (GrGridPiece){s, part};
    return true;
}

// GR_GRID_NO_PART: it has nothing to do with the driver's memory. *fits: as cooperative groups do it.
static GrGridPart part_of(const Finder *f, const PtxStmt *s, bool *fits) {
    const PtxInstr *i = s->instr;
    bool points = false;
    for (unsigned k = 0; k < i->n_operands; k++)
        points |= i->operands[k].kind == PTX_O_ADDRESS && operand_points(f, &i->operands[k]);
    if (!s->site || !points)
        return GR_GRID_NO_PART;
    const PtxSite *site = &f->g->func->module->sites[s->site];
    GrGridPart part = i->op == PTX_OP_ATOM && gr_ptx_instr_has(i, PTX_MOD_add) ? GR_GRID_COUNTS
                      : i->op == PTX_OP_LD && site->strong                     ? GR_GRID_LOOKS
                                                                               : GR_GRID_NO_PART;
    *fits = part && site->size == 4 && i->operands[0].kind == PTX_O_REG &&
            gr_ptx_type_bits(i->operands[0].reg->type) == 32;
    return part;
}

// The last barrier of the block of threads in `b`, in front of `s` (NULL: the end). NULL: there is none; *open: nor
// anything else that does something, so it may be in front of `b`.
static const PtxStmt *last_barrier(const CfgBlock *b, const PtxStmt *s, bool *open) {
    *open = false;
    for (const PtxStmt *at = s == b->first ? NULL
                             : s           ? s->prev
                                           : b->last;
         at; at = at == b->first ? NULL : at->prev) {
        bool instr = at->kind == PTX_INSTR;
        if (instr && gr_is_full_barrier(at->instr))
            return at;
        if (at->site || (instr && gr_ptx_instr_flags(at->instr) & (PTX_F_BARRIER | PTX_F_CALL)))
            return NULL;
    }
    *open = b->n_preds > 0;
    return NULL;
}

// The one barrier of the block from which all threads come that count at `s`. NULL: there are several, or something is
// between.
static const PtxStmt *find_arrival(const Finder *f, const PtxStmt *s) {
    const Cfg *g = f->g;
    const PtxStmt *found = NULL;
    uint32_t n = 0, first = gr_cfg_block_of(g, s);
    memset(f->seen, 0, g->n_blocks * sizeof *f->seen);
    if (first == UINT32_MAX)
        return NULL;
    f->queue[n++] = first;
    for (uint32_t k = 0; k < n; k++) {
        const CfgBlock *b = &g->blocks[f->queue[k]];
        bool open;
        const PtxStmt *barrier = last_barrier(b, k == 0 ? s : NULL, &open);
        if ((!barrier && !open) || (barrier && found && barrier != found))
            return NULL;
        found = barrier ? barrier : found;
        for (uint32_t p = 0; p < b->n_preds && open; p++)
            if (!f->seen[b->preds[p]]) {
                f->seen[b->preds[p]] = true;
                f->queue[n++] = b->preds[p];
            }
    }
    return found;
}

static bool find_barriers(const Finder *f) {
    for (const PtxStmt *s = f->g->func->first; s; s = s->next) {
        if (s->kind != PTX_INSTR)
            continue;
        bool fits = true;
        GrGridPart part = part_of(f, s, &fits);
        if (!fits || s->instr->op == PTX_OP_MBARRIER)
            return false;
        if (part && !add(f, s, part))
            return false;
        const PtxStmt *arrival = part == GR_GRID_COUNTS ? find_arrival(f, s) : NULL;
        if (part == GR_GRID_COUNTS && (!arrival || !add(f, arrival, GR_GRID_ARRIVES)))
            return false;
    }
    return f->out->n > 0;
}

gr_status gr_grid_find(const Cfg *g, Arena *arena, GrGrid *out, gr_error *err) {
    const PtxFunc *f = g->func;
    size_t n = 0;
    *out = (GrGrid){NULL, 0};
    for (const PtxStmt *s = f->first; s; s = s->next)
        n += s->kind == PTX_INSTR;
    Finder finder = {.g = g,
                     .points = GR_NEW_ARRAY(arena, bool, (size_t)f->n_regs + 1),
                     .seen = GR_NEW_ARRAY(arena, bool, g->n_blocks),
                     .queue = GR_NEW_ARRAY(arena, uint32_t, (size_t)g->n_blocks + 1),
                     .out = out};
    GR_NEED(finder.points && finder.seen && finder.queue, err);
    if (!find_pointers(&finder))
        return GR_OK;
    out->pieces = GR_NEW_ARRAY(arena, GrGridPiece, 2 * n + 1);
    GR_NEED(out->pieces, err);
    if (!find_barriers(&finder))
        out->n = 0;
    return GR_OK;
}
