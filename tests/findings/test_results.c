// SPDX-License-Identifier: Apache-2.0
// The results file: what goes in comes out, from many writers at once, from killed ones, and from files that are cut
// short or changed at any byte.
#include "attach.h"
#include "base/outfile.h"
#include "findings/reader.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static gr_error err;
static char path[64];

static int new_file(void **state) {
    (void)state;
    strcpy(path, "/tmp/gpurace-test-results-XXXXXX");
    int fd = mkstemp(path);
    close(fd);
    return gr_results_create(path, &err) == GR_OK ? 0 : -1;
}

static int remove_file(void **state) {
    (void)state;
    return unlink(path);
}

static void append_text(GrResults *r, GrRecordKind kind, const char *text) {
    StrBuf b = {0};
    gr_put_str(&b, text);
    gr_results_append(r, kind, &b);
    gr_str_free(&b);
}

static void test_round_trip(void **state) {
    (void)state;
    GrResults r;
    assert_int_equal(attach(path, &r, &err), GR_OK);
    append_text(&r, GR_RECORD_NOTE, "first");
    uint64_t offset;
    char *area = gr_results_area(&r, 100000, &offset);
    assert_non_null(area);
    assert_int_equal(offset % GR_RESULTS_AREA_ALIGN, 0);
    area[99999] = 'x';
    append_text(&r, GR_RECORD_ABSENT, "cuFoo");

    GrResultsView v;
    assert_int_equal(gr_results_open(path, &v, &err), GR_OK);
    assert_int_equal(v.records.len, 2);
    assert_int_equal(v.dropped, 0);
    assert_int_equal(v.damaged, 0);
    assert_int_equal(v.records.data[0].kind, GR_RECORD_NOTE);
    assert_int_equal(v.records.data[1].kind, GR_RECORD_ABSENT);
    Arena arena;
    gr_arena_init(&arena);
    GrCursor c = gr_cursor(&v.records.data[1]);
    assert_string_equal(gr_get_str(&c, &arena), "cuFoo");
    assert_false(c.bad);
    gr_get_u32(&c);
    assert_true(c.bad);
    const char *seen = gr_results_at(&v, offset, 100000);
    assert_int_equal(seen[99999], 'x');
    assert_int_equal(seen[0], 0);
    assert_null(gr_results_at(&v, v.len, 1));
    assert_null(gr_results_at(&v, UINT64_MAX, 2));
    gr_arena_free(&arena);
    gr_results_close(&v);
    gr_results_detach(&r);
}

enum { WRITERS = 6, EACH = 200 };

static void write_many(int number) {
    GrResults r;
    if (attach(path, &r, NULL) != GR_OK)
        _exit(1);
    for (int i = 0; i < EACH; i++) {
        char text[400];
        snprintf(text, sizeof text, "%d/%d %*s", number, i, (number * 37 + i) % 300, "");
        append_text(&r, GR_RECORD_NOTE, text);
        uint64_t offset;
        if (i % 50 == 0) {
            char *area = gr_results_area(&r, 5000, &offset);
            if (!area)
                _exit(1);
            memset(area, 'a' + number, 5000);
        }
    }
    _exit(0);
}

static void test_concurrent_writers(void **state) {
    (void)state;
    pid_t pids[WRITERS];
    for (int i = 0; i < WRITERS; i++)
        if (!(pids[i] = fork()))
            write_many(i);
    for (int i = 0; i < WRITERS; i++) {
        int status;
        assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
        assert_int_equal(status, 0);
    }
    GrResultsView v;
    assert_int_equal(gr_results_open(path, &v, &err), GR_OK);
    assert_int_equal(v.records.len, WRITERS * EACH);
    assert_int_equal(v.damaged, 0);
    assert_int_equal(v.dropped, 0);
    uint64_t next[WRITERS + 1] = {0};
    for (size_t i = 0; i < v.records.len; i++) // each process's own records stay in its order
        next[v.records.data[i].process]++;
    for (int i = 1; i <= WRITERS; i++)
        assert_int_equal(next[i], EACH);
    gr_results_close(&v);
}

