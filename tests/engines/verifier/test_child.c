// SPDX-License-Identifier: Apache-2.0
// Children: however one ends, its parent has what it wrote, no zombie, and no descriptor more than before.
#include "engines/verifier/solve/child.h"

#include "base/sanitized.h"

#include <dirent.h>
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

static void says(void *user, int out) { gr_child_write(out, user, strlen(user)); }
static void crashes(void *user, int out) {
    says(user, out);
    raise(SIGSEGV);
}
static void is_killed(void *user, int out) {
    says(user, out);
    raise(SIGKILL);
}
static void leaves(void *user, int out) {
    says(user, out);
    _exit(3);
}
static void stays(void *user, int out) {
    says(user, out);
    for (;;)
        pause();
}
static void closes_and_stays(void *user, int out) {
    says(user, out);
    close(out);
    for (;;)
        pause();
}
static void takes_memory(void *user, int out) {
    says(user, out);
    for (unsigned k = 0; k < 1000; k++) {
        char *p = malloc((size_t)16 << 20);
        if (!p)
            abort();
        memset(p, 1, 4096);
    }
}
static void says_much(void *user, int out) {
    (void)user;
    static char much[1 << 20];
    memset(much, 'x', sizeof much);
    gr_child_write(out, much, sizeof much);
}

static unsigned descriptors(void) {
    unsigned n = 0;
    DIR *d = opendir("/proc/self/fd");
    while (readdir(d))
        n++;
    closedir(d);
    return n;
}

static void test_ends(void **state) {
    (void)state;
    static const struct {
        void (*work)(void *user, int out);
        GrChildEnd end;
    } ends[] = {{says, GR_CHILD_DONE},        {crashes, GR_CHILD_DIED}, {is_killed, GR_CHILD_DIED},
                {leaves, GR_CHILD_DIED},      {stays, GR_CHILD_TIME},   {closes_and_stays, GR_CHILD_TIME},
                {takes_memory, GR_CHILD_DIED}};
    unsigned before = descriptors();
    for (unsigned k = 0; k < sizeof ends / sizeof *ends; k++) {
        if (SANITIZED && ends[k].work == takes_memory)
            continue; // no limit of addresses under a sanitizer
        GrChildResult r;
        assert_int_equal(gr_child_run(ends[k].work, "hello", 0.3, (size_t)256 << 20, &r, NULL), GR_OK);
        assert_int_equal(r.end, ends[k].end);
        assert_int_equal(r.len, 5);
        assert_memory_equal(r.data, "hello", 5);
        free(r.data);
    }
    assert_int_equal(descriptors(), before);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
}

static void test_much(void **state) {
    (void)state;
    GrChildResult r;
    assert_int_equal(gr_child_run(says_much, NULL, 5, (size_t)256 << 20, &r, NULL), GR_OK);
    assert_int_equal(r.end, GR_CHILD_DONE);
    assert_int_equal(r.len, 1 << 20);
    free(r.data);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_ends), cmocka_unit_test(test_much)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
