// SPDX-License-Identifier: Apache-2.0
// test_budget — --budget: what is learnt of a kernel's launches, and what is asked of the driver around each of them.
#include "engines/collider/budget.h"
#include "engines/collider/device/record.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void words_are_read(void **state) {
    static const struct {
        const char *text;
        uint32_t thousandths; // 0: refused
    } cases[] = {{"2x", 2000}, {"2", 2000}, {"1.5x", 1500}, {"1.01", 1010}, {"1000x", 1000000},
                 {"1x", 0},    {"0.5x", 0}, {"1001x", 0},   {"-2x", 0},     {"x", 0},
                 {"2xx", 0},   {"2 x", 0},  {"nan", 0},     {"inf", 0},     {"2x and", 0}};
    gr_error err;
    uint32_t n;
    (void)state;
    assert_int_equal(gr_budget_parse("", &n, &err), GR_OK);
    assert_int_equal(n, 0);
    for (unsigned k = 0; k < sizeof cases / sizeof *cases; k++) {
        gr_status st = gr_budget_parse(cases[k].text, &n, &err);
        assert_int_equal(st, cases[k].thousandths ? GR_OK : GR_ERR_ARGUMENT);
        assert_int_equal(n, cases[k].thousandths);
        if (st != GR_OK)
            assert_non_null(strstr(err.msg, cases[k].text));
    }
}

// Kernels whose windows cost from nothing to a thousand times their own time, side by side or one after the other.
static void launches_keep_to_it(void **state) {
    static const double costs[] = {0, 0.1, 1, 5, 50, 1000};
    (void)state;
    for (unsigned side_by_side = 0; side_by_side < 2; side_by_side++)
        for (unsigned c = 0; c < sizeof costs / sizeof *costs; c++)
            for (unsigned tenths = 12; tenths < 50; tenths += 8) {
                double factor = tenths / 10.0;
                BudgetKernel k = {0};
                double own = 1e5, sum = 0, shares = 0;
                uint32_t random = 1;
                for (unsigned n = 0; n < 400; n++) {
                    double share = gr_budget_next(&k);
                    double part = side_by_side ? share / (share + 0.2) : share;
                    random = random * 1664525 + 1013904223;
                    double noise = 0.95 + 0.1 * (random >> 16) / 65536;
                    double ns = own * (1 + costs[c] * part) * noise;
                    gr_budget_took(&k, factor, share, ns);
                    assert_true(share >= 0 && share <= 1);
                    if (n >= 200) {
                        sum += ns;
                        shares += share;
                    }
                }
                assert_true(sum / 200 < own * factor * 1.03);
                if (costs[c] < (factor - 1) / 2) // all of them fit
                    assert_true(shares / 200 > 0.9);
                else // and what there is is used
                    assert_true(sum / 200 > own * (1 + (factor - 1) / 3));
            }
}

static void first_launches(void **state) {
    BudgetKernel k = {0};
    (void)state;
    assert_true(gr_budget_next(&k) == 1.0 / BUDGET_START);
    gr_budget_took(&k, 2, 1.0 / BUDGET_START, 5e5); // says nothing yet
    assert_true(gr_budget_next(&k) == 0);
    assert_true(gr_budget_next(&k) == 1.0 / BUDGET_START); // the second one is still on its way
    gr_budget_took(&k, 2, 0, 1e5);
    assert_true(k.own_ns == 1e5);
    gr_budget_took(&k, 2, 1.0 / BUDGET_START, 5e5);
    assert_true(gr_budget_next(&k) < 1.0 / BUDGET_START);
}

// ---- A driver in which a launch takes as long as it says ------------------------------------------------------------

enum { EVENTS = 256 };
static struct {
    unsigned n_events, n_fills, n_records, n_notes, n_remarks, pending;
    unsigned word;
    CUdeviceptr at;
    double now_ns, event_ns, when[EVENTS]; // event_ns: between two events with nothing between them
    bool done[EVENTS], refuses;
    char remark[300];
} d;

static CUresult current(CUcontext *c) {
    *c = (CUcontext)(uintptr_t)0x1000;
    return CUDA_SUCCESS;
}
static CUresult fill(CUdeviceptr at, unsigned word, size_t n, CUstream stream) {
    (void)stream;
    assert_int_equal(n, 1);
    d.n_fills++;
    d.at = at;
    d.word = word;
    return d.refuses ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}
static CUresult new_event(CUevent *e, unsigned flags) {
    assert_int_equal(flags, 0); // they tell the time
    assert_true(d.n_events < EVENTS);
    *e = (CUevent)(uintptr_t)++d.n_events;
    return CUDA_SUCCESS;
}
static CUresult record(CUevent e, CUstream stream) {
    (void)stream;
    d.n_records++;
    d.now_ns += d.event_ns;
    d.when[(uintptr_t)e - 1] = d.now_ns;
    d.done[(uintptr_t)e - 1] = !d.pending;
    return CUDA_SUCCESS;
}
static CUresult query(CUevent e) { return d.done[(uintptr_t)e - 1] ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY; }
static CUresult elapsed(float *ms, CUevent a, CUevent b) {
    *ms = (float)((d.when[(uintptr_t)b - 1] - d.when[(uintptr_t)a - 1]) / 1e6);
    return CUDA_SUCCESS;
}
static void *driver(GrSession *s, const char *name) {
    static const struct {
        const char *name;
        void *f;
    } all[] = {{"cuCtxGetCurrent", (void *)current}, {"cuMemsetD32Async", (void *)fill},
               {"cuEventCreate", (void *)new_event}, {"cuEventRecord", (void *)record},
               {"cuEventQuery", (void *)query},      {"cuEventElapsedTime", (void *)elapsed}};
    (void)s;
    for (unsigned k = 0; k < sizeof all / sizeof *all; k++)
        if (!strcmp(all[k].name, name))
            return all[k].f;
    return NULL;
}
static void note(GrSession *s, const char *what, const char *text) {
    (void)s, (void)what, (void)text;
    d.n_notes++;
}
static void remark(GrSession *s, const char *text) {
    (void)s;
    d.n_remarks++;
    strncpy(d.remark, text, sizeof d.remark - 1);
}

