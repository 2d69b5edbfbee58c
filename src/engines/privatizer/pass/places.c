// SPDX-License-Identifier: Apache-2.0
#include "engines/privatizer/pass/finder.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_PLACES = 512 };

// ---- Definitions ----------------------------------------------------------------------------------------------------

static void define(Finder *f, const PtxOperand *o, const PtxStmt *s) {
    if (o->kind == PTX_O_REG) {
        f->many[o->reg->index] |= f->def[o->reg->index] != NULL;
        f->def[o->reg->index] = s;
    }
    for (unsigned k = 0; k < o->n_sub && o->kind != PTX_O_ADDRESS; k++)
        define(f, &o->sub[k], s);
}

// ---- Origins --------------------------------------------------------------------------------------------------------

static uint32_t var_of(Finder *f, const PtxVar *v) {
    bool shared = v->space == PTX_SHARED || v->space == PTX_SHARED_CTA;
    if (v->is_extern && shared)
        return GR_VAR_EXTERN;
    for (size_t k = 0; k < f->vars.len; k++)
        if (f->vars.data[k] == v)
            return (uint32_t)k + GR_VAR_EXTERN + 1;
    f->nomem |= !gr_vec_push(&f->vars, v);
    return (uint32_t)f->vars.len + GR_VAR_EXTERN;
}

static Origin of_pointer(Finder *f, uint32_t param, int64_t offset) {
    GrPlaces *p = f->out;
    uint32_t k = 0;
    while (k < p->n_pointers && (p->pointers[k].param != param || p->pointers[k].offset != (uint32_t)offset))
        k++;
    if (k == sizeof p->pointers / sizeof *p->pointers)
        return (Origin){.lost = true};
    if (k == p->n_pointers) {
        p->pointers[k].param = param;
        p->pointers[k].offset = (uint32_t)offset;
        p->n_pointers++;
    }
    return (Origin){.params = (uint64_t)1 << k};
}

static Origin join(Origin a, Origin b) {
    return (Origin){.params = a.params | b.params,
                    .var = a.var ? a.var : b.var,
                    .lost = a.lost || b.lost || (a.var && b.var && a.var != b.var)};
}

static Origin of_operand(Finder *f, const PtxOperand *o) {
    Origin sum = {0};
    if (o->kind == PTX_O_REG)
        return f->origin[o->reg->index];
    if (o->kind == PTX_O_VAR)
        return (Origin){.var = var_of(f, o->var)};
    if (o->kind == PTX_O_FUNC || o->kind == PTX_O_RAW)
        return (Origin){.lost = true};
    for (unsigned k = 0; k < o->n_sub; k++)
        sum = join(sum, of_operand(f, &o->sub[k]));
    return sum;
}

// Of what the instruction gives. Numbers of 32 bits are no addresses, but those of shared memory.
static Origin of_instr(Finder *f, const PtxInstr *i) {
    uint32_t param = gr_find_param(f, i);
    unsigned flags = gr_ptx_instr_flags(i);
    Origin sum = {0};
    if (param != UINT32_MAX)
        return i->vec > 1 ? (Origin){.lost = true} : of_pointer(f, param, i->operands[1].offset);
    if (flags & (PTX_F_READS | PTX_F_CALL) || i->op == PTX_OP_LD || i->op == PTX_OP_UNKNOWN ||
        i->op == PTX_OP_SHFL)
        return (Origin){.lost = true};
    for (unsigned k = gr_find_destination(i) == &i->operands[0]; k < i->n_operands; k++)
        sum = join(sum, of_operand(f, &i->operands[k]));
    return sum;
}

static bool give(Finder *f, const PtxOperand *to, Origin from) {
    bool changed = false;
    if (to->kind == PTX_O_REG) {
        Origin *o = &f->origin[to->reg->index];
        if (gr_ptx_type_bits(to->reg->type) < 64) // loaded, or cut off: an index
            from = (Origin){.var = from.var, .lost = from.lost && from.var};
        Origin now = join(*o, from);
        changed = now.params != o->params || now.var != o->var || now.lost != o->lost;
        *o = now;
    }
    for (unsigned k = 0; k < to->n_sub && to->kind != PTX_O_ADDRESS; k++)
        changed |= give(f, &to->sub[k], from);
    return changed;
}

static void find_origins(Finder *f) {
    for (bool changed = true; changed && !f->nomem;) {
        changed = false;
        for (const PtxStmt *s = f->f->first; s; s = s->next) {
            const PtxOperand *to = s->kind == PTX_INSTR ? gr_find_destination(s->instr) : NULL;
            if (to)
                changed |= give(f, to, of_instr(f, s->instr));
        }
    }
}

