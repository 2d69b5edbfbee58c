// SPDX-License-Identifier: Apache-2.0
#include "statements.h"

#include <string.h>

static const struct {
    char kind;
    const char *name;
    unsigned n;
} pools[] = {{'r', "%r", 10}, {'d', "%d", 5}, {'f', "%f", 6}, {'g', "%g", 3},
             {'h', "%h", 4},  {'p', "%p", 5}, {'u', "%u", 3}};

void emit(Gen *g, const char *t) {
    static const char *const compare[] = {"eq", "ne", "lt", "le", "gt", "ge"};
    for (; *t; t++) {
        if (*t != '$') {
            gr_str_addc(g->out, *t);
            continue;
        }
        t++;
        if (*t == 'i')
            gr_str_addf(g->out, "%u", below(g, 32));
        else if (*t == 'n')
            gr_str_addf(g->out, "%u", 1 + below(g, 1000));
        else if (*t == 'w')
            gr_str_addf(g->out, "0x%x", (uint32_t)gr_rng_next(&g->rng));
        else if (*t == 'c')
            gr_str_add(g->out, compare[below(g, 6)]);
        else
            for (size_t k = 0; k < sizeof pools / sizeof *pools; k++)
                if (pools[k].kind == *t)
                    gr_str_addf(g->out, "%s%u", pools[k].name, below(g, pools[k].n));
    }
    gr_str_addc(g->out, '\n');
}

// ---- Arithmetic --------------------------------------------------------------------------------------------

