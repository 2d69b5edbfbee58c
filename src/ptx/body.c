// SPDX-License-Identifier: Apache-2.0
// body — the statements of a function (PTX ISA 4.3).
#include "ptx/parser.h"
#include "ptx/tables.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_MODS = 1024 };

// ---- Directives ------------------------------------------------------------------------------------------

static gr_status add_reg_name(Parser *p, PtxRegDecl *d, uint32_t k, Slice name) {
    if (!d->names[k].count) {
        PtxReg *r = gr_parse_make_reg(p->f, d->names[k].name, d->type, d->vec);
        GR_NEED(r, p->lex.err);
        r->decl = d;
        r->entry = k;
        return gr_parse_bind(p, name, SYM_REG, r);
    }
    RegRange *range = GR_NEW(&p->local, RegRange);
    GR_NEED(range, p->lex.err);
    *range = (RegRange){.decl = d, .entry = k, .next = p->ranges};
    p->ranges = range;
    return gr_parse_bind(p, name, SYM_RANGE, range);
}

// .reg .v4 .f32 %a, %b<7>; — the cursor is after ".reg".
static gr_status parse_reg(Parser *p, PtxTag tag) {
    Lexer *l = &p->lex;
    PtxStmt *s = gr_parse_new_stmt(p, PTX_DECL_REG, tag);
    PtxRegDecl *d = GR_NEW(p->m->bodies, PtxRegDecl);
    GR_NEED(s && d, p->lex.err);
    s->reg_decl = d;
    PtxVar shape = {.vec = 1};
    gr_status st = gr_parse_var_type(p, &shape);
    if (st != GR_OK)
        return st;
    d->type = shape.type;
    d->type_text = shape.type_text;
    d->vec = shape.vec;
    d->ordinal = p->f->n_reg_names;
    VEC(Slice) names = {0};
    VEC(uint32_t) counts = {0};
    do {
        lex_skip(l);
        Slice name = lex_word(l);
        uint32_t count = 0;
        if (name.len < 2 && !(name.len == 1 && *name.s != '%' && *name.s != '$'))
            GR_TRY(gr_lex_expected(l, "a register's name"));
        if (lex_accept(l, '<')) {
            GR_TRY(gr_lex_u32(l, &count, "a number of registers"));
            GR_TRY(gr_lex_expect(l, '>'));
            if (!count)
                GR_TRY(gr_lex_fail(l, "a range of no registers"));
        }
        GR_TRY(gr_vec_push(&names, name) && gr_vec_push(&counts, count) ? GR_OK : gr_no_memory(p->lex.err));
    } while (lex_accept(l, ','));
    GR_TRY(gr_lex_expect(l, ';'));
    d->n_names = (uint32_t)names.len;
    p->f->n_reg_names += d->n_names;
    GR_TRY((d->names = gr_arena_array(p->m->bodies, names.len, sizeof *d->names)) ? GR_OK
                                                                                  : gr_no_memory(p->lex.err));
    for (uint32_t k = 0; k < d->n_names; k++) {
        d->names[k].name = gr_parse_intern(p, names.data[k].s, names.data[k].len);
        d->names[k].count = counts.data[k];
        GR_TRY(d->names[k].name ? GR_OK : gr_no_memory(p->lex.err));
        GR_TRY(add_reg_name(p, d, k, names.data[k]));
    }
done:
    gr_vec_free(&names);
    gr_vec_free(&counts);
    return st;
}

static gr_status add_body_var(Parser *p, PtxVar *v, PtxTag tag) {
    v->func = p->f;
    p->f->has_statics |= v->space == PTX_GLOBAL || v->space == PTX_CONST;
    PtxStmt *s = gr_parse_new_stmt(p, PTX_DECL_VAR, tag);
    GR_NEED(s, p->lex.err);
    s->var = v;
    s->line = v->line;
    return gr_parse_bind(p, (Slice){v->name, strlen(v->name)}, SYM_VAR, v);
}

