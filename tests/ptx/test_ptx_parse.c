// SPDX-License-Identifier: Apache-2.0
// Parsing: what the IR says of a text. Printing is checked with it wherever a spelling matters.
#include "ptx_test.h"

static void test_header(void **state) {
    (void)state;
    PtxModule *m = parse("// hello\n.version 8.7\n.target sm_100a, texmode_independent\n.address_size 64\n"
                         "/* a */ .global .u32 x;");
    assert_int_equal(m->version_major, 8);
    assert_int_equal(m->version_minor, 7);
    assert_int_equal(m->sm, 100);
    assert_int_equal(m->sm_suffix, 'a');
    assert_false(m->debug);
    assert_int_equal(m->n_targets, 2);
    assert_int_equal(m->address_size, 64);
    assert_int_equal(m->n_vars, 1);
    gr_ptx_free(m);
}

static void test_instruction(void **state) {
    (void)state;
    PtxModule *m = parse_body(".reg .b32 %r<4>; .reg .b64 %rd<5>; .reg .pred %p<2>;\n"
                              "@!%p1 ld.relaxed.gpu.global.L1::no_allocate.v2.u32 {%r1, _}, [%rd4+-8];");
    PtxStmt *s = nth_instr(m->funcs[0], 0);
    const PtxInstr *i = s->instr;
    assert_int_equal(i->op, PTX_OP_LD);
    assert_true(i->guard_negated);
    assert_string_equal(i->guard->name, "%p1");
    assert_int_equal(i->sem, PTX_RELAXED);
    assert_int_equal(i->scope, PTX_SCOPE_GPU);
    assert_int_equal(i->space, PTX_GLOBAL);
    assert_int_equal(i->vec, 2);
    assert_int_equal(i->type[0], PTX_U32);
    assert_int_equal(i->type[1], PTX_NOTYPE);
    assert_true(gr_ptx_instr_has(i, PTX_MOD_L1__no_allocate));
    assert_int_equal(i->n_operands, 2);
    assert_int_equal(i->operands[0].kind, PTX_O_VECTOR);
    assert_int_equal(i->operands[0].n_sub, 2);
    assert_int_equal(i->operands[0].sub[1].kind, PTX_O_SINK);
    assert_int_equal(i->operands[1].kind, PTX_O_ADDRESS);
    assert_string_equal(i->operands[1].sub[0].reg->name, "%rd4");
    assert_int_equal(i->operands[1].offset, -8);
    assert_int_equal(s->line, 7);
    StrBuf b = {0};
    gr_ptx_print_stmt(s, &b);
    assert_string_equal(b.data, "@!%p1 ld.relaxed.gpu.global.L1::no_allocate.v2.u32 {%r1, _}, [%rd4+-8];");
    gr_str_free(&b);
    gr_ptx_free(m);
}

static void check_operand(const char *operand, PtxOperandKind kind, uint64_t bits) {
    StrBuf b = {0};
    gr_str_addf(&b, ".reg .b32 %%r<2>; mov.b32 %%r1, %s;", operand);
    PtxModule *m = parse_body(b.data);
    const PtxOperand *o = &nth_instr(m->funcs[0], 0)->instr->operands[1];
    if (o->kind != kind || o->bits != bits)
        fail_msg("%s: kind %d bits %llx", operand, o->kind, (unsigned long long)o->bits);
    char *text = print(m, 0);
    b.len = 0;
    gr_str_addf(&b, ", %s;", operand); // numbers print as they were spelled
    assert_contains(text, b.data);
    free(text);
    gr_str_free(&b);
    gr_ptx_free(m);
}

static void test_constants(void **state) {
    (void)state;
    check_operand("0", PTX_O_INT, 0);
    check_operand("-1", PTX_O_INT, UINT64_MAX);
    check_operand("-0", PTX_O_INT, 0);
    check_operand("42U", PTX_O_INT, 42);
    check_operand("0x7fU", PTX_O_INT, 0x7f);
    check_operand("0b101", PTX_O_INT, 5);
    check_operand("017", PTX_O_INT, 15);
    check_operand("18446744073709551615", PTX_O_INT, UINT64_MAX);
    check_operand("-9223372036854775808", PTX_O_INT, UINT64_C(1) << 63);
    check_operand("0f3F800000", PTX_O_F32, 0x3f800000);
    check_operand("0F3f800000", PTX_O_F32, 0x3f800000);
    check_operand("0d3FF0000000000000", PTX_O_F64, UINT64_C(0x3ff0000000000000));
    check_operand("1.5", PTX_O_F64, UINT64_C(0x3ff8000000000000));
    check_operand("-1.5e0", PTX_O_F64, UINT64_C(0xbff8000000000000));
    check_operand("-0f3F800000", PTX_O_F32, 0xbf800000);
    check_operand("WARP_SZ", PTX_O_INT, 32);
    check_operand("(1 << 4) + WARP_SZ*2", PTX_O_INT, 80);
    check_operand("1 ? 7 : 1/0x1", PTX_O_INT, 7);
    check_operand("~0 & 0xff", PTX_O_INT, 0xff);
    check_operand("-8 >> 1", PTX_O_INT, (uint64_t)-4);
    check_operand("(.u64)-8 >> 1", PTX_O_INT, (uint64_t)-8 >> 1);
    check_operand("1 + 2 == 3 && !0", PTX_O_INT, 1);
    check_operand("7 % 4 - 5", PTX_O_INT, (uint64_t)-2);
}

