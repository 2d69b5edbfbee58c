// SPDX-License-Identifier: Apache-2.0
// values — looks up the value of a register or of bytes of local memory, from the read back to the assignment.
#include "engines/verifier/kernel/values.h"

#include <stdlib.h>

enum { DEEPEST = 300, FURTHEST = 1 << 29 };

uint32_t gr_walk_reg_bits(const PtxReg *r) {
    uint32_t bits = gr_ptx_type_bits(r->type) * (r->vec ? r->vec : 1);
    return !bits || bits > 64 ? 64 : bits;
}

static uint64_t mixed(uint64_t a, uint64_t b, uint64_t c, uint64_t d) {
    uint64_t words[4] = {a, b, c, d};
    return gr_hash_bytes(words, sizeof words) | 1;
}

const GrTerm *gr_walk_free_value(KWalk *w, const KStmt *s, uint64_t slot, uint32_t bits, const char *why) {
    uint64_t key = mixed(s ? s->id + 1 : 0, slot, bits, 1);
    GrSymbol *sym = gr_map_get_u64(&w->frees, key);
    if (!sym) {
        char name[200];
        uint32_t line = s && s->place ? s->place->line : 0;
        if (line)
            snprintf(name, sizeof name, "%s at line %u", why, line);
        else
            snprintf(name, sizeof name, "%s", why);
        sym = gr_symbol(w->t, GR_SYM_FREE, GR_SYM_THREAD, bits, name);
        if (!sym || !gr_map_put_u64(&w->frees, key, sym)) {
            w->nomem = true;
            return NULL;
        }
        sym->owner = s;
    }
    return gr_term_sym(w->t, sym);
}

// ---- Bytes of values ---------------------------------------------------------------------------------------------

static bool is_param(const GrTerm *a) { return a->op == GR_TERM_SYM && a->sym->kind == GR_SYM_PARAM; }

// `size` bytes of a value from byte `from` on.
static const GrTerm *part(KWalk *w, const GrTerm *a, uint32_t from, uint32_t size) {
    if (!a || (!from && a->bits == size * 8))
        return a;
    if (is_param(a))
        return gr_term_sym(
            w->t, gr_kernel_param(w->t, a->sym->owner, a->sym->param, a->sym->offset + from, size * 8));
    if (from)
        a = gr_term_2(w->t, GR_TERM_LSHR, a, gr_term_const(w->t, a->bits, from * 8));
    return gr_term_resize(w->t, size * 8, false, a);
}

static const GrTerm *joined(KWalk *w, const GrTerm *low, const GrTerm *high) {
    if (!low || !high)
        return NULL;
    uint32_t bits = low->bits + high->bits;
    if (is_param(low) && is_param(high) && low->sym->param == high->sym->param &&
        low->sym->offset + low->bits / 8 == high->sym->offset)
        return gr_term_sym(w->t,
                           gr_kernel_param(w->t, low->sym->owner, low->sym->param, low->sym->offset, bits));
    if (low->op == GR_TERM_TRUNC && high->op == GR_TERM_TRUNC && high->arg[0]->op == GR_TERM_LSHR &&
        high->arg[0]->arg[0] == low->arg[0] && low->arg[0]->bits == bits &&
        gr_term_is_const(high->arg[0]->arg[1], low->bits))
        return low->arg[0];
    const GrTerm *up = gr_term_2(w->t, GR_TERM_SHL, gr_term_resize(w->t, bits, false, high),
                                 gr_term_const(w->t, bits, low->bits));
    return gr_term_2(w->t, GR_TERM_OR, gr_term_resize(w->t, bits, false, low), up);
}

// ---- Lookups ------------------------------------------------------------------------------------------------------

typedef struct Ask {
    uint32_t var, size, bits;
    int64_t off;
} Ask;

static const GrTerm *value_at(KWalk *w, uint32_t block, size_t n, Ask a);

static bool is_reg(const KWalk *w, uint32_t var) { return var < w->f->n_regs; }

