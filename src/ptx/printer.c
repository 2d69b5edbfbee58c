// SPDX-License-Identifier: Apache-2.0
// printer — the IR as PTX text.
//
// Statements come out in list order, one per line. Registers made by passes have no declaration in the list; the
// printer declares them at the top of the body. When registers are renumbered, declarations stay where they are (a
// register keeps its scope) and only prefixes change: %z<ordinal of the declared name>_<number>.
#include "ptx/ptx.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

typedef struct Printer {
    StrBuf *out;
    unsigned flags;
    bool raw_operand; // one was printed whose registers, if any, are not known
} Printer;

static void put(Printer *p, const char *s) { gr_str_add(p->out, s); }

static void put_u64(Printer *p, uint64_t v) {
    char buf[20];
    unsigned n = sizeof buf;
    do
        buf[--n] = (char)('0' + v % 10);
    while (v /= 10);
    gr_str_addn(p->out, buf + n, sizeof buf - n);
}

static void put_i64(Printer *p, int64_t v) {
    if (v < 0)
        gr_str_addc(p->out, '-');
    put_u64(p, v < 0 ? 0 - (uint64_t)v : (uint64_t)v);
}

static void put_tag(Printer *p, PtxTag tag) {
    if (!tag.inserted || (p->flags & PTX_PRINT_NO_TAGS))
        return;
    put(p, "/*@gr");
    if (tag.site) {
        gr_str_addc(p->out, ':');
        put_u64(p, tag.site);
    }
    put(p, "*/ ");
}

static void put_reg(Printer *p, const PtxReg *r) {
    if (!(p->flags & PTX_PRINT_RENUMBER_REGS)) {
        put(p, r->name);
        return;
    }
    put(p, !r->decl ? (r->is_param ? "%zp" : "%zn") : "%z");
    put_u64(p, r->decl ? r->decl->ordinal + r->entry : r->index);
    if (r->decl && r->decl->names[r->entry].count) {
        gr_str_addc(p->out, '_');
        put_u64(p, r->number);
    }
}

static void put_label(Printer *p, const PtxLabel *l) {
    if (p->flags & PTX_PRINT_RENAME_LABELS) {
        put(p, "$GR_L");
        put_u64(p, l->index);
    } else {
        put(p, l->name);
    }
}

// ---- Operands --------------------------------------------------------------------------------------------

static void put_operand(Printer *p, const PtxOperand *o);

static void put_list(Printer *p, const PtxOperand *o, unsigned n) {
    for (unsigned k = 0; k < n; k++) {
        if (k)
            put(p, ", ");
        put_operand(p, &o[k]);
    }
}

static void put_offset(Printer *p, int64_t offset) {
    if (!offset)
        return;
    gr_str_addc(p->out, '+');
    put_i64(p, offset);
}

static void put_number(Printer *p, const PtxOperand *o) {
    if (o->text)
        put(p, o->text);
    else if (o->kind == PTX_O_INT && o->is_signed)
        put_i64(p, (int64_t)o->bits);
    else if (o->kind == PTX_O_INT)
        put_u64(p, o->bits);
    else if (o->kind == PTX_O_F32)
        gr_str_addf(p->out, "0f%08" PRIX32, (uint32_t)o->bits);
    else
        gr_str_addf(p->out, "0d%016" PRIX64, o->bits);
}

static void put_operand(Printer *p, const PtxOperand *o) {
    switch (o->kind) {
    case PTX_O_REG:
        if (o->negated)
            gr_str_addc(p->out, o->reg->type == PTX_PRED ? '!' : '-');
        put_reg(p, o->reg);
        if (o->elem) {
            gr_str_addc(p->out, '.');
            gr_str_addc(p->out, o->elem);
        } else if (o->text) {
            put(p, o->text);
        }
        break;
    case PTX_O_SREG:
        if (o->negated)
            gr_str_addc(p->out, '-');
        put(p, o->text);
        break;
    case PTX_O_INT:
    case PTX_O_F32:
    case PTX_O_F64: put_number(p, o); break;
    case PTX_O_VAR:
        put(p, o->var->name);
        put(p, o->plus_zero && !o->offset ? "+0" : "");
        put_offset(p, o->offset);
        break;
    case PTX_O_FUNC: put(p, o->text); break;
    case PTX_O_LABEL: put_label(p, o->label); break;
    case PTX_O_ADDRESS:
        gr_str_addc(p->out, '[');
        if (o->n_sub)
            put_operand(p, &o->sub[0]);
        if (o->plus_zero && !o->offset)
            put(p, "+0");
        put_offset(p, o->offset);
        if (o->n_sub > 1) {
            put(p, ", ");
            put_list(p, o->sub + 1, o->n_sub - 1u);
        }
        gr_str_addc(p->out, ']');
        if (o->text)
            put(p, o->text);
        break;
    case PTX_O_VECTOR:
    case PTX_O_PAREN:
        gr_str_addc(p->out, o->kind == PTX_O_VECTOR ? '{' : '(');
        put_list(p, o->sub, o->n_sub);
        gr_str_addc(p->out, o->kind == PTX_O_VECTOR ? '}' : ')');
        break;
    case PTX_O_PAIR:
        put_operand(p, &o->sub[0]);
        gr_str_addc(p->out, '|');
        put_operand(p, &o->sub[1]);
        break;
    case PTX_O_SINK: gr_str_addc(p->out, '_'); break;
    case PTX_O_RAW:
        put(p, o->text);
        p->raw_operand = true;
        break;
    }
}