static void test_scopes(void **state) {
    (void)state;
    PtxModule *m = parse_body(".reg .b32 %r<3>, x;\n mov.b32 %r1, x;\n"
                              "{ .reg .b32 %r<2>; .reg .pred x; mov.b32 %r1, 1; @x bra L; L: }\n"
                              "{ bra L; L: bra out; }\n"
                              "mov.b32 %r1, x;\n out: ret;");
    const PtxFunc *f = m->funcs[0];
    PtxReg *outer = nth_instr(f, 0)->instr->operands[0].reg, *inner = nth_instr(f, 1)->instr->operands[0].reg;
    assert_ptr_not_equal(outer, inner);
    assert_ptr_equal(nth_instr(f, 5)->instr->operands[0].reg, outer);
    assert_int_equal(nth_instr(f, 2)->instr->guard->type, PTX_PRED);
    assert_int_equal(nth_instr(f, 5)->instr->operands[1].reg->type, PTX_B32);
    PtxLabel *first = nth_instr(f, 2)->instr->operands[0].label,
             *second = nth_instr(f, 3)->instr->operands[0].label;
    assert_ptr_not_equal(first, second);
    assert_non_null(first->stmt);
    assert_non_null(second->stmt);
    const PtxLabel *out = nth_instr(f, 4)->instr->operands[0].label;
    assert_ptr_equal(out->stmt->label, out);
    assert_ptr_equal(out->stmt->next, nth_instr(f, 6));
    char *text = print(m, PTX_PRINT_RENUMBER_REGS | PTX_PRINT_RENAME_LABELS);
    assert_null(strstr(text, "%r1"));
    assert_null(strstr(text, "L:"));
    PtxModule *again = parse(text); // resolves to the same shape
    assert_int_equal(again->funcs[0]->n_regs, f->n_regs);
    free(text);
    gr_ptx_free(again);
    gr_ptx_free(m);
}

static void test_register_ranges(void **state) {
    (void)state;
    PtxModule *m = parse_body(".reg .b32 %r<4000000000>; .reg .b64 %a1<5>; .reg .b32 %a<20>;\n"
                              "mov.b32 %r3999999999, %r0; mov.b64 %a11, %a10; mov.b32 %a9, %a19;");
    const PtxFunc *f = m->funcs[0];
    assert_int_equal(f->n_regs, 6);
    assert_int_equal(nth_instr(f, 0)->instr->operands[0].reg->number, 3999999999u);
    // %a10 and %a11 are in both ranges, of which the one of the longer number is found first; %a19 is in one only.
    assert_int_equal(nth_instr(f, 2)->instr->operands[1].reg->type, PTX_B32);
    gr_ptx_free(m);
}

static void test_vector_and_video_operands(void **state) {
    (void)state;
    const char *body = ".reg .v4 .f32 %v; .reg .f32 %f<3>; .reg .b32 %r<4>; .reg .pred t, q;\n"
                       "add.f32 %f1, %v.x, %v.w;\n"
                       "vadd.s32.u32.s32.sat %r1, %r2.b0, -%r3.h1;\n"
                       "setp.eq.and.s32 t|q, %r1, %r2, !t;\n"
                       "mov.u32 %r1, %tid.x;\n"
                       "shfl.sync.down.b32 %r1|t, %r2, 1, 31, -1;";
    PtxModule *m = parse_body(body);
    const PtxFunc *f = m->funcs[0];
    const PtxInstr *add = nth_instr(f, 0)->instr;
    assert_int_equal(add->operands[1].elem, 'x');
    assert_int_equal(add->operands[1].reg->vec, 4);
    assert_string_equal(nth_instr(f, 1)->instr->operands[1].text, ".b0");
    const PtxInstr *setp = nth_instr(f, 2)->instr;
    assert_int_equal(setp->operands[0].kind, PTX_O_PAIR);
    assert_true(setp->operands[3].negated);
    assert_int_equal(nth_instr(f, 3)->instr->operands[1].kind, PTX_O_SREG);
    assert_string_equal(nth_instr(f, 3)->instr->operands[1].text, "%tid.x");
    char *text = print(m, 0);
    assert_contains(text, "add.f32 %f1, %v.x, %v.w;");
    assert_contains(text, "vadd.s32.u32.s32.sat %r1, %r2.b0, -%r3.h1;");
    assert_contains(text, "setp.eq.and.s32 t|q, %r1, %r2, !t;");
    free(text);
    gr_ptx_free(m);
}

static void test_calls(void **state) {
    (void)state;
    PtxModule *m =
        parse(HEADER ".extern .func (.param .b32 r) g(.param .b64 a);\n"
                     ".func (.param .b32 r) g2(.param .b64 a) .noreturn { trap; }\n"
                     ".global .u64 t[2] = {g, g2};\n"
                     ".entry k()\n{ .reg .b64 %rd<3>;\n"
                     "{ .param .b64 param0; st.param.b64 [param0+0], %rd1; .param .b32 retval0;\n"
                     "call.uni (retval0), \n g, \n(\nparam0\n);\n }\n"
                     "proto : .callprototype (.param .b32 _) _ (.param .align 8 .b8 _[16]) .noreturn;\n"
                     "call (_), %rd2, (_), proto;\n"
                     "targets: .calltargets g, g2;\n"
                     "call %rd2, targets;\n"
                     "call g2;\n mov.u64 %rd1, g2; ret; }");
    PtxFunc *k = gr_ptx_find_func(m, "k");
    const PtxInstr *i = nth_instr(k, 1)->instr;
    PtxCallParts c = gr_ptx_call_parts(i);
    assert_int_equal(c.rets->n_sub, 1);
    assert_int_equal(c.rets->sub[0].kind, PTX_O_VAR);
    assert_string_equal(c.callee->text, "g");
    assert_int_equal(c.params->n_sub, 1);
    assert_null(c.proto);
    assert_ptr_equal(i->callee, gr_ptx_find_func(m, "g"));
    c = gr_ptx_call_parts(nth_instr(k, 2)->instr);
    assert_int_equal(c.callee->kind, PTX_O_REG);
    assert_int_equal(c.proto->stmt->kind, PTX_PROTOTYPE);
    assert_int_equal(c.proto->stmt->proto->n_params, 1);
    assert_int_equal(c.proto->stmt->proto->params[0]->size, 16);
    assert_true(c.proto->stmt->proto->noreturn);
    c = gr_ptx_call_parts(nth_instr(k, 3)->instr);
    assert_int_equal(c.proto->stmt->kind, PTX_TARGETS);
    assert_int_equal(c.proto->stmt->n_targets, 2);
    assert_string_equal(c.proto->stmt->target_funcs[1], "g2");
    assert_true(nth_instr(k, 4)->instr->callee->noreturn);
    assert_int_equal(nth_instr(k, 5)->instr->operands[1].kind, PTX_O_FUNC);
    gr_ptx_free(m);
}

