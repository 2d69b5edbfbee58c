// SPDX-License-Identifier: Apache-2.0
// alu_cvt_select — which kernel a cvt needs: by the two types, the widths of the two registers (integer operands may
// be wider than their types, PTX ISA 9.4.1) and the modifiers.

#include "vm/alu/alu_cvt.h"
#include "vm/alu/alu_select.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *text;
    unsigned flag;
} flag_names[] = {
    {"rn", ALU_RN},
    {"rz", ALU_RZ},
    {"rm", ALU_RM},
    {"rp", ALU_RP},
    {"ftz", ALU_FTZ},
    {"sat", ALU_SAT},
    {"relu", ALU_RELU},
    {"NaN", ALU_NAN},
    {"abs", ALU_ABS},
    {"xorsign", ALU_XORSIGN},
    {"oob", ALU_OOB},
    {"rna", ALU_RNA},
    {"satfinite", ALU_SATFINITE},
    {"rs", ALU_RS},
};

bool gr_alu_flag(const char *text, unsigned *flags) {
    for (size_t j = 0; j < sizeof flag_names / sizeof *flag_names; j++)
        if (!strcmp(text, flag_names[j].text)) {
            *flags |= flag_names[j].flag;
            return true;
        }
    return false;
}

typedef struct Cvt {
    const char *dst, *src; // type names as written
    unsigned n_types;
    unsigned flags, integer; // AluFlags, AluToInteger
    bool pack;
    const char *extra; // cvt.pack's third type
} Cvt;

// Width of a type if it is an integer type, else 0.
static unsigned int_bits(const char *t) {
    static const char *const names[] = {"u2", "u4", "u8", "u16", "u32", "u64",
                                        "s2", "s4", "s8", "s16", "s32", "s64"};
    static const uint8_t bits[] = {2, 4, 8, 16, 32, 64};
    for (unsigned j = 0; j < 12; j++)
        if (!strcmp(t, names[j]))
            return bits[j % 6];
    return 0;
}

static unsigned float_bits_of(const char *t) {
    static const struct {
        const char *name;
        unsigned bits;
    } names[] = {{"f16", 16},    {"bf16", 16},   {"tf32", 32},   {"f32", 32},    {"f64", 64},
                 {"f16x2", 32},  {"bf16x2", 32}, {"e4m3x2", 16}, {"e5m2x2", 16}, {"e2m3x2", 16},
                 {"e3m2x2", 16}, {"e2m1x2", 16}, {"ue8m0x2", 16}};
    for (unsigned j = 0; j < sizeof names / sizeof *names; j++)
        if (!strcmp(t, names[j].name))
            return names[j].bits;
    return 0;
}

static bool parse(const PtxInstr *i, Cvt *c) {
    static const char *const integer[] = {
        [ALU_RNI] = "rni", [ALU_RZI] = "rzi", [ALU_RMI] = "rmi", [ALU_RPI] = "rpi"};
    memset(c, 0, sizeof *c);
    for (unsigned m = 0; m < i->n_mods; m++) {
        const char *text = i->mods[m].text;
        unsigned mode = 0;
        for (unsigned j = ALU_RNI; j <= ALU_RPI; j++)
            if (!strcmp(text, integer[j]))
                mode = j;
        if (mode) {
            c->integer = mode;
        } else if (int_bits(text) || float_bits_of(text) || (c->pack && !strcmp(text, "b32"))) {
            const char **to = c->n_types == 0 ? &c->dst : c->n_types == 1 ? &c->src : &c->extra;
            *to = text;
            c->n_types++;
        } else if (!strcmp(text, "pack")) {
            c->pack = true;
        } else if (!gr_alu_flag(text, &c->flags)) {
            return false;
        }
    }
    return c->n_types == (c->extra ? 3u : 2u) && (!c->extra || c->pack) && !(c->flags & (ALU_RS | ALU_OOB));
}

