// SPDX-License-Identifier: Apache-2.0
// What of the PTX ISA the CPU device executes: docs/ptx-support.md is generated here from the tables that the decoder
// itself goes by, and what it calls absent must be refused by name. UPDATE_DOCS=1 in the environment writes the page.
#include "base/str.h"
#include "harness.h"
#include "ptx/ptx.h"
#include "vm/core/insn.h"
#include "vm/core/program.h"
#include "vm/decode/forms.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define APPROX true
static const struct {
    const char *spelling;
    bool approximate;
} specs[] = {
#define SPEC(spelling, operands, kernel, approximate) {spelling, approximate},
#include "vm/alu/alu_spec.def"
#undef SPEC
};

enum Kind { GATE, LISTED };
static const struct {
    const char *opcode, *groups;
    enum Kind kind;
    const char *remark;
} forms[] = {
#define FORM(opcode, groups, kind, remark) {opcode, groups, kind, remark},
#include "vm/decode/forms.def"
#undef FORM
};

static const struct {
    const char *op, *mods, *type, *isa;
    double own;
} bounds[] = {
#define BOUND(op, mods, type, relative, absolute, isa, own) {op, mods, type, isa, own},
#include "vm/alu/alu_bounds.def"
#undef BOUND
};

static const char *const opcodes[] = {
#define OP(id, text, flags) text,
#include "ptx/opcodes.def"
#undef OP
};

static const char *const modifiers[] = {
#define MOD(id, text) text,
#include "ptx/modifiers.def"
#undef MOD
};

// One of every opcode that is absent, and of the absent forms of others.
static const struct {
    const char *instruction, *what;
} absent[] = {
    {"multimem.ld_reduce.global.add.u32 %r1, [%rd1]", "multimem"},
    {"tensormap.replace.tile.global_address.global.b1024.b64 [%rd1], %rd2", "tensormap"},
    {"tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f1, %f2}]", "tex"},
    {"tld4.r.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f1, %f2}]", "tld4"},
    {"txq.width.b32 %r1, [%rd1]", "txq"},
    {"istypep.texref %p1, %rd1", "istypep"},
    {"suld.b.2d.b8.trap %rs1, [%rd1, {%r1, %r2}]", "suld"},
    {"sust.b.2d.b32.trap [%rd1, {%r1, %r2}], %r3", "sust"},
    {"sured.b.add.2d.u32.trap [%rd1, {%r1, %r2}], %r3", "sured"},
    {"suq.width.b32 %r1, [%rd1]", "suq"},
    {"clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p1, %q1", "clusterlaunchcontrol"},
    {"wgmma.fence.sync.aligned", "wgmma"},
    {"tcgen05.wait::ld.sync.aligned", "tcgen05"},

    {"cvt.rs.f16x2.f32 %r1, %f1, %f2, %r2", "cvt.rs"},
    {"cvt.rn.satfinite.e4m3x4.f32 %r1, %f1", "cvt to four numbers at once (.e4m3x4, …)"},
    {"cvt.rn.satfinite.s2f6x2.f32 %rs1, %f1, %f2", "cvt of .s2f6x2, and of scaled types"},
    {"cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r1], [%rd1, {%r2, "
     "%r3}], [%r4]",
     "cp.async.bulk.tensor"},
    {"ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {%r1, %r2}, [%r3]",
     "ldmatrix, stmatrix of 8-bit elements"},
    {"mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4, %f1, %f2, %f3, %f4}, {%r1, %r2}, "
     "{%r3, "
     "%r4}, {%f1, %f2, %f3, %f4, %f1, %f2, %f3, %f4}",
     "mma.m8n8k4 of f16"},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%r1, "
     "%r2}, "
     "{%r3, %r4}, {%f1, %f2, %f3, %f4}, %r5, 0",
     "mma of sparse matrices (.sp)"},
    {"mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue8m0 {%f1, %f2, %f3, %f4}, "
     "{%r1, "
     "%r2, %r3, %r4}, {%r5, %r6}, {%f1, %f2, %f3, %f4}, {%r7}, {0, 0}, {%r8}, {0, 0}",
     "mma of scaled blocks, and of .e3m2, .e2m3, .e2m1 (.kind)"},
    {"fence.proxy.tensormap::generic.acquire.gpu.bogus [%rd1], 128",
     "any instruction with a modifier not listed"},
    {"vadd.u32.u32.u32.min %r1, %r2, %r3, %r4",
     "minima and maxima of scalar video instructions with c as u32"},
    {"vadd.u32.u32.u32.sat %r1.b0, %r2, %r3, %r4", ".sat of video instructions into a byte or a half"},
    {"vadd.u32.u32.u32 %r1.h1, %r2, %r3, %r4", "video instructions into .h1"},
    {"vshl.u32.u32.u32.sat.clamp %r1, %r2, %r3", "vshl, vshr with .sat, .min or .max"},
    {"vmad.u32.u32.u32.shr7 %r1, %r2, %r3, %r4", "vmad with .sat, .shr7 or .shr15"},
    {"add.u32 %r1.b0, %r2, %r3", "parts of registers (.b0, .h1) outside of video instructions"},
    {"st.global.f32 [%rd1], %rd2", "loads and stores of f32, f64 in registers of another size"},
};