static uint64_t ask_key(uint32_t block, Ask a) {
    return mixed((uint64_t)block << 32 | a.var, (uint64_t)a.off, (uint64_t)a.size << 32 | a.bits, 2);
}

static void from_local(KWalk *w, const GrTerm *a, uint32_t var) {
    if (a && a->op == GR_TERM_SYM && !is_reg(w, var) &&
        !gr_map_put_u64(&w->local_frees, a->sym->id, (void *)(uintptr_t)(var - w->f->n_regs + 1)))
        w->nomem = true;
}

static const GrTerm *anything(KWalk *w, const KStmt *s, uint64_t salt, Ask a, const char *why) {
    const GrTerm *v = gr_walk_free_value(w, s, ask_key((uint32_t)salt, a), a.bits, why);
    from_local(w, v, a.var);
    return v;
}

static bool meets(const KWalk *w, const KDef *d, Ask a) {
    if (d->var == (uint32_t)GR_VAR_ESCAPED || d->var == (uint32_t)GR_VAR_KEPT)
        return !is_reg(w, a.var) && w->f->vars.data[a.var - w->f->n_regs]->local &&
               w->escaped_before[a.var - w->f->n_regs] >=
                   (d->var == (uint32_t)GR_VAR_KEPT ? K_KEPT : K_ESCAPED);
    return d->var == a.var && d->off < a.off + a.size && a.off < d->off + d->size;
}

// The value where the assignment numbered n, which meets the bytes asked for, has just been made.
static const GrTerm *assigned(KWalk *w, uint32_t block, size_t n, const KDef *d, Ask a) {
    if (!d->value)
        return anything(w, d->stmt, 3, a, "local memory");
    if (d->off <= a.off && a.off + a.size <= d->off + d->size)
        return is_reg(w, a.var) ? d->value : part(w, d->value, (uint32_t)(a.off - d->off), a.size);
    int64_t from = a.off > d->off ? a.off : d->off, to = a.off + a.size;
    if (d->off + d->size < to)
        to = d->off + d->size;
    const GrTerm *out = part(w, d->value, (uint32_t)(from - d->off), (uint32_t)(to - from));
    if (from > a.off) {
        uint32_t size = (uint32_t)(from - a.off);
        out = joined(w, value_at(w, block, n, (Ask){a.var, size, size * 8, a.off}), out);
    }
    if (to < a.off + a.size) {
        uint32_t size = (uint32_t)(a.off + a.size - to);
        out = joined(w, out, value_at(w, block, n, (Ask){a.var, size, size * 8, to}));
    }
    return out;
}

bool gr_walk_is_forward(const KWalk *w, uint32_t from, uint32_t to) {
    const CfgBlock *b = w->f->cfg.blocks;
    return b[from].rpo != UINT32_MAX && b[from].rpo < b[to].rpo;
}

// Whether something between a block and its dominator assigns the variable.
static bool between(KWalk *w, uint32_t block, const KNotes *notes, Ask a, bool reg) {
    const Cfg *g = &w->f->cfg;
    uint32_t up = g->blocks[block].idom;
    for (size_t k = 0; k < notes->list.len; k++) {
        const KNote *n = &notes->list.data[k];
        if (!reg && !(n->off < a.off + a.size && a.off < n->off + n->size))
            continue;
        if (n->block != up && g->blocks[n->block].rpo < g->blocks[block].rpo &&
            gr_flat_dominates(w->f, up, n->block))
            return true;
    }
    return false;
}

static bool assigned_between(KWalk *w, uint32_t block, Ask a) {
    if (is_reg(w, a.var))
        return between(w, block, &w->assigns[a.var], a, true);
    size_t v = a.var - w->f->n_regs;
    return between(w, block, &w->notes[v], a, false) ||
           (w->escaped_before[v] >= K_ESCAPED && between(w, block, &w->notes[w->n_vars], a, true)) ||
           (w->escaped_before[v] >= K_KEPT && between(w, block, &w->notes[w->n_vars + 1], a, true));
}

