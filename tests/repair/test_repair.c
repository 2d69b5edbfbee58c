// SPDX-License-Identifier: Apache-2.0
// test_repair — edits that are proposed for races of small sources (repair/propose.h), and what the text of a source
// tells (repair/code.h, repair/reach.h).
#include "findings/missing.h"
#include "repair/reach.h"

#include "made.h"

static void straight(void **state) {
    (void)state;
    assert_int_equal(1, propose("__global__ void k(int *s) {\n"
                                "    int t = threadIdx.x;\n"
                                "    s[t] = 1;\n"
                                "    s[t + 64] = s[t + 1];\n"
                                "}\n",
                                4, 3, MISSING_WARPS));
    assert_string_equal(after(0), "__global__ void k(int *s) {\n"
                                  "    int t = threadIdx.x;\n"
                                  "    s[t] = 1;\n"
                                  "    __syncthreads();\n"
                                  "    s[t + 64] = s[t + 1];\n"
                                  "}\n");
    StrBuf hunks = {0};
    gr_repair_hunks(&proposals[0], &hunks);
    assert_string_equal(hunks.data, "@@ -2,4 +2,5 @@\n"
                                    "     int t = threadIdx.x;\n"
                                    "     s[t] = 1;\n"
                                    "+    __syncthreads();\n"
                                    "     s[t + 64] = s[t + 1];\n"
                                    " }\n");
    gr_str_free(&hunks);
}

// Not under a condition that is another for each thread: outside, where both sides are parted all the same.
static void outside_of_a_condition(void **state) {
    (void)state;
    assert_int_equal(1, propose("__global__ void k(int *s) {\n"
                                "    s[threadIdx.x] = 1;\n"
                                "    if (threadIdx.x < 5)\n"
                                "        s[0] = s[7];\n"
                                "}\n",
                                4, 2, MISSING_WARPS));
    assert_non_null(strstr(after(0), "= 1;\n    __syncthreads();\n    if ("));
}

static void no_place(void **state) {
    (void)state;
    // Both under the condition.
    assert_int_equal(0, propose("__global__ void k(int *s) {\n"
                                "    int mine = threadIdx.x * 2;\n"
                                "    if (mine < 5) {\n"
                                "        s[mine] = 1;\n"
                                "        s[0] = s[7];\n"
                                "    }\n"
                                "}\n",
                                5, 4, MISSING_WARPS));
    // Some have left.
    done(NULL), fresh(NULL);
    assert_int_equal(0, propose("__global__ void k(int *s, int n) {\n"
                                "    int t = threadIdx.x;\n"
                                "    if (t >= n) return;\n"
                                "    s[t] = 1;\n"
                                "    s[0] = s[7];\n"
                                "}\n",
                                5, 4, MISSING_WARPS));
    // Both in one statement; and in a loop that threads go round unequally often.
    done(NULL), fresh(NULL);
    assert_int_equal(0, propose("__global__ void k(int *s, int n) {\n"
                                "    for (int i = threadIdx.x; i < n; i += 32) {\n"
                                "        s[i] = s[i + 1];\n"
                                "    }\n"
                                "}\n",
                                3, 3, MISSING_WARPS));
    // The order is of another kind, and the file is not there.
    done(NULL), fresh(NULL);
    assert_int_equal(0, propose("", 3, 3, "nothing that is known"));
    GrFinding f = {.order = MISSING_WARPS, .n_accesses = 2, .accesses = {at(1, NULL), at(2, NULL)}};
    f.accesses[0].at.file = f.accesses[1].at.file = "/nonexistent.cu";
    assert_int_equal(0, gr_repair_propose(&repairs, (const GrFinding *const[]){&f}, 1, proposals));
}

