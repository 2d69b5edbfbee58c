// SPDX-License-Identifier: Apache-2.0
// build — how passes change the IR: new registers and labels, statements from PTX text, linking a runtime.
#include "ptx/parser.h"
#include "ptx/tables.h"

#include <stdlib.h>
#include <string.h>

// "%gr7" or "$GR_7"; NULL when memory is out.
static const char *fresh_name(PtxFunc *f, const char *prefix) {
    char buf[16], *p = buf + sizeof buf;
    size_t n = strlen(prefix);
    uint32_t v = f->fresh++;
    *--p = 0;
    do
        *--p = (char)('0' + v % 10);
    while (v /= 10);
    memcpy(p -= n, prefix, n);
    return gr_arena_strndup(&f->module->arena, p, (size_t)(buf + sizeof buf - 1 - p));
}

static bool note_made(PtxFunc *f, uint32_t number, PtxReg *r) {
    if (number >= f->cap_made) {
        uint32_t cap = number < 32 ? 64 : number * 2;
        PtxReg **made = GR_NEW_ARRAY(&f->module->arena, PtxReg *, cap);
        if (!made)
            return false;
        if (f->cap_made)
            memcpy(made, f->made, f->cap_made * sizeof *made);
        f->made = made;
        f->cap_made = cap;
    }
    f->made[number] = r;
    return true;
}

PtxReg *gr_ptx_new_reg(PtxFunc *f, PtxType type) {
    PtxModule *m = f->module;
    uint32_t number = f->fresh;
    const char *name = fresh_name(f, "%gr");
    PtxReg *r = name ? gr_parse_make_reg(f, name, type, 1) : NULL;
    if (r && !note_made(f, number, r))
        r = NULL;
    if (!r) {
        m->nomem = true;
        m->spare_reg = (PtxReg){.name = "%gr", .type = type, .vec = 1};
        return &m->spare_reg;
    }
    return r;
}

PtxLabel *gr_ptx_new_label(PtxFunc *f) {
    PtxModule *m = f->module;
    LabelSym *l = GR_NEW(&m->arena, LabelSym);
    if (!l || !(l->label.name = fresh_name(f, "$GR_"))) {
        m->nomem = true;
        m->spare_label = (PtxLabel){.name = "$GR"};
        return &m->spare_label;
    }
    l->label.index = f->n_labels++;
    l->defined = true;
    return &l->label;
}

PtxOperand gr_ptx_reg_operand(PtxReg *r) { return (PtxOperand){.kind = PTX_O_REG, .reg = r}; }

PtxOperand gr_ptx_label_operand(PtxLabel *l) {
    l->uses++;
    return (PtxOperand){.kind = PTX_O_LABEL, .label = l};
}

PtxOperand gr_ptx_int_operand(int64_t v) {
    return (PtxOperand){.kind = PTX_O_INT, .bits = (uint64_t)v, .is_signed = true};
}

// ---- Inserting -------------------------------------------------------------------------------------------

static void splice(PtxFunc *f, PtxStmt *at, PtxStmt *first, PtxStmt *last) {
    PtxStmt *before = at ? at->prev : f->last;
    first->prev = before;
    last->next = at;
    *(before ? &before->next : &f->first) = first;
    *(at ? &at->prev : &f->last) = last;
}

// Takes one statement of `text` from *p on, without what is around it, with its operands. False: there is no more.
static bool add_statement(const char **p, const PtxOperand *ops, StrBuf *out) {
    const char *s = *p;
    while (lex_is(*s, CH_SPACE))
        s++;
    bool brace = *s == '{' || *s == '}', more = *s != 0;
    while (*s) {
        size_t n = brace ? 1 : strcspn(s, ";$");
        bool ends = brace || s[n] == ';', argument = !brace && s[n] == '$' && lex_is(s[n + 1], CH_DIGIT);
        n += !brace && s[n] && !argument;
        gr_str_addn(out, s, n);
        s += n;
        if (ends)
            break;
        if (argument) {
            gr_ptx_print_operand(&ops[s[1] - '0'], out);
            s += 2;
        }
    }
    *p = s;
    return more;
}

