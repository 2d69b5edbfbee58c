// SPDX-License-Identifier: Apache-2.0
// What GrKept makes of memory and modules: a range in each module's control block, and which memory is in it.
#include "engines/collider/kept.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
// cmocka.h needs the four above.
#include <cmocka.h>

enum { CONTROLS = 4 };

static struct {
    GrControl control[CONTROLS]; // of the module whose number is the address
    CUdevice device;
    bool managed;
    unsigned writes, notes;
    CUresult result;
} world;

static CUresult write_control(GrSession *s, CUdeviceptr to, const void *from, size_t size) {
    (void)s;
    size_t at = to % sizeof(GrControl);
    assert_true(to / sizeof(GrControl) < CONTROLS && at + size <= sizeof(GrControl));
    memcpy((char *)&world.control[to / sizeof(GrControl)] + at, from, size);
    world.writes++;
    return world.result;
}

static void note(GrSession *s, const char *what, const char *text) {
    (void)s;
    assert_string_equal(what, "poison");
    assert_non_null(strstr(text, "CUDA error"));
    world.notes++;
}

static CUresult device_here(CUdevice *d) { return *d = world.device, CUDA_SUCCESS; }

static CUresult is_managed(void *to, CUpointer_attribute what, CUdeviceptr at) {
    (void)at;
    assert_int_equal(what, CU_POINTER_ATTRIBUTE_IS_MANAGED);
    memcpy(to, &(unsigned){world.managed}, sizeof(unsigned));
    return CUDA_SUCCESS;
}

static void *driver(GrSession *s, const char *name) {
    (void)s;
    return !strcmp(name, "cuCtxGetDevice")          ? (void *)device_here
           : !strcmp(name, "cuPointerGetAttribute") ? (void *)is_managed
                                                    : NULL;
}

static GrSession session = {.driver = driver, .write = write_control, .note = note};
static const GrModule modules[CONTROLS];

static void load(GrKept *k, unsigned number) {
    world.control[number] = (GrControl){0};
    gr_kept_loaded(k, &modules[number], number * sizeof(GrControl), &world.control[number]);
}

static void allocate(GrKept *k, GrRangeKind kind, uint64_t at, size_t size) {
    gr_kept_allocated(k, &(GrRange){.at = at, .size = size, .kind = kind});
}

static void expect(unsigned number, uint64_t low, uint64_t high) {
    assert_int_equal(world.control[number].kept, low);
    assert_int_equal(world.control[number].kept_bytes, high - low);
}

static GrKept begin(void) {
    GrKept k;
    memset(&world, 0, sizeof world);
    gr_kept_init(&k, &session);
    return k;
}

static void test_device_memory_is_poisoned(void **state) {
    (void)state;
    GrKept k = begin();
    load(&k, 0);
    allocate(&k, GR_RANGE_DEVICE, 0x1000, 64);
    allocate(&k, GR_RANGE_POOL, 0x2000, 64);
    allocate(&k, GR_RANGE_MAPPING, 0x3000, 64);
    allocate(&k, GR_RANGE_GRAPH, 0x4000, 64);
    allocate(&k, GR_RANGE_GLOBAL, 0x5000, 64);
    expect(0, 0, 0);
    assert_int_equal(world.writes, 0);
    gr_kept_free(&k);
}

static void test_what_the_host_sees_is_kept(void **state) {
    (void)state;
    GrKept k = begin();
    load(&k, 0);
    load(&k, 1);
    allocate(&k, GR_RANGE_MANAGED, 0x8000, 0x100);
    expect(0, 0x8000, 0x8100);
    allocate(&k, GR_RANGE_PINNED, 0x9000, 0x10);
    allocate(&k, GR_RANGE_REGISTERED, 0x8080, 0x10); // is there already
    assert_int_equal(world.writes, 4);
    allocate(&k, GR_RANGE_IMPORTED, 0x7000, 0x10);
    expect(0, 0x7000, 0x9010);
    expect(1, 0x7000, 0x9010);
    world.managed = true;
    allocate(&k, GR_RANGE_GLOBAL, 0xa000, 4);
    expect(1, 0x7000, 0xa004);
    load(&k, 2); // knows from the beginning
    expect(2, 0x7000, 0xa004);
    gr_kept_unloaded(&k, &modules[1]);
    allocate(&k, GR_RANGE_PINNED, 0xb000, 4);
    expect(1, 0x7000, 0xa004);
    expect(2, 0x7000, 0xb004);
    assert_int_equal(world.notes, 0);
    gr_kept_free(&k);
}

static void test_a_second_device(void **state) {
    (void)state;
    GrKept k = begin();
    load(&k, 0);
    load(&k, 1);
    expect(1, 0, 0);
    world.device = 1;
    load(&k, 2);
    expect(0, 0, UINT64_MAX);
    expect(2, 0, UINT64_MAX);
    gr_kept_free(&k);
}

static void test_a_write_that_fails_is_told_once(void **state) {
    (void)state;
    GrKept k = begin();
    load(&k, 0);
    world.result = CUDA_ERROR_INVALID_VALUE;
    allocate(&k, GR_RANGE_PINNED, 0x1000, 4);
    allocate(&k, GR_RANGE_PINNED, 0x3000, 4);
    assert_int_equal(world.notes, 1);
    gr_kept_free(&k);
}

static void test_nothing_to_do_without_poison(void **state) {
    (void)state;
    GrKept k;
    memset(&world, 0, sizeof world);
    gr_kept_init(&k, NULL);
    load(&k, 0);
    allocate(&k, GR_RANGE_PINNED, 0x1000, 4);
    gr_kept_unloaded(&k, &modules[0]);
    expect(0, 0, 0);
    gr_kept_free(&k);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_device_memory_is_poisoned),
        cmocka_unit_test(test_what_the_host_sees_is_kept),
        cmocka_unit_test(test_a_second_device),
        cmocka_unit_test(test_a_write_that_fails_is_told_once),
        cmocka_unit_test(test_nothing_to_do_without_poison),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