// ---- The page ----------------------------------------------------------------------------------------------

static void alternatives(StrBuf *out, const char *list, size_t len, bool optional) {
    bool several = memchr(list, ',', len);
    gr_str_add(out, optional ? "{." : several ? ".{" : ".");
    for (size_t j = 0; j < len; j++)
        if (list[j] == ',' && optional)
            gr_str_add(out, ",.");
        else
            gr_str_addc(out, list[j]);
    gr_str_add(out, optional || several ? "}" : "");
}

// A token of alu_spec.def or a group of forms.def.
static void token(StrBuf *out, const char *p, size_t len) {
    bool optional = *p == '[';
    if (optional)
        p++, len -= 2;
    if (len > 2 && p[1] == ':' && strchr("KTUVCA", p[0]))
        p += 2, len -= 2;
    if (len == 1 && *p == 'R')
        alternatives(out, "rn,rz,rm,rp", 11, optional);
    else if (len == 1 && *p == 'B')
        alternatives(out, "and,or,xor", 10, optional);
    else
        alternatives(out, p, len, optional);
}

static void tokens(StrBuf *out, const char *p) {
    while (*p) {
        size_t len = strcspn(p, " ");
        token(out, p, len);
        p += len;
        p += *p == ' ';
    }
}

static bool is_of(const char *spelling, const char *opcode) {
    size_t len = strcspn(spelling, " ");
    return spelling[1] == ':' ? gr_words_have(spelling + 2, len - 2, opcode)
                              : gr_words_have(spelling, len, opcode);
}

// The bound of an approximate row: that with the most modifiers which the spelling has.
static void print_bound(StrBuf *out, const char *spelling, const char *opcode) {
    int best = -1;
    for (int j = 0; j < (int)(sizeof bounds / sizeof *bounds); j++) {
        const char *end = strrchr(spelling, ':'), *t = end ? strstr(end, bounds[j].type) : NULL;
        if (strcmp(bounds[j].op, opcode) || !t || (t[-1] != ':' && t[-1] != ','))
            continue;
        bool ftz = strstr(bounds[j].mods, "ftz");
        if ((strstr(bounds[j].mods, "full") != NULL) != (strstr(spelling, " full ") != NULL) ||
            (ftz && !strstr(spelling, " ftz ")))
            continue;
        if (best < 0 || ftz)
            best = j;
    }
    if (best < 0)
        fail_msg("%s has no bound", spelling);
    if (bounds[best].own > 1000)
        gr_str_addf(out, "approximate: 20 bits of fraction");
    else
        gr_str_addf(out, "approximate: %g ulp", bounds[best].own);
    gr_str_addf(out, " (ISA: %s)", bounds[best].isa);
}

static bool print_opcode(StrBuf *out, const char *opcode) {
    bool any = false;
    for (size_t j = 0; j < sizeof specs / sizeof *specs; j++) {
        const char *s = specs[j].spelling;
        if (!is_of(s, opcode))
            continue;
        any = true;
        gr_str_addf(out, "| `%s", opcode);
        if (s[strcspn(s, " ")])
            tokens(out, s + strcspn(s, " ") + 1);
        gr_str_addf(out, "` | ");
        if (specs[j].approximate)
            print_bound(out, s, opcode);
        else
            gr_str_addf(out, "exact");
        gr_str_addf(out, " | |\n");
    }
    for (size_t j = 0; j < sizeof forms / sizeof *forms; j++)
        if (!strcmp(forms[j].opcode, opcode)) {
            any = true;
            gr_str_addf(out, "| `%s", opcode);
            tokens(out, forms[j].groups);
            gr_str_addf(out, "` | exact | %s |\n", forms[j].remark);
        }
    return any;
}