static void put_instr(Printer *p, const PtxInstr *i) {
    if (i->guard) {
        put(p, i->guard_negated ? "@!" : "@");
        put_reg(p, i->guard);
        gr_str_addc(p->out, ' ');
    }
    put(p, i->opcode);
    for (unsigned k = 0; k < i->n_mods; k++) {
        gr_str_addc(p->out, '.');
        put(p, i->mods[k].text);
    }
    if (i->n_operands)
        gr_str_addc(p->out, ' ');
    put_list(p, i->operands, i->n_operands);
    gr_str_addc(p->out, ';');
}

// ---- Variables -------------------------------------------------------------------------------------------

static void put_init_element(Printer *p, const PtxVar *v, const PtxInit *e) {
    if (!e->symbol) {
        if (v->type == PTX_F32)
            gr_str_addf(p->out, "0f%08" PRIX32, (uint32_t)e->bits);
        else if (v->type == PTX_F64)
            gr_str_addf(p->out, "0d%016" PRIX64, e->bits);
        else
            put_u64(p, e->bits);
        return;
    }
    if (e->mask_byte)
        gr_str_addf(p->out, "0x%" PRIX64 "(", UINT64_C(0xff) << (8 * (e->mask_byte - 1)));
    gr_str_addf(p->out, e->generic ? "generic(%s)" : "%s", e->symbol);
    put_offset(p, (int64_t)e->bits);
    if (e->mask_byte)
        gr_str_addc(p->out, ')');
}

static void put_init(Printer *p, const PtxVar *v) {
    if (!v->init_text && !v->n_init)
        return;
    put(p, " = ");
    if (v->init_text) {
        put(p, v->init_text);
        return;
    }
    bool braces = v->ndims || v->vec > 1;
    put(p, braces ? "{" : "");
    for (uint32_t k = 0; k < v->n_init; k++) {
        if (k)
            put(p, ", ");
        put_init_element(p, v, &v->init[k]);
    }
    put(p, braces ? "}" : "");
}

// Everything of a declaration but its initializer and its end.
static void put_var(Printer *p, const PtxVar *v) {
    put(p, v->is_extern ? ".extern " : v->is_visible ? ".visible " : v->is_weak ? ".weak " : "");
    put(p, v->is_common ? ".common ." : ".");
    put(p, v->space == PTX_SPACE_OTHER ? "tex" : gr_ptx_space_text(v->space));
    if (v->attrs && !v->is_ptr)
        gr_str_addf(p->out, " %s", v->attrs);
    if (v->align)
        gr_str_addf(p->out, " .align %u", v->align);
    if (v->vec > 1)
        gr_str_addf(p->out, " .v%u", v->vec);
    gr_str_addf(p->out, " .%s ", v->type_text ? v->type_text : gr_ptx_type_text(v->type));
    if (v->attrs && v->is_ptr)
        gr_str_addf(p->out, "%s ", v->attrs);
    if (v->reg)
        put_reg(p, v->reg);
    else
        put(p, v->name);
    for (unsigned k = 0; k < v->ndims; k++) {
        gr_str_addc(p->out, '[');
        if (v->dims[k] || k)
            put_u64(p, v->dims[k]);
        gr_str_addc(p->out, ']');
    }
}

static void put_reg_decl(Printer *p, const PtxRegDecl *d) {
    put(p, ".reg ");
    if (d->vec > 1)
        gr_str_addf(p->out, ".v%u ", d->vec);
    gr_str_addc(p->out, '.');
    put(p, d->type_text);
    for (uint32_t k = 0; k < d->n_names; k++) {
        put(p, k ? ", " : " ");
        bool range = d->names[k].count;
        if (p->flags & PTX_PRINT_RENUMBER_REGS) {
            put(p, "%z");
            put_u64(p, d->ordinal + k);
            put(p, range ? "_" : "");
        } else {
            put(p, d->names[k].name);
        }
        if (range)
            gr_str_addf(p->out, "<%u>", d->names[k].count);
    }
    gr_str_addc(p->out, ';');
}

