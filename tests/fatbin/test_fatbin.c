// SPDX-License-Identifier: Apache-2.0
// Fatbin containers: what is built reads back, what nvcc wrote reads right, and nothing malformed is read past its end.
// Arguments: containers that nvcc wrote (tests/fuzz/corpus/fatbin). Every container is read at the end of a page that
// is followed by an unreadable one, so that reading one byte too many crashes in every build.
#include "base/str.h"
#include "fatbin/fatbin.h"
#include "fatbin/layout.h"

#include <lz4.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include <cmocka.h>

#include "fence.h"

static char **samples;
static int n_samples;

// ---- Making containers by hand ---------------------------------------------------------------------------------

static const char text[] = "\n.version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k() { ret; }\n";

// A container of one PTX entry with this payload; the caller frees it.
static uint8_t *pack(uint64_t flags, const void *payload, size_t packed, uint64_t unpacked, size_t *len) {
    size_t padded = (packed + 7) / 8 * 8;
    RawHeader h = {GR_FATBIN_MAGIC, 1, sizeof h, sizeof(RawEntry) + padded};
    RawEntry e = {.kind = 1,
                  .always_0101 = 0x0101,
                  .header_size = sizeof e,
                  .padded_size = padded,
                  .major = 9,
                  .sm = 90};
    e.flags = flags | FATBIN_F_64BIT | FATBIN_F_LINUX;
    e.packed_size = (uint32_t)packed;
    e.unpacked_size = unpacked;
    *len = sizeof h + h.size;
    uint8_t *p = calloc(1, *len);
    assert_non_null(p);
    memcpy(p, &h, sizeof h);
    memcpy(p + sizeof h, &e, sizeof e);
    memcpy(p + sizeof h + sizeof e, payload, packed);
    return p;
}

// Parses, unpacks all that can be unpacked; returns the status of the first failure.
static gr_status read_all(const void *data, size_t len) {
    Arena a;
    Fatbin *fb;
    gr_error err;
    gr_arena_init(&a);
    gr_status st = gr_fatbin_parse(data, len, &a, &fb, &err);
    for (size_t i = 0; st == GR_OK && i < fb->count; i++) {
        const FatbinEntry *e = &fb->entries[i];
        char *out;
        size_t n;
        assert_true((const uint8_t *)e->payload + e->packed_size <= (const uint8_t *)data + fb->size);
        st = gr_fatbin_unpack(e, &out, &n, &err);
        if (st == GR_OK) {
            assert_true(n == e->size && out[n] == '\0');
            free(out);
        }
    }
    gr_arena_free(&a);
    return st;
}

static void expect_ptx(const void *data, size_t len, const char *expected) {
    Arena a;
    Fatbin *fb;
    char *out;
    size_t n;
    gr_arena_init(&a);
    assert_int_equal(gr_fatbin_parse(data, len, &a, &fb, NULL), GR_OK);
    assert_int_equal(fb->count, 1);
    assert_int_equal(gr_fatbin_ptx(&fb->entries[0], &out, &n, NULL), GR_OK);
    assert_string_equal(out, expected);
    assert_int_equal(n, strlen(expected));
    free(out);
    gr_arena_free(&a);
}

// ---- Reading ---------------------------------------------------------------------------------------------------

static void zstd_and_lz4_unpack(void **state) {
    (void)state;
    char packed[1024];
    size_t len, n = ZSTD_compress(packed, sizeof packed, text, sizeof text, 3);
    assert_false(ZSTD_isError(n));
    uint8_t *p = pack(FATBIN_F_ZSTD, packed, n, sizeof text, &len);
    expect_ptx(at_fence(p, len), len, text);
    expect_ptx(at_fence(p, len), GR_FATBIN_UNBOUNDED, text);
    free(p);

    n = (size_t)LZ4_compress_default(text, packed, sizeof text, sizeof packed);
    p = pack(FATBIN_F_LZ4, packed, n, sizeof text, &len);
    expect_ptx(at_fence(p, len), len, text);
    free(p);
}