static void test_functions(void **state) {
    (void)state;
    PtxModule *m = parse(
        HEADER ".visible .entry a(.param .u64 .ptr .global .align 16 p, .param .align 8 .b8 s[24])\n"
               ".maxntid 256, 2\n.reqnctapercluster 2, 1, 1 .minnctapersm 3 .explicitcluster\n"
               ".pragma \"nounroll\";\n{ ret; }\n"
               ".weak .func .attribute(.unified(1, 2)) (.reg .b32 %ret) old(.reg .b32 %x, .reg .f32 %y)\n"
               "{ add.u32 %ret, %x, 1; ret; }\n"
               ".func impl() { ret; }\n.func name();\n.alias name, impl;\n");
    PtxFunc *a = gr_ptx_find_func(m, "a");
    assert_true(a->is_entry && a->is_visible && a->has_body && a->explicit_cluster);
    assert_int_equal(a->maxntid[0], 256);
    assert_int_equal(a->maxntid[1], 2);
    assert_int_equal(a->maxntid[2], 1);
    assert_int_equal(a->reqcluster[0], 2);
    assert_int_equal(a->reqntid[0], 0);
    assert_true(a->params[0]->is_ptr);
    assert_int_equal(a->params[1]->size, 24);
    assert_int_equal(a->params[1]->align, 8);
    PtxFunc *old = gr_ptx_find_func(m, "old");
    assert_true(old->is_weak && old->reg_params);
    assert_int_equal(old->n_rets, 1);
    assert_ptr_equal(nth_instr(old, 0)->instr->operands[1].reg, old->params[0]->reg);
    assert_ptr_equal(gr_ptx_find_func(m, "name"), gr_ptx_find_func(m, "impl"));
    char *text = print(m, 0);
    assert_contains(text, ".param .u64 .ptr .global .align 16 p");
    assert_contains(text, ".weak .func .attribute(.unified(1, 2)) (.reg .b32 %ret) old(");
    assert_contains(text, ".pragma \"nounroll\";\n{");
    free(text);
    text = print(m, PTX_PRINT_RENUMBER_REGS);
    assert_null(strstr(text, "%ret"));
    free(text);
    gr_ptx_free(m);
}

static void test_variables(void **state) {
    (void)state;
    PtxModule *m = parse(HEADER ".const .align 4 .f32 t[2][3] = {{1.5, 0f3F800000}, {-2}};\n"
                                ".visible .global .attribute(.managed) .align 8 .u64 q[] = {generic(t)+4, "
                                "t-4, 0xff00(t), (1<<4)+WARP_SZ};\n"
                                ".extern .shared .align 16 .b8 dyn[];\n"
                                ".global .v4 .u32 v = {1, 2, 3, 4};\n"
                                ".global .b8 b = -1, c[4];\n"
                                ".common .global .s16 n = -2;\n"
                                ".global .texref tex = {filter_mode = nearest};\n"
                                ".weak .global .f64 d = 1;\n");
    PtxVar *t = gr_ptx_find_var(m, "t");
    assert_int_equal(t->ndims, 2);
    assert_int_equal(t->count, 6);
    assert_int_equal(t->size, 24);
    assert_int_equal(t->n_init, 4);
    assert_int_equal(t->init[0].bits, 0x3fc00000);
    assert_int_equal(t->init[2].bits, 0); // the row's rest
    assert_int_equal(t->init[3].bits, 0xc0000000);
    PtxVar *q = gr_ptx_find_var(m, "q");
    assert_true(q->is_managed && q->is_visible);
    assert_int_equal(q->count, 4);
    assert_true(q->init[0].generic);
    assert_string_equal(q->init[0].symbol, "t");
    assert_int_equal(q->init[0].bits, 4);
    assert_int_equal((int64_t)q->init[1].bits, -4);
    assert_int_equal(q->init[2].mask_byte, 2);
    assert_int_equal(q->init[3].bits, 48);
    PtxVar *dyn = gr_ptx_find_var(m, "dyn");
    assert_true(dyn->is_extern);
    assert_int_equal(dyn->count, 0);
    assert_int_equal(dyn->size, 0);
    assert_int_equal(gr_ptx_find_var(m, "v")->size, 16);
    assert_int_equal(gr_ptx_find_var(m, "v")->n_init, 4);
    assert_int_equal(gr_ptx_find_var(m, "b")->init[0].bits, 0xff);
    assert_int_equal(gr_ptx_find_var(m, "c")->size, 4);
    assert_int_equal(gr_ptx_find_var(m, "n")->init[0].bits, 0xfffe);
    assert_int_equal(gr_ptx_find_var(m, "tex")->type, PTX_TYPE_OTHER);
    assert_string_equal(gr_ptx_find_var(m, "tex")->type_text, "texref");
    assert_int_equal(gr_ptx_find_var(m, "d")->init[0].bits, UINT64_C(0x3ff0000000000000));
    char *text = print(m, 0);
    assert_contains(text, ".extern .shared .align 16 .b8 dyn[];");
    assert_contains(text, ".global .v4 .u32 v = {1, 2, 3, 4};");
    // Without the source's spelling the elements are written out.
    t->init_text = q->init_text = NULL;
    free(text);
    text = print(m, 0);
    assert_contains(text, "t[2][3] = {0f3FC00000, 0f3F800000, 0f00000000, 0fC0000000};");
    assert_contains(text, "{generic(t)+4, t+-4, 0xFF00(t), 48};");
    free(text);
    gr_ptx_free(m);
}