static void make_page(StrBuf *out) {
    gr_str_addf(
        out,
        "<!-- Generated by tests/vm/test_support.c from the decoder's tables: UPDATE_DOCS=1 writes it. -->\n"
        "# PTX on the CPU device\n\n"
        "The instructions of PTX ISA 9.0 in its order: `.{a,b}` is one of the modifiers, `{.a,.b}` one or "
        "none.\n"
        "*exact*: the ISA's result, bit for bit ([arithmetic.md](arithmetic.md) has the choices that it "
        "leaves).\n"
        "*approximate*: within the error given, which `tests/vm/test_alu.c` checks. *absent*: a kernel that\n"
        "reaches it stops with an error that names it; it never computes something else. That holds for "
        "every\n"
        "modifier and every form that is not listed. Modifiers behind the instruction's own words may be in "
        "any\n"
        "order, types in theirs, as ptxas takes them.\n\n"
        "| instruction | | remark |\n|---|---|---|\n");
    for (size_t j = 0; j < sizeof opcodes / sizeof *opcodes; j++)
        if (!print_opcode(out, opcodes[j]))
            gr_str_addf(out, "| `%s` | absent | |\n", opcodes[j]);
    gr_str_addf(out, "\n## Absent forms of these\n\n");
    for (size_t j = 0; j < sizeof absent / sizeof *absent; j++) {
        StrBuf own = {0};
        if (print_opcode(&own, absent[j].what) || strpbrk(absent[j].what, " ."))
            gr_str_addf(out, "- %s: `%s`\n", absent[j].what, absent[j].instruction);
        gr_str_free(&own);
    }
}

static void page_is_up_to_date(void **state) {
    (void)state;
    StrBuf page = {0};
    make_page(&page);
    if (getenv("UPDATE_DOCS")) {
        FILE *f = fopen(SUPPORT_MD, "w");
        assert_non_null(f);
        assert_int_equal(fwrite(page.data, 1, page.len, f), page.len);
        assert_int_equal(fclose(f), 0);
    }
    FILE *f = fopen(SUPPORT_MD, "r");
    assert_non_null(f);
    char *have = calloc(1, page.len + 2);
    assert_non_null(have);
    size_t n = fread(have, 1, page.len + 1, f);
    fclose(f);
    assert_int_equal(n, page.len);
    assert_string_equal(have, page.data);
    free(have);
    gr_str_free(&page);
}

// ---- Absent means absent -------------------------------------------------------------------------------------

static void load(Rig *r, const char *instruction) {
    char text[1024];
    snprintf(
        text, sizeof text,
        ".version 9.0\n.target sm_100a\n.address_size 64\n.visible .entry k() {\n.reg .pred %%p<5>;\n.reg "
        ".b16 "
        "%%rs<5>;\n.reg .b32 %%r<9>;\n.reg .b64 %%rd<5>;\n.reg .f32 %%f<5>;\n.reg .f64 %%fd<5>;\n.reg .b128 "
        "%%q<2>;\n%s;\nret;\n}\n",
        instruction);
    rig_open(r, text, NULL);
}

static void absent_instructions_fault_by_name(void **state) {
    (void)state;
    for (size_t j = 0; j < sizeof absent / sizeof *absent; j++) {
        Rig r;
        load(&r, absent[j].instruction);
        const char *const *names;
        if (gr_vm_module_unknown(r.mod, &names) != 1)
            fail_msg("%s is executed", absent[j].instruction);
        size_t n = strcspn(absent[j].instruction, " ");
        assert_int_equal(strlen(names[0]), n);
        assert_memory_equal(names[0], absent[j].instruction, n);
        assert_int_equal(rig_run(&r, "k", (Dims){1, 32, 0}, 0, NULL), VM_FAULT_ILLEGAL_INSTRUCTION);
        assert_non_null(strstr(r.fault.msg, names[0]));
        rig_close(&r);
    }
    // and the page calls no opcode absent that is not among them
    for (size_t k = 0; k < sizeof opcodes / sizeof *opcodes; k++) {
        StrBuf out = {0};
        bool has_rows = print_opcode(&out, opcodes[k]), tried = false;
        gr_str_free(&out);
        size_t n = strlen(opcodes[k]);
        for (size_t j = 0; j < sizeof absent / sizeof *absent; j++)
            tried =
                tried || (!strncmp(absent[j].instruction, opcodes[k], n) && absent[j].instruction[n] == '.');
        if (!has_rows && !tried)
            fail_msg("%s has neither rows nor an example", opcodes[k]);
    }
}