static void a_size_that_is_not_the_payloads_is_refused(void **state) {
    (void)state;
    char packed[1024];
    size_t len, n = ZSTD_compress(packed, sizeof packed, text, sizeof text, 3);
    size_t lz = (size_t)LZ4_compress_default(text, packed + 512, sizeof text, 512);
    static const int off[] = {-1, 1};
    for (size_t i = 0; i < 2; i++) {
        uint8_t *p = pack(FATBIN_F_ZSTD, packed, n, sizeof text + (size_t)off[i], &len);
        assert_int_equal(read_all(p, len), GR_ERR_FORMAT);
        free(p);
        p = pack(FATBIN_F_LZ4, packed + 512, lz, sizeof text + (size_t)off[i], &len);
        assert_int_equal(read_all(p, len), GR_ERR_FORMAT);
        free(p);
    }
}

// A frame that truly unpacks to 64 MiB, and sizes that are lies: refused before memory is taken.
static void bombs_are_refused(void **state) {
    (void)state;
    size_t big = 64 << 20, len;
    char *zeros = calloc(1, big), *packed = malloc(ZSTD_compressBound(big));
    assert_true(zeros && packed);
    size_t n = ZSTD_compress(packed, ZSTD_compressBound(big), zeros, big, 19);
    assert_true(n * GR_FATBIN_MAX_RATIO < big);
    uint8_t *p = pack(FATBIN_F_ZSTD, packed, n, big, &len);
    assert_int_equal(read_all(p, len), GR_ERR_LIMIT);
    free(p);
    p = pack(FATBIN_F_LZ4, packed, n, UINT64_MAX, &len);
    assert_int_equal(read_all(p, len), GR_ERR_LIMIT);
    free(p);
    p = pack(FATBIN_F_ZSTD, packed, n, GR_FATBIN_MAX_UNPACKED + 1, &len);
    assert_int_equal(read_all(p, len), GR_ERR_LIMIT);
    free(p);
    free(zeros);
    free(packed);
}

static void a_foreign_container_says_what_it_is(void **state) {
    (void)state;
    Arena a;
    Fatbin *fb;
    gr_error err;
    gr_arena_init(&a);
    static const char zeros[64];
    assert_int_equal(gr_fatbin_parse(zeros, sizeof zeros, &a, &fb, &err), GR_ERR_FORMAT);
    assert_string_equal(err.msg, "not a fatbin: it starts with 0x00000000");
    RawHeader h = {GR_FATBIN_MAGIC, 2, sizeof h, 0};
    assert_int_equal(gr_fatbin_parse(&h, sizeof h, &a, &fb, &err), GR_ERR_UNSUPPORTED);
    assert_string_equal(err.msg, "fatbin of version 2, known is 1");
    h = (RawHeader){GR_FATBIN_MAGIC, 1, sizeof h, 0};
    assert_int_equal(gr_fatbin_parse(&h, sizeof h, &a, &fb, &err), GR_OK);
    assert_int_equal(fb->count, 0);
    gr_arena_free(&a);
}

// ---- What nvcc wrote -------------------------------------------------------------------------------------------

static void each_sample(void (*check)(const char *data, size_t len)) {
    assert_true(n_samples >= 6);
    for (int i = 0; i < n_samples; i++) {
        char *data;
        size_t len;
        assert_int_equal(gr_file_read(samples[i], &data, &len, NULL), GR_OK);
        check(data, len);
        free(data);
    }
}

static void check_whole(const char *data, size_t len) {
    assert_int_equal(read_all(at_fence(data, len), len), GR_OK);
    assert_int_equal(read_all(at_fence(data, len), GR_FATBIN_UNBOUNDED), GR_OK);
}

static void check_truncated(const char *data, size_t len) {
    for (size_t n = 0; n < len; n++)
        assert_int_equal(read_all(at_fence(data, n), n), GR_ERR_FORMAT);
}

