// SPDX-License-Identifier: Apache-2.0
// shelf — puts bodies of functions away: statements, operands and registers as bytes, some 20 for an instruction; and
// makes the same statements again.
//
// The bytes have the addresses of what outlives the body: variables, positions, prototypes and interned strings. They
// have registers and labels by number. So a body that is taken out equals what was read, but for the addresses of its
// own parts.
#include "ptx/shelf.h"

#include <stdlib.h>
#include <string.h>

typedef struct PtxShelf {
    uint32_t opens; // how many have it open
    size_t room;    // bytes that it takes then, about
    Arena body;     // of the open body
    unsigned char bytes[];
} PtxShelf;

enum { INSERTED = 16, HAS_SITE = 32, HAS_LOC = 64, HAS_TAG = 128 }; // beside a statement's kind
enum { NEGATED = 1, SIGNED = 2, ZERO = 4, ELEMENT = 8, OFFSET = 16, BITS = 32, TEXT = 64, SUBS = 128 };

enum { LARGE = 64 * 1024 }; // bytes

// ---- Putting away ----------------------------------------------------------------------------------------

static void put(StrBuf *out, uint64_t v) {
    for (; v > 127; v >>= 7)
        gr_str_addc(out, (char)(v | 128));
    gr_str_addc(out, (char)v);
}

static void put_signed(StrBuf *out, int64_t v) { put(out, (uint64_t)v << 1 ^ (uint64_t)(v >> 63)); }
static void put_address(StrBuf *out, const void *p) { put(out, (uint64_t)(uintptr_t)p); }

static void put_text(StrBuf *out, const char *text) {
    size_t n = text ? strlen(text) : 0;
    put(out, text ? n + 1 : 0);
    gr_str_addn(out, text, n);
}

static void put_decl(StrBuf *out, const PtxRegDecl *d) {
    put(out, (uint64_t)d->type);
    put(out, d->vec);
    put(out, d->ordinal);
    put_address(out, d->type_text);
    put(out, d->n_names);
    for (uint32_t k = 0; k < d->n_names; k++) {
        put_address(out, d->names[k].name);
        put(out, d->names[k].count);
    }
}

static void put_operand(StrBuf *out, const PtxOperand *o) {
    put(out, (uint64_t)o->kind);
    put(out, (o->negated ? NEGATED : 0u) | (o->is_signed ? SIGNED : 0u) | (o->plus_zero ? ZERO : 0u) |
                 (o->elem ? ELEMENT : 0u) | (o->offset ? OFFSET : 0u) | (o->bits ? BITS : 0u) |
                 (o->text ? TEXT : 0u) | (o->n_sub ? SUBS : 0u));
    if (o->kind == PTX_O_REG)
        put(out, o->reg->index);
    else if (o->kind == PTX_O_VAR)
        put_address(out, o->var);
    else if (o->kind == PTX_O_LABEL)
        put(out, o->label->index);
    if (o->elem)
        gr_str_addc(out, o->elem);
    if (o->offset)
        put_signed(out, o->offset);
    if (o->bits)
        put(out, o->bits);
    if (o->text)
        put_address(out, o->text);
    if (o->n_sub)
        put(out, o->n_sub);
    for (unsigned k = 0; k < o->n_sub; k++)
        put_operand(out, &o->sub[k]);
}

static void put_instr(StrBuf *out, const PtxInstr *i) {
    put(out, (uint64_t)i->op);
    if (!i->op)
        put_address(out, i->opcode);
    put(out, i->guard ? (uint64_t)i->guard->index * 2 + i->guard_negated + 1 : 0);
    put(out, i->n_mods);
    for (unsigned k = 0; k < i->n_mods; k++) {
        put(out, (uint64_t)i->mods[k].id);
        if (!i->mods[k].id)
            put_address(out, i->mods[k].text);
    }
    put(out, i->n_operands);
    for (unsigned k = 0; k < i->n_operands; k++)
        put_operand(out, &i->operands[k]);
}

static void put_targets(StrBuf *out, const PtxStmt *s) {
    put(out, (uint64_t)s->n_targets * 2 + (s->targets != NULL));
    for (uint32_t k = 0; k < s->n_targets; k++)
        if (s->targets)
            put(out, s->targets[k]->index);
        else
            put_address(out, s->target_funcs[k]);
}