static void test_locs(void **state) {
    (void)state;
    PtxModule *m = parse(
        HEADER ".entry k()\n{ .reg .b32 %r<2>;\n mov.b32 %r1, 0;\n.loc 1 10 3\n mov.b32 %r1, 1;\n"
               ".loc\t1 20 5, function_name $L__s0, inlined_at 1 10 3\n mov.b32 %r1, 2;\n"
               ".loc 2 30 7, function_name $L__s1+2, inlined_at 1 20 5\n mov.b32 %r1, 3;\n"
               ".loc 1 10 3\n ret;\n}\n"
               ".file 1 \"a.cu\"\n.file 2 \"b.h\", 5, 6\n"
               ".section .debug_str\n{\n$L__s0:\n.b8 102,111\n.b8 111,0\n$L__s1:\n.b8 95,95,103,0\n}\n");
    const PtxFunc *f = m->funcs[0];
    assert_null(nth_instr(f, 0)->loc);
    const PtxLoc *l = nth_instr(f, 3)->loc;
    assert_int_equal(l->line, 30);
    assert_string_equal(l->function, "g");
    assert_string_equal(gr_ptx_file(m, l->file), "b.h");
    assert_string_equal(l->inlined_at->function, "foo");
    assert_int_equal(l->inlined_at->line, 20);
    assert_ptr_equal(l->inlined_at->inlined_at, nth_instr(f, 1)->loc);
    assert_null(l->inlined_at->inlined_at->inlined_at);
    assert_null(l->inlined_at->inlined_at->function);
    assert_ptr_equal(nth_instr(f, 4)->loc, nth_instr(f, 1)->loc);
    assert_null(gr_ptx_file(m, 3));
    char *text = print(m, PTX_PRINT_RENAME_LABELS);
    assert_contains(text, ".loc\t1 20 5, function_name $L__s0, inlined_at 1 10 3");
    assert_contains(text, "$L__s0:\n.b8 102,111");
    free(text);
    gr_ptx_free(m);
}

// Compilers write bytes that are no ASCII, quotes and backslashes as C does. What comes out again is what was written.
static void test_file_names(void **state) {
    (void)state;
    static const struct {
        const char *written, *is;
    } names[] = {{"gr\\303\\244\\303\\237lich.cu", "gr\303\244\303\237lich.cu"},
                 {"a \\\"q\\\" b\\\\s %41.cu", "a \"q\" b\\s %41.cu"},
                 {"\\\\303\\n\\t\\1x\\0018", "\\303\n\t\001x\0018"},
                 {"\303\244 as it is.cu", "\303\244 as it is.cu"},
                 {"no\\400\\8\\q\\0.cu", "no\\400\\8\\q\\0.cu"},
                 {"at the end\\\\", "at the end\\"},
                 {"C:\\", "C:\\"}};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        char line[200], source[400];
        snprintf(line, sizeof line, ".file 1 \"%s\", 5, 6\n", names[k].written);
        snprintf(source, sizeof source, HEADER "%s.entry k()\n{\n ret;\n}\n", line);
        PtxModule *m = parse(source);
        assert_string_equal(gr_ptx_file(m, 1), names[k].is);
        char *text = print(m, PTX_PRINT_RENAME_LABELS);
        assert_contains(text, line);
        free(text);
        gr_ptx_free(m);
    }
}

// What LLVM says of inline assembly of several lines, as Triton writes its accesses.
static void test_locs_of_assembly(void **state) {
    (void)state;
    PtxModule *m = parse(
        HEADER
        ".entry k()\n{ .reg .b32 %r<2>;\n.loc 1 20 28\n// begin inline asm\n.loc 1 20 28\n mov.b32 %r1, 0;\n"
        ".loc 1 21 28\n mov.b32 %r1, 1;\n.loc 1 22 28\n mov.b32 %r1, 2;\n.loc 2 23 28\n mov.b32 %r1, 3;\n"
        "// end inline asm\n.loc 1 21 28\n mov.b32 %r1, 4;\n// begin inline asm\n mov.b32 %r1, 5;\n"
        "// end inline asm\n.loc 1 22 28\n ret;\n}\n.entry j()\n{ .reg .b32 %r<2>;\n// begin inline "
        "asm\n.loc 1 5 1\n"
        " mov.b32 %r1, 0;\n}\n.entry i()\n{\n.loc 1 7 1\n ret;\n}\n.file 1 \"a.py\"\n.file 2 \"b.h\"\n");
    static const uint32_t lines[] = {20, 20, 20, 23, 21, 21, 22};
    for (unsigned k = 0; k < sizeof lines / sizeof *lines; k++)
        assert_int_equal(nth_instr(m->funcs[0], k)->loc->line, lines[k]);
    assert_int_equal(nth_instr(m->funcs[2], 0)->loc->line, 7);
    char *text = print(m, 0); // without the comments it says the same
    assert_contains(text, ".loc\t1 20 28\n");
    assert_null(strstr(text, "1 21 28\n\tmov.b32 %r1, 1;"));
    free(text);
    gr_ptx_free(m);
}

