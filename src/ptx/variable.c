// SPDX-License-Identifier: Apache-2.0
// variable — variable declarations, formal parameters and initializers (PTX ISA 5.4).
#include "ptx/parser.h"
#include "ptx/tables.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_PADDING = 1 << 20 };

// The text from b to the cursor without trailing white space, in the module's arena.
static const char *take_text(Parser *p, const char *b) {
    const char *e = p->lex.p;
    while (e > b && lex_is(e[-1], CH_SPACE))
        e--;
    return gr_arena_strndup(p->arena, b, (size_t)(e - b));
}

static gr_status skip_parens(Parser *p) {
    GR_MUST(gr_lex_expect(&p->lex, '('));
    int depth = 1;
    const char *e = p->lex.p;
    for (; *e && depth; e++)
        depth += (*e == '(') - (*e == ')');
    gr_lex_advance(&p->lex, e);
    return depth ? gr_lex_expected(&p->lex, "')'") : GR_OK;
}

// .ptr .global .align 16: says what a kernel parameter points to. The cursor is behind ".ptr".
static gr_status parse_ptr_attrs(Parser *p, PtxVar *v, const char *b) {
    Lexer *l = &p->lex;
    v->is_ptr = true;
    for (lex_skip(l); *l->p == '.'; lex_skip(l)) {
        l->p++;
        Slice word = lex_word(l);
        if (!word.len)
            return gr_lex_expected(l, "an attribute of .ptr");
        uint32_t align;
        gr_status st;
        if (slice_is(word, "align") && (st = gr_lex_u32(l, &align, "an alignment")) != GR_OK)
            return st;
    }
    v->attrs = take_text(p, b);
    return v->attrs ? GR_OK : gr_no_memory(p->lex.err);
}

static gr_status parse_attribute(Parser *p, PtxVar *v, const char *b) {
    GR_MUST(skip_parens(p));
    Slice text = {b, (size_t)(p->lex.p - b)};
    v->is_managed = v->is_managed || memmem(text.s, text.len, ".managed", 8) != NULL;
    const char *copy = v->attrs ? gr_arena_printf(p->arena, "%s %.*s", v->attrs, (int)text.len, text.s)
                                : gr_arena_strndup(p->arena, text.s, text.len);
    v->attrs = copy;
    return copy ? GR_OK : gr_no_memory(p->lex.err);
}

gr_status gr_parse_var_type(Parser *p, PtxVar *v) {
    Lexer *l = &p->lex;
    v->vec = 1;
    for (lex_skip(l); *l->p == '.'; lex_skip(l)) {
        const char *b = l->p++;
        Slice word = {l->p, 0};
        while (lex_is(*l->p, CH_MOD))
            l->p++;
        word.len = (size_t)(l->p - word.s);
        PtxType type = gr_ptx_type_find(word.s, word.len);
        if (type != PTX_NOTYPE && v->type == PTX_NOTYPE) {
            v->type = type;
            v->type_text =
                type == PTX_TYPE_OTHER ? gr_parse_intern(p, word.s, word.len) : gr_ptx_type_text(type);
            GR_NEED(v->type_text, p->lex.err);
        } else if (slice_is(word, "align")) {
            GR_MUST(gr_lex_u32(l, &v->align, "an alignment"));
            if (!v->align || (v->align & (v->align - 1)))
                return gr_lex_fail(l, "the alignment %u is not a power of two", v->align);
        } else if (slice_is(word, "v2") || slice_is(word, "v4") || slice_is(word, "v8")) {
            v->vec = (uint8_t)(word.s[1] - '0');
        } else if (slice_is(word, "attribute")) {
            GR_MUST(parse_attribute(p, v, b));
        } else if (slice_is(word, "ptr")) {
            GR_MUST(parse_ptr_attrs(p, v, b));
        } else if (word.len && v->type == PTX_NOTYPE) { // a type to come
            v->type = PTX_TYPE_OTHER;
            GR_NEED((v->type_text = gr_parse_intern(p, word.s, word.len)), p->lex.err);
        } else {
            l->p = b;
            return gr_lex_expected(l, "a variable's name");
        }
    }
    if (v->type == PTX_NOTYPE)
        return gr_lex_expected(l, "a type");
    return GR_OK;
}