static void put_stmt(StrBuf *out, const PtxStmt *s) {
    const PtxLoc *loc = s->prev ? s->prev->loc : NULL;
    put(out, (unsigned)s->kind | (s->tag.inserted ? INSERTED : 0u) | (s->site ? HAS_SITE : 0u) |
                 (s->loc != loc ? HAS_LOC : 0u) | (s->tag.site ? HAS_TAG : 0u));
    put_signed(out, (int64_t)s->line - (s->prev ? s->prev->line : 0));
    put(out, s->col);
    if (s->site)
        put(out, s->site);
    if (s->loc != loc)
        put_address(out, s->loc);
    if (s->tag.site)
        put(out, s->tag.site);
    switch (s->kind) {
    case PTX_INSTR: put_instr(out, s->instr); return;
    case PTX_LABEL_DEF:
    case PTX_PROTOTYPE:
    case PTX_TARGETS:
        put(out, s->label->index);
        put(out, s->label->uses);
        put_text(out, s->label->name);
        if (s->kind == PTX_TARGETS)
            put_targets(out, s);
        if (s->kind != PTX_PROTOTYPE)
            return;
        put_address(out, s->proto);
        break;
    case PTX_DECL_VAR: put_address(out, s->var); return;
    case PTX_SCOPE_OPEN:
    case PTX_SCOPE_CLOSE:
    case PTX_DECL_REG: return;
    default: break;
    }
    put_text(out, s->text);
}

// Writes the declarations, the registers by number, the statements.
static void put_body(StrBuf *out, const PtxFunc *f) {
    uint32_t decls = 0, stmts = 0;
    for (const PtxStmt *s = f->first; s; s = s->next) {
        stmts++;
        decls += s->kind == PTX_DECL_REG;
    }
    put(out, decls);
    for (const PtxStmt *s = f->first; s; s = s->next)
        if (s->kind == PTX_DECL_REG)
            put_decl(out, s->reg_decl);
    for (uint32_t k = 0; k < f->n_regs; k++) {
        put(out, f->regs[k]->decl->ordinal + f->regs[k]->entry);
        put(out, f->regs[k]->number);
    }
    put(out, stmts);
    for (const PtxStmt *s = f->first; s; s = s->next)
        put_stmt(out, s);
}

gr_status gr_ptx_shelve(PtxFunc *f, size_t room, StrBuf *work, gr_error *err) {
    work->len = 0;
    put_body(work, f);
    f->shelf = work->oom ? NULL : gr_arena_alloc(&f->module->arena, sizeof *f->shelf + work->len);
    if (!f->shelf)
        return gr_no_memory(err);
    memcpy(f->shelf->bytes, work->data, work->len);
    f->shelf->room = room;
    f->first = f->last = NULL;
    f->regs = NULL;
    f->cap_regs = 0;
    return GR_OK;
}

// ---- Taking out ------------------------------------------------------------------------------------------

typedef struct Taker {
    const unsigned char *p;
    PtxFunc *f;
    Arena *arena;
    PtxRegDecl **decls;
    uint32_t n_decls, next_decl;
    PtxLabel **labels; // by number
    bool oom;
} Taker;

static uint64_t take(Taker *t) {
    uint64_t v = 0;
    for (unsigned shift = 0;; shift += 7) {
        v |= (uint64_t)(*t->p & 127) << shift;
        if (*t->p++ < 128)
            return v;
    }
}

static int64_t take_signed(Taker *t) {
    uint64_t v = take(t);
    return (int64_t)(v >> 1 ^ (0 - (v & 1)));
}

static void *take_address(Taker *t) { return (void *)(uintptr_t)take(t); }

static void *room(Taker *t, size_t n, size_t size) {
    void *p = gr_arena_array(t->arena, n, size);
    t->oom |= !p;
    return p;
}

static const char *take_text(Taker *t) {
    uint64_t n = take(t);
    const char *text = n ? gr_arena_strndup(t->arena, (const char *)t->p, n - 1) : NULL;
    t->oom |= n && !text;
    t->p += n ? n - 1 : 0;
    return text;
}

static PtxLabel *take_label(Taker *t) {
    PtxLabel **l = &t->labels[take(t)];
    if (!*l && (*l = room(t, 1, sizeof **l)))
        (*l)->index = (uint32_t)(l - t->labels);
    return *l;
}

