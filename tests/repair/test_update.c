// SPDX-License-Identifier: Apache-2.0
// test_update — statements that update an object of memory without an atomic, told by their text.
#include "repair/update.h"
#include "scratch.h"

#define HEAD                                                                                                 \
    "struct Acc { float *sums; int n; };\n__device__ int count;\n"                                           \
    "template <typename T> __global__ void k(int *x, float *f, Acc a, T *t, volatile int *v, int y) {\n"     \
    "    __shared__ unsigned bins[64], one; int i = threadIdx.x, old; float sum = 0;\n"
enum { LINE = 5 }; // the first behind that

// A race of two accesses of these lines of a kernel that has `body`.
static bool update(GrRepairs *r, const char *body, uint32_t one, uint32_t other, GrUpdate *out) {
    char source[1000];
    snprintf(source, sizeof source, "%s%s}\n", HEAD, body);
    assert_int_equal(GR_OK, gr_file_write(path, source, strlen(source), NULL));
    memset(r, 0, sizeof *r);
    gr_arena_init(&r->arena);
    GrFinding f = {.n_accesses = 2,
                   .accesses = {{.kind = "store", .at = {.file = path, .line = one}},
                                {.kind = "load", .at = {.file = path, .line = other}}}};
    return gr_repair_update(r, &f, out);
}

static void forms(void **state) {
    (void)state;
    static const struct {
        const char *body, *name, *object; // name NULL: it is no update
    } rows[] = {
        {"bins[f[i] % 64]++;\n", "inc", "bins[f[i] % 64]"},
        {"if (i < y) *x += f[i] * 2;\n", "add", "*x"},
        {"a.sums[i * 3] += f[i];\n", "add", "a.sums[i * 3]"},
        {"x[i] -= y - 1;\n", "sub", "x[i]"},
        {"--count;\n", "dec", "count"},
        {"f[++one] = 1;\n", "inc", "one"},
        {"old = count++;\n", "inc", "count"},
        {"int at = x[0]++;\n", "inc", "x[0]"},
        {"x[0] = x[0] + y * 3;\n", "add", "x[0]"},
        {"x[0] = y + x[0];\n", "add", "x[0]"},
        {"x[0] = x[0] - y + 1;\n", NULL, NULL},
        {"x[0] = x[0] - y;\n", "sub", "x[0]"},
        {"x[0] |= 1 << y;\n", "or", "x[0]"},
        {"x[0] = x[0] ^ y;\n", "xor", "x[0]"},
        {"x[0] = x[0] & y;\n", "and", "x[0]"},
        {"x[0] *= y;\n", "other", "x[0]"},
        {"x[0] = max(x[0], y);\n", "max", "x[0]"},
        {"*f = fminf(sum, *f);\n", "min", "*f"},
        {"x[0] = y > x[0] ? y : x[0];\n", "max", "x[0]"},
        {"x[0] = (x[0] < y) ? x[0] : y;\n", "min", "x[0]"},
        {"if (y > x[0]) x[0] = y;\n", "max", "x[0]"},
        {"if (y >= x[0]) { x[0] = y; }\n", "max", "x[0]"},
        {"if (x[0] > y) x[0] = y;\n", "min", "x[0]"},
        {"if (y > x[0]) x[0] = i;\n", NULL, NULL},
        {"if (y > x[0]) x[0] = y; else old = 1;\n", NULL, NULL},
        {"if (count++ < y) y = 1;\n", "inc", "count"},
        {"sum += f[i];\n", NULL, NULL},
        {"i++;\n", NULL, NULL},
        {"x[i] = y;\n", NULL, NULL},
        {"x[i] += x[i + 16];\n", NULL, NULL},
        {"x[i] = max(x[i + 1], y);\n", NULL, NULL},
        {"x[0]++, f[0]++;\n", NULL, NULL},
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        GrRepairs r;
        GrUpdate u;
        bool is = update(&r, rows[k].body, LINE, LINE, &u);
        if (is != (rows[k].name != NULL) ||
            (is && (strcmp(u.name, rows[k].name) || strcmp(u.object, rows[k].object))))
            fail_msg("%s: %s %s", rows[k].body, is ? u.name : "none", is ? u.object : "");
        assert_true(!is || (u.line == LINE && !strcmp(u.file, path)));
        gr_repairs_free(&r);
    }
}

// A statement of two lines is one; two statements are not.
static void lines(void **state) {
    (void)state;
    GrRepairs r;
    GrUpdate u;
    assert_true(update(&r, "if (y > x[0])\n    x[0] = y;\n", LINE, LINE + 1, &u));
    assert_int_equal(LINE, u.line);
    gr_repairs_free(&r);
    assert_false(update(&r, "x[0] += 1;\nx[0] += 2;\n", LINE, LINE + 1, &u));
    gr_repairs_free(&r);
}

// Where nothing can be read, a load and a store of one line are one.
static void without_source(void **state) {
    (void)state;
    GrRepairs r = {.files = {0}};
    GrUpdate u;
    gr_arena_init(&r.arena);
    GrFinding f = {.n_accesses = 2,
                   .accesses = {{.kind = "store", .at = {.file = "/nonexistent.cu", .line = 7}},
                                {.kind = "load", .at = {.file = "/nonexistent.cu", .line = 7}}}};
    assert_true(gr_repair_update(&r, &f, &u));
    assert_string_equal("other", u.name);
    assert_int_equal(7, u.line);
    assert_null(u.object);
    f.accesses[1].kind = "store";
    assert_false(gr_repair_update(&r, &f, &u));
    f.accesses[1] = (GrAccess){.kind = "load", .at = {.file = "/nonexistent.cu", .line = 8}};
    assert_false(gr_repair_update(&r, &f, &u));
    gr_repairs_free(&r);
}

// What is done under a lock needs no atomic: where it races, the lock is at fault.
static void under_locks(void **state) {
    (void)state;
    static const struct {
        const char *body;
        bool found;
    } rows[] = {
        {"while (atomicCAS(x, 0, 1)) ;\n*f += 1;\natomicExch(x, 0);\n", false},
        {"if (!atomicCAS(x, 0, 1)) {\n*f += 1;\natomicExch(x, 0); }\n", false},
        {"while (atomicCAS(x, 0, 1)) ;\n*f += 1;\n", true},        // nobody gives it back
        {"atomicAdd(x, 1);\n*f += 1;\natomicExch(x, 0);\n", true}, // nobody waits
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        GrRepairs r;
        GrUpdate u;
        assert_int_equal(rows[k].found, update(&r, rows[k].body, LINE + 1, LINE + 1, &u));
        gr_repairs_free(&r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forms),
        cmocka_unit_test(under_locks),
        cmocka_unit_test(lines),
        cmocka_unit_test(without_source),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
