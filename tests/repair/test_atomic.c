// SPDX-License-Identifier: Apache-2.0
// test_atomic — atomics in place of updates: which there are for which types, and what stands in the edited line.
#include "findings/missing.h"
#include "made.h"

#define HEAD                                                                                                 \
    "struct Acc { float *sums; int n; float3 v; };\n__device__ int count;\n"                                 \
    "template <typename T> __global__ void k(int *x, unsigned long long *u, float *f, double *d, Acc a, T "  \
    "*t,\n"                                                                                                  \
    "    unsigned char *c, volatile int *v, long long *l, Acc *b, int y) {\n"                                \
    "    __shared__ unsigned bins[64]; int i = threadIdx.x, old;\n"
enum { LINE = 6 }; // the first behind that

static void rows(void **state) {
    (void)state;
    static const struct {
        const char *body, *edited; // NULL: nothing is proposed
    } rows[] = {
        {"    bins[f[i] % 64]++;", "    atomicAdd(&bins[f[i] % 64], 1);"},
        {"    if (i < y) *f += f[i] * 2;", NULL},
        {"    if (i < y) *f += x[i] * 2; // sum", "    if (i < y) atomicAdd(f, x[i] * 2); // sum"},
        {"    *(d + i) += 1.5;", "    atomicAdd((d + i), 1.5);"},
        {"    a.sums[i * 3] += x[i];", "    atomicAdd(&a.sums[i * 3], x[i]);"},
        {"    b[i].v.x -= f[i] - 1;", "    atomicAdd(&b[i].v.x, -(f[i] - 1));"},
        {"    x[i] -= y - 1;", "    atomicSub(&x[i], y - 1);"},
        {"    u[0] -= y;", "    atomicAdd(&u[0], 0ull - (y));"},
        {"    t[0] += y;", "    atomicAdd(&t[0], y);"},
        {"    t[0] -= y;", NULL},
        {"    --count;", "    atomicSub(&count, 1);"},
        {"    f[++count] = 1;", "    f[(atomicAdd(&count, 1) + 1)] = 1;"},
        {"    old = count++;", "    old = atomicAdd(&count, 1);"},
        {"    if (count++ < y) old = 1;", "    if (atomicAdd(&count, 1) < y) old = 1;"},
        {"    x[0] = y + x[0];", "    atomicAdd(&x[0], y);"},
        {"    old = x[0] += y;", NULL},
        {"    x[0] |= 1 << y;", "    atomicOr(&x[0], 1 << y);"},
        {"    x[0] = x[0] ^ y;", "    atomicXor(&x[0], y);"},
        {"    bins[3] &= y;", "    atomicAnd(&bins[3], y);"},
        {"    x[0] *= y;", NULL},
        {"    x[0] = max(x[0], y);", "    atomicMax(&x[0], y);"},
        {"    if (y < *x) *x = y;", "    atomicMin(x, y);"},
        {"    if (y > l[0])\n        l[0] = y;\n    y = 3;", "    atomicMax(&l[0], y);\n    y = 3;"},
        {"    if (y > x[0]) {\n        x[0] = y;\n    }", "    atomicMax(&x[0], y);"},
        {"    l[0] += y;", NULL},
        {"    f[0] = fmaxf(f[0], y);", NULL},
        {"    if (y > f[0]) f[0] = y;", NULL},
        {"    t[0] = max(t[0], y);", NULL},
        {"    c[0] += 1;", NULL},
        {"    v[0] += 1;", NULL},
        {"    x[i] += x[i + 16];", NULL},
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        char source[1000], wanted[1000];
        snprintf(source, sizeof source, "%s%s\n}\n", HEAD, rows[k].body);
        snprintf(wanted, sizeof wanted, "%s%s\n}\n", HEAD, rows[k].edited ? rows[k].edited : "");
        bool n = propose(source, LINE, LINE, MISSING_BLOCKS) && strstr(proposals[0].what, "use atomic");
        if (n != (rows[k].edited != NULL) || (n && strcmp(wanted, after(0))))
            fail_msg("%s: %d, %s", rows[k].body, n, n ? edited : "");
        done(NULL), fresh(NULL);
    }
}

// Lines that go are lines of the hunk, too.
static void hunks(void **state) {
    (void)state;
    StrBuf text = {0};
    assert_int_equal(1, propose("__global__ void k(int *x, int y) {\n"
                                "    if (y > x[0])\n"
                                "        x[0] = y;\n"
                                "    x[1] = 2;\n"
                                "}\n",
                                3, 2, MISSING_WARPS));
    gr_repair_hunks(&proposals[0], &text);
    assert_string_equal(text.data, "@@ -1,5 +1,4 @@\n"
                                   " __global__ void k(int *x, int y) {\n"
                                   "-    if (y > x[0])\n"
                                   "+    atomicMax(&x[0], y);\n"
                                   "-        x[0] = y;\n"
                                   "     x[1] = 2;\n"
                                   " }\n");
    gr_str_free(&text);
}

// Two updates of one mistake are edited together; a plain access beside them is no update.
static void of_several(void **state) {
    (void)state;
    const char *source = "__global__ void k(int *x, int y) {\n"
                         "    x[0] += y;\n"
                         "    x[1] -= y;\n"
                         "    y = x[2];\n"
                         "}\n";
    static const Made both[] = {{2, 2, MISSING_LANES}, {3, 2, MISSING_BLOCKS}};
    assert_int_equal(1, propose_all(source, both, 2));
    assert_non_null(strstr(after(0), "    atomicAdd(&x[0], y);\n    atomicSub(&x[1], y);\n"));
    done(NULL), fresh(NULL);
    assert_int_equal(0, propose(source, 4, 2, MISSING_BLOCKS));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(rows, fresh, done),
        cmocka_unit_test_setup_teardown(hunks, fresh, done),
        cmocka_unit_test_setup_teardown(of_several, fresh, done),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