static bool in_loop(const KWalk *w, const KLoop *l, const KNotes *notes, Ask a, bool reg) {
    for (size_t k = 0; k < notes->list.len; k++) {
        const KNote *n = &notes->list.data[k];
        if ((reg || (n->off < a.off + a.size && a.off < n->off + n->size)) &&
            gr_flat_in_loop(w->f, l, n->block))
            return true;
    }
    return false;
}

static bool changed_in(const KWalk *w, const KLoop *l, Ask a) {
    if (is_reg(w, a.var))
        return in_loop(w, l, &w->assigns[a.var], a, true);
    size_t v = a.var - w->f->n_regs;
    if (w->blind)
        return true;
    return in_loop(w, l, &w->notes_before[v], a, false) ||
           (w->escaped_before[v] >= K_ESCAPED && in_loop(w, l, &w->notes_before[w->n_vars], a, true)) ||
           (w->escaped_before[v] >= K_KEPT && in_loop(w, l, &w->notes_before[w->n_vars + 1], a, true));
}

// What forward edges bring to a block.
static const GrTerm *merged(KWalk *w, uint32_t block, Ask a) {
    const CfgBlock *b = &w->f->cfg.blocks[block];
    uint64_t key = ask_key(block, a);
    const GrTerm *out = gr_map_get_u64(&w->memo, key);
    if (out)
        return out;
    if (w->depth > DEEPEST)
        return anything(w, (const KStmt *)b->first, 4, a, "a value from many paths");
    w->depth++;
    for (uint32_t k = b->n_preds; k--;) {
        uint32_t p = b->preds[k];
        if (!gr_walk_is_forward(w, p, block))
            continue;
        const GrTerm *taken = gr_bool_and(w->t, gr_walk_reached(w, b->idom, p), gr_walk_edge(w, p, block));
        if (taken && gr_term_is_const(taken, 0))
            continue;
        const GrTerm *v = value_at(w, p, w->defs[p].list.len, a);
        out = out ? gr_bool_ite(w->t, taken, v, out) : v;
        if (!v)
            break;
    }
    w->depth--;
    if (!out)
        out = anything(w, (const KStmt *)b->first, 5, a, "a value of no path");
    if (out && !gr_map_put_u64(&w->memo, key, (void *)(uintptr_t)out))
        w->nomem = true;
    return out;
}

static const GrTerm *entering(KWalk *w, uint32_t block, Ask a) {
    const CfgBlock *b = &w->f->cfg.blocks[block];
    uint32_t n = 0, last = 0;
    for (uint32_t k = 0; k < b->n_preds; k++)
        if (gr_walk_is_forward(w, b->preds[k], block)) {
            n++;
            last = b->preds[k];
        }
    if (n > 1 && assigned_between(w, block, a))
        return merged(w, block, a);
    if (n != 1)
        last = b->idom;
    return value_at(w, last, w->defs[last].list.len, a);
}

static KPhi *phi_of(KWalk *w, const KLoop *l, Ask a) {
    uint64_t key = ask_key(l->header, a);
    KPhi *p = gr_map_get_u64(&w->phis, key);
    if (p)
        return p;
    char name[200];
    const char *what = is_reg(w, a.var) ? w->f->reg_names.data[a.var] : "local memory";
    snprintf(name, sizeof name, "%s in the loop at line %u", what, l->loop->line);
    p = GR_NEW(w->f->arena, KPhi);
    if (!p || !gr_map_put_u64(&w->phis, key, p) || !gr_vec_push(&w->phi_list, p) ||
        !(p->sym = gr_symbol(w->t, GR_SYM_FREE, GR_SYM_THREAD, a.bits, name)))
        return NULL;
    p->sym->owner = w->f->cfg.blocks[l->header].first;
    p->loop = l;
    p->var = a.var;
    p->off = a.off;
    p->size = a.size;
    p->bits = a.bits;
    return p;
}

