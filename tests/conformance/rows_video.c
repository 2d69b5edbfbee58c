// SPDX-License-Identifier: Apache-2.0
// rows_video — video instructions with selectors, masks, merging and scaling (PTX ISA 9.7.18) as conformance rows;
// those on whole registers are among the arithmetic. The reference follows the ISA's pseudocode. The selectors of a row
// are drawn from its name.
#include "row.h"
#include "values.h"

#include "../vm/alu_ref.h"

#include <stdio.h>
#include <string.h>

static const char *const scalars[] = {
    "{vadd,vsub,vabsdiff,vmin,vmax}.{u32,s32}.{u32,s32}.{u32,s32}{,.sat}",
    "vshl.{u32,s32}.{u32,s32}.u32{,.sat}{.clamp,.wrap}",
    "vshr.{u32,s32}.{u32,s32}.u32{,.sat}{.clamp,.wrap}",
    "vset.{u32,s32}.{u32,s32}.{eq,ne,lt,le,gt,ge}",
};
static const char *const mads[] = {"vmad.{u32,s32}.{u32,s32}.{u32,s32}{,.po}{,.sat}{,.shr7,.shr15}"};
static const char *const simds[] = {
    "{vadd,vsub,vavrg,vabsdiff,vmin,vmax}{2,4}.{u32,s32}.{u32,s32}.{u32,s32}{,.sat,.add}",
    "vset{2,4}.{u32,s32}.{u32,s32}.{eq,ne,lt,le,gt,ge}{,.add}",
};

typedef struct Video {
    RefInsn r;
    char kind; // 's' scalar, 'm' vmad, 'v' SIMD
    unsigned parts;
    bool d_signed, a_signed, b_signed;
    int dsel, asel,
        bsel;   // scalar: -1 whole, 0 .. 3 bytes, 4, 5 halves; SIMD: mask, or an element of each part
    int second; // 0, 'a' add, 'i' min, 'x' max, 'm' merge
    bool neg_a, neg_b, neg_c;
    unsigned a_of[4], b_of[4]; // SIMD: elements of {b, a}
} Video;

static bool is(const Video *v, const char *op) { return !strncmp(v->r.op, op, strlen(op)); }

static __int128 part(uint64_t x, bool is_signed, unsigned at, unsigned bits) {
    x = x >> at & (((uint64_t)1 << bits) - 1);
    return is_signed && x >> (bits - 1) & 1 ? (__int128)x - ((__int128)1 << bits) : (__int128)x;
}
static __int128 selected(uint32_t x, bool is_signed, int sel) {
    return sel < 0   ? part(x, is_signed, 0, 32)
           : sel < 4 ? part(x, is_signed, 8u * (unsigned)sel, 8)
                     : part(x, is_signed, 16u * (unsigned)(sel - 4), 16);
}
static __int128 clamp(__int128 x, bool is_signed, unsigned bits) {
    __int128 max = ((__int128)1 << (bits - is_signed)) - 1, min = is_signed ? -max - 1 : 0;
    return x < min ? min : x > max ? max : x;
}
static bool compare(const Video *v, __int128 a, __int128 b) {
    const RefInsn *r = &v->r;
    return ref_has(r, "eq")   ? a == b
           : ref_has(r, "ne") ? a != b
           : ref_has(r, "lt") ? a < b
           : ref_has(r, "le") ? a <= b
           : ref_has(r, "gt") ? a > b
                              : a >= b;
}
static __int128 operate(const Video *v, __int128 a, __int128 b) {
    return is(v, "vadd")       ? a + b
           : is(v, "vsub")     ? a - b
           : is(v, "vavrg")    ? (a + b >= 0 ? (a + b + 1) >> 1 : (a + b) >> 1)
           : is(v, "vabsdiff") ? (a > b ? a - b : b - a)
           : is(v, "vmin")     ? (a < b ? a : b)
           : is(v, "vmax")     ? (a > b ? a : b)
                               : (__int128)compare(v, a, b);
}

