// SPDX-License-Identifier: Apache-2.0
// test_sample — which sites --sample chooses: as many as were asked for, by the seed and the code alone, those first
// that were chosen least often.
#include "passes/sample.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { SITES = 30, MOST = 64 };

static gr_error err;

// A kernel with `n` stores, the last to `where`.
static void add_kernel(StrBuf *out, const char *name, const char *reg, unsigned n, unsigned where) {
    gr_str_addf(out, ".visible .entry %s(.param .u64 p) {\n.reg .b64 %s<2>; .reg .b32 %%r1;\n", name, reg);
    gr_str_addf(out, "ld.param.u64 %s1, [p]; mov.u32 %%r1, 0;\n", reg);
    for (unsigned k = 1; k <= n; k++)
        gr_str_addf(out, "st.global.u32 [%s1+%u], %%r1;\n", reg, k < n ? 4 * k : where);
    gr_str_add(out, "ret; }\n");
}

static PtxModule *parse(StrBuf *text) {
    PtxModule *m;
    assert_int_equal(gr_ptx_parse(text->data, text->len, "test", &m, &err), GR_OK);
    gr_str_free(text);
    return m;
}

static StrBuf head(void) {
    StrBuf b = {0};
    gr_str_add(&b, ".version 8.0\n.target sm_80\n.address_size 64\n");
    return b;
}

static PtxModule *two_kernels(bool swapped, const char *reg) {
    StrBuf b = head();
    for (int k = 0; k < 2; k++)
        add_kernel(&b, k == swapped ? "first" : "second", reg, k == swapped ? 10 : SITES - 10, 256);
    return parse(&b);
}

// The names of those that are chosen, in the order of names: "first:3 second:7".
typedef struct Chosen {
    char names[MOST * 16];
    unsigned n;
    uint32_t site[MOST];
} Chosen;

static Chosen choose_by(const SampleChoice *c, const PtxModule *m) {
    GrSiteStatus status[MOST] = {GR_SITE_UNSEEN};
    Chosen out = {.n = 0};
    for (uint32_t k = 1; k <= m->n_sites; k++)
        status[k] = GR_SITE_CHECKED;
    assert_int_equal(gr_sample_choose(c, m, status, &err), GR_OK);
    static const char *const names[] = {"first", "second"};
    for (unsigned f = 0; f < 2; f++)
        for (uint32_t k = 1, nth = 0; k <= m->n_sites; k++) {
            if (strcmp(m->sites[k].func->name, names[f]))
                continue;
            nth++;
            if (status[k] == GR_SITE_CHECKED) {
                sprintf(out.names + strlen(out.names), "%s:%u ", names[f], nth);
                out.site[out.n++] = k;
            } else {
                assert_int_equal(status[k], GR_SITE_SAMPLED_OUT);
            }
        }
    return out;
}

static Chosen choose(const char *spec, uint64_t seed, const PtxModule *m) {
    SampleSpec s;
    assert_int_equal(gr_sample_parse(spec, &s, &err), GR_OK);
    Chosen out = choose_by(&(SampleChoice){.spec = &s, .seed = seed}, m);
    gr_sample_free(&s);
    return out;
}

static void test_specifications(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int kind;
        uint64_t amount;
    } good[] = {{"", SAMPLE_ALL, 0},
                {"1", SAMPLE_COUNT, 1},
                {"250", SAMPLE_COUNT, 250},
                {"5%", SAMPLE_FRACTION, 50000000},
                {"0.05", SAMPLE_FRACTION, 50000000},
                {".5", SAMPLE_FRACTION, 500000000},
                {"12.5%", SAMPLE_FRACTION, 125000000},
                {"1.0", SAMPLE_FRACTION, 1000000000},
                {"100%", SAMPLE_FRACTION, 1000000000},
                {"f00d:1,00000000000000ab:32", SAMPLE_LIST, 0}};
    static const char *const bad[] = {"0",
                                      "0%",
                                      "0.0",
                                      "1.5",
                                      "101%",
                                      "-1",
                                      "x",
                                      "5%%",
                                      "5 %",
                                      ".",
                                      "%",
                                      "1e3",
                                      ":",
                                      "a:",
                                      "f00d:1,",
                                      ":1",
                                      "a:0",
                                      "a:1x",
                                      "a:1 b:2",
                                      "1,2",
                                      "0.0000000001",
                                      "a:99999999999",
                                      "99999999999999999999"};
    for (size_t k = 0; k < sizeof good / sizeof *good; k++) {
        SampleSpec s;
        assert_int_equal(gr_sample_parse(good[k].text, &s, &err), GR_OK);
        assert_int_equal(s.kind, good[k].kind);
        assert_int_equal(s.amount, good[k].amount);
        if (s.kind == SAMPLE_LIST) {
            assert_int_equal(s.sites.len, 2);
            assert_int_equal(s.sites.data[1].function, 0xab);
            assert_int_equal(s.sites.data[1].nth, 32);
        }
        gr_sample_free(&s);
    }
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        SampleSpec s;
        assert_int_equal(gr_sample_parse(bad[k], &s, &err), GR_ERR_ARGUMENT);
        assert_non_null(strstr(err.msg, bad[k]));
        gr_sample_free(&s);
    }
}

