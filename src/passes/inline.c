// SPDX-License-Identifier: Apache-2.0
#include "passes/inline.h"

#include "base/str.h"

#include <stdlib.h>
#include <string.h>

enum {
    MOST_DEEP = 24,
    MOST_STMTS = 20000, // statements that are put into one kernel
    MOST_PARAMS = 64,
};

#define END "GR_INLINE_END"

// What a parameter or result becomes: a register, if it is only loaded and stored whole; else a variable of the thread.
typedef struct Passed {
    PtxVar *caller, *callee;
    PtxReg *reg;
    PtxVar *local;
} Passed;

typedef struct Call {
    PtxFunc *f, *callee;
    PtxStmt *stmt;
    PtxStmt *first, *end; // all that uses what is passed is from `first` on, before `end`
    Passed passed[MOST_PARAMS];
    unsigned n_passed;
    // The callee takes the address of a parameter, and may use it in an access of parameter space.
    bool addresses;
    VEC(const PtxStmt *) from; // the statements that are printed, in order
    VEC(Passed) locals;        // of the callee's .local variables: caller is NULL
} Call;

typedef struct Inliner {
    GrInlined *all;
    PtxModule *m;
    PtxFunc *f;
    bool (*wants)(const void *user, const PtxFunc *callee);
    const void *user;
    const PtxFunc *chain[MOST_DEEP];
    unsigned depth;
    uint32_t n_stmts;
    gr_error *err;
} Inliner;

// ---- Uses of a variable ---------------------------------------------------------------------------------------------

static bool names_var(const PtxOperand *o, const PtxVar *v) {
    if (o->var == v)
        return true;
    for (unsigned k = 0; k < o->n_sub; k++)
        if (names_var(&o->sub[k], v))
            return true;
    return false;
}

static bool uses_var(const PtxStmt *s, const PtxVar *v) {
    for (unsigned k = 0; s->kind == PTX_INSTR && k < s->instr->n_operands; k++)
        if (names_var(&s->instr->operands[k], v))
            return true;
    return false;
}

static bool is_param_space(PtxSpace s) { return s == PTX_PARAM || s == PTX_PARAM_FUNC; }

// The value of a load or store of a parameter; NULL: it is something else. *address: its other operand.
static PtxOperand *value_of(const PtxStmt *s, PtxOperand **address) {
    const PtxInstr *i = s->instr;
    bool load = i->op == PTX_OP_LD;
    if ((!load && i->op != PTX_OP_ST) || !is_param_space(i->space) || i->n_operands != 2)
        return NULL;
    *address = &i->operands[load];
    return &i->operands[!load];
}

static bool takes_address(const PtxStmt *s, const PtxVar *v) {
    const PtxInstr *i = s->instr;
    return i->op == PTX_OP_MOV && i->n_operands == 2 && i->operands[1].kind == PTX_O_VAR &&
           i->operands[1].var == v;
}

// An access of parameter space at an address that the function has taken of one.
static bool is_by_address(const PtxStmt *s) {
    PtxOperand *address;
    return s->kind == PTX_INSTR && value_of(s, &address) && address->kind == PTX_O_ADDRESS &&
           address->n_sub == 1 && address->sub[0].kind == PTX_O_REG;
}

static bool is_whole(const PtxStmt *s, const PtxVar *v) {
    PtxOperand *address, *value = value_of(s, &address);
    if (!value || s->instr->vec > 1 || address->kind != PTX_O_ADDRESS || address->offset ||
        address->n_sub != 1 || address->sub[0].kind != PTX_O_VAR || address->sub[0].offset)
        return false;
    unsigned bits = gr_ptx_type_bits(s->instr->type[0]);
    if (bits != 8 * v->size)
        return false;
    return value->kind == PTX_O_REG
               ? !value->negated && value->reg->vec <= 1 && gr_ptx_type_bits(value->reg->type) == bits
               : s->instr->op == PTX_OP_ST &&
                     (value->kind == PTX_O_INT || value->kind == PTX_O_F32 || value->kind == PTX_O_F64);
}