// ---- Statements ------------------------------------------------------------------------------------------

static void put_targets(Printer *p, const PtxStmt *s) {
    put_label(p, s->label);
    put(p, s->targets ? ": .branchtargets " : ": .calltargets ");
    for (uint32_t k = 0; k < s->n_targets; k++) {
        put(p, k ? ", " : "");
        if (s->targets)
            put_label(p, s->targets[k]);
        else
            put(p, s->target_funcs[k]);
    }
    gr_str_addc(p->out, ';');
}

static void put_stmt(Printer *p, const PtxStmt *s) {
    put_tag(p, s->tag);
    switch (s->kind) {
    case PTX_INSTR: put_instr(p, s->instr); break;
    case PTX_LABEL_DEF:
        put_label(p, s->label);
        gr_str_addc(p->out, ':');
        break;
    case PTX_SCOPE_OPEN: gr_str_addc(p->out, '{'); break;
    case PTX_SCOPE_CLOSE: gr_str_addc(p->out, '}'); break;
    case PTX_DECL_REG: put_reg_decl(p, s->reg_decl); break;
    case PTX_DECL_VAR:
        put_var(p, s->var);
        put_init(p, s->var);
        gr_str_addc(p->out, ';');
        break;
    case PTX_PROTOTYPE:
        put_label(p, s->label);
        put(p, ": ");
        put(p, s->text);
        break;
    case PTX_TARGETS: put_targets(p, s); break;
    case PTX_LOC:
    case PTX_PRAGMA:
    case PTX_RAW: put(p, s->text); break;
    }
}

void gr_ptx_print_stmt(const PtxStmt *s, StrBuf *out) {
    Printer p = {.out = out};
    put_stmt(&p, s);
}

void gr_ptx_print_operand(const PtxOperand *o, StrBuf *out) {
    Printer p = {.out = out};
    put_operand(&p, o);
}

// Registers without a declaration, by type in order of first appearance.
static void put_new_regs(Printer *p, const PtxFunc *f) {
    static_assert(PTX_TYPE_OTHER < 64, "types have a bit each");
    uint64_t types = 0;
    for (uint32_t k = 0; k < f->n_regs; k++)
        types |= !f->regs[k]->decl && !f->regs[k]->is_param ? UINT64_C(1) << f->regs[k]->type : 0;
    for (; types; types &= types - 1) {
        PtxType t = (PtxType)__builtin_ctzll(types);
        unsigned n = 0;
        for (uint32_t k = 0; k < f->n_regs; k++) {
            const PtxReg *r = f->regs[k];
            if (r->decl || r->is_param || r->type != t)
                continue;
            if (n++ % 16 == 0) {
                put(p, n > 1 ? ";\n\t" : "\t");
                put_tag(p, (PtxTag){.inserted = true});
                gr_str_addf(p->out, ".reg .%s ", gr_ptx_type_text(t));
            } else {
                put(p, ", ");
            }
            put_reg(p, r);
        }
        put(p, n ? ";\n" : "");
    }
}

static void put_params(Printer *p, PtxVar *const *list, uint32_t n, bool lines) {
    gr_str_addc(p->out, '(');
    for (uint32_t k = 0; k < n; k++) {
        put(p, k ? "," : "");
        put(p, lines ? "\n\t" : k ? " " : "");
        put_var(p, list[k]);
    }
    put(p, lines && n ? "\n)" : ")");
}

static void put_func(Printer *p, const PtxFunc *f) {
    put_tag(p, f->tag);
    put(p, f->is_extern ? ".extern " : f->is_visible ? ".visible " : f->is_weak ? ".weak " : "");
    put(p, f->is_entry ? ".entry " : ".func ");
    if (f->attrs)
        gr_str_addf(p->out, "%s ", f->attrs);
    if (f->n_rets) {
        put_params(p, f->rets, f->n_rets, false);
        gr_str_addc(p->out, ' ');
    }
    put(p, f->name);
    put_params(p, f->params, f->n_params, true);
    if (f->directives)
        gr_str_addf(p->out, "\n%s", f->directives);
    if (!f->has_body) {
        put(p, "\n;\n");
        return;
    }
    put(p, "\n{\n");
    put_new_regs(p, f);
    for (const PtxStmt *s = f->first; s; s = s->next) {
        if (s->kind != PTX_LABEL_DEF)
            gr_str_addc(p->out, '\t');
        put_stmt(p, s);
        gr_str_addc(p->out, '\n');
    }
    put(p, "}\n");
}

