// SPDX-License-Identifier: Apache-2.0
#include "engines/tracker/pass/quiet.h"

#include "ptx/reach.h"

#include <stdio.h>
#include <string.h>

enum { MOST = 12 }; // parameters that a kernel asks for: each takes a register of 64 bits

// ---- What writes -----------------------------------------------------------------------------------------------

static bool may_be_global(PtxSpace s) {
    return s != PTX_LOCAL && s != PTX_SHARED && s != PTX_SHARED_CTA && s != PTX_SHARED_CLUSTER &&
           s != PTX_PARAM && s != PTX_PARAM_ENTRY && s != PTX_PARAM_FUNC && s != PTX_CONST && s != PTX_TMEM;
}

// The instruction may write global memory.
static bool writes_global(const PtxModule *m, const PtxStmt *s) {
    const PtxInstr *i = s->instr;
    if (s->site)
        return m->sites[s->site].access & PTX_ACCESS_WRITE && may_be_global(m->sites[s->site].space);
    if (!(gr_ptx_instr_flags(i) & (PTX_F_WRITES | PTX_F_ATOMIC)) || i->op == PTX_OP_WMMA ||
        i->op == PTX_OP_TCGEN05)
        return false; // without a site: wmma.mma and its kin compute
    return i->op != PTX_OP_ST || may_be_global(i->space);
}

// The function writes nothing that the program allocated.
static bool is_harmless(const char *name) {
    return !strcmp(name, "vprintf") || !strcmp(name, "__assertfail");
}

typedef struct Callees {
    const PtxFunc *of;
    bool write;
} Callees;

static void look_at_callee(void *user, const PtxFunc *g) {
    Callees *c = user;
    if (c->write || g == c->of || g->tag.inserted)
        return;
    c->write = !g->has_body && !is_harmless(g->name);
    for (const PtxStmt *s = g->first; s && !c->write; s = s->next)
        c->write = s->kind == PTX_INSTR && !s->tag.inserted && writes_global(g->module, s);
}

static bool callees_write(const PtxFunc *f, uint32_t *stamps) {
    Callees c = {.of = f};
    if (gr_ptx_calls(f))
        gr_ptx_each_reachable(f, stamps, f->index + 1, look_at_callee, &c);
    return c.write;
}

static bool is_plain_load(const PtxSite *site) {
    return site->access == PTX_ACCESS_READ && !site->strong && !site->async && may_be_global(site->space) &&
           (site->stmt->instr->op == PTX_OP_LD || site->stmt->instr->op == PTX_OP_LDU);
}

static const PtxOperand *address_of(const PtxInstr *i) {
    unsigned at = i->op == PTX_OP_ST || i->op == PTX_OP_RED ? 0 : 1;
    return i->n_operands > at ? &i->operands[at] : NULL;
}

// Notes the store's parameter. False: it may write anywhere.
static bool take_store(Quiet *q, const PtxModule *m, const PtxStmt *s, const GrSiteStatus *status) {
    const PtxInstr *i = s->instr;
    uint32_t root;
    Access a;
    if (!s->site || (i->op != PTX_OP_ST && i->op != PTX_OP_ATOM && i->op != PTX_OP_RED) ||
        m->sites[s->site].async || gr_site_is_left_alone(status[s->site]) ||
        gr_access_read_any(&m->sites[s->site], &a) != GR_SITE_CHECKED)
        return false;
    switch (gr_origin_of(&q->origins, address_of(i), &root)) {
    case ORIGIN_ROOT: q->writes[root] = true; return true;
    case ORIGIN_PRIVATE: return m->sites[s->site].space == PTX_GENERIC;
    default: return false;
    }
}