// ---- Guards ---------------------------------------------------------------------------------------------------------

static bool compare_of(const PtxInstr *i, GrPlaceGuard *g) {
    static const struct {
        PtxMod mod;
        GrPlaceCompare compare;
    } compares[] = {{PTX_MOD_eq, GR_PLACE_EQ}, {PTX_MOD_ne, GR_PLACE_NE}, {PTX_MOD_lt, GR_PLACE_LT},
                    {PTX_MOD_le, GR_PLACE_LE}, {PTX_MOD_gt, GR_PLACE_GT}, {PTX_MOD_ge, GR_PLACE_GE},
                    {PTX_MOD_lo, GR_PLACE_LT}, {PTX_MOD_ls, GR_PLACE_LE}, {PTX_MOD_hi, GR_PLACE_GT},
                    {PTX_MOD_hs, GR_PLACE_GE}};
    g->bits = (uint8_t)gr_ptx_type_bits(i->type[0]);
    g->is_signed = gr_ptx_type_is_signed(i->type[0]);
    for (size_t k = 0; k < sizeof compares / sizeof *compares; k++)
        if (i->op == PTX_OP_SETP && i->n_operands == 3 && !i->guard && i->operands[0].kind == PTX_O_REG &&
            (g->bits == 32 || g->bits == 64) && !gr_ptx_type_is_float(i->type[0]) &&
            gr_ptx_instr_has(i, compares[k].mod)) {
            g->compare = (uint8_t)compares[k].compare;
            return true;
        }
    return false;
}

// The predicate has that value where the access is made; `at`: where it is read.
static void add_guard(Finder *f, GrPlace *p, const PtxStmt *at, const PtxReg *predicate, bool holds) {
    GrPlaceGuard g = {.holds = holds};
    f->at = at;
    const PtxStmt *def =
        f->many[predicate->index] ? gr_find_definition(f, predicate) : f->def[predicate->index];
    if (p->n_guards == GR_PLACE_GUARDS || !def || !compare_of(def->instr, &g))
        return;
    f->at = def;
    g.a = gr_find_number(f, &def->instr->operands[1], g.bits);
    g.b = gr_find_number(f, &def->instr->operands[2], g.bits);
    if (g.a && g.b && !f->nodes.data[g.a].in_var && !f->nodes.data[g.b].in_var)
        p->guards[p->n_guards++] = g;
}

// The access is made only by threads that have taken certain branches, in blocks that dominate its own.
static void find_guards(Finder *f, const PtxStmt *s, GrPlace *p) {
    const Cfg *g = f->g;
    const PtxInstr *i = s->instr;
    if (i->guard)
        add_guard(f, p, s, i->guard, !i->guard_negated);
    uint32_t at = gr_cfg_block_of(g, s);
    for (uint32_t above; at != UINT32_MAX && (above = g->blocks[at].idom) != UINT32_MAX; at = above) {
        const PtxStmt *last = g->blocks[above].last;
        while (last && last != g->blocks[above].first && last->kind != PTX_INSTR)
            last = last->prev;
        const PtxInstr *branch = last && last->kind == PTX_INSTR ? last->instr : NULL;
        if (!branch || branch->op != PTX_OP_BRA || !branch->guard || branch->n_operands != 1 ||
            branch->operands[0].kind != PTX_O_LABEL || !branch->operands[0].label->stmt ||
            g->blocks[above].n_succs != 2)
            continue;
        uint32_t taken = gr_cfg_block_of(g, branch->operands[0].label->stmt);
        for (uint32_t k = 0; k < 2; k++) {
            uint32_t to = g->blocks[above].succs[k], other = g->blocks[above].succs[1 - k];
            if (to != other && (to == taken || other == taken) && g->blocks[to].n_preds == 1 &&
                gr_cfg_dominates(g, to, at))
                add_guard(f, p, last, branch->guard, (to == taken) != branch->guard_negated);
        }
    }
}

// ---- Accesses -------------------------------------------------------------------------------------------------------

// Whether others see what the access is to. *fits: it is a load, a store or an atomic operation.
static bool is_seen(const PtxSite *site, bool *fits) {
    const PtxInstr *i = site->stmt->instr;
    *fits = !site->async && site->size &&
            (site->space == PTX_GENERIC || site->space == PTX_GLOBAL || site->space == PTX_SHARED ||
             site->space == PTX_SHARED_CTA) &&
            (i->op == PTX_OP_LD || i->op == PTX_OP_ST || i->op == PTX_OP_ATOM || i->op == PTX_OP_RED);
    return site->space != PTX_LOCAL && site->space != PTX_CONST && site->space != PTX_PARAM;
}

