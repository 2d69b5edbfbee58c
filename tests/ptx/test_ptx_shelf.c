// SPDX-License-Identifier: Apache-2.0
// test_shelf — bodies that are put away and taken out again: each is what the parser read, and takes little while it is
// away.
#include "ptx/ptx.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static PtxModule *read_text(const char *text, bool shelved) {
    PtxModule *m = NULL;
    gr_error err = {0};
    gr_status st = shelved ? gr_ptx_parse_shelved(text, strlen(text), "test", false, &m, &err)
                           : gr_ptx_parse(text, strlen(text), "test", &m, &err);
    if (st != GR_OK)
        fail_msg("%s", err.msg);
    return m;
}

static char *printed(const PtxModule *m) {
    StrBuf out = {0};
    gr_error err = {0};
    assert_int_equal(gr_ptx_print(m, 0, &out, &err), GR_OK);
    return gr_str_take(&out);
}

static void same_position(const PtxLoc *a, const PtxLoc *b) {
    for (; a && b; a = a->inlined_at, b = b->inlined_at) {
        assert_int_equal(a->file, b->file);
        assert_int_equal(a->line, b->line);
        assert_int_equal(a->col, b->col);
        assert_int_equal(a->id, b->id);
    }
    assert_true(!a && !b);
}

// Beside what is printed.
static void same_statements(const PtxFunc *a, const PtxFunc *b) {
    const PtxStmt *s = a->first, *t = b->first, *before = NULL;
    for (; s && t; before = t, s = s->next, t = t->next) {
        assert_int_equal(s->kind, t->kind);
        assert_int_equal(s->line, t->line);
        assert_int_equal(s->col, t->col);
        assert_int_equal(s->site, t->site);
        assert_ptr_equal(t->prev, before);
        same_position(s->loc, t->loc);
        if (t->site)
            assert_ptr_equal(b->module->sites[t->site].stmt, t);
        if (s->label)
            assert_true(s->label->index == t->label->index && s->label->uses == t->label->uses &&
                        t->label->stmt == t);
        if (s->kind != PTX_INSTR)
            continue;
        const PtxInstr *i = s->instr, *k = t->instr;
        assert_true(i->op == k->op && i->sem == k->sem && i->scope == k->scope && i->space == k->space &&
                    i->space2 == k->space2 && i->vec == k->vec && !memcmp(i->type, k->type, sizeof i->type));
        assert_string_equal(i->callee ? i->callee->name : "", k->callee ? k->callee->name : "");
    }
    assert_true(!s && !t && b->last == before);
    assert_int_equal(a->n_regs, b->n_regs);
    for (uint32_t k = 0; k < a->n_regs; k++) {
        assert_string_equal(a->regs[k]->name, b->regs[k]->name);
        assert_true(b->regs[k]->index == k && a->regs[k]->type == b->regs[k]->type &&
                    a->regs[k]->vec == b->regs[k]->vec && a->regs[k]->number == b->regs[k]->number);
    }
}

static void same_modules(const char *text) {
    gr_error err = {0};
    PtxModule *a = read_text(text, false), *b = read_text(text, true);
    assert_int_equal(a->n_sites, b->n_sites);
    assert_int_equal(a->n_funcs, b->n_funcs);
    for (unsigned round = 0; round < 2; round++) { // and again
        for (uint32_t k = 0; k < b->n_funcs; k++) {
            assert_true(!b->funcs[k]->first || b->funcs[k]->reg_params);
            assert_int_equal(gr_ptx_open(b->funcs[k], &err), GR_OK);
            assert_int_equal(gr_ptx_open(b->funcs[k], &err), GR_OK);
            gr_ptx_close(b->funcs[k]);
            same_statements(a->funcs[k], b->funcs[k]);
        }
        char *one = printed(a), *two = printed(b);
        assert_string_equal(one, two);
        free(one);
        free(two);
        for (uint32_t k = 0; k < b->n_funcs; k++)
            gr_ptx_close(b->funcs[k]);
    }
    for (uint32_t k = 1; k <= a->n_sites; k++) {
        const PtxSite *x = &a->sites[k], *y = &b->sites[k];
        assert_true(x->op == y->op && x->scope == y->scope && x->space == y->space &&
                    x->access == y->access && x->size == y->size && (!y->stmt || y->func->reg_params));
        assert_string_equal(x->func->name, y->func->name);
        same_position(x->loc, y->loc);
    }
    gr_ptx_free(a);
    gr_ptx_free(b);
}