// Any byte may be anything: reading ends, with whatever status, inside of the container.
static void check_corrupt(const char *data, size_t len) {
    uint8_t *copy = malloc(len);
    assert_non_null(copy);
    size_t refused = 0;
    for (size_t i = 0; i < len; i++) {
        static const uint8_t flips[] = {0xff, 0x80, 0x01};
        for (size_t k = 0; k < sizeof flips; k++) {
            memcpy(copy, data, len);
            copy[i] ^= flips[k];
            refused += read_all(at_fence(copy, len), len) != GR_OK;
        }
    }
    assert_true(refused > 30); // the magic, version and sizes at the very least
    free(copy);
}

static void samples_read(void **state) {
    (void)state;
    each_sample(check_whole);
}

static void truncated_at_every_length(void **state) {
    (void)state;
    each_sample(check_truncated);
}

static void corrupt_at_every_byte(void **state) {
    (void)state;
    each_sample(check_corrupt);
}

// ---- Choosing --------------------------------------------------------------------------------------------------

typedef struct Target {
    uint32_t sm;
    char suffix;
} Target;

// The best of `targets` for `cc`: its index, -1 for none.
static int best(const Target *targets, size_t n, uint32_t cc, FatbinPrefer prefer) {
    FatbinEntry e[8] = {{0}};
    for (size_t i = 0; i < n; i++)
        e[i] = (FatbinEntry){.kind = FATBIN_PTX, .sm = targets[i].sm, .suffix = targets[i].suffix};
    Fatbin fb = {.entries = e, .count = n};
    const FatbinEntry *b = gr_fatbin_best_ptx(&fb, cc, prefer);
    return b ? (int)(b - e) : -1;
}

static void the_latest_ptx_that_fits_is_chosen(void **state) {
    (void)state;
    static const Target plain[] = {{75, 0}, {90, 0}, {80, 0}, {100, 0}};
    assert_int_equal(best(plain, 4, 90, FATBIN_PREFER_SPECIFIC), 1);
    assert_int_equal(best(plain, 4, 89, FATBIN_PREFER_SPECIFIC), 2);
    assert_int_equal(best(plain, 4, 121, FATBIN_PREFER_SPECIFIC), 3);
    assert_int_equal(best(plain, 4, 70, FATBIN_PREFER_SPECIFIC), -1);

    static const Target special[] = {{90, 0}, {90, 'a'}, {100, 'f'}, {100, 'a'}, {100, 0}};
    assert_int_equal(best(special, 5, 90, FATBIN_PREFER_SPECIFIC), 1);
    assert_int_equal(best(special, 5, 90, FATBIN_PREFER_PLAIN), 0);
    assert_int_equal(best(special, 5, 100, FATBIN_PREFER_SPECIFIC), 3);
    assert_int_equal(best(special, 5, 100, FATBIN_PREFER_PLAIN), 4);
    assert_int_equal(best(special, 5, 103, FATBIN_PREFER_SPECIFIC),
                     2); // the family has it, the architecture not
    assert_int_equal(best(special, 5, 120, FATBIN_PREFER_SPECIFIC), 4);
    assert_int_equal(best(special + 1, 3, 120, FATBIN_PREFER_PLAIN), -1);
    assert_int_equal(best(special + 1, 1, 90, FATBIN_PREFER_PLAIN), 0);
}

static void cubins_are_never_chosen(void **state) {
    (void)state;
    FatbinEntry e = {.kind = FATBIN_CUBIN, .sm = 90};
    Fatbin fb = {.entries = &e, .count = 1};
    assert_null(gr_fatbin_best_ptx(&fb, 90, FATBIN_PREFER_SPECIFIC));
}

// ---- Building --------------------------------------------------------------------------------------------------

