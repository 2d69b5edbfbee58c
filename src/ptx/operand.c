// SPDX-License-Identifier: Apache-2.0
// operand — instruction operands (PTX ISA chapter 6) and the names in them.
//
// Operands are read onto a stack and moved into the module's arena as one array per instruction or list.
#include "ptx/parser.h"
#include "ptx/tables.h"

#include <string.h>

enum { MAX_NESTING = 8, DENSE_REGS = 1 << 16, MAX_OPERANDS = 1 << 15 };

// ---- Registers -------------------------------------------------------------------------------------------

static PtxReg *range_make(Parser *p, RegRange *r, Slice name, uint32_t number) {
    const char *copy = gr_arena_strndup(p->m->bodies, name.s, name.len);
    PtxReg *reg = gr_parse_make_reg(p->f, copy, r->decl->type, r->decl->vec);
    if (reg) {
        reg->decl = r->decl;
        reg->entry = r->entry;
        reg->number = number;
    }
    return reg;
}

static PtxReg *range_reg(Parser *p, RegRange *r, Slice name, uint32_t number) {
    if (number >= DENSE_REGS) {
        PtxReg *reg = gr_map_get_u64(&r->sparse, number);
        if (!reg && (reg = range_make(p, r, name, number)) != NULL &&
            !gr_map_put_u64(&r->sparse, number, reg))
            return NULL;
        return reg;
    }
    if (number >= r->cap) {
        uint32_t cap = r->cap ? r->cap : 16;
        while (cap <= number)
            cap *= 2;
        PtxReg **regs = GR_NEW_ARRAY(&p->local, PtxReg *, cap);
        if (!regs)
            return NULL;
        if (r->cap)
            memcpy(regs, r->regs, r->cap * sizeof *regs);
        r->regs = regs;
        r->cap = cap;
    }
    if (!r->regs[number])
        r->regs[number] = range_make(p, r, name, number);
    return r->regs[number];
}

// The innermost binding of `name`, be it of the whole name or of a prefix<count>. A register's number has no
// leading zeros, so that %r01 is not in %r<8>; %a10 may be in %a<20> or in %a1<5>.
static Sym *find_symbol(Parser *p, Slice name, uint32_t *number) {
    Sym *best = gr_sym_find(&p->syms, name.s, name.len);
    while (best && best->kind == SYM_RANGE)
        best = best->outer;
    uint64_t value = 0, scale = 1;
    for (size_t split = name.len; split > 1 && lex_is(name.s[split - 1], CH_DIGIT); split--) {
        uint64_t digit = (uint64_t)(name.s[split - 1] - '0');
        if (scale > UINT32_MAX)
            break;
        value += digit * scale;
        scale *= 10;
        if (digit == 0 && name.len - split > 0)
            continue; // a leading zero
        Sym *s = gr_sym_find(&p->syms, name.s, split - 1);
        while (s && s->kind != SYM_RANGE)
            s = s->outer;
        if (!s || (best && best->depth >= s->depth))
            continue;
        RegRange *r = s->obj;
        if (value < r->decl->names[r->entry].count) {
            best = s;
            *number = (uint32_t)value;
        }
    }
    return best;
}

static PtxReg *symbol_reg(Parser *p, Sym *s, Slice name, uint32_t number) {
    if (s->kind == SYM_REG)
        return s->obj;
    return s->kind == SYM_RANGE ? range_reg(p, s->obj, name, number) : NULL;
}

PtxReg *gr_parse_find_reg(Parser *p, Slice name) {
    uint32_t number = 0;
    PtxReg *made = p->inserting ? gr_build_made_reg(p->f, name.s, name.len) : NULL;
    if (made)
        return made;
    Sym *s = find_symbol(p, name, &number);
    if (s)
        return symbol_reg(p, s, name, number);
    if (!p->inserting)
        return NULL;
    const char *key = gr_parse_intern(p, name.s, name.len);
    return key ? gr_build_find_reg(p->f, p->at, key) : NULL;
}

// ---- Labels ----------------------------------------------------------------------------------------------

