// SPDX-License-Identifier: Apache-2.0
#include "engines/collider/pass/collider_async.h"

#include "engines/collider/pass/collider_held.h"
#include "engines/collider/pass/collider_time.h"

#include <stdio.h>
#include <string.h>

extern const char gr_collider_runtime_ptx[], gr_collider_copy_runtime_ptx[],
    gr_collider_cluster_runtime_ptx[];

// ---- Reading the instruction -----------------------------------------------------------------------------------

static bool is_shared(PtxSpace s) {
    return s == PTX_SHARED || s == PTX_SHARED_CTA || s == PTX_SHARED_CLUSTER;
}

static bool is_end(const PtxOperand *o) { return o->kind == PTX_O_ADDRESS && o->n_sub == 1; }

static void fill_end(Access *a, PtxSite *end, const PtxSite *site, const PtxOperand *address, PtxSpace space,
                     PtxAccess access, bool nested, gr_error *err) {
    *end = *site;
    end->space = space;
    end->access = access;
    *a = (Access){.func = site->func,
                  .stmt = site->stmt,
                  .before = site->stmt,
                  .after = site->stmt,
                  .report = site->stmt,
                  .site = end,
                  .nested = nested,
                  .address = *address,
                  .err = err};
}

// cp.async.{ca,cg}.shared.global [dst], [src], cp-size{, src-size | ignore-src}{, cache-policy} (PTX ISA 9.0,
// 9.7.9.25.3.1)
static bool read_copy(const PtxInstr *i, Copy *c) {
    unsigned n = i->n_operands - (gr_ptx_instr_has(i, PTX_MOD_L2__cache_hint) ? 1u : 0u);
    if (n < 3 || n > 4 || i->operands[2].kind != PTX_O_INT || !is_shared(i->space) || i->space2 != PTX_GLOBAL)
        return false;
    c->bytes = (unsigned)i->operands[2].bits;
    if (n == 4) {
        const PtxOperand *o = &i->operands[3];
        bool pred = o->kind == PTX_O_REG && o->reg->type == PTX_PRED;
        if (!pred && o->kind != PTX_O_REG && o->kind != PTX_O_INT)
            return false;
        if (pred)
            c->ignore = o;
        else if (o->kind != PTX_O_INT || o->bits != c->bytes)
            c->size = o;
    }
    return c->bytes == 4 || c->bytes == 8 || c->bytes == 16;
}

// A bulk copy in which nothing is unknown. cp.async.bulk.DST.SRC.DONE{.multicast::cluster}{.L2::cache_hint} [dst],
// [src], size{, [mbar]}{, mask}{, cache-policy} (9.7.9.25.4.1) cp.reduce.async.bulk.DST.SRC.DONE….OP.TYPE, likewise
// (9.7.9.25.4.2)
static bool read_bulk(const PtxInstr *i, Copy *c) {
    c->source_only = gr_ptx_instr_has(i, PTX_MOD_reduce);
    bool done = false;
    for (unsigned k = 0; k < i->n_mods; k++)
        switch (i->mods[k].id) {
        case PTX_MOD_mbarrier__complete_tx__bytes:
        case PTX_MOD_bulk_group: done = true; break;
        case PTX_MOD_reduce:
        case PTX_MOD_async:
        case PTX_MOD_bulk:
        case PTX_MOD_global:
        case PTX_MOD_shared:
        case PTX_MOD_shared__cta:
        case PTX_MOD_shared__cluster:
        case PTX_MOD_L2__cache_hint: break;
        case PTX_MOD_multicast__cluster:
            if (i->n_operands < 5 || (i->operands[4].kind != PTX_O_REG && i->operands[4].kind != PTX_O_INT))
                return false;
            c->ranks = &i->operands[4];
            break;
        default:
            if (!c->source_only)
                return false;
        }
    const PtxOperand *size = c->size = &i->operands[2];
    return done && (is_shared(i->space) || i->space == PTX_GLOBAL) &&
           (is_shared(i->space2) || i->space2 == PTX_GLOBAL) &&
           (size->kind == PTX_O_INT || size->kind == PTX_O_REG);
}

