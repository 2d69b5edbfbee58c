// SPDX-License-Identifier: Apache-2.0
// generate — random PTX kernels. See generate.h.
//
// What makes a kernel's result independent of order: each thread writes only its own piece of global memory, reads others' shared
// memory only between barriers, and does only such atomic operations as commute, without looking at their results. What
// makes it valid: barriers and full-mask warp instructions stand where control flow is the same for the whole block; where it is not,
// warp instructions name the lanes that are there, which a ballot found before they parted.
#include "generate.h"

#include "base/rng.h"

#include <string.h>

enum { MAX_DEPTH = 3, FUNCTIONS = 2 };

typedef struct Gen {
    Rng rng;
    StrBuf *out;
    uint32_t block;
    unsigned labels, masks;
    unsigned budget; // statements yet to be generated
    bool function;   // inside a device function: registers only
} Gen;

// Where code stands: who is certain to be there.
typedef struct Place {
    bool block; // all threads of the block
    int mask;   // number of the register with the lanes of the warp that are here; -1: all, -2: not known
    unsigned depth;
} Place;

static uint32_t below(Gen *g, uint32_t n) { return gr_rng_below(&g->rng, n); }

static const struct {
    char kind;
    const char *name;
    unsigned n;
} pools[] = {{'r', "%r", 10}, {'d', "%d", 5}, {'f', "%f", 6}, {'g', "%g", 3},
             {'h', "%h", 4},  {'p', "%p", 5}, {'u', "%u", 3}};