static void what_is_built_reads_back(void **state) {
    (void)state;
    const FatbinPtx in[] = {
        {.text = text, .len = sizeof text - 1, .sm = 90, .major = 9, .minor = 0, .flags = FATBIN_F_ZSTD},
        {.text = "", .sm = 100, .suffix = 'f', .major = 8, .minor = 6, .options = "--compile-only "},
        {.text = text,
         .len = 20,
         .sm = 90,
         .suffix = 'a',
         .flags = FATBIN_F_DEBUG,
         .options = "-g",
         .source = "a.cu"},
    };
    void *blob;
    size_t len;
    Arena a;
    Fatbin *fb;
    gr_arena_init(&a);
    assert_int_equal(gr_fatbin_build(in, 3, &blob, &len, NULL), GR_OK);
    assert_int_equal(len % 8, 0);
    assert_int_equal(gr_fatbin_parse(at_fence(blob, len), GR_FATBIN_UNBOUNDED, &a, &fb, NULL), GR_OK);
    assert_int_equal(fb->size, len);
    assert_int_equal(fb->count, 3);
    for (size_t i = 0; i < 3; i++) {
        const FatbinEntry *e = &fb->entries[i];
        char *out;
        size_t n;
        assert_true(e->kind == FATBIN_PTX && e->packing == FATBIN_STORED);
        assert_true(e->sm == in[i].sm && e->suffix == in[i].suffix);
        assert_true(e->major == in[i].major && e->minor == in[i].minor);
        assert_int_equal(e->flags & FATBIN_F_DEBUG, in[i].flags & FATBIN_F_DEBUG);
        assert_string_equal(e->options ? e->options : "none", in[i].options ? in[i].options : "none");
        assert_string_equal(e->source ? e->source : "none", in[i].source ? in[i].source : "none");
        assert_int_equal(gr_fatbin_ptx(e, &out, &n, NULL), GR_OK);
        assert_int_equal(n, in[i].len);
        assert_memory_equal(out, in[i].text, n);
        free(out);
    }
    free(blob);
    gr_arena_free(&a);
}

// As nvcc 13.0 does: a driver reads the options of an entry that has none, too.
static void options_are_written_where_there_are_none(void **state) {
    (void)state;
    const FatbinPtx in = {.text = text, .len = 8, .sm = 90};
    void *blob;
    size_t len;
    assert_int_equal(gr_fatbin_build(&in, 1, &blob, &len, NULL), GR_OK);
    RawEntry e;
    RawString s;
    memcpy(&e, (char *)blob + sizeof(RawHeader), sizeof e);
    assert_int_equal(e.header_size, 80);
    assert_int_equal(e.options, 64);
    memcpy(&s, (char *)blob + sizeof(RawHeader) + e.options, sizeof s);
    assert_int_equal(s.offset, 72);
    assert_int_equal(s.len, 0);
    free(blob);
}

static void many_entries_read_back(void **state) {
    (void)state;
    FatbinPtx in[100];
    for (unsigned i = 0; i < 100; i++)
        in[i] = (FatbinPtx){.text = text, .len = i % 70, .sm = i};
    void *blob;
    size_t len;
    Arena a;
    Fatbin *fb;
    gr_arena_init(&a);
    assert_int_equal(gr_fatbin_build(in, 100, &blob, &len, NULL), GR_OK);
    assert_int_equal(gr_fatbin_parse(blob, len, &a, &fb, NULL), GR_OK);
    assert_int_equal(fb->count, 100);
    for (unsigned i = 0; i < 100; i++)
        assert_int_equal(fb->entries[i].sm, i);
    free(blob);
    gr_arena_free(&a);
}

// ---- Wrappers and images ---------------------------------------------------------------------------------------