GrSiteStatus gr_copy_read(const PtxSite *site, bool nested, gr_error *err, Copy *c) {
    const PtxInstr *i = site->stmt->instr;
    *c = (Copy){.bulk = gr_ptx_instr_has(i, PTX_MOD_bulk)};
    if (i->op == PTX_OP_CP && gr_ptx_instr_has(i, PTX_MOD_tensor))
        return GR_SITE_TENSOR_COPY;
    if (i->op == PTX_OP_CP && gr_ptx_instr_has(i, PTX_MOD_cp_mask))
        return GR_SITE_BYTE_MASK;
    if (i->op != PTX_OP_CP || i->n_operands < 3 || !is_end(&i->operands[0]) || !is_end(&i->operands[1]) ||
        !(c->bulk ? read_bulk(i, c) : read_copy(i, c)))
        return GR_SITE_NOT_UNDERSTOOD;
    fill_end(&c->dst, &c->dst_site, site, &i->operands[0], i->space, PTX_ACCESS_WRITE, nested, err);
    fill_end(&c->src, &c->src_site, site, &i->operands[1], i->space2, PTX_ACCESS_READ, nested, err);
    return GR_SITE_CHECKED;
}

const char *gr_copy_runtime(const PtxModule *m, bool holds) {
    const char *runtime = gr_collider_runtime_ptx;
    for (uint32_t k = 1; k <= m->n_sites; k++) {
        Copy c;
        if (!m->sites[k].copy || gr_copy_read(&m->sites[k], false, NULL, &c) != GR_SITE_CHECKED)
            continue;
        if (c.bulk)
            return gr_collider_cluster_runtime_ptx;
        if (c.size || holds)
            runtime = gr_collider_copy_runtime_ptx;
    }
    return runtime;
}

uint32_t gr_copy_delay_ns(const ColliderWork *w) {
    return w->o->read_delay_ns > w->o->write_delay_ns ? w->o->read_delay_ns : w->o->write_delay_ns;
}

bool gr_copy_may_be_late(const ColliderWork *w) { return w->o->holds && w->pace && gr_copy_delay_ns(w) > 1; }

static const char *address_window(PtxSpace s) {
    return s == PTX_GLOBAL ? "global" : s == PTX_SHARED_CLUSTER ? "shared::cluster" : "shared";
}

gr_status gr_copy_generic(const Access *end, PtxStmt *at, PtxReg **out) {
    GR_MUST(gr_access_address64(end, at, out));
    return gr_access_put(end, at, NULL, 0, "cvta.%s.u64 %s, %s;", address_window(end->site->space),
                         (*out)->name, (*out)->name);
}

gr_status gr_copy_open(ColliderWork *w, Copy *c, Gate *gate) {
    GR_MUST(gr_pace_open(w, &c->dst, c->dst.before, gate));
    c->dst.before = c->dst.after = c->dst.report = gate->at;
    c->src.before = c->src.after = c->src.report = gate->at;
    return GR_OK;
}

// ---- cp.async ------------------------------------------------------------------------------------------------------

// Lanes whose source is shorter than their destination are left to the runtime, which goes byte by byte; those that
// read nothing stay.
static gr_status put_partial(ColliderWork *w, Copy *c, const char *delay) {
    Access *a = &c->dst;
    PtxReg *size = gr_ptx_new_reg(a->func, PTX_B32), *part = gr_ptx_new_reg(a->func, PTX_PRED);
    PtxReg *full = gr_ptx_new_reg(a->func, PTX_PRED), *whole = gr_ptx_new_reg(a->func, PTX_PRED);
    GR_PUT_OPS(a, a->before, c->size, 1,
               "mov.b32 %s, $0; setp.eq.u32 %s, %s, %u; setp.ne.u32 %s, %s, %u;"
               "setp.ne.and.u32 %s, %s, 0, %s; not.pred %s, %s;",
               size->name, full->name, size->name, c->bytes, part->name, size->name, c->bytes, part->name,
               size->name, part->name, whole->name, part->name);
    if (a->guard)
        GR_PUT(a, a->before, "and.pred %s, %s, %s; and.pred %s, %s, %s; and.pred %s, %s, %s;", full->name,
               full->name, a->guard->name, part->name, part->name, a->guard->name, whole->name, whole->name,
               a->guard->name);
    Detour d;
    GR_MUST(gr_collider_open_detour(a, a->before, part, &d));
    PtxReg *dst, *src;
    GR_MUST(gr_copy_generic(a, d.at, &dst));
    GR_MUST(gr_copy_generic(&c->src, d.at, &src));
    GR_PUT(a, d.at, "call __gr%s_copy_part, (%u, %s, %s, %s, %u, %s);", w->o->suffix, a->site->id, dst->name,
           src->name, size->name, c->bytes, delay);
    GR_MUST(gr_collider_close_detour(a, &d));
    c->src.guard = full;
    a->guard = whole;
    return GR_OK;
}

