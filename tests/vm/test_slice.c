// SPDX-License-Identifier: Apache-2.0
// test_slice — the whole path once: PTX that nvcc wrote, through the device.
#include "harness.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static uint64_t bits(float f) {
    uint32_t u;
    memcpy(&u, &f, 4);
    return u;
}

static void saxpy(void **state) {
    (void)state;
    Rig r;
    enum { N = 1000 };
    rig_open_file(&r, GR_VM_PTX "/saxpy.ptx", NULL);
    uint64_t x = rig_alloc(&r, N * 4), y = rig_alloc(&r, N * 4);
    float *hx = rig_view(&r, x, N * 4), *hy = rig_view(&r, y, N * 4);
    for (unsigned k = 0; k < N; k++) {
        hx[k] = (float)k;
        hy[k] = 1;
    }
    assert_int_equal(RIG_RUN(&r, "saxpy", 8, 128, N, bits(2.0f), x, y), VM_FAULT_NONE);
    for (unsigned k = 0; k < N; k++)
        assert_true(hy[k] == 2.0f * (float)k + 1);
    rig_close(&r);
}

// A thread past the end: the fault says who, where and by how much.
static void out_of_bounds(void **state) {
    (void)state;
    Rig r;
    rig_open_file(&r, GR_VM_PTX "/saxpy.ptx", NULL);
    uint64_t x = rig_alloc(&r, 400), y = rig_alloc(&r, 404);
    assert_int_equal(RIG_RUN(&r, "saxpy", 1, 128, 101, 0, x, y), VM_FAULT_ILLEGAL_ADDRESS);
    assert_int_equal(r.fault.address, x + 400);
    assert_int_equal(r.fault.thread[0], 100);
    assert_int_equal(r.fault.line, 6);
    assert_non_null(strstr(r.fault.file, "saxpy.cu"));
    assert_string_equal(r.fault.kernel, "saxpy");
    assert_non_null(strstr(r.fault.msg, "thread (100,0,0) of block (0,0,0) read 4 bytes"));
    assert_non_null(strstr(r.fault.msg, "0 bytes past the end of a 400-byte allocation"));
    rig_close(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(saxpy), cmocka_unit_test(out_of_bounds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
