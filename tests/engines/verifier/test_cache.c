// SPDX-License-Identifier: Apache-2.0
// Kept answers: the same question is not asked twice, every part of a question counts, and a damaged file is no answer.
#include "queries.h"

#include "engines/verifier/solve/cache.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[64];
static GrCache *cache;

static void open_as(const char *version) {
    gr_error err;
    gr_cache_close(cache);
    assert_int_equal(gr_cache_open(folder, version, &cache, &err), GR_OK);
    gr_solver_use(q.solver, cache);
}

// What a question is made of; each member makes another one.
typedef struct Parts {
    int64_t low, high, constant;
    uint32_t bits, size_a, size_b;
    GrTermOp compare;
    GrSymScope scope;
    bool wrap, overlap, swapped, more, same_symbol, read;
} Parts;
static const Parts usual = {.low = 0,
                            .high = 100,
                            .constant = 7,
                            .bits = 32,
                            .size_a = 4,
                            .size_b = 4,
                            .compare = GR_TERM_SLT,
                            .overlap = true};

static void build(const Parts *p) {
    q.n = 0;
    q.wrap = p->wrap;
    T x = sym(p->scope, p->bits, "x", p->low, p->high);
    T y = p->same_symbol ? x : sym(GR_SYM_LAUNCH, p->bits, "y", 0, 100);
    if (p->read)
        y = gr_term_read(&q.t, p->bits, gr_symbol(&q.t, GR_SYM_OBJECT, GR_SYM_LAUNCH, 32, "memory"), wide(y));
    must(op(p->compare, gr_term_const(&q.t, p->bits, (uint64_t)p->constant), p->swapped ? y : x));
    if (p->more)
        must(op(GR_TERM_SLT, x, gr_term_const(&q.t, p->bits, 90)));
    q.overlap = (GrOverlap){mul(wide(x), gr_term_const(&q.t, 64, 4)),
                            mul(wide(y), gr_term_const(&q.t, 64, 4)), p->size_a, p->size_b};
    q.has_overlap = p->overlap;
}

static bool is_asked(const Parts *p) {
    uint64_t before = gr_solver_counts(q.solver).asked;
    build(p);
    GrSolved s = solved();
    assert_true(s.answer == GR_ANSWER_NO || (s.answer == GR_ANSWER_YES && model_is_right(&s)));
    gr_solved_free(&s);
    return gr_solver_counts(q.solver).asked != before;
}

static int start(void **state) {
    (void)state;
    strcpy(folder, "/tmp/gpurace-test-cache-XXXXXX");
    begin();
    if (!mkdtemp(folder))
        return 1;
    open_as("1");
    return 0;
}

// Each file of the cache.
static unsigned each_file(void (*see)(const char *path)) {
    unsigned n = 0;
    DIR *top = opendir(folder);
    for (struct dirent *e; (e = readdir(top));) {
        char sub[400], path[700];
        snprintf(sub, sizeof sub, "%s/%s", folder, e->d_name);
        DIR *d = e->d_name[0] == '.' ? NULL : opendir(sub);
        for (struct dirent *f; d && (f = readdir(d));) {
            snprintf(path, sizeof path, "%s/%s", sub, f->d_name);
            if (f->d_name[0] == '.')
                continue;
            n++;
            if (see)
                see(path);
        }
        if (d)
            closedir(d);
        if (d && see && rmdir(sub))
            continue; // not empty
    }
    closedir(top);
    return n;
}

static void delete (const char *path) { unlink(path); }

static int stop(void **state) {
    (void)state;
    each_file(delete);
    end();
    gr_cache_close(cache);
    cache = NULL;
    return rmdir(folder);
}