static const char *const arithmetic[] = {
    "add.s32 $r, $r, $r;",
    "add.u32 $r, $r, $w;",
    "sub.s32 $r, $r, $r;",
    "mul.lo.s32 $r, $r, $r;",
    "mad.lo.s32 $r, $r, $r, $r;",
    "mul.hi.u32 $r, $r, $r;",
    "mul.hi.s32 $r, $r, $r;",
    "mad.hi.s32 $r, $r, $r, $r;",
    "mul24.lo.u32 $r, $r, $r;",
    "and.b32 $r, $r, $r;",
    "or.b32 $r, $r, $w;",
    "xor.b32 $r, $r, $r;",
    "not.b32 $r, $r;",
    "cnot.b32 $r, $r;",
    "shl.b32 $r, $r, $i;",
    "shl.b32 $r, $r, $r;",
    "shr.u32 $r, $r, $i;",
    "shr.s32 $r, $r, $r;",
    "shf.l.wrap.b32 $r, $r, $r, $r;",
    "shf.r.clamp.b32 $r, $r, $r, $i;",
    "min.s32 $r, $r, $r;",
    "max.u32 $r, $r, $r;",
    "abs.s32 $r, $r;",
    "neg.s32 $r, $r;",
    "sad.u32 $r, $r, $r, $r;",
    "popc.b32 $r, $r;",
    "clz.b32 $r, $r;",
    "brev.b32 $r, $r;",
    "bfind.u32 $r, $r;",
    "bfe.u32 $r, $r, $i, $i;",
    "bfe.s32 $r, $r, $r, $r;",
    "bfi.b32 $r, $r, $r, $i, $i;",
    "prmt.b32 $r, $r, $r, $r;",
    "prmt.b32 $r, $r, $r, 0x5140;",
    "lop3.b32 $r, $r, $r, $r, 0x96;",
    "lop3.b32 $r, $r, $r, $r, 0xe8;",
    "div.u32 $r, $r, $n;",
    "rem.s32 $r, $r, $n;",
    "dp4a.u32.s32 $r, $r, $r, $r;",
    "mov.u32 $r, $r;",
    "mov.u32 $r, $w;",
    "add.cc.u32 $r, $r, $r; addc.u32 $r, $r, $r;",
    "sub.cc.u32 $r, $r, $r; subc.cc.u32 $r, $r, $r; subc.u32 $r, $r, 0;",
    "mad.lo.cc.u32 $r, $r, $r, $r; madc.hi.u32 $r, $r, $r, $r;",
    "add.sat.s32 $r, $r, $r;",
    "vadd4.u32.u32.u32 $r, $r, $r, $r;",
    "add.s64 $d, $d, $d;",
    "sub.s64 $d, $d, $d;",
    "mul.lo.s64 $d, $d, $d;",
    "mul.hi.u64 $d, $d, $d;",
    "mul.wide.u32 $d, $r, $r;",
    "mul.wide.s32 $d, $r, $w;",
    "mad.wide.u32 $d, $r, $r, $d;",
    "shl.b64 $d, $d, $i;",
    "shr.s64 $d, $d, $r;",
    "xor.b64 $d, $d, $d;",
    "min.s64 $d, $d, $d;",
    "popc.b64 $r, $d;",
    "cvt.u64.u32 $d, $r;",
    "cvt.s64.s32 $d, $r;",
    "cvt.u32.u64 $r, $d;",
    "mov.b64 $d, {$r, $r};",
    "{.reg .b32 %lo, %hi; mov.b64 {%lo, %hi}, $d; xor.b32 $r, %lo, %hi;}",
    "rem.u64 $d, $d, $n;",
    "add.s16 $h, $h, $h;",
    "mul.lo.s16 $h, $h, $h;",
    "mad.wide.u16 $r, $h, $h, $r;",
    "shr.s16 $h, $h, $i;",
    "cvt.u16.u32 $h, $r;",
    "cvt.u32.u16 $r, $h;",
    "cvt.s32.s16 $r, $h;",
    "cvt.s32.s8 $r, $r;",
    "cvt.u8.u32 $h, $r;",
    "min.u16 $h, $h, $h;",
    "add.rn.f32 $f, $f, $f;",
    "sub.f32 $f, $f, $f;",
    "mul.rn.f32 $f, $f, $f;",
    "fma.rn.f32 $f, $f, $f, $f;",
    "fma.rz.f32 $f, $f, $f, $f;",
    "min.f32 $f, $f, $f;",
    "max.NaN.f32 $f, $f, $f;",
    "abs.f32 $f, $f;",
    "neg.f32 $f, $f;",
    "div.rn.f32 $f, $f, $f;",
    "sqrt.rn.f32 $f, $f;",
    "add.rn.ftz.f32 $f, $f, $f;",
    "mul.rn.sat.f32 $f, $f, $f;",
    "rcp.approx.ftz.f32 $f, $f;",
    "ex2.approx.f32 $f, $f;",
    "copysign.f32 $f, $f, $f;",
    "cvt.rn.f32.s32 $f, $r;",
    "cvt.rzi.s32.f32 $r, $f;",
    "cvt.rni.u32.f32 $r, $f;",
    "mov.b32 $r, $f;",
    "cvt.rn.f16.f32 $h, $f;",
    "cvt.f32.f16 $f, $h;",
    "fma.rn.f16 $h, $h, $h, $h;",
    "add.rn.f16x2 $r, $r, $r;",
    "add.rn.f64 $g, $g, $g;",
    "fma.rn.f64 $g, $g, $g, $g;",
    "mul.rn.f64 $g, $g, $g;",
    "cvt.f64.f32 $g, $f;",
    "cvt.rn.f32.f64 $f, $g;",
    "cvt.rn.f64.s64 $g, $d;",
    "cvt.rzi.s64.f64 $d, $g;",
    "mov.b64 $d, $g;",
    "setp.$c.s32 $p, $r, $r;",
    "setp.$c.u32 $p, $r, $r;",
    "setp.$c.s32 $p, $r, $i;",
    "setp.$c.f32 $p, $f, $f;",
    "setp.$cu.f32 $p, $f, $f;",
    "setp.$c.s64 $p, $d, $d;",
    "setp.$c.f64 $p, $g, $g;",
    "setp.$c.and.s32 $p, $r, $r, $p;",
    "setp.$c.u16 $p, $h, $h;",
    "and.pred $p, $p, $p;",
    "or.pred $p, $p, $p;",
    "xor.pred $p, $p, $p;",
    "not.pred $p, $p;",
    "selp.b32 $r, $r, $r, $p;",
    "selp.b64 $d, $d, $d, $p;",
    "selp.f32 $f, $f, $f, $p;",
    "slct.s32.s32 $r, $r, $r, $r;",
    "set.$c.u32.s32 $r, $r, $r;",
    "set.$c.f32.f32 $f, $f, $f;",
};

void compute(Gen *g) {
    const char *t = PICK(g, arithmetic);
    // A guard would stand for the first of several only, and none goes before a brace. Nor before set with a float
    // result: ptxas 13.0 then converts the register's old value, too, where the guard is false.
    bool guardable = !strchr(strchr(t, ';') + 1, ';') && *t != '{' && strncmp(t, "set.$c.f32", 10) != 0;
    if (below(g, 6) == 0 && guardable)
        emit(g, below(g, 2) ? "@$p " : "@!$p ");
    emit(g, t);
}