static void test_amounts(void **state) {
    (void)state;
    PtxModule *m = two_kernels(false, "%rd");
    assert_int_equal(m->n_sites, SITES);
    for (uint64_t seed = 1; seed <= 20; seed++) {
        assert_int_equal(choose("", seed, m).n, SITES);
        assert_int_equal(choose("1", seed, m).n, 1);
        assert_int_equal(choose("7", seed, m).n, 7);
        assert_int_equal(choose("1000", seed, m).n, SITES);
        assert_int_equal(choose("10%", seed, m).n, SITES / 10);
        assert_int_equal(choose("100%", seed, m).n, SITES);
    }
    gr_ptx_free(m);
}

// A fraction that is no whole number of sites is one over many seeds; and every site is chosen as often as the others.
static void test_statistics(void **state) {
    (void)state;
    enum { SEEDS = 2000 };
    PtxModule *m = two_kernels(false, "%rd");
    unsigned count[SITES + 1] = {0}, sum = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        Chosen c = choose("5%", seed, m);
        assert_in_range(c.n, 1, 2);
        sum += c.n;
        for (unsigned k = 0; k < c.n; k++)
            count[c.site[k]]++;
    }
    assert_in_range(sum, SEEDS * 14 / 10, SEEDS * 16 / 10);
    for (uint32_t k = 1; k <= SITES; k++) // 100 are expected
        assert_in_range(count[k], 40, 160);
    gr_ptx_free(m);
}

static void test_by_seed_and_code_alone(void **state) {
    (void)state;
    PtxModule *m = two_kernels(false, "%rd"), *other = two_kernels(true, "%quite_other_names");
    unsigned differ = 0;
    for (uint64_t seed = 1; seed <= 50; seed++)
        for (unsigned k = 0; k < 2; k++) {
            const char *spec = k ? "5" : "5%";
            Chosen a = choose(spec, seed, m), b = choose(spec, seed, other);
            assert_string_equal(a.names, b.names);
            assert_string_equal(a.names, choose(spec, seed, m).names);
            differ += strcmp(a.names, choose(spec, seed + 1, m).names) != 0;
        }
    assert_true(differ > 50);
    gr_ptx_free(m);
    gr_ptx_free(other);
}

// Another constant is other code; another place in the source is not.
static void test_names_of_functions(void **state) {
    (void)state;
    static const char *const body[] = {
        "st.global.u32 [%rd1+8], %r1;", ".loc 1 7 3\nst.global.u32 [%rd1+8], %r1;",
        "st.global.u32 [%rd1+12], %r1;", "st.global.u32 [%rd1+8], %r2;", "@%p1 st.global.u32 [%rd1+8], %r1;"};
    uint64_t id[5];
    for (unsigned k = 0; k < 5; k++) {
        StrBuf b = head();
        gr_str_addf(
            &b,
            ".file 1 \"a.cu\"\n.visible .entry k(.param .u64 p) {\n.reg .b64 %%rd<2>; .reg .b32 %%r<3>; "
            ".reg .pred %%p<2>;\nld.param.u64 %%rd1, [p]; mov.u32 %%r1, 0; mov.u32 %%r2, 0; setp.eq.u32 "
            "%%p1, %%r1, 0;\n%s\nret; }\n",
            body[k]);
        PtxModule *m = parse(&b);
        id[k] = gr_sample_function(m->funcs[0]);
        gr_ptx_free(m);
    }
    assert_int_equal(id[0], id[1]);
    for (unsigned k = 2; k < 5; k++)
        for (unsigned i = 0; i < k; i++)
            assert_true(i == 0 && k == 1 ? id[k] == id[i] : id[k] != id[i]);
}