// The register an integer operand sits in: 16, 32 or 64 bits wide.
static unsigned register_bits(const PtxOperand *o, unsigned type_bits) {
    unsigned bits = o->kind == PTX_O_REG ? gr_ptx_type_bits(o->reg->type) : type_bits;
    if (o->kind == PTX_O_SREG || bits < type_bits)
        bits = type_bits;
    return bits < 16 ? 16 : bits;
}

static PtxType bits_type(unsigned bits) { return bits == 16 ? PTX_B16 : bits == 32 ? PTX_B32 : PTX_B64; }

static bool use(VmAlu *out, const char *key) {
    const AluKernel *k = gr_alu_kernel(key);
    if (!k)
        return false;
    out->exec[0] = k->exec[0];
    out->exec[1] = k->exec[1];
    return true;
}

static bool int_to_int(const Cvt *c, VmAlu *out, unsigned src_reg, unsigned dst_reg) {
    char key[48];
    unsigned from = int_bits(c->src), to = int_bits(c->dst);
    bool from_signed = c->src[0] == 's', to_signed = c->dst[0] == 's';
    if (c->integer || c->flags & ~(unsigned)ALU_SAT)
        return false;
    if (c->flags & ALU_SAT) {
        snprintf(key, sizeof key, "cvt_int_sat.%u_%u", src_reg, dst_reg);
        return use(out, key);
    }
    // When the source fills its register and the result is one extension or truncation: a kernel of its own.
    unsigned n = from < to ? from : to;
    bool is_signed = to <= from ? to_signed : from_signed;
    bool one_step = to <= from || dst_reg == to || from_signed == to_signed;
    if (one_step && n == src_reg && dst_reg > n)
        snprintf(key, sizeof key, "extend.%c%u_%u", is_signed ? 's' : 'u', n, dst_reg);
    else if (n == dst_reg && src_reg == n)
        snprintf(key, sizeof key, "mov.b%u", n);
    else if (n == dst_reg)
        snprintf(key, sizeof key, "truncate.b%u_%u", src_reg, n);
    else
        snprintf(key, sizeof key, "cvt_int.%u_%u", src_reg, dst_reg);
    return use(out, key);
}

// alu_round.c's kernels, when nothing but the rounding is asked for.
static bool use_rounding(const Cvt *c, VmAlu *out) {
    static const char *const modes[] = {
        [ALU_RNI] = "rni", [ALU_RZI] = "rzi", [ALU_RMI] = "rmi", [ALU_RPI] = "rpi"};
    char key[48];
    snprintf(key, sizeof key, "cvt_%s.%s_%s", modes[c->integer], c->dst, c->src);
    return use(out, key);
}

static bool float_to_int(const Cvt *c, VmAlu *out, unsigned dst_reg) {
    char key[48];
    if (!c->integer || c->flags & ~(unsigned)(ALU_FTZ | ALU_SAT))
        return false;
    if (dst_reg == int_bits(c->dst) && !(c->flags & ALU_FTZ) && use_rounding(c, out))
        return true;
    snprintf(key, sizeof key, "cvt_ftoi.%s_%u", c->src, dst_reg);
    return use(out, key);
}

static bool int_to_float(const Cvt *c, VmAlu *out, unsigned src_reg) {
    char key[48];
    unsigned from = int_bits(c->src);
    if (c->integer || c->flags & ~(unsigned)(ALU_ROUNDING | ALU_FTZ | ALU_SAT))
        return false;
    bool f64 = !strcmp(c->dst, "f64"), f32 = !strcmp(c->dst, "f32");
    if (from == src_reg && !(c->flags & ALU_SAT) && (f64 || f32))
        snprintf(key, sizeof key, "cvt_hard.%s_%s", c->dst, c->src);
    else
        snprintf(key, sizeof key, "cvt_itof.%s_%u", c->dst, src_reg);
    return use(out, key);
}