// Keeps the text from `b` to the cursor verbatim; `st` says whether the cursor got there.
static gr_status add_raw(Parser *p, const char *b, PtxStmtKind kind, PtxTag tag, gr_status st) {
    const char *e = p->lex.p;
    while (e > b && lex_is(e[-1], CH_SPACE))
        e--;
    PtxStmt *s = st == GR_OK ? gr_parse_new_stmt(p, kind, tag) : NULL;
    if (s)
        s->text = gr_arena_strndup(p->m->bodies, b, (size_t)(e - b));
    return st != GR_OK ? st : s && s->text ? GR_OK : gr_no_memory(p->lex.err);
}

static gr_status parse_directive(Parser *p, PtxTag tag) {
    Lexer *l = &p->lex;
    uint32_t line = l->line;
    const char *b = l->p++;
    Slice word = lex_word(l);
    while (*l->p == ':' && l->p[1] == ':') { // .shared::cta
        l->p += 2;
        lex_word(l);
        word.len = (size_t)(l->p - word.s);
    }
    if (slice_is(word, "loc"))
        return gr_parse_loc(p, tag);
    if (slice_is(word, "reg"))
        return parse_reg(p, tag);
    Linkage linkage = {0};
    for (;;) {
        if (slice_is(word, "extern"))
            linkage.is_extern = true;
        else if (slice_is(word, "visible"))
            linkage.is_visible = true;
        else if (slice_is(word, "weak"))
            linkage.is_weak = true;
        else
            break;
        GR_MUST(gr_lex_expect(l, '.'));
        word = lex_word(l);
    }
    PtxSpace space = gr_ptx_space_find(word.s, word.len);
    if (space == PTX_GENERIC && slice_is(word, "tex"))
        space = PTX_SPACE_OTHER;
    if (space != PTX_GENERIC)
        return gr_parse_variables(p, &linkage, space, tag, line, add_body_var);
    if (slice_is(word, "section"))
        return add_raw(p, b, PTX_RAW, tag, gr_lex_section(l));
    if (!word.len)
        return gr_lex_expected(l, "a directive");
    if (slice_is(word, "callprototype") || slice_is(word, "branchtargets") || slice_is(word, "calltargets"))
        return gr_lex_fail(l, ".%.*s without a label", (int)word.len, word.s);
    return add_raw(p, b, slice_is(word, "pragma") ? PTX_PRAGMA : PTX_RAW, tag, gr_lex_raw(l));
}

// ---- Labels and what they may carry ----------------------------------------------------------------------

static gr_status parse_targets(Parser *p, PtxStmt *s, bool functions) {
    Lexer *l = &p->lex;
    VEC(const void *) list = {0};
    gr_status st = GR_OK;
    do {
        lex_skip(l);
        Slice name = lex_word(l);
        if (!name.len)
            GR_TRY(gr_lex_expected(l, functions ? "a function's name" : "a label"));
        const void *item = functions ? (const void *)gr_parse_intern(p, name.s, name.len)
                                     : (const void *)gr_parse_label_ref(p, name, false);
        GR_TRY(item && gr_vec_push(&list, item) ? GR_OK : gr_no_memory(p->lex.err));
    } while (lex_accept(l, ','));
    GR_TRY(gr_lex_expect(l, ';'));
    const void **copy = GR_NEW_ARRAY(p->m->bodies, const void *, list.len);
    GR_TRY(copy ? GR_OK : gr_no_memory(p->lex.err));
    memcpy(copy, list.data, list.len * sizeof *copy);
    s->n_targets = (uint32_t)list.len;
    if (functions)
        s->target_funcs = (const char **)copy;
    else
        s->targets = (PtxLabel **)copy;
done:
    gr_vec_free(&list);
    return st;
}

