// SPDX-License-Identifier: Apache-2.0
// pair — decides about two accesses, level by level: trivial answers, then the solver, then what its model is worth.
#include "engines/verifier/decide/pair.h"

#include "engines/verifier/decide/changing.h"
#include "engines/verifier/decide/locks.h"
#include "engines/verifier/decide/order.h"
#include "findings/missing.h"

#include <stdlib.h>
#include <string.h>

static void free_verdict(GrVerdict *v) {
    gr_str_free(&v->why);
    gr_solved_free(&v->witness.solved);
}

void gr_tell_operation(const GrTerm *a, StrBuf *out) {
    static const char *const names[GR_TERM_OPS] = {[GR_TERM_ADD] = "sum",
                                                   [GR_TERM_SUB] = "difference",
                                                   [GR_TERM_MUL] = "product",
                                                   [GR_TERM_SHL] = "left shift"};
    const char *slash = a && a->from.file ? strrchr(a->from.file, '/') : NULL;
    gr_str_addf(out, "the %s", a && names[a->op] ? names[a->op] : "number");
    if (a && a->from.line && a->from.file)
        gr_str_addf(out, " at %s:%u", slash ? slash + 1 : a->from.file, a->from.line);
    else if (a && a->from.line)
        gr_str_addf(out, " at line %u of the PTX", a->from.line);
    else
        gr_str_add(out, " of the host code");
}

// ---- Trivial answers ------------------------------------------------------------------------------------------------

static bool is_volatile(const GrKernelAccess *a) { return a->sem == PTX_VOLATILE; }

// A volatile access is a relaxed one of sys scope.
static PtxScope scope_of(const GrKernelAccess *a) { return is_volatile(a) ? PTX_SCOPE_SYS : a->scope; }

// The class of race that two such accesses would be. False: they may meet.
static bool would_race(const GrKernelAccess *x, const GrKernelAccess *y, GrLevel level, GrRaceKind *kind) {
    if (!x->writes && !y->writes)
        return false;
    *kind = x->writes && y->writes ? GR_RACE_WRITES : GR_RACE_READ;
    if (!(x->strong || x->atomic) || !(y->strong || y->atomic))
        return true;
    if (!gr_scope_covers(scope_of(x), level) || !gr_scope_covers(scope_of(y), level)) {
        *kind = GR_RACE_SCOPE;
        return true;
    }
    if ((is_volatile(x) || is_volatile(y)) && level == GR_LEVEL_WARP && x->object->kind == GR_OBJECT_SHARED) {
        // Lanes of one warp hand data over by volatile accesses to shared memory: CUDA C++ has no such order.
        *kind = GR_RACE_VOLATILE;
        return true;
    }
    *kind = GR_RACE_SIZE;
    return x->unit != y->unit;
}

// ---- What an answer hangs on ----------------------------------------------------------------------------------------

enum { MOST_NEEDS = 4 }; // how many are named

typedef struct Needs {
    GrBound *b;
    StrBuf *text;
    unsigned n;
    const GrSymbol *seen[MOST_NEEDS];
    const GrObject *changed, *by; // a READ's object that the kernel may write through another pointer
} Needs;

static void find_writer(Needs *n, const GrObject *o) {
    const GrObject *by = gr_writer_of(n->b, o);
    if (by) {
        n->changed = o;
        n->by = by;
    }
}

static void need(void *user, const GrSymbol *s) {
    Needs *n = user;
    const GrSymbol *first = s->of ? s->of : s;
    if (s->kind != GR_SYM_FREE && s->kind != GR_SYM_OBJECT)
        return;
    if (s->kind == GR_SYM_OBJECT) {
        const GrObject *o = gr_object_read(n->b->model, s);
        if (!o) // a variable of a loop, by rounds: no data, and the replay says whether its values are right
            return;
        find_writer(n, o);
    }
    for (unsigned k = 0; k < n->n; k++)
        if (n->seen[k] == first)
            return;
    if (n->n == MOST_NEEDS) // enough for a sentence
        return;
    gr_str_addf(n->text, "%s%s%s", n->n ? ", " : "", s->kind == GR_SYM_OBJECT ? "what is in " : "",
                first->name);
    n->seen[n->n++] = first;
}

