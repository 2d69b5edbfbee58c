// SPDX-License-Identifier: Apache-2.0
// More allocations that the host reaches than Linux lets a process have mappings: they share one from some thousand on.
#include "driver_common.h"

enum { MANY = 40000, PAGE = 4096 };

static unsigned mappings(void) {
    FILE *f = fopen("/proc/self/maps", "r");
    unsigned n = 0;
    for (int c; f && (c = getc(f)) != EOF;)
        n += c == '\n';
    if (f)
        fclose(f);
    return n;
}

static int group_start(void **state) {
    (void)state;
    driver_start();
    return 0;
}

static void test_managed(void **state) {
    (void)state;
    static CUdeviceptr at[MANY];
    int seen = 0;
    for (unsigned k = 0; k < MANY; k++)
        OK(cuMemAllocManaged(&at[k], k % 2 ? PAGE : 100, CU_MEM_ATTACH_GLOBAL));
    assert_in_range(mappings(), 1, 20000);
    for (unsigned k = 0; k < MANY; k += 997)
        *(int *)at[k] = (int)k;
    OK(cuMemcpyDtoH(&seen, at[997 * 40], sizeof seen));
    assert_int_equal(seen, 997 * 40);
    assert_true(at[MANY - 2] + 100 < at[MANY - 1] && at[MANY - 3] + PAGE < at[MANY - 2]); // a gap behind each
    for (unsigned k = 0; k < MANY;
         k += 2) // so that those between are mapped one by one, as far as the system goes
        OK(cuMemFree(at[k]));
    for (unsigned k = 1; k < MANY; k += 2)
        OK(cuMemFree(at[k]));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_managed)};
    return cmocka_run_group_tests(tests, group_start, NULL);
}
