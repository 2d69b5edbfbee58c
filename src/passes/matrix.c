// SPDX-License-Identifier: Apache-2.0
#include "passes/matrix.h"

bool gr_ptx_matrix(const PtxInstr *i, PtxMatrix *m) {
    static const struct {
        PtxMod mod;
        uint8_t m, n, k;
    } shapes[] = {{PTX_MOD_m16n16k16, 16, 16, 16}, {PTX_MOD_m8n32k16, 8, 32, 16},
                  {PTX_MOD_m32n8k16, 32, 8, 16},   {PTX_MOD_m16n16k8, 16, 16, 8},
                  {PTX_MOD_m8n8k4, 8, 8, 4},       {PTX_MOD_m8n8k32, 8, 8, 32},
                  {PTX_MOD_m8n8k128, 8, 8, 128}};
    static const struct {
        PtxMod mod;
        uint8_t bits;
    } types[] = {{PTX_MOD_f16, 16}, {PTX_MOD_bf16, 16}, {PTX_MOD_tf32, 32}, {PTX_MOD_f32, 32},
                 {PTX_MOD_f64, 64}, {PTX_MOD_s32, 32},  {PTX_MOD_u8, 8},    {PTX_MOD_s8, 8},
                 {PTX_MOD_u4, 4},   {PTX_MOD_s4, 4},    {PTX_MOD_b1, 1}};
    *m = (PtxMatrix){0};
    if (i->n_mods < 6)
        return false;
    PtxMod which = i->mods[1].id;
    for (unsigned k = 0; k < sizeof shapes / sizeof *shapes; k++)
        if (gr_ptx_instr_has(i, shapes[k].mod)) {
            m->lines = which == PTX_MOD_b ? shapes[k].k : shapes[k].m;
            m->length = which == PTX_MOD_a ? shapes[k].k : shapes[k].n;
        }
    for (unsigned k = 0; k < sizeof types / sizeof *types; k++)
        if (gr_ptx_instr_has(i, types[k].mod))
            m->bits = types[k].bits;
    if (gr_ptx_instr_has(i, PTX_MOD_col)) {
        unsigned t = m->lines;
        m->lines = m->length;
        m->length = t;
    }
    return m->lines && m->bits;
}