static const char tagged[] =
    ".version 9.0\n.target sm_90\n/*@gr*/ .global .u32 x;\n"
    "/*@gr:7*/ .func f() { .reg .b32 r; ld.global.u32 r, [x]; ret; }\n"
    ".entry k()\n{ .reg .b32 r;\n/*@gr*/ .reg .b32 s;\n"
    ".loc 1 2 3\n/*@gr:12*/ ld.global.u32 s, [x];\n L: /*@gr:13*/ ld.global.u32 s, [x];\n"
    "ld.global.u32 /*@gr*/ r, [x]; ret; }\n";

// In a program's text they are comments, and are not printed as anything else where text is kept as it is.
static void test_tags_of_a_program(void **state) {
    (void)state;
    PtxModule *m = parse(tagged);
    assert_false(m->items->tag.inserted);
    assert_false(gr_ptx_find_func(m, "f")->tag.inserted);
    assert_int_equal(m->n_sites, 4);
    gr_ptx_free(m);
    m = parse(
        HEADER
        ".pragma \"x\" /*@gr*/;\n.entry k() { .reg .b32 r;\n.pragma \"y\" /*@gr:3*/;\n.strange /*@gr*/ 7\n"
        "/*@gr*/;\nld.global.u32 r, [0]; ret; }\n");
    char *text = print(m, 0);
    assert_null(strstr(text, "@gr"));
    free(text);
    gr_ptx_free(m);
}

// What ends a directive that is kept verbatim does not end it in a comment or a string, wherever the directive stands.
static void test_verbatim(void **state) {
    (void)state;
    static const char *const rows[] = {".strange /* ;\n x } */ 7;", ".strange 7 // ; x",
                                       ".strange \"/*\" // */;", ".section .x { /* } */ \"}\" }",
                                       ".section .x { // }\n }"};
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        char text[300];
        snprintf(text, sizeof text, HEADER "%s\n.entry k() {\n%s\nret; }\n", rows[k], rows[k]);
        PtxModule *m = parse(text);
        assert_string_equal(m->items->text, rows[k]);
        assert_string_equal(m->funcs[0]->first->text, rows[k]);
        assert_int_equal(m->funcs[0]->first->next->kind, PTX_INSTR);
        char *printed = print(m, 0);
        gr_ptx_free(m);
        m = parse_ours(printed);
        assert_string_equal(m->funcs[0]->first->text, rows[k]);
        free(printed);
        gr_ptx_free(m);
    }
}

static void test_comment_in_a_label(void **state) {
    (void)state;
    PtxModule *m = parse_body("M // of the loop\n /* its head */ : bra M;");
    assert_int_equal(m->funcs[0]->first->kind, PTX_LABEL_DEF);
    assert_ptr_equal(nth_instr(m->funcs[0], 0)->instr->operands[0].label->stmt, m->funcs[0]->first);
    gr_ptx_free(m);
}

static void check_reserved(const char *text, const char *name) {
    char out[16];
    assert_int_equal(gr_ptx_reserved_name(text, strlen(text), out, sizeof out), name != NULL);
    if (name)
        assert_string_equal(out, name);
}

static void test_reserved_names(void **state) {
    (void)state;
    check_reserved("", NULL);
    check_reserved("call __gr_x, (%r1);", "__gr_x");
    check_reserved(".reg .b32 __gr12_a<3>;", "__gr12_a");
    check_reserved("mov.b32 %r1, __gr_", "__gr_");
    check_reserved("__gr7_a_name_that_is_long", "__gr7_a_name_th");
    check_reserved("my__gr_x _Z5__gr_xv __gro_x __gr7 __gr .__gx", NULL);
    check_reserved("// __gr_x\n/* __gr_y\n __gr_z */ \"__gr_u\" x", NULL);
    check_reserved("\"\n__gr_x", "__gr_x"); // no string holds the end of a line
    check_reserved("/* __gr_x", NULL);
}

static void test_rewritten_before(void **state) {
    (void)state;
    static const struct {
        const char *text, *by;
    } rows[] = {
        {".global .b64 __gr_control;", "__gr_control"},
        {".visible .global .align 16 .b8 __gr31_control[64];", "__gr31_control"},
        {".extern .global .b64 __gr_control;", NULL},
        {".global .b64 gr_control; .global .b64 __gr_controls; .global .b64 __gr1_x_control;", NULL},
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        char text[300];
        snprintf(text, sizeof text, HEADER "%s", rows[k].text);
        PtxModule *m = parse(text);
        const char *by = gr_ptx_rewritten_by(m);
        assert_int_equal(by != NULL, rows[k].by != NULL);
        if (by)
            assert_string_equal(by, rows[k].by);
        gr_ptx_free(m);
    }
}