// All uses but the call itself load or store the whole variable. *moves: all are loads and stores, or take the address
// (*addresses).
static bool uses_whole(const PtxStmt *first, const PtxStmt *end, const PtxVar *v, const PtxStmt *call,
                       bool *moves, bool *addresses) {
    bool whole = v->ndims == 0 && (v->size == 2 || v->size == 4 || v->size == 8);
    *moves = true;
    *addresses = false;
    for (const PtxStmt *s = first; s != end; s = s->next) {
        PtxOperand *address;
        if (s == call || !uses_var(s, v))
            continue;
        whole = whole && is_whole(s, v);
        *addresses |= takes_address(s, v);
        *moves &= takes_address(s, v) || value_of(s, &address) != NULL;
    }
    return whole;
}

// ---- What can be put in ---------------------------------------------------------------------------------------------

static bool is_shared(const PtxVar *v) { return v->space == PTX_SHARED || v->space == PTX_SHARED_CTA; }

static bool is_plain(const PtxFunc *f) {
    if (!f->has_body || f->tag.inserted || f->is_entry || f->reg_params ||
        f->n_rets + f->n_params > MOST_PARAMS)
        return false;
    for (uint32_t k = 0; k < f->n_regs; k++)
        if (f->regs[k]->vec > 1)
            return false;
    for (const PtxStmt *s = f->first; s; s = s->next) {
        const PtxVar *v = s->kind == PTX_DECL_VAR ? s->var : NULL;
        bool fits = !v || ((v->space == PTX_LOCAL || is_param_space(v->space) || is_shared(v)) && !v->init &&
                           !v->is_extern);
        if (s->tag.inserted || (s->kind == PTX_RAW && s->text[0]) || !fits ||
            (s->kind == PTX_DECL_REG && s->reg_decl->vec > 1))
            return false;
    }
    return true;
}

static bool pass(Call *c, const PtxOperand *given, PtxVar *callee) {
    Passed p = {.caller = given->var, .callee = callee};
    bool moves, moves_too, addresses, addresses_too;
    if (given->kind != PTX_O_VAR || given->offset || !p.caller || p.caller->func != c->f ||
        !is_param_space(p.caller->space) || p.caller->size != callee->size)
        return false;
    for (uint32_t k = 0; k < c->f->n_params; k++)
        if (c->f->params[k] == p.caller)
            return false;
    bool whole = uses_whole(c->first, c->end, p.caller, c->stmt, &moves, &addresses);
    whole = uses_whole(c->callee->first, NULL, callee, NULL, &moves_too, &addresses_too) && whole;
    if (!moves || !moves_too || addresses)
        return false;
    c->addresses |= addresses_too;
    if (whole)
        p.reg = gr_ptx_new_reg(c->f, callee->size == 2 ? PTX_B16 : callee->size == 4 ? PTX_B32 : PTX_B64);
    c->passed[c->n_passed++] = p;
    return true;
}

static bool is_declared(const PtxStmt *first, const PtxStmt *end, const PtxOperand *list) {
    unsigned found = 0;
    for (const PtxStmt *s = first; s != end; s = s->next)
        for (unsigned k = 0; s->kind == PTX_DECL_VAR && k < list->n_sub; k++)
            found += list->sub[k].var == s->var;
    return found == list->n_sub;
}

// The scope around the call, if it declares all that is passed, as a compiler writes it; else the function.
static void find_scope(Call *c, const PtxCallParts *parts) {
    int depth = 0;
    PtxStmt *first = c->stmt->prev, *end = c->stmt->next;
    for (; first && (depth || first->kind != PTX_SCOPE_OPEN); first = first->prev)
        depth += (first->kind == PTX_SCOPE_CLOSE) - (first->kind == PTX_SCOPE_OPEN);
    for (depth = 0; end && (depth || end->kind != PTX_SCOPE_CLOSE); end = end->next)
        depth += (end->kind == PTX_SCOPE_OPEN) - (end->kind == PTX_SCOPE_CLOSE);
    bool all = first && end && (!parts->rets || is_declared(first, end, parts->rets)) &&
               (!parts->params || is_declared(first, end, parts->params));
    c->first = all ? first : c->f->first;
    c->end = all ? end : NULL;
}

