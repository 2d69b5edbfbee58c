// SPDX-License-Identifier: Apache-2.0
// Machine code that keeps its PTX: what is put in reads back, all else stays where it was, and nothing malformed is
// read past its end: a cubin is read at the end of a page that is followed by an unreadable one.
#include "base/str.h"
#include "fatbin/cubin.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fence.h"

static const char text[] =
    "// a comment\n.version 9.0\n.target sm_90a, debug\n.address_size 64\n.visible .entry k() { ret; }\n";

enum { CODE = 300 };
// A cubin as ptxas lays one out: header, sections (names, code), section headers, and program headers behind them.
typedef struct Cubin {
    Elf64_Ehdr h;
    char names[32];
    char code[CODE];
    Elf64_Shdr sections[3];
    Elf64_Phdr programs[2];
} Cubin;

static Cubin make_cubin(void) {
    Cubin c = {.names = "\0.shstrtab\0.text.k"};
    memcpy(c.h.e_ident, ELFMAG, SELFMAG);
    c.h.e_ident[EI_CLASS] = ELFCLASS64;
    c.h.e_ident[EI_DATA] = ELFDATA2LSB;
    c.h.e_machine = EM_CUDA;
    c.h.e_shoff = offsetof(Cubin, sections);
    c.h.e_phoff = offsetof(Cubin, programs);
    c.h.e_shnum = 3;
    c.h.e_phnum = 2;
    c.h.e_shentsize = sizeof(Elf64_Shdr);
    c.h.e_phentsize = sizeof(Elf64_Phdr);
    c.h.e_shstrndx = 1;
    memset(c.code, 0x5a, sizeof c.code);
    c.sections[1] = (Elf64_Shdr){
        .sh_name = 1, .sh_type = SHT_STRTAB, .sh_offset = offsetof(Cubin, names), .sh_size = sizeof c.names};
    c.sections[2] = (Elf64_Shdr){
        .sh_name = 11, .sh_type = SHT_PROGBITS, .sh_offset = offsetof(Cubin, code), .sh_size = CODE};
    return c;
}

static void *make_containers(size_t n, size_t *len) {
    FatbinPtx ptx;
    void *one;
    size_t size;
    assert_true(gr_fatbin_describe(text, sizeof text - 1, &ptx));
    assert_int_equal(gr_fatbin_build(&ptx, 1, &one, &size, NULL), GR_OK);
    assert_int_equal(size % 8, 0);
    char *all = malloc(n * size);
    for (size_t k = 0; k < n; k++)
        memcpy(all + k * size, one, size);
    free(one);
    *len = n * size;
    return all;
}

static void test_describe(void **state) {
    (void)state;
    FatbinPtx p;
    assert_true(gr_fatbin_describe(at_fence(text, sizeof text - 1), sizeof text - 1, &p));
    assert_int_equal(p.sm, 90);
    assert_int_equal(p.suffix, 'a');
    assert_int_equal(p.major, 9);
    assert_int_equal(p.minor, 0);
    assert_true(gr_fatbin_describe(".version 8.5 .target /* x */ sm_80", 34, &p));
    assert_int_equal(p.sm, 80);
    assert_int_equal(p.suffix, 0);
    assert_int_equal(p.minor, 5);
    for (size_t len = 0; len < 39; len++) // up to the number of the target
        assert_false(gr_fatbin_describe(at_fence(text, len), len, &p) && p.sm == 90);
    assert_false(gr_fatbin_describe(".version x", 10, &p));
    assert_false(gr_fatbin_describe(".version 9.0 .target compute_90", 31, &p));
}

static void test_keep(void **state) {
    (void)state;
    Cubin c = make_cubin();
    size_t n, size, len, again;
    void *containers = make_containers(2, &n), *kept = NULL, *more;
    assert_int_equal(gr_cubin_size(at_fence(&c, sizeof c), sizeof c), sizeof c);
    assert_int_equal(gr_cubin_size(at_fence(&c, sizeof c), GR_FATBIN_UNBOUNDED), sizeof c);
    assert_null(gr_cubin_kept(&c, sizeof c, &size));
    assert_int_equal(gr_cubin_keep(at_fence(&c, sizeof c), sizeof c, containers, n, &kept, &len, NULL),
                     GR_OK);
    const Cubin *now = at_fence(kept, len);
    assert_int_equal(gr_cubin_size(now, GR_FATBIN_UNBOUNDED), len);
    const void *found = gr_cubin_kept(now, len, &size);
    assert_non_null(found);
    assert_int_equal(size, n);
    assert_memory_equal(found, containers, n);
    // What was there is where it was, apart from the header's way to the sections.
    assert_memory_equal((const char *)now + sizeof c.h, (const char *)&c + sizeof c.h, sizeof c - sizeof c.h);
    assert_int_equal(now->h.e_phoff, c.h.e_phoff);
    assert_int_equal(now->h.e_shnum, 4);
    const Elf64_Shdr *s = (const Elf64_Shdr *)((const char *)now + now->h.e_shoff);
    assert_int_equal(s[2].sh_offset, c.sections[2].sh_offset);
    assert_string_equal((const char *)now + s[1].sh_offset + s[2].sh_name, ".text.k");
    assert_string_equal((const char *)now + s[1].sh_offset + s[3].sh_name, ".gpurace.ptx");
    assert_int_equal(gr_cubin_keep(kept, len, containers, n, &more, &again, NULL), GR_ERR_ARGUMENT);
    free(kept);
    free(containers);
}

// Cut short anywhere, or with any byte of its headers changed: nothing is read past the end.
static void test_malformed(void **state) {
    (void)state;
    Cubin c = make_cubin();
    size_t n, size, len, ignored;
    void *containers = make_containers(1, &n), *kept = NULL, *out;
    assert_int_equal(gr_cubin_keep(&c, sizeof c, containers, n, &kept, &len, NULL), GR_OK);
    for (size_t k = 0; k < len; k++) {
        const void *cut = at_fence(kept, k);
        assert_int_equal(gr_cubin_size(cut, k), 0);
        gr_cubin_kept(cut, k, &size);
        if (gr_cubin_keep(cut, k, containers, n, &out, &ignored, NULL) == GR_OK)
            free(out);
    }
    size_t headers = ((Cubin *)kept)->h.e_shoff;
    for (size_t at = 0; at < len; at = at == sizeof(Elf64_Ehdr) - 1 ? headers : at + 1)
        for (int bit = 0; bit < 8; bit++) {
            char *changed = at_fence(kept, len);
            changed[at] ^= (char)(1 << bit);
            assert_true(gr_cubin_size(changed, len) <= len);
            const char *found = gr_cubin_kept(changed, len, &size);
            assert_true(!found || (found >= changed && size <= len && found + size <= changed + len));
            if (gr_cubin_keep(changed, len, containers, n, &out, &ignored, NULL) == GR_OK)
                free(out);
        }
    free(kept);
    free(containers);
    assert_int_equal(gr_cubin_size(text, sizeof text), 0);
    assert_int_equal(gr_cubin_keep(text, sizeof text, text, 8, &out, &ignored, NULL), GR_ERR_FORMAT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_describe),
        cmocka_unit_test(test_keep),
        cmocka_unit_test(test_malformed),
    };
    return cmocka_run_group_tests(tests, make_fence, NULL);
}