// ---- A witness ------------------------------------------------------------------------------------------------------

static bool eval(const GrTerm *a, const GrValues *v, uint32_t *out) {
    uint64_t value = 0;
    bool ok = a && gr_term_value(a, v, &value);
    *out = (uint32_t)value;
    return ok;
}

// Evaluates everything again in machine arithmetic. False: some of it does not hold there.
static bool take_witness(GrBound *b, const GrTermVec *terms, const GrOverlap *o, GrVerdict *v) {
    GrWitness *w = &v->witness;
    GrValues values = gr_solver_values(&w->solved.model);
    bool own = v->level == GR_LEVEL_BLOCKS, ok = true;
    uint64_t value;
    for (size_t k = 0; ok && k < terms->len; k++)
        ok = gr_term_value(terms->data[k], &values, &value) && value == 1;
    for (unsigned d = 0; d < 3 && ok; d++) {
        ok = eval(b->grid[d], &values, &w->grid[d]) && eval(b->block[d], &values, &w->block[d]);
        for (uint32_t k = 0; k < 2 && ok; k++)
            ok = eval(gr_pair_term(b, b->thread[d], k + 1, own), &values, &w->thread[k][d]) &&
                 eval(gr_pair_term(b, b->place[d], k + 1, own), &values, &w->place[k][d]);
    }
    ok = ok && gr_term_value(o->a, &values, &w->offset[0]) && gr_term_value(o->b, &values, &w->offset[1]);
    int64_t x = (int64_t)w->offset[0], y = (int64_t)w->offset[1];
    int64_t from = x > y ? x : y, to = x + o->a_size < y + o->b_size ? x + o->a_size : y + o->b_size;
    w->overlap = (uint64_t)from;
    w->bytes = to > from ? (uint32_t)(to - from) : 0;
    return ok && w->bytes;
}

// ---- One level ------------------------------------------------------------------------------------------------------

static bool is_async(const GrBoundAccess *x, const GrBoundAccess *y) { return x->a->async || y->a->async; }

// An atomic or a strong access is on each way to the access, or from it.
static bool has_strong(const GrKernelAccess *a) {
    bool any = false;
    for (size_t k = 0; k < a->before.len; k++)
        any |= a->before.data[k]->access != NULL;
    for (size_t k = 0; k < a->behind.len; k++)
        any |= a->behind.data[k]->access != NULL;
    return any;
}

const char *gr_pair_missing(GrLevel level, const GrBoundAccess *x, const GrBoundAccess *y) {
    if (is_async(x, y) && level != GR_LEVEL_BLOCKS)
        return level == GR_LEVEL_ALONE
                   ? "no wait for the asynchronous copy between: __pipeline_wait_prior(), cp.async.wait_group"
                   : "no wait for the asynchronous copy, and a barrier of both threads behind it, between";
    switch (level) {
    case GR_LEVEL_BLOCKS:
        return "nothing orders the two blocks: no lock, flag or other synchronization of gpu scope between";
    case GR_LEVEL_WARP: return MISSING_LANES;
    default: return MISSING_WARPS;
    }
}

// Finds on what guards and offsets of both sides depend.
static gr_status find_needs(const GrVerdict *v, Needs *n, gr_error *err) {
    bool ok = true;
    for (unsigned k = 0; k < 2; k++)
        ok = ok && gr_term_symbols(v->sides[k]->guard, need, n) &&
             gr_term_symbols(v->sides[k]->offset, need, n);
    return ok && !n->text->oom ? GR_OK : gr_no_memory(err);
}