// Name and dimensions.
static gr_status parse_var_name(Parser *p, PtxVar *v) {
    Lexer *l = &p->lex;
    lex_skip(l);
    v->line = l->line;
    Slice name = lex_word(l);
    if (!name.len || (name.len == 1 && (*name.s == '%' || *name.s == '$')))
        return gr_lex_expected(l, "a variable's name");
    GR_NEED((v->name = gr_parse_intern(p, name.s, name.len)), p->lex.err);
    v->count = 1;
    while (lex_accept(l, '[')) {
        if (v->ndims == sizeof v->dims / sizeof *v->dims)
            return gr_lex_fail(l, "'%s' has more than %d dimensions", v->name, v->ndims);
        int64_t n = 0;
        lex_skip(l);
        if (*l->p != ']') {
            GR_MUST(gr_expr_int(l, &n, "an array size"));
            if (n < 0)
                return gr_lex_fail(l, "'%s' has a negative size", v->name);
        }
        GR_MUST(gr_lex_expect(l, ']'));
        v->dims[v->ndims++] = (uint64_t)n;
        if (__builtin_mul_overflow(v->count, (uint64_t)n, &v->count))
            return gr_lex_fail(l, "'%s' is larger than the address space", v->name);
    }
    uint64_t width = (uint64_t)gr_ptx_type_bits(v->type) / 8 * v->vec;
    if (__builtin_mul_overflow(v->count, width, &v->size))
        return gr_lex_fail(l, "'%s' is larger than the address space", v->name);
    return GR_OK;
}

// ---- Initializers ----------------------------------------------------------------------------------------

typedef struct InitList {
    VEC(PtxInit) items;
    uint64_t padding;
} InitList;

// Where the elements of a brace at `depth` (0 is the outermost) start over: the product of the dimensions inside.
static uint64_t stride_at(const PtxVar *v, unsigned depth) {
    uint64_t n = v->vec;
    for (unsigned k = depth + 1; k < v->ndims; k++)
        if (__builtin_mul_overflow(n, v->dims[k], &n))
            return 0;
    return n;
}

static gr_status pad_to(Parser *p, InitList *list, uint64_t len) {
    while (list->items.len < len) {
        if (++list->padding > MAX_PADDING)
            return gr_lex_fail(&p->lex, "an initializer leaves more than %d elements out between others",
                               MAX_PADDING);
        GR_NEED(gr_vec_push(&list->items, (PtxInit){0}), p->lex.err);
    }
    return GR_OK;
}

// The bits of a constant in the element's own type.
static uint64_t convert(const PtxVar *v, const Num *n) {
    if (v->type == PTX_F64) {
        double d = gr_num_double(n);
        uint64_t b;
        memcpy(&b, &d, sizeof b);
        return b;
    }
    if (v->type == PTX_F32) {
        if (n->kind == NUM_F32)
            return n->bits;
        float f = (float)gr_num_double(n);
        uint32_t b;
        memcpy(&b, &f, sizeof b);
        return b;
    }
    unsigned bits = gr_ptx_type_bits(v->type);
    return bits && bits < 64 ? n->bits & ((UINT64_C(1) << bits) - 1) : n->bits;
}

// name, name+4, generic(name), generic(name)+4.
static gr_status parse_symbol(Parser *p, PtxInit *out) {
    Lexer *l = &p->lex;
    gr_status st;
    lex_skip(l);
    Slice name = lex_word(l);
    if (!name.len)
        return gr_lex_expected(l, "a symbol");
    if (slice_is(name, "generic") && lex_accept(l, '(')) {
        GR_MUST(parse_symbol(p, out));
        if (out->generic)
            return gr_lex_fail(l, "generic() inside generic()");
        out->generic = true;
        if ((st = gr_lex_expect(l, ')')) != GR_OK)
            return st;
    } else if (!(out->symbol = gr_parse_intern(p, name.s, name.len))) {
        return gr_no_memory(p->lex.err);
    }
    lex_skip(l);
    if (*l->p != '+' && *l->p != '-')
        return GR_OK;
    l->p += *l->p == '+';
    int64_t offset;
    GR_MUST(gr_expr_int(l, &offset, "an offset"));
    out->bits += (uint64_t)offset;
    return GR_OK;
}

