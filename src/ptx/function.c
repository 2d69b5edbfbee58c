// SPDX-License-Identifier: Apache-2.0
// function — headers of .entry and .func (PTX ISA 11.2, 11.4).
#include "ptx/parser.h"
#include "ptx/shelf.h"

#include <string.h>

static gr_status parse_triple(Parser *p, uint32_t out[3]) {
    gr_status st = GR_OK;
    out[0] = out[1] = out[2] = 1; // dimensions left out are 1
    unsigned k = 0;
    do {
        if (k == 3)
            return gr_lex_fail(&p->lex, "more than three dimensions");
        st = gr_lex_u32(&p->lex, &out[k++], "a dimension");
    } while (st == GR_OK && lex_accept(&p->lex, ','));
    return st;
}

// Performance and ABI directives between the parameters and the body: kept verbatim, those understood noted.
static gr_status parse_directives(Parser *p, PtxFunc *f) {
    Lexer *l = &p->lex;
    gr_status st;
    lex_skip(l);
    const char *b = l->p;
    for (; *l->p != '{' && *l->p != ';'; lex_skip(l)) {
        if (*l->p != '.') {
            if (lex_is(*l->p, CH_DIGIT) || *l->p == ',') { // arguments of a directive not known here
                l->p++;
                continue;
            }
            return gr_lex_expected(l, "a directive, '{' or ';'");
        }
        l->p++;
        Slice word = lex_word(l);
        if (!word.len)
            return gr_lex_expected(l, "a directive");
        uint32_t *triple = slice_is(word, "maxntid")             ? f->maxntid
                           : slice_is(word, "reqntid")           ? f->reqntid
                           : slice_is(word, "reqnctapercluster") ? f->reqcluster
                                                                 : NULL;
        if (triple && (st = parse_triple(p, triple)) != GR_OK)
            return st;
        if (slice_is(word, "noreturn"))
            f->noreturn = true;
        if (slice_is(word, "explicitcluster"))
            f->explicit_cluster = true;
        if (slice_is(word, "maxclusterrank") &&
            (st = gr_lex_u32(l, &f->max_cluster_rank, "a number of blocks")) != GR_OK)
            return st;
        if (slice_is(word, "pragma")) {
            Slice s;
            GR_MUST(gr_lex_string(l, &s));
            while (lex_accept(l, ','))
                GR_MUST(gr_lex_string(l, &s));
            GR_MUST(gr_lex_expect(l, ';'));
        }
    }
    const char *e = l->p;
    while (e > b && lex_is(e[-1], CH_SPACE))
        e--;
    if (e > b && !(f->directives = gr_arena_strndup(p->arena, b, (size_t)(e - b))))
        return gr_no_memory(p->lex.err);
    return GR_OK;
}

static gr_status bind_params(Parser *p, PtxFunc *f, PtxVar **list, uint32_t n) {
    for (uint32_t k = 0; k < n; k++) {
        PtxVar *v = list[k];
        v->func = f;
        void *obj = v;
        SymKind kind = SYM_VAR;
        if (v->space == PTX_REG) {
            f->reg_params = true;
            GR_NEED((v->reg = gr_parse_make_reg(f, v->name, v->type, v->vec)), p->lex.err);
            v->reg->is_param = true;
            obj = v->reg;
            kind = SYM_REG;
        }
        GR_MUST(gr_parse_bind(p, (Slice){v->name, strlen(v->name)}, kind, obj));
    }
    return GR_OK;
}

static gr_status add_function(Parser *p, PtxFunc *f) {
    PtxModule *m = p->m;
    if (m->n_funcs == m->cap_funcs) {
        uint32_t cap = m->cap_funcs ? m->cap_funcs * 2 : 16;
        PtxFunc **funcs = GR_NEW_ARRAY(p->arena, PtxFunc *, cap);
        GR_NEED(funcs, p->lex.err);
        if (m->n_funcs)
            memcpy(funcs, m->funcs, m->n_funcs * sizeof *funcs);
        m->funcs = funcs;
        m->cap_funcs = cap;
    }
    f->index = m->n_funcs;
    m->funcs[m->n_funcs++] = f;
    return GR_OK;
}

// Makes the name known: a definition beats a declaration.
static gr_status bind_function(Parser *p, PtxFunc *f) {
    PtxFunc *known = gr_map_get(&p->m->func_map, f->name);
    if (known && known->has_body && f->has_body)
        return gr_lex_fail(&p->lex, "function '%s' is defined twice", f->name);
    if ((!known || f->has_body) && !gr_map_put(&p->m->func_map, f->name, f))
        return gr_no_memory(p->lex.err);
    GR_NEED(gr_sym_bind(&p->syms, f->name, strlen(f->name), SYM_FUNC, f), p->lex.err);
    return GR_OK;
}