static LabelSym *label_make(Parser *p, Slice name) {
    LabelSym *l = GR_NEW(p->m->bodies, LabelSym);
    if (!l)
        return NULL;
    l->label.name = gr_arena_strndup(p->m->bodies, name.s, name.len);
    l->label.index = p->f->n_labels++;
    l->line = p->lex.line;
    l->col = lex_col(&p->lex);
    if (l->col > name.len)
        l->col -= (uint32_t)name.len; // the cursor is behind the name
    if (!l->label.name || !gr_sym_bind(&p->labels, name.s, name.len, SYM_LABEL, l))
        return NULL;
    gr_ptx_note_fresh(p->f, l->label.name);
    return l;
}

LabelSym *gr_parse_label_ref(Parser *p, Slice name, bool soft) {
    Sym *s = gr_sym_find(&p->labels, name.s, name.len);
    LabelSym *l = s && s->depth == p->labels.depth ? s->obj : NULL;
    if (!l) {
        if (!(l = label_make(p, name)))
            return NULL;
        l->soft = soft;
    }
    l->soft = l->soft && soft;
    l->label.uses++;
    return l;
}

gr_status gr_parse_label_def(Parser *p, Slice name, PtxStmt *stmt) {
    Sym *s = gr_sym_find(&p->labels, name.s, name.len);
    LabelSym *l = s && s->depth == p->labels.depth ? s->obj : NULL;
    if (l && l->defined) {
        p->lex.p = name.s;
        return gr_lex_fail(&p->lex, "label '%s' is defined twice in its scope", l->label.name);
    }
    if (!l && !(l = label_make(p, name)))
        return gr_no_memory(p->lex.err);
    l->defined = true;
    l->label.stmt = stmt;
    stmt->label = &l->label;
    if (p->inserting) {
        l->label.name = gr_arena_printf(p->arena, "$GR_%u", p->f->fresh++);
        GR_NEED(l->label.name, p->lex.err);
    }
    return GR_OK;
}

gr_status gr_parse_bind(Parser *p, Slice name, SymKind kind, void *obj) {
    // %r<3> declares %r0 to %r2, so beside %r it is another name.
    for (const Sym *s = gr_sym_find(&p->syms, name.s, name.len); s && s->depth == p->syms.depth; s = s->outer)
        if ((s->kind == SYM_RANGE) == (kind == SYM_RANGE))
            return gr_lex_fail(&p->lex, "'%.*s%s' is declared twice in its scope", (int)name.len, name.s,
                               kind == SYM_RANGE ? "<...>" : "");
    return gr_sym_bind(&p->syms, name.s, name.len, kind, obj) ? GR_OK : gr_no_memory(p->lex.err);
}

gr_status gr_parse_scope_open(Parser *p) {
    if (p->syms.depth >= 1000)
        return gr_lex_fail(&p->lex, "more than 1000 nested scopes");
    GR_NEED(gr_sym_push(&p->syms) && gr_sym_push(&p->labels), p->lex.err);
    return GR_OK;
}

void gr_parse_scope_close(Parser *p) {
    SymTab *t = &p->labels;
    Sym *list = t->scopes[t->depth];
    gr_sym_pop(&p->syms);
    gr_sym_pop(t);
    // A label that is mentioned but not defined here may be defined around here; if no scope is left,
    // gr_parse_labels_end decides.
    for (Sym *s = list; s; s = s->sibling) {
        LabelSym *l = s->obj;
        if (l->defined)
            continue;
        p->labels_open = true;
        if (t->depth == 0)
            continue;
        Slice name = {s->name->s, s->name->len};
        uint32_t line = l->line, col = l->col;
        LabelSym *outer = gr_parse_label_ref(p, name, l->soft);
        if (!outer)
            continue; // memory is out: stays unresolved and is reported so
        if (outer->label.uses == 1 && !outer->defined) {
            outer->line = line;
            outer->col = col;
        }
        outer->label.uses += l->label.uses - 1;
        l->alias = outer;
    }
}

static PtxLabel *final_label(PtxLabel *label) {
    LabelSym *l = (LabelSym *)label;
    while (l->alias)
        l = l->alias;
    return &l->label;
}