// 0xFF00(name): one byte of an address (5.4.4).
static gr_status parse_masked(Parser *p, uint64_t mask, PtxInit *out) {
    unsigned shift = 0;
    while (shift < 8 && mask != UINT64_C(0xff) << (8 * shift))
        shift++;
    if (shift == 8)
        return gr_lex_fail(&p->lex, "a mask must select one byte");
    GR_MUST(gr_lex_expect(&p->lex, '('));
    GR_MUST(parse_symbol(p, out));
    out->mask_byte = (uint8_t)(shift + 1);
    return gr_lex_expect(&p->lex, ')');
}

static gr_status parse_element(Parser *p, const PtxVar *v, InitList *list) {
    Lexer *l = &p->lex;
    PtxInit e = {0};
    if (*l->p == '"') { // a string: its bytes
        Slice s;
        GR_MUST(gr_lex_string(l, &s));
        for (size_t k = 0; k < s.len; k++)
            GR_NEED(gr_vec_push(&list->items, (PtxInit){.bits = (unsigned char)s.s[k]}), p->lex.err);
        return GR_OK;
    }
    if (lex_is(*l->p, CH_START) && strncmp(l->p, "WARP_SZ", 7) != 0) {
        GR_MUST(parse_symbol(p, &e));
    } else {
        Num n;
        GR_MUST(gr_expr_parse(l, &n));
        lex_skip(l);
        if (*l->p == '(' && n.kind == NUM_INT) {
            GR_MUST(parse_masked(p, n.bits, &e));
        } else {
            e.bits = convert(v, &n);
        }
    }
    return gr_vec_push(&list->items, e) ? GR_OK : gr_no_memory(p->lex.err);
}

// "{ … }" with the cursor behind the brace.
static gr_status parse_braces(Parser *p, const PtxVar *v, InitList *list, unsigned depth) {
    Lexer *l = &p->lex;
    if (depth > 8)
        return gr_lex_fail(l, "an initializer is nested more than 8 deep");
    gr_status st = GR_OK;
    uint64_t base = list->items.len, stride = stride_at(v, depth), k = 0;
    for (lex_skip(l); *l->p != '}'; k++) {
        if (*l->p == '{') {
            uint64_t start;
            if (__builtin_mul_overflow(k, stride, &start) || __builtin_add_overflow(base, start, &start))
                return gr_lex_fail(l, "an initializer is larger than its variable");
            l->p++;
            if ((st = pad_to(p, list, start)) != GR_OK || (st = parse_braces(p, v, list, depth + 1)) != GR_OK)
                return st;
        } else if ((st = parse_element(p, v, list)) != GR_OK) {
            return st;
        }
        if (!lex_accept(l, ','))
            break;
        lex_skip(l);
    }
    return gr_lex_expect(l, '}');
}

// Skips what initializes a .texref, .samplerref or .surfref, which is kept as text only: { filter_mode = linear, … }.
static gr_status skip_opaque(Parser *p) {
    const char *e = p->lex.p;
    while (*e && *e != '}' && *e != ';')
        e++;
    if (*e != '}')
        return gr_lex_expected(&p->lex, "an initializer");
    gr_lex_advance(&p->lex, e + 1);
    return GR_OK;
}