// A turn has no barrier at all: between the sides, at the end of the loop, both; in whichever order a run showed them.
static void round_a_loop(void **state) {
    (void)state;
    for (unsigned swap = 0; swap < 2; swap++) {
        assert_int_equal(3, propose("template <int N> __global__ void k(int *s, int n) {\n"
                                    "    int t = threadIdx.x, sum = 0;\n"
                                    "    for (int i = 0; i < n; i++) {\n"
                                    "        s[t] = i;\n"
                                    "        sum += s[t ^ 1]; // }\n"
                                    "    }\n"
                                    "}\n",
                                    4 + swap, 5 - swap, MISSING_WARPS));
        assert_non_null(strstr(after(0), "= i;\n        __syncthreads();\n"));
        assert_null(strstr(after(0), "// }\n        __syncthreads();\n    }\n"));
        assert_non_null(strstr(after(1), "// }\n        __syncthreads();\n    }\n"));
        assert_null(strstr(after(1), "= i;\n        __syncthreads();"));
        assert_non_null(strstr(after(2), "// }\n        __syncthreads();\n    }\n"));
        assert_non_null(strstr(after(2), "= i;\n        __syncthreads();\n"));
        done(NULL), fresh(NULL);
    }
}

// Warps may come apart to a barrier of a warp.
static void of_a_warp(void **state) {
    (void)state;
    const char *source = "__global__ void k(int *s) {\n"
                         "    int t = threadIdx.x, warp = t / 32;\n"
                         "    if (warp == 1) {\n"
                         "        s[t] = 1;\n"
                         "        s[0] = s[7];\n"
                         "    }\n"
                         "}\n";
    assert_int_equal(1, propose(source, 5, 4, MISSING_LANES));
    assert_non_null(strstr(after(0), "= 1;\n        __syncwarp();\n"));
    done(NULL), fresh(NULL);
    assert_int_equal(0, propose(source, 5, 4, MISSING_WARPS));
}

// A device function's parameters may be a thread's own.
static void of_a_device_function(void **state) {
    (void)state;
    const char *source = "__device__ void f(int *s, bool now) {\n"
                         "    if (now) {\n"
                         "        s[threadIdx.x] = 1;\n"
                         "        s[0] = s[7];\n"
                         "    }\n"
                         "    s[1] = 2;\n"
                         "}\n";
    assert_int_equal(0, propose(source, 4, 3, MISSING_WARPS));
    done(NULL), fresh(NULL);
    assert_int_equal(1, propose(source, 6, 3, MISSING_WARPS));
}

#define NARROW "scope .cta on both sides is too narrow: they are in two blocks, which takes .gpu or wider"

// In the lines of both sides first, then wherever their functions name a narrow scope.
static void wider_scopes(void **state) {
    (void)state;
    assert_int_equal(2, propose("__global__ void k(int *s) {\n"
                                "    atomicAdd_block(s, 1);\n"
                                "    cuda::atomic_ref<int, cuda::thread_scope_block> ref(*s);\n"
                                "    asm volatile(\"red.relaxed.cta.global.add.u32 [%0], 1;\" ::\"l\"(s));\n"
                                "}\n",
                                4, 2, NARROW));
    assert_non_null(strstr(after(0), "    atomicAdd(s, 1);\n"));
    assert_non_null(strstr(after(0), "thread_scope_block"));
    assert_non_null(strstr(after(0), "red.relaxed.gpu.global"));
    assert_non_null(strstr(after(1), "    cuda::atomic_ref<int, cuda::thread_scope_device> ref(*s);\n"));
    StrBuf hunks = {0};
    gr_repair_hunks(&proposals[0], &hunks);
    assert_non_null(strstr(hunks.data, "-    atomicAdd_block(s, 1);\n+    atomicAdd(s, 1);\n     cuda::"));
    gr_str_free(&hunks);
}

// A fence helps only where something signals: behind what is written and before what is read, then the other way round.
static void fences(void **state) {
    (void)state;
    const char *source = "__global__ void k(int *s, int *flag) {\n"
                         "    if (blockIdx.x) {\n"
                         "        s[0] = 1;\n"
                         "        atomicExch(flag, 1);\n"
                         "    } else {\n"
                         "        while (!atomicAdd(flag, 0)) {}\n"
                         "        s[1] = s[0];\n"
                         "    }\n"
                         "}\n";
    assert_int_equal(6, propose(source, 7, 3, MISSING_BLOCKS));
    assert_non_null(strstr(after(0), "        s[0] = 1;\n        __threadfence();\n"));
    assert_non_null(strstr(after(0), "        __threadfence();\n        s[1] = s[0];\n"));
    assert_null(strstr(after(1), "        __threadfence();\n        s[1] = s[0];\n"));
    assert_null(strstr(after(2), "        s[0] = 1;\n        __threadfence();\n"));
    done(NULL), fresh(NULL);
    assert_int_equal(0, propose("__global__ void k(int *s) {\n"
                                "    s[0] = 1;\n"
                                "    s[1] = s[0];\n"
                                "}\n",
                                3, 2, MISSING_BLOCKS));
}

