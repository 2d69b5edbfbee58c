// SPDX-License-Identifier: Apache-2.0
// fuzz_verifier — any PTX that parses: each kernel's model is made, bound to a launch, and its pairs are decided, with
// little time for the solver: nothing of it crashes, nor does a child of the solver's, and a witness is of a launch
// that can be. (`gpurace check` does the same, and runs witnesses.)
#include "engines/verifier/decide/changing.h"
#include "engines/verifier/decide/explain.h"
#include "engines/verifier/decide/tell.h"
#include "engines/verifier/solve/child.h"
#include "model_print.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

enum { KERNELS = 4, ACCESSES = 24, MOST_PARAMS = 8 };
static const double question_seconds = 0.05, kernel_seconds = 0.4;
static const double explain_from = 59.8; // gr_explain stops at 60

// ---- The solver's children ----------------------------------------------------------------------------------

gr_status __real_gr_child_run(void (*work)(void *user, int out), void *user, double seconds, size_t bytes,
                              GrChildResult *result, gr_error *err);
gr_status __wrap_gr_child_run(void (*work)(void *user, int out), void *user, double seconds, size_t bytes,
                              GrChildResult *result, gr_error *err);

// The linker puts this in place of gr_child_run: there a child that died is just a question without an answer.
gr_status __wrap_gr_child_run(void (*work)(void *user, int out), void *user, double seconds, size_t bytes,
                              GrChildResult *result, gr_error *err) {
    gr_status st = __real_gr_child_run(work, user, seconds, bytes, result, err);
    if (st == GR_OK && result->end == GR_CHILD_DIED) {
        fprintf(stderr, "a child of the solver died\n");
        abort();
    }
    return st;
}

extern uint8_t __start___sancov_cntrs[], __stop___sancov_cntrs[];

// What children cover counts, too: the counters' whole pages become memory that is shared with them.
static void share_counters(void) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uintptr_t from = ((uintptr_t)__start___sancov_cntrs + page - 1) & ~(page - 1),
              to = (uintptr_t)__stop___sancov_cntrs & ~(page - 1);
    if (from < to && mmap((void *)from, to - from, PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
        abort();
}

static GrTerms terms;
static GrSolver *solver; // for all inputs: it keeps nothing of the terms

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc, (void)argv;
    share_counters();
    if (gr_solver_create(&terms, &solver, NULL) != GR_OK)
        abort();
    return 0;
}

// ---- A launch ---------------------------------------------------------------------------------------------------

static const GrTerm *number(unsigned bits, uint64_t n) { return gr_term_const(&terms, bits, n); }

// Two blocks of 40 threads. What has eight bytes is a pointer: to one allocation, or each to one of its own; all else
// is 5.
static void make_launch(GrHostLaunch *l, const PtxFunc *f, GrAllocation *allocations, bool apart) {
    *l = (GrHostLaunch){
        .kernel = f->name, .file = "input", .line = 1, .recorded = true, .arguments_known = true};
    for (unsigned d = 0; d < 3; d++) {
        l->grid[d] = number(32, d ? 1 : 2);
        l->block[d] = number(32, d ? 1 : 40);
    }
    for (uint32_t k = 0; k < f->n_params && k < MOST_PARAMS; k++) {
        GrAllocation *a = &allocations[apart ? k : 0];
        *a = (GrAllocation){.id = apart ? k : 0,
                            .call = "memory of the run",
                            .name = "allocation",
                            .file = "input",
                            .line = 1,
                            .size = number(64, 8192),
                            .distinct = true};
        GrArgument x = {.param = k, .bits = 64, .allocation = a, .at = number(64, 0)};
        if (f->params[k]->size == 4)
            x = (GrArgument){.param = k, .bits = 32, .value = number(32, 5)};
        else if (f->params[k]->size != 8)
            continue;
        if (!gr_vec_push(&l->arguments, x))
            abort();
    }
}

// ---- What it makes of a kernel -----------------------------------------------------------------------------

static gr_status ignore_possible(void *user, const GrPossible *p) {
    (void)user;
    return p->text[0] && p->sides[0].line && p->sides[1].line ? GR_OK : (abort(), GR_OK);
}

static gr_status ignore_text(void *user, const char *text) {
    (void)user;
    return text[0] ? GR_OK : (abort(), GR_OK);
}

