// SPDX-License-Identifier: Apache-2.0
#include "passes/emit.h"

#include <stdlib.h>
#include <string.h>

PtxStmt *gr_function_start(const PtxFunc *f) {
    PtxStmt *at = f->first;
    while (at && (at->kind == PTX_DECL_REG || at->kind == PTX_DECL_VAR || at->kind == PTX_LOC))
        at = at->next;
    return at;
}

// Whether any element names a value. Only 256-bit stores may have the sink as a source (PTX ISA 9.0, 9.7.9.11: .v8 of
// 32 bits, .v4 of 64); it leaves its bytes as they are. ptxas refuses it elsewhere, and a store of sinks alone.
static bool sinks_make_sense(const Access *a, const PtxOperand *list) {
    unsigned sinks = 0;
    for (unsigned k = 0; k < a->n; k++)
        sinks += list[k].kind == PTX_O_SINK;
    return !sinks || a->site->access == PTX_ACCESS_READ || (a->n * a->bytes == 32 && sinks < a->n);
}

static bool read_elements(Access *a, const PtxOperand *o, uint64_t used) {
    enum { MOST_BYTES = 64 }; // that `used` has bits for
    const PtxOperand *list = o->kind == PTX_O_VECTOR ? o->sub : o;
    a->n = o->kind == PTX_O_VECTOR ? o->n_sub : 1;
    unsigned parts = a->type == PTX_B128 ? 2 : 1; // 128 bits are looked at as two halves
    if (a->n == 0 || a->bytes == 0 || a->n != a->stmt->instr->vec || a->n * a->bytes > MOST_BYTES ||
        !sinks_make_sense(a, list))
        return false;
    if (parts > 1)
        a->type = PTX_B64;
    a->n *= parts;
    a->bytes /= parts;
    uint64_t byte_bits = a->bytes >= 8 ? 0xff : (1u << a->bytes) - 1;
    for (unsigned k = 0; k < a->n; k++) {
        const PtxOperand *e = &list[k / parts];
        a->value[k] = e;
        if (e->kind == PTX_O_SINK) {
            a->used[k] = 0;
            continue;
        }
        if (e->kind != PTX_O_REG && e->kind != PTX_O_INT && e->kind != PTX_O_F32 && e->kind != PTX_O_F64)
            return false;
        if (e->kind == PTX_O_REG) {
            unsigned bits = gr_ptx_type_bits(e->reg->type);
            if (e->elem || e->negated || (parts > 1 ? bits != 128 : bits > 64 || bits < a->bytes * 8))
                return false;
        } else if (parts > 1) {
            return false;
        }
        uint64_t bytes = used >> (k * a->bytes) & byte_bits;
        a->used[k] = 0;
        for (unsigned b = 0; b < a->bytes && b < 8; b++)
            if (bytes >> b & 1)
                a->used[k] |= 0xffull << (b * 8);
        // A register wider than the memory holds nothing but the extension above it, equal in both loads.
        if (bytes == byte_bits)
            a->used[k] = UINT64_MAX;
    }
    return true;
}

// Reads the address of an atomic operation; its values have no elements.
static GrSiteStatus read_atomic(Access *a) {
    const PtxInstr *i = a->stmt->instr;
    unsigned at = i->op == PTX_OP_ATOM;
    if ((i->op != PTX_OP_ATOM && i->op != PTX_OP_RED) || a->site->async || i->n_operands < at + 2 ||
        !a->site->size)
        return GR_SITE_NOT_UNDERSTOOD;
    a->address = i->operands[at];
    a->type = i->type[0];
    a->bytes = gr_ptx_type_bits(a->type) / 8;
    a->after = a->report = a->stmt->next;
    return a->bytes && a->address.kind == PTX_O_ADDRESS && a->address.n_sub == 1 ? GR_SITE_CHECKED
                                                                                 : GR_SITE_NOT_UNDERSTOOD;
}

static GrSiteStatus space_status(PtxSpace space) {
    switch (space) {
    case PTX_CONST:
    case PTX_LOCAL:
    case PTX_PARAM:
    case PTX_PARAM_ENTRY:
    case PTX_PARAM_FUNC: return GR_SITE_PRIVATE;
    case PTX_GLOBAL:
    case PTX_GENERIC:
    case PTX_SHARED:
    case PTX_SHARED_CTA:
    case PTX_SHARED_CLUSTER: return GR_SITE_CHECKED;
    default: return GR_SITE_NOT_UNDERSTOOD;
    }
}

GrSiteStatus gr_access_read(const PtxSite *site, Access *a) {
    GrSiteStatus status = gr_access_read_any(site, a);
    return site->strong && space_status(site->space) == GR_SITE_CHECKED ? GR_SITE_STRONG : status;
}

