// SPDX-License-Identifier: Apache-2.0
// parse — gr_ptx_parse and the module level (PTX ISA 11.1, 11.5, 11.6).
#include "ptx/parser.h"
#include "ptx/shelf.h"
#include "ptx/tables.h"

#include <stdlib.h>
#include <string.h>

gr_status gr_parser_init(Parser *p, PtxModule *m, const char *text, size_t len, const char *name,
                         gr_error *err) {
    *p = (Parser){.m = m, .arena = &m->arena};
    gr_arena_init(&p->scratch);
    p->lex = (Lexer){.p = text,
                     .end = text + len,
                     .line_start = text,
                     .line = 1,
                     .ours = m->ours,
                     .name = name,
                     .err = err};
    gr_sym_init(&p->syms, &p->scratch, &p->local);
    gr_sym_init(&p->labels, &p->scratch, &p->local);
    return GR_OK;
}

void gr_parser_free(Parser *p) {
    gr_parse_forget_local(p);
    gr_arena_free(&p->local);
    gr_sym_free(&p->syms);
    gr_sym_free(&p->labels);
    gr_locs_free(p->locs);
    gr_vec_free(&p->ops);
    gr_vec_free(&p->calls);
    gr_vec_free(&p->sites);
    gr_str_free(&p->bytes);
    gr_arena_free(&p->body);
    gr_arena_free(&p->scratch);
}

// ---- Items -----------------------------------------------------------------------------------------------

static PtxItem *add_item(Parser *p, PtxItemKind kind, PtxTag tag, uint32_t line) {
    PtxItem *i = GR_NEW(p->arena, PtxItem);
    if (!i)
        return NULL;
    *i = (PtxItem){.kind = kind, .tag = tag, .line = line};
    *(p->last_item ? &p->last_item->next : &p->items) = i;
    p->last_item = i;
    return i;
}

static gr_status add_text(Parser *p, PtxItemKind kind, PtxTag tag, uint32_t line, const char *b,
                          const char *e) {
    gr_lex_advance(&p->lex, e);
    while (e > b && lex_is(e[-1], CH_SPACE))
        e--;
    PtxItem *i = add_item(p, kind, tag, line);
    GR_NEED(i && (i->text = gr_arena_strndup(p->arena, b, (size_t)(e - b))), p->lex.err);
    return GR_OK;
}

static gr_status add_module_var(Parser *p, PtxVar *v, PtxTag tag) {
    PtxModule *m = p->m;
    if (m->n_vars == m->cap_vars) {
        uint32_t cap = m->cap_vars ? m->cap_vars * 2 : 16;
        PtxVar **vars = GR_NEW_ARRAY(p->arena, PtxVar *, cap);
        GR_NEED(vars, p->lex.err);
        if (m->n_vars)
            memcpy(vars, m->vars, m->n_vars * sizeof *vars);
        m->vars = vars;
        m->cap_vars = cap;
    }
    m->vars[m->n_vars++] = v;
    PtxItem *i = add_item(p, PTX_ITEM_VAR, tag, v->line);
    GR_NEED(i, p->lex.err);
    i->var = v;
    const PtxVar *known = gr_map_get(&m->var_map, v->name);
    if ((!known || known->is_extern) && !gr_map_put(&m->var_map, v->name, v))
        return gr_no_memory(p->lex.err);
    return gr_sym_bind(&p->syms, v->name, strlen(v->name), SYM_VAR, v) ? GR_OK : gr_no_memory(p->lex.err);
}

// ---- Directives ------------------------------------------------------------------------------------------

// "9.0" digit by digit: to the number lexer it is a floating-point literal.
static gr_status parse_version_number(Parser *p) {
    Lexer *l = &p->lex;
    uint32_t part[2] = {0, 0};
    lex_skip(l);
    for (int k = 0; k < 2; k++) {
        if (!lex_is(*l->p, CH_DIGIT))
            return gr_lex_expected(l, "a version such as 9.0");
        for (; lex_is(*l->p, CH_DIGIT); l->p++)
            part[k] = part[k] * 10 + (uint32_t)(*l->p - '0');
        if (k == 0 && *l->p++ != '.') {
            l->p--;
            return gr_lex_expected(l, "'.' and a minor version");
        }
        if (part[k] > 1000)
            return gr_lex_fail(l, "there is no PTX version %u", part[k]);
    }
    p->m->version_major = part[0];
    p->m->version_minor = part[1];
    return GR_OK;
}