void compute_uniform(Gen *g) {
    static const char *const ops[] = {"add.u32 $u, $u, $u;",        "mad.lo.u32 $u, $u, $u, $w;",
                                      "xor.b32 $u, $u, $w;",        "shr.u32 $u, $u, $i;",
                                      "mov.u32 $u, %ctaid.x;",      "mul.lo.u32 $u, $u, $u;",
                                      "mad.lo.u32 $r, $u, $r, $r;", "add.u32 $r, $r, $u;"};
    emit(g, PICK(g, ops));
}

// ---- Memory ------------------------------------------------------------------------------------------------

// An address into [%base + 0, bytes) that is a multiple of `align`, in %t64; at most 16 bytes are accessed there.
static void address(Gen *g, const char *base, uint32_t bytes, uint32_t align) {
    if (align < 4 || below(g, 2)) {
        emit(g, "mov.u32 %t0, $r;");
        gr_str_addf(g->out, "and.b32 %%t0, %%t0, %u; cvt.u64.u32 %%t64, %%t0; add.s64 %%t64, %s, %%t64;\n",
                    bytes - align, base);
    } else { // as compilers index arrays
        emit(g, "mov.u32 %t0, $r;");
        gr_str_addf(g->out,
                    "and.b32 %%t0, %%t0, %u; mul.wide.%s %%t64, %%t0, %u; add.s64 %%t64, %s, %%t64;\n",
                    bytes / align - 1, below(g, 2) ? "u32" : "s32", align, base);
    }
}

typedef struct Shape {
    const char *type, *value;
    uint32_t align;
} Shape;
static const Shape shapes[] = {{"u32", "$r", 4},
                               {"u32", "$r", 4},
                               {"f32", "$f", 4},
                               {"u64", "$d", 8},
                               {"f64", "$g", 8},
                               {"u16", "$h", 2},
                               {"s16", "$r", 2},
                               {"u8", "$r", 1},
                               {"v2.u32", "{$r, $r}", 8},
                               {"v4.u32", "{$r, $r, $r, $r}", 16},
                               {"v2.f32", "{$f, $f}", 8},
                               {"v2.u64", "{$d, $d}", 16},
                               {"s8", "$r", 1},
                               {"v2.u16", "{$h, $h}", 4},
                               {"v4.u8", "{$h, $h, $h, $h}", 4}};

// A vector load must not name a register twice.
static void load(Gen *g, const char *op, const Shape *s, const char *at) {
    const char *value = s->value;
    if (!strcmp(value, "{$r, $r}"))
        value = below(g, 2) ? "{%r1, %r5}" : "{%r7, %r2}";
    else if (!strcmp(value, "{$r, $r, $r, $r}"))
        value = below(g, 2) ? "{%r0, %r4, %r3, %r8}" : "{%r9, %r6, %r1, %r2}";
    else if (!strcmp(value, "{$f, $f}"))
        value = "{%f2, %f0}";
    else if (!strcmp(value, "{$d, $d}"))
        value = "{%d3, %d1}";
    else if (!strcmp(value, "{$h, $h}"))
        value = "{%h1, %h2}";
    else if (!strcmp(value, "{$h, $h, $h, $h}"))
        value = "{%h2, %h0, %h3, %h1}";
    gr_str_addf(g->out, "%s.%s ", op, s->type);
    emit(g, value);
    gr_str_addf(g->out, ", %s;\n", at);
}

static void store(Gen *g, const char *op, const Shape *s, const char *at) {
    gr_str_addf(g->out, "%s.%s %s, ", op, s->type, at);
    emit(g, s->value);
    gr_str_add(g->out, ";\n");
}

void own_memory(Gen *g) {
    const Shape *s = &PICK(g, shapes);
    bool local = below(g, 4) == 0, generic = below(g, 3) == 0;
    address(g, local ? generic ? "%glocal" : "%local" : "%own", 64, s->align);
    char at[32];
    StrBuf text = {0};
    gr_str_addf(&text, "[%%t64+%u]", below(g, 4) * 16);
    strncpy(at, text.data ? text.data : "[%t64]", sizeof at - 1);
    at[sizeof at - 1] = 0;
    gr_str_free(&text);
    const char *space = generic ? "" : local ? ".local" : ".global";
    char op[32] = "";
    bool reads = below(g, 2);
    strcat(strcat(op, reads ? "ld" : "st"), space);
    if (below(g, 5) == 0)
        emit(g, below(g, 2) ? "@$p" : "@!$p");
    if (reads)
        load(g, op, s, at);
    else
        store(g, op, s, at);
}

