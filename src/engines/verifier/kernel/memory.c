// SPDX-License-Identifier: Apache-2.0
// memory — loads, stores, atomics and copies: what they access, and what they leave in registers and local memory.
#include "engines/verifier/kernel/exec.h"
#include "engines/verifier/term/range.h"

// No thread comes to the statement, whatever the launch: so what is not understood there leaves nothing open.
static bool is_never(const KWalk *w, const KStmt *s) {
    return w->guard[s->block] && gr_term_is_const(w->guard[s->block], 0);
}

static void add_gap(KWalk *w, const KStmt *s, const GrGap *g) {
    if (is_never(w, s))
        return;
    for (size_t k = 0; k < w->out->gaps.len; k++)
        if (w->out->gaps.data[k].place == s->place && !strcmp(w->out->gaps.data[k].why, g->why))
            return;
    GrGap own = *g;
    own.place = s->place;
    own.why = gr_arena_strdup(w->f->arena, g->why);
    if (!own.why || !gr_vec_push(&w->out->gaps, own))
        w->nomem = true;
}

void gr_gap(KWalk *w, const KStmt *s, bool whole, const char *why) {
    add_gap(w, s, &(GrGap){.why = why, .whole_kernel = whole});
}

void gr_gap_of_link(KWalk *w, const KStmt *s, const char *why) {
    if (why)
        add_gap(w, s, &(GrGap){.why = why, .whole_kernel = true, .of_link = true});
    else
        w->nomem = true;
}

// ---- Accesses -------------------------------------------------------------------------------------------------------

typedef struct Access {
    bool reads, writes, atomic, async, keeps;
    uint32_t size;
    const GrTerm *value, *compare, *swap; // GrKernelAccess
} Access;

static bool is_strong(const PtxInstr *i) {
    return (gr_ptx_op_flags(i->op) & PTX_F_ATOMIC) || (i->sem != PTX_SEM_NONE && i->sem != PTX_WEAK);
}

static void mark_written(KWalk *w, const GrObject *o) {
    if (o->kind == GR_OBJECT_UNKNOWN)
        w->unknown_written = true;
    while (w->written.len <= o->id)
        if (!gr_vec_push(&w->written, false)) {
            w->nomem = true;
            return;
        }
    w->written.data[o->id] = true;
}

static void record(KWalk *w, const KStmt *s, const KTarget *to, const Access *a) {
    const PtxInstr *i = s->stmt.instr;
    const GrTerm *guard =
        gr_bool_and(w->t, gr_bool_and(w->t, w->guard[s->block], gr_predicate(w, s)), to->when);
    if (!guard || !to->object || !to->offset) {
        w->nomem = true;
        return;
    }
    if (gr_term_is_const(guard, 0))
        return;
    if (a->writes)
        mark_written(w, to->object);
    if (w->out->accesses.len >= w->most_accesses) {
        w->limit = "too many accesses";
        return;
    }
    GrKernelAccess *k = GR_NEW(w->f->arena, GrKernelAccess);
    if (!k || !gr_vec_push(&w->out->accesses, k)) {
        w->nomem = true;
        return;
    }
    *k = (GrKernelAccess){.id = (uint32_t)w->out->accesses.len - 1,
                          .stmt = s->origin,
                          .func = s->frame->func,
                          .site = s->origin->site,
                          .place = s->place,
                          .reads = a->reads,
                          .writes = a->writes,
                          .atomic = a->atomic,
                          .strong = is_strong(i),
                          .sem = i->sem,
                          .async = a->async,
                          .size = a->size,
                          .unit = gr_ptx_type_bits(i->type[0]) / 8,
                          .object = to->object,
                          .offset = to->offset,
                          .guard = guard,
                          .value = a->writes && !a->atomic ? a->value : NULL,
                          .keeps = a->keeps,
                          .compare = a->compare,
                          .swap = a->swap,
                          .flat = s};
    k->scope = i->scope;
    if (k->strong && k->scope == PTX_SCOPE_NONE)
        k->scope = i->sem == PTX_VOLATILE || i->sem == PTX_MMIO ? PTX_SCOPE_SYS : PTX_SCOPE_GPU;
    k->loop = w->f->loop_of[s->block] ? w->f->loop_of[s->block]->loop : NULL;
}

// ---- Addresses of instructions -----------------------------------------------------------------------------------

