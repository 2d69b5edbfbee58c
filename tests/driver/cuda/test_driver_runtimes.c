// SPDX-License-Identifier: Apache-2.0
// Device runtimes that modules of a tool call and do not hold: code for all of them, variables of each.
#include "driver_common.h"

#include "base/str.h"
#include "device_api/hooks.h"

#include <malloc.h>

#define HEADER ".version 8.0\n.target sm_80\n.address_size 64\n"

// Adds to a variable of its own, by a function that it finds in a table.
static const char counter[] = HEADER
    ".func add(.param .b32 n);\n"
    ".visible .global .align 8 .b8 __gr_count[8];\n"
    ".visible .global .u64 __gr_ways[1] = {add};\n"
    ".func add(.param .b32 n) { .reg .b32 %r<4>; ld.param.b32 %r1, [n]; ld.global.u32 %r2, [__gr_count+4]; "
    "add.u32 %r3, %r1, %r2; st.global.u32 [__gr_count+4], %r3; ret; }\n"
    ".visible .func __gr_add(.param .b32 n) { .reg .b32 %r<2>; .reg .b64 %rd<2>; ld.param.b32 %r1, [n]; "
    "ld.global.u64 %rd1, [__gr_ways];\np: .callprototype _ (.param .b32 x);\ncall %rd1, (%r1), p; ret; }\n";

// Calls it twice.
static const char twice[] =
    HEADER ".extern .func __gr_add(.param .b32 n);\n"
           ".visible .func __gr_twice(.param .b32 n) { .reg .b32 %r<2>; "
           "ld.param.b32 %r1, [n]; call __gr_add, (%r1); call __gr_add, (%r1); ret; }\n";

#define KERNEL(number, n)                                                                                    \
    HEADER ".extern .global .align 8 .b8 __gr" number "_count[8];\n"                                         \
           ".visible .entry k" number "(.param .u64 out) { .reg .b32 %r<3>; .reg .b64 %rd<2>; "              \
           "ld.param.u64 %rd1, [out]; mov.u32 %r1, " n "; call __gr" number "_twice, (%r1); "                \
           "ld.global.u32 %r2, [__gr" number "_count+4]; st.global.u32 [%rd1], %r2; ret; }\n"

// The third runtime: much code, which nothing calls.
enum { MUCH = 3000 };
static char *much;

static const char first[] = KERNEL("7", "10"), second[] = KERNEL("21", "100");

int gr_api_wrote(const char *text, size_t len, GrApiRuntimes *runtimes) {
    bool seventh = strstr(text, "__gr7_"), other = strstr(text, "__gr21_");
    (void)len;
    if (!seventh && !other)
        return 0;
    *runtimes = (GrApiRuntimes){.suffix = seventh ? "7" : "21", .texts = {counter, twice, much}, .n = 3};
    return 1;
}

static int group_start(void **state) {
    (void)state;
    StrBuf text = {0};
    gr_str_add(&text, HEADER ".visible .func __gr_much() { .reg .b32 %r<2>;\n");
    for (unsigned k = 0; k < MUCH; k++)
        gr_str_add(&text, "add.u32 %r1, %r1, 1;\n");
    gr_str_add(&text, "ret; }\n");
    much = gr_str_take(&text);
    driver_start();
    return much ? 0 : -1;
}

static int group_end(void **state) {
    (void)state;
    free(much);
    return 0;
}

static unsigned run(CUmodule m, const char *kernel, CUdeviceptr out) {
    CUfunction f;
    unsigned found = 0;
    OK(cuModuleGetFunction(&f, m, kernel));
    OK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&out}, NULL));
    OK(cuMemcpyDtoH(&found, out, sizeof found));
    return found;
}

static unsigned count(CUmodule m, const char *name) {
    CUdeviceptr at;
    size_t size;
    unsigned found[2];
    OK(cuModuleGetGlobal(&at, &size, m, name));
    assert_int_equal(size, sizeof found);
    OK(cuMemcpyDtoH(found, at, sizeof found));
    return found[1];
}

static void test_modules(void **state) {
    (void)state;
    CUmodule a, b;
    CUdeviceptr out, at;
    size_t size;
    OK(cuMemAlloc(&out, 4));
    OK(cuModuleLoadData(&a, first));
    OK(cuModuleLoadData(&b, second));
    assert_int_equal(run(a, "k7", out), 20);
    assert_int_equal(run(b, "k21", out), 200);
    assert_int_equal(run(a, "k7", out), 40);
    assert_int_equal(count(a, "__gr7_count"), 40);
    assert_int_equal(count(b, "__gr21_count"), 200);
    assert_int_equal(cuModuleGetGlobal(&at, &size, a, "__gr_count"), CUDA_ERROR_NOT_FOUND);
    OK(cuModuleUnload(a));
    assert_int_equal(run(b, "k21", out), 400);
    OK(cuModuleUnload(b));
    OK(cuMemFree(out));
}

// Units of one module have variables of their own, too.
static void test_units(void **state) {
    (void)state;
    CUlinkState link;
    CUmodule m;
    CUdeviceptr out;
    void *image;
    size_t size;
    OK(cuMemAlloc(&out, 4));
    OK(cuLinkCreate(0, NULL, NULL, &link));
    OK(cuLinkAddData(link, CU_JIT_INPUT_PTX, (void *)first, sizeof first, "a", 0, NULL, NULL));
    OK(cuLinkAddData(link, CU_JIT_INPUT_PTX, (void *)second, sizeof second, "b", 0, NULL, NULL));
    OK(cuLinkComplete(link, &image, &size));
    OK(cuModuleLoadData(&m, image));
    OK(cuLinkDestroy(link));
    assert_int_equal(run(m, "k7", out), 20);
    assert_int_equal(run(m, "k21", out), 200);
    assert_int_equal(run(m, "k7", out), 40);
    OK(cuModuleUnload(m));
    OK(cuMemFree(out));
}

// A module that is loaded after the first one takes no more than its own code: not 300 bytes for each instruction of
// its runtime.
static void test_what_more_modules_take(void **state) {
    (void)state;
    enum { MODULES = 20 };
    CUmodule m[MODULES];
    OK(cuModuleLoadData(&m[0], first));
    size_t before = mallinfo2().uordblks;
    for (unsigned k = 1; k < MODULES; k++)
        OK(cuModuleLoadData(&m[k], first));
    assert_in_range((mallinfo2().uordblks - before) / (MODULES - 1), 0, 10 * MUCH);
    for (unsigned k = 0; k < MODULES; k++)
        OK(cuModuleUnload(m[k]));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_modules), cmocka_unit_test(test_units),
                                       cmocka_unit_test(test_what_more_modules_take)};
    return cmocka_run_group_tests(tests, group_start, group_end);
}