static gr_status judge(GrBound *b, GrVerdict *v, GrSolved *s, const GrTermVec *terms, const GrOverlap *o,
                       const Needs *n, const char *doubt, gr_error *err) {
    if (s->answer == GR_ANSWER_NO) {
        v->decision = GR_PROVED;
    } else if (s->answer == GR_ANSWER_ASSUMED) {
        v->decision = GR_ASSUMED;
        gr_str_add(&v->why, "they do not, unless ");
        gr_tell_operation(s->wraps, &v->why);
        gr_str_addf(
            &v->why,
            " leaves its %u bits; whether that makes them meet is asked of bit strings, which take too long",
            s->wraps ? s->wraps->bits : 32);
    } else if (s->answer == GR_ANSWER_UNKNOWN) {
        v->decision = GR_UNKNOWN;
        gr_str_addf(&v->why, "the solver gave up: %s", s->how);
    } else if (n->n) {
        v->decision = GR_POSSIBLE;
        gr_str_addf(&v->why, "it hangs on %s", n->text->data);
    } else if (doubt) {
        v->decision = GR_POSSIBLE;
        gr_str_add(&v->why, doubt);
    } else {
        v->decision = GR_SHOWN;
        v->witness.solved = *s;
        *s = (GrSolved){.how = ""};
        if (!take_witness(b, terms, o, v)) {
            v->decision = GR_UNKNOWN;
            gr_str_add(&v->why, "the solver's answer does not hold in machine arithmetic");
        }
    }
    return v->why.oom ? gr_no_memory(err) : GR_OK;
}

// Gathers what must hold of the pair besides the bytes.
static gr_status gather(GrBound *b, GrVerdict *v, GrTermVec *terms, const char **doubt, gr_error *err) {
    bool own = v->level == GR_LEVEL_BLOCKS;
    const GrTerm *order = gr_term_true(b->t);
    GR_MUST(gr_pair_facts(b, v->level, terms, err));
    if (v->level == GR_LEVEL_ALONE)
        order = gr_pair_in_flight(b, v->sides[0], v->sides[1]);
    else if (!b->no_barriers)
        order = gr_pair_unordered(b, v->sides[0], v->sides[1], v->level, doubt, err);
    if (!order)
        return err->code ? err->code : gr_no_memory(err);
    const GrTerm *more[] = {gr_pair_term(b, v->sides[0]->guard, 1, own),
                            gr_pair_term(b, v->sides[1]->guard, 2, own), order};
    for (size_t k = 0; k < sizeof more / sizeof *more; k++)
        GR_NEED(more[k] && gr_vec_push(terms, more[k]), err);
    return GR_OK;
}

// Nothing says whether the two are of the same memory: only guards and order may keep them apart.
static gr_status decide_apart(GrBound *b, GrVerdict *v, const GrTermVec *terms, const char *why,
                              gr_error *err) {
    GrSolved s = {0};
    gr_status st = gr_pair_solve(b, terms, NULL, true, &s, err);
    v->decision = s.answer == GR_ANSWER_NO ? GR_PROVED : GR_POSSIBLE;
    v->of_objects = true;
    if (s.answer != GR_ANSWER_NO)
        gr_str_add(&v->why, why);
    gr_solved_free(&s);
    return st;
}

