// SPDX-License-Identifier: Apache-2.0
// solve — the parent's side: a child for each query, and a second look at what it says.
#include "engines/verifier/solve/solve.h"

#include "engines/verifier/solve/attempt.h"
#include "engines/verifier/solve/cache.h"
#include "engines/verifier/solve/child.h"

#include <stdlib.h>

// A child's limit. Proofs take some 10 MB; what needs this much is not decided by more.
static const size_t most_memory = (size_t)1 << 30;
static const double usual_seconds = 5;
// Z3 may be late for its own limit; the parent waits that much longer before it kills.
static const double grace = 0.25;

// Every child inherits the one context: making it takes longer than most proofs. The parent never solves with it.
struct GrSolver {
    GrTerms *t;
    Z3_context z;
    GrCache *cache; // NULL: none
    GrSolverCounts counts;
};

gr_status gr_solver_create(GrTerms *t, GrSolver **out, gr_error *err) {
    GrSolver *s = calloc(1, sizeof *s);
    *out = s;
    if (!s)
        return gr_fail(err, GR_ERR_NOMEM, "memory is out");
    s->t = t;
    Z3_config c = Z3_mk_config();
    s->z = Z3_mk_context(c);
    Z3_del_config(c);
    if (s->z)
        return GR_OK;
    free(s);
    *out = NULL;
    return gr_fail(err, GR_ERR_NOMEM, "Z3 cannot start");
}

void gr_solver_free(GrSolver *s) {
    if (s)
        Z3_del_context(s->z);
    free(s);
}

void gr_solver_use(GrSolver *s, GrCache *cache) { s->cache = cache; }
const char *gr_solver_version(void) { return Z3_get_full_version(); }
GrSolverCounts gr_solver_counts(const GrSolver *s) { return s->counts; }

typedef struct Job {
    const GrSolver *s;
    const GrQuery *q;
    double deadline;
} Job;

static void work(void *user, int out) {
    Job *j = user;
    gr_attempt(j->s->z, j->s->t, j->q, j->deadline, out);
}

// A text that outlives the answer, however that is copied.
static const char *kept(const GrSolver *s, const char *text) {
    static const char *const usual[] = {"integers", "small scope", "bit strings"};
    for (unsigned k = 0; k < sizeof usual / sizeof *usual; k++)
        if (!strcmp(usual[k], text))
            return usual[k];
    const char *copy = gr_arena_strdup(&s->t->arena, text);
    return copy ? copy : "memory is out";
}

// Takes what the child said, and in text[0 .. size) why or how.
static void understand(const GrTerms *t, const GrChildResult *r, GrSolved *out, char *text, size_t size) {
    size_t at = 0;
    const GrTerm *wraps = NULL; // of the next answer
    GrMessage m;
    while (r->len - at >= sizeof m) {
        memcpy(&m, r->data + at, sizeof m);
        at += sizeof m;
        if (m.kind == GR_MESSAGE_MODEL) {
            bool whole = gr_model_take(&out->model, r->data + at, r->len - at);
            out->answer = whole ? GR_ANSWER_YES : GR_ANSWER_UNKNOWN;
            if (!whole)
                snprintf(text, size, "the solver broke off");
            return;
        }
        if (m.len > r->len - at)
            return;
        uint32_t id;
        if (m.kind == GR_MESSAGE_WRAPS && m.len == sizeof id) {
            memcpy(&id, r->data + at, sizeof id);
            wraps = gr_term_numbered(t, id);
        } else {
            snprintf(text, size, "%.*s", (int)m.len, r->data + at);
        }
        bool answers = m.kind == GR_MESSAGE_NO || m.kind == GR_MESSAGE_OPEN || m.kind == GR_MESSAGE_ASSUMED ||
                       m.kind == GR_MESSAGE_YES;
        if (answers) { // the last one counts
            out->wraps = wraps;
            wraps = NULL;
        }
        if (m.kind == GR_MESSAGE_NO)
            out->answer = GR_ANSWER_NO;
        if (m.kind == GR_MESSAGE_OPEN)
            out->answer = GR_ANSWER_OPEN;
        if (m.kind == GR_MESSAGE_ASSUMED)
            out->answer = GR_ANSWER_ASSUMED;
        at += m.len;
    }
}

// Checks what a caller can get wrong in a query.
static gr_status checked(const GrQuery *q, gr_error *err) {
    for (size_t k = 0; k < q->n_terms; k++)
        if (!q->terms[k] || q->terms[k]->bits != 1)
            return gr_fail(err, q->terms[k] ? GR_ERR_ARGUMENT : GR_ERR_NOMEM,
                           "a query has a term that is not one bit");
    const GrOverlap *o = q->overlap;
    if (o && (!o->a || !o->b))
        return gr_fail(err, GR_ERR_NOMEM, "an overlap has no term");
    if (o && (o->a->bits != 64 || o->b->bits != 64 || !o->a_size || !o->b_size))
        return gr_fail(err, GR_ERR_ARGUMENT, "an overlap needs offsets of 64 bits, and sizes");
    return GR_OK;
}

// A YES must hold on a machine, whether Z3, a guess or the cache gave it.
static void look_again(const GrSolver *s, const GrQuery *q, GrSolved *out) {
    if (out->answer == GR_ANSWER_YES && gr_model_holds(&out->model, s->t, q) != GR_HOLDS_YES) {
        gr_model_free(&out->model);
        out->answer = GR_ANSWER_UNKNOWN;
        out->how = "the solver's model does not hold on a machine";
    }
}

static bool is_kept(GrSolver *s, const GrQuery *q, GrSolved *out) {
    if (!s->cache || !gr_cache_get(s->cache, s->t, q, out))
        return false;
    look_again(s, q, out);
    s->counts.kept += out->answer != GR_ANSWER_UNKNOWN;
    return out->answer != GR_ANSWER_UNKNOWN;
}

gr_status gr_solve(GrSolver *s, const GrQuery *q, GrSolved *out, gr_error *err) {
    gr_status st = checked(q, err);
    if (st != GR_OK) {
        *out = (GrSolved){.answer = GR_ANSWER_UNKNOWN, .how = ""};
        return st;
    }
    if (is_kept(s, q, out))
        return GR_OK;
    *out = (GrSolved){.answer = GR_ANSWER_UNKNOWN, .how = "the solver died"};
    s->counts.asked++;
    double begin = gr_seconds_now(), seconds = q->seconds > 0 ? q->seconds : usual_seconds;
    Job j = {s, q, begin + seconds};
    GrChildResult r;
    st = gr_child_run(work, &j, seconds + grace, most_memory, &r, err);
    out->seconds = gr_seconds_now() - begin;
    if (st != GR_OK)
        return st;
    char text[256] = "";
    understand(s->t, &r, out, text, sizeof text);
    free(r.data);
    if (r.end == GR_CHILD_DIED && out->answer == GR_ANSWER_UNKNOWN)
        out->how = gr_arena_printf(&s->t->arena, "the solver died, perhaps of its memory limit%s%s",
                                   *text ? "; before that: " : "", text);
    else if (*text)
        out->how = kept(s, text);
    if (!out->how)
        out->how = "memory is out";
    // The child looked as well. Whatever happened to its memory, what is told as a race holds.
    look_again(s, q, out);
    if (s->cache)
        gr_cache_put(s->cache, s->t, q, out);
    return GR_OK;
}
