// SPDX-License-Identifier: Apache-2.0
// test_next_run — several programs in one process: for each of them launches count from 0, with a seed of its own
// (GrEngine.next_run).
#include "engines/collider/device/record.h"
#include "engines/core/engine.h"
#include "options/options.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MODULES = 2, SEED = 7 };

// Memory of a device: the control blocks of the modules.
static GrControl controls[MODULES];
static unsigned n_written;

static CUresult write(GrSession *s, CUdeviceptr to, const void *from, size_t size) {
    (void)s;
    memcpy((void *)(uintptr_t)to, from, size);
    n_written++;
    return CUDA_SUCCESS;
}
static void *driver(GrSession *s, const char *name) {
    (void)s, (void)name;
    return NULL;
}
static void say(GrSession *s, const char *text) { (void)s, (void)text; }
static void note(GrSession *s, const char *what, const char *text) { (void)s, (void)what, (void)text; }

static CUresult find(void *handle, const char *name, CUdeviceptr *at, size_t *size) {
    (void)name;
    *at = (CUdeviceptr)(uintptr_t)handle;
    *size = sizeof(GrControl);
    return CUDA_SUCCESS;
}

static void runs_in_a_row(void **state) {
    static GrSession session = {.driver = driver, .write = write, .note = note, .remark = say};
    GrModule modules[MODULES] = {{.number = 1, .records_device = 0x1000, .n_sites = 3},
                                 {.number = 2, .records_device = 0x2000, .n_sites = 5}};
    const GrEngine *e = gr_engine_find("collider");
    GrOptions o;
    gr_error err;
    void *self;
    (void)state;
    assert_int_equal(gr_options_init(&o, &err), GR_OK);
    o.seed = SEED;
    assert_int_equal(e->begin(&session, &o, &self, &err), GR_OK);
    e->next_run(self, 0); // before anything is loaded
    assert_int_equal(e->loaded(self, &modules[0], find, &controls[0], &err), GR_OK);
    assert_int_equal(controls[0].seed, SEED);
    controls[0].launches[0] = controls[0].launches[GR_LAUNCH_COUNTS - 1] = 9; // as kernels count
    e->next_run(self, 2);
    assert_int_equal(controls[0].seed, SEED + 2);
    assert_int_equal(controls[0].launches[0], 0);
    assert_int_equal(controls[0].launches[GR_LAUNCH_COUNTS - 1], 0);
    assert_int_equal(controls[0].slots, 0x1000);
    assert_int_equal(controls[0].n_sites, 3);
    // A module that the second program loads, and one that was unloaded.
    assert_int_equal(e->loaded(self, &modules[1], find, &controls[1], &err), GR_OK);
    assert_int_equal(controls[1].seed, SEED + 2);
    e->unloaded(self, &modules[0]);
    e->next_run(self, 3);
    assert_int_equal(controls[0].seed, SEED + 2);
    assert_int_equal(controls[1].seed, SEED + 3);
    e->unloaded(self, &modules[1]);
    unsigned before = n_written;
    e->next_run(self, 4);
    assert_int_equal(n_written, before);
    e->finish(self);
    gr_options_free(&o);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(runs_in_a_row)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
