// SPDX-License-Identifier: Apache-2.0
// inside — accesses that stay as they are: to the block's own shared memory in code for blocks, and to local memory. In a private run a thread may have an index that never was there: in pass 2 it
// finds what all units wrote, and where a thread has left, others use what it has not told them. Such an access must not leave the memory, which would take the program's context with it. So
// the address is held within it, and where that changes anything the run is worth nothing or differs, as it would anyway.
#include "engines/privatizer/device/control.h"
#include "engines/privatizer/pass/code.h"

#include <stddef.h>

// The kernel's only variable in local memory; NULL: it has none, or several.
static const PtxVar *only_local(const PtxFunc *f) {
    const PtxVar *found = NULL;
    for (const PtxStmt *s = f->first; s; s = s->next) {
        if (s->kind != PTX_DECL_VAR || s->var->space != PTX_LOCAL || s->tag.inserted)
            continue;
        if (found)
            return NULL;
        found = s->var;
    }
    return found;
}

gr_status gr_code_inside(const Code *c, PtxStmt *s, const PtxSite *site) {
    gr_status st = GR_OK;
    bool local = site->space == PTX_LOCAL;
    PtxOperand *address = gr_code_address_of(s->instr);
    const PtxVar *variable = local ? only_local(c->f) : NULL;
    bool aligns = site->size && !(site->size & (site->size - 1)) && (!local || variable);
    // By a name it is where the assembler has looked.
    if (!address || !address->n_sub || address->sub[0].kind != PTX_O_REG || !aligns ||
        (local && (variable->size < site->size || variable->align < site->size)))
        return GR_OK;
    bool wide = gr_ptx_type_bits(address->sub[0].reg->type) == 64;
    PtxReg *to = gr_ptx_new_reg(c->f, wide ? PTX_B64 : PTX_B32), *end = gr_ptx_new_reg(c->f, PTX_B32),
           *low = gr_ptx_new_reg(c->f, PTX_B32), *from = gr_ptx_new_reg(c->f, wide ? PTX_B64 : PTX_B32);
    const char *type = wide ? "u64" : "u32";
    if (local)
        GR_TRY(gr_code_put(c, s, NULL, 0, "mov.%s %s, %s; mov.u32 %s, %llu;", type, from->name,
                           variable->name, end->name, (unsigned long long)(variable->size - site->size)));
    else {
        GR_TRY(gr_code_put(c, s, NULL, 0, "mov.%s %s, 0;", type, from->name));
        GR_TRY(gr_code_field(c, s, "u32", end, offsetof(GrPrivControl, held_shared)));
        GR_TRY(gr_code_put(c, s, NULL, 0, "sub.u32 %s, %s, %u;", end->name, end->name, site->size));
    }
    GR_TRY(gr_code_put(c, s, address->sub, 1, "add.s%s %s, $0, %lld; sub.%s %s, %s, %s;", type + 1, to->name,
                       (long long)address->offset, type, to->name, to->name, from->name));
    if (wide)
        GR_TRY(gr_code_put(c, s, NULL, 0,
                           "{ .reg .b64 most; min.u64 most, %s, 0xffffffff; cvt.u32.u64 %s, most; }",
                           to->name, low->name));
    else
        GR_TRY(gr_code_put(c, s, NULL, 0, "mov.b32 %s, %s;", low->name, to->name));
    GR_TRY(gr_code_put(c, s, NULL, 0, "min.u32 %s, %s, %s; and.b32 %s, %s, %d;", low->name, low->name,
                       end->name, low->name, low->name, -(int)site->size));
    GR_TRY(
        gr_code_put(c, s, NULL, 0,
                    wide ? "cvt.u64.u32 %s, %s; add.u64 %s, %s, %s;" : "mov.b32 %s, %s; add.u32 %s, %s, %s;",
                    to->name, low->name, to->name, to->name, from->name));
    GR_TRY(gr_code_set_address(c, address, to, 0));
done:
    return st;
}
