// SPDX-License-Identifier: Apache-2.0
// needs — what every reading needs: memory, the solver's time, a word to the parent, and a model.
#include "engines/verifier/solve/attempt.h"

#include "engines/verifier/solve/child.h"
#include "engines/verifier/term/machine.h"

#include <unistd.h>

void gr_attempt_nomem(void) { _exit(GR_ATTEMPT_NOMEM); }

void *gr_attempt_alloc(GrAttempt *a, size_t n, size_t size) {
    void *p = gr_arena_array(&a->arena, n ? n : 1, size);
    if (!p)
        gr_attempt_nomem();
    return p;
}

void gr_attempt_tell(int out, int kind, const void *data, size_t len) {
    GrMessage m = {.kind = kind, .len = (uint32_t)len};
    if (!gr_child_write(out, &m, sizeof m) || !gr_child_write(out, data, len))
        gr_attempt_nomem();
}

void gr_attempt_why(GrAttempt *a, const char *fmt, ...) {
    GR_FORMATTED(text, 256, fmt);
    gr_attempt_tell(a->out, GR_MESSAGE_WHY, text, strlen(text));
}

Z3_lbool gr_attempt_check(GrAttempt *a, Z3_solver s, unsigned ms) {
    double left = (a->deadline - gr_seconds_now()) * 1000;
    if (left < 1)
        return Z3_L_UNDEF;
    Z3_params p = Z3_mk_params(a->z);
    Z3_params_inc_ref(a->z, p);
    Z3_params_set_uint(a->z, p, Z3_mk_string_symbol(a->z, "timeout"), left < ms ? (unsigned)left : ms);
    Z3_solver_set_params(a->z, s, p);
    Z3_lbool r = Z3_solver_check(a->z, s);
    Z3_params_dec_ref(a->z, p);
    return r;
}

bool gr_attempt_model(GrAttempt *a,
                      bool (*value)(void *user, const GrTerm *of, const GrSymbol *s, uint64_t *out),
                      void *user) {
    uint64_t *reads = GR_ATTEMPT_NEW(a, uint64_t, a->n_reads), v;
    if (!gr_model_init(&a->model, a->t))
        gr_attempt_nomem();
    for (uint32_t k = 0; k < a->t->n_symbols; k++)
        if (a->t->symbols[k]->kind != GR_SYM_OBJECT && value(user, NULL, a->t->symbols[k], &v))
            a->model.values[k] = v & gr_mask_bits(a->t->symbols[k]->bits);
    for (size_t k = 0; k < a->n_reads; k++)
        if (!value(user, a->reads[k], NULL, &reads[k]))
            reads[k] = 0;
    if (!gr_model_reads(&a->model, a->reads, reads, a->n_reads))
        gr_attempt_nomem();
    return gr_model_holds(&a->model, a->t, a->q) == GR_HOLDS_YES;
}
