// SPDX-License-Identifier: Apache-2.0
// address — from the term of an address to the memory it is in and the offset there.
//
// An address is a sum. One of its addends is where the memory begins: a pointer parameter, or a variable. Addends that
// are extended 32-bit values, products or shifted values are no pointers. A sum with a loaded pointer, or with more
// than one that may be a pointer, is in unknown memory.
#include "engines/verifier/kernel/exec.h"

// ---- Objects -------------------------------------------------------------------------------------------------------

GrObject *gr_object(KWalk *w, GrObjectKind kind, const void *what, uint32_t param, uint32_t offset,
                    const char *name) {
    for (size_t k = 0; k < w->out->objects.len; k++) {
        GrObject *o = w->out->objects.data[k];
        if (o->kind == kind &&
            (kind == GR_OBJECT_PARAM ? o->param == param && o->offset == offset : o->var == what))
            return o;
    }
    GrObject *o = GR_NEW(w->f->arena, GrObject);
    if (!o || !gr_vec_push(&w->out->objects, o)) {
        w->nomem = true;
        return NULL;
    }
    o->kind = kind;
    o->id = (uint32_t)w->out->objects.len - 1;
    o->var = what;
    o->param = param;
    o->offset = offset;
    o->size = o->var ? o->var->size : 0;
    o->name = gr_arena_strdup(w->f->arena, name);
    o->symbol =
        gr_symbol(w->t, GR_SYM_OBJECT, kind == GR_OBJECT_SHARED ? GR_SYM_BLOCK : GR_SYM_LAUNCH, 64, name);
    if (!o->name || !o->symbol)
        w->nomem = true;
    else
        o->symbol->owner = o;
    return o;
}

const GrTerm *gr_variable(KWalk *w, const KStmt *s, const PtxVar *v) {
    if (v->space == PTX_LOCAL || v->space == PTX_PARAM || v->space == PTX_PARAM_ENTRY ||
        v->space == PTX_PARAM_FUNC) {
        KVar *k = gr_flat_var(w->f, s->frame, v);
        return k ? gr_term_sym(w->t, k->base) : NULL;
    }
    const GrLinkedName *name = gr_linked_var(w->f->linked, v);
    if (name && name->other)
        gr_gap_of_link(w, s, gr_linked_twice(name, w->f->arena));
    v = name ? name->var : v;
    bool shared = v->space == PTX_SHARED || v->space == PTX_SHARED_CTA || v->space == PTX_SHARED_CLUSTER;
    GrObject *o = gr_object(w, shared ? GR_OBJECT_SHARED : GR_OBJECT_GLOBAL, v, 0, 0, v->name);
    return o ? gr_term_sym(w->t, o->symbol) : NULL;
}

// ---- Sums -----------------------------------------------------------------------------------------------------------

typedef struct Sum {
    KWalk *w;
    const GrTerm *base[4]; // addends that may be where memory begins
    unsigned n_bases;
    const GrTerm *rest;
    bool opaque; // an addend may hide a pointer
} Sum;

static bool is_base(const GrTerm *a) {
    return a->op == GR_TERM_SYM && a->bits == 64 &&
           (a->sym->kind == GR_SYM_OBJECT || a->sym->kind == GR_SYM_PARAM);
}

static void keep(Sum *s, const GrTerm *a) { s->rest = gr_term_2(s->w->t, GR_TERM_ADD, s->rest, a); }

// A 64-bit value that can hold no pointer: an index, or its multiple.
static bool is_index(const GrTerm *a) {
    switch (a->op) {
    case GR_TERM_CONST:
    case GR_TERM_ZEXT:
    case GR_TERM_SEXT:
    case GR_TERM_MUL:
    case GR_TERM_SHL:
    case GR_TERM_SDIV:
    case GR_TERM_UDIV:
    case GR_TERM_SREM:
    case GR_TERM_UREM:
    case GR_TERM_LSHR:
    case GR_TERM_ASHR: return true;
    default: return false;
    }
}

