// SPDX-License-Identifier: Apache-2.0
// Jobs: results in order however late each child is, a child that dies is told of, and no child outlives its caller.
#include "engines/verifier/solve/jobs.h"

#include "engines/verifier/solve/child.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { N = 9 };
typedef struct Run {
    int turn[2];    // a pipe with one byte: pieces end from the last to the first
    size_t next;    // piece that take expects
    size_t fail_at; // take refuses this one
    unsigned died;
} Run;

static void says_number(void *user, size_t piece, int out) {
    (void)user;
    static char much[200000];
    memset(much, 'a' + (int)piece, sizeof much);
    gr_child_write(out, much, piece % 2 ? sizeof much : piece);
    if (piece == 4)
        raise(SIGKILL);
}

static gr_status sees_number(void *user, size_t piece, const char *data, size_t len, bool died,
                             gr_error *err) {
    Run *r = user;
    assert_int_equal(piece, r->next++);
    assert_int_equal(died, piece == 4);
    assert_int_equal(len, piece % 2 ? 200000 : piece);
    for (size_t k = 0; k < len; k++)
        if (data[k] != 'a' + (int)piece)
            fail();
    return piece == r->fail_at ? gr_fail(err, GR_ERR_LIMIT, "no more") : GR_OK;
}

static void no_child_is_left(void) {
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
}

static void test_order(void **state) {
    (void)state;
    for (unsigned most = 1; most < 12; most += 5) {
        Run r = {.fail_at = SIZE_MAX};
        gr_error err;
        assert_int_equal(gr_jobs_run(&(GrJobs){N, most, &r, says_number, sees_number, NULL}, &err), GR_OK);
        assert_int_equal(r.next, N);
        no_child_is_left();
    }
    gr_error err;
    assert_int_equal(gr_jobs_run(&(GrJobs){0, 4, NULL, says_number, sees_number, NULL}, &err), GR_OK);
}

static void test_refused(void **state) {
    (void)state;
    Run r = {.fail_at = 2};
    gr_error err;
    assert_int_equal(gr_jobs_run(&(GrJobs){N, 3, &r, says_number, sees_number, NULL}, &err), GR_ERR_LIMIT);
    assert_string_equal(err.msg, "no more");
    assert_int_equal(r.next, 3);
    no_child_is_left();
}

// The first piece ends last: it waits for the byte that the last one writes.
static void waits_for_the_last(void *user, size_t piece, int out) {
    Run *r = user;
    char c = 'x';
    if (piece + 1 == N)
        gr_child_write(r->turn[1], &c, 1);
    else if (piece == 0 && read(r->turn[0], &c, 1) != 1)
        _exit(1);
    gr_child_write(out, &piece, sizeof piece);
}

static gr_status sees_its_own(void *user, size_t piece, const char *data, size_t len, bool died,
                              gr_error *err) {
    Run *r = user;
    size_t said = SIZE_MAX;
    (void)err;
    assert_false(died);
    assert_int_equal(len, sizeof said);
    memcpy(&said, data, sizeof said);
    assert_int_equal(said, piece);
    assert_int_equal(piece, r->next++);
    return GR_OK;
}

static void test_side_by_side(void **state) {
    (void)state;
    Run r = {0};
    gr_error err;
    assert_int_equal(pipe(r.turn), 0);
    assert_int_equal(gr_jobs_run(&(GrJobs){N, N, &r, waits_for_the_last, sees_its_own, NULL}, &err), GR_OK);
    assert_int_equal(r.next, N);
    close(r.turn[0]);
    close(r.turn[1]);
}

// ---- Signals --------------------------------------------------------------------------------------------------------

static void stays(void *user, int out) {
    (void)out;
    gr_child_write(*(int *)user, "x", 1);
    for (;;)
        pause();
}

// As the verifier's: a child that waits for a solver's child.
static void has_a_child(void *user, size_t piece, int out) {
    (void)piece, (void)out;
    GrChildResult result;
    gr_error err;
    gr_child_run(stays, user, 3600, (size_t)1 << 30, &result, &err);
}

// All processes hold the pipe's end: it ends when the last one is gone.
static void test_interrupted(void **state) {
    (void)state;
    static const int signals[] = {SIGINT, SIGTERM, SIGKILL};
    for (unsigned k = 0; k < sizeof signals / sizeof *signals; k++) {
        int ends[2], status;
        char c;
        assert_int_equal(pipe(ends), 0);
        pid_t caller = fork();
        if (!caller) {
            gr_error err;
            close(ends[0]);
            signal(signals[k], SIG_DFL);
            gr_jobs_run(&(GrJobs){4, 3, &ends[1], has_a_child, sees_number, NULL}, &err);
            _exit(1);
        }
        close(ends[1]);
        for (unsigned n = 0; n < 3; n++)
            assert_int_equal(read(ends[0], &c, 1), 1);
        assert_int_equal(kill(caller, signals[k]), 0);
        assert_int_equal(read(ends[0], &c, 1), 0);
        assert_int_equal(waitpid(caller, &status, 0), caller);
        assert_true(WIFSIGNALED(status));
        close(ends[0]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_side_by_side),
        cmocka_unit_test(test_interrupted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