static bool float_to_float(const Cvt *c, VmAlu *out) {
    char key[48];
    const char *d = c->dst, *s = c->src;
    bool same = !strcmp(d, s);
    if (c->integer && !c->flags && same && use_rounding(c, out))
        return true;
    if (same && !strcmp(d, "f32") && !c->integer && !c->flags)
        return use(out, "mov.b32");
    unsigned fast = 0; // flags the fast kernel of this pair understands
    bool has_fast = !c->integer;
    if (!strcmp(d, "f32") && (!strcmp(s, "f64") || same))
        fast = ALU_ROUNDING | ALU_FTZ | ALU_SAT;
    else if (same && !strcmp(d, "f64") && !c->integer && !c->flags)
        return use(out, "mov.b64");
    else
        has_fast = has_fast && !c->flags && (!strcmp(d, "f32") || !strcmp(s, "f32")) && strcmp(d, "tf32");
    if (c->flags == ALU_RNA && !strcmp(d, "tf32") && !strcmp(s, "f32"))
        return use(out, "cvt_rna.tf32_f32");
    if (has_fast && !(c->flags & ~fast)) {
        snprintf(key, sizeof key, "cvt_fast.%s_%s", d, s);
        return use(out, key);
    }
    snprintf(key, sizeof key, "cvt.%s_%s", d, s);
    return use(out, key);
}

bool gr_alu_select_cvt(const PtxInstr *i, VmAlu *out) {
    Cvt c;
    char key[48];
    memset(out, 0, sizeof *out);
    if (!parse(i, &c) || i->n_operands < 2)
        return false;
    unsigned to = int_bits(c.dst), from = int_bits(c.src);
    if (c.pack) {
        if (!(c.flags & ALU_SAT) || !to || strcmp(c.src, "s32") || i->n_operands != (c.extra ? 4u : 3u))
            return false;
        *out = (VmAlu){.dst = PTX_B32, .n_src = c.extra ? 3 : 2, .src = {PTX_S32, PTX_S32, PTX_B32}};
        out->imm = (uint64_t)to << 32 | (uint64_t)(c.dst[0] == 's') << 39;
        return use(out, c.extra ? "cvt_pack.3" : "cvt_pack.2");
    }
    if (to == 2 || to == 4 || from == 2 || from == 4)
        return false;
    unsigned dst_reg = register_bits(&i->operands[0], to ? to : float_bits_of(c.dst));
    unsigned src_reg = register_bits(&i->operands[1], from ? from : float_bits_of(c.src));
    bool packed = strstr(c.dst, "x2") || strstr(c.src, "x2");
    out->n_src = packed && !strcmp(c.src, "f32") ? 2 : 1;
    if (i->n_operands != out->n_src + 1u)
        return false;
    out->dst = to ? bits_type(dst_reg) : bits_type(float_bits_of(c.dst));
    out->src[0] = out->src[1] = from ? bits_type(src_reg) : bits_type(float_bits_of(c.src));
    if (i->operands[1].kind !=
        PTX_O_REG) { // immediates and special registers are read in the source's own type
        out->src[0] = i->type[1];
        src_reg = from ? (from < 16 ? 16 : from) : src_reg;
    }
    out->imm = c.flags | (uint64_t)c.integer << 16 | (uint64_t)from << 24 |
               (uint64_t)(c.src[0] == 's') << 31 | (uint64_t)to << 32 | (uint64_t)(c.dst[0] == 's') << 39;
    if (to && !from && (to == 64 || !strcmp(c.src, "f64")))
        out->imm |= (uint64_t)1 << 40;
    if (packed) {
        snprintf(key, sizeof key, "cvt2_fast.%s_%s", c.dst, c.src);
        if (!c.integer && !c.flags && use(out, key))
            return true;
        snprintf(key, sizeof key, "cvt2.%s_%s", c.dst, c.src);
        return !c.integer && use(out, key);
    }
    if (to)
        return from ? int_to_int(&c, out, src_reg, dst_reg) : float_to_int(&c, out, dst_reg);
    return from ? int_to_float(&c, out, src_reg) : float_to_float(&c, out);
}