static uint32_t scalar(const Video *v, uint32_t a, uint32_t b, uint32_t c) {
    __int128 x = selected(a, v->a_signed, v->asel), y = selected(b, v->b_signed, v->bsel), t;
    if (is(v, "vsh")) {
        if (ref_has(&v->r, "wrap"))
            y &= 31;
        else if (y > 32)
            y = 32;
        t = is(v, "vshl") ? x * ((__int128)1 << y) : x >> y;
    } else {
        t = operate(v, x, y);
    }
    unsigned bits = v->second != 'm' ? 32
                    : v->dsel < 4    ? 8
                                     : 16,
             at = v->dsel < 4 ? 8u * (unsigned)v->dsel : 16u * (unsigned)(v->dsel - 4);
    if (ref_has(&v->r, "sat")) {
        if (bits == 32 && !v->d_signed)
            t = t < 0 ? 0 : t; // a GPU does not saturate upwards
        else
            t = clamp(t, v->d_signed, bits);
    }
    if (v->second == 'm') {
        uint32_t mask = ((1u << bits) - 1) << at;
        return ((uint32_t)t << at & mask) | (c & ~mask);
    }
    // A GPU compares c as signed, and keeps the sign that minima, maxima and differences have.
    if (!v->d_signed || !(is(v, "vmin") || is(v, "vmax") || is(v, "vabsdiff")))
        t = part((uint64_t)t & 0xffffffff, v->d_signed, 0, 32);
    __int128 z = part(c, v->d_signed || (is(v, "vset") && v->a_signed), 0, 32);
    bool less = t < z;
    t = v->second == 'a' ? t + z : v->second == 'i' ? (less ? t : z) : v->second == 'x' ? (less ? z : t) : t;
    return (uint32_t)t;
}

static uint32_t mad(const Video *v, uint32_t a, uint32_t b, uint32_t c) {
    __int128 t = selected(a, v->a_signed, v->asel) * selected(b, v->b_signed, v->bsel);
    bool is_signed = v->a_signed || v->b_signed || v->neg_a != v->neg_b || v->neg_c, lsb = false;
    __int128 z = part(c, is_signed, 0, 32);
    if (ref_has(&v->r, "po")) {
        lsb = true;
    } else if (v->neg_a != v->neg_b) {
        t = ~t;
        lsb = true;
    } else if (v->neg_c) {
        z = ~z;
        lsb = true;
    }
    t += z + lsb;
    t >>= ref_has(&v->r, "shr7") ? 7 : ref_has(&v->r, "shr15") ? 15 : 0;
    if (ref_has(&v->r, "sat"))
        t = clamp(t, is_signed, 32);
    return (uint32_t)t;
}

static uint32_t simd(const Video *v, uint32_t a, uint32_t b, uint32_t c) {
    unsigned bits = 32 / v->parts;
    uint64_t both = a | (uint64_t)b << 32;
    uint32_t d = c, sum = c;
    for (unsigned j = 0; j < v->parts; j++) {
        __int128 t = operate(v, part(both, v->a_signed, v->a_of[j] * bits, bits),
                             part(both, v->b_signed, v->b_of[j] * bits, bits));
        if (ref_has(&v->r, "sat"))
            t = clamp(t, v->d_signed, bits);
        uint32_t mask = ((1u << bits) - 1) << j * bits;
        if (v->dsel >> j & 1) {
            d = ((uint32_t)t << j * bits & mask) | (d & ~mask);
            sum += (uint32_t)t;
        }
    }
    return v->second == 'a' ? sum : d;
}

static void fill(const Row *row, uint64_t *in) {
    Rng rng = gr_rng(value_hash(row->name));
    for (uint32_t i = 0; i < row->n * 3; i++)
        in[i] = gr_rng_below(&rng, 3) ? value_random(&rng, "u32") : value_random(&rng, "u16x2");
}

static void expect(const Row *row, const uint64_t *in, uint64_t *out) {
    const Video *v = row->data;
    for (uint32_t i = 0; i < row->n; i++, in += 3)
        out[i] = (v->kind == 's'   ? scalar
                  : v->kind == 'm' ? mad
                                   : simd)(v, (uint32_t)in[0], (uint32_t)in[1], (uint32_t)in[2]);
}

typedef struct Emit {
    OnRow on;
    void *arg;
    char kind;
} Emit;

static const char *const selectors[] = {".b0", ".b1", ".b2", ".b3", ".h0", ".h1"};

static const char *scalar_selector(int sel) { return sel < 0 ? "" : selectors[sel]; }

static void simd_selector(char *text, const Video *v, const unsigned *of) {
    char *p = text + sprintf(text, v->parts == 2 ? ".h" : ".b");
    for (unsigned j = v->parts; j-- > 0;)
        *p++ = (char)('0' + of[j]);
    *p = 0;
}