// ---- No modifier is passed over --------------------------------------------------------------------------------

static PtxModule *parse(const char *spelling, const PtxInstr **out) {
    char text[512];
    snprintf(text, sizeof text,
             ".version 9.0\n.target sm_100a\n.address_size 64\n.entry k() {\n.reg .b32 %%r<3>;\n%s %%r1, "
             "%%r2;\n}\n",
             spelling);
    PtxModule *m;
    gr_error err;
    if (gr_ptx_parse(text, strlen(text), spelling, &m, &err) != GR_OK)
        fail_msg("%s does not parse: %s", spelling, err.msg);
    *out = NULL;
    for (const PtxStmt *st = m->funcs[0]->first; st; st = st->next)
        if (st->kind == PTX_INSTR)
            *out = st->instr;
    assert_non_null(*out);
    return m;
}

static bool allowed(const char *spelling) {
    const PtxInstr *i;
    PtxModule *m = parse(spelling, &i);
    bool ok = gr_vm_form_allows(i);
    gr_ptx_free(m);
    return ok;
}

// Whether a row of the opcode names the modifier.
static bool named(const char *opcode, const char *mod) {
    for (size_t j = 0; j < sizeof forms / sizeof *forms; j++) {
        if (strcmp(forms[j].opcode, opcode))
            continue;
        for (const char *p = forms[j].groups; *p;) {
            size_t len = strcspn(p, " "), optional = *p == '[';
            if (gr_words_have(p + optional, len - 2 * optional, mod))
                return true;
            p += len;
            p += *p == ' ';
        }
    }
    return false;
}

static void no_modifier_is_passed_over(void **state) {
    (void)state;
    unsigned tried = 0;
    for (size_t j = 0; j < sizeof forms / sizeof *forms; j++) {
        if (forms[j].kind != GATE || !strcmp(forms[j].opcode, "call") || !strcmp(forms[j].opcode, "bra") ||
            !strcmp(forms[j].opcode, "brx"))
            continue;
        char least[256]; // the first of every group that must be there
        int n = snprintf(least, sizeof least, "%s", forms[j].opcode);
        for (const char *p = forms[j].groups; *p;) {
            size_t len = strcspn(p, " ");
            if (*p != '[')
                n += snprintf(least + n, sizeof least - (size_t)n, ".%.*s", (int)strcspn(p, ", "), p);
            p += len;
            p += *p == ' ';
        }
        if (!allowed(least))
            fail_msg("%s is refused", least);
        char more[320];
        snprintf(more, sizeof more, "%s.bogus", least);
        assert_false(allowed(more));
        for (size_t k = 0; k < sizeof modifiers / sizeof *modifiers; k++) {
            bool elsewhere = (!strcmp(forms[j].opcode, "st") || !strcmp(forms[j].opcode, "red")) &&
                             (!strcmp(modifiers[k], "async") || !strcmp(modifiers[k], "bulk"));
            if (elsewhere || named(forms[j].opcode, modifiers[k]))
                continue;
            snprintf(more, sizeof more, "%s.%s", least, modifiers[k]);
            if (allowed(more))
                fail_msg("%s is taken for %s", more, least);
            tried++;
        }
    }
    assert_true(tried > 10000);
}

// ---- The order of modifiers --------------------------------------------------------------------------------------