static GrPlace place_of(Finder *f, const PtxSite *site) {
    const PtxInstr *i = site->stmt->instr;
    bool shared = site->space == PTX_SHARED || site->space == PTX_SHARED_CTA;
    GrPlace p = {.size = site->size,
                 .write = site->access & PTX_ACCESS_WRITE,
                 .atomic = site->access == PTX_ACCESS_RMW,
                 .of_block = i->scope == PTX_SCOPE_CTA || i->scope == PTX_SCOPE_CLUSTER,
                 .shared = shared,
                 .generic = site->space == PTX_GENERIC,
                 .lost = true};
    for (unsigned k = 0; k < i->n_operands; k++) {
        const PtxOperand *o = &i->operands[k];
        if (o->kind != PTX_O_ADDRESS || o->n_sub != 1)
            continue;
        Origin from = of_operand(f, &o->sub[0]);
        f->at = site->stmt;
        const PtxReg *base = o->sub[0].kind == PTX_O_REG ? o->sub[0].reg : NULL;
        unsigned bits = base ? gr_ptx_type_bits(base->type) : 64;
        p.node = gr_find_sum(f, &o->sub[0], o->offset, bits);
        p.var = from.var;
        p.params = from.params;
        // By a generic address one comes to shared variables as well; those are not told apart from others here.
        p.lost = from.lost || (from.var && from.params && !shared) ||
                 (from.var && site->space == PTX_GENERIC) || (!from.var && !from.params && !shared);
        break;
    }
    // Without a variable it is an offset from the begin of shared memory, where any variable may lie.
    if (p.lost || (p.var && p.node && !f->nodes.data[p.node].in_var) || (shared && !p.var))
        p.node = 0;
    if (shared && !p.node) // somewhere in shared memory
        p.lost = true;
    return p;
}

// A group of loads whose pointers something is stored by as well is none: its memory is written; likewise a group of
// stores whose memory is read.
static void drop_mixed(GrPlaces *p) {
    uint64_t written = 0, read = 0;
    uint32_t n = 0, number[GR_PLACE_GROUPS + 1] = {0}, puts = 0, put[GR_PLACE_PUTS + 1] = {0};
    for (uint32_t k = 0; k < p->n_places; k++) {
        written |= p->places[k].write ? p->places[k].params : 0;
        read |= !p->places[k].write || p->places[k].atomic ? p->places[k].params : 0;
    }
    for (uint32_t k = 0; k < p->n_places; k++) {
        GrPlace *one = &p->places[k];
        if (one->group && !(one->params & written) && !number[one->group])
            number[one->group] = ++n;
        if (one->puts && !(one->params & read) && !put[one->puts])
            put[one->puts] = ++puts;
        one->group = number[one->group];
        one->puts = put[one->puts];
    }
    p->n_groups = n;
    p->n_puts = puts;
}

// Loads of the same memory are in one group, as far as there are groups, and so are stores.
static void put_in_group(GrPlaces *p, GrPlace *place, const PtxSite *site) {
    if (place->atomic || place->shared || place->generic || place->lost || place->var || site->strong)
        return;
    uint32_t *to = place->write ? &place->puts : &place->group, *n = place->write ? &p->n_puts : &p->n_groups;
    for (const GrPlace *other = p->places; other < place && !*to; other++)
        *to = other->params != place->params ? 0 : place->write ? other->puts : other->group;
    if (!*to && *n < (place->write ? GR_PLACE_PUTS : GR_PLACE_GROUPS))
        *to = ++*n;
}

