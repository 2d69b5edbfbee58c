// SPDX-License-Identifier: Apache-2.0
// bases — loads in straight code that add numbers to one register, in code where there is no other way (Code.known):
// whether they are where they have to be is looked at once for all of them, and what finds their private copies is
// computed once.
#include "engines/privatizer/device/control.h"
#include "engines/privatizer/pass/code.h"

#include <stddef.h>

// Where a launch has near memory, it has more behind a line of it; and so has its control, which is loaded from in
// place of what is elsewhere.
enum { MOST_APART = 256 };
_Static_assert(sizeof(GrPrivControl) >= MOST_APART, "a load from the control stays in there");

struct GrBase {
    int64_t least;  // what is added to the register
    PtxReg *at;     // that sum, where it leads to memory that it may; of 32 bits for near memory, else of 64
    PtxReg *unmade; // of near memory: where the bytes are that the thread does not own
    PtxReg *owners; // and where their owners stand
    PtxReg *me;     // the number of the thread's copy and one
    PtxReg *heads;  // with by_warps: Code.near_heads
};

// What the load adds to, the body's statement `k`; NULL: it is none of several, maybe.
static const PtxReg *base_of(const Code *c, size_t k, unsigned group) {
    const PtxStmt *s = c->body.stmt[k];
    uint32_t number = c->body.from[k]->site;
    const PtxSite *site = number ? &c->f->module->sites[number] : NULL;
    if (!site || s->kind != PTX_INSTR || s->instr->op != PTX_OP_LD || s->instr->guard || site->strong ||
        (group ? !c->groups || site->space != PTX_GLOBAL || c->groups[number] != group
               : !gr_near_fits(c, site)))
        return NULL;
    const PtxOperand *a = gr_code_address_of(s->instr);
    return a && a->n_sub == 1 && a->sub[0].kind == PTX_O_REG && site->size && site->size <= 16 &&
                   a->offset % site->size == 0
               ? a->sub[0].reg
               : NULL;
}

static bool has(const PtxOperand *o, const PtxReg *r) {
    if (o->kind == PTX_O_REG && o->reg == r)
        return true;
    for (unsigned k = 0; k < o->n_sub && o->kind != PTX_O_ADDRESS; k++)
        if (has(&o->sub[k], r))
            return true;
    return false;
}

static bool sets(const PtxInstr *i, const PtxReg *r) {
    return i->n_operands && !(gr_ptx_instr_flags(i) & PTX_F_NO_DST) && has(&i->operands[0], r);
}

// Names `b` for the load that is written now and for all that come behind it, until something else may. *end: behind
// the last byte of them; *align: the largest.
static void find_others(const Code *c, unsigned group, GrBase *b, int64_t *end, uint32_t *align) {
    const unsigned other = PTX_F_BRANCH | PTX_F_EXIT | PTX_F_CALL | PTX_F_BARRIER;
    const PtxReg *base = base_of(c, c->now, group);
    *align = 1;
    b->least = *end = gr_code_address_of(c->body.stmt[c->now]->instr)->offset;
    for (size_t k = c->now; k < c->body.n; k++) {
        const PtxStmt *s = c->body.stmt[k];
        uint32_t site = c->body.from[k]->site;
        if (s->kind == PTX_LOC)
            continue;
        if (s->kind != PTX_INSTR || gr_ptx_instr_flags(s->instr) & other)
            return;
        if (base_of(c, k, group) == base && !c->bases[site]) {
            int64_t from = gr_code_address_of(s->instr)->offset, size = c->f->module->sites[site].size,
                    most = size > *align ? size : *align, least = from < b->least ? from : b->least,
                    last = from + size > *end ? from + size : *end;
            least -= (least % most + most) % most;
            if (last - least <= MOST_APART) {
                b->least = least;
                *end = last;
                *align = (uint32_t)most;
                c->bases[site] = b;
            }
        }
        if (sets(s->instr, base))
            return;
    }
}

