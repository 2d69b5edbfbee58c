// SPDX-License-Identifier: Apache-2.0
// Unit tests of src/base.
#include "base/arena.h"
#include "base/demangle.h"
#include "base/map.h"
#include "base/outfile.h"
#include "base/regex.h"
#include "base/rng.h"
#include "base/status.h"
#include "base/str.h"
#include "base/vec.h"

#include <fcntl.h>
#include <limits.h>
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

static void arena_hands_out_zeroed_aligned_memory(void **state) {
    (void)state;
    Arena a;
    gr_arena_init(&a);
    for (size_t n = 1; n < 300000; n = n * 3 + 1) {
        unsigned char *p = gr_arena_alloc(&a, n);
        assert_non_null(p);
        assert_int_equal((uintptr_t)p % 16, 0);
        for (size_t i = 0; i < n; i++)
            assert_int_equal(p[i], 0);
        memset(p, 0xa5, n);
    }
    assert_null(gr_arena_array(&a, SIZE_MAX / 2, 4));
    assert_string_equal(gr_arena_printf(&a, "%d-%s", 7, "x"), "7-x");
    gr_arena_free(&a);
}

static void intern_makes_equal_strings_one_pointer(void **state) {
    (void)state;
    Arena a;
    Interner in;
    gr_arena_init(&a);
    gr_intern_init(&in, &a);
    const char *first = gr_intern(&in, "ld.global", 2);
    assert_string_equal(first, "ld");
    char buf[16];
    for (int i = 0; i < 5000; i++) {
        int n = snprintf(buf, sizeof buf, "%%r%d", i);
        assert_string_equal(gr_intern(&in, buf, (size_t)n), buf);
    }
    assert_ptr_equal(gr_intern(&in, "ld", 2), first);
    gr_intern_free(&in);
    gr_arena_free(&a);
}

static void map_survives_growth_and_removal(void **state) {
    (void)state;
    Map m = {0};
    for (uint64_t i = 0; i < 10000; i++)
        assert_true(gr_map_put_u64(&m, i * 64, (void *)(uintptr_t)(i + 1)));
    for (uint64_t i = 0; i < 10000; i += 2)
        assert_ptr_equal(gr_map_remove_u64(&m, i * 64), (void *)(uintptr_t)(i + 1));
    for (uint64_t i = 0; i < 10000; i++)
        assert_ptr_equal(gr_map_get_u64(&m, i * 64), i % 2 ? (void *)(uintptr_t)(i + 1) : NULL);
    for (uint64_t i = 0; i < 10000; i += 2)
        assert_true(gr_map_put_u64(&m, i * 64, (void *)(uintptr_t)(i + 7)));
    assert_ptr_equal(gr_map_get_u64(&m, 128), (void *)(uintptr_t)9);
    assert_null(gr_map_get(&m, "absent"));
    assert_true(gr_map_put(&m, "name", &m));
    assert_ptr_equal(gr_map_get(&m, "name"), &m);
    gr_map_free(&m);
}

static void rng_streams_are_stable_and_independent(void **state) {
    (void)state;
    Rng a = gr_rng_fork(1, 2, 3), b = gr_rng_fork(1, 2, 3), c = gr_rng_fork(1, 2, 4);
    uint64_t x = gr_rng_next(&a);
    assert_int_equal(x, gr_rng_next(&b));
    assert_int_not_equal(x, gr_rng_next(&c));
    for (int i = 0; i < 1000; i++)
        assert_true(gr_rng_below(&a, 7) < 7);
}

static void errors_read_well(void **state) {
    (void)state;
    gr_error e;
    char buf[128];
    assert_int_equal(gr_fail_at(&e, GR_ERR_SYNTAX, "a.ptx", 3, 9, "expected %s", "';'"), GR_ERR_SYNTAX);
    assert_string_equal(gr_error_text(&e, buf, sizeof buf), "a.ptx:3:9: expected ';'");
    assert_int_equal(gr_fail(NULL, GR_ERR_IO, "dropped"), GR_ERR_IO);
}

static void files_are_read_and_written_whole(void **state) {
    (void)state;
    char path[] = "/tmp/gr_test_base_XXXXXX", *text;
    size_t len;
    gr_error e;
    close(mkstemp(path));
    assert_int_equal(gr_file_write(path, "a\0b", 3, &e), GR_OK);
    assert_int_equal(gr_file_read(path, &text, &len, &e), GR_OK);
    assert_int_equal(len, 3);
    assert_memory_equal(text, "a\0b", 4);
    free(text);
    unlink(path);
    assert_int_equal(gr_file_read(path, &text, &len, &e), GR_ERR_IO);
    assert_non_null(strstr(e.msg, path));
}