// Prints what gr_ptx_insert would make of the text in one step: statements of a pass's own, a line each. Tests compare
// the two.
static gr_status insert_text(PtxFunc *f, PtxStmt *at, uint32_t site, const char *text, const PtxOperand *ops,
                             gr_error *err) {
    StrBuf *out = &f->module->line;
    PtxStmt *s = GR_NEW(&f->module->arena, PtxStmt);
    char tag[32];
    size_t n = (size_t)gr_format(tag, sizeof tag, site ? "\n\t/*@gr:%u*/ " : "\n\t/*@gr*/ ", site);
    size_t end = out->len = 0; // of the last statement
    for (const char *p = text; add_statement(&p, ops, out); gr_str_addn(out, tag, n))
        end = out->len;
    if (s && !out->oom) {
        *s = (PtxStmt){.kind = PTX_RAW, .tag = {.inserted = true, .site = site}};
        s->text = gr_arena_strndup(&f->module->arena, end ? out->data : "", end);
    }
    GR_NEED(s && s->text, err);
    if (end)
        splice(f, at, s, s);
    return GR_OK;
}

// False for text that defines labels, which needs names, and for text that refers to missing operands, which is
// refused.
static bool is_simple(const char *text, unsigned n_ops) {
    for (const char *p = text; (p = strpbrk(p, ":$")) != NULL; p += 2)
        if (*p == '$' ? !lex_is(p[1], CH_DIGIT) || (unsigned)(p[1] - '0') >= n_ops : p[1] != ':')
            return false;
    return true;
}

gr_status gr_ptx_insert(PtxFunc *f, PtxStmt *at, uint32_t site, const char *text, const PtxOperand *ops,
                        unsigned n_ops, PtxStmt **first, gr_error *err) {
    Parser p;
    GR_NEED(!f->module->nomem, err);
    if (f->module->as_text && !first && is_simple(text, n_ops))
        return insert_text(f, at, site, text, ops, err);
    gr_status st = gr_parser_init(&p, f->module, text, strlen(text), "inserted text", err);
    p.inserting = true;
    p.f = f;
    p.at = at;
    p.args = ops;
    p.n_args = n_ops;
    p.site = site;
    p.loc = at ? at->loc : f->last ? f->last->loc : NULL;
    GR_TRY(gr_parse_scope_open(&p));
    GR_TRY(gr_parse_body(&p));
    if (first)
        *first = p.first;
    if (!p.first)
        goto done;
    splice(f, at, p.first, p.last);
    for (PtxStmt *s = p.first; s != at; s = s->next)
        if (f->declared_known && !gr_build_note_declared(f, s))
            st = gr_no_memory(p.lex.err);
    for (size_t k = 0; k < p.calls.len; k++)
        p.calls.data[k]->callee =
            gr_ptx_find_func(f->module, gr_ptx_call_parts(p.calls.data[k]).callee->text);
done:
    gr_parser_free(&p);
    return st;
}

void gr_ptx_insert_label(PtxFunc *f, PtxStmt *at, PtxLabel *label) {
    PtxStmt *s = GR_NEW(&f->module->arena, PtxStmt);
    if (!s)
        f->module->nomem = true;
    if (f->module->nomem)
        return;
    s->kind = PTX_LABEL_DEF;
    s->tag.inserted = true;
    s->label = label;
    s->loc = at ? at->loc : NULL;
    label->stmt = s;
    splice(f, at, s, s);
}

// ---- Linking ---------------------------------------------------------------------------------------------