static void read_sm(PtxModule *m, const char *target) {
    if (strncmp(target, "sm_", 3) != 0)
        return;
    char *end;
    m->sm = (uint32_t)strtoul(target + 3, &end, 10);
    m->sm_suffix = *end;
}

static gr_status parse_target(Parser *p) {
    Lexer *l = &p->lex;
    PtxModule *m = p->m;
    VEC(const char *) list = {0};
    gr_status st = GR_OK;
    do {
        lex_skip(l);
        Slice word = lex_word(l);
        if (!word.len)
            GR_TRY(gr_lex_expected(l, "a target such as sm_90"));
        const char *text = gr_parse_intern(p, word.s, word.len);
        GR_TRY(text && gr_vec_push(&list, text) ? GR_OK : gr_no_memory(p->lex.err));
        read_sm(m, text);
        m->debug |= slice_is(word, "debug");
    } while (gr_lex_accept_near(l, ','));
    GR_TRY((m->targets = GR_NEW_ARRAY(p->arena, const char *, list.len)) ? GR_OK : gr_no_memory(p->lex.err));
    memcpy(m->targets, list.data, list.len * sizeof *m->targets);
    m->n_targets = (uint32_t)list.len;
done:
    gr_vec_free(&list);
    return st;
}

// .file 1 "path"[, time, size]
static gr_status parse_file(Parser *p, const char *b, PtxTag tag, uint32_t line) {
    Lexer *l = &p->lex;
    PtxModule *m = p->m;
    uint32_t index, ignored;
    const char *path;
    gr_status st;
    if ((st = gr_lex_u32(l, &index, "a file number")) != GR_OK ||
        (st = gr_lex_file_name(l, p->arena, &path)) != GR_OK)
        return st;
    const char *e = l->p;
    while (gr_lex_accept_near(l, ',')) {
        GR_MUST(gr_lex_u32(l, &ignored, "a number"));
        e = l->p;
    }
    if (!(m->n_files & (m->n_files - 1))) { // grows at powers of two
        PtxFile *files = GR_NEW_ARRAY(p->arena, PtxFile, m->n_files ? m->n_files * 2 : 1);
        GR_NEED(files, p->lex.err);
        if (m->n_files)
            memcpy(files, m->files, m->n_files * sizeof *files);
        m->files = files;
    }
    PtxFile *f = &m->files[m->n_files++];
    f->index = index;
    PtxItem *i = add_item(p, PTX_ITEM_FILE, tag, line);
    GR_NEED(i && (f->path = path) && (i->text = gr_arena_strndup(p->arena, b, (size_t)(e - b))), p->lex.err);
    return GR_OK;
}

// .alias name, other; (11.6.7)
static gr_status parse_alias(Parser *p, const char *b, PtxTag tag, uint32_t line) {
    Lexer *l = &p->lex;
    lex_skip(l);
    Slice name = lex_word(l);
    GR_MUST(gr_lex_expect(l, ','));
    lex_skip(l);
    Slice other = lex_word(l);
    if (!name.len || !other.len)
        return gr_lex_expected(l, "a function's name");
    const char *from = gr_parse_intern(p, name.s, name.len), *to = gr_parse_intern(p, other.s, other.len);
    GR_NEED(from && to, p->lex.err);
    PtxFunc *target = gr_map_get(&p->m->func_map, to);
    if (!target)
        return gr_lex_fail(l, "function '%s' is not declared", to);
    GR_NEED(gr_map_put(&p->m->func_map, from, target), p->lex.err);
    GR_MUST(gr_lex_expect(l, ';'));
    return add_text(p, PTX_ITEM_RAW, tag, line, b, l->p);
}

// Keeps the text from `b` to the cursor verbatim; `st` says whether the cursor got there.
static gr_status add_raw(Parser *p, PtxItemKind kind, PtxTag tag, uint32_t line, const char *b,
                         gr_status st) {
    return st == GR_OK ? add_text(p, kind, tag, line, b, p->lex.p) : st;
}