static void take_decl(Taker *t, PtxRegDecl *d) {
    d->type = (PtxType)take(t);
    d->vec = (uint8_t)take(t);
    d->ordinal = (uint32_t)take(t);
    d->type_text = take_address(t);
    d->n_names = (uint32_t)take(t);
    d->names = room(t, d->n_names, sizeof *d->names);
    for (uint32_t k = 0; d->names && k < d->n_names; k++) {
        d->names[k].name = take_address(t);
        d->names[k].count = (uint32_t)take(t);
    }
}

// The declaration that has name number `ordinal` of the function's.
static PtxRegDecl *decl_of(const Taker *t, uint32_t ordinal) {
    uint32_t low = 0, high = t->n_decls;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        *(t->decls[middle]->ordinal <= ordinal ? &low : &high) = middle;
    }
    return t->decls[low];
}

static void take_reg(Taker *t, uint32_t index) {
    uint32_t ordinal = (uint32_t)take(t), number = (uint32_t)take(t);
    PtxReg *r = room(t, 1, sizeof *r);
    if (!r)
        return;
    PtxRegDecl *d = decl_of(t, ordinal);
    uint32_t entry = ordinal - d->ordinal;
    const char *prefix = d->names[entry].name;
    *r = (PtxReg){.name = d->names[entry].count ? gr_arena_printf(t->arena, "%s%u", prefix, number) : prefix,
                  .type = d->type,
                  .vec = d->vec,
                  .index = index,
                  .decl = d,
                  .entry = entry,
                  .number = number};
    t->oom |= !r->name;
    t->f->regs[index] = r;
}

static void take_operand(Taker *t, PtxOperand *o) {
    o->kind = (PtxOperandKind)take(t);
    uint64_t has = take(t);
    o->negated = has & NEGATED;
    o->is_signed = has & SIGNED;
    o->plus_zero = has & ZERO;
    if (o->kind == PTX_O_REG)
        o->reg = t->f->regs[take(t)];
    else if (o->kind == PTX_O_VAR)
        o->var = take_address(t);
    else if (o->kind == PTX_O_LABEL)
        o->label = take_label(t);
    o->elem = has & ELEMENT ? (char)*t->p++ : 0;
    o->offset = has & OFFSET ? take_signed(t) : 0;
    o->bits = has & BITS ? take(t) : 0;
    o->text = has & TEXT ? take_address(t) : NULL;
    if (!(has & SUBS))
        return;
    o->n_sub = (uint16_t)take(t);
    o->sub = room(t, o->n_sub, sizeof *o->sub);
    for (unsigned k = 0; k < o->n_sub && !t->oom; k++)
        take_operand(t, &o->sub[k]);
}

static PtxInstr *take_instr(Taker *t) {
    PtxInstr *i = room(t, 1, sizeof *i);
    if (!i)
        return NULL;
    i->op = (PtxOp)take(t);
    i->opcode = i->op ? gr_ptx_op_text(i->op) : take_address(t);
    uint64_t guard = take(t);
    if (guard) {
        i->guard = t->f->regs[(guard - 1) / 2];
        i->guard_negated = (guard - 1) % 2;
    }
    i->n_mods = (uint16_t)take(t);
    i->mods = i->n_mods ? room(t, i->n_mods, sizeof *i->mods) : NULL;
    for (unsigned k = 0; k < i->n_mods && !t->oom; k++) {
        i->mods[k].id = (PtxMod)take(t);
        i->mods[k].text = i->mods[k].id ? gr_ptx_mod_text(i->mods[k].id) : take_address(t);
    }
    i->n_operands = t->oom ? 0 : (uint16_t)take(t);
    i->operands = i->n_operands ? room(t, i->n_operands, sizeof *i->operands) : NULL;
    for (unsigned k = 0; k < i->n_operands && !t->oom; k++)
        take_operand(t, &i->operands[k]);
    if (t->oom)
        return NULL;
    gr_ptx_instr_summarize(i);
    PtxCallParts c = i->op == PTX_OP_CALL ? gr_ptx_call_parts(i) : (PtxCallParts){0};
    if (c.callee && c.callee->kind == PTX_O_FUNC)
        i->callee = gr_ptx_find_func(t->f->module, c.callee->text);
    return i;
}

static void take_targets(Taker *t, PtxStmt *s) {
    uint64_t n = take(t);
    s->n_targets = (uint32_t)(n / 2);
    void **list = room(t, s->n_targets, sizeof *list);
    for (uint32_t k = 0; list && k < s->n_targets; k++)
        list[k] = n % 2 ? (void *)take_label(t) : take_address(t);
    if (n % 2)
        s->targets = (PtxLabel **)list;
    else
        s->target_funcs = (const char **)list;
}