// ptxas takes the modifiers behind the words of the instruction's name (so many) in any order, and those that are of
// one kind (types, layouts, spaces) in theirs.
static const struct {
    unsigned name;
    const char *spelling, *operands;
} orders[] = {
    {0, "ldmatrix.sync.aligned.m8n8.x4.shared.b16", "{%r1, %r2, %r3, %r4}, [%r5]"},
    {0, "ldmatrix.sync.aligned.m8n8.x2.trans.shared::cta.b16", "{%r1, %r2}, [%r5]"},
    {0, "ldmatrix.sync.aligned.m8n8.x1.b16", "{%r1}, [%rd1]"},
    {0, "stmatrix.sync.aligned.m8n8.x4.shared.b16", "[%r5], {%r1, %r2, %r3, %r4}"},
    {0, "stmatrix.sync.aligned.m8n8.x1.trans.shared.b16", "[%r5], {%r1}"},
    {0, "movmatrix.sync.aligned.m8n8.trans.b16", "%r1, %r2"},
    {0, "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
     "{%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, %r4}, {%r5, %r6}, {%f1, %f2, %f3, %f4}"},
    {0, "mma.sync.aligned.m8n8k16.row.col.satfinite.s32.s8.u8.s32", "{%r1, %r2}, {%r3}, {%r4}, {%r1, %r2}"},
    {0, "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc",
     "{%r1, %r2, %r3, %r4}, {%r1, %r2, %r3, %r4}, {%r5, %r6}, {%r1, %r2, %r3, %r4}"},
    {2, "wmma.load.a.sync.aligned.row.m16n16k16.shared.f16",
     "{%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}, [%rd1], %r1"},
    {2, "wmma.load.b.sync.aligned.col.m8n32k16.global.s8", "{%r1, %r2, %r3, %r4}, [%rd1], %r1"},
    {2, "wmma.store.d.sync.aligned.col.m16n16k16.global.f16", "[%rd1], {%r1, %r2, %r3, %r4}, %r5"},
    {1, "wmma.mma.sync.aligned.row.col.m16n16k16.f16.f16",
     "{%r1, %r2, %r3, %r4}, {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}, {%r1, %r2, %r3, %r4, %r5, %r6, %r7, "
     "%r8}, "
     "{%r1, %r2, %r3, %r4}"},
    {1, "cp.async.cg.shared.global.L2::128B", "[%r1], [%rd1], 16"},
    {3, "cp.async.mbarrier.arrive.noinc.shared.b64", "[%r1]"},
    {2, "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes", "[%r1], [%rd1], 16, [%r2]"},
    {0, "red.relaxed.gpu.global.add.u32", "[%rd1], %r1"},
    {0, "red.global.add.noftz.f16x2", "[%rd1], %r1"},
    {0, "red.relaxed.gpu.global.v2.f32.add", "[%rd1], {%f1, %f2}"},
    {1, "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.inc.u32",
     "[%r1], %r2, [%r3]"},
    {0, "atom.acq_rel.gpu.global.add.u32", "%r1, [%rd1], %r2"},
    {0, "atom.relaxed.sys.shared.cas.b32", "%r1, [%r2], %r3, %r4"},
    {0, "atom.global.add.noftz.f16", "%rs1, [%rd1], %rs2"},
    {0, "ld.relaxed.gpu.global.L1::no_allocate.L2::128B.v2.u32", "{%r1, %r2}, [%rd1]"},
    {0, "ld.volatile.global.v4.f32", "{%f1, %f2, %f3, %f4}, [%rd1]"},
    {0, "ld.acquire.sys.global.u64", "%rd2, [%rd1]"},
    {0, "ld.global.nc.L1::no_allocate.L2::256B.v2.f32", "{%f1, %f2}, [%rd1]"},
    {0, "ld.global.cg.v2.u32", "{%r1, %r2}, [%rd1]"},
    {0, "ld.mmio.relaxed.sys.global.u32", "%r1, [%rd1]"},
    {0, "ldu.global.v2.u32", "{%r1, %r2}, [%rd1]"},
    {0, "st.release.gpu.global.v2.u32", "[%rd1], {%r1, %r2}"},
    {0, "st.global.wt.v2.u32", "[%rd1], {%r1, %r2}"},
    {1, "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.u32", "[%r1], {%r2, %r3}, [%r4]"},
    {0, "fence.acq_rel.gpu", ""},
    {2, "mbarrier.try_wait.parity.acquire.cta.shared::cta.b64", "%p1, [%r1], %r2"},
    {2, "mbarrier.arrive.expect_tx.release.cta.shared::cta.b64", "%rd1, [%r1], %r2"},
    {1, "mbarrier.init.shared::cta.b64", "[%r1], %r2"},
    {0, "shfl.sync.bfly.b32", "%r1, %r2, %r3, %r4, %r5"},
    {0, "vote.sync.ballot.b32", "%r1, %p1, %r2"},
    {0, "match.any.sync.b32", "%r1, %r2, %r3"},
    {0, "redux.sync.add.u32", "%r1, %r2, %r3"},
    {0, "fma.rn.ftz.sat.f32", "%f1, %f2, %f3, %f4"},
    {0, "add.sat.s32", "%r1, %r2, %r3"},
    {0, "add.cc.u32", "%r1, %r2, %r3"},
    {0, "min.ftz.NaN.f32", "%f1, %f2, %f3"},
    {0, "min.relu.s32", "%r1, %r2, %r3"},
    {0, "ex2.approx.ftz.f32", "%f1, %f2"},
    {0, "setp.lt.and.ftz.f32", "%p1, %f1, %f2, %p2"},
    {0, "set.lt.u32.f32", "%r1, %f1, %f2"},
    {0, "cvt.rn.ftz.sat.f32.s32", "%f1, %r1"},
    {0, "lop3.and.b32", "%r1|%p1, %r2, %r3, %r4, 0x80, %p2"},
    {0, "bfind.shiftamt.u32", "%r1, %r2"},
};