static gr_status parse_item(Parser *p, PtxTag tag) {
    Lexer *l = &p->lex;
    const char *b = l->p;
    uint32_t line = l->line;
    if (!strncmp(b, "@@DWARF", 7)) { // debugging data of PTX before 2.0, a line each
        const char *e = strchr(b, '\n');
        return add_text(p, PTX_ITEM_RAW, tag, line, b, e ? e : l->end);
    }
    if (*b != '.')
        return gr_lex_expected(l, "a directive");
    Linkage linkage = {0};
    for (;;) {
        if (*l->p != '.')
            return gr_lex_expected(l, "a directive");
        const char *dot = l->p++;
        Slice word = lex_word(l);
        bool *flag = slice_is(word, "extern")    ? &linkage.is_extern
                     : slice_is(word, "visible") ? &linkage.is_visible
                     : slice_is(word, "weak")    ? &linkage.is_weak
                     : slice_is(word, "common")  ? &linkage.is_common
                                                 : NULL;
        if (flag) {
            *flag = true;
            lex_skip(l);
            continue;
        }
        if (slice_is(word, "entry") || slice_is(word, "func"))
            return gr_parse_function(p, &linkage, word.s[0] == 'e', tag, line);
        PtxSpace space = gr_ptx_space_find(word.s, word.len);
        if (space == PTX_GENERIC && slice_is(word, "tex"))
            space = PTX_SPACE_OTHER;
        if (space == PTX_REG || space == PTX_LOCAL || space == PTX_PARAM) {
            l->p = dot;
            return gr_lex_fail(l, ".%s stands outside a function", gr_ptx_space_text(space));
        }
        if (space != PTX_GENERIC)
            return gr_parse_variables(p, &linkage, space, tag, line, add_module_var);
        if (slice_is(word, "file"))
            return parse_file(p, b, tag, line);
        if (slice_is(word, "section"))
            return add_raw(p, PTX_ITEM_SECTION, tag, line, b, gr_lex_section(l)); // DWARF data
        if (slice_is(word, "alias"))
            return parse_alias(p, b, tag, line);
        if (slice_is(word, "version") || slice_is(word, "address_size"))
            return gr_lex_fail(l, ".%.*s stands only at the beginning of a module", (int)word.len, word.s);
        if (!word.len || dot != b)
            return gr_lex_expected(l, "a function or a variable");
        return add_raw(p, PTX_ITEM_RAW, tag, line, b,
                       gr_lex_raw(l)); // .pragma, a later .target, what is to come
    }
}

static bool accept_directive(Lexer *l, const char *word) {
    Lexer before = *l;
    lex_skip(l);
    size_t n = strlen(word);
    if (strncmp(l->p, word, n) != 0 || lex_is(l->p[n], CH_WORD)) {
        *l = before; // with the comments, one of which may be a tag
        return false;
    }
    l->p += n;
    return true;
}

static gr_status parse_header(Parser *p) {
    Lexer *l = &p->lex;
    gr_status st;
    if (!accept_directive(l, ".version"))
        return gr_lex_expected(l, ".version");
    GR_MUST(parse_version_number(p));
    if (!accept_directive(l, ".target"))
        return gr_lex_expected(l, ".target");
    if ((st = parse_target(p)) != GR_OK)
        return st;
    if (accept_directive(l, ".address_size")) {
        st = gr_lex_u32(l, &p->m->address_size, "32 or 64");
        if (st == GR_OK && p->m->address_size != 32 && p->m->address_size != 64)
            st = gr_lex_fail(l, "the address size is %u, not 32 or 64", p->m->address_size);
    }
    return st;
}

gr_status gr_parse_module(Parser *p) {
    Lexer *l = &p->lex;
    for (;;) {
        l->tag = (PtxTag){0};
        lex_skip(l);
        PtxTag tag = l->tag;
        if (l->p >= l->end)
            return GR_OK;
        if (*l->p == ';') { // ".func f;" leaves none, but hand-written files have them
            l->p++;
            continue;
        }
        GR_MUST(parse_item(p, tag));
    }
}

void gr_ptx_resolve_calls(PtxModule *m) {
    for (uint32_t k = 0; k < m->n_funcs; k++) {
        for (PtxStmt *s = m->funcs[k]->first; s; s = s->next) {
            if (s->kind != PTX_INSTR || s->instr->op != PTX_OP_CALL)
                continue;
            PtxCallParts c = gr_ptx_call_parts(s->instr);
            if (c.callee && c.callee->kind == PTX_O_FUNC)
                s->instr->callee = gr_ptx_find_func(m, c.callee->text);
        }
    }
}