static bool pass_all(Call *c) {
    PtxCallParts parts = gr_ptx_call_parts(c->stmt->instr);
    find_scope(c, &parts);
    unsigned n_rets = parts.rets ? parts.rets->n_sub : 0, n_params = parts.params ? parts.params->n_sub : 0;
    bool ok = n_rets == c->callee->n_rets && n_params == c->callee->n_params;
    for (unsigned k = 0; ok && k < n_rets; k++)
        ok = pass(c, &parts.rets->sub[k], c->callee->rets[k]);
    for (unsigned k = 0; ok && k < n_params; k++)
        ok = pass(c, &parts.params->sub[k], c->callee->params[k]);
    return ok;
}

// ---- Variables ------------------------------------------------------------------------------------------------------

static uint32_t align_of(const PtxVar *v) {
    uint32_t natural = gr_ptx_type_bits(v->type) / 8 * (v->vec ? v->vec : 1);
    return v->align ? v->align : natural ? natural : 1;
}

static void replace_var(PtxOperand *o, const PtxVar *from, PtxVar *to) {
    if (o->var == from)
        o->var = to;
    for (unsigned k = 0; k < o->n_sub; k++)
        replace_var(&o->sub[k], from, to);
}

static void drop(PtxStmt *s) {
    s->kind = PTX_RAW;
    s->text = "";
    s->site = 0;
}

static gr_status make_local(Inliner *n, const PtxVar *like, PtxVar **out) {
    char text[160];
    PtxStmt *s = NULL;
    snprintf(text, sizeof text, ".local .align %u .b8 __gr_of_call_%u[%llu];", align_of(like),
             n->all->names++, (unsigned long long)like->size);
    GR_MUST(gr_ptx_insert(n->f, n->f->first, 0, text, NULL, 0, &s, n->err));
    s->tag = (PtxTag){0};
    *out = s->var;
    return gr_vec_push(&n->all->stmts, s) ? GR_OK : gr_no_memory(n->err);
}

// The module may have a variable of that name: nothing else is called so, in whatever scope.
static bool is_only(const PtxModule *m, const PtxVar *v) {
    bool only = !gr_ptx_find_var(m, v->name) && !gr_ptx_find_func(m, v->name);
    for (uint32_t k = 0; k < m->n_funcs && only; k++) {
        const PtxFunc *f = m->funcs[k];
        for (uint32_t i = 0; i < f->n_params; i++)
            only = only && strcmp(f->params[i]->name, v->name);
        for (const PtxStmt *s = f->first; s && only; s = s->next)
            only = s->kind != PTX_DECL_VAR || s->var == v || strcmp(s->var->name, v->name);
    }
    return only;
}

// Moves a block's variable that a function declares to the module, as it is one for all calls of the function.
static gr_status lift(Inliner *n, PtxFunc *g, PtxStmt *declared) {
    gr_status st = GR_OK;
    StrBuf text = {0};
    char made[32];
    PtxModule *with = NULL;
    PtxVar *v = declared->var, *now = NULL;
    snprintf(made, sizeof made, "__gr_of_block_%u", n->all->names++);
    const char *name = is_only(n->m, v) ? v->name : made;
    gr_str_addf(&text, ".version 6.0\n.target sm_50\n.address_size 64\n.shared .align %u .b8 %s[%llu];\n",
                align_of(v), name, (unsigned long long)v->size);
    GR_TRY(!text.oom ? GR_OK : gr_no_memory(n->err));
    GR_TRY(gr_ptx_parse(text.data, text.len, "a variable of a function", &with, n->err));
    GR_TRY(gr_ptx_link_runtime(n->m, with, n->err));
    GR_TRY((now = gr_ptx_find_var(n->m, name)) ? GR_OK : gr_no_memory(n->err));
    for (PtxStmt *s = g->first; s; s = s->next)
        for (unsigned k = 0; s->kind == PTX_INSTR && k < s->instr->n_operands; k++)
            replace_var(&s->instr->operands[k], v, now);
    drop(declared);
done:
    gr_ptx_free(with);
    gr_str_free(&text);
    return st;
}

