// SPDX-License-Identifier: Apache-2.0
// Building: what passes do to a module, and that the result reads back as the same thing.
#include "ptx_test.h"

static PtxStmt *insert(PtxFunc *f, PtxStmt *at, uint32_t site, const char *text, const PtxOperand *ops,
                       unsigned n) {
    PtxStmt *first = NULL;
    gr_error err = {0};
    if (gr_ptx_insert(f, at, site, text, ops, n, &first, &err) != GR_OK)
        fail_msg("%u:%u: %s", err.line, err.col, err.msg);
    return first;
}

// The printed module reads back, prints the same, and numbers the same sites.
static void check_reads_back(const PtxModule *m) {
    char *text = print(m, 0);
    PtxModule *again = parse_ours(text);
    char *second = print(again, 0);
    assert_string_equal(text, second);
    assert_int_equal(again->n_sites, m->n_sites);
    for (uint32_t k = 1; k <= m->n_sites; k++) {
        assert_int_equal(again->sites[k].access, m->sites[k].access);
        assert_string_equal(again->sites[k].func->name, m->sites[k].func->name);
    }
    free(text);
    free(second);
    gr_ptx_free(again);
}

static void test_insert(void **state) {
    (void)state;
    PtxModule *m = parse_body(".reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .pred %p<2>;\n.loc 1 2 3\n"
                              "@%p1 ld.global.v2.u32 {%r1, %r2}, [%rd1+8];\nret;");
    PtxFunc *f = m->funcs[0];
    PtxStmt *ld = nth_instr(f, 0);
    PtxReg *old = gr_ptx_new_reg(f, PTX_U32), *pred = gr_ptx_new_reg(f, PTX_PRED);
    PtxOperand guard = gr_ptx_reg_operand(ld->instr->guard);
    PtxOperand ops[] = {gr_ptx_reg_operand(old), ld->instr->operands[1], gr_ptx_reg_operand(pred), guard,
                        ld->instr->operands[0],  gr_ptx_int_operand(-5)};
    PtxStmt *first = insert(f, ld->next, 1,
                            "@!$3 bra skip;\n"
                            "ld.relaxed.gpu.global.u32 $0, $1;\n"
                            "ld.relaxed.gpu.global.u32 $0, [$1+4];\n"
                            "{ .reg .b32 t; mov.b32 t, $5; add.u32 t, t, %r3; bra skip; }\n"
                            "mov.b64 %rd2, $4;\n"
                            "setp.ne.u32 $2, $0, %r1;\n"
                            "skip:\n",
                            ops, 6);
    assert_ptr_equal(first->prev, ld);
    assert_ptr_equal(nth_instr(f, 1), first);
    assert_true(first->instr->guard_negated);
    assert_ptr_equal(first->instr->guard, ld->instr->guard);
    assert_ptr_equal(first->loc, ld->loc);
    assert_true(first->tag.inserted);
    assert_int_equal(first->tag.site, 1);
    assert_int_equal(first->line, 0);
    const PtxOperand *plain = &nth_instr(f, 2)->instr->operands[1],
                     *more = &nth_instr(f, 3)->instr->operands[1];
    assert_int_equal(plain->offset, 8);
    assert_int_equal(more->offset, 12);
    assert_ptr_equal(more->sub[0].reg, ld->instr->operands[1].sub[0].reg);
    assert_ptr_not_equal(more->sub, ld->instr->operands[1].sub); // nothing shared
    // %r3 had not been mentioned before: made on demand, in its declaration.
    const PtxReg *r3 = nth_instr(f, 5)->instr->operands[2].reg;
    assert_string_equal(r3->name, "%r3");
    assert_ptr_equal(r3->decl, ld->instr->operands[0].sub[0].reg->decl);
    // Both branches reach the one label, which has a name of its own.
    assert_ptr_equal(nth_instr(f, 6)->instr->operands[0].label, first->instr->operands[0].label);
    assert_ptr_equal(first->instr->operands[0].label->stmt->next, nth_instr(f, 9));
    assert_string_not_equal(first->instr->operands[0].label->name, "skip");
    insert(f, NULL, 0, "skip: bra skip;", NULL, 0); // no clash
    assert_int_equal(gr_ptx_number_sites(m, NULL), GR_OK);
    assert_int_equal(m->n_sites, 1);
    check_reads_back(m);
    char *text = print(m, 0);
    assert_contains(text, "/*@gr*/ .reg .u32 %gr0;");
    assert_contains(text, "/*@gr:1*/ @!%p1 bra $GR_");
    free(text);
    gr_ptx_free(m);
}

