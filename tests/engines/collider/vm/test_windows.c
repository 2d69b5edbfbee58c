// SPDX-License-Identifier: Apache-2.0
// test_windows — the shortcuts through what the collider inserts: with them and without, the execution is the same.
#include "harness.h"
#include "vm/core/launch.h"

#include "engines/collider/device/record.h"
#include "engines/collider/pass/collider.h"
#include "vm/core/program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

// Loads and stores of several widths, guarded ones, in a divergent loop; addresses that increase, that decrease, and
// that several lanes share.
static const char program[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry k(.param .u64 out) {\n"
    ".reg .pred %p<8>; .reg .b32 %r<32>; .reg .b64 %rd<16>; .reg .b16 %rs<4>; .shared .b32 s[128];\n"
    "ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x;\n"
    "mad.lo.u32 %r3, %r2, 64, %r1; mul.wide.u32 %rd2, %r3, 16; add.s64 %rd2, %rd1, %rd2;\n"
    "mov.u32 %r4, s; xor.b32 %r5, %r1, 63; shl.b32 %r6, %r5, 2; add.u32 %r6, %r4, %r6;\n"
    "and.b32 %r7, %r1, 7; shl.b32 %r8, %r7, 2; add.u32 %r8, %r4, %r8; mov.u32 %r9, 0;\n"
    "setp.gt.u32 %p3, %r7, 3;\n"
    "L: ld.global.v4.u32 {%r10, %r11, %r12, %r13}, [%rd2]; add.u32 %r10, %r10, %r13; add.u32 %r13, %r11, "
    "%r9;\n"
    "st.global.v4.u32 [%rd2], {%r10, %r11, %r12, %r13};\n"
    "st.shared.u32 [%r6], %r10; ld.shared.u32 %r14, [%r8]; @%p3 ld.shared.u32 %r14, [%r8+128];\n"
    "@%p3 st.shared.u32 [%r8+256], %r14; add.u32 %r15, %r14, %r10; ld.global.u16 %rs1, [%rd2+4];\n"
    "add.u16 %rs1, %rs1, 1; st.global.u16 [%rd2+4], %rs1;\n"
    "setp.lt.u32 %p1, %r7, 2; @%p1 bra SKIP; ld.global.u64 %rd3, [%rd1]; cvt.u32.u64 %r16, %rd3;\n"
    "add.u32 %r15, %r15, %r16; st.global.u32 [%rd2+8], %r15; SKIP:\n"
    "add.u32 %r9, %r9, 1; add.u32 %r17, %r7, 40; setp.lt.u32 %p2, %r9, %r17; @%p2 bra L; ret; }\n";

enum { SLOTS = 33 * GR_CLASS_COUNT * sizeof(GrSlot) };

static ColliderOptions options(uint32_t delay_ns) {
    return (ColliderOptions){.seed = 7, .read_delay_ns = delay_ns, .write_delay_ns = delay_ns, .suffix = ""};
}

static char *rewritten_as(const ColliderOptions *o) {
    PtxModule *m;
    gr_error err = {0};
    StrBuf text = {0};
    GrSiteStatus status[64];
    assert_int_equal(gr_ptx_parse_ours(program, sizeof program - 1, "k", &m, &err), GR_OK);
    assert_true(m->n_sites < 64);
    assert_int_equal(gr_collider_rewrite(m, o, status, &err), GR_OK);
    assert_int_equal(gr_ptx_print(m, 0, &text, &err), GR_OK);
    gr_ptx_free(m);
    return text.data;
}

static char *rewritten(uint32_t delay_ns) {
    ColliderOptions o = options(delay_ns);
    return rewritten_as(&o);
}

typedef struct Outcome {
    uint64_t events, memory, reports, ns, instructions, windows;
} Outcome;

// Holds what is told of windows against what is told of accesses.
typedef struct Watcher {
    uint64_t open[1024]; // by thread: its window, 0 none
    struct {
        uint64_t address;
        uint32_t site, size;
        PtxAccess access;
    } last[1024]; // by thread: its last access
    uint64_t opened, closed, wrong, accesses;
    uint32_t sites; // that had one
} Watcher;

enum { THREADS = 64 };

static uint64_t thread_of(const VmWhere *w, unsigned lane) {
    return (w->block_linear * THREADS + w->warp * 32 + lane) % 1024;
}

static void on_access(void *user, const VmAccessEvent *e) {
    Watcher *x = user;
    x->accesses += e->where.site != 0;
    for (unsigned l = 0; l < 32; l++) {
        uint64_t t = thread_of(&e->where, l);
        if (!(e->where.mask >> l & 1))
            continue;
        x->wrong += x->open[t] != 0; // it waits
        x->last[t].address = e->address[l];
        x->last[t].site = e->where.site;
        x->last[t].size = e->size;
        x->last[t].access = e->access;
    }
}

static void on_window(void *user, const VmWindowEvent *e) {
    Watcher *x = user;
    if (!e->opens) {
        bool any = false;
        for (unsigned t = 0; t < 1024; t++)
            if (x->open[t] == e->id) {
                x->open[t] = 0;
                any = true;
            }
        x->wrong += !any;
        x->closed++;
        return;
    }
    x->opened++;
    x->sites |= 1u << e->where.site;
    for (unsigned l = 0; l < 32; l++) {
        uint64_t t = thread_of(&e->where, l);
        if (!(e->where.mask >> l & 1))
            continue;
        x->wrong += x->open[t] || x->last[t].address != e->address[l] || x->last[t].site != e->where.site ||
                    x->last[t].size != e->size || x->last[t].access != e->access;
        x->open[t] = e->id;
    }
}

static Watcher *watcher;
static bool every_window; // of the next runs
static uint32_t seed_of_control;

static Outcome run(const char *text, uint64_t seed, bool unfused, uint32_t grid) {
    Rig r;
    Ear ear = {0};
    VmConfig c = {.seed = seed, .split_one_in = 64, .unfused = unfused, .every_window = every_window};
    rig_open(&r, text, &c);
    uint64_t out = rig_alloc(&r, 1 << 16);
    GrControl control = {.slots = rig_alloc(&r, SLOTS), .n_sites = 32, .seed = seed_of_control};
    uint64_t at, size;
    bool managed;
    char name[64];
    assert_true(
        gr_vm_module_global(r.mod, gr_collider_control_name("", name, sizeof name), &at, &size, &managed));
    memcpy(rig_view(&r, at, sizeof control), &control, sizeof control);
    VmObserver watches = {.user = watcher, .access = on_access, .window = on_window};
    if (watcher)
        assert_int_equal(gr_vm_observe(r.dev, &watches, NULL), GR_OK);
    else
        rig_listen(&r, &ear);
    VmLaunch *l = rig_start(&r, "k", (Dims){grid, 64, 0}, 1, &out);
    rig_drain(&r, 100000);
    if (gr_vm_launch_fault(l))
        fail_msg("%s", gr_vm_launch_fault(l)->msg);
    Outcome o = {.events = ear.hash,
                 .memory = gr_hash_bytes(rig_view(&r, out, 1 << 16), 1 << 16),
                 .reports = gr_hash_bytes(rig_view(&r, control.slots, SLOTS), SLOTS),
                 .ns = l->end_ns - l->start_ns,
                 .instructions = l->instructions,
                 .windows = r.mod->counts.launch_room / 8}; // of 8 bytes each
    gr_vm_launch_free(l);
    rig_close(&r);
    return o;
}

static void fused_and_unfused_agree(void **state) {
    (void)state;
    char *text = rewritten(5000);
    for (uint64_t seed = 1; seed <= 4; seed++) {
        Outcome fused = run(text, seed, false, 24), unfused = run(text, seed, true, 24);
        assert_memory_equal(&fused, &unfused, sizeof fused);
        assert_int_equal(fused.windows, 10); // every access of the program has one
    }
    free(text);
}

// EM-91: time that the windows of a launch take grows more slowly than its accesses.
static void windows_become_rare(void **state) {
    (void)state;
    char *text = rewritten(5000);
    uint64_t small = 0, large = 0;
    for (uint64_t seed = 1; seed <= 2; seed++) {
        small += run(text, seed, false, 1).ns;
        large += run(text, seed, false, 64).ns;
    }
    assert_true(large < 12 * small);
    free(text);
}

// Each is told with the access before it, of the same threads, which then do nothing until it is told that it closed.
static void windows_are_told(void **state) {
    (void)state;
    static const uint32_t delays[] = {5000, 1};
    for (unsigned k = 0; k < 2; k++) {
        char *text = rewritten(delays[k]);
        watcher = calloc(1, sizeof *watcher);
        assert_non_null(watcher);
        run(text, 1, false, 4);
        assert_int_equal(watcher->wrong, 0);
        assert_true(watcher->opened > 1000);
        assert_int_equal(watcher->opened, watcher->closed);
        assert_int_equal(watcher->sites, (1u << 11) - 2); // all ten of them
        free(watcher);
        watcher = NULL;
        free(text);
    }
}

// One of the smallest pauses drawn may come to nothing, and is not told.
static void all_windows_open(void **state) {
    (void)state;
    char *text = rewritten(5000);
    for (unsigned k = 0; k < 2; k++) {
        watcher = calloc(1, sizeof *watcher);
        assert_non_null(watcher);
        every_window = k;
        run(text, 1, false, 1024 / THREADS);
        assert_int_equal(watcher->wrong, 0);
        if (k)
            assert_true(watcher->opened > watcher->accesses / 5 * 4);
        else
            assert_true(watcher->opened < watcher->accesses / 2);
        free(watcher);
        watcher = NULL;
    }
    every_window = false;
    free(text);
}

// A driver keeps what it has compiled by its text, so that of one seed must serve all.
static void the_control_has_the_seed(void **state) {
    (void)state;
    ColliderOptions o = options(5000);
    o.seed_at_load = true;
    char *text = rewritten_as(&o), *other;
    o.seed = 8;
    other = rewritten_as(&o);
    assert_string_equal(text, other);
    Outcome seven, again, eight;
    seed_of_control = 7;
    seven = run(text, 1, false, 4);
    again = run(text, 1, false, 4);
    seed_of_control = 8;
    eight = run(text, 1, false, 4);
    seed_of_control = 0;
    assert_memory_equal(&seven, &again, sizeof seven);
    assert_int_not_equal(seven.events, eight.events);
    free(text);
    free(other);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fused_and_unfused_agree),  cmocka_unit_test(windows_become_rare),
        cmocka_unit_test(windows_are_told),         cmocka_unit_test(all_windows_open),
        cmocka_unit_test(the_control_has_the_seed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