static gr_status lift_all(Inliner *n, PtxFunc *g) {
    gr_status st = GR_OK;
    for (PtxStmt *s = g->first; s && st == GR_OK; s = s->next)
        if (s->kind == PTX_DECL_VAR && is_shared(s->var))
            st = lift(n, g, s);
    return st;
}

static gr_status make_locals(Inliner *n, Call *c) {
    gr_status st = GR_OK;
    for (unsigned k = 0; k < c->n_passed && st == GR_OK; k++)
        if (!c->passed[k].reg)
            st = make_local(n, c->passed[k].callee, &c->passed[k].local);
    for (const PtxStmt *s = c->callee->first; s && st == GR_OK; s = s->next) {
        if (s->kind != PTX_DECL_VAR || s->var->space != PTX_LOCAL)
            continue;
        Passed p = {.callee = s->var};
        st = make_local(n, s->var, &p.local);
        if (st == GR_OK && !gr_vec_push(&c->locals, p))
            st = gr_no_memory(n->err);
    }
    return st;
}

static const Passed *passed_of(const Call *c, const PtxStmt *s, bool caller) {
    for (unsigned k = 0; k < c->n_passed; k++) {
        const PtxVar *v = caller ? c->passed[k].caller : c->passed[k].callee;
        if (v && uses_var(s, v))
            return &c->passed[k];
    }
    return NULL;
}

// Changes an access to a former parameter, which is a variable now.
static void in_local_space(PtxInstr *i) {
    for (unsigned k = 0; k < i->n_mods; k++)
        if (!strncmp(i->mods[k].text, "param", 5)) {
            i->mods[k].id = PTX_MOD_local;
            i->mods[k].text = "local";
        }
    gr_ptx_instr_summarize(i);
}

// ---- The code -------------------------------------------------------------------------------------------------------

static void print_guard(const PtxInstr *i, StrBuf *out) {
    if (i->guard)
        gr_str_addf(out, "@%s%s ", i->guard_negated ? "!" : "", i->guard->name);
}

static void print_move(const PtxStmt *s, const Passed *p, StrBuf *out) {
    PtxOperand *address, *value = value_of(s, &address);
    bool load = s->instr->op == PTX_OP_LD;
    bool literal = value->kind == PTX_O_F32 || value->kind == PTX_O_F64;
    print_guard(s->instr, out);
    gr_str_addf(out, "mov.%c%u ", literal ? 'f' : 'b', 8 * (unsigned)p->callee->size);
    if (!load)
        gr_str_addf(out, "%s, ", p->reg->name);
    gr_ptx_print_operand(value, out);
    gr_str_addf(out, load ? ", %s;" : ";", p->reg->name);
}

static bool is_left_out(const PtxStmt *s) {
    return s->kind == PTX_LOC || s->kind == PTX_DECL_REG || s->kind == PTX_RAW ||
           (s->kind == PTX_DECL_VAR && s->var->space == PTX_LOCAL);
}

// Prints the callee's body with the names that it has in the kernel. False: out of memory.
static bool print_body(Call *c, StrBuf *out) {
    PtxFunc *g = c->callee;
    for (const PtxStmt *s = g->first; s; s = s->next) {
        if (is_left_out(s))
            continue;
        const Passed *p = s->kind == PTX_INSTR ? passed_of(c, s, false) : NULL;
        if (p && p->reg)
            print_move(s, p, out);
        else if (s->kind == PTX_INSTR && s->instr->op == PTX_OP_RET) {
            print_guard(s->instr, out);
            gr_str_add(out, "bra " END ";");
        } else
            gr_ptx_print_stmt(s, out);
        gr_str_addc(out, '\n');
        if (!gr_vec_push(&c->from, s))
            return false;
    }
    gr_str_add(out, END ":\n");
    return !out->oom;
}