static void must(gr_status st, const gr_error *err) {
    if (st == GR_OK)
        return;
    fprintf(stderr, "%s\n", err->msg);
    abort();
}

static void check_witness(const GrVerdict *v) {
    const GrWitness *w = &v->witness;
    for (unsigned d = 0; d < 3; d++)
        for (unsigned k = 0; k < 2; k++)
            if (!w->grid[d] || !w->block[d] || w->thread[k][d] >= w->block[d] || w->place[k][d] >= w->grid[d])
                abort();
    if (!w->bytes)
        abort();
}

static gr_status see(void *user, GrVerdict *v, bool *settled, gr_error *err) {
    (void)settled;
    if (v->decision == GR_SHOWN) {
        check_witness(v);
        v->decision = GR_POSSIBLE;
        gr_str_add(&v->why, "it is not run here");
    }
    return gr_tell_open(user, v, err);
}

static void decide_pairs(GrBound *b, GrTold *told, bool explains) {
    gr_error err = {0};
    GrExplained explained = {.seconds = explain_from};
    size_t n = b->accesses.len < ACCESSES ? b->accesses.len : ACCESSES;
    for (size_t i = 0; i < n; i++)
        for (size_t k = i; k < n; k++) {
            bool proved;
            if (!b->accesses.data[i].a->writes && !b->accesses.data[k].a->writes)
                continue;
            must(gr_pair_decide(b, i, k, &(GrPairUser){told, see}, &proved, &err), &err);
            if (explains)
                must(gr_explain(&explained, b, i, k, proved, &err), &err);
        }
    must(gr_tell_end(told), &err);
    must(gr_explain_end(&explained, told), &err);
    gr_explained_free(&explained);
}

static void decide(GrModels *models, const GrHostLaunch *l, size_t size) {
    GrVerifierSettings set = {.wrap = size % 5 == 0,
                              .explain = size % 7 == 0,
                              .facts = {false, true, true, true, true, true},
                              .jobs = 1,
                              .solver_seconds = question_seconds};
    GrStaticSink sink = {
        .arena = models->arena, .reason = ignore_text, .remark = ignore_text, .possible = ignore_possible};
    GrTold told = {.to = &sink, .file = "input", .launch = ""};
    gr_error err = {0};
    GrBound b;
    GrTermVec trusted = {0};
    must(gr_bound_init(&b, &terms, models->plain, l, &set, solver, &err), &err);
    b.seconds_left = kernel_seconds;
    gr_status st = gr_models_bind(models, &b, &err);
    if (st != GR_ERR_LIMIT) {
        must(st, &err);
        told.model = b.model;
        b.trusted = &trusted;
        decide_pairs(&b, &told, set.explain);
    }
    gr_vec_free(&trusted);
    gr_told_free(&told);
    gr_bound_free(&b);
}

static void check_kernel(const GrLinked *linked, const PtxFunc *f, size_t size) {
    GrKernelModel m = {0};
    Arena arena;
    gr_error err = {0};
    StrBuf text = {0};
    GrAllocation allocations[MOST_PARAMS];
    GrHostLaunch launch;
    gr_arena_init(&arena);
    gr_terms_init(&terms);
    GrModels models = {.plain = &m, .linked = linked, .arena = &arena};
    gr_status st = gr_kernel_model(&terms, linked, f, 0, &m, &err);
    if (st != GR_ERR_LIMIT) {
        must(st, &err);
        model_print(&m, &text);
        make_launch(&launch, f, allocations, size % 3 == 1);
        decide(&models, size % 3 ? &launch : NULL, size);
        gr_vec_free(&launch.arguments);
    }
    gr_str_free(&text);
    gr_models_free(&models);
    gr_kernel_model_free(&m);
    gr_terms_free(&terms);
    gr_arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    PtxModule *m;
    GrLinked linked = {0};
    gr_error err = {0};
    if (gr_ptx_parse((const char *)data, size, "input", &m, NULL) != GR_OK)
        return 0;
    must(gr_linked_init(&linked, (const PtxModule *const *)&m, 1, &err), &err);
    linked.whole = true;
    for (uint32_t k = 0, n = 0; k < m->n_funcs && n < KERNELS; k++)
        if (m->funcs[k]->is_entry && m->funcs[k]->has_body) {
            check_kernel(&linked, m->funcs[k], size);
            n++;
        }
    gr_linked_free(&linked);
    gr_ptx_free(m);
    return 0;
}