enum { MAX_WORDS = 16 };

// Modifiers of one kind keep their order.
static bool is_ordered(const char *word) {
    static const char list[] =
        "row,col,shared,shared::cta,shared::cluster,global,b1,f16,f16x2,f32,b16,b32,b64,s8,u8,s32,u32,u64";
    return gr_words_have(list, sizeof list - 1, word);
}

// The modifier number `from` comes to where number `to` was.
static void moved(char *out, size_t size, char *const word[], unsigned n, unsigned from, unsigned to) {
    size_t at = (size_t)snprintf(out, size, "%s", word[0]);
    for (unsigned k = 1, next = 1; k < n; k++) {
        next += next == from;
        at += (size_t)snprintf(out + at, size - at, ".%s", k == to ? word[from] : word[next]);
        next += k != to;
    }
}

static void expect_same_code(const Rig *a, const Rig *b, const char *spelling) {
    VmFunc *f = a->mod->kernels[0], *g = b->mod->kernels[0];
    gr_error err = {0};
    if (!f->code)
        assert_int_equal(gr_vm_decode(f, &a->mod->arena, &err), GR_OK);
    if (!g->code)
        assert_int_equal(gr_vm_decode(g, &b->mod->arena, &err), GR_OK);
    bool same = f->n_code == g->n_code;
    for (uint32_t k = 0; same && k < f->n_code; k++) {
        const VmInsn *x = &f->code[k], *y = &g->code[k];
        same = x->exec[0] == y->exec[0] && x->exec[1] == y->exec[1] && x->d == y->d && x->a == y->a &&
               x->b == y->b && x->c == y->c && x->d2 == y->d2 && x->e == y->e && x->imm == y->imm &&
               x->part == y->part && x->site == y->site;
    }
    if (!same)
        fail_msg("%s is another instruction", spelling);
}

static unsigned try_orders(const char *spelling, const char *operands, unsigned name) {
    char own[128], text[256], *word[MAX_WORDS], *rest = own;
    unsigned n = 0, tried = 0;
    Rig as_written;
    snprintf(own, sizeof own, "%s", spelling);
    while ((word[n] = strsep(&rest, ".")))
        n++;
    snprintf(text, sizeof text, "%s %s", spelling, operands);
    load(&as_written, text);
    for (unsigned from = 1 + name; from < n; from++)
        for (unsigned to = 1 + name; to < n && !is_ordered(word[from]); to++) {
            Rig r;
            const char *const *names;
            moved(text, sizeof text, word, n, from, to);
            snprintf(text + strlen(text), sizeof text - strlen(text), " %s", operands);
            load(&r, text);
            if (gr_vm_module_unknown(r.mod, &names))
                fail_msg("%s is absent", names[0]);
            expect_same_code(&as_written, &r, text);
            rig_close(&r);
            tried++;
        }
    rig_close(&as_written);
    return tried;
}

static void modifiers_may_be_in_any_order(void **state) {
    (void)state;
    unsigned tried = 0;
    for (size_t j = 0; j < sizeof orders / sizeof *orders; j++)
        tried += try_orders(orders[j].spelling, orders[j].operands, orders[j].name);
    assert_true(tried > 500);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(page_is_up_to_date),
        cmocka_unit_test(absent_instructions_fault_by_name),
        cmocka_unit_test(no_modifier_is_passed_over),
        cmocka_unit_test(modifiers_may_be_in_any_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