static gr_status resolve_operand(Parser *p, PtxInstr *i, PtxOperand *o) {
    for (unsigned k = 0; k < o->n_sub; k++) {
        GR_MUST(resolve_operand(p, i, &o->sub[k]));
    }
    if (!o->label)
        return GR_OK;
    PtxLabel *l = final_label(o->label);
    LabelSym *sym = (LabelSym *)l;
    if (sym->defined) {
        o->label = l;
        return GR_OK;
    }
    PtxLabel *known = p->inserting ? gr_build_find_label(p->f, l->name) : NULL;
    if (known) {
        o->label = known;
        return GR_OK;
    }
    if (sym->soft && i->op == PTX_OP_UNKNOWN) {
        *o = (PtxOperand){.kind = PTX_O_RAW, .text = gr_parse_intern(p, l->name, strlen(l->name))};
        return o->text ? GR_OK : gr_no_memory(p->lex.err);
    }
    p->lex.line = sym->line;
    p->lex.line_start = p->lex.p - sym->col + 1;
    return gr_lex_fail(&p->lex, sym->soft ? "'%s' is not declared" : "label '%s' is not defined", l->name);
}

gr_status gr_parse_labels_end(Parser *p) {
    if (!p->labels_open)
        return GR_OK;
    p->labels_open = false;
    for (PtxStmt *s = p->first; s; s = s->next) {
        gr_status st = GR_OK;
        if (s->kind == PTX_INSTR) {
            for (unsigned k = 0; k < s->instr->n_operands && st == GR_OK; k++)
                st = resolve_operand(p, s->instr, &s->instr->operands[k]);
        } else if (s->kind == PTX_TARGETS && s->targets) {
            PtxInstr none = {.op = PTX_OP_BRX};
            for (uint32_t k = 0; k < s->n_targets && st == GR_OK; k++) {
                PtxOperand o = {.kind = PTX_O_LABEL, .label = s->targets[k]};
                st = resolve_operand(p, &none, &o);
                s->targets[k] = o.label;
            }
        }
        if (st != GR_OK)
            return st;
    }
    return GR_OK;
}

// ---- Operands --------------------------------------------------------------------------------------------

gr_status gr_parse_take_operands(Parser *p, size_t base, PtxOperand **out, uint16_t *n_out) {
    size_t n = p->ops.len - base;
    if (n > MAX_OPERANDS)
        return gr_lex_fail(&p->lex, "more than %d operands", MAX_OPERANDS);
    *n_out = (uint16_t)n;
    *out = NULL;
    if (n) {
        GR_NEED((*out = GR_NEW_ARRAY(p->m->bodies, PtxOperand, n)), p->lex.err);
        memcpy(*out, p->ops.data + base, n * sizeof **out);
    }
    p->ops.len = base;
    return GR_OK;
}

static gr_status push(Parser *p, PtxOperand o) {
    return gr_vec_push(&p->ops, o) ? GR_OK : gr_no_memory(p->lex.err);
}

// A comma-separated list up to `close`; the cursor is behind the opening bracket.
static gr_status parse_list(Parser *p, char close, PtxOperandKind kind, unsigned depth) {
    size_t base = p->ops.len;
    gr_status st = GR_OK;
    if (!lex_accept(&p->lex, close)) {
        do
            st = gr_parse_operand(p, false, depth + 1);
        while (st == GR_OK && lex_accept(&p->lex, ','));
        if (st == GR_OK)
            st = gr_lex_expect(&p->lex, close);
    }
    PtxOperand o = {.kind = kind};
    if (st == GR_OK)
        st = gr_parse_take_operands(p, base, &o.sub, &o.n_sub);
    return st == GR_OK ? push(p, o) : st;
}

