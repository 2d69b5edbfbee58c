// SPDX-License-Identifier: Apache-2.0
// test_coverage — the file of --coverage: it says again what was put in, adds up over runs that update it at once, and
// a file that is cut short or makes no sense is an error, is named with its line, and stays as it is.
#include "base/outfile.h"
#include "coverage/coverage.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static gr_error err;
static char folder[64], path[96];

static int make_folder(void **state) {
    (void)state;
    strcpy(folder, "/tmp/gpurace-test-coverage-XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/file", folder);
    return 0;
}

static int remove_folder(void **state) {
    (void)state;
    unlink(path);
    return rmdir(folder); // fails when something was left behind
}

static const char sample[] =
    "gpurace coverage 1\n"
    "runs 17\n"
    "function 9f3c0e5d1a2b4c6d kernel 12 17 _Z6matmulPf\n"
    "1 3 2 load 4 17:9 /home/me/mat mul.cu\n"
    "3 0 0 store 16 0:0\n"
    "4294967295 17 17 atomic 8 4294967295:1 x\n"
    "other 2 atomic 4 3:1 x\n"
    "function 0000000000000000 device 0 1 f(int, float)\n"
    "other 7 load 16 0:0\n"
    "conflict 0000000000000002:1 0000000000000002:3 likely open wf:3:1.0.4 w-:0:18446744073709551615.7.0\n"
    "conflict 0000000000000002:3 9f3c0e5d1a2b4c6d:1 ordered met --:0:0.0.0 wf:17:2.0.4294967295\n"
    "end 3 2\n";

static gr_status parse(const char *text, size_t len, StrBuf *again) {
    GrCoverage c;
    gr_coverage_init(&c);
    gr_status st = gr_coverage_parse(text, len, "file", &c, &err);
    if (st == GR_OK && again)
        gr_coverage_print(&c, again);
    gr_coverage_free(&c);
    return st;
}

static void test_says_it_again(void **state) {
    (void)state;
    StrBuf again = {0};
    assert_int_equal(parse(sample, strlen(sample), &again), GR_OK);
    assert_string_equal(again.data, sample);
    gr_str_free(&again);
    assert_int_equal(parse("", 0, NULL), GR_OK);
}

static void test_cut_short(void **state) {
    (void)state;
    for (size_t n = 1; n < strlen(sample); n++) {
        assert_int_equal(parse(sample, n, NULL), GR_ERR_FORMAT);
        assert_string_equal(err.file, "file");
        assert_int_not_equal(err.line, 0);
    }
}

// Whatever is accepted is said again as it was, but for capital letters and leading zeros of numbers.
static void test_hostile(void **state) {
    (void)state;
    char text[sizeof sample];
    for (size_t i = 0; i < strlen(sample); i++)
        for (int byte = 0; byte < 256; byte++) {
            memcpy(text, sample, sizeof sample);
            text[i] = (char)byte;
            StrBuf once = {0}, twice = {0};
            if (parse(text, strlen(sample), &once) == GR_OK) {
                assert_int_equal(parse(once.data, once.len, &twice), GR_OK);
                assert_string_equal(once.data, twice.data);
            }
            gr_str_free(&once);
            gr_str_free(&twice);
        }
}