static void test_insert_labels_and_calls(void **state) {
    (void)state;
    PtxModule *m =
        parse(HEADER ".func (.param .b32 r) g(.param .b64 a);\n.global .u32 x;\n"
                     ".entry k(.param .u64 p)\n{ .reg .b64 %rd<2>; .local .b32 slot;\nend: ret; }");
    PtxFunc *k = gr_ptx_find_func(m, "k");
    PtxLabel *l = gr_ptx_new_label(k);
    PtxOperand ops[] = {gr_ptx_label_operand(l)};
    PtxStmt *ret = nth_instr(k, 0);
    insert(k, ret, 3,
           "bra $0; bra end;\n"
           "{ .param .b64 a; .param .b32 r; .reg .b64 t; mov.u64 t, x; st.param.b64 [a], t;\n"
           "call.uni (r), g, (a); ld.param.b64 %rd1, [r]; cvta.local.u64 t, slot; call.uni later; }\n",
           ops, 1);
    gr_ptx_insert_label(k, ret, l);
    assert_ptr_equal(l->stmt->next, ret);
    assert_ptr_equal(nth_instr(k, 0)->instr->operands[0].label, l);
    assert_string_equal(nth_instr(k, 1)->instr->operands[0].label->name, "end");
    assert_ptr_equal(nth_instr(k, 2)->instr->operands[1].var, gr_ptx_find_var(m, "x"));
    assert_ptr_equal(nth_instr(k, 4)->instr->callee, gr_ptx_find_func(m, "g"));
    assert_int_equal(nth_instr(k, 6)->instr->operands[1].var->space, PTX_LOCAL);
    assert_null(nth_instr(k, 7)->instr->callee); // a runtime's function, not linked yet
    check_reads_back(m);
    gr_ptx_free(m);
}

static void test_insert_errors(void **state) {
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"mov.b32 %r9, 1;", "register '%r9' is not declared"},
        {"mov.b32 %r1, nobody;", "'nobody' is not declared"},
        {"bra nowhere;", "label 'nowhere' is not defined"},
        {"mov.b32 $1, 1;", "$1 is not given"},
        {"}", "expected a statement"},
        {"{ ret;", "expected '}'"},
        {"mov.b32 %r1", "expected ';'"},
    };
    PtxModule *m = parse_body(".reg .b32 %r<4>; ret;");
    PtxFunc *f = m->funcs[0];
    PtxOperand op = gr_ptx_int_operand(1);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        gr_error err = {0};
        assert_int_equal(gr_ptx_insert(f, f->last, 1, cases[k].text, &op, 1, NULL, &err), GR_ERR_SYNTAX);
        if (!strstr(err.msg, cases[k].message))
            fail_msg("%s: %s", cases[k].text, err.msg);
    }
    assert_ptr_equal(f->first->next, f->last); // nothing was inserted
    gr_ptx_free(m);
}

static void test_scope_of_inserted_names(void **state) {
    (void)state;
    PtxModule *m =
        parse_body(".reg .b32 x;\n{ .reg .b64 x; { .reg .f32 x; } mov.b64 x, 0; }\n mov.b32 x, 1;");
    PtxFunc *f = m->funcs[0];
    PtxStmt *inner = nth_instr(f, 0), *outer = nth_instr(f, 1);
    assert_int_equal(insert(f, inner, 0, "mov.b64 x, 2;", NULL, 0)->instr->operands[0].reg->type, PTX_B64);
    assert_int_equal(insert(f, outer, 0, "mov.b32 x, 2;", NULL, 0)->instr->operands[0].reg->type, PTX_B32);
    // A name declared by inserted text is found by text inserted later.
    insert(f, f->first, 0, ".reg .b64 seed; .shared .b32 slot;", NULL, 0);
    assert_int_equal(insert(f, NULL, 0, "mov.u64 seed, slot;", NULL, 0)->instr->operands[1].kind, PTX_O_VAR);
    insert(f, NULL, 0, "mov.u64 seed, parameter;", NULL, 0);
    check_reads_back(m);
    gr_ptx_free(m);
}

// Names that a pass makes stay fresh when a rewritten module is rewritten again.
static void test_fresh_names(void **state) {
    (void)state;
    PtxModule *m = parse_body("ret;");
    PtxReg *r = gr_ptx_new_reg(m->funcs[0], PTX_B32);
    insert(m->funcs[0], NULL, 0, "a: bra a;", NULL, 0);
    char *text = print(m, 0);
    PtxModule *again = parse_ours(text);
    PtxReg *other = gr_ptx_new_reg(again->funcs[0], PTX_B32);
    assert_string_not_equal(r->name, other->name);
    PtxStmt *l = insert(again->funcs[0], NULL, 0, "a: bra a;", NULL, 0);
    assert_null(strstr(text, l->label->name));
    check_reads_back(again);
    free(text);
    gr_ptx_free(again);
    gr_ptx_free(m);
}