static gr_status parse_constant(Parser *p) {
    lex_skip(&p->lex);
    Lexer saved = p->lex;
    const char *b = p->lex.p;
    Num n;
    bool minus = *b == '-' && lex_is(b[1], CH_DIGIT);
    p->lex.p += minus;
    if (lex_is(*p->lex.p, CH_DIGIT)) {
        GR_MUST(gr_lex_number(&p->lex, &n));
        lex_skip(&p->lex);
        if (*p->lex.p && strchr(",;]})", *p->lex.p)) {
            if (minus && n.kind == NUM_INT)
                n.bits = 0 - n.bits;
            else if (minus)
                n.bits ^= UINT64_C(1) << (n.kind == NUM_F32 ? 31 : 63);
            n.canonical = n.canonical && (!minus || (n.kind == NUM_INT && n.is_signed && n.bits));
            goto done;
        }
    }
    // Something follows: the operand is a whole expression.
    p->lex = saved;
    GR_MUST(gr_expr_parse(&p->lex, &n));
    n.canonical = false;
done:;
    PtxOperand o = {.kind = n.kind == NUM_INT   ? PTX_O_INT
                            : n.kind == NUM_F32 ? PTX_O_F32
                                                : PTX_O_F64,
                    .bits = n.bits,
                    .is_signed = n.is_signed};
    if (!n.canonical) {
        const char *e = p->lex.p;
        while (e > b && lex_is(e[-1], CH_SPACE))
            e--;
        GR_NEED((o.text = gr_parse_intern(p, b, (size_t)(e - b))), p->lex.err);
    }
    return push(p, o);
}

// "+ constant" or "- constant" behind an address; leaves *offset alone when there is none.
static gr_status parse_offset(Parser *p, int64_t *offset) {
    lex_skip(&p->lex);
    if (*p->lex.p != '+' && *p->lex.p != '-')
        return GR_OK;
    p->lex.p += *p->lex.p == '+';
    int64_t v;
    gr_status st = gr_expr_int(&p->lex, &v, "an offset");
    if (st == GR_OK)
        *offset = (int64_t)((uint64_t)*offset + (uint64_t)v);
    return st;
}

static gr_status parse_address(Parser *p, unsigned depth) {
    size_t base = p->ops.len;
    PtxOperand o = {.kind = PTX_O_ADDRESS};
    gr_status st = gr_parse_operand(p, false, depth + 1);
    if (st != GR_OK)
        return st;
    PtxOperand *first = &p->ops.data[base];
    if (first->kind == PTX_O_ADDRESS) { // [$0] where $0 is itself an address
        o.offset = first->offset;
        if (first->n_sub > 1)
            return gr_lex_fail(&p->lex, "the operand inside the brackets is no plain address");
        if (first->n_sub == 1) {
            PtxOperand inner = first->sub[0];
            *first = inner;
        }
    }
    o.offset += first->kind == PTX_O_VAR ? first->offset : 0;
    if (first->kind == PTX_O_VAR)
        first->offset = 0;
    lex_skip(&p->lex);
    bool zero = *p->lex.p == '+' || *p->lex.p == '-' || (first->kind == PTX_O_VAR && first->plus_zero);
    first->plus_zero = false;
    GR_MUST(parse_offset(p, &o.offset));
    o.plus_zero = zero && !o.offset;
    while (lex_accept(&p->lex, ','))
        GR_MUST(gr_parse_operand(p, false, depth + 1));
    if ((st = gr_lex_expect(&p->lex, ']')) != GR_OK ||
        (st = gr_parse_take_operands(p, base, &o.sub, &o.n_sub)) != GR_OK)
        return st;
    // ld and ldu end an address with .unified where host and device have one address space (9.7.9.8)
    static const char unified[] = ".unified";
    if (!strncmp(p->lex.p, unified, sizeof unified - 1)) {
        o.text = unified;
        p->lex.p += sizeof unified - 1;
    }
    return push(p, o);
}

// Copies the operand with its sub operands, so that no two statements share any.
static bool copy_operand(Arena *a, PtxOperand *o) {
    if (!o->n_sub)
        return true;
    PtxOperand *sub = GR_NEW_ARRAY(a, PtxOperand, o->n_sub);
    if (!sub)
        return false;
    memcpy(sub, o->sub, o->n_sub * sizeof *sub);
    o->sub = sub;
    for (unsigned k = 0; k < o->n_sub; k++)
        if (!copy_operand(a, &sub[k]))
            return false;
    return true;
}