const GrTerm *gr_address_of(KWalk *w, const KStmt *s, const PtxOperand *o) {
    if (o->kind != PTX_O_ADDRESS)
        return gr_operand(w, s, o, 64);
    const GrTerm *base = NULL;
    uint32_t bits = 64;
    if (o->n_sub && o->sub[0].kind == PTX_O_REG)
        bits = gr_walk_reg_bits(o->sub[0].reg) == 32 ? 32 : 64;
    base = o->n_sub ? gr_operand(w, s, &o->sub[0], bits) : gr_term_const(w->t, 64, 0);
    return gr_term_2(w->t, GR_TERM_ADD, base, gr_term_const(w->t, bits, (uint64_t)o->offset));
}

static bool constant_offset(const KTarget *to, int64_t *out) {
    if (to->offset->op != GR_TERM_CONST)
        return false;
    *out = gr_term_signed(to->offset);
    return true;
}

// ---- Loads ----------------------------------------------------------------------------------------------------------

static bool is_changing(const KWalk *w, const GrObject *o) {
    for (size_t k = 0; k < w->n_changing; k++)
        if (gr_is_same_object(w->changing[k], o))
            return true;
    return false;
}

static const GrTerm *loaded(KWalk *w, const KStmt *s, const KTarget *to, unsigned element, uint32_t size,
                            unsigned which) {
    uint64_t slot = (uint64_t)which << 8 | element;
    uint32_t bits = size > 8 ? 64 : size * 8;
    int64_t at = 0;
    if (to->local) {
        if (!constant_offset(to, &at) || size > 8) {
            const GrTerm *v =
                gr_walk_free_value(w, s, slot, bits, to->local->is_param ? "a parameter" : "local memory");
            if (v &&
                !gr_map_put_u64(&w->local_frees, v->sym->id,
                                (void *)(uintptr_t)((to->local->pieces.len ? w->n_vars : to->local->id) + 1)))
                w->nomem = true;
            return v;
        }
        at += (int64_t)element * size;
        if (to->local->is_param)
            return gr_term_sym(w->t, gr_kernel_param(w->t, w->f->frames.data[0]->func, to->local->param,
                                                     (uint32_t)at, bits));
        return gr_walk_load(w, s, to->local, at, size);
    }
    const GrObject *o = to->object;
    if (!o)
        return NULL;
    bool constant = o->var && o->var->space == PTX_CONST;
    bool global = (o->kind == GR_OBJECT_PARAM || o->kind == GR_OBJECT_GLOBAL) && !is_changing(w, o);
    global = global && !is_strong(s->stmt.instr); // who loads so expects others to change it
    if (size <= 8 && (constant || (!w->blind && global && !o->written && !w->unknown_written_before))) {
        const GrTerm *off =
            gr_term_2(w->t, GR_TERM_ADD, to->offset, gr_term_const(w->t, 64, (uint64_t)element * size));
        return gr_term_read(w->t, bits, o->symbol, off);
    }
    const GrTerm *v = gr_walk_free_value(w, s, slot, bits, "a load");
    if (v && o->kind == GR_OBJECT_UNKNOWN && gr_walk_may_be_kept(w, to->offset) &&
        !gr_map_put_u64(&w->local_frees, v->sym->id, (void *)(uintptr_t)(w->n_vars + 1)))
        w->nomem = true;
    return v;
}

static void load(KWalk *w, const KStmt *s) {
    const PtxInstr *i = s->stmt.instr;
    uint32_t size = gr_ptx_type_bits(i->type[0]) / 8;
    unsigned n = i->vec ? i->vec : 1;
    if (i->n_operands < 2 || !size || n > 8) {
        gr_gap(w, s, true, i->opcode);
        return;
    }
    const PtxOperand *dst = &i->operands[0];
    KTarget to[K_MOST_TARGETS];
    unsigned n_to = gr_address(w, s, gr_address_of(w, s, &i->operands[1]), to);
    for (unsigned k = 0; k < n_to; k++)
        if (!to[k].local)
            record(w, s, &to[k], &(Access){.reads = true, .size = size * n});
    for (unsigned e = 0; e < n; e++) {
        const PtxOperand *d = n > 1 && dst->kind == PTX_O_VECTOR && e < dst->n_sub ? &dst->sub[e] : dst;
        const GrTerm *v = NULL;
        for (unsigned k = n_to; k--;) {
            const GrTerm *one = loaded(w, s, &to[k], e, size, k);
            v = v ? gr_bool_ite(w->t, to[k].when, one, v) : one;
        }
        if (!v || d->kind != PTX_O_REG || size > 8)
            gr_assign_free(w, s, d, "a load");
        else
            gr_assign(w, s, d,
                      gr_term_resize(w->t, gr_walk_reg_bits(d->reg), gr_ptx_type_is_signed(i->type[0]), v));
    }
}