static void test_tags(void **state) {
    (void)state;
    PtxModule *m = NULL;
    assert_int_equal(gr_ptx_parse_ours(tagged, strlen(tagged), "test.ptx", &m, NULL), GR_OK);
    assert_true(m->items->tag.inserted);
    assert_true(gr_ptx_find_func(m, "f")->tag.inserted);
    PtxFunc *k = gr_ptx_find_func(m, "k");
    assert_false(k->tag.inserted);
    assert_false(k->first->tag.inserted);
    assert_true(k->first->next->tag.inserted);
    assert_int_equal(nth_instr(k, 0)->tag.site, 12);
    assert_int_equal(nth_instr(k, 1)->tag.site, 13);
    assert_false(nth_instr(k, 2)->tag.inserted);
    assert_int_equal(m->n_sites, 1); // only the program's own
    assert_int_equal(nth_instr(k, 2)->site, 1);
    char *text = print(m, 0);
    assert_contains(text, "/*@gr:12*/ ld.global.u32 s, [x];");
    assert_contains(text, "/*@gr:7*/ .func f(");
    free(text);
    text = print(m, PTX_PRINT_NO_TAGS);
    assert_null(strstr(text, "@gr"));
    free(text);
    gr_ptx_free(m);
}

static void test_spacing_and_unknowns(void **state) {
    (void)state;
    PtxModule *m = parse_body(".reg .b32 %r<4>; .reg .b64 %rd<4>;;\n"
                              "ld .global\t.u32 %r1 , [ %rd1 + 4 * 2 ] ;/* x */// y\n"
                              "frobnicate.new::thing.x9.u32 %r1, [%rd1], {%r2, %r3};\n"
                              "quux.y a/* ; */<->// ; }\n b;\n"
                              "st.global.newcache.u32 [%rd1+0], %r2;\n"
                              "mov.u32 %r1, %future_register;\n"
                              ".newdirective 1, 2;\n.pragma \"nounroll; x\";\n");
    const PtxFunc *f = m->funcs[0];
    assert_int_equal(nth_instr(f, 0)->instr->space, PTX_GLOBAL);
    assert_int_equal(nth_instr(f, 0)->instr->operands[1].offset, 8);
    const PtxInstr *i = nth_instr(f, 1)->instr;
    assert_int_equal(i->op, PTX_OP_UNKNOWN);
    assert_string_equal(i->opcode, "frobnicate");
    assert_int_equal(i->mods[0].id, PTX_MOD_UNKNOWN);
    assert_string_equal(i->mods[0].text, "new::thing");
    assert_int_equal(i->n_operands, 3);
    assert_int_equal(nth_instr(f, 2)->instr->operands[0].kind, PTX_O_RAW);
    char *text = print(m, 0);
    assert_contains(text, "frobnicate.new::thing.x9.u32 %r1, [%rd1], {%r2, %r3};");
    assert_contains(text, "quux.y a <-> b;"); // without what a comment holds
    assert_contains(text, "st.global.newcache.u32 [%rd1+0], %r2;");
    assert_contains(text, "mov.u32 %r1, %future_register;");
    assert_contains(text, ".newdirective 1, 2;\n");
    assert_contains(text, ".pragma \"nounroll; x\";\n");
    free(text);
    StrBuf out = {0};
    gr_error err = {0};
    assert_int_equal(gr_ptx_print(m, PTX_PRINT_RENUMBER_REGS, &out, &err), GR_ERR_UNSUPPORTED);
    gr_str_free(&out);
    gr_ptx_free(m);
}

static void test_sites(void **state) {
    (void)state;
    PtxModule *m =
        parse_body(".reg .b32 %r<9>; .reg .b64 %rd<4>; .reg .pred t; .shared .b32 s;\n"
                   "ld.param.u64 %rd1, [parameter];\n"                                             // no site
                   "ld.global.v4.f32 {%r1,%r2,%r3,%r4}, [%rd1];\n"                                 // 1
                   "st.volatile.shared.u8 [s], %r1;\n"                                             // 2
                   "atom.global.add.u64 %rd2, [%rd1], 1;\n"                                        // 3
                   "red.shared.or.b32 [s], 1;\n"                                                   // 4
                   "cp.async.ca.shared.global [s], [%rd1], 16;\n"                                  // 5
                   "cp.async.wait_all;\n"                                                          // none
                   "prefetch.global.L2 [%rd1];\n"                                                  // none
                   "ld.weak.u16 %r1, [%rd1];\n"                                                    // 6
                   "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd1], [s], 64;\n" // 7
                   "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r1,%r2,%r3,%r4}, [s];\n"            // 8
                   "bar.sync 0;\n"
                   "tex.2d.v4.f32.f32 {%r1,%r2,%r3,%r4}, [%rd1, {%r5,%r6}];\n" // 9
                   "st.local.b64 [%rd1], %rd2;");                              // 10
    assert_int_equal(m->n_sites, 10);
    assert_int_equal(m->sites[1].size, 16);
    assert_int_equal(m->sites[1].access, PTX_ACCESS_READ);
    assert_false(m->sites[1].strong);
    assert_true(m->sites[2].strong);
    assert_int_equal(m->sites[2].size, 1);
    assert_int_equal(m->sites[2].access, PTX_ACCESS_WRITE);
    assert_int_equal(m->sites[3].access, PTX_ACCESS_RMW);
    assert_int_equal(m->sites[3].size, 8);
    assert_true(m->sites[4].strong);
    assert_true(m->sites[5].copy && m->sites[5].async);
    assert_int_equal(m->sites[5].space, PTX_SHARED);
    assert_int_equal(m->sites[5].src_space, PTX_GLOBAL);
    assert_int_equal(m->sites[5].size, 16);
    assert_int_equal(m->sites[6].space, PTX_GENERIC);
    assert_false(m->sites[6].strong);
    assert_int_equal(m->sites[7].access, PTX_ACCESS_RMW);
    assert_int_equal(m->sites[8].space, PTX_SHARED);
    assert_int_equal(m->sites[9].space, PTX_SPACE_OTHER);
    assert_int_equal(m->sites[10].space, PTX_LOCAL);
    assert_ptr_equal(m->sites[10].stmt->instr->opcode, gr_ptx_op_text(PTX_OP_ST));
    gr_ptx_free(m);
}