static const char all[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n.file 1 \"a.cu\"\n.file 2 \"b.cu\"\n"
    ".global .align 4 .b8 there[16];\n"
    ".func (.reg .b32 %r) old(.reg .b32 %a) { .reg .pred %p; add.u32 %r, %a, 1; ret; }\n"
    ".func (.param .b32 r) next(.param .b32 a);\n"
    ".visible .entry k(.param .u64 p) {\n"
    ".reg .pred %p<3>; .reg .b32 %r<70000>, %solo; .reg .v4 .f32 %v<2>; .reg .b64 %rd<9>;\n"
    ".shared .align 4 .b8 here[64]; .global .u32 kept = 7; .pragma \"nounroll\";\n"
    ".loc 1 10 3\nld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x; mov.u32 %r69999, -5; mov.u32 %solo, 0x10U;\n"
    ".loc 2 20 5, inlined_at 1 10 3\n"
    "L: ld.global.v2.u32 {%r2, _}, [%rd1+-8]; st.shared.u32 [here+4], %r2; @!%p1 bra.uni L;\n"
    "setp.lt.and.s32 %p1|%p2, %r1, 7, !%p2; mov.f32 %v1.x, 0f3F800000; atom.global.add.u32 %r3, [%rd1], 1;\n"
    "{ .reg .b32 %r<4>; .param .b32 x; .param .b32 y; M: st.param.b32 [x], %r3; call.uni (y), next, (x); bra "
    "N; N: }\n"
    "proto: .callprototype (.param .b32 _) _ (.param .b32 _); mov.u64 %rd2, next;\n"
    "call (%r4), %rd2, (%r5), proto; ts: .branchtargets L, M2; brx.idx %r4, ts; M2:\n"
    "fs: .calltargets next; unheard.of.f8 %r1, what(ever), 3; mov.u64 %rd3, there+8; mov.b32 %r1, %clock;\n"
    "vadd.u32.u32.u32 %r1, %r2.b0, %r3.h1; red.release.cta.global.add.u32 [%rd1+0], %r1; ret; }\n"
    ".func (.param .b32 r) next(.param .b32 a) { .reg .b32 %r<2>; ld.param.u32 %r1, [a]; st.param.b32 [r], "
    "%r1; ret; }\n";

static void bodies_come_back(void **state) {
    (void)state;
    char *text;
    size_t len;
    gr_error err = {0};
    same_modules(all);
    assert_int_equal(gr_file_read(GR_TEST_DATA "/module.ptx", &text, &len, &err), GR_OK);
    same_modules(text);
    free(text);
}

// An instruction takes less than 32 bytes while it is away, and a kernel with all that is kept of it less than 1 KB.
static void they_take_little(void **state) {
    (void)state;
    enum { KERNELS = 1000, PAIRS = 4 };
    StrBuf text = {0};
    gr_str_add(&text, ".version 8.0\n.target sm_80\n.address_size 64\n");
    for (unsigned k = 0; k < KERNELS; k++) {
        gr_str_addf(&text,
                    ".visible .entry k%u(.param .u64 p) { .reg .b32 %%r<4>; .reg .b64 %%rd<4>; ld.param.u64 "
                    "%%rd1, [p];\n",
                    k);
        for (unsigned n = 0; n < PAIRS; n++)
            gr_str_addf(
                &text,
                "ld.global.u32 %%r1, [%%rd1+%u]; add.u32 %%r1, %%r1, 1; st.global.u32 [%%rd1+%u], %%r1;\n",
                n * 4, n * 4);
        gr_str_add(&text, "ret; }\n");
    }
    PtxModule *m = read_text(text.data, true);
    size_t kept = m->arena.total + m->texts.total;
    assert_true(kept / KERNELS < 1024 + 2 * PAIRS * sizeof(PtxSite) + 3 * PAIRS * 32);
    gr_ptx_free(m);
    gr_str_free(&text);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(bodies_come_back),
                                       cmocka_unit_test(they_take_little)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