static const GrTerm *at_header(KWalk *w, uint32_t block, Ask a) {
    KPhi *p = phi_of(w, w->f->loop_of[block], a);
    if (!p) {
        w->nomem = true;
        return NULL;
    }
    if (p->walk == w->walk && p->now)
        return p->now;
    p->walk = w->walk;
    p->now = gr_term_sym(w->t, p->sym); // meanwhile
    from_local(w, p->now, a.var);
    p->start = entering(w, block, a);
    return p->now = gr_phi_value(w, p);
}

static const GrTerm *value_at(KWalk *w, uint32_t block, size_t n, Ask a) {
    const Cfg *g = &w->f->cfg;
    for (;;) {
        while (n) {
            const KDef *d = &w->defs[block].list.data[--n];
            if (meets(w, d, a))
                return assigned(w, block, n, d, a);
        }
        if (block == g->order[0])
            return anything(w, NULL, 6, a, "a value never set");
        const KLoop *l = w->f->loop_of[block];
        if (l && l->header == block && changed_in(w, l, a))
            return at_header(w, block, a);
        const CfgBlock *b = &g->blocks[block];
        if (b->n_preds != 1) {
            uint32_t forward = 0;
            for (uint32_t k = 0; k < b->n_preds; k++)
                forward += gr_walk_is_forward(w, b->preds[k], block);
            if (forward > 1 && assigned_between(w, block, a))
                return merged(w, block, a);
        }
        block = b->idom; // nothing between
        n = w->defs[block].list.len;
    }
}

const GrTerm *gr_walk_at_end(KWalk *w, uint32_t block, uint32_t var, int64_t off, uint32_t size,
                             uint32_t bits) {
    return value_at(w, block, w->defs[block].list.len, (Ask){var, size, bits, off});
}

const GrTerm *gr_walk_before(KWalk *w, uint32_t header, uint32_t var, int64_t off, uint32_t size,
                             uint32_t bits) {
    return entering(w, header, (Ask){var, size, bits, off});
}

// ---- Registers ----------------------------------------------------------------------------------------------------

static bool push_def(KWalk *w, const KStmt *s, KDef d) {
    d.stmt = s;
    bool ok = gr_vec_push(&w->defs[s->block].list, d);
    w->nomem |= !ok;
    return ok;
}

void gr_walk_set_reg(KWalk *w, const KStmt *s, const PtxReg *r, const GrTerm *value) {
    uint32_t number = gr_flat_reg(s, r);
    value = gr_term_resize(w->t, gr_walk_reg_bits(r), false, value);
    if (!value) {
        w->nomem = true;
        return;
    }
    if (w->n_assigns[number] == 1)
        w->reg[number] = value;
    else
        push_def(w, s, (KDef){.var = number, .size = 1, .value = value});
}

const GrTerm *gr_walk_reg(KWalk *w, const KStmt *s, const PtxReg *r) {
    uint32_t number = gr_flat_reg(s, r), bits = gr_walk_reg_bits(r);
    if (w->n_assigns[number] != 1)
        return value_at(w, s->block, w->defs[s->block].list.len, (Ask){number, 1, bits, 0});
    if (w->reg[number] && gr_flat_dominates(w->f, w->assign[number]->block, s->block))
        return w->reg[number];
    return gr_walk_free_value(w, s, mixed(number, 0, 0, 7), bits, "a register that may not be set");
}

// ---- Local memory ------------------------------------------------------------------------------------------------

static bool note(KWalk *w, size_t v, KNote n) {
    KNotes *list = &w->notes[v];
    if (list->list.len) {
        const KNote *last = &list->list.data[list->list.len - 1];
        if (last->block == n.block && last->off == n.off && last->size == n.size)
            return true;
    }
    bool ok = gr_vec_push(&list->list, n);
    w->nomem |= !ok;
    return ok;
}

void gr_walk_store(KWalk *w, const KStmt *s, const KVar *v, int64_t off, uint32_t size, const GrTerm *value) {
    push_def(w, s, (KDef){.var = w->f->n_regs + v->id, .off = off, .size = size, .value = value});
    note(w, v->id, (KNote){.block = s->block, .off = off, .size = size});
}