// The first comment that nothing closes; NULL: none. Verbatim text may have one, and what is inserted behind it would
// close it. Verbatim text may also have what looks like a tag, and would be one where printed text is read as ours: if
// not `ours`, such comments lose their mark.
static const char *open_comment(char *text, bool ours) {
    for (char *p = text; (p = strpbrk(p, "/\"")); p++) {
        if (*p == '"') {
            p += strcspn(p + 1, "\"\n");
            p += p[1] == '"';
        } else if (p[1] == '/') {
            p += strcspn(p, "\n") - 1;
        } else if (p[1] == '*') {
            char *close = strstr(p + 2, "*/");
            if (!close)
                return p;
            if (!ours && p[2] == '@')
                p[2] = ' ';
            p = close + 1;
        }
    }
    return NULL;
}

static gr_status parse_text(const char *text, size_t len, const char *name, bool ours, bool shelving,
                            PtxModule **out, gr_error *err) {
    *out = NULL;
    while (len && !text[len - 1])
        len--;
    static uint64_t serial;
    PtxModule *m = calloc(1, sizeof *m);
    char *copy = malloc(len + 1);
    if (!m || !copy) {
        free(m);
        free(copy);
        return gr_no_memory(err);
    }
    m->ours = ours;
    m->serial = __atomic_add_fetch(&serial, 1, __ATOMIC_RELAXED);
    memcpy(copy, text, len);
    copy[len] = 0;
    gr_arena_init(&m->arena);
    gr_arena_init(&m->texts);
    m->bodies = &m->arena;
    gr_intern_init(&m->strings, &m->texts);
    Parser p = {0};
    gr_status st = gr_parser_init(&p, m, copy, len, name ? name : "", err);
    p.shelving = shelving;
    m->name = gr_arena_strdup(&m->arena, name ? name : "");
    if (!m->name)
        st = gr_no_memory(p.lex.err);
    const char *nul = memchr(copy, 0, len);
    if (st == GR_OK && nul) {
        gr_lex_advance(&p.lex, nul);
        st = gr_lex_fail(&p.lex, "a NUL byte in the text");
    }
    const char *open = st == GR_OK ? open_comment(copy, ours) : NULL;
    if (open) {
        gr_lex_advance(&p.lex, open);
        st = gr_lex_fail(&p.lex, "this comment is not closed");
    }
    if (st == GR_OK)
        st = parse_header(&p);
    if (st == GR_OK)
        st = gr_parse_module(&p);
    m->items = p.items;
    m->last_item = p.last_item;
    if (st == GR_OK)
        st = gr_locs_finish(&p);
    if (st == GR_OK) {
        for (size_t k = 0; k < p.calls.len; k++)
            p.calls.data[k]->callee = gr_ptx_find_func(m, gr_ptx_call_parts(p.calls.data[k]).callee->text);
        st = shelving ? gr_sites_take(m, &p.sites, err) : gr_ptx_number_sites(m, err);
    }
    gr_parser_free(&p);
    free(copy);
    if (st == GR_OK)
        *out = m;
    else
        gr_ptx_free(m);
    return st;
}

gr_status gr_ptx_parse(const char *text, size_t len, const char *name, PtxModule **out, gr_error *err) {
    return parse_text(text, len, name, false, false, out, err);
}

gr_status gr_ptx_parse_ours(const char *text, size_t len, const char *name, PtxModule **out, gr_error *err) {
    return parse_text(text, len, name, true, false, out, err);
}

gr_status gr_ptx_parse_shelved(const char *text, size_t len, const char *name, bool ours, PtxModule **out,
                               gr_error *err) {
    return parse_text(text, len, name, ours, true, out, err);
}

void gr_ptx_free(PtxModule *m) {
    if (!m)
        return;
    for (uint32_t k = 0; k < m->n_funcs; k++) {
        gr_map_free(&m->funcs[k]->reg_names);
        gr_map_free(&m->funcs[k]->declared);
        gr_ptx_shelf_free(m->funcs[k]);
    }
    gr_map_free(&m->func_map);
    gr_map_free(&m->var_map);
    gr_intern_free(&m->strings);
    gr_str_free(&m->line);
    gr_arena_free(&m->texts);
    gr_arena_free(&m->arena);
    free(m);
}

const char *gr_ptx_file(const PtxModule *m, uint32_t index) {
    for (uint32_t k = 0; k < m->n_files; k++)
        if (m->files[k].index == index)
            return m->files[k].path;
    return NULL;
}
