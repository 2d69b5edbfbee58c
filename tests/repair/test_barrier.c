// SPDX-License-Identifier: Apache-2.0
// test_barrier — places of barriers: the ways from one side of a race to the other that have none.
#include "findings/missing.h"
#include "made.h"

// Filled in each turn, with a barrier before it is read: the way around is the one without.
static const char tiles[] = "__global__ void k(int *a, int n) {\n"
                            "    __shared__ int s[64]; int t = threadIdx.x, sum = 0;\n"
                            "    for (int i = 0; i < n; i++) {\n"
                            "        s[t] = a[i];\n"
                            "        __syncthreads();\n"
                            "        for (int k = 0; k < 64; k++)\n"
                            "            sum += s[k];\n"
                            "        // here\n"
                            "    }\n"
                            "    a[t] = sum;\n"
                            "}\n";

static void around_a_loop(void **state) {
    (void)state;
    static const Made orders[][2] = {{{4, 7, MISSING_WARPS}, {7, 4, MISSING_WARPS}},
                                     {{7, 4, MISSING_WARPS}, {4, 7, MISSING_LANES}},
                                     {{4, 7, MISSING_LANES}, {4, 7, MISSING_WARPS}}};
    for (size_t k = 0; k < 3; k++) {
        assert_int_equal(1, propose_all(tiles, orders[k], 2));
        assert_non_null(strstr(after(0), "// here\n        __syncthreads();\n    }\n"));
        done(NULL), fresh(NULL);
    }
    // Lanes of one warp alone: their own barrier first.
    assert_int_equal(2, propose_all(tiles, orders[2], 1));
    assert_non_null(strstr(after(0), "// here\n        __syncwarp();\n    }\n"));
    assert_non_null(strstr(after(1), "// here\n        __syncthreads();\n    }\n"));
}

// The first store of the loop is read behind the loop: no barrier of the loop is needed for that.
static void barrier_at_the_end(void **state) {
    (void)state;
    const char *source = "__global__ void k(int *a, int n) {\n"
                         "    __shared__ int s[64]; int t = threadIdx.x, sum = 0;\n"
                         "    for (int i = 0; i < n; i++) {\n"
                         "        s[t] = a[i];\n"
                         "        sum += s[t ^ 1];\n"
                         "        __syncthreads();\n"
                         "    }\n"
                         "}\n";
    for (unsigned swap = 0; swap < 2; swap++) {
        assert_int_equal(1, propose(source, 4 + swap, 5 - swap, MISSING_WARPS));
        assert_non_null(strstr(after(0), "= a[i];\n        __syncthreads();\n        sum"));
        done(NULL), fresh(NULL);
    }
}

// A place that is between all stores and the load; one that only some have is none.
static void of_several(void **state) {
    (void)state;
    const char *source = "__global__ void k(int *a, int *b) {\n"
                         "    __shared__ int s[66]; int t = threadIdx.x;\n"
                         "    s[t + 1] = a[t];\n"
                         "    if (t == 0)\n"
                         "        s[0] = 0;\n"
                         "    b[t] = s[t] + s[t + 2];\n"
                         "    s[t] = 7;\n"
                         "}\n";
    static const Made three[] = {{6, 3, MISSING_LANES}, {3, 6, MISSING_WARPS}, {6, 5, MISSING_LANES}};
    assert_int_equal(1, propose_all(source, three, 3));
    assert_non_null(strstr(after(0), "s[0] = 0;\n    __syncthreads();\n    b[t]"));
    done(NULL), fresh(NULL);
    static const Made apart[] = {{6, 3, MISSING_WARPS}, {7, 6, MISSING_WARPS}};
    assert_int_equal(1, propose_all(source, apart, 2));
    assert_non_null(
        strstr(after(0), "s[0] = 0;\n    __syncthreads();\n    b[t] = s[t] + s[t + 2];\n    __sync"));
    // One of the findings is of another kind.
    done(NULL), fresh(NULL);
    static const Made other[] = {{6, 3, MISSING_WARPS}, {6, 3, MISSING_LAUNCHES}};
    assert_int_equal(0, propose_all(source, other, 2));
}

