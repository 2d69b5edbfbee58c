// SPDX-License-Identifier: Apache-2.0
#include "engines/collider/pass/collider_source.h"

#include "base/str.h"

// What a thread keeps of the copy that an instruction has issued.
struct SourceWatch {
    struct SourceWatch *next;
    Access of;
    PtxReg *pending, *src, *size, *hash;
    PtxReg *group; // how many groups there were before its own
};

static gr_status put_look(const ColliderWork *w, const SourceWatch *s, PtxStmt *at) {
    return gr_access_put(&s->of, at, NULL, 0, "@%s call __gr%s_source_again, (%u, %s, %s, %s);",
                         s->pending->name, w->o->suffix, s->of.site->id, s->src->name, s->size->name,
                         s->hash->name);
}

gr_status gr_source_issued(ColliderWork *w, const Copy *c, PtxStmt *at, const PtxReg *src,
                           const PtxReg *size) {
    PtxFunc *f = c->dst.func;
    if (!gr_ptx_instr_has(c->dst.stmt->instr, PTX_MOD_bulk_group))
        return GR_OK;
    SourceWatch *s = GR_NEW(&w->module->arena, SourceWatch);
    PtxSite *site = s ? GR_NEW(&w->module->arena, PtxSite) : NULL;
    GR_NEED(site, w->err);
    *site = *c->dst.site;
    *s = (SourceWatch){.next = w->sources,
                       .of = c->dst,
                       .pending = gr_ptx_new_reg(f, PTX_PRED),
                       .src = gr_ptx_new_reg(f, PTX_U64),
                       .size = gr_ptx_new_reg(f, PTX_U32),
                       .hash = gr_ptx_new_reg(f, PTX_U64),
                       .group = gr_ptx_new_reg(f, PTX_U32)};
    s->of.site = site;
    w->sources = s;
    if (!w->groups)
        w->groups = gr_ptx_new_reg(f, PTX_U32);
    GR_MUST(put_look(w, s, at));
    return gr_access_put(&c->dst, at, NULL, 0,
                         "mov.u64 %s, %s; mov.b32 %s, %s; mov.u32 %s, %s; setp.eq.u32 %s, 0, 0;"
                         "call (%s), __gr%s_source, (%s, %s);",
                         s->src->name, src->name, s->size->name, size->name, s->group->name, w->groups->name,
                         s->pending->name, s->hash->name, w->o->suffix, src->name, size->name);
}

static bool is_of_groups(const PtxStmt *s, PtxMod what) {
    return s->kind == PTX_INSTR && !s->tag.inserted && s->instr->op == PTX_OP_CP &&
           gr_ptx_instr_has(s->instr, PTX_MOD_bulk) && gr_ptx_instr_has(s->instr, what);
}

gr_status gr_source_finish(ColliderWork *w, PtxFunc *f, PtxStmt *at) {
    if (!w->sources)
        return GR_OK;
    for (PtxStmt *s = f->first; s; s = s->next) {
        if (is_of_groups(s, PTX_MOD_commit_group))
            GR_PUT(&w->sources->of, s, "add.u32 %s, %s, 1;", w->groups->name, w->groups->name);
        // What is called may wait.
        if (s->kind == PTX_INSTR && !s->tag.inserted && s->instr->op == PTX_OP_CALL)
            for (const SourceWatch *k = w->sources; k; k = k->next) {
                GR_MUST(put_look(w, k, s));
                GR_PUT(&k->of, s, "setp.ne.u32 %s, 0, 0;", k->pending->name);
            }
        if (!is_of_groups(s, PTX_MOD_wait_group))
            continue;
        for (const SourceWatch *k = w->sources; k; k = k->next) {
            PtxReg *newer = gr_ptx_new_reg(f, PTX_U32);
            GR_MUST(put_look(w, k, s));
            // This one and those behind it: it stays when the wait leaves so many alone.
            GR_PUT_OPS(&k->of, s, s->instr->operands, 1,
                       "sub.u32 %s, %s, %s; setp.le.and.u32 %s, %s, $0, %s;", newer->name, w->groups->name,
                       k->group->name, k->pending->name, newer->name, k->pending->name);
        }
    }
    GR_EMIT(f, at, w->err, "mov.u32 %s, 0;", w->groups->name);
    for (const SourceWatch *k = w->sources; k; k = k->next)
        GR_EMIT(f, at, w->err, "setp.ne.u32 %s, 0, 0;", k->pending->name);
    return GR_OK;
}