static void test_nonsense(void **state) {
    (void)state;
    static const struct {
        const char *text, *why;
        unsigned line;
    } cases[] = {
        {"something else\n", "no coverage file", 1},
        {"gpurace coverage 2\nruns 1\nend 0 0\n", "no coverage file of this version", 1},
        {"gpurace coverage 1\nruns -1\nend 0 0\n", "no number of runs", 2},
        {"gpurace coverage 1\nruns 1\n1 1 1 load 4 1:1 a\nend 1 0\n", "before any function", 3},
        {"gpurace coverage 1\nruns 1\nfunction 1 kernel 2 1 k\nend 0 0\n", "no function", 3},
        {"gpurace coverage 1\nruns 1\nfunction 1 kernel 1 1 k\nfunction 1 kernel 1 1 l\nend 0 0\n",
         "a second time", 4},
        {"gpurace coverage 1\nruns 1\nfunction 1 kernel 1 1 k\n1 1 1 load 4 1:1\n1 1 1 load 4 1:1\nend 2 0\n",
         "not in order", 5},
        {"gpurace coverage 1\nruns 1\nfunction 1 kernel 1 1 k\n0 1 1 load 4 1:1\nend 1 0\n", "not in order",
         4},
        {"gpurace coverage 1\nruns 1\nfunction 1 kernel 1 1 k\n1 0 1 load 4 1:1\nend 1 0\n", "more often", 4},
        {"gpurace coverage 1\nruns 1\nfunction 1 kernel 1 1 k\n1 2 1 load 4 1:1\nend 1 0\n", "more often", 4},
        {"gpurace coverage 1\nruns 1\nfunction 1 kernel 1 1 k\n1 1 1 look 4 1:1\nend 1 0\n", "no access", 4},
        {"gpurace coverage 1\nruns 1\nfunction 1 kernel 1 1 k\n1 1 1 load 4 1:1 \x1b[2J\nend 1 0\n",
         "control character", 4},
        {"gpurace coverage 1\nruns 1\nother 1 load 4 1:1 a\nend 0 0\n", "before any function", 3},
        {"gpurace coverage 1\nruns 1\nfunction 1 kernel 1 1 k\nother 0 load 4 1:1\nend 0 0\n", "no access",
         4},
        {"gpurace coverage 1\nruns 1\nfunction 1 kernel 1 1 k\nother 1 1 1 load 4 1:1\nend 0 0\n",
         "no access", 4},
        {"gpurace coverage 1\nruns 1\nfunction 1 kernel 1 1 k\nother 2 load 4 1:1\nother 2 load 4 1:1\nend 0 "
         "0\n",
         "a second time", 5},
        {"gpurace coverage 1\nruns 1\nend 1 0\n", "something is missing", 3},
        {"gpurace coverage 1\nruns 1\nend 0 0\nend 0 0\n", "behind the end", 4},
        {"gpurace coverage 1\nruns 1\nend 0\n", "something is missing", 3},
        {"gpurace coverage 1\nruns 1\nend 0 1\n", "something is missing", 3},
        {"gpurace coverage 1\nruns 1\nconflict 1:1 1:2 likely open wf:0:1.0.4\nend 0 1\n", "no conflict", 3},
        {"gpurace coverage 1\nruns 1\nconflict 1:1 1:0 likely open wf:0:1.0.4 wf:0:1.0.4\nend 0 1\n",
         "no conflict", 3},
        {"gpurace coverage 1\nruns 1\nconflict 1:1 1:2 maybe open wf:0:1.0.4 wf:0:1.0.4\nend 0 1\n",
         "no conflict", 3},
        {"gpurace coverage 1\nruns 1\nconflict 1:1 1:2 likely met wf:2:1.0.4 wf:0:1.0.4\nend 0 1\n",
         "no conflict", 3},
        {"gpurace coverage 1\nruns 99999999999999999999\nend 0 0\n", "no number of runs", 2},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        assert_int_equal(parse(cases[k].text, strlen(cases[k].text), NULL), GR_ERR_FORMAT);
        assert_non_null(strstr(err.msg, cases[k].why));
        assert_int_equal(err.line, cases[k].line);
    }
}

static void test_too_many_conflicts(void **state) {
    (void)state;
    for (size_t n = GR_CONFLICTS; n <= GR_CONFLICTS + 1; n++) {
        StrBuf b = {0};
        gr_str_add(&b, "gpurace coverage 1\nruns 1\n");
        for (size_t k = 1; k <= n; k++)
            gr_str_addf(&b, "conflict 1:%zu 2:1 likely open wf:0:1.0.4 wf:0:1.0.4\n", k);
        gr_str_addf(&b, "end 0 %zu\n", n);
        gr_status st = parse(b.data, b.len, NULL);
        assert_int_equal(st, n > GR_CONFLICTS ? GR_ERR_FORMAT : GR_OK);
        if (n > GR_CONFLICTS)
            assert_int_equal(err.line, 3 + GR_CONFLICTS);
        gr_str_free(&b);
    }
}

