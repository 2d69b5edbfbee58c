// SPDX-License-Identifier: Apache-2.0
#include "engines/collider/pass/collider_stale.h"

#include "base/str.h"

// So many bytes of a kernel at most, so that it takes no longer than a window.
enum { STALE_MOST = 16384 };

static bool is_own(const PtxStmt *s) {
    return s->kind == PTX_DECL_VAR && !s->tag.inserted && !s->var->is_extern &&
           s->var->size >= sizeof(uint32_t) &&
           (s->var->space == PTX_SHARED || s->var->space == PTX_SHARED_CTA);
}

// Bulk copies and other operations of the async proxy write there, too, and must come behind what was stored here (PTX
// ISA 9.0, 8.2: proxies).
static bool has_async_proxy(const PtxFunc *f) {
    for (const PtxStmt *s = f->first; s; s = s->next)
        if (s->kind == PTX_INSTR && !s->tag.inserted &&
            (s->instr->op == PTX_OP_WGMMA || s->instr->op == PTX_OP_TCGEN05 ||
             gr_ptx_instr_has(s->instr, PTX_MOD_bulk)))
            return true;
    return false;
}

bool gr_stale_turns(const PtxFunc *f, const PtxStmt *at) {
    for (const PtxStmt *s = f->first; s && s != at; s = s->next)
        if (is_own(s))
            return true;
    return false;
}

gr_status gr_stale_turn(ColliderWork *w, PtxFunc *f, PtxStmt *at) {
    StrBuf text = {0};
    uint64_t left = STALE_MOST;
    PtxLabel *over = gr_ptx_new_label(f);
    PtxOperand to = gr_ptx_label_operand(over);
    gr_str_addf(&text, "@!%s bra $0;", w->watches->name);
    for (const PtxStmt *s = f->first; s && s != at; s = s->next) {
        if (!is_own(s))
            continue;
        uint64_t bytes = s->var->size < left ? s->var->size : left;
        left -= bytes;
        const char *where = gr_ptx_new_reg(f, PTX_U32)->name;
        if (bytes >= sizeof(uint32_t))
            gr_str_addf(&text, "mov.u32 %s, %s; call __gr%s_segment_stale, (%s, %u);", where, s->var->name,
                        w->o->suffix, where, (unsigned)bytes);
    }
    if (left == STALE_MOST) {
        gr_str_free(&text);
        return GR_OK;
    }
    gr_str_addf(&text, "%sbar.sync 0;", has_async_proxy(f) ? "fence.proxy.async.shared::cta;" : "");
    gr_status st = gr_emit_str(f, at, 0, &text, &to, 1, w->err);
    gr_ptx_insert_label(f, at, over);
    return st;
}