// A writer that is killed in the middle leaves what it had written.
static void test_killed_writer(void **state) {
    (void)state;
    int pipes[2];
    assert_int_equal(pipe(pipes), 0);
    pid_t pid = fork();
    if (!pid) {
        GrResults r;
        uint64_t offset;
        attach(path, &r, NULL);
        append_text(&r, GR_RECORD_NOTE, "kept");
        char *area = gr_results_area(&r, 4096, &offset);
        area[7] = 'k';
        if (write(pipes[1], &offset, sizeof offset) < 0)
            _exit(1);
        pause();
    }
    uint64_t offset;
    assert_int_equal(read(pipes[0], &offset, sizeof offset), sizeof offset);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    GrResultsView v;
    assert_int_equal(gr_results_open(path, &v, &err), GR_OK);
    assert_int_equal(v.records.len, 1);
    assert_int_equal(v.damaged, 0);
    assert_int_equal(((const char *)gr_results_at(&v, offset, 4096))[7], 'k');
    gr_results_close(&v);
    close(pipes[0]);
    close(pipes[1]);
}

// A file that may not grow any more: what does not fit is counted.
static void test_full_disk_is_counted(void **state) {
    (void)state;
    pid_t pid = fork();
    if (!pid) {
        GrResults r;
        uint64_t offset;
        signal(SIGXFSZ, SIG_IGN);
        attach(path, &r, NULL);
        append_text(&r, GR_RECORD_NOTE, "fits");
        struct rlimit limit = {GR_RESULTS_HEADER + 64, GR_RESULTS_HEADER + 64};
        setrlimit(RLIMIT_FSIZE, &limit);
        append_text(&r, GR_RECORD_NOTE, "does not");
        _exit(gr_results_area(&r, 4096, &offset) ? 1 : 0);
    }
    int status;
    waitpid(pid, &status, 0);
    assert_int_equal(status, 0);
    GrResultsView v;
    assert_int_equal(gr_results_open(path, &v, &err), GR_OK);
    assert_int_equal(v.records.len, 1);
    assert_int_equal(v.dropped, 2);
    gr_results_close(&v);
}

static char *sample(size_t *len) {
    GrResults r;
    uint64_t offset;
    assert_int_equal(attach(path, &r, &err), GR_OK);
    append_text(&r, GR_RECORD_NOTE, "one");
    assert_non_null(gr_results_area(&r, 3000, &offset));
    append_text(&r, GR_RECORD_NOTE, "two");
    append_text(&r, GR_RECORD_PROCESS_END, "three");
    gr_results_detach(&r);
    char *data;
    assert_int_equal(gr_file_read(path, &data, len, &err), GR_OK);
    return data;
}

static void test_every_truncation_is_noticed(void **state) {
    (void)state;
    size_t len;
    char *data = sample(&len);
    for (size_t n = 0; n < len; n += n < GR_RESULTS_HEADER + 200 || n + 300 > len ? 1 : 997) {
        char *copy = malloc(n + 1); // exactly n bytes, so that a sanitizer sees a read past them
        memcpy(copy, data, n);
        GrResultsView v;
        if (gr_results_parse(copy, n, &v, &err) == GR_OK) {
            assert_true(v.records.len < 3 || v.damaged);
            assert_true(v.damaged > 0);
            gr_results_release(&v);
        } else {
            assert_true(n < GR_RESULTS_HEADER);
        }
        free(copy);
    }
    free(data);
}

static void test_every_changed_byte_is_harmless(void **state) {
    (void)state;
    size_t len;
    char *data = sample(&len);
    for (size_t i = 0; i < len; i += i < GR_RESULTS_HEADER + 200 || i + 300 > len ? 1 : 997) {
        GrResultsView v;
        data[i] ^= 0x5a;
        if (gr_results_parse(data, len, &v, &err) == GR_OK) {
            assert_true(v.records.len <= 3);
            gr_results_release(&v);
        }
        data[i] ^= 0x5a;
    }
    free(data);
}