gr_status gr_quiet_find(const PtxFunc *f, const GrSiteStatus *status, uint32_t *stamps, Arena *arena,
                        Quiet *q, gr_error *err) {
    const PtxModule *m = f->module;
    uint32_t root, n = 0;
    *q = (Quiet){0};
    if (!f->is_entry || f->reg_params || callees_write(f, stamps))
        return GR_OK;
    GR_NEED(gr_origins_find(f, arena, &q->origins), err);
    for (const PtxStmt *s = f->first; s; s = s->next)
        if (s->kind == PTX_INSTR && !s->tag.inserted && writes_global(m, s) && !take_store(q, m, s, status))
            return GR_OK;
    for (const PtxStmt *s = f->first; s; s = s->next)
        if (s->kind == PTX_INSTR && s->site && is_plain_load(&m->sites[s->site]) &&
            !gr_site_is_left_alone(status[s->site]) &&
            gr_origin_of(&q->origins, address_of(s->instr), &root) == ORIGIN_ROOT && !q->writes[root] &&
            q->origins.roots[root].var->space != PTX_GLOBAL)
            q->reads[root] = q->on = true;
    for (root = 0; root < q->origins.n_roots; root++)
        n += q->reads[root] || q->writes[root];
    q->on = q->on && n <= MOST;
    return GR_OK;
}

// ---- What is inserted ------------------------------------------------------------------------------------------

// "[parameter + offset]", or the variable.
static gr_status put_root(const Quiet *q, uint32_t root, PtxFunc *f, PtxStmt *at, uint32_t site,
                          const PtxReg *into, gr_error *err) {
    const OriginRoot *r = &q->origins.roots[root];
    bool variable = r->var->space == PTX_GLOBAL;
    PtxOperand var = {.kind = PTX_O_VAR, .var = (PtxVar *)r->var};
    PtxOperand *sub = GR_NEW(&f->module->arena, PtxOperand);
    GR_NEED(sub, err);
    *sub = var;
    PtxOperand in = {.kind = PTX_O_ADDRESS, .n_sub = 1, .sub = sub, .offset = r->offset};
    return gr_emit(f, at, site, variable ? &var : &in, 1, err,
                   variable ? "mov.u64 %s, $0;" : "ld.param.u64 %s, $0;", into->name);
}

static gr_status put(PtxFunc *f, PtxStmt *at, gr_error *err, const char *text) {
    return gr_ptx_insert(f, at, 0, text, NULL, 0, NULL, err);
}