static gr_status parse_init(Parser *p, PtxVar *v) {
    Lexer *l = &p->lex;
    lex_skip(l);
    const char *b = l->p;
    InitList list = {0};
    gr_status st;
    if (*l->p == '{' && v->type == PTX_TYPE_OTHER) {
        st = skip_opaque(p);
    } else if (*l->p == '{') {
        l->p++;
        st = parse_braces(p, v, &list, 0);
    } else {
        st = parse_element(p, v, &list);
    }
    if (st != GR_OK)
        goto done;
    GR_TRY((v->init_text = take_text(p, b)) ? GR_OK : gr_no_memory(p->lex.err));
    if (v->ndims && !v->dims[0] && v->type != PTX_TYPE_OTHER) { // a[] = {…}: as many as there are
        uint64_t stride = stride_at(v, 0);
        v->dims[0] = stride ? (list.items.len + stride - 1) / stride : 0;
        v->count = v->dims[0] * (stride / v->vec);
        v->size = v->count * v->vec * (gr_ptx_type_bits(v->type) / 8);
    }
    if (v->type != PTX_TYPE_OTHER && list.items.len > v->count * v->vec)
        GR_TRY(gr_lex_fail(l, "'%s' has %zu initializers for %llu elements", v->name, list.items.len,
                           (unsigned long long)v->count * v->vec));
    v->n_init = (uint32_t)list.items.len;
    if (v->n_init) {
        GR_TRY((v->init = GR_NEW_ARRAY(p->arena, PtxInit, list.items.len)) ? GR_OK
                                                                           : gr_no_memory(p->lex.err));
        memcpy(v->init, list.items.data, list.items.len * sizeof *v->init);
    }
done:
    gr_vec_free(&list.items);
    return st;
}

gr_status gr_parse_variables(Parser *p, const Linkage *linkage, PtxSpace space, PtxTag tag, uint32_t line,
                             VarSink sink) {
    PtxVar shape = {.space = space,
                    .is_extern = linkage->is_extern,
                    .is_visible = linkage->is_visible,
                    .is_weak = linkage->is_weak,
                    .is_common = linkage->is_common};
    gr_status st = gr_parse_var_type(p, &shape);
    if (st != GR_OK)
        return st;
    do {
        PtxVar *v = GR_NEW(p->arena, PtxVar);
        GR_NEED(v, p->lex.err);
        *v = shape;
        if ((st = parse_var_name(p, v)) != GR_OK)
            return st;
        v->line = line;
        if (lex_accept(&p->lex, '=') && (st = parse_init(p, v)) != GR_OK)
            return st;
        GR_MUST(sink(p, v, tag));
    } while (lex_accept(&p->lex, ','));
    return gr_lex_expect(&p->lex, ';');
}

gr_status gr_parse_params(Parser *p, PtxVar ***out, uint32_t *n_out) {
    Lexer *l = &p->lex;
    VEC(PtxVar *) list = {0};
    gr_status st = GR_OK;
    GR_TRY(gr_lex_expect(l, '('));
    if (lex_accept(l, ')'))
        goto done;
    do {
        lex_skip(l);
        PtxVar *v = GR_NEW(p->arena, PtxVar);
        GR_TRY(v ? GR_OK : gr_no_memory(p->lex.err));
        if (*l->p != '.')
            GR_TRY(gr_lex_expected(l, "a parameter"));
        l->p++;
        Slice space = lex_word(l);
        v->space = gr_ptx_space_find(space.s, space.len);
        if (v->space != PTX_PARAM && v->space != PTX_REG) {
            l->p = space.s;
            st = gr_lex_expected(l, "param or reg");
            goto done;
        }
        GR_TRY(gr_parse_var_type(p, v));
        GR_TRY(parse_var_name(p, v));
        GR_TRY(gr_vec_push(&list, v) ? GR_OK : gr_no_memory(p->lex.err));
    } while (lex_accept(l, ','));
    GR_TRY(gr_lex_expect(l, ')'));
    GR_TRY((*out = GR_NEW_ARRAY(p->arena, PtxVar *, list.len)) ? GR_OK : gr_no_memory(p->lex.err));
    memcpy(*out, list.data, list.len * sizeof **out);
    *n_out = (uint32_t)list.len;
done:
    gr_vec_free(&list);
    return st;
}