// What holds a barrier already: calls, groups, PTX, loops.
static void held(void **state) {
    (void)state;
    static const char *const barriers[] = {"__syncthreads();",
                                           "f(s);",
                                           "f<3>(s);",
                                           "cg::this_thread_block().sync();",
                                           "b.sync();",
                                           "cg::sync(b);",
                                           "if (__syncthreads_or(n)) n++;",
                                           "asm volatile(\"bar.sync 0;\");",
                                           "for (int i = 0; i < n; i++) { __syncthreads(); }",
                                           "if (n) b.sync(); else f(s);"};
    static const char *const narrow[] = {"w.sync();", "__syncwarp();",
                                         "asm volatile(\"bar.warp.sync -1;\");"};
    static const char *const none[] = {"if (n) b.sync();", "g(s);", "atomicAdd(s, 1);", ";"};
    static const char form[] = "__device__ void g(int *s) { s[0] = 1; }\n"
                               "__device__ void h(int *s) { if (s[1]) return; __syncthreads(); }\n"
                               "template <int N> __device__ void f(int *s) { g(s); h(s); }\n"
                               "__global__ void k(int *s, int n) {\n"
                               "    cg::thread_block b = cg::this_thread_block();\n"
                               "    auto w = cg::tiled_partition<32>(b);\n"
                               "    s[threadIdx.x] = 1;\n"
                               "    %s\n"
                               "    n = 2;\n"
                               "    n = s[0];\n"
                               "}\n";
    char source[2000];
    for (size_t k = 0; k < sizeof barriers / sizeof *barriers; k++) {
        snprintf(source, sizeof source, form, barriers[k]);
        if (propose(source, 10, 7, MISSING_WARPS) || propose(source, 10, 7, MISSING_LANES))
            fail_msg("%s", barriers[k]);
        done(NULL), fresh(NULL);
    }
    for (size_t k = 0; k < sizeof narrow / sizeof *narrow; k++) {
        snprintf(source, sizeof source, form, narrow[k]);
        if (propose(source, 10, 7, MISSING_WARPS) != 1 || propose(source, 10, 7, MISSING_LANES))
            fail_msg("%s", narrow[k]);
        done(NULL), fresh(NULL);
    }
    for (size_t k = 0; k < sizeof none / sizeof *none; k++) {
        snprintf(source, sizeof source, form, none[k]);
        if (!propose(source, 10, 7, MISSING_WARPS) || strcmp(proposals[0].what, "insert __syncthreads()"))
            fail_msg("%s", none[k]);
        done(NULL), fresh(NULL);
    }
}

// Never right beside a barrier: a narrower one alone in its line is made the wider one.
static void beside(void **state) {
    (void)state;
    const char *source = "__global__ void k(int *s, int n) {\n"
                         "    s[threadIdx.x] = 1;\n"
                         "    __syncwarp();\n"
                         "    n = s[0];\n"
                         "}\n";
    assert_int_equal(1, propose(source, 4, 2, MISSING_WARPS));
    assert_non_null(strstr(after(0), "= 1;\n    __syncthreads();\n    n ="));
}

// The call of a function in a loop: both sides are in the function, and the way around is the loop's.
static void around_a_call(void **state) {
    (void)state;
    const char *source = "__device__ int f(int *s, int v) {\n"
                         "    s[threadIdx.x] = v;\n"
                         "    __syncthreads();\n"
                         "    return s[threadIdx.x ^ 1];\n"
                         "}\n"
                         "__global__ void k(int *s, int n) {\n"
                         "    for (int i = 0; i < n; i++) {\n"
                         "        n += f(s, i);\n"
                         "    }\n"
                         "}\n";
    assert_int_equal(GR_OK, gr_file_write(path, source, strlen(source), NULL));
    GrFrame call = {.file = path, .line = 8};
    GrFinding f = {.order = MISSING_WARPS, .n_accesses = 2, .accesses = {at(2, NULL), at(4, NULL)}};
    const GrFinding *all = &f;
    f.accesses[0].inlined = f.accesses[1].inlined = &call;
    f.accesses[0].n_inlined = f.accesses[1].n_inlined = 1;
    assert_int_equal(1, gr_repair_propose(&repairs, &all, 1, proposals));
    assert_non_null(strstr(after(0), "f(s, i);\n        __syncthreads();\n    }\n"));
}

// A loop that holds a barrier is one that all go round together, whatever decides.
static void uniform_loops(void **state) {
    (void)state;
    const char *source = "__global__ void k(int *s, int *a) {\n"
                         "    int t = threadIdx.x;\n"
                         "    while (true) {\n"
                         "        s[t] = a[t];\n"
                         "        __syncthreads();\n"
                         "        int got = s[t ^ 1];\n"
                         "        if (a[0] == 0)\n"
                         "            break;\n"
                         "    }\n"
                         "}\n";
    assert_int_equal(1, propose(source, 4, 6, MISSING_WARPS));
    assert_non_null(strstr(after(0), "break;\n        __syncthreads();\n    }\n"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(around_a_loop, fresh, done),
        cmocka_unit_test_setup_teardown(barrier_at_the_end, fresh, done),
        cmocka_unit_test_setup_teardown(of_several, fresh, done),
        cmocka_unit_test_setup_teardown(held, fresh, done),
        cmocka_unit_test_setup_teardown(beside, fresh, done),
        cmocka_unit_test_setup_teardown(around_a_call, fresh, done),
        cmocka_unit_test_setup_teardown(uniform_loops, fresh, done),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
