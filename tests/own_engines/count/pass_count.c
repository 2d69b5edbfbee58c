// SPDX-License-Identifier: Apache-2.0
#include "pass_count.h"

#include <stdio.h>
#include <string.h>

static gr_status add_counters(PtxModule *m, const char *name, gr_error *err) {
    char text[256];
    snprintf(text, sizeof text,
             ".version 6.3\n.target sm_70\n.address_size 64\n.visible .global .align 8 .b8 %s[%llu];\n", name,
             ((unsigned long long)m->n_sites + 1) * 8);
    PtxModule *runtime;
    gr_status st = gr_ptx_parse(text, strlen(text), "counters", &runtime, err);
    if (st != GR_OK)
        return st;
    st = gr_ptx_link_runtime(m, runtime, err);
    gr_ptx_free(runtime);
    return st;
}

gr_status gr_count_rewrite(PtxModule *m, const char *name, gr_error *err) {
    gr_status st = add_counters(m, name, err);
    for (uint32_t k = 1; k <= m->n_sites && st == GR_OK; k++) {
        const PtxSite *site = &m->sites[k];
        PtxStmt *at = site->stmt;
        while (at->prev && (at->prev->kind == PTX_PRAGMA || at->prev->kind == PTX_LOC))
            at = at->prev; // a pragma belongs to the instruction behind it
        const PtxInstr *i = site->stmt->instr;
        char text[160];
        PtxOperand guard = {0};
        if (i->guard)
            guard = gr_ptx_reg_operand(i->guard);
        snprintf(text, sizeof text, "%sred.relaxed.gpu.global.add.u64 [%s+%u], 1;",
                 !i->guard          ? ""
                 : i->guard_negated ? "@!$0 "
                                    : "@$0 ",
                 name, k * 8);
        st = gr_ptx_insert(site->func, at, k, text, &guard, i->guard ? 1 : 0, NULL, err);
    }
    return st;
}