// .callprototype (rets) _ (params) .noreturn; — the cursor is after the word. The text from `b` is kept for the
// printer.
static gr_status parse_prototype(Parser *p, PtxStmt *s, const char *b) {
    Lexer *l = &p->lex;
    PtxProto *proto = GR_NEW(p->arena, PtxProto);
    GR_NEED(proto, p->lex.err);
    s->proto = proto;
    gr_status st;
    lex_skip(l);
    if (*l->p == '(' && (st = gr_parse_params(p, &proto->rets, &proto->n_rets)) != GR_OK)
        return st;
    lex_skip(l);
    Slice name = lex_word(l);
    if (!name.len)
        return gr_lex_expected(l, "'_'");
    proto->name = gr_parse_intern(p, name.s, name.len);
    lex_skip(l);
    if (*l->p == '(' && (st = gr_parse_params(p, &proto->params, &proto->n_params)) != GR_OK)
        return st;
    for (lex_skip(l); *l->p && *l->p != ';'; lex_skip(l)) { // .noreturn .abi_preserve 4
        if (*l->p == '.') {
            l->p++;
            proto->noreturn |= slice_is(lex_word(l), "noreturn");
        } else if (lex_is(*l->p, CH_DIGIT)) {
            Num n;
            GR_MUST(gr_lex_number(l, &n));
        } else {
            return gr_lex_expected(l, "';'");
        }
    }
    GR_MUST(gr_lex_expect(l, ';'));
    s->text = gr_arena_strndup(p->m->bodies, b, (size_t)(l->p - b));
    return s->text && proto->name ? GR_OK : gr_no_memory(p->lex.err);
}

static gr_status parse_label(Parser *p, Slice name, PtxStmt *s) {
    Lexer *l = &p->lex;
    GR_MUST(gr_parse_label_def(p, name, s));
    // A directive that needs the label may follow. Nothing else is touched: the comments skipped may be the next
    // statement's tag.
    Lexer behind = *l;
    lex_skip(l);
    const char *look = l->p;
    static const struct {
        const char *word;
        PtxStmtKind kind;
        bool functions;
    } carried[] = {{".callprototype", PTX_PROTOTYPE, false},
                   {".branchtargets", PTX_TARGETS, false},
                   {".calltargets", PTX_TARGETS, true}};
    for (size_t k = 0; k < sizeof carried / sizeof *carried; k++) {
        size_t n = strlen(carried[k].word);
        if (strncmp(look, carried[k].word, n) != 0 || lex_is(look[n], CH_WORD))
            continue;
        l->p += n;
        s->kind = carried[k].kind;
        return s->kind == PTX_PROTOTYPE ? parse_prototype(p, s, look)
                                        : parse_targets(p, s, carried[k].functions);
    }
    *l = behind;
    return GR_OK;
}

// ---- Instructions ----------------------------------------------------------------------------------------

// The opcode with its modifiers, which inline assembly may set off with white space: "ld .global .u32".
static gr_status parse_opcode(Parser *p, PtxInstr *i, Slice word) {
    Lexer *l = &p->lex;
    i->op = gr_ptx_op_find(word.s, word.len);
    i->opcode = i->op ? gr_ptx_op_text(i->op) : gr_parse_intern(p, word.s, word.len);
    GR_NEED(i->opcode, p->lex.err);
    Slice mods[MAX_MODS];
    unsigned n = 0;
    for (;;) {
        if (*l->p != '.') {
            lex_skip(l);
            if (*l->p != '.')
                break;
        }
        const char *b = ++l->p;
        while (lex_is(*l->p, CH_MOD))
            l->p++;
        if (l->p == b)
            return gr_lex_expected(l, "a modifier");
        if (n == MAX_MODS)
            return gr_lex_fail(l, "more than %d modifiers", MAX_MODS);
        mods[n++] = (Slice){b, (size_t)(l->p - b)};
    }
    i->n_mods = (uint16_t)n;
    if (n && !(i->mods = gr_arena_array(p->m->bodies, n, sizeof *i->mods)))
        return gr_no_memory(p->lex.err);
    for (unsigned k = 0; k < n; k++) {
        i->mods[k].id = gr_ptx_mod_find(mods[k].s, mods[k].len);
        i->mods[k].text =
            i->mods[k].id ? gr_ptx_mod_text(i->mods[k].id) : gr_parse_intern(p, mods[k].s, mods[k].len);
        GR_NEED(i->mods[k].text, p->lex.err);
    }
    gr_ptx_instr_summarize(i);
    return GR_OK;
}