static gr_status print_renamed(Inliner *n, Call *c, StrBuf *out) {
    PtxFunc *g = c->callee;
    const char **names = malloc((g->n_regs + 1) * sizeof *names),
               **of_locals = malloc((c->locals.len + 1) * sizeof *of_locals);
    bool ok = names && of_locals;
    for (uint32_t k = 0; ok && k < g->n_regs; k++) {
        names[k] = g->regs[k]->name;
        g->regs[k]->name = gr_ptx_new_reg(n->f, g->regs[k]->type)->name;
    }
    for (size_t k = 0; ok && k < c->locals.len; k++) {
        of_locals[k] = c->locals.data[k].callee->name;
        c->locals.data[k].callee->name = c->locals.data[k].local->name;
    }
    const char *of_passed[MOST_PARAMS];
    for (unsigned k = 0; ok && k < c->n_passed; k++) {
        of_passed[k] = c->passed[k].callee->name;
        if (c->passed[k].local)
            c->passed[k].callee->name = c->passed[k].local->name;
    }
    bool printed = ok && print_body(c, out);
    for (unsigned k = 0; ok && k < c->n_passed; k++)
        c->passed[k].callee->name = of_passed[k];
    for (size_t k = 0; ok && k < c->locals.len; k++)
        c->locals.data[k].callee->name = of_locals[k];
    for (uint32_t k = 0; ok && k < g->n_regs; k++)
        g->regs[k]->name = names[k];
    free(names);
    free(of_locals);
    return printed && !n->m->nomem ? GR_OK : gr_no_memory(n->err);
}

// Changes the kernel's side of parameters and results.
static gr_status change_caller(Inliner *n, Call *c) {
    for (PtxStmt *s = c->first; s != c->end; s = s->next) {
        for (unsigned k = 0; s->kind == PTX_DECL_VAR && k < c->n_passed; k++)
            if (s->var == c->passed[k].caller)
                drop(s);
        const Passed *p = s->kind == PTX_INSTR && s != c->stmt ? passed_of(c, s, true) : NULL;
        if (p && p->local) {
            for (unsigned k = 0; k < s->instr->n_operands; k++)
                replace_var(&s->instr->operands[k], p->caller, p->local);
            in_local_space(s->instr);
            if (!gr_vec_push(&n->all->stmts, s)) // an access to local memory would be a site
                return gr_no_memory(n->err);
        } else if (p) {
            StrBuf text = {0};
            PtxStmt *move = NULL;
            print_move(s, p, &text);
            gr_status st = text.oom ? gr_no_memory(n->err)
                                    : gr_ptx_insert(n->f, s, 0, text.data, NULL, 0, &move, n->err);
            gr_str_free(&text);
            if (st != GR_OK)
                return st;
            move->tag = (PtxTag){0};
            move->loc = s->loc;
            GR_NEED(gr_vec_push(&n->all->stmts, move), n->err);
            drop(s);
        }
    }
    return GR_OK;
}

// In the kernel, the name of a variable that the function takes from the module means the same.
static bool are_same(const PtxOperand *own, const PtxOperand *copy) {
    bool same = own->n_sub == copy->n_sub && (!own->var || own->var->func || own->var == copy->var);
    for (unsigned k = 0; k < own->n_sub && same; k++)
        same = are_same(&own->sub[k], &copy->sub[k]);
    return same;
}

static bool is_copy(const PtxStmt *own, const PtxStmt *copy, bool moves) {
    bool same = own->kind == copy->kind;
    if (!same || own->kind != PTX_INSTR || moves || own->instr->op == PTX_OP_RET)
        return same;
    same = own->instr->op == copy->instr->op && own->instr->n_operands == copy->instr->n_operands;
    for (unsigned k = 0; same && k < own->instr->n_operands; k++)
        same = are_same(&own->instr->operands[k], &copy->instr->operands[k]);
    return same;
}