// ---- Errors ----------------------------------------------------------------------------------------------

static void check_error(const char *text, unsigned line, unsigned col, const char *part) {
    PtxModule *m = NULL;
    gr_error err = {0};
    gr_status st = gr_ptx_parse(text, strlen(text), "bad.ptx", &m, &err);
    if (st != GR_ERR_SYNTAX || m)
        fail_msg("status %d for: %s", st, text);
    if (err.line != line || err.col != col || !strstr(err.msg, part))
        fail_msg("%u:%u: %s — for: %s", err.line, err.col, err.msg, text);
    assert_string_equal(err.file, "bad.ptx");
}

#define BODY(s) HEADER ".entry k()\n{ .reg .b32 %r<4>; .reg .pred %p<2>;\n" s
static void test_errors(void **state) {
    (void)state;
    check_error("", 1, 1, "expected .version");
    check_error("hello", 1, 1, "expected .version, found 'hello'");
    check_error(".version 9\n", 1, 11, "minor version");
    check_error(".version 9.0\n.target\n", 3, 1, "a target such as sm_90");
    check_error(".version 9.0\n.target sm_90\n.address_size 33\n", 3, 17, "not 32 or 64");
    check_error(HEADER "xyz", 4, 1, "expected a directive, found 'xyz'");
    check_error(HEADER ".entry", 4, 7, "a function's name, found the end");
    check_error(HEADER ".entry k( .u32 x)", 4, 12, "expected param or reg, found 'u32'");
    check_error(HEADER ".reg .b32 x;", 4, 1, ".reg stands outside a function");
    check_error(BODY("add.s32 %r1, , %r2;"), 6, 14, "expected an operand, found ','");
    check_error(BODY("add.s32 %r1, %r2"), 6, 17, "expected ';', found the end");
    check_error(BODY(" ret\n}"), 7, 1, "expected ';', found '}'");
    check_error(BODY("mov.u32 %r4, 1;"), 6, 9, "register '%r4' is not declared");
    check_error(BODY("mov.u32 %r01, 1;"), 6, 9, "register '%r01' is not declared");
    check_error(BODY("mov.u32 %r1, nobody;\n}"), 6, 14, "'nobody' is not declared");
    check_error(BODY("@%p2 ret;"), 6, 2, "predicate '%p2' is not declared");
    check_error(BODY("bra nowhere;\n}"), 6, 5, "label 'nowhere' is not defined");
    check_error(BODY("bra 1, 1; }"), 6, 9, "expected a label to branch to, found ';'");
    check_error(BODY("bra; }"), 6, 4, "expected a label to branch to, found ';'");
    check_error(BODY("L: brx.idx %r1; }"), 6, 15, "expected a label to branch to, found ';'");
    check_error(BODY("L: bra L, %r1; }"), 6, 14, "expected a label to branch to, found ';'");
    check_error(BODY("L: L: ret; }"), 6, 4, "defined twice");
    check_error(BODY("L: { L: ret; } .reg .b32 %q; { .reg .b32 %q; } .reg .u64 %q; }"), 6, 61,
                "'%q' is declared twice in its scope");
    check_error(BODY(".reg .b32 %r<2>; ret; }"), 6, 17, "'%r<...>' is declared twice in its scope");
    check_error(BODY(".local .b8 x[8]; .shared .b8 x[4]; ret; }"), 6, 34,
                "'x' is declared twice in its scope");
    check_error(BODY(".reg .b32 x; .local .b8 x[4]; ret; }"), 6, 29, "'x' is declared twice in its scope");
    check_error(HEADER ".entry k(.param .u32 a, .param .u64 a) { ret; }", 4, 41,
                "'a' is declared twice in its scope");
    check_error(BODY("{ ret;"), 6, 7, "expected '}', found the end");
    check_error(BODY("ld.global.u32 %r1, [%r2;"), 6, 24, "expected ']'");
    check_error(BODY("mov.u32 %r1, 0f3F8;"), 6, 14, "exactly 8 hexadecimal digits");
    check_error(BODY("mov.u32 %r1, 18446744073709551616;"), 6, 14, "does not fit in 64 bits");
    check_error(BODY("mov.u32 %r1, 1/0;"), 6, 17, "division by zero");
    check_error(BODY("mov.u32 %r1, 09;"), 6, 14, "not a digit of a number in base 8");
    check_error(BODY("/* open"), 6, 1, "this comment is not closed");
    check_error(BODY("m/*.wide %r1; ret; }"), 6, 2, "this comment is not closed");
    check_error(BODY("ret; }\n.what \"/*\" /* ; // */\n .x // /*\n /*/ y"), 9, 2,
                "this comment is not closed");
    check_error(BODY("\x01"), 6, 1, "byte 0x01");
    check_error(HEADER ".global .u32 x[-1];", 4, 18, "negative size");
    check_error(HEADER ".global .u32 x[4294967296][4294967296];", 4, 39, "larger than the address space");
    check_error(HEADER ".global .u32 x[2] = {1,2,3};", 4, 28, "3 initializers for 2 elements");
    check_error(HEADER ".global .align 3 .u32 x;", 4, 17, "not a power of two");
    check_error(HEADER ".func f() { ret; }\n.func f() { ret; }", 5, 11, "defined twice");
    check_error(HEADER ".section .debug_str { .b8 1", 4, 9, ".section is not closed");
    check_error(HEADER ".file 1 \"abc\n", 4, 9, "not closed on its line");
}