static gr_status put_ignore(Copy *c) {
    Access *a = &c->src;
    PtxReg *full = gr_ptx_new_reg(a->func, PTX_PRED);
    GR_PUT_OPS(a, a->before, c->ignore, 1, "not.pred %s, $0;", full->name);
    if (a->guard)
        GR_PUT(a, a->before, "and.pred %s, %s, %s;", full->name, full->name, a->guard->name);
    a->guard = full;
    return GR_OK;
}

// An access of one end, all of it: `fmt` is "ld… %s" or "st…". The registers are in `list`.
#define PUT_END(a, fmt, ...) gr_access_put(a, (a)->before, &(a)->address, 1, fmt, __VA_ARGS__)

static void new_values(const Access *a, PtxOperand v[2], char *list, size_t size) {
    PtxReg *r[2] = {gr_ptx_new_reg(a->func, a->bytes == 4 ? PTX_B32 : PTX_B64), NULL};
    r[1] = a->n > 1 ? gr_ptx_new_reg(a->func, PTX_B64) : r[0];
    v[0] = gr_ptx_reg_operand(r[0]);
    v[1] = gr_ptx_reg_operand(r[1]);
    if (a->n > 1)
        gr_format(list, size, "{%s, %s}", r[0]->name, r[1]->name);
    else
        gr_format(list, size, "%s", r[0]->name);
}

gr_status gr_collider_copy(ColliderWork *w, Copy *c) {
    Access *src = &c->src, *dst = &c->dst;
    Gate gate;
    GR_MUST(gr_held_prepare(w, c));
    GR_MUST(gr_copy_open(w, c, &gate));
    GR_MUST(gr_collider_prepare(dst));
    src->guard = dst->guard;
    src->bytes = dst->bytes = c->bytes == 4 ? 4 : 8;
    src->n = dst->n = c->bytes == 16 ? 2 : 1;
    for (unsigned k = 0; k < dst->n; k++)
        src->used[k] = dst->used[k] = UINT64_MAX;
    uint32_t max_ns = w->o->read_delay_ns > w->o->write_delay_ns ? w->o->read_delay_ns : w->o->write_delay_ns;
    char delay[DELAY_TEXT];
    GR_MUST(gr_collider_draw(w, dst, dst->after, WAIT_WINDOW, max_ns, delay));
    if (c->size)
        GR_MUST(put_partial(w, c, delay));
    if (c->ignore)
        GR_MUST(put_ignore(c));

    const char *space = gr_ptx_space_text(dst->site->space);
    const char *type = c->bytes == 4 ? "b32" : c->bytes == 8 ? "b64" : "v2.b64";
    char gs[64], gd[64], list[96];
    const char *by = gr_access_guard(src, gs, sizeof gs), *all = gr_access_guard(dst, gd, sizeof gd);
    PtxOperand v[2], s[2], d[2];
    new_values(dst, v, list, sizeof list);
    for (unsigned k = 0; k < dst->n && src->guard != dst->guard; k++) // what is not read is filled with zeros
        GR_PUT_OPS(dst, dst->before, &v[k], 1, "mov.b%u $0, 0;", dst->bytes * 8);
    GR_MUST(PUT_END(src, "%sld.global.%s %s, $0;", by, type, list));
    GR_MUST(gr_collider_warp_check(w, dst, v, dst->bytes * 8, NULL));
    GR_MUST(PUT_END(dst, "%sst.%s.%s $0, %s;", all, space, type, list));
    if (max_ns)
        GR_PUT(dst, dst->before, "%snanosleep.u32 %s;", all, delay);
    new_values(src, s, list, sizeof list);
    GR_MUST(PUT_END(src, "%sld.relaxed.sys.global.%s %s, $0;", by, type, list));
    new_values(dst, d, list, sizeof list);
    GR_MUST(PUT_END(dst, "%sld.relaxed.sys.%s.%s %s, $0;", all, space, type, list));
    GR_MUST(gr_collider_compare(w, src, v, s, src->bytes * 8, GR_CLASS_CLOBBERED_READ, NULL));
    GR_MUST(gr_collider_compare(w, dst, v, d, dst->bytes * 8, GR_CLASS_LOST_UPDATE, NULL));
    // Clobber: of what the copy will write, every bit differs. Strong, so that no compiler thinks it useless.
    for (unsigned k = 0; k < dst->n; k++) {
        PtxOperand two[2] = {d[k], v[k]};
        GR_PUT_OPS(dst, dst->before, two, 2, "not.b%u $0, $1;", dst->bytes * 8);
    }
    GR_MUST(PUT_END(dst, "%sst.relaxed.sys.%s.%s $0, %s;", all, space, type, list));
    GR_MUST(gr_held_take(w, c, v));
    return gr_pace_close(dst, &gate);
}