static void gather(Sum *s, const GrTerm *a, unsigned depth) {
    if (a->op == GR_TERM_ADD && depth < 40) {
        gather(s, a->arg[0], depth + 1);
        gather(s, a->arg[1], depth + 1);
    } else if (a->op == GR_TERM_SUB && depth < 40) {
        gather(s, a->arg[0], depth + 1);
        s->rest = gr_term_2(s->w->t, GR_TERM_SUB, s->rest, a->arg[1]);
        s->opaque |= is_base(a->arg[1]);
    } else if (is_base(a) && s->n_bases < 4) {
        s->base[s->n_bases++] = a;
    } else if (a->op == GR_TERM_ZEXT && a->arg[0]->op == GR_TERM_TRUNC && a->bits == 64 &&
               a->arg[0]->bits == 32) {
        // A 32-bit address of shared memory, and nothing else, is cut and extended.
        unsigned before = s->n_bases;
        Sum in = {.w = s->w, .rest = gr_term_const(s->w->t, 64, 0)};
        gather(&in, a->arg[0]->arg[0], depth + 1);
        if (in.n_bases == 1 && in.base[0]->sym->kind == GR_SYM_OBJECT &&
            in.base[0]->sym->scope == GR_SYM_BLOCK && before < 4) {
            s->base[s->n_bases++] = in.base[0];
            keep(s, gr_term_resize(s->w->t, 64, true, gr_term_resize(s->w->t, 32, false, in.rest)));
        } else {
            keep(s, a);
        }
    } else {
        s->opaque |= !is_index(a);
        keep(s, a);
    }
}

// Gathers addresses of shared memory in 32 bits: (TRUNC base) + offset. The rest is a sum of 32 bits.
static void gather_32(Sum *s, const GrTerm *a, unsigned depth) {
    if (a->op == GR_TERM_ADD && depth < 40) {
        gather_32(s, a->arg[0], depth + 1);
        gather_32(s, a->arg[1], depth + 1);
    } else if (a->op == GR_TERM_TRUNC && a->arg[0]->bits == 64) {
        Sum in = {.w = s->w, .rest = gr_term_const(s->w->t, 64, 0)};
        gather(&in, a->arg[0], depth + 1);
        for (unsigned k = 0; k < in.n_bases && s->n_bases < 4; k++)
            s->base[s->n_bases++] = in.base[k];
        s->opaque |= in.opaque;
        keep(s, gr_term_resize(s->w->t, 32, false, in.rest));
    } else {
        s->opaque |= a->op == GR_TERM_SYM || a->op == GR_TERM_READ;
        keep(s, a);
    }
}

static void see_object(void *user, const GrSymbol *s) {
    unsigned *kinds = user;
    if (s->kind == GR_SYM_OBJECT && s->owner)
        *kinds |= 1;
}

static bool hides_object(KWalk *w, const GrTerm *a) {
    unsigned kinds = 0;
    w->nomem |= !gr_term_symbols(a, see_object, &kinds);
    return kinds;
}

// Which of several is the pointer: a variable, else the only parameter that is a pointer elsewhere.
static const GrTerm *pick(KWalk *w, const Sum *s) {
    const GrTerm *only = NULL;
    unsigned n = 0;
    for (unsigned k = 0; k < s->n_bases; k++)
        if (s->base[k]->sym->kind == GR_SYM_OBJECT) {
            only = s->base[k];
            n++;
        }
    if (n)
        return n == 1 ? only : NULL;
    if (s->n_bases == 1 && !s->opaque)
        return s->base[0];
    for (unsigned k = 0; k < s->n_bases; k++)
        for (size_t o = 0; o < w->out->objects.len; o++) {
            const GrObject *there = w->out->objects.data[o];
            if (there->kind == GR_OBJECT_PARAM && there->param == s->base[k]->sym->param &&
                there->offset == s->base[k]->sym->offset) {
                only = s->base[k];
                n++;
            }
        }
    return n == 1 ? only : NULL;
}