// Of near memory.
static gr_status put_near_base(const Code *c, PtxStmt *s, const PtxOperand *reg, GrBase *b, int64_t apart) {
    PtxFunc *f = c->f;
    Code hand;
    PtxReg *sum = gr_ptx_new_reg(f, PTX_B32), *most = gr_ptx_new_reg(f, PTX_B32),
           *out = gr_ptx_new_reg(f, PTX_PRED);
    bool wide = gr_ptx_type_bits(reg->reg->type) == 64, same = 1u << c->near_shift == c->near_entry;
    b->at = gr_ptx_new_reg(f, PTX_B32);
    b->unmade = gr_ptx_new_reg(f, PTX_B32);
    b->owners = gr_ptx_new_reg(f, PTX_B32);
    GR_MUST(gr_code_at_hand(c, s, GR_HAND_NEAR, &hand));
    b->me = hand.me;
    b->heads = hand.near_heads;
    GR_CODE_OPS(c, s, reg, 1, wide ? "cvt.u32.u64 %s, $0;" : "mov.b32 %s, $0;", sum->name);
    GR_CODE(c, s,
            "add.u32 %s, %s, %lld; sub.u32 %s, %s, %lld; max.s32 %s, %s, 0; min.u32 %s, %s, %s; "
            "setp.ne.u32 %s, %s, %s; @%s mov.u32 %s, %d; add.u32 %s, %s, %s;",
            sum->name, sum->name, (long long)b->least, most->name, c->near_end->name, (long long)apart,
            most->name, most->name, b->at->name, sum->name, most->name, out->name, b->at->name, sum->name,
            out->name, c->left->name, GR_LEFT_WILD, b->unmade->name, b->at->name, c->near_unmade->name);
    if (c->dense)
        return GR_OK;
    if (same)
        GR_CODE(c, s, "add.u32 %s, %s, %s;", b->owners->name, b->at->name, hand.near_owners->name);
    else
        GR_CODE(c, s, "shr.u32 %s, %s, %u; mad.lo.u32 %s, %s, %u, %s;", b->owners->name, b->at->name,
                c->near_shift, b->owners->name, b->owners->name, c->near_entry, hand.near_owners->name);
    return GR_OK;
}

// Of memory that is only read.
static gr_status put_read_base(const Code *c, PtxStmt *s, const PtxOperand *reg, unsigned group, GrBase *b,
                               int64_t apart) {
    PtxFunc *f = c->f;
    PtxReg *begin = gr_ptx_new_reg(f, PTX_B64), *size = gr_ptx_new_reg(f, PTX_B64),
           *sum = gr_ptx_new_reg(f, PTX_B64), *none = gr_ptx_new_reg(f, PTX_B64),
           *fits = gr_ptx_new_reg(f, PTX_PRED), *in = gr_ptx_new_reg(f, PTX_PRED);
    char control[64];
    b->at = gr_ptx_new_reg(f, PTX_B64);
    gr_privatizer_control_name(c->suffix, control, sizeof control);
    return gr_code_put(
        c, s, reg, 1,
        "ld.global.nc.v2.u64 {%s, %s}, [%s+%zu]; mov.u64 %s, %s; add.s64 %s, $0, %lld; sub.u64 %s, %s, %s; "
        "setp.ge.u64 %s, %s, %lld; sub.u64 %s, %s, %lld; setp.le.and.u64 %s, %s, %s, %s; selp.b64 %s, %s, "
        "%s, %s; @!%s mov.u32 %s, %d;",
        begin->name, size->name, control,
        offsetof(GrPrivControl, only_read) + (group - 1) * sizeof(GrPrivProved), none->name, control,
        sum->name, (long long)b->least, begin->name, sum->name, begin->name, fits->name, size->name,
        (long long)apart, size->name, size->name, (long long)apart, in->name, begin->name, size->name,
        fits->name, b->at->name, sum->name, none->name, in->name, in->name, c->left->name, GR_LEFT_WILD);
}

gr_status gr_code_base(const Code *c, PtxStmt *s, unsigned group, const GrBase **out) {
    *out = NULL;
    if (c->body.stmt[c->now] != s ||
        !base_of(c, c->now, group)) // it may be a part of what the statement does
        return GR_OK;
    if ((*out = c->bases[c->body.from[c->now]->site]))
        return GR_OK;
    GrBase *b = GR_NEW(c->arena, GrBase);
    int64_t end, apart;
    uint32_t align;
    GR_NEED(b, c->err);
    find_others(c, group, b, &end, &align);
    apart = end - b->least;
    *out = b;
    const PtxOperand *reg = &gr_code_address_of(s->instr)->sub[0];
    // Where near memory ends is aligned, as addresses are.
    return group ? put_read_base(c, s, reg, group, b, apart)
                 : put_near_base(c, s, reg, b, (apart + align - 1) / align * align);
}

gr_status gr_code_base_read(const Code *c, PtxStmt *s, const GrBase *b) {
    PtxOperand *a = gr_code_address_of(s->instr);
    return gr_code_set_address(c, a, b->at, a->offset - b->least);
}

gr_status gr_code_base_near(const Code *c, PtxStmt *s, const PtxSite *site, const GrBase *b) {
    PtxOperand *a = gr_code_address_of(s->instr);
    int64_t from = a->offset - b->least;
    if (c->dense)
        return gr_code_set_address(c, a, b->unmade, from);
    PtxReg *to = gr_ptx_new_reg(c->f, PTX_B32), *own = gr_ptx_new_reg(c->f, PTX_PRED),
           *asks = gr_ptx_new_reg(c->f, PTX_PRED);
    Code hand = *c;
    hand.me = b->me;
    hand.near_heads = b->heads;
    GR_CODE(c, s, "not.pred %s, %s;", asks->name, c->plain->name);
    GR_MUST(gr_code_near_owned(&hand, s, site, b->at, b->owners, from, asks, own));
    GR_CODE(c, s, "selp.b32 %s, %s, %s, %s;", to->name, b->at->name, b->unmade->name, own->name);
    return gr_code_set_address(c, a, to, from);
}