static void test_link(void **state) {
    (void)state;
    PtxModule *m =
        parse(".version 6.0\n.target sm_60\n.address_size 64\n.extern .func report(.param .b32 a);\n"
              ".global .u32 mine;\n.entry k()\n{ .reg .b32 r; ld.global.u32 r, [mine];\n"
              "{ .param .b32 a; call.uni report, (a); } ret; }\n");
    PtxModule *rt =
        parse(".version 7.8\n.target sm_70\n.address_size 64\n.global .align 8 .u64 buffer = mine;\n"
              ".global .u32 mine;\n.func helper();\n"
              ".func report(.param .b32 a)\n{ .reg .b64 %rd<2>; .loc 1 2 3\n"
              "L: ld.global.u64 %rd1, [buffer]; call.uni helper; st.global.u64 [mine], %rd1; ret; }\n"
              ".func helper() { ret; }\n.file 1 \"runtime.c\"\n");
    gr_error err = {0};
    if (gr_ptx_link_runtime(m, rt, &err) != GR_OK)
        fail_msg("%s", err.msg);
    gr_ptx_free(rt); // nothing of it is kept
    assert_int_equal(m->version_major, 7);
    assert_int_equal(m->version_minor, 8);
    assert_int_equal(m->sm, 70);
    assert_string_equal(m->targets[0], "sm_70");
    PtxFunc *report = gr_ptx_find_func(m, "report");
    assert_true(report->has_body && report->tag.inserted);
    assert_ptr_equal(nth_instr(gr_ptx_find_func(m, "k"), 1)->instr->callee, report);
    assert_ptr_equal(nth_instr(report, 1)->instr->callee, gr_ptx_find_func(m, "helper"));
    assert_ptr_equal(nth_instr(report, 2)->instr->operands[0].sub[0].var, gr_ptx_find_var(m, "mine"));
    assert_int_equal(m->n_sites, 1);
    assert_int_equal(gr_ptx_number_sites(m, NULL), GR_OK);
    assert_int_equal(m->n_sites, 1); // none of the runtime's
    assert_int_equal(m->n_files, 0);
    check_reads_back(m);
    char *text = print(m, 0);
    assert_contains(text, "/*@gr*/ .func report(");
    assert_contains(text, "/*@gr*/ .global .align 8 .u64 buffer = mine;");
    assert_null(strstr(text, ".loc"));
    free(text);
    gr_ptx_free(m);
}

// Thirty thousand insertions into a large function, by name: seconds at the most, where looking through the function
// for each name would take an hour.
static void test_many_insertions(void **state) {
    (void)state;
    enum { N = 30000 };
    StrBuf s = {0};
    gr_str_add(&s,
               HEADER ".global .u32 x;\n.func g();\n.entry k()\n{ .reg .b32 %r<40000>; .reg .b64 %rd<2>;\n");
    for (int k = 0; k < N; k++)
        gr_str_addf(&s, "ld.global.u32 %%r%d, [%%rd1+%d];\n", k, k);
    gr_str_add(&s, "}\n");
    PtxModule *m = parse(s.data);
    PtxFunc *f = gr_ptx_find_func(m, "k");
    for (uint32_t k = 1; k <= m->n_sites; k++) {
        PtxReg *r = gr_ptx_new_reg(f, PTX_U64);
        s.len = 0;
        gr_str_addf(&s, "mov.u64 %s, x; call.uni g; call.uni missing; L%u: bra L%u;", r->name, k, k);
        insert(f, m->sites[k].stmt, k, s.data, NULL, 0);
    }
    assert_int_equal(f->n_regs, 2 * N + 1);
    gr_str_free(&s);
    gr_ptx_free(m);
}

static void test_raise(void **state) {
    (void)state;
    PtxModule *m = parse(".version 7.0\n.target sm_90a, debug\n");
    gr_ptx_raise(m, 6, 3, 70);
    assert_int_equal(m->version_major, 7);
    assert_int_equal(m->sm, 90);
    gr_ptx_raise(m, 7, 1, 100);
    assert_int_equal(m->version_minor, 1);
    assert_string_equal(m->targets[0], "sm_100a");
    assert_string_equal(m->targets[1], "debug");
    gr_error err = {0};
    StrBuf s = {0};
    assert_int_equal(gr_ptx_print(m, PTX_PRINT_RENAME_LABELS, &s, &err), GR_ERR_ARGUMENT);
    gr_str_free(&s);
    gr_ptx_free(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_insert),        cmocka_unit_test(test_insert_labels_and_calls),
        cmocka_unit_test(test_insert_errors), cmocka_unit_test(test_scope_of_inserted_names),
        cmocka_unit_test(test_fresh_names),   cmocka_unit_test(test_link),
        cmocka_unit_test(test_raise),         cmocka_unit_test(test_many_insertions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
