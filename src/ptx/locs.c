// SPDX-License-Identifier: Apache-2.0
// locs — .loc directives (PTX ISA 11.5.3) as shared positions with chains of inlining.
//
//     .loc 4 134 49, function_name $L__info_string4, inlined_at 1 28 3
//
// inlined_at names a position, not a directive: it is taken to be the latest .loc with that file, line and column,
// which nvcc always writes just before. The function's name is a label in .section .debug_str (plus an offset),
// which comes at the module's end; the bytes there are read once everything else has been.
#include "ptx/parser.h"

#include <stdlib.h>
#include <string.h>

typedef struct LocNode {
    PtxLoc loc;            // first
    struct LocNode *chain; // same bucket, latest used first
    const char *label;     // of function_name, interned; NULL
    uint64_t label_offset;
    unsigned depth; // of loc's chain
} LocNode;

// No compiler inlines as deep; a text whose directives name one position over and over would make chains as long as
// itself.
enum { DEEPEST = 200 };

typedef struct LocTable {
    LocNode **buckets;
    size_t cap, count;
    bool names; // some node has a label
} LocTable;

void gr_locs_free(LocTable *t) {
    if (t)
        free(t->buckets);
    free(t);
}

static size_t bucket_of(const LocTable *t, uint32_t file, uint32_t line, uint32_t col) {
    uint64_t h = (uint64_t)line * 0x9e3779b97f4a7c15u ^ (uint64_t)col * 0xbf58476d1ce4e5b9u ^
                 (uint64_t)file * 0x94d049bb133111ebu;
    return (size_t)(h ^ h >> 29) & (t->cap - 1);
}

static bool grow(LocTable *t) {
    size_t cap = t->cap ? t->cap * 4 : 256, old_cap = t->cap;
    LocNode **old = t->buckets, **now = calloc(cap, sizeof *now);
    if (!now)
        return false;
    t->buckets = now;
    t->cap = cap;
    for (size_t i = 0; i < old_cap; i++) {
        // The order within a chain matters: append, do not prepend.
        for (LocNode *n = old[i], *next; n; n = next) {
            next = n->chain;
            n->chain = NULL;
            LocNode **tail = &now[bucket_of(t, n->loc.file, n->loc.line, n->loc.col)];
            while (*tail)
                tail = &(*tail)->chain;
            *tail = n;
        }
    }
    free(old);
    return true;
}

static bool at(const LocNode *n, const PtxLoc *l) {
    return n->loc.line == l->line && n->loc.col == l->col && n->loc.file == l->file;
}

// The shared node equal to `want`, or when `latest`, the one used last at that position, whatever its chain.
static const LocNode *intern_loc(Parser *p, const LocNode *want, bool latest) {
    if (!p->locs && !(p->locs = calloc(1, sizeof *p->locs)))
        return NULL;
    LocTable *t = p->locs;
    if (t->count * 2 >= t->cap && !grow(t))
        return NULL;
    LocNode **head = &t->buckets[bucket_of(t, want->loc.file, want->loc.line, want->loc.col)];
    for (LocNode **at_ = head; *at_; at_ = &(*at_)->chain) {
        LocNode *n = *at_;
        if (!at(n, &want->loc) ||
            (!latest && (n->label != want->label || n->label_offset != want->label_offset ||
                         n->loc.inlined_at != want->loc.inlined_at)))
            continue;
        *at_ = n->chain; // to the front
        n->chain = *head;
        *head = n;
        return n;
    }
    LocNode *n = GR_NEW(p->arena, LocNode);
    if (!n)
        return NULL;
    *n = *want;
    n->loc.id = (uint32_t)++t->count;
    t->names |= n->label != NULL;
    n->chain = *head;
    *head = n;
    return n;
}

static gr_status parse_position(Parser *p, PtxLoc *l) {
    gr_status st;
    if ((st = gr_lex_u32(&p->lex, &l->file, "a file number")) != GR_OK ||
        (st = gr_lex_u32(&p->lex, &l->line, "a line number")) != GR_OK)
        return st;
    return gr_lex_u32(&p->lex, &l->col, "a column number");
}

static gr_status parse_function_name(Parser *p, LocNode *want) {
    Lexer *l = &p->lex;
    lex_skip(l);
    Slice name = lex_word(l);
    if (!name.len)
        return gr_lex_expected(l, "a label in .debug_str");
    GR_NEED((want->label = gr_parse_intern(p, name.s, name.len)), p->lex.err);
    if (!gr_lex_accept_near(l, '+'))
        return GR_OK;
    uint32_t offset;
    gr_status st = gr_lex_u32(l, &offset, "an offset");
    if (st == GR_OK)
        want->label_offset = offset;
    return st;
}

static gr_status inline_at(Parser *p, LocNode *want, const LocNode *outer) {
    GR_NEED(outer, p->lex.err);
    if (outer->depth < DEEPEST) {
        want->loc.inlined_at = &outer->loc;
        want->depth = outer->depth + 1;
    }
    return GR_OK;
}

// LLVM counts lines on through inline assembly of several lines: it places the text's second line at the source's next
// line, where something else is. All of the text is where it begins. True: the line was another.
static bool straighten(Parser *p, PtxLoc *loc) {
    const PtxLoc *first = &p->assembly;
    if (!p->lex.assembly)
        p->assembly.line = 0;
    else if (!first->line)
        p->assembly = *loc;
    else if (loc->file == first->file && loc->col == first->col && loc->line > first->line) {
        loc->line = first->line;
        return true;
    }
    return false;
}