static gr_status decide_level(GrBound *b, GrVerdict *v, GrAlias alias, const char *why, gr_error *err) {
    gr_status st;
    GrTermVec terms = {0};
    GrSolved s = {0};
    const char *doubt = NULL;
    bool own = v->level == GR_LEVEL_BLOCKS;
    StrBuf values = {0};
    Needs n = {.b = b, .text = &values};
    GR_TRY(find_needs(v, &n, err));
    if (n.changed) {
        // The model's READs would stand for one value each, which is not so: no answer would count.
        v->decision = GR_UNKNOWN;
        v->of_objects = true;
        gr_str_addf(&v->why, "the kernel may change what it reads from %s: %s may be the same memory",
                    n.changed->name, n.by->name);
        goto done;
    }
    GR_TRY(gather(b, v, &terms, &doubt, err));
    if (alias == GR_ALIAS_MAYBE) {
        GR_TRY(decide_apart(b, v, &terms, why, err));
        goto done;
    }
    if (alias == GR_ALIAS_WHICH) {
        const GrTerm *same =
            gr_term_2(b->t, GR_TERM_EQ, v->sides[0]->memory.which, v->sides[1]->memory.which);
        GR_TRY(same && gr_vec_push(&terms, same) ? GR_OK : gr_no_memory(err));
    }
    GrOverlap o = {gr_pair_term(b, v->sides[0]->offset, 1, own), gr_pair_term(b, v->sides[1]->offset, 2, own),
                   v->sides[0]->a->size, v->sides[1]->a->size};
    GR_TRY(o.a && o.b ? GR_OK : gr_no_memory(err));
    if (!o.a_size || !o.b_size) {
        v->decision = GR_UNKNOWN;
        gr_str_add(&v->why, "the size of an access is not known");
        goto done;
    }
    GR_TRY(gr_pair_solve(b, &terms, &o, n.n || doubt, &s, err));
    GR_TRY(judge(b, v, &s, &terms, &o, &n, doubt, err));
    if (v->decision == GR_SHOWN || v->decision == GR_POSSIBLE || v->decision == GR_ASSUMED) {
        if (!is_async(v->sides[0], v->sides[1])) {
            if (!b->no_locks)
                GR_TRY(gr_locks_decide(b, v, &terms, &o, err));
        } else if (v->level != GR_LEVEL_ALONE && (has_strong(v->sides[0]->a) || has_strong(v->sides[1]->a))) {
            v->decision = GR_UNKNOWN;
            gr_str_free(&v->why);
            gr_str_add(&v->why, "whether a lock or a flag orders an asynchronous copy is not followed");
        }
    }
done:
    gr_str_free(&values);
    gr_solved_free(&s);
    gr_vec_free(&terms);
    return st;
}

// ---- All levels -----------------------------------------------------------------------------------------------------

// Two warps and one warp are one question if only barriers of the block count.
static bool warps_alike(const GrBound *b, const GrKernelAccess *x, const GrKernelAccess *y) {
    for (size_t k = 0; k < b->barriers.len; k++)
        if (b->barriers.data[k].b->kind == GR_BARRIER_WARP)
            return false;
    return !is_volatile(x) && !is_volatile(y);
}

static bool is_empty(const GrBound *b, const GrTerm *const of[3]) {
    (void)b;
    return of[0]->op == GR_TERM_CONST && of[1]->op == GR_TERM_CONST && of[2]->op == GR_TERM_CONST;
}

static void choose_levels(const GrBound *b, const GrBoundAccess *x, const GrBoundAccess *y, bool use[5]) {
    bool shared = x->memory.object->kind == GR_OBJECT_SHARED || y->memory.object->kind == GR_OBJECT_SHARED;
    bool threads = !is_empty(b, b->thread), alike = warps_alike(b, x->a, y->a);
    use[GR_LEVEL_ANY_WARP] = threads && alike;
    use[GR_LEVEL_WARPS] = threads && !alike && !gr_pair_is_one_warp(b);
    use[GR_LEVEL_WARP] = threads && !alike;
    use[GR_LEVEL_BLOCKS] = !shared && !is_empty(b, b->place);
    use[GR_LEVEL_ALONE] = x->a->async || y->a->async;
}

gr_status gr_pair_decide(GrBound *b, size_t i, size_t j, const GrPairUser *to, bool *proved, gr_error *err) {
    const GrBoundAccess *x = &b->accesses.data[i], *y = &b->accesses.data[j];
    bool use[5], settled = false;
    gr_status st = GR_OK;
    StrBuf why = {0};
    *proved = true;
    GrAlias alias = gr_bound_alias(b, &x->memory, &y->memory, &why);
    choose_levels(b, x, y, use);
    for (unsigned level = 0; level < 5 && alias != GR_ALIAS_APART && !settled && st == GR_OK; level++) {
        GrVerdict v = {
            .level = (GrLevel)level, .sides = {x, y}, .missing = gr_pair_missing((GrLevel)level, x, y)};
        if (!use[level] || !would_race(x->a, y->a, v.level, &v.kind))
            continue;
        st = decide_level(b, &v, alias, why.data, err);
        if (st == GR_OK && v.decision != GR_PROVED) {
            *proved = false;
            st = to->see(to->user, &v, &settled, err);
        }
        free_verdict(&v);
    }
    gr_str_free(&why);
    return st;
}