// Not beside a fence that is there; where the flag is volatile, or waited for in a function.
static void lacking_fences(void **state) {
    (void)state;
    assert_int_equal(5, propose("#define FENCE() asm volatile(\"fence.acq_rel.gpu;\" ::: \"memory\")\n"
                                "__global__ void k(int *s, volatile int *flag) {\n"
                                "    if (blockIdx.x) {\n"
                                "        s[0] = 1;\n"
                                "        FENCE();\n"
                                "        *flag = 1;\n"
                                "    } else {\n"
                                "        while (!*flag) {}\n"
                                "        if (*flag > 2) FENCE();\n"
                                "        s[1] = s[0];\n"
                                "        *flag = 2;\n"
                                "    }\n"
                                "}\n",
                                10, 4, MISSING_BLOCKS));
    assert_non_null(strstr(after(0), "FENCE();\n        __threadfence();\n        s[1] = s[0];\n"));
    done(NULL), fresh(NULL);
    propose("__device__ void sync(volatile int *flag) {\n"
            "    *flag = *flag + 1;\n"
            "    while (*flag < 3) {}\n"
            "}\n"
            "__global__ void k(int *s, volatile int *flag) {\n"
            "    s[threadIdx.x] = 1;\n"
            "    sync(flag);\n"
            "    s[64] = s[3];\n"
            "}\n",
            8, 6, MISSING_BLOCKS);
    assert_non_null(strstr(after(3), "    while (*flag < 3) {}\n    __threadfence();\n}\n"));
}

// One thread signals for its warp, or for its block: the others' accesses come first.
static void leaders(void **state) {
    (void)state;
    const char *source = "__global__ void k(float *s, uint64_t *full, int n) {\n"
                         "    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;\n"
                         "    if (warp == 0) {\n"
                         "        for (int i = lane; i < n; i += 32)\n"
                         "            s[i] = 1;\n"
                         "        if (lane == 0)\n"
                         "            mbar_arrive(full);\n"
                         "    } else {\n"
                         "        mbar_wait(full);\n"
                         "        n = s[lane];\n"
                         "    }\n"
                         "}\n";
    propose(source, 10, 5, MISSING_WARPS);
    assert_non_null(strstr(after(0), "= 1;\n        __syncwarp();\n        if (lane == 0)\n"));
    done(NULL), fresh(NULL);
    propose("__global__ void k(int *s, int *flag) {\n"
            "    s[threadIdx.x] = 1;\n"
            "    __threadfence();\n"
            "    if (threadIdx.x == 0) {\n"
            "        atomicAdd(flag, 1);\n"
            "        while (atomicAdd(flag, 0) < 3) {}\n"
            "    }\n"
            "    __syncthreads();\n"
            "    s[64] = s[3];\n"
            "}\n",
            9, 2, MISSING_BLOCKS);
    assert_non_null(
        strstr(after(0), "__threadfence();\n    __syncthreads();\n    if (threadIdx.x == 0) {\n"));
}

// The host waits for the first launch's stream, or the second's stream for an event; then before each launch.
static void between_launches(void **state) {
    (void)state;
    assert_int_equal(4, propose("__global__ void __launch_bounds__(64) kernel(int *s) {\n"
                                "    s[0] = 1;\n"
                                "}\n"
                                "void f(int *s, cudaStream_t a, cudaStream_t b) {\n"
                                "    kernel<<<1, 1, 0, a>>>(s);\n"
                                "    if (s)\n"
                                "        kernel<<<1, 1, 0, b>>>(s);\n"
                                "}\n",
                                2, 2, MISSING_LAUNCHES));
    assert_non_null(strstr(after(0), "(s);\n    cudaStreamSynchronize(a);\n    if (s)\n"));
    assert_non_null(
        strstr(after(1), "cudaEventRecord(done, a); cudaStreamWaitEvent(b, done, 0); }\n    if (s)\n"));
    assert_non_null(strstr(after(2), "(s);\n    cudaDeviceSynchronize();\n    if (s)\n"));
    assert_non_null(strstr(after(3), "{\n    cudaDeviceSynchronize();\n    kernel<<<1, 1, 0, a>>>"));
}