static gr_status parse_argument(Parser *p, Slice name) {
    unsigned k = (unsigned)(name.s[1] - '0');
    if (k >= p->n_args)
        return gr_lex_fail(&p->lex, "$%u is not given: there are %u operands", k, p->n_args);
    PtxOperand o = p->args[k];
    GR_NEED(copy_operand(p->arena, &o), p->lex.err);
    return push(p, o);
}

// ".x" behind a vector register, or a selector of the video instructions (.b0, .h1, .b3210) behind any.
static gr_status parse_component(Parser *p, PtxOperand *o) {
    const char *b = p->lex.p + 1, *e = b;
    while (lex_is(*e, CH_WORD))
        e++;
    if (e == b)
        return gr_lex_expected(&p->lex, "a component");
    if (e - b == 1 && strchr("xyzwrgba", *b))
        o->elem = *b;
    else if (!(o->text = gr_parse_intern(p, p->lex.p, (size_t)(e - p->lex.p))))
        return gr_no_memory(p->lex.err);
    p->lex.p = e;
    return GR_OK;
}

static gr_status parse_sreg(Parser *p, Slice name) {
    if (*p->lex.p == '.') {
        const char *e = p->lex.p + 1;
        while (lex_is(*e, CH_WORD))
            e++;
        name.len = (size_t)(e - name.s);
        p->lex.p = e;
    }
    PtxOperand o = {.kind = PTX_O_SREG, .text = gr_parse_intern(p, name.s, name.len)};
    return o.text ? push(p, o) : gr_no_memory(p->lex.err);
}

static gr_status parse_var(Parser *p, PtxVar *v) {
    PtxOperand o = {.kind = PTX_O_VAR, .var = v};
    gr_status st = GR_OK;
    bool indexed = lex_accept(&p->lex, '[');
    if (indexed) { // a[3]: the address of an element (6.4.2)
        int64_t index;
        if ((st = gr_expr_int(&p->lex, &index, "an array index")) != GR_OK ||
            (st = gr_lex_expect(&p->lex, ']')) != GR_OK)
            return st;
        uint64_t width = (uint64_t)gr_ptx_type_bits(v->type) / 8 * v->vec;
        o.offset = (int64_t)((uint64_t)index * width);
    }
    lex_skip(&p->lex);
    o.plus_zero = *p->lex.p == '+' || *p->lex.p == '-';
    GR_MUST(parse_offset(p, &o.offset));
    o.plus_zero = o.plus_zero && !o.offset;
    return push(p, o);
}

// A name that is not declared: a register that should have been, a special register to come, or a label.
static gr_status parse_unknown(Parser *p, Slice name, bool label_expected) {
    if (*name.s == '%') {
        if (lex_is(name.s[name.len - 1], CH_DIGIT)) {
            p->lex.p = name.s;
            return gr_lex_fail(&p->lex, "register '%.*s' is not declared", (int)name.len, name.s);
        }
        return parse_sreg(p, name);
    }
    if (name.len == 7 && !memcmp(name.s, "WARP_SZ", 7)) {
        p->lex.p = name.s;
        return parse_constant(p);
    }
    LabelSym *l = gr_parse_label_ref(p, name, !label_expected);
    GR_NEED(l, p->lex.err);
    return push(p, (PtxOperand){.kind = PTX_O_LABEL, .label = &l->label});
}