gr_status gr_quiet_begin(Quiet *q, PtxFunc *f, PtxStmt *at, const char *suffix, gr_error *err) {
    char text[320];
    const OriginRoot *roots = q->origins.roots;
    PtxReg *base[ORIGIN_ROOTS] = {NULL}, *not = gr_ptx_new_reg(f, PTX_PRED),
           *any = gr_ptx_new_reg(f, PTX_B64);
    PtxReg *p = gr_ptx_new_reg(f, PTX_PRED);
    snprintf(text, sizeof text, "setp.ne.u32 %s, 0, 0; mov.u64 %s, 0;", not ->name, any->name);
    GR_MUST(put(f, at, err, text));
    for (uint32_t k = 0; k < q->origins.n_roots; k++) {
        if (!q->reads[k] && !q->writes[k])
            continue;
        q->size[k] = gr_ptx_new_reg(f, PTX_B64);
        base[k] = gr_ptx_new_reg(f, PTX_B64);
        GR_MUST(put_root(q, k, f, at, 0, base[k], err));
        if (roots[k].var->space == PTX_GLOBAL) {
            snprintf(text, sizeof text, "mov.u64 %s, %llu;", q->size[k]->name,
                     (unsigned long long)roots[k].var->size);
        } else {
            // A load that begins in the last 32 bytes may end beyond them.
            snprintf(text, sizeof text,
                     q->writes[k]
                         ? "call (%s), __gr%s_extent, (%s); setp.eq.u64 %s, %s, 0; or.pred %s, %s, %s;"
                         : "call (%s), __gr%s_extent, (%s); and.b64 %s, %s, -32;",
                     q->size[k]->name, suffix, base[k]->name, q->writes[k] ? p->name : q->size[k]->name,
                     q->size[k]->name, not ->name, not ->name, p->name);
        }
        GR_MUST(put(f, at, err, text));
    }
    for (uint32_t k = 0; k < q->origins.n_roots; k++) {
        for (uint32_t w = 0; q->reads[k] && w < q->origins.n_roots; w++)
            if (q->writes[w] && roots[w].var->space != PTX_GLOBAL) {
                snprintf(text, sizeof text, "setp.eq.u64 %s, %s, %s; selp.b64 %s, 0, %s, %s;", p->name,
                         base[k]->name, base[w]->name, q->size[k]->name, q->size[k]->name, p->name);
                GR_MUST(put(f, at, err, text));
            }
        if (q->reads[k]) {
            snprintf(text, sizeof text, "selp.b64 %s, 0, %s, %s; or.b64 %s, %s, %s;", q->size[k]->name,
                     q->size[k]->name, not ->name, any->name, any->name, q->size[k]->name);
            GR_MUST(put(f, at, err, text));
        }
    }
    // If nothing is quiet, stores may go anywhere.
    snprintf(text, sizeof text, "setp.eq.u64 %s, %s, 0;", not ->name, any->name);
    GR_MUST(put(f, at, err, text));
    for (uint32_t w = 0; w < q->origins.n_roots; w++)
        if (q->writes[w]) {
            snprintf(text, sizeof text, "selp.b64 %s, -1, %s, %s;", q->size[w]->name, q->size[w]->name,
                     not ->name);
            GR_MUST(put(f, at, err, text));
        }
    return GR_OK;
}

// Sets *outside to a predicate: the address is outside the root's allocation.
static gr_status put_outside(const Quiet *q, uint32_t root, const Access *a, PtxStmt *at,
                             const PtxReg *address, PtxReg **outside) {
    PtxReg *t = gr_ptx_new_reg(a->func, PTX_B64);
    *outside = gr_ptx_new_reg(a->func, PTX_PRED);
    gr_status st = put_root(q, root, a->func, at, a->site->id, t, a->err);
    if (st == GR_OK)
        st = gr_access_put(a, at, NULL, 0, "sub.s64 %s, %s, %s; setp.ge.u64 %s, %s, %s;", t->name,
                           address->name, t->name, (*outside)->name, t->name, q->size[root]->name);
    if (st == GR_OK && a->guard)
        st = gr_access_put(a, at, NULL, 0, "and.pred %s, %s, %s;", (*outside)->name, (*outside)->name,
                           a->guard->name);
    return st;
}

gr_status gr_quiet_load(const Quiet *q, Access *a, PtxStmt *at, const PtxReg *address) {
    uint32_t root;
    if (!q->on || !is_plain_load(a->site) ||
        gr_origin_of(&q->origins, address_of(a->stmt->instr), &root) != ORIGIN_ROOT || !q->reads[root])
        return GR_OK;
    PtxReg *outside;
    gr_status st = put_outside(q, root, a, at, address, &outside);
    if (st == GR_OK)
        a->guard = outside;
    return st;
}

gr_status gr_quiet_store(const Quiet *q, const Access *a, PtxStmt *at, const PtxReg *address,
                         const char *suffix) {
    uint32_t root;
    if (!q->on || !(a->site->access & PTX_ACCESS_WRITE) || !may_be_global(a->site->space) ||
        gr_origin_of(&q->origins, address_of(a->stmt->instr), &root) != ORIGIN_ROOT || !q->writes[root])
        return GR_OK;
    PtxReg *outside;
    gr_status st = put_outside(q, root, a, at, address, &outside);
    if (st == GR_OK)
        st = gr_access_put(a, at, NULL, 0, "@%s call __gr%s_stray, (%s);", outside->name, suffix,
                           address->name);
    return st;
}