GrSiteStatus gr_access_read_any(const PtxSite *site, Access *a) {
    *a = (Access){.func = site->func, .stmt = site->stmt, .before = site->stmt, .site = site};
    const PtxInstr *i = site->stmt->instr;
    if (space_status(site->space) != GR_SITE_CHECKED)
        return space_status(site->space);
    if (site->access == PTX_ACCESS_RMW)
        return read_atomic(a);
    bool load = i->op == PTX_OP_LD || i->op == PTX_OP_LDU;
    if ((!load && i->op != PTX_OP_ST) || i->n_operands < 2)
        return GR_SITE_NOT_UNDERSTOOD;
    a->address = i->operands[load ? 1 : 0];
    if (a->address.kind != PTX_O_ADDRESS || a->address.n_sub != 1)
        return GR_SITE_NOT_UNDERSTOOD;
    for (unsigned t = 0; t < 4 && i->type[t] != PTX_NOTYPE; t++)
        a->type = i->type[t];
    a->bytes = gr_ptx_type_bits(a->type) / 8;
    PtxStmt *pragma = NULL;
    uint64_t used = load ? gr_ptx_used_bytes(site->stmt, &pragma) : UINT64_MAX;
    if (pragma)
        a->before = pragma;
    a->after = a->report = site->stmt->next;
    return read_elements(a, &i->operands[load ? 0 : 1], used) ? GR_SITE_CHECKED : GR_SITE_NOT_UNDERSTOOD;
}

gr_status gr_access_put(const Access *a, PtxStmt *at, const PtxOperand *ops, unsigned n_ops, const char *fmt,
                        ...) {
    char text[1024];
    va_list ap;
    va_start(ap, fmt);
    int n = gr_vformat(text, sizeof text, fmt, ap);
    va_end(ap);
    if (n < 0 || (size_t)n >= sizeof text)
        return gr_fail(a->err, GR_ERR_INTERNAL, "inserted code for site %u does not fit", a->site->id);
    return gr_ptx_insert(a->func, at, a->site->id, text, ops, n_ops, NULL, a->err);
}

gr_status gr_emit(PtxFunc *f, PtxStmt *at, uint32_t site, const PtxOperand *ops, unsigned n_ops,
                  gr_error *err, const char *fmt, ...) {
    char text[1024];
    va_list ap;
    va_start(ap, fmt);
    int n = gr_vformat(text, sizeof text, fmt, ap);
    va_end(ap);
    if (n < 0 || (size_t)n >= sizeof text)
        return gr_fail(err, GR_ERR_INTERNAL, "%s: inserted code does not fit", f->name);
    return gr_ptx_insert(f, at, site, text, ops, n_ops, NULL, err);
}

gr_status gr_emit_str(PtxFunc *f, PtxStmt *at, uint32_t site, StrBuf *text, const PtxOperand *ops,
                      unsigned n_ops, gr_error *err) {
    gr_status st =
        text->oom ? gr_no_memory(err) : gr_ptx_insert(f, at, site, text->data, ops, n_ops, NULL, err);
    gr_str_free(text);
    return st;
}

const char *gr_access_guard(const Access *a, char *buf, size_t size) {
    gr_format(buf, size, a->guard ? "@%s " : "", a->guard ? a->guard->name : "");
    return buf;
}

gr_status gr_access_prepare(Access *a) {
    const PtxInstr *i = a->stmt->instr;
    PtxOperand base = a->address.sub[0];
    if (i->guard) {
        a->guard = i->guard;
        if (i->guard_negated) {
            a->guard = gr_ptx_new_reg(a->func, PTX_PRED);
            PtxOperand g = gr_ptx_reg_operand(i->guard);
            GR_PUT_OPS(a, a->before, &g, 1, "not.pred %s, $0;", a->guard->name);
        }
    }
    if (a->site->space == PTX_GENERIC && base.kind == PTX_O_REG && !a->together) {
        // Local memory reached through a generic address never races (section 3.3).
        PtxReg *shared = gr_ptx_new_reg(a->func, PTX_PRED);
        GR_PUT_OPS(a, a->before, &base, 1, "isspacep.local %s, $0; not.pred %s, %s;", shared->name,
                   shared->name, shared->name);
        if (a->guard) {
            PtxOperand g = gr_ptx_reg_operand(a->guard);
            GR_PUT_OPS(a, a->before, &g, 1, "and.pred %s, %s, $0;", shared->name, shared->name);
        }
        a->guard = shared;
    }
    if (base.kind == PTX_O_REG && i->op != PTX_OP_ST)
        for (unsigned k = 0; k < a->n; k++) {
            bool overwritten = a->value[k]->kind == PTX_O_REG && a->value[k]->reg == base.reg;
            if (!overwritten && a->report == a->after)
                continue;
            unsigned bits = gr_ptx_type_bits(base.reg->type);
            PtxReg *copy = gr_ptx_new_reg(a->func, bits == 64 ? PTX_B64 : PTX_B32);
            PtxOperand *sub = GR_NEW(&a->func->module->arena, PtxOperand);
            GR_NEED(sub, a->err);
            GR_PUT_OPS(a, a->before, &base, 1, "mov.b%u %s, $0;", bits, copy->name);
            *sub = gr_ptx_reg_operand(copy);
            a->address.sub = sub;
            break;
        }
    return GR_OK;
}

