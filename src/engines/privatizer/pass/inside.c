// SPDX-License-Identifier: Apache-2.0
// inside — accesses that stay as they are: to the block's own shared memory in code for blocks, to local memory, and to
// constants. In a private run a thread may have an index that never was there: in pass 2 it finds what all units wrote,
// and where a thread has left, others use what it has not told them. Such an access must not leave the memory, which
// would take the program's context with it. So the address is held within it, and where that changes anything the run
// is worth nothing or differs, as it would anyway.
#include "engines/privatizer/device/control.h"
#include "engines/privatizer/pass/code.h"

#include <stddef.h>

// On a GPU an address in shared memory has the block's rank in its cluster above so many bits (seen on sm_90; PTX does
// not say). Blocks have less memory than that.
enum { SHARED_BITS = 24 };

enum { MOST_VARS = 8 };
typedef struct Vars {
    const PtxVar *var[MOST_VARS];
    unsigned n;
    bool some; // there are more, or one whose size nobody knows
} Vars;

static void add(Vars *v, const PtxVar *var) {
    if (v->n == MOST_VARS || !var->size || var->is_extern)
        v->some = true;
    else
        v->var[v->n++] = var;
}

// All that an address in this space may be of: the kernel's local variables, or the module's constants.
static Vars vars_in(const PtxFunc *f, PtxSpace space) {
    Vars v = {.n = 0};
    for (const PtxStmt *s = f->first; s && space == PTX_LOCAL; s = s->next)
        if (s->kind == PTX_DECL_VAR && s->var->space == PTX_LOCAL && !s->tag.inserted)
            add(&v, s->var);
    for (uint32_t k = 0; space == PTX_CONST && k < f->module->n_vars; k++)
        if (f->module->vars[k]->space == PTX_CONST)
            add(&v, f->module->vars[k]);
    return v;
}

// Some variable in shared memory of the kernel; NULL: none has a name there.
static const PtxVar *some_shared(const PtxFunc *f) {
    for (const PtxStmt *s = f->first; s; s = s->next) {
        if (s->kind == PTX_DECL_VAR && gr_is_shared_space(s->var->space) && !s->tag.inserted)
            return s->var;
        for (unsigned k = 0; s->kind == PTX_INSTR && !s->tag.inserted && k < s->instr->n_operands; k++) {
            const PtxOperand *o = &s->instr->operands[k];
            o = o->kind == PTX_O_ADDRESS && o->n_sub ? o->sub : o;
            if (o->kind == PTX_O_VAR && gr_is_shared_space(o->var->space))
                return o->var;
        }
    }
    return NULL;
}

// Where the memory begins, in *from, and of how many bytes behind that an access may be the first, in `end`.
static gr_status put_shared(const Code *c, PtxStmt *s, const char *type, const PtxReg *from,
                            const PtxReg *end, uint32_t bytes) {
    const PtxVar *var = some_shared(c->f);
    if (var)
        GR_CODE(c, s, "mov.%s %s, %s; and.b%s %s, %s, %lld;", type, from->name, var->name, type + 1,
                from->name, from->name, -(1LL << SHARED_BITS));
    else
        GR_CODE(c, s, "mov.%s %s, 0;", type, from->name);
    GR_MUST(gr_code_field(c, s, "u32", end,
                          var ? offsetof(GrPrivControl, own_shared) : offsetof(GrPrivControl, held_shared)));
    return gr_code_put(c, s, NULL, 0, "sub.u32 %s, %s, %u;", end->name, end->name, bytes);
}

static gr_status put_vars(const Code *c, PtxStmt *s, const char *type, const PtxReg *from, const PtxReg *end,
                          uint32_t bytes, const Vars *v) {
    const char *bits = type + 1;
    GR_CODE(c, s, "mov.%s %s, %s;", type, from->name, v->var[0]->name);
    if (v->n == 1)
        return gr_code_put(c, s, NULL, 0, "mov.u32 %s, %llu;", end->name,
                           (unsigned long long)(v->var[0]->size - bytes));
    PtxReg *top = gr_ptx_new_reg(c->f, from->type);
    GR_CODE(c, s, "add.u%s %s, %s, %llu;", bits, top->name, from->name, (unsigned long long)v->var[0]->size);
    for (unsigned k = 1; k < v->n; k++)
        GR_CODE(c, s,
                "{ .reg .b%s one; mov.%s one, %s; min.u%s %s, %s, one; add.u%s one, one, %llu; "
                "max.u%s %s, %s, one; }",
                bits, type, v->var[k]->name, bits, from->name, from->name, bits,
                (unsigned long long)v->var[k]->size, bits, top->name, top->name);
    GR_CODE(c, s, "sub.u%s %s, %s, %s;", bits, top->name, top->name, from->name);
    return gr_code_put(c, s, NULL, 0, "cvt.u32.u%s %s, %s; sub.u32 %s, %s, %u;", bits, end->name, top->name,
                       end->name, end->name, bytes);
}

// Each variable has room for the access: what is held is within one of them, or between two.
static bool have_room(const Vars *v, uint32_t bytes) {
    for (unsigned k = 0; k < v->n; k++)
        if (v->var[k]->size < bytes)
            return false;
    return v->n && !v->some;
}

gr_status gr_code_inside(const Code *c, PtxStmt *s, const PtxSite *site) {
    bool shared = gr_is_shared_space(site->space);
    PtxOperand *address = gr_code_address_of(s->instr);
    Vars vars = shared ? (Vars){.n = 0} : vars_in(c->f, site->space);
    // By a name it is where the assembler has looked.
    if (!address || !address->n_sub || address->sub[0].kind != PTX_O_REG || !site->size ||
        site->size & (site->size - 1) || (!shared && !have_room(&vars, site->size)))
        return GR_OK;
    bool wide = gr_ptx_type_bits(address->sub[0].reg->type) == 64;
    PtxReg *to = gr_ptx_new_reg(c->f, wide ? PTX_B64 : PTX_B32), *end = gr_ptx_new_reg(c->f, PTX_B32),
           *low = gr_ptx_new_reg(c->f, PTX_B32), *from = gr_ptx_new_reg(c->f, wide ? PTX_B64 : PTX_B32);
    const char *type = wide ? "u64" : "u32";
    GR_MUST(shared ? put_shared(c, s, type, from, end, site->size)
                   : put_vars(c, s, type, from, end, site->size, &vars));
    GR_CODE_OPS(c, s, address->sub, 1, "add.s%s %s, $0, %lld; sub.%s %s, %s, %s;", type + 1, to->name,
                (long long)address->offset, type, to->name, to->name, from->name);
    if (wide)
        GR_CODE(c, s, "{ .reg .b64 most; min.u64 most, %s, 0xffffffff; cvt.u32.u64 %s, most; }", to->name,
                low->name);
    else
        GR_CODE(c, s, "mov.b32 %s, %s;", low->name, to->name);
    GR_CODE(c, s, "min.u32 %s, %s, %s;", low->name, low->name, end->name);
    GR_CODE(c, s, wide ? "cvt.u64.u32 %s, %s; add.u64 %s, %s, %s;" : "mov.b32 %s, %s; add.u32 %s, %s, %s;",
            to->name, low->name, to->name, to->name, from->name);
    GR_CODE(c, s, "and.b%s %s, %s, %d;", type + 1, to->name, to->name, -(int)site->size);
    return gr_code_set_address(c, address, to, 0);
}
