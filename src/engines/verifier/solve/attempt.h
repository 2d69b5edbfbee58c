// SPDX-License-Identifier: Apache-2.0
// attempt — what the child process does with a query: it reads the terms in one way after the other until one decides.
#ifndef GR_ENGINES_VERIFIER_SOLVE_ATTEMPT_H
#define GR_ENGINES_VERIFIER_SOLVE_ATTEMPT_H

#include "engines/verifier/solve/model.h"

#include "base/vec.h"

#include <z3.h>

// How an operation sees a number: signed; unsigned, to compare or extend it; unsigned, to divide or shift it (hashes).
enum { GR_LOOK_SIGNED = 1, GR_LOOK_UNSIGNED = 2, GR_LOOK_DIVIDED = 4 };

typedef struct GrLook {
    const GrTerm *term;
    unsigned how;
    const GrTerm *by; // the operation of it that leaves its range
} GrLook;
typedef VEC(GrLook) GrLooks;

// Which operations are assumed to stay in their range if their bounds do not show that.
typedef enum GrTrust {
    GR_TRUST_NONE,
    GR_TRUST_SIZES, // what leaves its range for large numbers of the launch only
    GR_TRUST_ALL,
} GrTrust;

// Nothing of it is freed: the child ends when it has answered.
typedef struct GrAttempt {
    GrTerms *t;
    const GrQuery *q;
    double deadline; // gr_seconds_now
    int out;
    Z3_context z;
    Arena arena;
    const GrTerm **reads; // the READs of the query, operands before users
    size_t n_reads;
    GrSolverModel model; // of YES
    GrLooks trusted;     // of the integers
    const GrTerm *cut;   // the first operation that may leave its range and is not trusted; NULL: none may
} GrAttempt;

// Begins every message of the child; `len` bytes follow.
typedef struct GrMessage {
    enum {
        GR_MESSAGE_WHY,
        GR_MESSAGE_NO,
        GR_MESSAGE_OPEN,
        GR_MESSAGE_ASSUMED,
        GR_MESSAGE_YES,
        GR_MESSAGE_MODEL,
        GR_MESSAGE_WRAPS, // the number of a term
    } kind;
    uint32_t len;
} GrMessage;

// Does the whole work of the child: writes answers to `out`.
void gr_attempt(Z3_context z, GrTerms *t, const GrQuery *q, double deadline, int out);

// Sends a message to the parent. If that or memory fails, the child ends with one of these.
enum { GR_ATTEMPT_NOMEM = 3, GR_ATTEMPT_BROKEN = 4 };
void gr_attempt_tell(int out, int kind, const void *data, size_t len);
// Says what is being tried, so that the parent knows what took too long if it has to kill.
void gr_attempt_why(GrAttempt *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

// Ends the child: memory is out.
void gr_attempt_nomem(void) __attribute__((noreturn));
// From the arena; ends the child when memory is out.
void *gr_attempt_alloc(GrAttempt *a, size_t n, size_t size);
#define GR_ATTEMPT_NEW(a, T, n) ((T *)gr_attempt_alloc((a), (n), sizeof(T)))

// Checks with at most `ms` milliseconds, and never longer than is left.
Z3_lbool gr_attempt_check(GrAttempt *a, Z3_solver s, unsigned ms);

// Tries the model with `value` for each symbol and each READ of a->reads: YES if it holds on a machine. value() gives
// false if the solver's model has no such value.
bool gr_attempt_model(GrAttempt *a,
                      bool (*value)(void *user, const GrTerm *of, const GrSymbol *s, uint64_t *out),
                      void *user);

// ---- Readings ----------------------------------------------------------------------------------------------------

// Bit strings: exact, but that what the integers trusted holds. NO and YES are final. `cap` > 0: symbols of the launch
// are at most that (NO means nothing then).
GrAnswer gr_attempt_bits(GrAttempt *a, unsigned ms, int64_t cap);

// Integers: NO means unless something of a->trusted leaves its range, YES and OPEN are final. *how: static text.
// *opaque: of UNKNOWN a term that is no polynomial, or NULL.
GrAnswer gr_attempt_integers(GrAttempt *a, GrTrust trust, const char **how, const GrTerm **opaque);

#endif