static gr_status parse_header(Parser *p, PtxFunc *f) {
    Lexer *l = &p->lex;
    gr_status st;
    lex_skip(l);
    const char *attrs = l->p;
    while (!strncmp(l->p, ".attribute", 10)) {
        const char *e = strchr(l->p, '(');
        int depth = 0;
        for (; e && *e; e++) {
            depth += (*e == '(') - (*e == ')');
            if (!depth)
                break;
        }
        if (!e || !*e)
            return gr_lex_fail(l, ".attribute is not closed");
        gr_lex_advance(l, e + 1);
        GR_NEED((f->attrs = gr_arena_strndup(p->arena, attrs, (size_t)(l->p - attrs))), p->lex.err);
        lex_skip(l);
    }
    if (*l->p == '(' && !f->is_entry && (st = gr_parse_params(p, &f->rets, &f->n_rets)) != GR_OK)
        return st;
    lex_skip(l);
    Slice name = lex_word(l);
    if (!name.len)
        return gr_lex_expected(l, "a function's name");
    GR_NEED((f->name = gr_parse_intern(p, name.s, name.len)), p->lex.err);
    lex_skip(l);
    if (*l->p == '(' && (st = gr_parse_params(p, &f->params, &f->n_params)) != GR_OK)
        return st;
    return parse_directives(p, f);
}

void gr_parse_forget_local(Parser *p) {
    for (RegRange *r = p->ranges; r; r = r->next)
        gr_map_free(&r->sparse);
    p->ranges = NULL;
    gr_arena_rewind(&p->local);
}

// Puts the body away. Callees are looked up when it is taken out; the statements of its sites are known then.
static gr_status shelve(Parser *p, PtxFunc *f) {
    size_t from = p->sites.len;
    if (!gr_sites_of(f, &p->sites))
        return gr_no_memory(p->lex.err);
    if (p->m->bodies == &p->m->arena)
        return GR_OK;
    gr_status st = gr_ptx_shelve(f, p->body.total - p->body.cap + p->body.used, &p->bytes, p->lex.err);
    for (size_t k = from; k < p->sites.len; k++)
        p->sites.data[k].stmt = NULL;
    p->calls.len = p->calls_kept;
    gr_arena_rewind(&p->body);
    return st;
}

static gr_status parse_definition(Parser *p, PtxFunc *f) {
    gr_status st = GR_OK;
    p->f = f;
    p->loc = NULL;
    p->lex.assembly = false;
    p->first = p->last = NULL;
    p->ops.len = 0;
    p->calls_kept = p->calls.len;
    GR_TRY(gr_parse_scope_open(p));
    GR_TRY(bind_params(p, f, f->rets, f->n_rets));
    GR_TRY(bind_params(p, f, f->params, f->n_params));
    if (p->shelving && !f->reg_params)
        p->m->bodies = &p->body;
    GR_TRY(gr_parse_body(p));
    f->first = p->first;
    f->last = p->last;
    if (p->shelving)
        st = shelve(p, f);
    if (st == GR_OK)
        gr_parse_forget_local(p);
done:
    p->m->bodies = &p->m->arena;
    p->f = NULL;
    return st;
}

gr_status gr_parse_function(Parser *p, const Linkage *linkage, bool is_entry, PtxTag tag, uint32_t line) {
    PtxFunc *f = GR_NEW(p->arena, PtxFunc);
    PtxItem *item = GR_NEW(p->arena, PtxItem);
    GR_NEED(f && item, p->lex.err);
    f->module = p->m;
    f->line = line;
    f->is_entry = is_entry;
    f->is_visible = linkage->is_visible;
    f->is_extern = linkage->is_extern;
    f->is_weak = linkage->is_weak;
    f->tag = tag;
    gr_status st = parse_header(p, f);
    if (st != GR_OK)
        return st;
    f->has_body = *p->lex.p == '{';
    *item = (PtxItem){.kind = PTX_ITEM_FUNC, .line = line, .tag = tag, .func = f};
    *(p->last_item ? &p->last_item->next : &p->items) = item;
    p->last_item = item;
    // Bound before its body is read, for it may call itself.
    if ((st = add_function(p, f)) != GR_OK || (st = bind_function(p, f)) != GR_OK)
        return st;
    p->lex.p++;
    return f->has_body ? parse_definition(p, f) : GR_OK;
}
