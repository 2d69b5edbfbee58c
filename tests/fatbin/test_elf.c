// SPDX-License-Identifier: Apache-2.0
// Programs are told apart by how they use CUDA. Argument: the folder of the programs of tests/fatbin/elf.
#include "base/str.h"
#include "fatbin/elf.h"
#include "fatbin/file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static const char *folder;

static ExeInfo classify_some(const char *name, bool whole) {
    char path[4096];
    ExeInfo x;
    gr_error err = {0};
    snprintf(path, sizeof path, "%s/%s", folder, name);
    gr_status st = gr_elf_classify(path, whole, &x, &err);
    if (st != GR_OK)
        fail_msg("%s", err.msg);
    return x;
}

static ExeInfo classify(const char *name) { return classify_some(name, true); }

static void each_way_of_using_cuda(void **state) {
    (void)state;
    static const struct {
        const char *name;
        ExeKind kind;
        const char *culprit; // end of its path
        bool device_code;
    } cases[] = {
        {"elf_none", EXE_NO_CUDA, "elf_none", false},
        {"elf_static_libc", EXE_STATIC_LIBC, "elf_static_libc", false},
        {"elf_driver_api", EXE_DRIVER_API, "elf_driver_api", false},
        {"elf_opens_driver", EXE_DRIVER_API, "elf_opens_driver", false},
        {"elf_shared_runtime", EXE_SHARED_RUNTIME, "elf_shared_runtime", true},
        {"elf_static_runtime", EXE_STATIC_RUNTIME, "elf_static_runtime", true},
        {"elf_static_runtime_stripped", EXE_STATIC_RUNTIME, "elf_static_runtime_stripped", true},
        {"elf_through_library", EXE_SHARED_RUNTIME, "libelf_kernels.so", true},
        {"elf_plain_runtime", EXE_SHARED_RUNTIME, "elf_plain_runtime", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ExeInfo x = classify(cases[i].name);
        size_t n = strlen(x.culprit), k = strlen(cases[i].culprit);
        print_message("%s: %s\n", cases[i].name, gr_exe_kind_name(x.kind));
        assert_int_equal(x.kind, cases[i].kind);
        assert_true(n >= k);
        assert_string_equal(x.culprit + n - k, cases[i].culprit);
        assert_int_equal(x.has_device_code, cases[i].device_code);
        assert_string_equal(x.runtime, x.kind == EXE_SHARED_RUNTIME ? "libcudart.so.13" : "");
        assert_string_equal(x.embeds, x.kind == EXE_STATIC_RUNTIME ? x.culprit : "");
        ExeInfo some = classify_some(cases[i].name, false);
        assert_int_equal(some.kind, x.kind);
        assert_string_equal(some.culprit, x.culprit);
    }
}

// The library with kernels is behind the program, which has decided.
static void the_rest_is_left_unseen(void **state) {
    (void)state;
    assert_true(classify_some("elf_plain_runtime", true).has_device_code);
    assert_false(classify_some("elf_plain_runtime", false).has_device_code);
}

// A file with these bytes, classified; the status goes to *st.
static ExeInfo classify_bytes(const void *data, size_t len, gr_status *st, gr_error *err) {
    char path[] = "/tmp/gpurace-test-elf-XXXXXX";
    ExeInfo x;
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, data, len), (ssize_t)len);
    close(fd);
    *st = gr_elf_classify(path, true, &x, err);
    unlink(path);
    return x;
}

static void what_is_no_program(void **state) {
    (void)state;
    gr_status st;
    gr_error err;
    static const char text[] = "hello", script[] = "#! /usr/bin/env python3\n";
    assert_int_equal(classify_bytes(text, strlen(text), &st, &err).kind, EXE_NOT_EXECUTABLE);
    assert_int_equal(st, GR_OK);
    assert_int_equal(classify_bytes("", 0, &st, &err).kind, EXE_NOT_EXECUTABLE);
    assert_int_equal(st, GR_OK);
    ExeInfo x = classify_bytes(script, strlen(script), &st, &err);
    assert_int_equal(x.kind, EXE_SCRIPT);
    assert_string_equal(x.interpreter, "/usr/bin/env");

    char *self;
    size_t len;
    assert_int_equal(gr_file_read("/proc/self/exe", &self, &len, NULL), GR_OK);
    self[18] = 2; // e_machine: SPARC
    x = classify_bytes(self, len, &st, &err);
    assert_int_equal(st, GR_OK);
    assert_int_equal(x.kind, EXE_FOREIGN);
    assert_int_equal(x.machine, 2);
    free(self);
}

static void what_cannot_be_read(void **state) {
    (void)state;
    ExeInfo x;
    gr_error err;
    assert_int_equal(gr_elf_classify("/nonexistent", true, &x, &err), GR_ERR_NOT_FOUND);
    assert_int_equal(gr_elf_classify("/etc", true, &x, &err), GR_ERR_IO);
    assert_string_equal(err.msg, "/etc: is a directory");
}

// Reads the file both as a program and as a holder of fatbins; whatever they say, they come back.
static gr_status read_file(const char *path) {
    ExeInfo x;
    Arena a;
    FatbinFile f;
    gr_error err;
    gr_arena_init(&a);
    gr_status st = gr_elf_classify(path, true, &x, &err);
    if (gr_fatbin_open(path, &a, &f, &err) == GR_OK)
        gr_fatbin_close(&f);
    gr_arena_free(&a);
    return st;
}

// Cut anywhere and with any byte wrong, a program is some kind of file or an error; nothing is read that is not there.
static void damaged_programs_are_survived(void **state) {
    (void)state;
    char path[4096], copy[] = "/tmp/gpurace-test-elf-XXXXXX", *data;
    size_t len;
    snprintf(path, sizeof path, "%s/elf_shared_runtime", folder);
    assert_int_equal(gr_file_read(path, &data, &len, NULL), GR_OK);
    int fd = mkstemp(copy);
    assert_int_equal(write(fd, data, len), (ssize_t)len);
    for (size_t i = 0; i < len; i += data[i] ? 1 : 5) {
        char flipped = (char)~data[i];
        assert_int_equal(pwrite(fd, &flipped, 1, (off_t)i), 1);
        read_file(copy);
        assert_int_equal(pwrite(fd, &data[i], 1, (off_t)i), 1);
    }
    for (size_t n = len - 1; n > 64; n -= n > 1024 ? 61 : 1) {
        assert_int_equal(ftruncate(fd, (off_t)n), 0);
        read_file(copy);
    }
    assert_int_equal(ftruncate(fd, 30), 0);
    assert_int_equal(read_file(copy), GR_ERR_FORMAT);
    close(fd);
    unlink(copy);
    free(data);
}

int main(int argc, char **argv) {
    folder = argc > 1 ? argv[1] : ".";
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_way_of_using_cuda),
        cmocka_unit_test(the_rest_is_left_unseen),
        cmocka_unit_test(what_is_no_program),
        cmocka_unit_test(what_cannot_be_read),
        cmocka_unit_test(damaged_programs_are_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