static void test_parts(void **state) {
    (void)state;
    Parts other[] = {usual, usual, usual, usual, usual, usual, usual,
                     usual, usual, usual, usual, usual, usual, usual};
    unsigned n = 0;
    other[n++].low = 1;
    other[n++].high = 99;
    other[n++].constant = 8;
    other[n++].bits = 16;
    other[n++].size_a = 8;
    other[n++].size_b = 8;
    other[n++].compare = GR_TERM_SLE;
    other[n++].scope = GR_SYM_BLOCK;
    other[n++].wrap = true;
    other[n++].overlap = false;
    other[n++].swapped = true;
    other[n++].more = true;
    other[n++].same_symbol = true;
    other[n++].read = true;
    assert_int_equal(n, sizeof other / sizeof *other);
    assert_true(is_asked(&usual));
    assert_false(is_asked(&usual)); // with new symbols of the same kind
    for (unsigned k = 0; k < n; k++) {
        print_message("part %u\n", k);
        assert_true(is_asked(&other[k]));
        assert_false(is_asked(&other[k]));
    }
    assert_false(is_asked(&usual));
    open_as("2");
    assert_true(is_asked(&usual));
    open_as("1");
    assert_false(is_asked(&usual));
}

// The same answer and the same model, whether it is new or kept.
static void test_answers(void **state) {
    (void)state;
    for (unsigned k = 0; k < 3; k++) {
        Parts p = usual;
        p.constant = k == 0 ? 100 : 7; // nothing is above 100
        p.read = k == 2;
        build(&p);
        GrSolved fresh = solved(), kept = solved();
        assert_int_equal(fresh.answer, k ? GR_ANSWER_YES : GR_ANSWER_NO);
        assert_int_equal(kept.answer, fresh.answer);
        assert_string_equal(kept.how, fresh.how);
        assert_int_equal(kept.model.n_cells, fresh.model.n_cells);
        for (unsigned s = 0; k && s < q.t.n_symbols; s++)
            assert_int_equal(kept.model.values[s], fresh.model.values[s]);
        gr_solved_free(&fresh);
        gr_solved_free(&kept);
    }
    assert_int_equal(gr_solver_counts(q.solver).kept, 3);
}

static long cut;
static void shorten(const char *path) {
    struct stat is;
    assert_int_equal(stat(path, &is), 0);
    assert_int_equal(truncate(path, cut < is.st_size ? cut : is.st_size - 1), 0);
}
static void flip(const char *path) {
    FILE *f = fopen(path, "r+b");
    assert_non_null(f);
    fseek(f, cut, SEEK_SET);
    int c = fgetc(f);
    if (c != EOF) {
        fseek(f, cut, SEEK_SET);
        fputc(c ^ 1, f);
    }
    fclose(f);
}

static void discard(const char *path) { assert_int_equal(unlink(path), 0); }

// What was damaged is asked again, and is whole then. A file that has lost its mark (base/own.h) may be someone else's,
// and stays.
static void test_damaged(void (*damage)(const char *path), bool marked) {
    each_file(damage);
    assert_true(is_asked(&usual));
    assert_int_equal(is_asked(&usual), !marked);
    if (marked)
        return;
    each_file(discard);
    assert_true(is_asked(&usual));
}

static void test_damage(void **state) {
    (void)state;
    is_asked(&usual);
    assert_int_equal(each_file(NULL), 1);
    static const long cuts[] = {0, 1, 15, 16, 24, 31, 32, 100, 1L << 30}, mark = sizeof "gpurace answer " - 1;
    for (unsigned k = 0; k < sizeof cuts / sizeof *cuts; k++) {
        cut = cuts[k];
        test_damaged(shorten, !cut || cut >= mark);
    }
    for (cut = 0; cut < 400; cut += 9)
        test_damaged(flip, cut >= mark);
    assert_int_equal(each_file(NULL), 1);
}

static void test_folders(void **state) {
    (void)state;
    gr_error err;
    GrCache *c;
    assert_int_equal(gr_cache_open("/dev/null/x", "1", &c, &err), GR_ERR_IO);
    assert_non_null(strstr(err.msg, "/dev/null/x"));
    assert_int_equal(gr_cache_open("/dev/null", "1", &c, &err), GR_ERR_IO);
    assert_int_equal(gr_cache_open("", "1", &c, &err), GR_ERR_IO);
    assert_null(c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_parts, start, stop),
        cmocka_unit_test_setup_teardown(test_answers, start, stop),
        cmocka_unit_test_setup_teardown(test_damage, start, stop),
        cmocka_unit_test(test_folders),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