static gr_status find(Finder *f, Arena *arena, bool *fits, gr_error *err) {
    PtxStmt **sites = GR_NEW_ARRAY(arena, PtxStmt *, MOST_PLACES);
    GrPlaces *p = f->out;
    p->places = GR_NEW_ARRAY(arena, GrPlace, MOST_PLACES);
    f->nomem |= !sites || !p->places || !gr_vec_push(&f->nodes, ((GrPlaceNode){0}));
    *fits = true;
    find_origins(f);
    for (PtxStmt *s = f->f->first; s && *fits && !f->nomem; s = s->next) {
        bool one = true;
        if (s->kind == PTX_INSTR &&
            s->instr->op == PTX_OP_CALL) // it may access memory, or compute an address
            *fits = false;
        if (!s->site || gr_grid_is_access(f->grid, s) || !is_seen(&f->f->module->sites[s->site], &one))
            continue;
        *fits = one && p->n_places < MOST_PLACES;
        if (*fits) {
            sites[p->n_places] = s;
            GrPlace *place = &p->places[p->n_places++];
            *place = place_of(f, &f->f->module->sites[s->site]);
            place->site = s->site;
            put_in_group(p, place, &f->f->module->sites[s->site]);
            find_guards(f, s, place);
        }
    }
    drop_mixed(p);
    p->n_nodes = (uint32_t)f->nodes.len;
    p->nodes = GR_NEW_ARRAY(arena, GrPlaceNode, f->nodes.len + 1);
    GR_NEED(!f->nomem && p->nodes, err);
    memcpy(p->nodes, f->nodes.data, f->nodes.len * sizeof *p->nodes);
    if (*fits)
        GR_MUST(gr_places_find_meetings(f->g, sites, arena, p, err));
    return GR_OK;
}

static size_t bytes_together(const GrPlaces *p) { return ((size_t)p->n_places * p->n_places + 63) / 64 * 8; }

// As large as it has become. NULL: out of memory.
static GrPlaces *settle(const GrPlaces *p, Arena *arena) {
    GrPlaces *to = GR_NEW(arena, GrPlaces);
    GrPlaceNode *nodes = GR_NEW_ARRAY(arena, GrPlaceNode, p->n_nodes);
    GrPlace *places = GR_NEW_ARRAY(arena, GrPlace, p->n_places);
    uint64_t *together = gr_arena_alloc(arena, bytes_together(p));
    if (!to || !nodes || !places || !together)
        return NULL;
    *to = *p;
    to->nodes = memcpy(nodes, p->nodes, p->n_nodes * sizeof *nodes);
    to->places = memcpy(places, p->places, p->n_places * sizeof *places);
    to->together = memcpy(together, p->together, bytes_together(p));
    return to;
}

static gr_status find_in(const Cfg *g, const GrGrid *grid, Arena *arena, GrPlaces **out, gr_error *err) {
    size_t n = (size_t)g->func->n_regs + 1;
    bool fits = false;
    Finder f = {.g = g,
                .f = g->func,
                .grid = grid,
                .out = GR_NEW(arena, GrPlaces),
                .def = GR_NEW_ARRAY(arena, const PtxStmt *, n),
                .many = GR_NEW_ARRAY(arena, bool, n),
                .node = GR_NEW_ARRAY(arena, uint32_t, n),
                .origin = GR_NEW_ARRAY(arena, Origin, n)};
    *out = NULL;
    GR_NEED(f.out && f.def && f.many && f.node && f.origin, err);
    for (const PtxStmt *s = f.f->first; s; s = s->next) {
        const PtxOperand *to = s->kind == PTX_INSTR ? gr_find_destination(s->instr) : NULL;
        if (to)
            define(&f, to, s);
    }
    gr_status st = find(&f, arena, &fits, err);
    gr_vec_free(&f.nodes);
    gr_vec_free(&f.vars);
    *out = st == GR_OK && fits ? f.out : NULL;
    return st;
}

gr_status gr_places_find(const Cfg *g, const GrGrid *grid, Arena *arena, GrPlaces **out, gr_error *err) {
    Arena work = {0};
    GrPlaces *found;
    gr_status st = find_in(g, grid, &work, &found, err);
    *out = found ? settle(found, arena) : NULL;
    if (found && !*out)
        st = gr_no_memory(err);
    gr_arena_free(&work);
    return st;
}

// ---- To be kept -----------------------------------------------------------------------------------------------------

static void *keep(const void *from, size_t bytes, bool *ok) {
    void *to = malloc(bytes + 1);
    *ok = *ok && to;
    if (to)
        memcpy(to, from, bytes);
    return to;
}

GrPlaces *gr_places_keep(const GrPlaces *p) {
    bool ok = true;
    GrPlaces *to = keep(p, sizeof *p, &ok);
    if (!to)
        return NULL;
    to->nodes = keep(p->nodes, p->n_nodes * sizeof *p->nodes, &ok);
    to->places = keep(p->places, p->n_places * sizeof *p->places, &ok);
    to->together = keep(p->together, bytes_together(p), &ok);
    if (ok)
        return to;
    gr_places_free(to);
    return NULL;
}

void gr_places_free(GrPlaces *p) {
    if (!p)
        return;
    free(p->nodes);
    free(p->places);
    free(p->together);
    free(p);
}