static gr_status parse_name(Parser *p, bool label_expected) {
    Slice name = lex_word(&p->lex);
    if (name.len == 1 && *name.s == '_')
        return push(p, (PtxOperand){.kind = PTX_O_SINK});
    if (name.len == 1 && (*name.s == '%' || *name.s == '$')) {
        p->lex.p = name.s;
        return gr_lex_expected(&p->lex, "a name");
    }
    if (p->inserting && name.len == 2 && *name.s == '$' && lex_is(name.s[1], CH_DIGIT))
        return parse_argument(p, name);
    uint32_t number = 0;
    PtxReg *reg = p->inserting ? gr_build_made_reg(p->f, name.s, name.len) : NULL;
    Sym *s = reg ? NULL : find_symbol(p, name, &number);
    if (s && (s->kind == SYM_REG || s->kind == SYM_RANGE)) {
        GR_NEED((reg = symbol_reg(p, s, name, number)), p->lex.err);
    } else if (!s && !reg && *name.s == '%' && gr_ptx_is_sreg(name.s, name.len)) {
        return parse_sreg(p, name);
    }
    if (label_expected && !reg && *name.s != '%')
        return parse_unknown(p, name, true);
    PtxVar *var = s && s->kind == SYM_VAR ? s->obj : NULL;
    PtxFunc *func = s && s->kind == SYM_FUNC ? s->obj : NULL;
    if (!s && !reg && (p->inserting || p->linking)) {
        const char *key = gr_parse_intern(p, name.s, name.len);
        GR_NEED(key, p->lex.err);
        if (p->inserting && !(reg = gr_build_find_reg(p->f, p->at, key)))
            var = gr_build_find_var(p->f, p->at, key);
        if (!reg && !var && !(var = gr_ptx_find_var(p->m, key)))
            func = gr_ptx_find_func(p->m, key);
    }
    if (reg) {
        PtxOperand o = {.kind = PTX_O_REG, .reg = reg};
        if (*p->lex.p == '.') {
            GR_MUST(parse_component(p, &o));
        }
        return push(p, o);
    }
    if (var)
        return parse_var(p, var);
    if (func)
        return push(p, (PtxOperand){.kind = PTX_O_FUNC, .text = func->name});
    return parse_unknown(p, name, label_expected);
}

static gr_status parse_primary(Parser *p, bool label_expected, unsigned depth) {
    Lexer *l = &p->lex;
    lex_skip(l);
    char c = *l->p;
    if (lex_is(c, CH_START))
        return parse_name(p, label_expected);
    switch (c) {
    case '[': l->p++; return parse_address(p, depth);
    case '{': l->p++; return parse_list(p, '}', PTX_O_VECTOR, depth);
    case '!':
    case '-': {
        const char *next = l->p + 1;
        while (lex_is(*next, CH_SPACE) && *next != '\n')
            next++;
        if (!lex_is(*next, CH_START) || !strncmp(next, "WARP_SZ", 7))
            return parse_constant(p);
        l->p = next;
        gr_status st = parse_name(p, false);
        if (st == GR_OK)
            p->ops.data[p->ops.len - 1].negated = true;
        return st;
    }
    default: break;
    }
    if (lex_is(c, CH_DIGIT) || (c && strchr("+~(.", c)))
        return parse_constant(p);
    return gr_lex_expected(l, "an operand");
}

gr_status gr_parse_operand(Parser *p, bool label_expected, unsigned depth) {
    if (depth > MAX_NESTING)
        return gr_lex_fail(&p->lex, "operands are nested more than %d deep", MAX_NESTING);
    size_t base = p->ops.len;
    GR_MUST(parse_primary(p, label_expected, depth));
    lex_skip(&p->lex);
    if (*p->lex.p != '|')
        return GR_OK;
    p->lex.p++; // a|b: two destinations
    GR_MUST(parse_primary(p, false, depth));
    PtxOperand o = {.kind = PTX_O_PAIR};
    GR_MUST(gr_parse_take_operands(p, base, &o.sub, &o.n_sub));
    return push(p, o);
}

gr_status gr_parse_guard(Parser *p, PtxReg **reg, bool *negated) {
    *negated = lex_accept(&p->lex, '!');
    lex_skip(&p->lex);
    Slice name = lex_word(&p->lex);
    if (p->inserting && name.len == 2 && *name.s == '$' && lex_is(name.s[1], CH_DIGIT)) {
        size_t base = p->ops.len;
        GR_MUST(parse_argument(p, name));
        PtxOperand o = p->ops.data[base];
        p->ops.len = base;
        *reg = o.reg;
        *negated = *negated != o.negated;
    } else {
        *reg = name.len ? gr_parse_find_reg(p, name) : NULL;
    }
    if (*reg)
        return GR_OK;
    p->lex.p = name.s;
    if (name.len)
        return gr_lex_fail(&p->lex, "predicate '%.*s' is not declared", (int)(name.len < 60 ? name.len : 60),
                           name.s);
    return gr_lex_expected(&p->lex, "a predicate");
}