static void test_hostile_nesting(void **state) {
    (void)state;
    static const char *const open[] = {"(", "-", "{", "[", "(.s64)"};
    for (unsigned k = 0; k < sizeof open / sizeof *open; k++) {
        StrBuf s = {0};
        gr_str_add(&s, BODY("mov.u32 %r1, "));
        for (int n = 0; n < 100000; n++)
            gr_str_add(&s, open[k]);
        PtxModule *m = NULL;
        gr_error err;
        assert_int_equal(gr_ptx_parse(s.data, s.len, "deep", &m, &err), GR_ERR_SYNTAX);
        gr_str_free(&s);
    }
    StrBuf s = {0};
    gr_str_add(&s, BODY(""));
    for (int n = 0; n < 100000; n++)
        gr_str_add(&s, "{");
    PtxModule *m = NULL;
    gr_error err;
    assert_int_equal(gr_ptx_parse(s.data, s.len, "deep", &m, &err), GR_ERR_SYNTAX);
    assert_non_null(strstr(err.msg, "nested scopes"));
    gr_str_free(&s);
    static const char nul[] = HEADER "\0.global .u32 x;";
    assert_int_equal(gr_ptx_parse(nul, sizeof nul, "nul", &m, &err), GR_ERR_SYNTAX);
    assert_int_equal(err.line, 4);
}

// Every spelling found in the wild prints as it came, and every known piece of it is known.
static void test_opcode_spellings(void **state) {
    (void)state;
    char *list;
    size_t len;
    assert_int_equal(gr_file_read(GR_TEST_DATA "/opcodes.txt", &list, &len, NULL), GR_OK);
    StrBuf text = {0};
    gr_str_add(&text, HEADER ".func f();\n.entry k()\n{\n.reg .b32 %r<9>; .reg .pred %p<2>;\nL:\n");
    char *save = NULL;
    unsigned count = 0;
    for (char *op = strtok_r(list, "\n", &save); op; op = strtok_r(NULL, "\n", &save), count++) {
        const char *operands = !strncmp(op, "bra", 3) && op[3] != 'r' ? "L"
                               : !strncmp(op, "call", 4)              ? "f"
                               : strstr(op, ".v4")                    ? "{%r1, %r2, %r3, _}, [%r4+16], %r5"
                                                                      : "%r1, [%r2], %r3|%p1, {%r4, -1}";
        gr_str_addf(&text, "\t%s %s;\n", op, operands);
    }
    assert_true(count > 600);
    gr_str_add(&text, "}\n");
    PtxModule *m = parse(text.data);
    for (PtxStmt *s = gr_ptx_find_func(m, "k")->first; s; s = s->next) {
        if (s->kind != PTX_INSTR)
            continue;
        if (s->instr->op == PTX_OP_UNKNOWN)
            fail_msg("opcode %s is not in opcodes.def", s->instr->opcode);
        for (unsigned k = 0; k < s->instr->n_mods; k++)
            if (s->instr->mods[k].id == PTX_MOD_UNKNOWN)
                fail_msg("modifier %s of %s is not in modifiers.def", s->instr->mods[k].text,
                         s->instr->opcode);
    }
    char *out = print(m, 0);
    const char *a = strstr(text.data, "L:\n"), *b = strstr(out, "L:\n");
    assert_non_null(b);
    assert_string_equal(a, b);
    free(out);
    free(list);
    gr_str_free(&text);
    gr_ptx_free(m);
}

static void test_tables(void **state) {
    (void)state;
    for (unsigned op = 1; op < PTX_OP_COUNT; op++) {
        const char *t = gr_ptx_op_text((PtxOp)op);
        assert_int_equal(gr_ptx_op_find(t, strlen(t)), op);
    }
    for (unsigned mod = 1; mod < PTX_MOD_COUNT; mod++) {
        const char *t = gr_ptx_mod_text((PtxMod)mod);
        assert_int_equal(gr_ptx_mod_find(t, strlen(t)), mod);
    }
    assert_int_equal(gr_ptx_op_find("ldx", 3), PTX_OP_UNKNOWN);
    assert_int_equal(gr_ptx_op_find("", 0), PTX_OP_UNKNOWN);
    assert_int_equal(gr_ptx_type_bits(PTX_F16X2), 32);
    assert_int_equal(gr_ptx_type_bits(PTX_B128), 128);
    assert_int_equal(gr_ptx_type_bits(PTX_PRED), 1);
    assert_true(gr_ptx_type_is_float(PTX_BF16));
    assert_true(gr_ptx_type_is_signed(PTX_S64));
    assert_false(gr_ptx_type_is_signed(PTX_U64));
    assert_string_equal(gr_ptx_space_text(PTX_SHARED_CTA), "shared::cta");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_header),
        cmocka_unit_test(test_instruction),
        cmocka_unit_test(test_constants),
        cmocka_unit_test(test_scopes),
        cmocka_unit_test(test_register_ranges),
        cmocka_unit_test(test_vector_and_video_operands),
        cmocka_unit_test(test_calls),
        cmocka_unit_test(test_functions),
        cmocka_unit_test(test_variables),
        cmocka_unit_test(test_file_names),
        cmocka_unit_test(test_locs),
        cmocka_unit_test(test_locs_of_assembly),
        cmocka_unit_test(test_tags),
        cmocka_unit_test(test_tags_of_a_program),
        cmocka_unit_test(test_verbatim),
        cmocka_unit_test(test_comment_in_a_label),
        cmocka_unit_test(test_reserved_names),
        cmocka_unit_test(test_rewritten_before),
        cmocka_unit_test(test_spacing_and_unknowns),
        cmocka_unit_test(test_sites),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_hostile_nesting),
        cmocka_unit_test(test_opcode_spellings),
        cmocka_unit_test(test_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
