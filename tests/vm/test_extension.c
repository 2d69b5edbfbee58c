// SPDX-License-Identifier: Apache-2.0
// test_extension — the extension of a test (vm/extension.h): when its functions are called, and that each does what the
// header says.
#include "harness.h"

#include "vm/core/exec.h"
#include "vm/core/extend.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

typedef struct State { // of a device
    uint32_t used;     // how many instructions of the test's were executed
} State;

static struct {
    uint32_t decoded, idle, at, in_launch;
    uint32_t used; // State.used when the device became idle
    bool fails;
} seen;

static const VmExtension mine;

static VM_HANDLER(count) {
    const VmLaunch *l = rest_of(w)->launch;
    uint32_t *n = gr_vm_launch_state(l, seen.at);
    State *s = gr_vm_extension_state(l->device, &mine);
    seen.in_launch = ++*n;
    s->used++;
    return i + 1;
}

static bool decoded(VmModule *m, VmFunc *f) {
    seen.decoded++;
    for (VmInsn *i = f->code; i < f->code + f->n_code; i++)
        if (i->tagged && i->exec[0] == gr_vm_x_nanosleep) {
            i->exec[0] = i->exec[1] = count;
            seen.at = gr_vm_launch_room(m, sizeof(uint32_t));
        }
    return !seen.fails;
}

static bool owns(const char *function) { return !strcmp(function, "mine"); }

static const char *breakpoint(const PtxModule *m) {
    return gr_ptx_find_func(m, "mine") ? "stopped in a test" : NULL;
}

static void program_bytes(const void *state, const uint8_t *at, uint32_t n, uint8_t *bytes) {
    assert_int_equal(((const State *)state)->used, 0);
    assert_memory_equal(at, bytes, n);
    memset(bytes, 7, n);
}

static void idle(void *state) {
    seen.idle++;
    seen.used = ((State *)state)->used;
}

static const VmExtension mine = {.name = "test",
                                 .device_bytes = sizeof(State),
                                 .decoded = decoded,
                                 .owns = owns,
                                 .breakpoint = breakpoint,
                                 .program_bytes = program_bytes,
                                 .idle = idle};
static const VmExtension plain = {.name = "plain"}; // every function is NULL
static const VmExtension *const both[] = {&plain, &mine, NULL};

static void open_mine(Rig *r, const char *text) {
    memset(&seen, 0, sizeof seen);
    rig_open(r, text, &(VmConfig){.seed = 1, .extensions = both});
}

static const char loop[] = ".visible .entry k(.param .u64 out) {\n"
                           ".reg .pred %p<2>; .reg .b32 %r<4>;\n"
                           "mov.u32 %r1, 0;\n"
                           "L: /*@gr:1*/ nanosleep.u32 100;\n"
                           "add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 5; @%p1 bra L; ret; }\n"
                           ".visible .entry other() { nanosleep.u32 100; ret; }\n";

static void handlers_and_states(void **state) {
    (void)state;
    Rig r;
    open_mine(&r, loop);
    assert_int_equal(seen.decoded, 2);
    for (unsigned k = 1; k <= 3; k++) {
        assert_int_equal(rig_run(&r, "k", (Dims){1, 32, 0}, 1, &(uint64_t){0}), VM_FAULT_NONE);
        assert_int_equal(seen.in_launch, 5); // a launch begins with zeros
        assert_int_equal(seen.idle, k);
        assert_int_equal(seen.decoded, 3);  // once more for its first launch; the other one is not
        assert_int_equal(seen.used, 5 * k); // the device keeps it
    }
    assert_int_equal(rig_run(&r, "other", (Dims){1, 32, 0}, 0, NULL),
                     VM_FAULT_NONE); // a pause of the program's own
    assert_int_equal(seen.used, 15);
    rig_close(&r);
    assert_int_equal(seen.idle, 5); // before the device goes, too
}

static const char stops[] = ".func mine() { trap; }\n"
                            ".visible .entry faults() { call mine; ret; }\n"
                            ".visible .entry stops() { brkpt; ret; }\n";