void read_table(Gen *g) {
    static const char *const op[] = {"ld.global", "ld.global.nc", "ld", "ldu.global"};
    const Shape *s = &PICK(g, shapes);
    address(g, "%table", RANDOM_TABLE, s->align);
    load(g, PICK(g, op), s, "[%t64]");
}

void copy_async(Gen *g) {
    uint32_t size = 4u << below(g, 3);
    address(g, "%table", RANDOM_TABLE, size);
    emit(g, "and.b32 %t0, $r, 15;");
    gr_str_addf(g->out, "min.u32 %%t0, %%t0, %u;\n", size);
    if (below(g, 5) == 0)
        emit(g, "@$p");
    gr_str_addf(g->out, "cp.async.c%c.shared.global [%%slot], [%%t64], %u", size == 16 ? 'g' : 'a', size);
    switch (below(g, 6)) { // a shorter source, or none: the rest is zeros
    case 0: gr_str_addf(g->out, ", %u;\n", below(g, size + 1)); break;
    case 1: gr_str_addf(g->out, ", %%t0;\n"); break;
    case 2: emit(g, ", $p;"); break;
    default: gr_str_addf(g->out, ";\n");
    }
    if (below(g, 2))
        emit(g, "xor.b32 $r, $r, $r;");
    emit(g, below(g, 2) ? "cp.async.wait_all;" : "cp.async.commit_group; cp.async.wait_group 0;");
    gr_str_addf(g->out, "ld.shared.u32 ");
    emit(g, "$r, [%slot];");
}

void read_constant(Gen *g) {
    emit(g, "and.b32 %t0, $r, 60; cvt.u64.u32 %t64, %t0; mov.u64 %t65, numbers; add.s64 %t64, %t64, %t65; "
            "ld.const.u32 $r, [%t64];");
}

void count(Gen *g) {
    static const struct {
        const char *op, *value;
        uint32_t at, align;
    } kinds[] = {{"add.u32", "$r", 0, 4},   {"xor.b32", "$r", 64, 4},  {"min.s32", "$r", 128, 4},
                 {"max.u32", "$r", 192, 4}, {"and.b32", "$r", 256, 4}, {"or.b32", "$r", 320, 4},
                 {"add.u64", "$d", 384, 8}, {"max.s64", "$d", 448, 8}};
    unsigned k = below(g, 8);
    address(g, "%counts", 64, kinds[k].align);
    bool atom = below(g, 2);
    gr_str_addf(g->out, "%s%s.%s %s[%%t64+%u], ", atom ? "atom" : "red", below(g, 3) ? ".global" : "",
                kinds[k].op, atom ? kinds[k].align == 8 ? "%junk64, " : "%junk, " : "", kinds[k].at);
    emit(g, kinds[k].value);
    gr_str_add(g->out, ";\n");
}

// ---- What needs others -------------------------------------------------------------------------------------

static void block_barrier(Gen *g) {
    static const char *const all[] = {"bar.sync 0;",
                                      "bar.sync 0;",
                                      "barrier.sync 3;",
                                      "bar.red.popc.u32 $u, 0, $p;",
                                      "bar.red.and.pred $p, 0, $p;",
                                      "bar.red.or.pred $p, 1, $p;"};
    emit(g, PICK(g, all));
}

void exchange_in_block(Gen *g) {
    const Shape *s = &PICK(g, shapes);
    bool generic = below(g, 3) == 0;
    store(g, generic ? "st" : "st.shared", s, generic ? "[%gslot]" : "[%slot]");
    block_barrier(g);
    for (unsigned n = 1 + below(g, 3); n > 0; n--) {
        emit(g, "mov.u32 %t0, $r;");
        gr_str_addf(
            g->out,
            "rem.u32 %%t0, %%t0, %u; shl.b32 %%t0, %%t0, 4; mov.u32 %%t1, slots; add.u32 %%t0, %%t0, %%t1;\n",
            g->block);
        load(g, "ld.shared", s, "[%t0]");
    }
    block_barrier(g);
}