static void take_label_def(Taker *t, PtxStmt *s) {
    if (!(s->label = take_label(t)))
        return;
    s->label->stmt = s;
    s->label->uses = (uint32_t)take(t);
    s->label->name = take_text(t);
    if (s->kind == PTX_TARGETS && !t->oom)
        take_targets(t, s);
    else if (s->kind == PTX_PROTOTYPE && !t->oom)
        s->proto = take_address(t);
}

static void take_stmt(Taker *t, PtxStmt *s) {
    PtxFunc *f = t->f;
    uint64_t has = take(t);
    s->kind = (PtxStmtKind)(has & 15);
    s->prev = f->last;
    *(f->last ? &f->last->next : &f->first) = s;
    f->last = s;
    s->tag.inserted = has & INSERTED;
    s->line = (uint32_t)(take_signed(t) + (s->prev ? s->prev->line : 0));
    s->col = (uint32_t)take(t);
    s->site = has & HAS_SITE ? (uint32_t)take(t) : 0;
    s->loc = has & HAS_LOC ? take_address(t) : s->prev ? s->prev->loc : NULL;
    s->tag.site = has & HAS_TAG ? (uint32_t)take(t) : 0;
    if (s->site)
        f->module->sites[s->site].stmt = s;
    switch (s->kind) {
    case PTX_INSTR: s->instr = take_instr(t); return;
    case PTX_LABEL_DEF:
    case PTX_PROTOTYPE:
    case PTX_TARGETS:
        take_label_def(t, s);
        if (s->kind == PTX_PROTOTYPE && !t->oom)
            s->text = take_text(t);
        return;
    case PTX_DECL_VAR: s->var = take_address(t); return;
    case PTX_DECL_REG: s->reg_decl = t->decls[t->next_decl++]; return;
    case PTX_SCOPE_OPEN:
    case PTX_SCOPE_CLOSE: return;
    default: s->text = take_text(t);
    }
}

static void take_body(Taker *t) {
    PtxFunc *f = t->f;
    t->n_decls = (uint32_t)take(t);
    t->decls = room(t, t->n_decls, sizeof *t->decls);
    t->labels = room(t, f->n_labels, sizeof *t->labels);
    f->regs = room(t, f->n_regs, sizeof *f->regs);
    f->cap_regs = f->n_regs;
    for (uint32_t k = 0; k < t->n_decls && !t->oom; k++)
        if ((t->decls[k] = room(t, 1, sizeof **t->decls)))
            take_decl(t, t->decls[k]);
    for (uint32_t k = 0; k < f->n_regs && !t->oom; k++)
        take_reg(t, k);
    uint32_t n = t->oom ? 0 : (uint32_t)take(t);
    for (uint32_t k = 0; k < n && !t->oom; k++) {
        PtxStmt *s = room(t, 1, sizeof *s);
        if (s)
            take_stmt(t, s);
    }
}

static void drop(PtxFunc *f) {
    for (const PtxStmt *s = f->first; s; s = s->next)
        if (s->site)
            f->module->sites[s->site].stmt = NULL;
    gr_arena_free(&f->shelf->body);
    f->first = f->last = NULL;
    f->regs = NULL;
    f->cap_regs = 0;
}

gr_status gr_ptx_open(PtxFunc *f, gr_error *err) {
    PtxShelf *shelf = f->shelf;
    if (!shelf || shelf->opens++)
        return GR_OK;
    Taker t = {.p = shelf->bytes, .f = f, .arena = &shelf->body};
    // Small bodies are allocated in one piece; the pieces of a large one fit where others were.
    t.oom = shelf->room < LARGE && !gr_arena_alloc(t.arena, shelf->room);
    gr_arena_rewind(t.arena);
    if (!t.oom)
        take_body(&t);
    if (!t.oom)
        return GR_OK;
    shelf->opens = 0;
    drop(f);
    return gr_no_memory(err);
}

void gr_ptx_close(PtxFunc *f) {
    if (f->shelf && !--f->shelf->opens)
        drop(f);
}

void gr_ptx_shelf_free(PtxFunc *f) {
    if (f->shelf)
        gr_arena_free(&f->shelf->body);
}