// Emits `t` with each $x replaced: r d f g h p u by a register of that pool (u: the same value in the whole block), i by a number
// below 32, n by one above 0, w by any word, c by a comparison, L by the number of the label in hand.
static void emit(Gen *g, const char *t) {
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

#define PICK(g, list) (list)[below((g), sizeof(list) / sizeof *(list))]

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

static void compute(Gen *g) {
    const char *t = PICK(g, arithmetic);
    // A guard would stand for the first of several only, and none goes before a brace. Nor before set with a float result: ptxas
    // 13.0 then converts the register's old value, too, where the guard is false.
    bool guardable = !strchr(strchr(t, ';') + 1, ';') && *t != '{' && strncmp(t, "set.$c.f32", 10) != 0;
    if (below(g, 6) == 0 && guardable)
        emit(g, below(g, 2) ? "@$p " : "@!$p ");
    emit(g, t);
}

// Of values that are the same in the whole block.
static void compute_uniform(Gen *g) {
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

// The thread's own memory, global or on its stack.
static void own_memory(Gen *g) {
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

static void read_table(Gen *g) {
    static const char *const op[] = {"ld.global", "ld.global.nc", "ld", "ldu.global"};
    const Shape *s = &PICK(g, shapes);
    address(g, "%table", RANDOM_TABLE, s->align);
    load(g, PICK(g, op), s, "[%t64]");
}

// From the table to the thread's own slot of shared memory, and from there to a register.
static void copy_async(Gen *g) {
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

static void read_constant(Gen *g) {
    emit(g, "and.b32 %t0, $r, 60; cvt.u64.u32 %t64, %t0; mov.u64 %t65, numbers; add.s64 %t64, %t64, %t65; "
            "ld.const.u32 $r, [%t64];");
}

// Updates that commute: each word of the counters knows one operation only.
static void count(Gen *g) {
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

// Everybody writes a slot; then everybody reads anybody's.
static void exchange_in_block(Gen *g) {
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

static void count_in_block(Gen *g) {
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

static void mask_name(const Place *at, char out[16]) {
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

static void exchange_in_warp(Gen *g, const Place *at) {
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

static void call(Gen *g) {
    gr_str_add(g->out, "{ .param .b32 a0; .param .b64 a1; .param .b32 v;\n");
    emit(g, "st.param.b32 [a0], $r; st.param.b64 [a1], $d;");
    gr_str_addf(g->out, "call (v), f%u, (a0, a1);\n", below(g, FUNCTIONS));
    emit(g, "ld.param.b32 $r, [v]; }");
}

// ---- Control flow ------------------------------------------------------------------------------------------

static void body(Gen *g, const Place *at, unsigned most);

static void branch(Gen *g, const Place *at) {
    unsigned label = g->labels++;
    Place inside = *at;
    inside.depth++;
    if (at->block && below(g, 3) == 0) { // the whole block goes one way
        emit(g, "setp.$c.u32 %q, $u, $u;");
    } else {
        inside.block = false;
        emit(g, "mov.pred %q, $p;");
        if (at->mask == -2 || g->function || g->masks >= 40) {
            inside.mask = -2;
        } else {
            char mask[16];
            mask_name(at, mask);
            inside.mask = (int)g->masks;
            g->masks += 2;
            gr_str_addf(g->out, "vote.sync.ballot.b32 %%m%d, %%q, %s; not.b32 %%m%d, %%m%d;\n", inside.mask,
                        mask, inside.mask + 1, inside.mask);
            if (at->mask != -1)
                gr_str_addf(g->out, "and.b32 %%m%d, %%m%d, %s;\n", inside.mask + 1, inside.mask + 1, mask);
        }
    }
    bool other = below(g, 2);
    gr_str_addf(g->out, "@!%%q bra%s %s%u;\n", inside.block && below(g, 2) ? ".uni" : "",
                other ? "ELSE" : "END", label);
    body(g, &inside, 6);
    if (other) {
        gr_str_addf(g->out, "bra END%u;\nELSE%u:\n", label, label);
        if (inside.mask >= 0)
            inside.mask += inside.mask == at->mask ? 0 : 1;
        body(g, &inside, 6);
    }
    gr_str_addf(g->out, "END%u:\n", label);
}

// Counts down a register that nothing else uses.
static void loop(Gen *g, const Place *at) {
    unsigned label = g->labels++;
    Place inside = *at;
    inside.depth++;
    if (at->block && below(g, 3) == 0)
        gr_str_addf(g->out, "and.b32 %%n%u, %%u%u, 3;\n", at->depth, below(g, 3)); // as often for all
    else if (below(g, 2))
        gr_str_addf(g->out, "mov.u32 %%n%u, %u;\n", at->depth, below(g, 4));
    else {
        inside.block = false;
        inside.mask = -2;
        gr_str_addf(g->out, "and.b32 %%n%u, %%r%u, 3;\n", at->depth, below(g, 10)); // as often as each likes
    }
    gr_str_addf(g->out, "LOOP%u:\n", label);
    body(g, &inside, 5);
    if (!inside.block && inside.mask == -2 && below(g, 2)) { // out of the middle
        emit(g, "mov.pred %q, $p;");
        gr_str_addf(g->out, "@%%q bra OUT%u;\n", label);
        body(g, &inside, 3);
    }
    gr_str_addf(g->out, "setp.eq.u32 %%q, %%n%u, 0; sub.u32 %%n%u, %%n%u, 1; @!%%q bra LOOP%u;\nOUT%u:\n",
                at->depth, at->depth, at->depth, label, label);
}

static void table_branch(Gen *g, const Place *at) {
    unsigned label = g->labels++;
    Place inside = {.block = false, .mask = -2, .depth = at->depth + 1};
    emit(g, "and.b32 %t0, $r, 3;");
    gr_str_addf(g->out, "T%u: .branchtargets C%u_0, C%u_1, C%u_2, C%u_3;\nbrx.idx %%t0, T%u;\n", label, label,
                label, label, label, label);
    for (unsigned k = 0; k < 4; k++) {
        gr_str_addf(g->out, "C%u_%u:\n", label, k);
        body(g, &inside, 2);
        if (below(g, 4)) // else it falls through
            gr_str_addf(g->out, "bra END%u;\n", label);
    }
    gr_str_addf(g->out, "END%u:\n", label);
}

static void statement(Gen *g, const Place *at) {
    uint32_t k = below(g, 100);
    if (g->function || k < 45)
        compute(g);
    else if (k < 49)
        at->block ? compute_uniform(g) : compute(g);
    else if (k < 57)
        own_memory(g);
    else if (k < 60)
        read_table(g);
    else if (k < 61)
        copy_async(g);
    else if (k < 62)
        read_constant(g);
    else if (k < 66)
        count(g);
    else if (k < 68)
        call(g);
    else if (k < 74 && at->mask != -2)
        exchange_in_warp(g, at);
    else if (k < 79 && at->block)
        exchange_in_block(g);
    else if (k < 81 && at->block)
        count_in_block(g);
    else if (k < 82)
        emit(g, "nanosleep.u32 $i;");
    else if (k < 90 && at->depth < MAX_DEPTH)
        branch(g, at);
    else if (k < 96 && at->depth < MAX_DEPTH)
        loop(g, at);
    else if (k < 97 && at->depth < MAX_DEPTH)
        table_branch(g, at);
    else
        compute(g);
}

static void body(Gen *g, const Place *at, unsigned most) {
    for (unsigned n = 1 + below(g, most); n > 0 && g->budget > 0; n--) {
        g->budget--;
        statement(g, at);
    }
}

// ---- The module --------------------------------------------------------------------------------------------

static const char registers[] =
    ".reg .b32 %r<10>, %u<3>, %t<3>, %n<8>, %m<48>, %me, %junk, %slot; .reg .b64 %d<5>, %t64, %t65, %own, "
    "%table, %counts, %local, "
    "%glocal, %gslot, %junk64; .reg .f32 %f<6>; .reg .f64 %g<3>; .reg .b16 %h<4>; .reg .pred %p<5>, %q;\n";

// Registers begin with what tells threads apart.
static void initialize(Gen *g, const char *seed) {
    for (unsigned k = 0; k < 10; k++) {
        gr_str_addf(g->out, "mad.lo.u32 %%r%u, %s, ", k, seed);
        emit(g, "$w, $w;");
    }
    for (unsigned k = 0; k < 5; k++)
        gr_str_addf(g->out, "mul.wide.u32 %%d%u, %%r%u, %%r%u; setp.lt.s32 %%p%u, %%r%u, 0;\n", k, k, k + 5,
                    k, k);
    for (unsigned k = 0; k < 6; k++)
        gr_str_addf(g->out, "and.b32 %%t0, %%r%u, 1023; cvt.rn.f32.s32 %%f%u, %%t0;\n", k, k);
    gr_str_add(g->out, "cvt.f64.f32 %g0, %f0; cvt.f64.f32 %g1, %f1; cvt.f64.f32 %g2, %f2;\n");
    for (unsigned k = 0; k < 4; k++)
        gr_str_addf(g->out, "cvt.u16.u32 %%h%u, %%r%u;\n", k, k);
}

// All registers, in one.
static void combine(Gen *g, unsigned into) {
    for (unsigned k = 0; k < 10; k++)
        if (k != into)
            gr_str_addf(g->out, "mad.lo.u32 %%r%u, %%r%u, 31, %%r%u;\n", into, into, k);
    for (unsigned k = 0; k < 5; k++)
        gr_str_addf(g->out,
                    "cvt.u32.u64 %%t0, %%d%u; xor.b32 %%r%u, %%r%u, %%t0; selp.u32 %%t0, %u, 0, %%p%u; "
                    "add.u32 %%r%u, %%r%u, %%t0;\n",
                    k, into, into, 1u << k, k, into, into);
    for (unsigned k = 0; k < 6; k++)
        gr_str_addf(g->out, "mov.b32 %%t0, %%f%u; mad.lo.u32 %%r%u, %%r%u, 17, %%t0;\n", k, into, into);
    for (unsigned k = 0; k < 3; k++)
        gr_str_addf(g->out, "mov.b64 %%t64, %%g%u; cvt.u32.u64 %%t0, %%t64; xor.b32 %%r%u, %%r%u, %%t0;\n", k,
                    into, into);
    for (unsigned k = 0; k < 4; k++)
        gr_str_addf(g->out, "cvt.u32.u16 %%t0, %%h%u; mad.lo.u32 %%r%u, %%r%u, 5, %%t0;\n", k, into, into);
}

static void function(Gen *g, unsigned n) {
    gr_str_addf(g->out, ".func (.param .b32 v) f%u (.param .b32 a0, .param .b64 a1) {\n%s", n, registers);
    g->function = true;
    g->budget = 1 + below(g, 12);
    emit(g, "ld.param.b32 %me, [a0];");
    initialize(g, "%me");
    emit(g, "ld.param.b64 %d0, [a1];");
    Place at = {.block = false, .mask = -2, .depth = MAX_DEPTH};
    while (g->budget > 0)
        body(g, &at, 8);
    combine(g, 0);
    gr_str_add(g->out, "st.param.b32 [v], %r0; ret;\n}\n");
    g->function = false;
}

bool random_kernel(uint64_t seed, RandomKernel *out) {
    static const uint32_t sizes[] = {32, 64, 64, 96, 128, 128, 33, 40, 100, 7};
    Gen gen = {.rng = gr_rng_fork(seed, 77, 0), .out = &out->text}, *g = &gen;
    out->text.len = 0;
    out->block = g->block = PICK(g, sizes);
    out->grid = 1 + below(g, RANDOM_BLOCKS);
    gr_str_add(g->out, ".version 8.4\n.target sm_90\n.address_size 64\n.const .align 4 .b32 numbers[16] = {");
    for (unsigned k = 0; k < 16; k++)
        gr_str_addf(g->out, "%s%u", k ? ", " : "", (uint32_t)gr_rng_next(&g->rng));
    gr_str_add(g->out, "};\n");
    for (unsigned k = 0; k < FUNCTIONS; k++)
        function(g, k);
    gr_str_addf(g->out, ".visible .entry k(.param .u64 own, .param .u64 table, .param .u64 counts) {\n%s",
                registers);
    gr_str_addf(g->out, ".shared .align 16 .b8 slots[%u]; .local .align 16 .b8 stack[128];\n",
                RANDOM_THREADS * 16);
    gr_str_addf(g->out,
                "mov.u32 %%me, %%tid.x; mov.u32 %%u0, %%ctaid.x; mad.lo.u32 %%t0, %%u0, %u, %%me;\n"
                "ld.param.u64 %%own, [own]; cvta.to.global.u64 %%own, %%own; mul.wide.u32 %%t64, %%t0, %u; "
                "add.s64 %%own, %%own, %%t64;\n"
                "ld.param.u64 %%table, [table]; ld.param.u64 %%counts, [counts]; mov.u64 %%local, stack; "
                "cvta.local.u64 %%glocal, %%local;\n"
                "mov.u32 %%slot, slots; shl.b32 %%t1, %%me, 4; add.u32 %%slot, %%slot, %%t1; cvt.u64.u32 "
                "%%gslot, %%slot; "
                "cvta.shared.u64 %%gslot, %%gslot; mov.u32 %%u1, 7; mov.u32 %%u2, %%nctaid.x;\n",
                g->block, RANDOM_OWN);
    gr_str_add(g->out, "mov.u32 %t2, %t0;\n");
    initialize(g, "%t2");
    // The stack begins as zeros: what it holds at first is not defined.
    for (unsigned k = 0; k < 8; k++)
        gr_str_addf(g->out, "st.local.v2.u64 [%%local+%u], {0, 0}; ", k * 16);
    gr_str_add(g->out,
               "\nst.shared.v2.u64 [%slot], {0, 0}; bar.sync 0;\n"); // nor is what shared memory holds
    Place top = {.block = true, .mask = -1, .depth = 0};
    g->budget = 5 + below(g, 60);
    while (g->budget > 0)
        body(g, &top, 10);
    if (below(g, 3) == 0) { // some leave before the end
        emit(g, "@$p st.global.u32 [%own+120], $r; @$p exit;");
    }
    combine(g, 0);
    gr_str_add(g->out, "st.global.u32 [%own+124], %r0; ret;\n}\n");
    return !out->text.oom;
}