static void test_not_a_results_file(void **state) {
    (void)state;
    GrResults r;
    assert_int_equal(gr_file_write(path, "hello", 5, &err), GR_OK);
    assert_int_equal(attach(path, &r, &err), GR_ERR_IO);
    char page[8192] = "something else";
    assert_int_equal(gr_file_write(path, page, sizeof page, &err), GR_OK);
    assert_int_equal(attach(path, &r, &err), GR_ERR_FORMAT);
    assert_null(r.header);
    append_text(&r, GR_RECORD_NOTE, "nowhere"); // a file that is not there takes nothing and breaks nothing
    GrResultsView v;
    assert_int_equal(gr_results_open("/nonexistent", &v, &err), GR_ERR_IO);
}

static unsigned count_hidden(GrHidden *last, uint64_t *more) {
    GrResultsView v;
    GrHidden found;
    unsigned n = 0;
    assert_int_equal(gr_results_open(path, &v, &err), GR_OK);
    for (; gr_results_hidden(&v, n, &found); n++)
        *last = found;
    *more = v.hidden_more;
    gr_results_close(&v);
    return n;
}

static void test_hidden_processes_are_counted(void **state) {
    (void)state;
    GrResults r;
    GrHidden last;
    uint64_t more;
    assert_int_equal(attach(path, &r, &err), GR_OK);
    gr_hidden_note(r.header, GR_HIDDEN_RIGHTS, "/bin/su");
    gr_hidden_note(r.header, GR_HIDDEN_RIGHTS, "/bin/su");
    assert_int_equal(count_hidden(&last, &more), 1);
    assert_int_equal(last.count, 2);
    assert_int_equal(last.pid, getpid());
    assert_string_equal(last.program, "/bin/su");
    gr_hidden_note(r.header, GR_HIDDEN_STATIC, "/bin/su");
    char name[300];
    for (unsigned k = 0; k < 40; k++) {
        memset(name, 'a' + (int)k % 26, sizeof name);
        snprintf(name + 200, 100, "/end of %u", k);
        gr_hidden_note(r.header, GR_HIDDEN_STATIC, name);
    }
    assert_int_equal(count_hidden(&last, &more), GR_HIDDEN_ENTRIES);
    assert_int_equal(more, 2 + 40 - GR_HIDDEN_ENTRIES);
    assert_memory_equal(last.program, "…", 3);
    assert_string_equal(last.program + strlen(last.program) - 10, "/end of 28");
    gr_results_detach(&r);
}

// Another path, no path any more: the descriptor does, as long as it is that file's.
static void test_written_by_a_descriptor(void **state) {
    (void)state;
    GrResults r;
    GrHidden last;
    uint64_t more;
    int fd = open(path, O_RDWR);
    assert_true(fd >= 0);
    assert_int_equal(gr_results_look_by("/nonexistent", fd, &r, &err), GR_OK);
    gr_results_join(&r);
    append_text(&r, GR_RECORD_NOTE, "by the descriptor");
    uint64_t offset;
    assert_non_null(gr_results_area(&r, 4096, &offset));
    GrResultsView v;
    assert_int_equal(gr_results_open(path, &v, &err), GR_OK);
    assert_int_equal(v.records.len, 1);
    assert_int_equal(v.dropped, 0);
    gr_results_close(&v);
    int other = open("/dev/null", O_RDWR);
    assert_int_equal(dup2(other, fd), fd);
    append_text(&r, GR_RECORD_NOTE, "lost");
    assert_int_equal(count_hidden(&last, &more), 1);
    assert_int_equal(last.why, GR_HIDDEN_UNWRITTEN);
    assert_int_equal(r.header->dropped, 1);
    close(other);
    close(fd);
    gr_results_detach(&r);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, new_file, remove_file)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_round_trip),
        TEST(test_concurrent_writers),
        TEST(test_killed_writer),
        TEST(test_full_disk_is_counted),
        TEST(test_every_truncation_is_noticed),
        TEST(test_every_changed_byte_is_harmless),
        TEST(test_not_a_results_file),
        TEST(test_hidden_processes_are_counted),
        TEST(test_written_by_a_descriptor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
