// SPDX-License-Identifier: Apache-2.0
// decode_arrival — finds accesses by whose value threads arrive at a counter, or which they poll. Another handler comes
// in front of these (sched/arrive.c).
#include "ptx/feeds.h"
#include "vm/core/decode.h"
#include "vm/core/exec.h"
#include "vm/core/exec_mem.h"

enum { ANALYSED = 64 }; // such accesses of a function, at most

static bool counts(const PtxInstr *i) {
    return gr_ptx_instr_has(i, PTX_MOD_add) || gr_ptx_instr_has(i, PTX_MOD_inc) ||
           gr_ptx_instr_has(i, PTX_MOD_dec) || gr_ptx_instr_has(i, PTX_MOD_and) ||
           gr_ptx_instr_has(i, PTX_MOD_or) || gr_ptx_instr_has(i, PTX_MOD_xor);
}

void gr_vm_decode_arrival(Decoder *d, VmMemInfo *info, VmExec exec[2]) {
    const PtxInstr *i = d->stmt->instr;
    bool atomic = info->access == PTX_ACCESS_RMW && info->has_result,
         load = info->access == PTX_ACCESS_READ && info->sem != PTX_WEAK && info->sem != PTX_SEM_NONE;
    if ((!atomic && !load) || info->silent || d->stmt->tag.inserted || d->f->ptx->tag.inserted ||
        d->n_arrivals++ >= ANALYSED)
        return;
    PtxDecides is = gr_ptx_decides(d->f->ptx, &d->cfg, d->stmt);
    bool once = is == PTX_DECIDES_ONCE && atomic && counts(i);
    if (is != PTX_DECIDES_LOOK && !once)
        return;
    info->then[0] = exec[0];
    info->then[1] = exec[1];
    exec[0] = once ? gr_vm_x_arrives : gr_vm_x_polls;
    exec[1] = once ? gr_vm_x_arrives_part : gr_vm_x_polls_part;
}
