// SPDX-License-Identifier: Apache-2.0
// test_aim — the words of --aim: which are understood, which are refused and why, and what threads should do where
// because of them.
#include "harness.h"

#include "aim/aim.h"
#include "passes/sample.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static gr_error err;

// Two kernels of two accesses each, and one without any: sites 1 to 4 of the module.
static const char text[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry k(.param .u64 out) { .reg .b32 %r<4>; .reg .b64 %rd<4>;\n"
    "ld.param.u64 %rd1, [out]; ld.global.u32 %r1, [%rd1]; st.global.u32 [%rd1+4], %r1; ret; }\n"
    ".visible .entry l(.param .u64 out) { .reg .b32 %r<4>; .reg .b64 %rd<4>;\n"
    "ld.param.u64 %rd1, [out]; ld.global.u32 %r1, [%rd1+8]; st.global.u32 [%rd1+12], %r1; ret; }\n"
    ".visible .entry none() { ret; }\n";

static PtxModule *parse(void) {
    PtxModule *m;
    assert_int_equal(gr_ptx_parse(text, strlen(text), "k", &m, &err), GR_OK);
    assert_int_equal(m->n_sites, 4);
    return m;
}

static PtxModule *stranger;
static uint64_t fingerprint(const PtxModule *m) { return m == stranger ? 2 : 1; }

// ---- Words ---------------------------------------------------------------------------------------------------

static void good_words(void **state) {
    (void)state;
    static const char *const words[] = {
        "",
        "new",
        "1:1",
        "9f3c0e5d1a2b4c6d:1",
        "9F3C0E5D1A2B4C6D:4294967295",
        "ffffffffffffffff:1@18446744073709551615.18446744073709551615.4294967295",
        "0:0",
        "1:1,1:1,1:1@1.2.3,1:1@1.2.4,1:0,1:0"};
    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
        if (gr_aim_check(words[k], &err) != GR_OK)
            fail_msg("%s: %s", words[k], err.msg);
}

static void nonsense(void **state) {
    (void)state;
    static const char *const words[] = {"nonsense",
                                        "news",
                                        "new,",
                                        "new,1:1",
                                        "1:1,new",
                                        ",",
                                        ",1:1",
                                        "1:1,",
                                        "1:1,,1:2",
                                        "1:1 ",
                                        " 1:1",
                                        "1:1, 1:2",
                                        "\t1:1",
                                        "1:\n1",
                                        "1",
                                        "1:",
                                        ":1",
                                        "1:1:1",
                                        "1:1@",
                                        "1:1@1",
                                        "1:1@1.",
                                        "1:1@1.2",
                                        "1:1@1.2.",
                                        "1:1@1.2.3.",
                                        "1:1@1.2.3.4",
                                        "1:1@1,2,3",
                                        "1:1@.2.3",
                                        "1:0@1.2.3",
                                        "-1:1",
                                        "+1:1",
                                        "1:-1",
                                        "1:+1",
                                        "1:1@-1.0.0",
                                        "1:1@1.-1.0",
                                        "1:1@1.0.-1",
                                        "1:1@1.+0.0",
                                        "0x1:1",
                                        "1:0x1",
                                        "1:a",
                                        "1:1@a.0.0",
                                        "g:1",
                                        "1:1;1:2",
                                        "1:1@1.2.3@1.2.3",
                                        "10000000000000000:1",
                                        "1:4294967296",
                                        "1:18446744073709551617",
                                        "1:1@18446744073709551616.0.0",
                                        "1:1@1.99999999999999999999.0",
                                        "1:1@1.0.4294967296",
                                        "1:1\x80",
                                        "\xff"};
    for (size_t k = 0; k < sizeof words / sizeof *words; k++) {
        memset(&err, 0, sizeof err);
        if (gr_aim_check(words[k], &err) != GR_ERR_ARGUMENT)
            fail_msg("'%s' is taken", words[k]);
        assert_non_null(strstr(err.msg, "--aim takes accesses as FUNCTION:NTH"));
    }
    // The word that is wrong is told.
    assert_int_equal(gr_aim_check("1:1,2:2,oops", &err), GR_ERR_ARGUMENT);
    assert_non_null(strstr(err.msg, "not 'oops'"));
    assert_int_equal(gr_aim_check("1:1,oops", NULL), GR_ERR_ARGUMENT);
}

static void long_lists(void **state) {
    (void)state;
    StrBuf list = {0};
    for (unsigned k = 1; k <= 20000; k++)
        gr_str_addf(&list, "%s%x:%u@%u.%u.%u", k > 1 ? "," : "", k % 7, k, k, k, k);
    assert_int_equal(gr_aim_check(list.data, &err), GR_OK);
    gr_str_add(&list, ",1:x");
    assert_int_equal(gr_aim_check(list.data, &err), GR_ERR_ARGUMENT);
    assert_non_null(strstr(err.msg, "not '1:x'"));
    list.len = 0;
    for (unsigned k = 0; k < 100000; k++)
        gr_str_addc(&list, '0');
    assert_int_equal(gr_aim_check(list.data, &err), GR_ERR_ARGUMENT); // and is not printed to its end
    gr_str_add(&list, "1:1");
    assert_int_equal(gr_aim_check(list.data, &err), GR_OK);
    gr_str_free(&list);
}

// ---- Wishes --------------------------------------------------------------------------------------------------

typedef struct Made {
    Aim *aim;
    VmObserver o;
    PtxModule *ours, *device;
} Made;

// K and L in `words` stand for the functions' names.
static Made make(const char *words) {
    Made m = {.ours = parse(), .device = parse()};
    stranger = NULL;
    StrBuf at = {0};
    for (const char *p = words; *p; p++)
        if (*p == 'K' || *p == 'L')
            gr_str_addf(&at, "%016" PRIx64, gr_sample_function(m.ours->sites[*p == 'K' ? 1 : 3].func));
        else
            gr_str_addc(&at, *p);
    AimOptions o = {.at = at.data ? at.data : "", .fingerprint = fingerprint};
    assert_int_equal(gr_aim_create(&o, &m.aim, &err), GR_OK);
    assert_true(gr_aim_module(m.aim, m.ours));
    m.o = gr_aim_observer(m.aim);
    gr_str_free(&at);
    return m;
}

static void unmake(Made *m) {
    gr_aim_free(m->aim);
    gr_ptx_free(m->ours);
    gr_ptx_free(m->device);
}

static VmWish asked(const Made *m, uint32_t site, uint64_t launch, uint64_t block, uint32_t warp) {
    VmWhere w = {.launch = launch, .block_linear = block, .warp = warp, .site = site, .module = m->device};
    return m->o.wish(m->o.user, &w);
}

static void nothing_to_aim_at(void **state) {
    (void)state;
    for (unsigned k = 0; k < 2; k++) {
        Made m = make(k ? "new" : "");
        for (uint32_t site = 0; site <= 4; site++)
            assert_int_equal(asked(&m, site, 1, 0, 0), k ? VM_WISH_NEW : VM_WISH_NONE);
        unmake(&m);
    }
}

static void wishes_by_place(void **state) {
    (void)state;
    Made m = make("K:2,L:1@3.18446744073709551615.4294967295");
    assert_int_equal(asked(&m, 0, 3, 0, 0), VM_WISH_PASSES);
    assert_int_equal(asked(&m, 1, 3, 0, 0), VM_WISH_PASSES);
    assert_int_equal(asked(&m, 2, 3, 0, 0), VM_WISH_STOPS);
    assert_int_equal(asked(&m, 2, 9, 9, 9), VM_WISH_STOPS);
    assert_int_equal(asked(&m, 4, 3, UINT64_MAX, UINT32_MAX), VM_WISH_PASSES);
    // There, and of all others only who comes there must not be missed.
    assert_int_equal(asked(&m, 3, 3, UINT64_MAX, UINT32_MAX), VM_WISH_STAYS);
    assert_int_equal(asked(&m, 3, 2, UINT64_MAX, UINT32_MAX), VM_WISH_STOPS);
    assert_int_equal(asked(&m, 3, 3, 0, UINT32_MAX), VM_WISH_STOPS);
    assert_int_equal(asked(&m, 3, 3, UINT64_MAX, 0), VM_WISH_STOPS);
    // A module that nobody named, another one, and none.
    stranger = parse();
    VmWhere w = {.launch = 3, .site = 2, .module = stranger};
    assert_int_equal(m.o.wish(m.o.user, &w), VM_WISH_PASSES);
    w.module = NULL;
    assert_int_equal(m.o.wish(m.o.user, &w), VM_WISH_PASSES);
    gr_ptx_free(stranger);
    stranger = NULL;
    unmake(&m);
}

// Of what is said of one access, waiting for everybody counts most.
static void said_twice(void **state) {
    (void)state;
    Made m = make("K:1@2.0.1,K:1,K:2,K:2@1.0.0");
    assert_int_equal(asked(&m, 1, 2, 0, 1), VM_WISH_STAYS);
    assert_int_equal(asked(&m, 1, 1, 0, 0), VM_WISH_STOPS);
    assert_int_equal(asked(&m, 2, 1, 0, 0), VM_WISH_STAYS);
    unmake(&m);
}

static VmLaunchEvent launch_of(const Made *m, uint64_t launch, const char *kernel) {
    VmLaunchEvent e = {.launch = launch, .module = m->device, .kernel = gr_ptx_find_func(m->device, kernel)};
    assert_non_null(e.kernel);
    return e;
}

static void late_kernels(void **state) {
    (void)state;
    Made m = make("L:0,L:0,K:1");
    static const char *const kernels[] = {"k", "l", "none", "l"};
    VmLaunchEvent e[4];
    for (unsigned k = 0; k < 4; k++) {
        e[k] = launch_of(&m, k + 1, kernels[k]);
        m.o.launch_begin(m.o.user, &e[k]);
    }
    for (unsigned k = 0; k < 4; k++)
        assert_int_equal(asked(&m, 0, k + 1, 5, 6), k % 2 ? VM_WISH_STAYS : VM_WISH_PASSES);
    assert_int_equal(asked(&m, 1, 2, 0, 0), VM_WISH_STOPS);
    m.o.launch_end(m.o.user, &e[1], false);
    assert_int_equal(asked(&m, 0, 2, 0, 0), VM_WISH_PASSES);
    assert_int_equal(asked(&m, 0, 4, 0, 0), VM_WISH_STAYS);
    for (unsigned k = 0; k < 4; k++)
        if (k != 1)
            m.o.launch_end(m.o.user, &e[k], k == 3);
    assert_int_equal(asked(&m, 0, 4, 0, 0), VM_WISH_PASSES);
    unmake(&m);
}

// Where a module was that is gone, another one may come to lie.
static void modules_come_and_go(void **state) {
    (void)state;
    Made m = make("K:1");
    assert_int_equal(asked(&m, 1, 1, 0, 0), VM_WISH_STOPS);
    stranger = m.device;
    assert_true(gr_aim_module(m.aim, m.ours)); // the program loads one
    assert_int_equal(asked(&m, 1, 2, 0, 0), VM_WISH_PASSES);
    stranger = NULL;
    unmake(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_words),      cmocka_unit_test(nonsense),
        cmocka_unit_test(long_lists),      cmocka_unit_test(nothing_to_aim_at),
        cmocka_unit_test(wishes_by_place), cmocka_unit_test(said_twice),
        cmocka_unit_test(late_kernels),    cmocka_unit_test(modules_come_and_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