// In a loop the first may wait for the second of the last turn. An event that is recorded there is used.
static void between_launches_of_a_loop(void **state) {
    (void)state;
    propose("__global__ void one(int *s) {\n"
            "    s[0] = 1;\n"
            "}\n"
            "template <int N> __global__ void two(int *s) {\n"
            "    s[0] = 2;\n"
            "}\n"
            "void f(int *s, cudaStream_t a, cudaStream_t b, cudaEvent_t e) {\n"
            "    for (int k = 0; k < 3; k++) {\n"
            "        one<<<1, 1, 0, a>>>(s);\n"
            "        cudaEventRecord(e, a);\n"
            "        two<3><<<1, 1, 0, b>>>(s);\n"
            "    }\n"
            "}\n",
            2, 5, MISSING_LAUNCHES);
    assert_non_null(strstr(after(0), "a);\n        cudaStreamSynchronize(a);\n        two"));
    assert_non_null(strstr(after(1), "{\n        cudaStreamSynchronize(b);\n        one"));
    assert_non_null(strstr(after(2), "{\n        cudaStreamSynchronize(b);\n        one"));
    assert_non_null(strstr(after(2), "a);\n        cudaStreamSynchronize(a);\n        two"));
    assert_non_null(strstr(after(3), "a);\n        cudaStreamWaitEvent(b, e, 0);\n        two"));
}

// What is freed, or copied, in another stream: the host waits behind the launch, or before it.
static void operations(void **state) {
    (void)state;
    const char *source = "__global__ void kernel(int *s) {\n"
                         "    s[0] = 1;\n"
                         "}\n"
                         "void f(int *s, cudaStream_t a, cudaStream_t b) {\n"
                         "    cudaMallocAsync(&s, 4, a);\n"
                         "    kernel<<<1, 1, 0, b>>>(s);\n"
                         "    cudaFreeAsync(s, a);\n"
                         "}\n";
    static const struct {
        const char *kind, *edit;
    } rows[] = {{"free", "(s);\n    cudaStreamSynchronize(b);\n    cudaFree"},
                {"allocation", "a);\n    cudaDeviceSynchronize();\n    kernel"}};
    for (size_t k = 0; k < 2; k++) {
        assert_int_equal(GR_OK, gr_file_write(path, source, strlen(source), NULL));
        GrFinding f = {
            .order = MISSING_STREAM, .n_accesses = 2, .accesses = {{.kind = rows[k].kind}, at(2, NULL)}};
        const GrFinding *all = &f;
        assert_true(gr_repair_propose(&repairs, &all, 1, proposals) > 1);
        if (!strstr(after(0), rows[k].edit))
            fail_msg("%s: %s", rows[k].kind, edited);
        done(NULL), fresh(NULL);
    }
}