static void blame_and_breakpoints(void **state) {
    (void)state;
    Rig r;
    open_mine(&r, stops);
    VmLaunch *l = rig_start(&r, "faults", (Dims){1, 32, 0}, 0, NULL);
    rig_drain(&r, 1000);
    assert_string_equal(gr_vm_launch_fault(l)->function, "faults");
    gr_vm_launch_free(l);
    l = rig_start(&r, "stops", (Dims){1, 32, 0}, 0, NULL);
    rig_drain(&r, 1000);
    assert_non_null(strstr(gr_vm_launch_fault(l)->msg, "stopped in a test"));
    gr_vm_launch_free(l);
    rig_close(&r);
    rig_open(&r, stops, &(VmConfig){.seed = 1, .extensions = (const VmExtension *const[]){NULL}});
    l = rig_start(&r, "faults", (Dims){1, 32, 0}, 0, NULL);
    rig_drain(&r, 1000);
    assert_string_equal(gr_vm_launch_fault(l)->function, "mine");
    gr_vm_launch_free(l);
    l = rig_start(&r, "stops", (Dims){1, 32, 0}, 0, NULL);
    rig_drain(&r, 1000);
    assert_non_null(strstr(gr_vm_launch_fault(l)->msg, "executed brkpt"));
    gr_vm_launch_free(l);
    rig_close(&r);
}

typedef struct Same {
    unsigned yes, no;
} Same;

static void on_access(void *user, const VmAccessEvent *e) {
    Same *s = user;
    for (unsigned lane = 0; e->same && lane < 32; lane++)
        if (e->where.mask >> lane & 1)
            *(e->same(e, lane, 0, 4) ? &s->yes : &s->no) += 1;
}

static void memory_as_the_program_has_it(void **state) {
    (void)state;
    Rig r;
    Same same = {0};
    open_mine(&r, ".visible .entry k(.param .u64 out, .param .u32 v) {\n"
                  ".reg .b32 %r<4>; .reg .b64 %rd<4>;\n"
                  "ld.param.u64 %rd1, [out]; ld.param.u32 %r1, [v]; st.global.u32 [%rd1], %r1; ret; }\n");
    VmObserver o = {.user = &same, .access = on_access};
    assert_int_equal(gr_vm_observe(r.dev, &o, NULL), GR_OK);
    uint64_t out = rig_alloc(&r, 4);
    assert_int_equal(RIG_RUN(&r, "k", 1, 1, out, 0x07070707), VM_FAULT_NONE);
    assert_int_equal(same.yes, 1); // there are zeros, but the program has sevens
    assert_int_equal(RIG_RUN(&r, "k", 1, 1, out, 0), VM_FAULT_NONE);
    assert_int_equal(same.no, 1);
    rig_close(&r);
}

static void limits(void **state) {
    (void)state;
    const VmExtension *many[VM_EXTENSIONS + 2] = {NULL};
    VmMem *mem;
    VmDevice *dev;
    VmModule *m;
    PtxModule *ptx;
    assert_int_equal(gr_vm_mem_create(&mem, NULL), GR_OK);
    for (unsigned k = 0; k < VM_EXTENSIONS; k++)
        many[k] = &plain;
    VmConfig c = {.mem = mem, .extensions = many};
    assert_int_equal(gr_vm_create(&c, &dev, NULL), GR_OK);
    gr_vm_destroy(dev);
    many[VM_EXTENSIONS] = &plain;
    assert_int_equal(gr_vm_create(&c, &dev, NULL), GR_ERR_LIMIT);
    c.extensions = both;
    static const char header[] =
        ".version 8.4\n.target sm_90\n.address_size 64\n.visible .entry k() { ret; }\n";
    assert_int_equal(gr_ptx_parse_ours(header, strlen(header), "t", &ptx, NULL), GR_OK);
    assert_int_equal(gr_vm_create(&c, &dev, NULL), GR_OK);
    seen.fails = true;
    assert_int_equal(gr_vm_module_load(dev, &ptx, 1, NULL, NULL, &m, NULL), GR_ERR_NOMEM);
    gr_vm_destroy(dev);
    gr_ptx_free(ptx);
    gr_vm_mem_destroy(mem);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(handlers_and_states),
        cmocka_unit_test(blame_and_breakpoints),
        cmocka_unit_test(memory_as_the_program_has_it),
        cmocka_unit_test(limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