// ---- Stores ---------------------------------------------------------------------------------------------------------

// Stores to one of the bytes that the index allows. Members of a structure around an array keep what they have.
static void store_at_index(KWalk *w, const KStmt *s, const KTarget *to, int64_t bytes) {
    const GrTerm *guard =
        gr_bool_and(w->t, gr_bool_and(w->t, w->guard[s->block], gr_predicate(w, s)), to->when);
    GrTermRange r = gr_term_range(to->offset, guard);
    bool wide = r.low < INT32_MIN || r.high > INT32_MAX;
    int64_t low = r.low < INT32_MIN ? INT32_MIN : r.low, high = wide ? INT32_MAX : r.high + bytes - 1;
    gr_walk_clobber_range(w, s, to->local, low, high);
    for (size_t k = 0; k < to->local->pieces.len; k++) { // from the frame's begin on
        const KVar *v = to->local->pieces.data[k];
        gr_walk_clobber_range(w, s, v, low - v->start, high - v->start);
    }
}

static void store_local(KWalk *w, const KStmt *s, const KTarget *to, const PtxOperand *src, uint32_t size,
                        unsigned n, bool sure) {
    int64_t at = 0;
    if (!constant_offset(to, &at)) {
        store_at_index(w, s, to, (int64_t)size * n);
        return;
    }
    for (unsigned e = 0; e < n; e++) {
        const PtxOperand *o = n > 1 && src->kind == PTX_O_VECTOR && e < src->n_sub ? &src->sub[e] : src;
        int64_t off = at + (int64_t)e * size;
        const GrTerm *v = size <= 8 ? gr_operand(w, s, o, size * 8) : NULL;
        if (v && (!sure || s->stmt.instr->guard)) {
            const GrTerm *when = gr_bool_and(w->t, to->when, gr_predicate(w, s));
            v = gr_bool_ite(w->t, when, v, gr_walk_load(w, s, to->local, off, size));
        }
        gr_walk_store(w, s, to->local, off, size, v);
    }
}

static void store(KWalk *w, const KStmt *s) {
    const PtxInstr *i = s->stmt.instr;
    uint32_t size = gr_ptx_type_bits(i->type[0]) / 8;
    unsigned n = i->vec ? i->vec : 1;
    if (i->n_operands < 2 || !size || n > 8 || gr_ptx_instr_has(i, PTX_MOD_async) ||
        gr_ptx_instr_has(i, PTX_MOD_bulk)) {
        gr_gap(w, s, true, gr_ptx_instr_has(i, PTX_MOD_async) ? "st.async" : i->opcode);
        return;
    }
    const PtxOperand *src = &i->operands[1];
    KTarget to[K_MOST_TARGETS];
    unsigned n_to = gr_address(w, s, gr_address_of(w, s, &i->operands[0]), to);
    for (unsigned e = 0; e < n; e++) { // who keeps an address of local memory?
        const PtxOperand *o = n > 1 && src->kind == PTX_O_VECTOR && e < src->n_sub ? &src->sub[e] : src;
        if (size < 4 || size > 8 || o->kind != PTX_O_REG || i->space == PTX_PARAM ||
            i->space == PTX_PARAM_FUNC)
            continue;
        const GrTerm *v = gr_operand(w, s, o, size * 8);
        for (unsigned k = 0; k < n_to; k++) {
            if (to[k].local)
                gr_walk_keep(w, to[k].local, v);
            else
                gr_walk_escape(w, v);
        }
    }
    for (unsigned k = 0; k < n_to; k++) {
        if (to[k].local) {
            store_local(w, s, &to[k], src, size, n, n_to == 1);
            continue;
        }
        const GrTerm *value =
            n == 1 && size <= 8 && !gr_ptx_type_is_float(i->type[0]) ? gr_operand(w, s, src, size * 8) : NULL;
        record(w, s, &to[k], &(Access){.writes = true, .size = size * n, .value = value});
        if (to[k].object && to[k].object->kind == GR_OBJECT_UNKNOWN)
            gr_walk_clobber_at(w, s, to[k].offset);
    }
}