static void pipes_and_devices_stay_what_they_are(void **state) {
    (void)state;
    char folder[] = "/tmp/gpurace-test-XXXXXX", path[64], seen[4] = "";
    struct stat now;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/pipe", folder);
    assert_int_equal(mkfifo(path, 0600), 0);
    int fd = open(path, O_RDWR | O_NONBLOCK);
    assert_true(fd >= 0);
    assert_int_equal(gr_file_write(path, "abc", 3, NULL), GR_OK);
    assert_int_equal(read(fd, seen, sizeof seen), 3);
    assert_string_equal(seen, "abc");
    assert_int_equal(stat(path, &now), 0);
    assert_true(S_ISFIFO(now.st_mode));
    close(fd);
    unlink(path);
    rmdir(folder);
}

// What gr_format writes into a buffer of each size up to one more than fits is what snprintf writes.
#define FORMATS_AS_C(...)                                                                                    \
    do {                                                                                                     \
        char ours[64], theirs[64];                                                                           \
        int n = snprintf(NULL, 0, __VA_ARGS__);                                                              \
        for (size_t size = 0; size <= (size_t)n + 2; size++) {                                               \
            memset(ours, 'x', sizeof ours);                                                                  \
            memset(theirs, 'x', sizeof theirs);                                                              \
            assert_int_equal(snprintf(theirs, size, __VA_ARGS__), n);                                        \
            assert_int_equal(gr_format(ours, size, __VA_ARGS__), n);                                         \
            assert_memory_equal(ours, theirs, size < (size_t)n + 1 ? size : (size_t)n + 1);                  \
            assert_int_equal(ours[size], 'x');                                                               \
        }                                                                                                    \
    } while (0)

static void formats_are_those_of_c(void **state) {
    (void)state;
    const char *volatile none = NULL;
    FORMATS_AS_C("plain");
    FORMATS_AS_C("%s and %u, %s", "text", 0u, "");
    FORMATS_AS_C("%u%u", UINT_MAX, 1234567890u);
    FORMATS_AS_C("%s %5.2f %s %u%%", "a", 2.5, "after", 7u);
    FORMATS_AS_C("%u %08llx|%-4s|%c", 3u, 0xabcull, "l", 'z');
    FORMATS_AS_C("100%% %s%%", "of");
    FORMATS_AS_C("%s!", none);
}

static void added_formats_make_room(void **state) {
    (void)state;
    StrBuf s = {0};
    gr_str_addf(&s, "%s", "");
    for (unsigned k = 0; k < 1000; k++)
        gr_str_addf(&s, "%s%u,", "n", k);
    assert_int_equal(strlen(s.data), s.len);
    assert_int_equal(s.len, 1000 * 2 + 10 + 90 * 2 + 900 * 3);
    assert_string_equal(s.data + s.len - 5, "n999,");
    gr_str_free(&s);
}

static bool compiles(const char *text) {
    regex_t re;
    gr_error err = {0};
    gr_status st = gr_regex_compile(&re, text, &err);
    if (st == GR_OK)
        regfree(&re);
    else
        assert_true(st == GR_ERR_ARGUMENT && err.msg[0]);
    return st == GR_OK;
}

// glibc would take all memory for some of these.
static void expressions_have_a_bound(void **state) {
    (void)state;
    static const char *const fine[] = {
        "",          "^add",          "a+b*c?",       "(ab+)+", "[[:alpha:]_]+", "[]+++++++++++++++]",
        "a{255}",    "x|(y|z){1,20}", "\\+\\+\\+\\+", "a**",    "[^]]+",         "void k<(int|float)>",
        "((a+b)*c)+"};
    static const char *const not [] = {"(",
                                       "[",
                                       "a{3,1}",
                                       "(a{100}){200}",
                                       "((((a{9}){9}){9}){9}){9}",
                                       "[[:nothing:]]",
                                       "a{99999999999999999999}",
                                       "a++()++++++++++)++++++",
                                       "((((((((a+)+)+)+)+)+)+)+)"};
    for (size_t k = 0; k < sizeof fine / sizeof *fine; k++)
        if (!compiles(fine[k]))
            fail_msg("%s is refused", fine[k]);
    for (size_t k = 0; k < sizeof not / sizeof *not ; k++)
        if (compiles(not [k]))
            fail_msg("%s is taken", not [k]);
    char many[1000];
    memset(many, '+', sizeof many);
    many[0] = 'a';
    many[sizeof many - 1] = 0;
    assert_false(compiles(many));
    memset(many, '(', sizeof many - 1);
    assert_false(compiles(many));
    memset(many, ')', sizeof many - 1);
    compiles(many);
    memset(many, 'a', sizeof many - 1);
    assert_true(compiles(many));
}