static void clobber(KWalk *w, const KStmt *s, uint32_t var, size_t notes) {
    push_def(w, s, (KDef){.var = var, .off = -FURTHEST, .size = 2 * FURTHEST});
    note(w, notes, (KNote){.block = s->block, .off = -FURTHEST, .size = 2 * FURTHEST});
}

void gr_walk_clobber(KWalk *w, const KStmt *s, const KVar *v) {
    if (v)
        clobber(w, s, w->f->n_regs + v->id, v->id);
    else
        clobber(w, s, (uint32_t)GR_VAR_ESCAPED, w->n_vars);
}

void gr_walk_clobber_range(KWalk *w, const KStmt *s, const KVar *v, int64_t low, int64_t high) {
    low = low < -FURTHEST ? -FURTHEST : low;
    high = high >= FURTHEST ? FURTHEST - 1 : high;
    if (low > high) // in no variable
        return;
    uint32_t size = (uint32_t)(high + 1 - low);
    push_def(w, s, (KDef){.var = w->f->n_regs + v->id, .off = low, .size = size});
    note(w, v->id, (KNote){.block = s->block, .off = low, .size = size});
}

void gr_walk_clobber_at(KWalk *w, const KStmt *s, const GrTerm *address) {
    if (gr_walk_may_be_kept(w, address))
        clobber(w, s, (uint32_t)GR_VAR_KEPT, w->n_vars + 1);
    else
        gr_walk_clobber(w, s, NULL);
}

const GrTerm *gr_walk_load(KWalk *w, const KStmt *s, const KVar *v, int64_t off, uint32_t size) {
    return value_at(w, s->block, w->defs[s->block].list.len,
                    (Ask){w->f->n_regs + v->id, size, size * 8, off});
}

// ---- Addresses of local memory -----------------------------------------------------------------------------------

typedef struct Addresses {
    KWalk *w;
    uint8_t level;
    bool local, may;
} Addresses;

static void raise(const Addresses *a, const KVar *v) {
    uint8_t *there = &a->w->escaped[v->id];
    *there = *there < a->level ? a->level : *there;
}

static void see_address(void *user, const GrSymbol *s) {
    Addresses *a = user;
    if (s->kind != GR_SYM_OBJECT || !s->owner)
        return;
    if (s->scope == GR_SYM_THREAD) {
        const KVar *v = s->owner;
        raise(a, v);
        for (size_t k = 0; k < v->pieces.len; k++)
            raise(a, v->pieces.data[k]);
        a->local = true;
    } else if (((const GrObject *)s->owner)->kind == GR_OBJECT_SHARED) {
        a->w->shared_escaped = true;
    }
}

static bool escape(KWalk *w, const GrTerm *value, uint8_t level) {
    Addresses a = {.w = w, .level = level};
    if (value && value->op != GR_TERM_CONST && !gr_term_symbols(value, see_address, &a))
        w->nomem = true;
    return a.local;
}

void gr_walk_escape(KWalk *w, const GrTerm *value) { escape(w, value, K_ESCAPED); }

void gr_walk_keep(KWalk *w, const KVar *in, const GrTerm *value) {
    if (escape(w, value, K_KEPT) || gr_walk_may_be_kept(w, value))
        w->holds[in->id] = true;
}

static void see_source(void *user, const GrSymbol *s) {
    Addresses *a = user;
    uintptr_t var = s->kind == GR_SYM_FREE ? (uintptr_t)gr_map_get_u64(&a->w->local_frees, s->id) : 0;
    if (var)
        a->may |= var > a->w->n_vars || a->w->holds_before[var - 1];
}

bool gr_walk_may_be_kept(KWalk *w, const GrTerm *address) {
    Addresses a = {.w = w};
    if (address && address->op != GR_TERM_CONST && !gr_term_symbols(address, see_source, &a))
        w->nomem = true;
    return a.may;
}