static gr_status parse_call_list(Parser *p) {
    size_t base = p->ops.len;
    gr_status st = gr_lex_expect(&p->lex, '(');
    if (st == GR_OK && !lex_accept(&p->lex, ')')) {
        do
            st = gr_parse_operand(p, false, 1);
        while (st == GR_OK && lex_accept(&p->lex, ','));
        if (st == GR_OK)
            st = gr_lex_expect(&p->lex, ')');
    }
    PtxOperand o = {.kind = PTX_O_PAREN};
    if (st == GR_OK)
        st = gr_parse_take_operands(p, base, &o.sub, &o.n_sub);
    if (st == GR_OK && !gr_vec_push(&p->ops, o))
        st = gr_no_memory(p->lex.err);
    return st;
}

// call (rets), callee, (params), prototype; — the first, third and fourth are optional (9.7.12.5).
static gr_status parse_call(Parser *p, PtxInstr *i) {
    Lexer *l = &p->lex;
    gr_status st = GR_OK;
    lex_skip(l);
    if (*l->p == '(') {
        if ((st = parse_call_list(p)) != GR_OK || (st = gr_lex_expect(l, ',')) != GR_OK)
            return st;
        lex_skip(l);
    }
    const char *b = l->p;
    Slice name = lex_word(l);
    if (!name.len)
        return gr_lex_expected(l, "the function to call");
    PtxReg *reg = gr_parse_find_reg(p, name);
    bool argument = p->inserting && name.len == 2 && *name.s == '$' && lex_is(name.s[1], CH_DIGIT);
    if (reg || argument) {
        l->p = b;
        GR_MUST(gr_parse_operand(p, false, 1));
    } else {
        PtxOperand callee = {.kind = PTX_O_FUNC, .text = gr_parse_intern(p, name.s, name.len)};
        GR_NEED(callee.text && gr_vec_push(&p->ops, callee) && gr_vec_push(&p->calls, i), p->lex.err);
    }
    if (!lex_accept(l, ','))
        return GR_OK;
    lex_skip(l);
    if (*l->p == '(') {
        GR_MUST(parse_call_list(p));
        if (!lex_accept(l, ','))
            return GR_OK;
    }
    return gr_parse_operand(p, true, 0);
}

// Appends the text up to a ';' or a '}', without comments: one of them may hide a ';' that is printed next.
static void take_verbatim(Lexer *l, StrBuf *out) {
    for (lex_skip(l); *l->p && *l->p != ';' && *l->p != '}';) {
        gr_str_addc(out, *l->p++);
        const char *before = l->p;
        lex_skip(l);
        if (l->p != before && *l->p && *l->p != ';')
            gr_str_addc(out, ' ');
    }
}

// The operands of an opcode that is in no table: when they do not read as operands, verbatim.
static gr_status parse_unknown_operands(Parser *p, size_t base) {
    Lexer saved = p->lex;
    gr_status st = GR_OK;
    do
        st = gr_parse_operand(p, false, 0);
    while (st == GR_OK && lex_accept(&p->lex, ','));
    if (st == GR_ERR_NOMEM)
        return st;
    lex_skip(&p->lex);
    if (st == GR_OK && *p->lex.p == ';')
        return GR_OK;
    Lexer end = saved;
    StrBuf text = {0};
    take_verbatim(&end, &text);
    if (*end.p != ';') {
        gr_str_free(&text);
        return st == GR_OK ? gr_lex_expected(&p->lex, "';'") : st;
    }
    p->lex = end;
    PtxOperand raw = {.kind = PTX_O_RAW,
                      .text = text.oom ? NULL : gr_parse_intern(p, text.data ? text.data : "", text.len)};
    gr_str_free(&text);
    p->ops.len = base;
    return raw.text && gr_vec_push(&p->ops, raw) ? GR_OK : gr_no_memory(p->lex.err);
}