// ---- Atomics and copies ------------------------------------------------------------------------------------------

// Whether the atomic writes back what it finds.
static bool keeps(KWalk *w, const KStmt *s, unsigned at, const GrTerm *compare, const GrTerm *swap) {
    const PtxInstr *i = s->stmt.instr;
    bool zero_keeps = gr_ptx_instr_has(i, PTX_MOD_add) || gr_ptx_instr_has(i, PTX_MOD_or) ||
                      gr_ptx_instr_has(i, PTX_MOD_xor);
    if (compare)
        return compare == swap;
    uint32_t bits = gr_ptx_type_bits(i->type[0]);
    if (!zero_keeps || i->vec > 1 || i->n_operands <= at + 1 || gr_ptx_type_is_float(i->type[0]) || bits > 64)
        return false;
    const GrTerm *operand = gr_operand(w, s, &i->operands[at + 1], bits);
    return operand && gr_term_is_const(operand, 0);
}

static void atomic(KWalk *w, const KStmt *s) {
    const PtxInstr *i = s->stmt.instr;
    bool is_red = i->op == PTX_OP_RED;
    unsigned at = is_red ? 0 : 1;
    uint32_t size = gr_ptx_type_bits(i->type[0]) / 8 * (i->vec ? i->vec : 1);
    if (i->n_operands <= at || !size || gr_ptx_instr_has(i, PTX_MOD_async)) {
        gr_gap(w, s, true, i->opcode);
        return;
    }
    KTarget to[K_MOST_TARGETS];
    unsigned n_to = gr_address(w, s, gr_address_of(w, s, &i->operands[at]), to);
    for (unsigned k = at + 1; k < i->n_operands; k++)
        if (i->operands[k].kind == PTX_O_REG && size == 8)
            gr_walk_escape(w, gr_operand(w, s, &i->operands[k], 64));
    bool cas = gr_ptx_instr_has(i, PTX_MOD_cas),
         swaps = (cas || gr_ptx_instr_has(i, PTX_MOD_exch)) && size <= 8;
    const GrTerm *compare = NULL, *swap = NULL;
    if (swaps && i->vec <= 1 && i->n_operands > at + 1 + cas) {
        compare = cas ? gr_operand(w, s, &i->operands[at + 1], size * 8) : NULL;
        swap = gr_operand(w, s, &i->operands[at + 1 + cas], size * 8);
    }
    for (unsigned k = 0; k < n_to; k++) {
        if (to[k].local) {
            gr_walk_clobber(w, s, to[k].local);
            continue;
        }
        record(w, s, &to[k],
               &(Access){.reads = true,
                         .writes = true,
                         .atomic = true,
                         .keeps = keeps(w, s, at, compare, swap),
                         .size = size,
                         .compare = compare,
                         .swap = swap});
        if (to[k].object && to[k].object->kind == GR_OBJECT_UNKNOWN)
            gr_walk_clobber_at(w, s, to[k].offset);
    }
    if (!is_red && i->operands[0].kind != PTX_O_SINK)
        gr_assign_free(w, s, &i->operands[0], "an atomic's result");
}