void gr_ptx_raise(PtxModule *m, uint32_t version_major, uint32_t version_minor, uint32_t sm) {
    if (m->version_major < version_major ||
        (m->version_major == version_major && m->version_minor < version_minor)) {
        m->version_major = version_major;
        m->version_minor = version_minor;
    }
    if (m->sm >= sm)
        return;
    for (uint32_t k = 0; k < m->n_targets; k++) {
        if (strncmp(m->targets[k], "sm_", 3) != 0)
            continue;
        char suffix[2] = {m->sm_suffix, 0};
        const char *text = gr_arena_printf(&m->arena, "sm_%u%s", sm, suffix);
        if (text) {
            m->targets[k] = text;
            m->sm = sm;
        }
    }
}

// Whether `dst` needs this item of the runtime.
static bool lacks(const PtxModule *dst, const PtxItem *i) {
    if (i->kind == PTX_ITEM_VAR) {
        const PtxVar *v = gr_ptx_find_var(dst, i->var->name);
        return !v || (v->is_extern && !i->var->is_extern);
    }
    if (i->kind != PTX_ITEM_FUNC)
        return false; // .file and .section would renumber the program's own
    const PtxFunc *f = gr_ptx_find_func(dst, i->func->name);
    return !f || (!f->has_body && i->func->has_body);
}

static bool is_position(const PtxStmt *s) { return s->kind == PTX_LOC; }

// Prints the runtime, to be read again into dst: text is the only form in which dst shares nothing with src.
static gr_status print_missing(const PtxModule *dst, const PtxModule *src, StrBuf *out, gr_error *err) {
    PtxModule part = *src; // the header is cut off again below
    PtxItem *items = NULL, **tail = &items;
    gr_status st = GR_OK;
    for (const PtxItem *i = src->items; i; i = i->next) {
        if (!lacks(dst, i))
            continue;
        PtxItem *copy = malloc(sizeof *copy);
        GR_TRY(copy ? GR_OK : gr_no_memory(err));
        *copy = *i;
        copy->next = NULL;
        *tail = copy;
        tail = &copy->next;
    }
    part.items = items;
    part.version_major = part.version_minor = 0;
    st = gr_ptx_print(&part, PTX_PRINT_NO_TAGS, out, err);
done:
    while (items) {
        PtxItem *next = items->next;
        free(items);
        items = next;
    }
    return st;
}

gr_status gr_ptx_link_runtime(PtxModule *dst, const PtxModule *src, gr_error *err) {
    StrBuf text = {0};
    Parser p = {0};
    gr_status st = GR_OK;
    uint32_t old_funcs = dst->n_funcs;
    GR_TRY(print_missing(dst, src, &text, err));
    const char *body = strstr(text.data, "\n\n"); // behind .version, .target and .address_size
    if (!body || !body[2])
        goto raise;
    st = gr_parser_init(&p, dst, body, strlen(body), "device runtime", err);
    p.linking = true;
    GR_TRY(st);
    GR_TRY(gr_parse_module(&p));
    for (PtxItem *i = p.items; i; i = i->next)
        i->tag.inserted = true;
    for (uint32_t k = old_funcs; k < dst->n_funcs; k++) {
        PtxFunc *f = dst->funcs[k];
        f->tag.inserted = true;
        // Line numbers of another file's text, without its .file, would mislead.
        for (PtxStmt *s = f->first, *next; s; s = next) {
            next = s->next;
            s->loc = NULL;
            if (!is_position(s))
                continue;
            *(s->prev ? &s->prev->next : &f->first) = s->next;
            *(s->next ? &s->next->prev : &f->last) = s->prev;
        }
    }
    if (p.items) {
        PtxItem **at = &dst->items;
        // Behind the runtimes that are there already, which this one may call.
        while (*at && ((*at)->kind != PTX_ITEM_FUNC || !(*at)->func->has_body || (*at)->func->tag.inserted))
            at = &(*at)->next;
        p.last_item->next = *at;
        if (!*at)
            dst->last_item = p.last_item;
        *at = p.items;
    }
    gr_ptx_resolve_calls(dst);
raise:
    gr_ptx_raise(dst, src->version_major, src->version_minor, src->sm);
done:
    gr_parser_free(&p);
    gr_str_free(&text);
    return st;
}
