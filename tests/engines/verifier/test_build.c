// SPDX-License-Identifier: Apache-2.0
// How a project is built: names of compilers, words of commands, paths, and which sources are in which program.
#include "engines/verifier/build/build.h"
#include "engines/verifier/build/compilers.h"
#include "engines/verifier/host/words.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *const none[] = {NULL};

static void test_compilers(void **state) {
    (void)state;
    assert_int_equal(gr_compiler_of("/usr/local/cuda/bin/nvcc"), GR_COMPILER_NVCC);
    assert_int_equal(gr_compiler_of("x86_64-linux-gnu-g++-12"), GR_COMPILER_HOST);
    assert_int_equal(gr_compiler_of("c++"), GR_COMPILER_HOST);
    assert_int_equal(gr_compiler_of("clang++-19"), GR_COMPILER_CLANG);
    assert_int_equal(gr_compiler_of("gcc-ar"), GR_COMPILER_AR);
    assert_int_equal(gr_compiler_of("cc1plus"), GR_COMPILER_NONE);
    assert_int_equal(gr_compiler_of("tar"), GR_COMPILER_NONE);
    assert_true(gr_is_compiler_launcher("/usr/bin/ccache"));
    assert_false(gr_is_compiler_launcher("make"));
}

static void assert_words(const char *text, const char *const *want) {
    Arena a;
    GrWords words = {0};
    gr_arena_init(&a);
    assert_int_equal(gr_split(&a, text, &words, NULL), GR_OK);
    for (size_t k = 0; k < words.len; k++) {
        assert_non_null(want[k]);
        assert_string_equal(words.data[k], want[k]);
    }
    assert_null(want[words.len]);
    gr_vec_free(&words);
    gr_arena_free(&a);
}

static void test_split(void **state) {
    (void)state;
    assert_words(" \n", none);
    assert_words("a  'b c'd \"\" e\\ f", (const char *const[]){"a", "b cd", "", "e f", NULL});
    assert_words("\"a\\\"b\\c\" 'x\\y'", (const char *const[]){"a\"b\\c", "x\\y", NULL});
}

static void test_paths(void **state) {
    (void)state;
    Arena a;
    gr_arena_init(&a);
    assert_string_equal(gr_build_path(&a, "/x/y", "../b/./c.o"), "/x/b/c.o");
    assert_string_equal(gr_build_path(&a, "/x", "../../.."), "/");
    assert_string_equal(gr_build_path(&a, "/x", "/z//a.o"), "/z/a.o");
    assert_string_equal(gr_build_path(&a, "/x", "..a/...b"), "/x/..a/...b");
    gr_arena_free(&a);
}

static void add(GrBuild *b, const char *text) {
    GrWords words = {0};
    assert_int_equal(gr_split(&b->arena, text, &words, NULL), GR_OK);
    assert_int_equal(gr_build_add_command(b, "/p", words.data, words.len, NULL), GR_OK);
    gr_vec_free(&words);
}

static void assert_program(const GrBuild *b, size_t number, size_t n, size_t first, size_t last) {
    assert_int_equal(b->programs.data[number].n, n);
    assert_int_equal(b->programs.data[number].sources[0], first);
    assert_int_equal(b->programs.data[number].sources[n - 1], last);
}

static void test_programs(void **state) {
    (void)state;
    GrBuild b;
    gr_build_init(&b, none);
    b.top = "/p";
    add(&b, "nvcc -dc a.cu -o o/a.o");                    // 0
    add(&b, "ccache g++ -O2 -c -Iinclude main.cpp");      // 1
    add(&b, "ar rcs lib/liba.a o/a.o");                   // an archive of 0
    add(&b, "nvcc -dlink main.o o/a.o -o dlink.o");       // device code alone
    add(&b, "g++ main.o dlink.o -Llib -la -lm -o one");   // 1 and 0
    add(&b, "gcc -shared -o libtwo.so two.c lib/liba.a"); // 2 and 0
    add(&b, "nvcc -o three three.cu ./libtwo.so");        // 3, and what libtwo.so has
    add(&b, "g++ -c alone.cc");                           // 4: in no program
    add(&b, "g++ -E other.cc");                           // makes nothing
    add(&b, "touch x.cu");
    assert_int_equal(b.sources.len, 5);
    assert_int_equal(b.reasons.len, 0);
    assert_int_equal(gr_build_find_programs(&b, NULL), GR_OK);
    assert_int_equal(b.programs.len, 3);
    assert_program(&b, 0, 2, 1, 0);
    assert_program(&b, 1, 3, 3, 0);
    assert_program(&b, 2, 1, 4, 4);
    assert_false(b.sources.data[0].host_only);
    assert_true(b.sources.data[1].host_only);
    assert_true(b.sources.data[2].c);
    assert_string_equal(b.sources.data[1].file, "/p/main.cpp");
    add(&b, "g++ -o four main.o old.o");
    assert_int_equal(b.reasons.len, 1);
    assert_non_null(strstr(b.reasons.data[0], "/p/old.o"));
    gr_build_free(&b);
}

static void assert_relocatable(const char *text, bool relocatable, size_t n_words) {
    Arena a;
    GrWords typed = {0};
    Words words;
    gr_arena_init(&a);
    assert_int_equal(gr_split(&a, text, &typed, NULL), GR_OK);
    assert_int_equal(gr_words_sort(&a, typed.data, typed.len, &words, NULL), GR_OK);
    assert_int_equal(words.relocatable, relocatable);
    assert_int_equal(words.user.len, n_words);
    bool named = false;
    for (size_t k = 0; k < words.user.len; k++)
        named |= !strcmp(words.user.data[k], "-rdc=true") || !strcmp(words.user.data[k], "true");
    assert_int_equal(named, relocatable);
    gr_words_free(&words);
    gr_vec_free(&typed);
    gr_arena_free(&a);
}

// What makes device code that is linked; -dc goes, and another word comes for it.
static void test_relocatable(void **state) {
    (void)state;
    assert_relocatable("-rdc=true", true, 1);
    assert_relocatable("-rdc true", true, 2);
    assert_relocatable("-dc -O2", true, 2);
    assert_relocatable("-rdc=true -dc", true, 1);
    assert_relocatable("-rdc=false", false, 1);
    assert_relocatable("-c -O2", false, 1);
    GrBuild b;
    gr_build_init(&b, none);
    add(&b, "clang++ -xcuda -O2 -fgpu-rdc -c x.cu");
    assert_string_equal(b.sources.data[0].words[0], "-rdc=true");
    gr_build_free(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_compilers), cmocka_unit_test(test_split),       cmocka_unit_test(test_paths),
        cmocka_unit_test(test_programs),  cmocka_unit_test(test_relocatable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