static void emit(const Emit *e, Video *v, const char *spelling, Rng *rng) {
    static Row row;
    memset(&row, 0, sizeof row);
    char d[16] = "", a[16] = "", b[16] = "";
    const char *second = "";
    if (v->kind == 'v') {
        simd_selector(a, v, v->a_of);
        simd_selector(b, v, v->b_of);
        char *p = d + sprintf(d, v->parts == 2 ? ".h" : ".b");
        for (unsigned j = v->parts; j-- > 0;)
            if (v->dsel >> j & 1)
                *p++ = (char)('0' + j);
        *p = 0;
    } else {
        snprintf(a, sizeof a, "%s", scalar_selector(v->asel));
        snprintf(b, sizeof b, "%s", scalar_selector(v->bsel));
        if (v->second == 'm')
            snprintf(d, sizeof d, "%s", scalar_selector(v->dsel));
        second = v->second == 'a' ? ".add" : v->second == 'i' ? ".min" : v->second == 'x' ? ".max" : "";
    }
    (void)rng;
    snprintf(row.name, sizeof row.name, "%s%s d%s %sa%s %sb%s%s%s", spelling, second, d, v->neg_a ? "-" : "",
             a, v->neg_b ? "-" : "", b,
             v->neg_c                      ? " -c"
             : v->second || v->kind != 's' ? " c"
                                           : "",
             "");
    row.n = 512;
    row.n_in = 3;
    row.n_out = 1;
    row.fill = fill;
    row.expect = expect;
    row.data = v;
    row_begin(&row, "");
    row_text(&row,
             ".reg .b32 %%d, %%a, %%b, %%c;\n.reg .b64 %%w;\nld.global.u32 %%a, [%%in];\nld.global.u32 %%b, "
             "[%%in+8];\n"
             "ld.global.u32 %%c, [%%in+16];\n%s%s %%d%s, %s%%a%s, %s%%b%s",
             spelling, second, d, v->neg_a ? "-" : "", a, v->neg_b ? "-" : "", b);
    if (v->second || v->kind != 's')
        row_text(&row, ", %s%%c", v->neg_c ? "-" : "");
    row_text(&row, ";\ncvt.u64.u32 %%w, %%d;\nst.global.u64 [%%out], %%w;\n");
    row_end(&row);
    e->on(&row, e->arg);
}

static void on_spelling(const char *spelling, const char *operands, void *arg) {
    (void)operands;
    const Emit *e = arg;
    Rng rng = gr_rng(value_hash(spelling) ^ 1);
    for (unsigned form = 0; form < (e->kind == 'v' ? 2 : 3); form++) {
        Video v = {.kind = e->kind};
        ref_parse(spelling, &v.r);
        bool set = is(&v, "vset");
        v.d_signed = !set && v.r.type[0][0] == 's';
        v.a_signed = v.r.type[!set][0] == 's';
        v.b_signed = v.r.type[1 + !set][0] == 's';
        if (e->kind == 'v') {
            v.parts = v.r.op[strlen(v.r.op) - 1] == '2' ? 2 : 4;
            v.dsel = 1 + (int)gr_rng_below(&rng, (1u << v.parts) - 1);
            for (unsigned j = 0; j < 4; j++) {
                v.a_of[j] = gr_rng_below(&rng, 2 * v.parts);
                v.b_of[j] = gr_rng_below(&rng, 2 * v.parts);
            }
            v.second = ref_has(&v.r, "add") ? 'a' : 'm';
        } else {
            v.asel = (int)gr_rng_below(&rng, 7) - 1;
            v.bsel = (int)gr_rng_below(&rng, 7) - 1;
            v.dsel = (int)gr_rng_below(&rng, 6);
            if (e->kind == 's')
                v.second = form == 0 ? 0 : form == 1 ? 'm' : "aix"[gr_rng_below(&rng, 3)];
            else if (!ref_has(&v.r, "po") && form) {
                v.neg_a = form == 1 && gr_rng_below(&rng, 2);
                v.neg_b = form == 1 && !v.neg_a;
                v.neg_c = form == 2;
            }
        }
        // Where NVIDIA's code does not do what the ISA says, this device has no such instruction: see alu_spec.def.
        bool bare = is(&v, "vmin") || is(&v, "vmax") || is(&v, "vabsdiff");
        bool odd =
            (v.second == 'm' && v.kind == 's' && (v.dsel == 5 || ref_has(&v.r, "sat"))) ||
            (v.kind == 'm' && (ref_has(&v.r, "sat") || ref_has(&v.r, "shr7") || ref_has(&v.r, "shr15"))) ||
            (is(&v, "vsh") && (ref_has(&v.r, "sat") || v.second == 'i' || v.second == 'x')) ||
            (!set && !v.d_signed && (v.second == 'i' || v.second == 'x') &&
             !(bare && !v.a_signed && !v.b_signed));
        if (!odd)
            emit(e, &v, spelling, &rng);
        if (e->kind == 'm' && ref_has(&v.r, "po"))
            break;
    }
}

void rows_video(OnRow on, void *arg) {
    Emit s = {on, arg, 's'}, m = {on, arg, 'm'}, v = {on, arg, 'v'};
    for (size_t j = 0; j < sizeof scalars / sizeof *scalars; j++)
        value_expand(scalars[j], "", on_spelling, &s);
    for (size_t j = 0; j < sizeof mads / sizeof *mads; j++)
        value_expand(mads[j], "", on_spelling, &m);
    for (size_t j = 0; j < sizeof simds / sizeof *simds; j++)
        value_expand(simds[j], "", on_spelling, &v);
}