typedef struct History {
    const PtxModule *module;
    unsigned times[SITES + 1];
} History;

static uint64_t level(const void *user, SampleSite site) {
    const History *h = user;
    for (uint32_t k = 1, nth = 0; k <= h->module->n_sites; k++) {
        nth = k > 1 && h->module->sites[k].func == h->module->sites[k - 1].func ? nth + 1 : 1;
        if (gr_sample_function(h->module->sites[k].func) == site.function && nth == site.nth)
            return h->times[k];
    }
    fail();
    return 0;
}

// ceil(30 / 7) runs see everything once, whatever the seeds are.
static void test_least_often_first(void **state) {
    (void)state;
    PtxModule *m = two_kernels(false, "%rd");
    for (uint64_t seed = 1; seed <= 10; seed++) {
        History h = {.module = m};
        SampleSpec s;
        assert_int_equal(gr_sample_parse("7", &s, &err), GR_OK);
        for (unsigned run = 0; run < 5; run++) {
            Chosen c = choose_by(
                &(SampleChoice){.spec = &s, .seed = seed * 100 + run, .level = level, .user = &h}, m);
            assert_int_equal(c.n, 7);
            for (unsigned k = 0; k < c.n; k++)
                h.times[c.site[k]]++;
        }
        for (uint32_t k = 1; k <= SITES; k++)
            assert_in_range(h.times[k], 1, 2);
        gr_sample_free(&s);
    }
    gr_ptx_free(m);
}

// A loop unrolled 25 times and five lines of one access each: the six lines come first.
static void test_lines_first(void **state) {
    (void)state;
    StrBuf b = head();
    gr_str_add(
        &b, ".file 1 \"a.cu\"\n.visible .entry first(.param .u64 p) {\n.reg .b64 %rd<2>; .reg .b32 %r<2>;\n"
            "ld.param.u64 %rd1, [p]; mov.u32 %r1, 0;\n");
    for (unsigned k = 0; k < SITES; k++)
        gr_str_addf(&b, ".loc 1 %u 3\nst.global.u32 [%%rd1+%u], %%r1;\n", k < 25 ? 7 : k, 4 * k);
    gr_str_add(&b, "ret; }\n");
    PtxModule *m = parse(&b);
    for (uint64_t seed = 1; seed <= 20; seed++) {
        History h = {.module = m};
        SampleSpec s;
        assert_int_equal(gr_sample_parse("3", &s, &err), GR_OK);
        for (unsigned run = 0; run < SITES / 3; run++) {
            Chosen c = choose_by(
                &(SampleChoice){.spec = &s, .seed = seed * 100 + run, .level = level, .user = &h}, m);
            for (unsigned k = 0; k < c.n; k++)
                h.times[c.site[k]]++;
            unsigned unrolled = 0, others = 0;
            for (uint32_t k = 1; k <= SITES; k++)
                *(k <= 25 ? &unrolled : &others) += h.times[k];
            if (run >= 1) {
                assert_int_equal(others, 5);
                assert_int_equal(unrolled, 3 * run - 2);
            }
        }
        for (uint32_t k = 1; k <= SITES; k++)
            assert_int_equal(h.times[k], 1);
        gr_sample_free(&s);
    }
    gr_ptx_free(m);
}

static void test_list(void **state) {
    (void)state;
    PtxModule *m = two_kernels(false, "%rd");
    StrBuf b = {0};
    for (uint32_t k = 1; k <= SITES; k++)
        if (!strcmp(m->sites[k].func->name, "second")) {
            gr_sample_name((SampleSite){gr_sample_function(m->sites[k].func), 5}, &b);
            gr_str_add(&b, ",1234:1,");
            gr_sample_name((SampleSite){gr_sample_function(m->sites[k].func), 17}, &b);
            break;
        }
    assert_string_equal(choose(b.data, 3, m).names, "second:5 second:17 ");
    gr_str_free(&b);
    gr_ptx_free(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_specifications),     cmocka_unit_test(test_amounts),
        cmocka_unit_test(test_statistics),         cmocka_unit_test(test_by_seed_and_code_alone),
        cmocka_unit_test(test_names_of_functions), cmocka_unit_test(test_least_often_first),
        cmocka_unit_test(test_lines_first),        cmocka_unit_test(test_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