static KTarget target_of(KWalk *w, const KStmt *s, const GrTerm *a, const GrTerm *when) {
    KTarget to = {.when = when};
    Sum sum = {.w = w, .rest = gr_term_const(w->t, 64, 0)};
    if (a->bits == 32) {
        sum.rest = gr_term_const(w->t, 32, 0);
        gather_32(&sum, a, 0);
        sum.rest = gr_term_resize(w->t, 64, true, sum.rest);
        a = gr_term_resize(w->t, 64, false, a);
    } else {
        gather(&sum, a, 0);
    }
    const GrTerm *base = pick(w, &sum);
    for (unsigned k = 0; base && k < sum.n_bases; k++)
        if (sum.base[k] != base)
            keep(&sum, sum.base[k]);
    to.offset = base ? sum.rest : a;
    if (base && base->sym->kind == GR_SYM_PARAM) {
        char name[64];
        if (base->sym->offset)
            snprintf(name, sizeof name, "parameter %u, byte %u", base->sym->param + 1, base->sym->offset);
        else
            snprintf(name, sizeof name, "parameter %u", base->sym->param + 1);
        to.object = gr_object(w, GR_OBJECT_PARAM, NULL, base->sym->param, base->sym->offset, name);
    } else if (base && base->sym->scope == GR_SYM_THREAD) {
        int64_t at = sum.rest && sum.rest->op == GR_TERM_CONST ? gr_term_signed(sum.rest) : 0;
        to.local = base->sym->owner;
        if (sum.rest && sum.rest->op == GR_TERM_CONST) {
            to.local = gr_flat_piece(to.local, &at);
            to.offset = gr_term_const(w->t, 64, (uint64_t)at);
        }
    } else if (base) {
        to.object = (GrObject *)(uintptr_t)base->sym->owner;
    } else {
        char name[64];
        snprintf(name, sizeof name, "what a pointer at line %u points to", s->place ? s->place->line : 0);
        to.object = gr_object(w, GR_OBJECT_UNKNOWN, NULL, 0, 0, name);
        if (hides_object(w, a)) // which memory it is has been lost
            gr_walk_escape(w, a);
    }
    return to;
}

// Alternatives of the address: an ITE below sums.
static bool has_choice(const GrTerm *a, unsigned depth) {
    if (a->op == GR_TERM_ITE)
        return true;
    return a->op == GR_TERM_ADD && depth < 20 &&
           (has_choice(a->arg[0], depth + 1) || has_choice(a->arg[1], depth + 1));
}

typedef struct Choice {
    const GrTerm *address, *when;
} Choice;

static unsigned alternatives(KWalk *w, Choice c, const GrTerm *plus, Choice *out, unsigned n, unsigned most) {
    const GrTerm *a = c.address;
    if (!a || !c.when || !plus) {
        w->nomem = true;
        return n;
    }
    if (a->op == GR_TERM_ITE && n + 2 <= most) {
        Choice yes = {a->arg[1], gr_bool_and(w->t, c.when, a->arg[0])};
        Choice no = {a->arg[2], gr_bool_and(w->t, c.when, gr_bool_not(w->t, a->arg[0]))};
        n = alternatives(w, yes, plus, out, n, most - 1);
        return alternatives(w, no, plus, out, n, most);
    }
    for (unsigned k = 0; a->op == GR_TERM_ADD && n + 2 <= most && k < 2; k++)
        if (has_choice(a->arg[k], 0))
            return alternatives(w, (Choice){a->arg[k], c.when},
                                gr_term_2(w->t, GR_TERM_ADD, plus, a->arg[1 - k]), out, n, most);
    out[n] = (Choice){gr_term_2(w->t, GR_TERM_ADD, a, plus), c.when};
    return n + 1;
}

unsigned gr_address(KWalk *w, const KStmt *s, const GrTerm *address, KTarget out[K_MOST_TARGETS]) {
    Choice choice[K_MOST_TARGETS] = {{address, gr_term_true(w->t)}};
    unsigned n = 1, made = 0;
    if (address && has_choice(address, 0))
        n = alternatives(w, choice[0], gr_term_const(w->t, address->bits, 0), choice, 0, K_MOST_TARGETS);
    for (unsigned k = 0; k < n; k++) {
        if (!choice[k].address || !choice[k].when) {
            w->nomem = true;
            continue;
        }
        if (!gr_term_is_const(choice[k].when, 0))
            out[made++] = target_of(w, s, choice[k].address, choice[k].when);
    }
    return made;
}
