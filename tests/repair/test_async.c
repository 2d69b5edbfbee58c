// SPDX-License-Identifier: Apache-2.0
// test_async — edits for asynchronous copies, launches that depend on each other, clusters, and barriers that only some
// threads come to.
#include "findings/missing.h"
#include "made.h"

#define PROXY "the two are ordered, but no fence.proxy.async is between them"

// Proposals for a finding of `source`, which made() has changed.
static unsigned propose_made(const char *source, const char *order, uint32_t later, uint32_t earlier,
                             void (*made)(GrFinding *f)) {
    assert_int_equal(GR_OK, gr_file_write(path, source, strlen(source), NULL));
    GrFinding f = {.order = order,
                   .n_accesses = 2,
                   .kernel = "k",
                   .space = "shared",
                   .accesses = {at(later, NULL), at(earlier, NULL)}};
    const GrFinding *all = &f;
    made(&f);
    return gr_repair_propose(&repairs, &all, 1, proposals);
}

static void later_is_async(GrFinding *f) { f->accesses[0].async = true; }
static void two_launches(GrFinding *f) {
    f->accesses[0].launch = 3;
    f->accesses[1].launch = 2;
}
static void as_is(GrFinding *f) { (void)f; }

// Behind the write by threads, before the copy reads; it is in front of the barrier between.
static void proxies(void **state) {
    (void)state;
    const char *source = "__global__ void k(float *out) {\n"
                         "    __shared__ float s[64];\n"
                         "    for (int i = threadIdx.x; i < 64; i += 32)\n"
                         "        s[i] = 1;\n"
                         "    __syncthreads();\n"
                         "    if (threadIdx.x == 0) {\n"
                         "        bulk_store(out, s, 256);\n"
                         "    }\n"
                         "}\n";
    assert_int_equal(2, propose_made(source, PROXY, 7, 4, later_is_async));
    assert_non_null(strstr(
        after(0), "= 1;\n    asm volatile(\"fence.proxy.async.shared::cta;\" ::: \"memory\");\n    __sync"));
    assert_non_null(
        strstr(after(1),
               "{\n        asm volatile(\"fence.proxy.async.shared::cta;\" ::: \"memory\");\n        bulk"));
}

static void grids(void **state) {
    (void)state;
    const char *source = "__global__ void one(float *out) {\n"
                         "    out[threadIdx.x] = 1;\n"
                         "}\n"
                         "__global__ void two(float *out, int n) {\n"
                         "    if (n) {\n"
                         "        out[64] += out[threadIdx.x];\n"
                         "    }\n"
                         "}\n";
    assert_int_equal(1, propose_made(source, MISSING_GRID_WAIT, 6, 2, two_launches));
    assert_non_null(strstr(after(0), "n) {\n    cudaGridDependencySynchronize();\n    if (n) {\n"));
}

// The barrier of the block that is between becomes one of the cluster.
static void clusters(void **state) {
    (void)state;
    const char *source = "__global__ void k(int *x) {\n"
                         "    __shared__ int box[64];\n"
                         "    auto cl = cg::this_cluster();\n"
                         "    box[threadIdx.x] = 1;\n"
                         "    __syncthreads();\n"
                         "    cl.map_shared_rank(box, 1)[threadIdx.x] = 2;\n"
                         "}\n";
    assert_true(propose_made(source, MISSING_BLOCKS, 6, 4, as_is) > 0);
    assert_non_null(strstr(after(0), "= 1;\n    cl.sync();\n    cl.map"));
    // The owner's end: a misuse.
    done(NULL), fresh(NULL);
    GrFinding f = {.n_accesses = 1,
                   .accesses = {at(6, NULL)},
                   .detail =
                       "thread (0,0,0) wrote 4 bytes of the shared memory of block (1,0,0), which has ended"};
    const GrFinding *all = &f;
    assert_int_equal(1, gr_repair_propose(&repairs, &all, 1, proposals));
    assert_non_null(strstr(after(0), "= 2;\n    cl.sync();\n}\n"));
}

// Waits that leave copies under way; then a wait by the thread that committed them.
static void waits(void **state) {
    (void)state;
    const char *source = "template <int N> __device__ void wait_read() {\n"
                         "    asm volatile(\"cp.async.bulk.wait_group.read %0;\" ::\"n\"(N) : \"memory\");\n"
                         "}\n"
                         "template <int S> __global__ void k(int *x, int *s) {\n"
                         "    if (threadIdx.x == 0) {\n"
                         "        store(x, s);\n"
                         "        commit();\n"
                         "        wait_read<S - 1>(); // all but one\n"
                         "        s[0] = 1;\n"
                         "    }\n"
                         "}\n";
    assert_true(propose_made(source, MISSING_ASYNC, 6, 9, later_is_async) > 1);
    assert_non_null(strstr(after(0), "        wait_read<0>(); // all but one\n"));
    bool behind = false;
    for (unsigned k = 1; k < GR_REPAIR_PROPOSALS && proposals[k].n; k++)
        behind |= strstr(after(k), "commit();\n        asm volatile(\"cp.async.bulk.wait_group 0;\"") != NULL;
    assert_true(behind);
}

// A barrier that some warps do not come to is moved out of the condition.
static void moved(void **state) {
    (void)state;
    const char *source = "__global__ void k(float *s, int n) {\n"
                         "    int warp = threadIdx.y;\n"
                         "    s[warp] = 1;\n"
                         "    if (warp < n) {\n"
                         "        __syncthreads();\n"
                         "        s[64] = s[1];\n"
                         "    }\n"
                         "}\n";
    propose(source, 6, 3, MISSING_WARPS);
    assert_non_null(strstr(after(0), "= 1;\n    __syncthreads();\n    if (warp < n) {\n        s[64]"));
    // All come to this one.
    done(NULL), fresh(NULL);
    char *other = strdup(source);
    char *index = strstr(other, "threadIdx.y");
    for (unsigned k = 0; k < 11; k++)
        index[k] = "blockIdx.xx"[k];
    assert_int_equal(0, propose(other, 6, 3, MISSING_WARPS));
    free(other);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(proxies, fresh, done),
        cmocka_unit_test_setup_teardown(grids, fresh, done),
        cmocka_unit_test_setup_teardown(clusters, fresh, done),
        cmocka_unit_test_setup_teardown(waits, fresh, done),
        cmocka_unit_test_setup_teardown(moved, fresh, done),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
