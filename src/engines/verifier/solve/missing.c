// SPDX-License-Identifier: Apache-2.0
// missing — solve.h in a build without Z3: every solver is refused, with the way to get one.
#include "engines/verifier/solve/cache.h"

gr_status gr_solver_create(GrTerms *t, GrSolver **out, gr_error *err) {
    (void)t;
    *out = NULL;
    return gr_fail(
        err, GR_ERR_UNSUPPORTED,
        "gpurace was built without Z3, which the verifier needs: install libz3-dev and build again");
}

void gr_solver_free(GrSolver *s) { (void)s; }
void gr_solver_use(GrSolver *s, GrCache *cache) { (void)s, (void)cache; }
const char *gr_solver_version(void) { return "none"; }
GrSolverCounts gr_solver_counts(const GrSolver *s) {
    (void)s;
    return (GrSolverCounts){0};
}

gr_status gr_cache_open(const char *folder, const char *version, GrCache **out, gr_error *err) {
    (void)folder, (void)version;
    *out = NULL;
    return gr_fail(err, GR_ERR_UNSUPPORTED, "gpurace was built without Z3");
}
void gr_cache_close(GrCache *c) { (void)c; }

gr_status gr_solve(GrSolver *s, const GrQuery *q, GrSolved *out, gr_error *err) {
    (void)s, (void)q;
    *out = (GrSolved){.answer = GR_ANSWER_UNKNOWN, .how = "built without Z3"};
    return gr_fail(err, GR_ERR_UNSUPPORTED, "gpurace was built without Z3");
}

void gr_solved_free(GrSolved *s) { (void)s; }

static uint64_t no_symbol(void *user, const GrSymbol *s) {
    (void)user, (void)s;
    return 0;
}
static uint64_t no_read(void *user, const GrSymbol *object, uint64_t offset, uint32_t bits) {
    (void)user, (void)object, (void)offset, (void)bits;
    return 0;
}
GrValues gr_solver_values(const GrSolverModel *m) {
    (void)m;
    return (GrValues){no_symbol, no_read, NULL};
}