static GrSession session = {.driver = driver, .note = note, .remark = remark};
static const GrModule module = {.number = 1};

static double launch(GrBudget *b, uint64_t number, double own_ns, CUresult result) {
    GrLaunch l = {.number = number,
                  .module = &module,
                  .func = (CUfunction)(uintptr_t)0x20,
                  .grid = {8, 1, 1},
                  .block = {64, 1, 1}};
    gr_budget_begin(b, &l);
    double share = 1 - d.word / (double)UINT32_MAX;
    d.now_ns += own_ns * (1 + 20 * share);
    gr_budget_end(b, &l, result);
    return share;
}

static void driver_is_asked(void **state) {
    double sum = 0;
    (void)state;
    memset(&d, 0, sizeof d);
    GrBudget *b = gr_budget_new(&session, 2000);
    assert_non_null(b);
    uint32_t shut = gr_budget_loaded(b, &module, 0x5000);
    assert_in_range(shut, UINT32_MAX - UINT32_MAX / BUDGET_START - 8,
                    UINT32_MAX - UINT32_MAX / BUDGET_START + 8);
    for (unsigned n = 1; n <= 300; n++) {
        double before = d.now_ns;
        launch(b, n, 1e5, CUDA_SUCCESS);
        sum += n > 100 ? d.now_ns - before : 0;
    }
    assert_true(sum / 200 < 2e5);
    assert_int_equal(d.n_fills, 300);
    assert_int_equal(d.at, 0x5000 + offsetof(GrControl, shut));
    assert_int_equal(d.n_events, 3);           // each launch has ended when the next one comes
    const unsigned own = 1 + 299 / BUDGET_OWN; // launches with all windows shut, which have a third event
    assert_int_equal(d.n_records, 600 + own);
    // A launch that the driver refuses, and one that was not looked at.
    launch(b, 301, 1e5, CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(d.n_records, 601 + own);
    GrLaunch l = {.number = 302, .module = &module, .programmatic = true};
    gr_budget_begin(b, &l);
    gr_budget_end(b, &l, CUDA_SUCCESS);
    l = (GrLaunch){.number = 303};
    gr_budget_begin(b, &l);
    gr_budget_end(b, &l, CUDA_SUCCESS);
    assert_int_equal(d.n_fills, 301);
    // Launches that do not end: no more than so many events.
    d.pending = true;
    for (unsigned n = 400; n < 600; n++)
        launch(b, n, 1e5, CUDA_SUCCESS);
    assert_int_equal(d.n_events, 3 * 64);
    assert_int_equal(d.n_notes, 0);
    d.refuses = true;
    launch(b, 700, 1e5, CUDA_SUCCESS);
    launch(b, 701, 1e5, CUDA_SUCCESS);
    assert_int_equal(d.n_notes, 1);
    gr_budget_finish(b);
    assert_int_equal(d.n_remarks, 1);
    assert_non_null(strstr(d.remark, "times their own time"));
}

// What events take themselves is no time of a kernel that takes less.
static void short_kernels_keep_to_it(void **state) {
    double sum = 0;
    (void)state;
    memset(&d, 0, sizeof d);
    d.event_ns = 4000;
    GrBudget *b = gr_budget_new(&session, 2000);
    gr_budget_loaded(b, &module, 0x5000);
    for (unsigned n = 1; n <= 300; n++) {
        double share = launch(b, n, 2000, CUDA_SUCCESS);
        sum += n > 100 ? 2000 * (1 + 20 * share) : 0;
    }
    assert_true(sum / 200 < 2 * 2000);
    assert_true(sum / 200 > 1.3 * 2000);
    gr_budget_finish(b);
}

// Another run in the process knows nothing of the one before.
static void a_run_begins_anew(void **state) {
    (void)state;
    memset(&d, 0, sizeof d);
    GrBudget *b = gr_budget_new(&session, 2000);
    gr_budget_loaded(b, &module, 0x5000);
    double first = launch(b, 1, 1e5, CUDA_SUCCESS), second = launch(b, 2, 1e5, CUDA_SUCCESS);
    launch(b, 3, 1e5, CUDA_SUCCESS);
    gr_budget_next_run(b);
    assert_true(launch(b, 4, 1e5, CUDA_SUCCESS) == first);
    assert_true(launch(b, 5, 1e5, CUDA_SUCCESS) == second);
    gr_budget_finish(b);
}

static void one_launch_says_nothing(void **state) {
    (void)state;
    memset(&d, 0, sizeof d);
    GrBudget *b = gr_budget_new(&session, 2000);
    gr_budget_loaded(b, &module, 0x5000);
    assert_true(launch(b, 1, 1e5, CUDA_SUCCESS) > 0.9 / BUDGET_START);
    gr_budget_finish(b);
    assert_non_null(strstr(d.remark, "no kernel was launched often enough"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_read),           cmocka_unit_test(launches_keep_to_it),
        cmocka_unit_test(first_launches),           cmocka_unit_test(driver_is_asked),
        cmocka_unit_test(short_kernels_keep_to_it), cmocka_unit_test(a_run_begins_anew),
        cmocka_unit_test(one_launch_says_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
