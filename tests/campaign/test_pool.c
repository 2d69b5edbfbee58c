// SPDX-License-Identifier: Apache-2.0
// Child processes: what they print and how they end, limits of time and memory, and that nothing of a child is left
// behind.
#include "base/str.h"
#include "campaign/pool.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { PATIENCE_MS = 60000 };

static gr_error err;
static char log_path[] = "/tmp/test_pool-XXXXXX";

static int make_log(void **state) {
    (void)state;
    int fd = mkstemp(log_path);
    return fd < 0 ? -1 : close(fd);
}

static int remove_log(void **state) {
    (void)state;
    return unlink(log_path);
}

static void start(GrPool *p, const char *script, uint64_t number, uint64_t seconds) {
    char *argv[] = {"/bin/sh", "-c", (char *)(uintptr_t)script, NULL};
    const char *environment[] = {"OF_TEST", "two words", NULL};
    GrPoolJob job = {argv, environment, log_path, number, seconds, NULL};
    assert_int_equal(gr_pool_start(p, &job, &err), GR_OK);
}

static GrPoolEvent wait_for_end(GrPool *p) {
    GrPoolEvent e = gr_pool_wait(p, PATIENCE_MS);
    assert_int_equal(e.what, GR_POOL_ENDED);
    return e;
}

static void test_status_and_output(void **state) {
    (void)state;
    GrPool p;
    char *said;
    size_t len;
    gr_pool_open(&p, 0);
    start(&p, "echo \"$OF_TEST\"; echo and this >&2; read x || echo no input; exit 7", 42, 0);
    GrPoolEvent e = wait_for_end(&p);
    assert_int_equal(e.number, 42);
    assert_int_equal(e.status, 7);
    assert_false(e.overdue || e.over_memory);
    assert_int_equal(gr_file_read(log_path, &said, &len, &err), GR_OK);
    assert_string_equal(said, "two words\nand this\nno input\n");
    free(said);
    start(&p, "kill -9 $$", 43, 0);
    assert_int_equal(wait_for_end(&p).status, 128 + SIGKILL);
    assert_int_equal(gr_pool_wait(&p, 0).what, GR_POOL_NOTHING);
    gr_pool_close(&p);
}

static void test_what_cannot_start(void **state) {
    (void)state;
    GrPool p;
    char *argv[] = {"/nowhere/at/all", NULL};
    const char *environment[] = {NULL};
    GrPoolJob job = {argv, environment, log_path, 1, 0, NULL};
    gr_pool_open(&p, 0);
    assert_int_equal(gr_pool_start(&p, &job, &err), GR_ERR_IO);
    assert_non_null(strstr(err.msg, "/nowhere/at/all"));
    assert_int_equal(p.children.len, 0);
    gr_pool_close(&p);
}

static void test_time(void **state) {
    (void)state;
    GrPool p;
    gr_pool_open(&p, 0);
    start(&p, "trap '' TERM; while :; do sleep 1000; done", 1, 1);
    GrPoolEvent e = wait_for_end(&p);
    assert_true(e.overdue);
    assert_int_equal(e.status, 128 + SIGKILL);
    gr_pool_close(&p);
}

// The leader stays, and says what became of the program.
static void test_memory(void **state) {
    (void)state;
    GrPool p;
    gr_pool_open(&p, 64 << 20);
    start(&p, "head -c 200000000 /dev/zero | tail -c 150000000 | sleep 1000; exit 5", 1, 0);
    GrPoolEvent e = wait_for_end(&p);
    assert_true(e.over_memory);
    assert_int_equal(e.status, 5);
    gr_pool_close(&p);
}

static void test_nothing_is_left(void **state) {
    (void)state;
    GrPool p;
    gr_pool_open(&p, 0);
    start(&p, "sleep 1000 & exit 0", 1, 0);
    pid_t session = p.children.data[0].pid;
    (void)wait_for_end(&p);
    while (gr_session_memory(
        session)) // what was killed takes a moment to go; the test's own time limit ends this
        usleep(1000);
    start(&p, "trap '' TERM; while :; do sleep 1000; done", 2, 0);
    start(&p, "sleep 1000", 3, 0);
    pid_t stubborn = p.children.data[0].pid, plain = p.children.data[1].pid;
    while (!gr_session_memory(stubborn)) // a program that has just begun may have no page yet
        usleep(1000);
    gr_pool_close(&p);
    while (gr_session_memory(stubborn) || gr_session_memory(plain))
        usleep(1000);
}

static void test_signals_are_events(void **state) {
    (void)state;
    GrPool p;
    gr_pool_open(&p, 0);
    start(&p, "sleep 1000", 1, 0);
    kill(getpid(), SIGINT);
    GrPoolEvent e = gr_pool_wait(&p, PATIENCE_MS);
    assert_int_equal(e.what, GR_POOL_SIGNAL);
    assert_int_equal(e.signal, SIGINT);
    gr_pool_close(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_status_and_output),
        cmocka_unit_test(test_what_cannot_start),
        cmocka_unit_test(test_time),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_nothing_is_left),
        cmocka_unit_test(test_signals_are_events),
    };
    return cmocka_run_group_tests(tests, make_log, remove_log);
}