static gr_status put_header(Printer *p, const PtxModule *m, gr_error *err) {
    if ((p->flags & (PTX_PRINT_RENUMBER_REGS | PTX_PRINT_RENAME_LABELS)) && m->debug)
        return gr_fail(
            err, GR_ERR_ARGUMENT,
            "%s: registers and labels of a debug module cannot be renamed, its DWARF data refers to "
            "them by name",
            m->name);
    gr_str_addf(p->out, ".version %u.%u\n.target ", m->version_major, m->version_minor);
    for (uint32_t k = 0; k < m->n_targets; k++)
        gr_str_addf(p->out, k ? ", %s" : "%s", m->targets[k]);
    put(p, "\n");
    if (m->address_size)
        gr_str_addf(p->out, ".address_size %u\n", m->address_size);
    put(p, "\n");
    return GR_OK;
}

// A function of a runtime that the module does not hold: calls of it say all that its loader has to know.
static bool is_apart(const PtxItem *i) {
    return i->kind == PTX_ITEM_FUNC && i->tag.inserted && !i->func->has_body && i->func->module->apart.n;
}

static void put_item(Printer *p, const PtxItem *i) {
    if (is_apart(i))
        return;
    if (i->kind == PTX_ITEM_FUNC) {
        put_func(p, i->func);
        return;
    }
    put_tag(p, i->tag);
    if (i->kind == PTX_ITEM_VAR) {
        put_var(p, i->var);
        put_init(p, i->var);
        put(p, ";\n");
    } else {
        put(p, i->text);
        put(p, "\n");
    }
}

static gr_status finish(const Printer *p, const PtxModule *m, gr_error *err) {
    if (p->raw_operand && (p->flags & PTX_PRINT_RENUMBER_REGS))
        return gr_fail(err, GR_ERR_UNSUPPORTED,
                       "%s: an instruction not understood may name registers, so they cannot be renumbered",
                       m->name);
    GR_NEED(!p->out->oom && !m->nomem, err);
    return GR_OK;
}

gr_status gr_ptx_print(const PtxModule *m, unsigned flags, StrBuf *out, gr_error *err) {
    Printer p = {.out = out, .flags = flags};
    if (m->later.rewrite)
        return gr_fail(err, GR_ERR_INTERNAL, "%s: a pass is not done with it", m->name);
    GR_MUST(put_header(&p, m, err));
    for (const PtxItem *i = m->items; i; i = i->next)
        put_item(&p, i);
    return finish(&p, m, err);
}

// Rewrites and prints a function, whose body is gone then. Inserted code lives in *work, which is empty afterwards.
static gr_status put_once(Printer *p, PtxModule *m, PtxItem *i, Arena *work, gr_error *err) {
    PtxFunc *f = i->func;
    Arena own = m->arena;
    m->arena = *work;
    m->as_text = !p->flags;
    gr_status st = m->later.rewrite(m->later.user, f, err);
    m->as_text = false;
    if (st == GR_OK)
        put_item(p, i);
    gr_arena_rewind(&m->arena);
    *work = m->arena;
    m->arena = own;
    gr_map_free(&f->reg_names);
    gr_map_free(&f->declared);
    f->declared_known = false;
    f->first = f->last = NULL;
    f->regs = f->made = NULL;
    f->n_regs = f->cap_regs = f->cap_made = 0;
    return st;
}

gr_status gr_ptx_print_later(PtxModule *m, unsigned flags, StrBuf *out,
                             gr_status (*take)(void *user, StrBuf *out, gr_error *err), void *user,
                             gr_error *err) {
    enum { MUCH = 1 << 20 };
    gr_status st = GR_OK;
    Printer p = {.out = out, .flags = flags};
    Arena work;
    gr_arena_init(&work);
    GR_TRY(put_header(&p, m, err));
    for (PtxItem *i = m->items; i; i = i->next) {
        i->at = out->len;
        if (m->later.rewrite && i->kind == PTX_ITEM_FUNC && i->func->has_body)
            GR_TRY(put_once(&p, m, i, &work, err));
        else
            put_item(&p, i);
        if (take && out->len > MUCH && !out->oom)
            GR_TRY(take(user, out, err));
    }
    GR_TRY(finish(&p, m, err));
    if (take)
        st = take(user, out, err);
done:
    gr_arena_free(&work);
    return st;
}
