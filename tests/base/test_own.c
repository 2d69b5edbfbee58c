// SPDX-License-Identifier: Apache-2.0
// test_own — what may be written to and removed: only what gpurace made. By each kind of file, link, folder and odd
// thing that a path can lead to.
#include "base/own.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[PATH_MAX]; // of gpurace's own
static char outside[512];     // of somebody else's

static const char *at(const char *in, const char *name) {
    static char path[4][PATH_MAX + 64];
    static unsigned next;
    char *out = path[next++ % 4], *copy = strdup(in); // which may be one of them
    assert_non_null(copy);
    snprintf(out, sizeof path[0], "%s/%s", copy, name);
    free(copy);
    return out;
}

static void put(const char *path, const char *text) {
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

static char *get(const char *path) {
    static char text[4096];
    FILE *f = fopen(path, "r");
    if (!f)
        return NULL;
    text[fread(text, 1, sizeof text - 1, f)] = 0;
    fclose(f);
    return text;
}

static int begin(void **state) {
    (void)state;
    char made[] = "/tmp/gpurace-test-own-XXXXXX";
    assert_non_null(mkdtemp(made));
    char real[PATH_MAX];
    assert_non_null(realpath(made, real));
    assert_true(snprintf(outside, sizeof outside, "%s", real) < (int)sizeof outside);
    setenv("TMPDIR", outside, 1);
    return gr_own_folder(folder, "test", NULL);
}

static int end(void **state) {
    (void)state;
    (void)gr_own_remove_folder(folder, NULL);
    return rmdir(outside); // each test leaves nothing
}

static const struct {
    GrOwnKind kind;
    const char *text;
} samples[] = {
    {GR_OWN_REPORT, "{\n  \"tool\": \"gpurace 0.1.0\",\n}\n"},
    {GR_OWN_REPORT,
     "================\na.cu:1: data race\n================\ngpurace: verdict: races (1)\ngpurace: 1 race\n"},
    {GR_OWN_REPORT, "gpurace: verdict: clean\n  engine  exact\ngpurace: no races\n"},
    {GR_OWN_REPORT,
     "a.cu:1: data race: lost update, 3 times, id 0123456789abcdef\n\33[1mgpurace: 1 race\33[0m\n"},
    {GR_OWN_PTX, ".version 7.0\n// gpurace: engine collider\n"},
    {GR_OWN_COVERAGE, "gpurace coverage 3\n"},
    {GR_OWN_LAUNCHES, "{\"format\":\"gpurace launches\"}\n"},
    {GR_OWN_DRAWING, "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"growth\" width=\"1\"/>\n"},
    {GR_OWN_LOG, "gpurace campaign: run 1\n"},
    {GR_OWN_SCRIPT, "#!/bin/sh\n# A task of a campaign of gpurace\n"},
    {GR_OWN_ANSWER, "gpurace answer 1\n"},
    {GR_OWN_CUBIN, "\177ELF\2\1\1"},
};
enum { SAMPLES = sizeof samples / sizeof *samples };

static const char *const foreign[] = {
    "int main() {}\n",
    "I ran gpurace: it said\n",
    "gpurace",
    "\n\n\n",
    "x{\n  \"tool\": \"gpurace 0.1.0\",\n}\n",
    "gpurace: verdict: clean\nand a line of mine\n",
    ".version 7.0\n// gpurace: engine collider\nret;\n",
};

// A file is of the kind that its mark says, and of no other; only then it is written to or removed.
static void files_go_by_their_marks(void **state) {
    (void)state;
    const char *path = at(outside, "file");
    for (size_t k = 0; k < SAMPLES; k++)
        for (GrOwnKind kind = GR_OWN_REPORT; kind < GR_OWN_SCRATCH; kind++) {
            gr_error err = {0};
            put(path, samples[k].text);
            bool is = kind == samples[k].kind;
            assert_int_equal(gr_own_is(path, kind), is);
            assert_int_equal(gr_own_check(path, kind, &err) == GR_OK, is);
            assert_int_equal(gr_own_try(path, kind, NULL) == GR_OK, is);
            assert_string_equal(get(path), samples[k].text); // trying writes nothing
            if (!is)
                assert_non_null(strstr(err.msg, "is there already"));
            assert_int_equal(gr_own_write(path, kind, "new", 3, NULL) == GR_OK, is);
            assert_string_equal(get(path), is ? "new" : samples[k].text);
            put(path, samples[k].text);
            assert_int_equal(gr_own_remove(path, kind), is);
            assert_int_equal(access(path, F_OK) == 0, !is);
        }
    unlink(path);
}

static void foreign_files_stay(void **state) {
    (void)state;
    const char *path = at(outside, "file");
    for (size_t k = 0; k < sizeof foreign / sizeof *foreign; k++)
        for (GrOwnKind kind = GR_OWN_REPORT; kind <= GR_OWN_SCRATCH; kind++) {
            put(path, foreign[k]);
            assert_false(gr_own_is(path, kind));
            assert_int_equal(gr_own_write(path, kind, "new", 3, NULL), GR_ERR_ARGUMENT);
            assert_false(gr_own_remove(path, kind));
            assert_string_equal(get(path), foreign[k]);
        }
    unlink(path);
}

// What is not there, and what is empty, may be written; nothing is left by a try, and removing nothing is done.
static void what_is_not_there(void **state) {
    (void)state;
    const char *path = at(outside, "new");
    assert_int_equal(gr_own_try(path, GR_OWN_REPORT, NULL), GR_OK);
    assert_int_equal(access(path, F_OK), -1);
    assert_true(gr_own_remove(path, GR_OWN_REPORT));
    put(path, "");
    assert_false(gr_own_is(path, GR_OWN_REPORT));
    assert_int_equal(gr_own_check(path, GR_OWN_REPORT, NULL), GR_OK);
    assert_int_equal(gr_own_write(path, GR_OWN_REPORT, "new", 3, NULL), GR_OK);
    assert_string_equal(get(path), "new");
    unlink(path);
    assert_int_not_equal(gr_own_try(at(outside, "no/such"), GR_OWN_REPORT, NULL), GR_OK);
    assert_int_not_equal(gr_own_check(outside, GR_OWN_REPORT, NULL), GR_OK); // a folder
    assert_int_equal(gr_own_check("/dev/null", GR_OWN_REPORT, NULL), GR_OK);
    assert_false(gr_own_remove("/dev/null", GR_OWN_REPORT));
}

// The file at a link's end decides, and the link stays; it is never removed as a file.
static void links_lead_to_what_decides(void **state) {
    (void)state;
    const char *file = at(outside, "file"), *link = at(outside, "link");
    assert_int_equal(symlink(file, link), 0);
    assert_int_equal(gr_own_check(link, GR_OWN_LOG, NULL), GR_OK); // leads nowhere yet
    put(file, "int main() {}\n");
    assert_int_equal(gr_own_write(link, GR_OWN_LOG, "new", 3, NULL), GR_ERR_ARGUMENT);
    put(file, "gpurace campaign: run 1\n");
    assert_false(gr_own_is(link, GR_OWN_LOG));
    assert_false(gr_own_remove(link, GR_OWN_LOG));
    assert_int_equal(gr_own_write(link, GR_OWN_LOG, "new", 3, NULL), GR_OK);
    assert_string_equal(get(file), "new");
    struct stat st;
    assert_int_equal(lstat(link, &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_false(gr_own_remove_link(link)); // in no folder of gpurace's
    unlink(link);
    unlink(file);
}

// In a folder that gpurace made anything may be written, not where a link leads out of it; a copy of the folder is not
// taken for it.
static void scratch_is_by_folder(void **state) {
    (void)state;
    const char *file = at(folder, "file"), *sub = at(folder, "sub"), *out = at(folder, "out");
    assert_true(gr_own_in_folder(folder) && gr_own_in_folder(file));
    assert_false(gr_own_in_folder(outside) || gr_own_in_folder("/") || gr_own_in_folder("file"));
    put(file, "anything");
    assert_int_equal(gr_own_write(file, GR_OWN_SCRATCH, "new", 3, NULL), GR_OK);
    assert_int_equal(mkdir(sub, 0700), 0);
    assert_true(gr_own_in_folder(at(sub, "deep")));
    assert_int_equal(symlink(outside, out), 0);
    assert_false(gr_own_in_folder(at(out, "escaped")));
    assert_int_equal(gr_own_write(at(out, "escaped"), GR_OWN_SCRATCH, "new", 3, NULL), GR_ERR_ARGUMENT);
    assert_true(gr_own_remove_link(out));
    assert_int_equal(access(outside, F_OK), 0);
    // The mark names the folder: copied elsewhere it means nothing.
    char mark[PATH_MAX];
    snprintf(mark, sizeof mark, "%s", get(at(folder, ".gpurace")));
    char copy[PATH_MAX];
    snprintf(copy, sizeof copy, "%s/copy", outside);
    assert_int_equal(mkdir(copy, 0700), 0);
    put(at(copy, ".gpurace"), mark);
    assert_false(gr_own_in_folder(at(copy, "file")));
    assert_int_not_equal(gr_own_remove_folder(copy, NULL), GR_OK);
    unlink(at(copy, ".gpurace"));
    assert_int_equal(rmdir(copy), 0);
}

static void only_own_folders_are_removed(void **state) {
    (void)state;
    char mine[PATH_MAX], theirs[PATH_MAX];
    gr_error err = {0};
    snprintf(theirs, sizeof theirs, "%s/theirs", outside);
    assert_int_equal(mkdir(theirs, 0700), 0);
    put(at(theirs, "kept"), "kept");
    assert_int_not_equal(gr_own_remove_folder(theirs, &err), GR_OK);
    assert_non_null(strstr(err.msg, "gpurace did not make it"));
    // What its links lead to stays.
    assert_int_equal(gr_own_folder(mine, "mine", NULL), GR_OK);
    assert_int_equal(symlink(theirs, at(mine, "link")), 0);
    assert_int_equal(mkdir(at(mine, "sub"), 0700), 0);
    put(at(mine, "sub/file"), "gone");
    assert_int_equal(gr_own_remove_folder(mine, NULL), GR_OK);
    assert_int_equal(access(mine, F_OK), -1);
    assert_string_equal(get(at(theirs, "kept")), "kept");
    unlink(at(theirs, "kept"));
    assert_int_equal(rmdir(theirs), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_go_by_their_marks), cmocka_unit_test(foreign_files_stay),
        cmocka_unit_test(what_is_not_there),       cmocka_unit_test(links_lead_to_what_decides),
        cmocka_unit_test(scratch_is_by_folder),    cmocka_unit_test(only_own_folders_are_removed),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