// ---- Updates -------------------------------------------------------------------------------------------------------

// A run that watches site *user + 1 of a function.
static gr_status add(void *user, GrCoverage *c, gr_error *e) {
    (void)e;
    GrCoveredFunction *f = gr_coverage_function(c, 7, "k");
    assert_non_null(f);
    f->is_kernel = true;
    f->launched++;
    f->last = c->runs;
    for (uint32_t nth = 4; nth > 0; nth--) { // backwards: they are sorted
        GrCoveredSite *s = gr_coverage_add_site(f, nth);
        assert_non_null(s);
        s->kind = "load";
        s->chosen += nth == *(unsigned *)user + 1;
        s->watched = s->chosen;
    }
    return GR_OK;
}

static void test_runs_at_once(void **state) {
    (void)state;
    enum { PROCESSES = 4, RUNS = 25 };
    for (unsigned k = 0; k < PROCESSES; k++)
        if (!fork()) {
            for (int run = 0; run < RUNS; run++)
                if (gr_coverage_update(path, add, &k, &err) != GR_OK)
                    _exit(1);
            _exit(0);
        }
    for (int status, k = 0; k < PROCESSES; k++) {
        wait(&status);
        assert_int_equal(status, 0);
    }
    GrCoverage c;
    gr_coverage_init(&c);
    assert_int_equal(gr_coverage_read(path, &c, &err), GR_OK);
    assert_int_equal(c.runs, PROCESSES * RUNS);
    const GrCoveredFunction *f = gr_coverage_function(&c, 7, NULL);
    assert_non_null(f);
    assert_int_equal(f->launched, PROCESSES * RUNS);
    for (uint32_t nth = 1; nth <= PROCESSES; nth++)
        assert_int_equal(gr_coverage_site(f, nth)->watched, RUNS);
    gr_coverage_free(&c);
}

static void test_damage_is_left_alone(void **state) {
    (void)state;
    unsigned site = 0;
    for (size_t n = 1; n < strlen(sample); n += 7) {
        char *now;
        size_t len;
        assert_int_equal(gr_file_write(path, sample, n, &err), GR_OK);
        assert_int_equal(gr_coverage_update(path, add, &site, &err), GR_ERR_FORMAT);
        assert_int_equal(gr_file_read(path, &now, &len, &err), GR_OK);
        assert_int_equal(len, n);
        assert_memory_equal(now, sample, n);
        free(now);
    }
}

static void test_no_file(void **state) {
    (void)state;
    GrCoverage c;
    gr_coverage_init(&c);
    assert_int_equal(gr_coverage_read(path, &c, &err), GR_OK);
    assert_int_equal(c.runs, 0);
    assert_int_equal(gr_coverage_read(folder, &c, &err), GR_ERR_IO);
    assert_int_equal(gr_coverage_read("/dev/zero", &c, &err), GR_ERR_IO);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(gr_coverage_read(path, &c, &err), GR_ERR_IO);
    unsigned site = 0;
    assert_int_equal(gr_coverage_update(path, add, &site, &err), GR_ERR_IO);
    assert_int_equal(gr_coverage_update("/no/such/folder/file", add, &site, &err), GR_ERR_IO);
    gr_coverage_free(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_says_it_again),
        cmocka_unit_test(test_cut_short),
        cmocka_unit_test(test_hostile),
        cmocka_unit_test(test_nonsense),
        cmocka_unit_test(test_too_many_conflicts),
        cmocka_unit_test_setup_teardown(test_runs_at_once, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_damage_is_left_alone, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_no_file, make_folder, remove_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