// What the text of a function tells of who comes to a line.
static void reach(void **state) {
    (void)state;
    static const char source[] = "__global__ void k(int *s, int n) {\n"
                                 "    int t = threadIdx.x, lane = t % 32, same = n + 1, got = s[0];\n"
                                 "    if (n) { \n"
                                 "        a();\n"
                                 "    } else if (same > 3)\n"
                                 "        b();\n"
                                 "    if (t < 64) {\n"
                                 "        c();\n"
                                 "    }\n"
                                 "    if (lane) d();\n"
                                 "    if (got) e();\n"
                                 "    int steps = 0;\n"
                                 "    while (steps < 9) {\n"
                                 "        if (lane == steps) break;\n"
                                 "        steps++;\n"
                                 "        f();\n"
                                 "    }\n"
                                 "    if (steps == 3) g();\n"
                                 "    switch (n) { case 1: h(); }\n"
                                 "    auto raw = R\"(}}})\"; char c = '}'; /* { */\n"
                                 "    i();\n"
                                 "}\n";
    static const struct {
        uint32_t line;
        bool block, warp;
    } lines[] = {{4, true, true},    {6, true, true},    {8, false, true},   {10, false, false},
                 {11, false, false}, {16, false, false}, {18, false, false}, {21, true, true}};
    GrCode c;
    GrReach r;
    assert_true(gr_cpp_read(&c, source, strlen(source)));
    assert_int_equal(1, c.functions.len);
    assert_true(gr_reach_read(&r, &c, &c.functions.data[0]));
    for (size_t k = 0; k < sizeof lines / sizeof *lines; k++) {
        const GrStatement *s = gr_cpp_at(&c, &c.functions.data[0], lines[k].line, 0);
        assert_non_null(s);
        if (gr_reach_all(&r, s, GR_VARIES_NOT) != lines[k].block)
            fail_msg("line %u", lines[k].line);
        if (gr_reach_all(&r, s, GR_VARIES_BY_WARP) != lines[k].warp)
            fail_msg("line %u, warps", lines[k].line);
    }
    gr_reach_free(&r);
    gr_cpp_free(&c);
}

// Statements that share a line go by the column; that of a condition may be all that a compiler says.
static void columns(void **state) {
    (void)state;
    static const char source[] = "__global__ void k(int *s) {\n"
                                 "  a = 1; b = s[2];\n"
                                 "  if (s[0] < 3) c = 1;\n"
                                 "  if (t < 3) { d = 1; e = 2; }\n"
                                 "}\n";
    static const struct {
        uint32_t line, col;
        char first;
    } rows[] = {{2, 0, 'a'},  {2, 3, 'a'}, {2, 10, 'b'}, {3, 3, 'i'},
                {3, 17, 'c'}, {3, 0, 'c'}, {4, 3, 'd'},  {4, 23, 'e'}};
    GrCode c;
    assert_true(gr_cpp_read(&c, source, strlen(source)));
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        const GrStatement *s = gr_cpp_at(&c, &c.functions.data[0], rows[k].line, rows[k].col);
        if (!s || c.tokens.data[s->from].text[0] != rows[k].first)
            fail_msg("line %u, column %u", rows[k].line, rows[k].col);
    }
    gr_cpp_free(&c);
}

// Any text at all is read without harm: every beginning of a source.
static void broken_sources(void **state) {
    (void)state;
    static const char source[] = "__global__ void k(int *s) {\n#pragma unroll\n    do { if (s[0]) { "
                                 "f(\"}\"); } else g(); } while (R\"x()x\"[0]);\n    case 3: x: y(); }\n}}}";
    for (size_t n = 0; n < sizeof source; n++) {
        GrCode c;
        assert_true(gr_cpp_read(&c, source, n));
        gr_cpp_free(&c);
    }
    char *deep = malloc(100000);
    memset(deep, '{', 100000);
    memcpy(deep, "void f()", 8); // NOLINT(bugprone-not-null-terminated-result): its length is told
    GrCode c;
    assert_true(gr_cpp_read(&c, deep, 100000));
    assert_int_equal(0, c.functions.len);
    gr_cpp_free(&c);
    free(deep);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(straight, fresh, done),
        cmocka_unit_test_setup_teardown(outside_of_a_condition, fresh, done),
        cmocka_unit_test_setup_teardown(no_place, fresh, done),
        cmocka_unit_test_setup_teardown(round_a_loop, fresh, done),
        cmocka_unit_test_setup_teardown(of_a_warp, fresh, done),
        cmocka_unit_test_setup_teardown(of_a_device_function, fresh, done),
        cmocka_unit_test_setup_teardown(wider_scopes, fresh, done),
        cmocka_unit_test_setup_teardown(fences, fresh, done),
        cmocka_unit_test_setup_teardown(lacking_fences, fresh, done),
        cmocka_unit_test_setup_teardown(leaders, fresh, done),
        cmocka_unit_test_setup_teardown(between_launches, fresh, done),
        cmocka_unit_test_setup_teardown(between_launches_of_a_loop, fresh, done),
        cmocka_unit_test_setup_teardown(operations, fresh, done),
        cmocka_unit_test(reach),
        cmocka_unit_test(columns),
        cmocka_unit_test(broken_sources),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