gr_status gr_access_kept(const Access *a, PtxStmt *at, const Speculation *spec, const PtxReg *into) {
    PtxReg *kept = gr_ptx_new_reg(a->func, PTX_PRED), *one = gr_ptx_new_reg(a->func, PTX_PRED);
    for (unsigned k = 0; k < spec->n; k++) {
        PtxOperand p = gr_ptx_reg_operand(spec->keep[k].pred);
        GR_PUT_OPS(a, at, &p, 1, "%s.pred %s, $0;", spec->keep[k].negated ? "not" : "mov",
                   k ? one->name : kept->name);
        if (k)
            GR_PUT(a, at, "or.pred %s, %s, %s;", kept->name, kept->name, one->name);
    }
    return gr_access_put(a, at, NULL, 0, "and.pred %s, %s, %s;", into->name, into->name, kept->name);
}

gr_status gr_access_widen(const Access *a, PtxStmt *at, PtxOperand value, unsigned bits, PtxReg **out) {
    *out = gr_ptx_new_reg(a->func, PTX_B64);
    if (bits == 64)
        return gr_access_put(a, at, &value, 1, "mov.b64 %s, $0;", (*out)->name);
    PtxReg *t = gr_ptx_new_reg(a->func, bits == 32 ? PTX_B32 : PTX_B16);
    return gr_access_put(a, at, &value, 1, "mov.b%u %s, $0; cvt.u64.u%u %s, %s;", bits, t->name, bits,
                         (*out)->name, t->name);
}

gr_status gr_access_comparable(Access *a, PtxStmt *at) {
    for (unsigned k = 0; k < a->n; k++) {
        const PtxOperand *v = a->value[k];
        if (v->kind != PTX_O_REG)
            continue;
        unsigned bits = gr_ptx_type_bits(v->reg->type);
        if (bits != 8 && bits != 128)
            continue;
        PtxReg *r[2] = {gr_ptx_new_reg(a->func, bits == 8 ? PTX_B16 : PTX_B64),
                        bits == 8 ? NULL : gr_ptx_new_reg(a->func, PTX_B64)};
        PtxOperand *to = GR_NEW_ARRAY(&a->func->module->arena, PtxOperand, 2);
        GR_NEED(to, a->err);
        a->value[k] = to;
        to[0] = gr_ptx_reg_operand(r[0]);
        if (bits == 8) {
            a->used[k] &= 0xff;
            GR_PUT_OPS(a, at, v, 1, "cvt.u16.u8 %s, $0;", r[0]->name);
            continue;
        }
        to[1] = gr_ptx_reg_operand(r[1]);
        a->value[++k] = to + 1;
        GR_PUT_OPS(a, at, v, 1, "mov.b128 {%s, %s}, $0;", r[0]->name, r[1]->name);
    }
    return GR_OK;
}

gr_status gr_access_address64(const Access *a, PtxStmt *at, PtxReg **out) {
    const PtxOperand *base = &a->address.sub[0];
    *out = gr_ptx_new_reg(a->func, PTX_B64);
    if (base->kind == PTX_O_REG && gr_ptx_type_bits(base->reg->type) == 32) {
        // A 32-bit address is valid only once the offset has been added: the base may be below zero.
        PtxReg *sum = gr_ptx_new_reg(a->func, PTX_B32);
        if (a->address.offset)
            return gr_access_put(a, at, base, 1, "mov.b32 %s, $0; add.s32 %s, %s, %lld; cvt.u64.u32 %s, %s;",
                                 sum->name, sum->name, sum->name, (long long)a->address.offset, (*out)->name,
                                 sum->name);
        return gr_access_put(a, at, base, 1, "cvt.u64.u32 %s, $0;", (*out)->name);
    }
    GR_PUT_OPS(a, at, base, 1, "mov.u64 %s, $0;", (*out)->name);
    if (a->address.offset)
        GR_PUT(a, at, "add.s64 %s, %s, %lld;", (*out)->name, (*out)->name, (long long)a->address.offset);
    return GR_OK;
}

gr_status gr_access_performs(const Access *a, PtxStmt *at, PtxReg **p) {
    const PtxInstr *i = a->stmt->instr;
    *p = gr_ptx_new_reg(a->func, PTX_PRED);
    if (!i->guard)
        return gr_access_put(a, at, NULL, 0, "setp.eq.u32 %s, 0, 0;", (*p)->name);
    PtxOperand g = gr_ptx_reg_operand(i->guard);
    return gr_access_put(a, at, &g, 1, "%s.pred %s, $0;", i->guard_negated ? "not" : "mov", (*p)->name);
}

unsigned gr_access_compare_bits(const Access *a) {
    for (unsigned k = 0; k < a->n; k++)
        if (a->value[k]->kind == PTX_O_REG)
            return gr_ptx_type_bits(a->value[k]->reg->type);
    return a->bytes < 2 ? 16 : a->bytes * 8;
}