static gr_status note_copies(Inliner *n, Call *c, PtxStmt *copy) {
    GrInlined *all = n->all;
    for (size_t k = 0; k < c->from.len; k++, copy = copy->next) {
        const PtxStmt *s = c->from.data[k];
        const Passed *p = s->kind == PTX_INSTR ? passed_of(c, s, false) : NULL;
        if (copy == c->stmt || !is_copy(s, copy, p && p->reg))
            return gr_fail(n->err, GR_ERR_INTERNAL, "%s: a copy of the code is another code",
                           c->callee->name);
        copy->tag = (PtxTag){0};
        copy->loc = s->loc;
        copy->line = s->line;
        copy->col = s->col;
        if ((p && p->local) || (c->addresses && is_by_address(copy)))
            in_local_space(copy->instr);
        bool ok = gr_vec_push(&all->stmts, copy);
        if (ok && s->site) {
            PtxSite site = all->own[s->site];
            site.func = n->f;
            site.stmt = copy;
            copy->site = (uint32_t)all->sites.len;
            ok = gr_vec_push(&all->sites, site);
        }
        GR_NEED(ok, n->err);
    }
    return GR_OK;
}

static gr_status visit(Inliner *n, PtxStmt *first, const PtxStmt *end);

static gr_status put_in(Inliner *n, PtxStmt *s) {
    gr_status st = GR_OK;
    StrBuf text = {0};
    PtxStmt *first = NULL;
    Call c = {.f = n->f, .callee = s->instr->callee, .stmt = s};
    if (!pass_all(&c))
        goto done;
    GR_TRY(lift_all(n, c.callee));
    GR_TRY(make_locals(n, &c));
    GR_TRY(print_renamed(n, &c, &text));
    GR_TRY(change_caller(n, &c));
    GR_TRY(gr_ptx_insert(n->f, s, 0, text.data, NULL, 0, &first, n->err));
    GR_TRY(note_copies(n, &c, first));
    n->n_stmts += (uint32_t)c.from.len;
    n->chain[n->depth++] = c.callee;
    st = visit(n, first, s);
    n->depth--;
    drop(s);
done:
    gr_str_free(&text);
    gr_vec_free(&c.from);
    gr_vec_free(&c.locals);
    return st;
}

static bool is_under_way(const Inliner *n, const PtxFunc *callee) {
    for (unsigned k = 0; k < n->depth; k++)
        if (n->chain[k] == callee)
            return true;
    return n->depth == MOST_DEEP;
}

static gr_status visit(Inliner *n, PtxStmt *first, const PtxStmt *end) {
    gr_status st = GR_OK;
    for (PtxStmt *s = first; s && s != end && st == GR_OK; s = s->next) {
        PtxFunc *callee = s->kind == PTX_INSTR && s->instr->op == PTX_OP_CALL ? s->instr->callee : NULL;
        if (callee && !s->tag.inserted && !s->instr->guard && n->n_stmts < MOST_STMTS &&
            !is_under_way(n, callee) && n->wants(n->user, callee) && is_plain(callee))
            st = put_in(n, s);
    }
    return st;
}

// ---- Beginning and end ----------------------------------------------------------------------------------------------

static bool begin(GrInlined *all, PtxModule *m) {
    if (all->began)
        return true;
    all->own = m->sites;
    all->n_sites = m->n_sites;
    bool ok = true;
    for (uint32_t k = 0; k <= m->n_sites && ok; k++)
        ok = gr_vec_push(&all->sites, m->sites[k]);
    all->began = ok;
    return ok;
}

gr_status gr_inline_calls(GrInlined *all, PtxModule *m, PtxFunc *kernel,
                          bool (*wants)(const void *user, const PtxFunc *callee), const void *user,
                          gr_error *err) {
    Inliner n = {.all = all, .m = m, .f = kernel, .wants = wants, .user = user, .err = err};
    GR_NEED(begin(all, m), err);
    gr_status st = visit(&n, kernel->first, NULL);
    m->sites = all->sites.data;
    m->n_sites = (uint32_t)all->sites.len - 1;
    return st;
}

void gr_inline_end(GrInlined *all, PtxModule *m) {
    if (all->began) {
        m->sites = all->own;
        m->n_sites = all->n_sites;
    }
    for (size_t k = 0; k < all->stmts.len; k++) {
        all->stmts.data[k]->tag.inserted = true;
        all->stmts.data[k]->site = 0;
    }
    gr_vec_free(&all->stmts);
    gr_vec_free(&all->sites);
}