static void wrappers_of_both_versions(void **state) {
    (void)state;
    Arena a;
    const void **all, *extra[] = {"one", "two", NULL};
    size_t n;
    gr_error err;
    gr_arena_init(&a);
    FatbinWrapper w = {GR_FATBIN_WRAPPER_MAGIC, 1, "data", NULL};
    assert_int_equal(gr_fatbin_wrapper(&w, &a, &all, &n, &err), GR_OK);
    assert_true(n == 1 && all[0] == w.data);
    w = (FatbinWrapper){GR_FATBIN_WRAPPER_MAGIC, 2, "data", extra};
    assert_int_equal(gr_fatbin_wrapper(&w, &a, &all, &n, &err), GR_OK);
    assert_true(n == 3 && all[0] == extra[0] && all[1] == extra[1] && all[2] == w.data);
    w.version = 3;
    assert_int_equal(gr_fatbin_wrapper(&w, &a, &all, &n, &err), GR_ERR_UNSUPPORTED);
    w.magic = 0;
    assert_int_equal(gr_fatbin_wrapper(&w, &a, &all, &n, &err), GR_ERR_FORMAT);
    gr_arena_free(&a);
}

static ImageKind kind_at_fence(const void *data, size_t len, bool bounded) {
    return gr_image_kind(at_fence(data, len), bounded ? len : GR_FATBIN_UNBOUNDED);
}

static void images_are_recognised(void **state) {
    (void)state;
    assert_int_equal(kind_at_fence(text, sizeof text, false), IMAGE_PTX);
    static const char commented[] = "//\n// Generated\n/* and */\t.version 9.0";
    assert_int_equal(kind_at_fence(commented, sizeof commented, false), IMAGE_PTX);
    assert_int_equal(kind_at_fence(commented, sizeof commented - 1, true), IMAGE_PTX);
    static const char *const unknown[] = {"",        "x",     "abc",       "// only",
                                          "/* open", ".vers", "int main;", "\177EL"};
    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++) {
        assert_int_equal(kind_at_fence(unknown[i], strlen(unknown[i]) + 1, false), IMAGE_UNKNOWN);
        assert_int_equal(kind_at_fence(unknown[i], strlen(unknown[i]), true), IMAGE_UNKNOWN);
    }
    FatbinWrapper w = {GR_FATBIN_WRAPPER_MAGIC, 1, NULL, NULL};
    assert_int_equal(kind_at_fence(&w, sizeof w, false), IMAGE_WRAPPER);
    assert_int_equal(kind_at_fence(&w, 8, true), IMAGE_UNKNOWN);
    RawHeader h = {GR_FATBIN_MAGIC, 1, sizeof h, 0};
    assert_int_equal(kind_at_fence(&h, sizeof h, false), IMAGE_FATBIN);
    uint8_t elf[64] = {0x7f, 'E', 'L', 'F', 2, 1};
    elf[18] = 190;
    assert_int_equal(kind_at_fence(elf, sizeof elf, true), IMAGE_CUBIN);
    elf[18] = 62;
    assert_int_equal(kind_at_fence(elf, sizeof elf, false), IMAGE_ELF);
    assert_int_equal(gr_image_kind(NULL, 0), IMAGE_UNKNOWN);
}

int main(int argc, char **argv) {
    samples = argv + 1;
    n_samples = argc - 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(zstd_and_lz4_unpack),
        cmocka_unit_test(a_size_that_is_not_the_payloads_is_refused),
        cmocka_unit_test(bombs_are_refused),
        cmocka_unit_test(a_foreign_container_says_what_it_is),
        cmocka_unit_test(samples_read),
        cmocka_unit_test(truncated_at_every_length),
        cmocka_unit_test(corrupt_at_every_byte),
        cmocka_unit_test(the_latest_ptx_that_fits_is_chosen),
        cmocka_unit_test(cubins_are_never_chosen),
        cmocka_unit_test(what_is_built_reads_back),
        cmocka_unit_test(options_are_written_where_there_are_none),
        cmocka_unit_test(many_entries_read_back),
        cmocka_unit_test(wrappers_of_both_versions),
        cmocka_unit_test(images_are_recognised),
    };
    return cmocka_run_group_tests(tests, make_fence, NULL);
}