static gr_status parse_instr(Parser *p, PtxStmt *s, Slice word) {
    Lexer *l = &p->lex;
    PtxInstr *i = s->instr;
    size_t base = p->ops.len;
    gr_status st = parse_opcode(p, i, word);
    if (st != GR_OK)
        return st;
    bool branch = i->op == PTX_OP_BRA || i->op == PTX_OP_BRX;
    lex_skip(l);
    if (*l->p == '}' || !*l->p)
        return gr_lex_expected(l, "';'");
    if (*l->p != ';') {
        if (i->op == PTX_OP_CALL) {
            st = parse_call(p, i);
        } else if (i->op == PTX_OP_UNKNOWN) {
            st = parse_unknown_operands(p, base);
        } else {
            do {
                // brx.idx's first operand is its index.
                st = gr_parse_operand(p, branch && (i->op == PTX_OP_BRA || p->ops.len > base), 0);
            } while (st == GR_OK && lex_accept(l, ','));
        }
        if (st != GR_OK)
            return st;
    }
    if (branch && (p->ops.len == base || !p->ops.data[p->ops.len - 1].label))
        return gr_lex_expected(l, "a label to branch to");
    if ((st = gr_lex_expect(l, ';')) != GR_OK)
        return st;
    return gr_parse_take_operands(p, base, &i->operands, &i->n_operands);
}

static gr_status parse_statement(Parser *p, PtxTag tag) {
    Lexer *l = &p->lex;
    if (*l->p == '.')
        return parse_directive(p, tag);
    PtxStmt *s = gr_parse_new_stmt(p, PTX_INSTR, tag);
    GR_NEED(s, p->lex.err);
    PtxReg *guard = NULL;
    bool negated = false, guarded = *l->p == '@';
    if (guarded) {
        l->p++;
        GR_MUST(gr_parse_guard(p, &guard, &negated));
        lex_skip(l);
    }
    Slice word = lex_word(l);
    if (!word.len || *word.s == '%') {
        l->p = word.s;
        return gr_lex_expected(l, "a statement");
    }
    if (!guarded) {
        Lexer look = *l;
        lex_skip(&look);
        if (*look.p == ':' && look.p[1] != ':') {
            *l = look;
            s->kind = PTX_LABEL_DEF;
            l->p++;
            return parse_label(p, word, s);
        }
    }
    GR_NEED((s->instr = GR_NEW(p->m->bodies, PtxInstr)), p->lex.err);
    s->instr->guard = guard;
    s->instr->guard_negated = negated;
    return parse_instr(p, s, word);
}

gr_status gr_parse_body(Parser *p) {
    Lexer *l = &p->lex;
    unsigned depth = 0;
    gr_status st = GR_OK;
    for (;;) {
        l->tag = (PtxTag){0};
        lex_skip(l);
        PtxTag tag = l->tag;
        switch (*l->p) {
        case 0:
            if (l->p >= l->end && p->inserting && depth == 0) {
                gr_parse_scope_close(p);
                return gr_parse_labels_end(p);
            }
            return gr_lex_expected(l, "'}'");
        case '{':
            GR_NEED(gr_parse_new_stmt(p, PTX_SCOPE_OPEN, tag), p->lex.err);
            l->p++;
            depth++;
            st = gr_parse_scope_open(p);
            break;
        case '}':
            if (depth == 0 && p->inserting)
                return gr_lex_expected(l, "a statement");
            if (depth == 0) {
                l->p++;
                gr_parse_scope_close(p);
                return gr_parse_labels_end(p);
            }
            GR_NEED(gr_parse_new_stmt(p, PTX_SCOPE_CLOSE, tag), p->lex.err);
            l->p++;
            depth--;
            gr_parse_scope_close(p);
            break;
        case ';': l->p++; break; // an empty statement, as inline assembly leaves them
        default: st = parse_statement(p, tag); break;
        }
        if (st != GR_OK)
            return st;
    }
}