static void counter_in_block(Gen *g) {
    emit(g, "mov.u32 %t0, $r;");
    gr_str_addf(
        g->out,
        "and.b32 %%t0, %%t0, %u; shl.b32 %%t0, %%t0, 4; mov.u32 %%t1, slots; add.u32 %%t0, %%t0, %%t1;\n",
        g->block < 8 ? 3 : 7);
}

void count_in_block(Gen *g) {
    static const char *const op[] = {"add.u32", "xor.b32", "max.s32", "min.u32"};
    emit(g, "st.shared.u32 [%slot], 0; bar.sync 0;");
    for (unsigned n = 1 + below(g, 3); n > 0; n--) {
        const char *o = PICK(g, op);
        counter_in_block(g);
        gr_str_addf(g->out, "red.shared.%s [%%t0], ", o);
        emit(g, "$r;");
        emit(g, "bar.sync 0;"); // another operation may follow on the same word
    }
    counter_in_block(g);
    emit(g, "ld.shared.u32 $r, [%t0]; bar.sync 0;");
}

void mask_name(const Place *at, char out[16]) {
    if (at->mask < 0)
        strcpy(out, "-1");
    else {
        StrBuf b = {0};
        gr_str_addf(&b, "%%m%d", at->mask);
        strncpy(out, b.data ? b.data : "-1", 15);
        out[15] = 0;
        gr_str_free(&b);
    }
}

void exchange_in_warp(Gen *g, const Place *at) {
    static const char *const full[] = {
        "shfl.sync.bfly.b32 $r, $r, $i, 31, ", "shfl.sync.idx.b32 $r, $r, $r, 31, ",
        "shfl.sync.up.b32 $r|$p, $r, $i, 0, ", "shfl.sync.down.b32 $r|$p, $f, $i, 31, ",
        "shfl.sync.bfly.b32 $r, $r, 3, 0x1c1f, "};
    static const char *const any[] = {
        "vote.sync.ballot.b32 $r, $p, ", "vote.sync.any.pred $p, $p, ", "vote.sync.all.pred $p, !$p, ",
        "vote.sync.uni.pred $p, $p, ",   "match.any.sync.b32 $r, $r, ", "redux.sync.add.s32 $r, $r, ",
        "redux.sync.max.u32 $r, $r, ",   "redux.sync.xor.b32 $r, $r, ", "match.all.sync.b32 $r|$p, $r, "};
    char mask[16];
    mask_name(at, mask);
    // In a last warp that is not full, some lanes are not there to be read from.
    if (at->mask == -1 && g->block % 32 == 0 && below(g, 2)) {
        emit(g, PICK(g, full));
    } else if (below(g, 4) == 0) { // from the first lane that is here
        gr_str_addf(g->out, "%s", at->mask == -1 ? "mov.u32 %t0, 0;" : "");
        if (at->mask >= 0)
            gr_str_addf(g->out, "brev.b32 %%t0, %s; clz.b32 %%t0, %%t0;", mask);
        emit(g, "shfl.sync.idx.b32 $r, $r, %t0, 31, ");
    } else if (below(g, 6) == 0) { // through shared memory
        emit(g, "st.shared.u32 [%slot], $r;");
        gr_str_addf(g->out, "bar.warp.sync %s;\n", mask);
        gr_str_addf(g->out, "%s", at->mask == -1 ? "mov.u32 %t0, 0;" : "");
        if (at->mask >= 0)
            gr_str_addf(g->out, "brev.b32 %%t0, %s; clz.b32 %%t0, %%t0;", mask);
        emit(g, "and.b32 %t1, %me, -32; add.u32 %t0, %t0, %t1; shl.b32 %t0, %t0, 4; mov.u32 %t1, slots; "
                "add.u32 %t0, %t0, %t1; ld.shared.u32 $r, [%t0];");
        gr_str_addf(g->out, "bar.warp.sync %s;\n", mask);
        return;
    } else {
        emit(g, PICK(g, any));
    }
    gr_str_addf(g->out, "%s;\n", mask);
}

void call(Gen *g) {
    gr_str_add(g->out, "{ .param .b32 a0; .param .b64 a1; .param .b32 v;\n");
    emit(g, "st.param.b32 [a0], $r; st.param.b64 [a1], $d;");
    gr_str_addf(g->out, "call (v), f%u, (a0, a1);\n", below(g, FUNCTIONS));
    emit(g, "ld.param.b32 $r, [v]; }");
}