static void names_are_demangled(void **state) {
    (void)state;
    static const struct {
        const char *name, *is;
    } names[] = {
        {"_Z1kPi", "k(int*)"},
        {"kernel", "kernel"},
        {"__nv_static_22__4f8ac668_5_st_cu_main__Z4statPi", "stat(int*)"},
        {"__nv_static_22__7e62dcf5_5_st_cu_main__ZN33_GLOBAL__N__7e62dcf5_5_st_cu_main5innerEPi",
         "(anonymous namespace)::inner(int*)"},
        {"__nv_static_22__4f8ac668_5_st_cu_main_plain", "plain"},
        {"__nv_static_22__4f8ac668_5_st_cu_main_", "__nv_static_22__4f8ac668_5_st_cu_main_"},
        {"__nv_static_99__4f8ac668_5_st_cu_main_plain", "__nv_static_99__4f8ac668_5_st_cu_main_plain"},
        {"__nv_static_x_a", "__nv_static_x_a"},
        {"__nv_static_18446744073709551615_a", "__nv_static_18446744073709551615_a"},
    };
    Arena arena;
    gr_arena_init(&arena);
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        assert_string_equal(gr_demangle(names[k].name, &arena), names[k].is);
    assert_null(gr_demangle(NULL, &arena));
    gr_arena_free(&arena);
}

// _Z1kI5TupleI5TupleI...iEEEvT_: n of them in one another.
static char *nested_name(size_t n) {
    StrBuf b = {0};
    gr_str_add(&b, "_Z1kI");
    for (size_t k = 0; k < n; k++)
        gr_str_add(&b, "5TupleI");
    gr_str_add(&b, "i");
    for (size_t k = 0; k < n; k++)
        gr_str_add(&b, "E");
    gr_str_add(&b, "EvT_");
    assert_false(b.oom);
    return b.data;
}

// The C++ library takes 1024 bytes at most. Where libiberty was found, longer names are spelled out, too; without it,
// and where they are too long for that or no names, they stay as they are.
static void long_names_are_demangled(void **state) {
    (void)state;
    static const size_t lengths[] = {10, 120, 200, 400};
    Arena arena = {0};
    for (size_t k = 0; k < 4; k++) {
        char *name = nested_name(lengths[k]);
        const char *is = gr_demangle(name, &arena);
#ifndef GR_HAVE_LIBIBERTY
        if (strlen(name) > 1024) {
            assert_string_equal(is, name);
            free(name);
            continue;
        }
#endif
        assert_int_equal(strncmp(is, "void k<Tuple<Tuple<", 19), 0);
        assert_int_equal(strlen(is), 15 + 16 * lengths[k]); // "Tuple<" and " >" twice
        free(name);
    }
    for (size_t n = 1000; n <= 1000000; n *= 10) { // names that nest deep, and that end too early
        char *name = nested_name(n);
        (void)gr_demangle(name, &arena);
        name[strlen(name) - 5] = 0;
        assert_string_equal(gr_demangle(name, &arena), name);
        memset(name + 4, 'P', strlen(name) - 4);
        (void)gr_demangle(name, &arena);
        free(name);
    }
    gr_arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formats_are_those_of_c),
        cmocka_unit_test(added_formats_make_room),
        cmocka_unit_test(arena_hands_out_zeroed_aligned_memory),
        cmocka_unit_test(intern_makes_equal_strings_one_pointer),
        cmocka_unit_test(map_survives_growth_and_removal),
        cmocka_unit_test(rng_streams_are_stable_and_independent),
        cmocka_unit_test(errors_read_well),
        cmocka_unit_test(files_are_read_and_written_whole),
        cmocka_unit_test(pipes_and_devices_stay_what_they_are),
        cmocka_unit_test(names_are_demangled),
        cmocka_unit_test(long_names_are_demangled),
        cmocka_unit_test(expressions_have_a_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
