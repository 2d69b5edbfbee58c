// SPDX-License-Identifier: Apache-2.0
// attempt — the child's side: reads the query in several ways in turn, and tells its parent the answer.
#include "engines/verifier/solve/attempt.h"

#include "engines/verifier/solve/child.h"

#include <unistd.h>

static void broken(Z3_context z, Z3_error_code e) {
    (void)z, (void)e;
    _exit(GR_ATTEMPT_BROKEN);
}

// ---- To the parent -----------------------------------------------------------------------------------------------

static void look_for_thread(void *user, const GrSymbol *s) { *(bool *)user |= s->thread != 0; }

// The first operation that is trusted; one of a thread's rather than of the host's.
static const GrTerm *first_trusted(const GrAttempt *a) {
    for (size_t k = 0; k < a->trusted.len; k++) {
        bool threads = false;
        if (!gr_term_symbols(a->trusted.data[k].term, look_for_thread, &threads))
            gr_attempt_nomem();
        if (threads)
            return a->trusted.data[k].by;
    }
    return a->trusted.len ? a->trusted.data[0].by : NULL;
}

static void tell_wraps(GrAttempt *a, const GrTerm *x) {
    if (x)
        gr_attempt_tell(a->out, GR_MESSAGE_WRAPS, &x->id, sizeof x->id);
}

static void answer(GrAttempt *a, GrAnswer what, const char *how) {
    static const int kinds[] = {[GR_ANSWER_NO] = GR_MESSAGE_NO,
                                [GR_ANSWER_OPEN] = GR_MESSAGE_OPEN,
                                [GR_ANSWER_ASSUMED] = GR_MESSAGE_ASSUMED,
                                [GR_ANSWER_YES] = GR_MESSAGE_YES};
    if (what == GR_ANSWER_UNKNOWN)
        return; // the last reason said why
    if (what == GR_ANSWER_NO)
        tell_wraps(a, first_trusted(a));
    gr_attempt_tell(a->out, kinds[what], how, strlen(how));
    if (what != GR_ANSWER_YES)
        return;
    GrMessage m = {.kind = GR_MESSAGE_MODEL}; // goes to the end
    if (!gr_child_write(a->out, &m, sizeof m) || !gr_model_write(&a->model, a->out))
        gr_attempt_nomem();
}

// ---- All of it ---------------------------------------------------------------------------------------------------

static void find_reads(GrAttempt *a, bool *seen, const GrTerm *x) {
    if (seen[x->id])
        return;
    seen[x->id] = true;
    for (unsigned k = 0; k < 3 && x->arg[k]; k++)
        find_reads(a, seen, x->arg[k]);
    if (x->op == GR_TERM_READ)
        a->reads[a->n_reads++] = x;
}

static void prepare(GrAttempt *a) {
    bool *seen = GR_ATTEMPT_NEW(a, bool, a->t->n_terms);
    a->reads = GR_ATTEMPT_NEW(a, const GrTerm *, a->t->n_terms);
    for (size_t k = 0; k < a->q->n_terms; k++)
        find_reads(a, seen, a->q->terms[k]);
    if (a->q->overlap) {
        find_reads(a, seen, a->q->overlap->a);
        find_reads(a, seen, a->q->overlap->b);
    }
    Z3_set_error_handler(a->z, broken);
}

static unsigned ms_left(const GrAttempt *a) {
    double left = (a->deadline - gr_seconds_now()) * 1000;
    return left < 0 ? 0 : (unsigned)left;
}

// What integers leave open, for the reason.
static const char *open_to_integers(GrAttempt *a, const GrTerm *opaque) {
    StrBuf s = {0};
    if (!opaque)
        return gr_arena_printf(&a->arena, "%s", a->q->wrap ? "" : "integers do not decide in time, and ");
    gr_term_print(opaque, &s);
    const char *text =
        gr_arena_printf(&a->arena, "integers cannot read %.120s, and ", s.oom ? "a term" : s.data);
    gr_str_free(&s);
    return text;
}

static void try_bits(GrAttempt *a, const GrTerm *opaque) {
    const char *before = open_to_integers(a, opaque);
    gr_attempt_why(a, "%sbit strings take too long", before ? before : "");
    const char *how = "small scope"; // readable
    GrAnswer is = gr_attempt_bits(a, ms_left(a) / 4, 64);
    if (is != GR_ANSWER_YES) {
        how = "bit strings";
        is = gr_attempt_bits(a, ms_left(a), 0);
    }
    answer(a, is, how);
}

static bool try_integers(GrAttempt *a, const GrTerm **opaque) {
    const char *how;
    gr_attempt_why(a, "integers take too long");
    GrAnswer is = gr_attempt_integers(a, a->q->wrap ? GR_TRUST_NONE : GR_TRUST_SIZES, &how, opaque);
    answer(a, is, how);
    return is != GR_ANSWER_UNKNOWN;
}

// Refutes the query unless something leaves its range, and tells that first: the rest of the time may not decide.
static void try_trust(GrAttempt *a) {
    static const double part = 0.2; // of the time
    const char *how;
    const GrTerm *opaque, *cut = a->cut;
    GrLooks trusted = a->trusted;
    double deadline = a->deadline;
    a->deadline = gr_seconds_now() + (deadline - gr_seconds_now()) * part;
    bool never = gr_attempt_integers(a, GR_TRUST_ALL, &how, &opaque) == GR_ANSWER_NO;
    a->trusted = trusted;
    a->deadline = deadline;
    if (!never)
        return;
    tell_wraps(a, cut);
    answer(a, GR_ANSWER_ASSUMED, "bit strings take too long");
}

void gr_attempt(Z3_context z, GrTerms *t, const GrQuery *q, double deadline, int out) {
    GrAttempt a = {.z = z, .t = t, .q = q, .deadline = deadline, .out = out};
    gr_arena_init(&a.arena);
    prepare(&a);
    const GrTerm *opaque = NULL;
    if (try_integers(&a, &opaque))
        return;
    if (a.cut && !q->wrap)
        try_trust(&a);
    try_bits(&a, opaque);
}