static void copy(KWalk *w, const KStmt *s) { // cp.async [shared], [global], size {, used}
    const PtxInstr *i = s->stmt.instr;
    if (gr_ptx_instr_has(i, PTX_MOD_wait_all) || gr_ptx_instr_has(i, PTX_MOD_wait_group) ||
        gr_ptx_instr_has(i, PTX_MOD_commit_group))
        return;
    if (gr_ptx_instr_has(i, PTX_MOD_bulk) || gr_ptx_instr_has(i, PTX_MOD_mbarrier) || i->n_operands < 3 ||
        i->operands[2].kind != PTX_O_INT) {
        gr_gap(w, s, true, gr_ptx_instr_has(i, PTX_MOD_bulk) ? "cp.async.bulk" : "cp.async");
        return;
    }
    uint32_t size = (uint32_t)i->operands[2].bits;
    // cp.async reads so much of the source, and fills up with zeros.
    const GrTerm *used = i->n_operands > 3 ? gr_operand(w, s, &i->operands[3], 32) : NULL;
    const GrTerm *some =
        used ? gr_bool_not(w->t, gr_bool_equal(w->t, used, gr_term_const(w->t, 32, 0))) : gr_term_true(w->t);
    KTarget to[K_MOST_TARGETS];
    unsigned n = gr_address(w, s, gr_address_of(w, s, &i->operands[1]), to);
    for (unsigned k = 0; k < n; k++) {
        to[k].when = gr_bool_and(w->t, to[k].when, some);
        if (!to[k].local)
            record(w, s, &to[k],
                   &(Access){.reads = true,
                             .async = true,
                             .size = used && used->op == GR_TERM_CONST && used->value < size
                                         ? (uint32_t)used->value
                                         : size});
    }
    n = gr_address(w, s, gr_address_of(w, s, &i->operands[0]), to);
    for (unsigned k = 0; k < n; k++)
        if (!to[k].local)
            record(w, s, &to[k], &(Access){.writes = true, .async = true, .size = size});
}

static void not_known(KWalk *w, const KStmt *s) {
    const PtxInstr *i = s->stmt.instr;
    unsigned flags = gr_ptx_instr_flags(i);
    bool texture = i->op == PTX_OP_TEX || i->op == PTX_OP_TLD4;
    gr_gap(w, s, !texture, texture ? "a texture" : i->opcode);
    if (flags & PTX_F_WRITES)
        gr_walk_clobber(w, s, NULL);
    if (!(flags & PTX_F_NO_DST) && i->n_operands)
        gr_assign_free(w, s, &i->operands[0], i->opcode);
}

void gr_exec_memory(KWalk *w, const KStmt *s) {
    const PtxInstr *i = s->stmt.instr;
    if (gr_place_of_grid_sync(s->place) && ((gr_ptx_op_flags(i->op) & PTX_F_ATOMIC) || is_strong(i))) {
        if (!(gr_ptx_instr_flags(i) & PTX_F_NO_DST) && i->n_operands)
            gr_assign_free(w, s, &i->operands[0], "the grid's barrier");
        return;
    }
    switch (i->op) {
    case PTX_OP_LD:
    case PTX_OP_LDU: load(w, s); break;
    case PTX_OP_ST: store(w, s); break;
    case PTX_OP_ATOM:
    case PTX_OP_RED: atomic(w, s); break;
    case PTX_OP_CP: copy(w, s); break;
    default: not_known(w, s);
    }
}

// ---- Calls ----------------------------------------------------------------------------------------------------------

// Functions of the system that touch no memory of the program, and what they may be called.
static bool is_harmless(const char *name) {
    static const char *const names[] = {"vprintf",       "malloc",      "free",       "__assertfail",
                                        "__assert_fail", "__nv_isinfd", "__nanosleep"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (!strcmp(name, names[k]))
            return true;
    return false;
}

static void each_var(KWalk *w, const KStmt *s, const PtxOperand *list, bool result) {
    for (unsigned k = 0; list && k < list->n_sub; k++) {
        const PtxOperand *o = &list->sub[k];
        KVar *v = o->kind == PTX_O_VAR && o->var ? gr_flat_var(w->f, s->frame, o->var) : NULL;
        if (!v)
            continue;
        if (result)
            gr_walk_clobber(w, s, v);
        for (uint64_t at = 0; !result && at + 8 <= v->var->size && at < 256; at += 8)
            gr_walk_escape(w, gr_walk_load(w, s, v, (int64_t)at, 8));
    }
}

void gr_exec_call(KWalk *w, const KStmt *s) {
    PtxCallParts parts = gr_ptx_call_parts(s->stmt.instr);
    if (!is_never(w, s) && (!s->missing || !is_harmless(s->missing->name))) {
        each_var(w, s, parts.params, false);
        gr_walk_clobber(w, s, NULL);
        if (s->twice)
            gr_gap_of_link(w, s, gr_linked_twice(s->twice, w->f->arena));
        else if (s->missing && !gr_linked_is_of_system(s->missing->name))
            gr_gap_of_link(w, s, gr_linked_missing(w->f->linked, s->missing, w->f->arena));
        else
            gr_gap(w, s, true, s->gap);
    }
    each_var(w, s, parts.rets, true);
}