PtxStmt *gr_parse_new_stmt(Parser *p, PtxStmtKind kind, PtxTag tag) {
    PtxStmt *s = GR_NEW(p->m->bodies, PtxStmt);
    if (!s)
        return NULL;
    s->kind = kind;
    s->loc = p->loc;
    if (p->inserting) {
        s->tag = (PtxTag){.inserted = true, .site = p->site};
    } else {
        s->tag = tag;
        s->line = p->lex.line;
        s->col = lex_col(&p->lex);
    }
    s->prev = p->last;
    *(p->last ? &p->last->next : &p->first) = s;
    p->last = s;
    return s;
}

gr_status gr_parse_loc(Parser *p, PtxTag tag) {
    Lexer *l = &p->lex;
    const char *b = l->p - 4; // ".loc"
    LocNode want = {0};
    PtxStmt *s = gr_parse_new_stmt(p, PTX_LOC, tag);
    GR_NEED(s, p->lex.err);
    gr_status st = parse_position(p, &want.loc);
    const char *e = l->p, *rest = e;
    while (st == GR_OK && gr_lex_accept_near(l, ',')) {
        lex_skip(l);
        Slice word = lex_word(l);
        if (slice_is(word, "function_name")) {
            st = parse_function_name(p, &want);
        } else if (slice_is(word, "inlined_at")) {
            LocNode outer = {0};
            st = parse_position(p, &outer.loc);
            if (st == GR_OK)
                st = inline_at(p, &want, intern_loc(p, &outer, true));
        } else {
            l->p = word.s;
            st = gr_lex_expected(l, "function_name or inlined_at");
        }
        e = l->p;
    }
    if (st != GR_OK)
        return st;
    s->text = straighten(p, &want.loc) ? gr_arena_printf(p->m->bodies, ".loc\t%u %u %u%.*s", want.loc.file,
                                                         want.loc.line, want.loc.col, (int)(e - rest), rest)
                                       : gr_arena_strndup(p->m->bodies, b, (size_t)(e - b));
    const LocNode *node = intern_loc(p, &want, false);
    GR_NEED(s->text && node, p->lex.err);
    s->loc = p->loc = &node->loc;
    return GR_OK;
}

// ---- .debug_str ------------------------------------------------------------------------------------------

typedef struct DebugStr {
    VEC(char) bytes;
    Map labels; // name -> offset + 1
} DebugStr;

static gr_status read_debug_str(Parser *p, const char *text, DebugStr *out) {
    Lexer l = {.p = text, .end = text + strlen(text), .line_start = text, .line = 1, .name = p->lex.name};
    for (lex_skip(&l); *l.p && *l.p != '}'; lex_skip(&l)) {
        if (*l.p != '.') {
            Slice name = lex_word(&l);
            const char *key = name.len ? gr_parse_intern(p, name.s, name.len) : NULL;
            if (!lex_accept(&l, ':'))
                return GR_OK; // not the shape nvcc writes: the names stay unknown
            GR_NEED(key && gr_map_put(&out->labels, key, (void *)(uintptr_t)(out->bytes.len + 1)),
                    p->lex.err);
            continue;
        }
        l.p++;
        if (!slice_is(lex_word(&l), "b8"))
            return GR_OK;
        do {
            Num n;
            lex_skip(&l);
            if (!lex_is(*l.p, CH_DIGIT) || gr_lex_number(&l, &n) != GR_OK)
                return GR_OK;
            GR_NEED(gr_vec_push(&out->bytes, (char)n.bits), p->lex.err);
        } while (lex_accept(&l, ','));
    }
    return GR_OK;
}

gr_status gr_locs_finish(Parser *p) {
    LocTable *t = p->locs;
    if (!t || !t->names)
        return GR_OK;
    gr_status st = GR_OK;
    DebugStr d = {0};
    for (PtxItem *i = p->m->items; i && st == GR_OK; i = i->next) {
        static const char name[] = ".debug_str";
        const char *at_ = i->kind == PTX_ITEM_SECTION ? strstr(i->text, name) : NULL;
        const char *brace = at_ ? strchr(at_, '{') : NULL;
        if (brace && !lex_is(at_[sizeof name - 1], CH_WORD))
            st = read_debug_str(p, brace + 1, &d);
    }
    if (st != GR_OK || !gr_vec_push(&d.bytes, 0))
        goto done;
    for (size_t k = 0; k < t->cap; k++) {
        for (LocNode *n = t->buckets[k]; n; n = n->chain) {
            uintptr_t v = n->label ? (uintptr_t)gr_map_get(&d.labels, n->label) : 0;
            if (v && n->label_offset < d.bytes.len - (v - 1)) {
                const char *s = d.bytes.data + (v - 1) + n->label_offset;
                GR_TRY((n->loc.function = gr_parse_intern(p, s, strlen(s))) ? GR_OK
                                                                            : gr_no_memory(p->lex.err));
            }
        }
    }
done:
    gr_vec_free(&d.bytes);
    gr_map_free(&d.labels);
    return st;
}
