// SPDX-License-Identifier: Apache-2.0
// alu_select — from an instruction to its kernel. Matches the spelling against the rows of alu_spec.def, builds the
// kernel's key, and finds the kernel in the tables of the chosen instruction set.
//
// A row that matches but has no kernel is refused like an unknown instruction, so that it faults by name.

#include "vm/alu/alu_select.h"
#include "base/str.h"
#include "vm/alu/alu_video.h"

#include <stdio.h>
#include <string.h>

typedef struct Spec {
    const char *spelling, *operands, *kernel;
    bool approximate;
} Spec;

#define APPROX               1
#define SPEC(sp, ops, k, at) {sp, ops, k, at},
static const Spec specs[] = {
#include "vm/alu/alu_spec.def"
};
#undef SPEC
#undef APPROX

// What matching an instruction against a row yields.
typedef struct Match {
    PtxType t, u, v;
    unsigned n_types;
    unsigned flags; // AluFlags
    unsigned bool_op;
    char word[16];       // K's
    char comparison[16]; // C's
    unsigned second;     // A's: AluVideoSecond
} Match;

static bool equals(const char *token, size_t len, const char *word) {
    return strlen(word) == len && !memcmp(token, word, len);
}

// Whether modifier `mod` fits one token of a spelling; what it says goes to *m.
static bool fits(const char *token, size_t len, const char *mod, const PtxInstr *i, Match *m) {
    if (len > 2 && token[1] == ':') {
        if (!gr_words_have(token + 2, len - 2, mod))
            return false;
        switch (token[0]) {
        case 'K': snprintf(m->word, sizeof m->word, "%s", mod); return true;
        case 'C': snprintf(m->comparison, sizeof m->comparison, "%s", mod); return true;
        case 'A':
            m->second = !strcmp(mod, "add")   ? ALU_VIDEO_ADD
                        : !strcmp(mod, "min") ? ALU_VIDEO_MIN
                                              : ALU_VIDEO_MAX;
            return true;
        }
        PtxType t = m->n_types < 4 ? i->type[m->n_types] : PTX_NOTYPE;
        m->n_types++;
        *(token[0] == 'T' ? &m->t : token[0] == 'U' ? &m->u : &m->v) = t;
        return true;
    }
    if (equals(token, len, "R"))
        return gr_words_have("rn,rz,rm,rp", 11, mod) && gr_alu_flag(mod, &m->flags);
    if (equals(token, len, "B")) {
        static const char *const ops[] = {
            [ALU_BOOL_AND] = "and", [ALU_BOOL_OR] = "or", [ALU_BOOL_XOR] = "xor"};
        for (unsigned j = ALU_BOOL_AND; j <= ALU_BOOL_XOR; j++)
            if (!strcmp(mod, ops[j])) {
                m->bool_op = j;
                return true;
            }
        return false;
    }
    if (!equals(token, len, mod))
        return false;
    return true;
}

// The first token behind the opcode that is not in *used and that the modifier fits. Types are taken in their order: a
// later one does not stand for a missing earlier one.
static bool take_token(const char *tokens, const char *mod, const PtxInstr *i, unsigned *used, Match *m) {
    unsigned bit = 1;
    bool typed = false;
    for (const char *p = tokens; *p; bit <<= 1) {
        p++; // the space
        size_t len = strcspn(p, " ");
        bool optional = *p == '[';
        const char *token = optional ? p + 1 : p;
        size_t n = optional ? len - 2 : len;
        bool is_type = n > 2 && token[1] == ':' && strchr("TUV", token[0]);
        p += len;
        if (*used & bit || (is_type && typed))
            continue;
        if (fits(token, n, mod, i, m)) {
            if (optional)
                gr_alu_flag(mod, &m->flags);
            else if (equals(token, n, "ftz"))
                m->flags |= ALU_FTZ;
            *used |= bit;
            return true;
        }
        typed |= is_type;
    }
    return false;
}

// Modifiers other than types may be in any order, as ptxas takes them.
static bool match(const char *spelling, const PtxInstr *i, Match *m) {
    memset(m, 0, sizeof *m);
    size_t len = strcspn(spelling, " ");
    if (!fits(spelling, len, i->opcode, i, m))
        return false;
    const char *tokens = spelling + len;
    unsigned used = 0, bit = 1;
    for (unsigned k = 0; k < i->n_mods; k++)
        if (!take_token(tokens, i->mods[k].text, i, &used, m))
            return false;
    for (const char *p = tokens; *p; bit <<= 1) {
        p++;
        if (*p != '[' && !(used & bit))
            return false;
        p += strcspn(p, " ");
    }
    return true;
}

static PtxType bits_type(unsigned bits) {
    switch (bits) {
    case 1: return PTX_PRED;
    case 8: return PTX_B8;
    case 16: return PTX_B16;
    case 32: return PTX_B32;
    case 64: return PTX_B64;
    default: return PTX_B128;
    }
}

static PtxType operand_type(char c, const Match *m) {
    switch (c) {
    case 'T': return m->t;
    case 'U': return m->u;
    case 'V': return m->v;
    case 'W':
        return gr_ptx_type_is_signed(m->t) ? (gr_ptx_type_bits(m->t) == 16 ? PTX_S32 : PTX_S64)
                                           : (gr_ptx_type_bits(m->t) == 16 ? PTX_U32 : PTX_U64);
    case 'u': return PTX_U32;
    case 's': return PTX_S32;
    case 'h': return PTX_B16;
    case 'f': return PTX_F32;
    case 'p':
    case 'c': return PTX_PRED;
    default: return PTX_NOTYPE;
    }
}

// Destination and source types; false when the instruction has another number of operands.
static bool set_operands(const Spec *s, const Match *m, const PtxInstr *i, VmAlu *out) {
    const char *p = s->operands;
    out->dst = operand_type(*p++, m);
    if (i->n_operands == 0)
        return false;
    if (*p == '?') {
        p++;
        if (i->operands[0].kind == PTX_O_PAIR)
            out->dst2 = PTX_PRED;
    } else if (i->operands[0].kind == PTX_O_PAIR) {
        return false;
    }
    for (; *p; p++) {
        if (*p == 'c' && !m->bool_op)
            continue;
        out->src[out->n_src++] = operand_type(*p, m);
    }
    return i->n_operands == 1u + out->n_src;
}

// Fills the template; $f is left to the caller, which tries several.
static void kernel_key(const char *template, const Match *m, const char *flags, char *key, size_t size) {
    size_t n = 0;
    for (const char *p = template; *p && n + 1 < size; p++) {
        if (*p != '$') {
            key[n++] = *p;
            continue;
        }
        const char *text = "";
        char number[8];
        PtxType t = m->t;
        switch (*++p) {
        case 't': text = gr_ptx_type_text(t); break;
        case 'u': text = gr_ptx_type_text(m->u); break;
        case 'b': text = gr_ptx_type_text(bits_type(gr_ptx_type_bits(t))); break;
        case 'n':
            t = m->u;
            text = t == PTX_B16 ? "u16" : t == PTX_B32 ? "u32" : t == PTX_B64 ? "u64" : gr_ptx_type_text(t);
            break;
        case 'w':
            snprintf(number, sizeof number, "%u", gr_ptx_type_bits(t));
            text = number;
            break;
        case 'k': text = m->word; break;
        case 'f': text = flags; break;
        }
        n += (size_t)snprintf(key + n, size - n, "%s", text);
        if (n >= size)
            n = size - 1;
    }
    key[n] = 0;
}

static const AluKernel *find_kernel(const Spec *s, const Match *m) {
    char key[64];
    const AluKernel *k = NULL;
    if (m->flags == 0 || m->flags == ALU_FTZ || !strstr(s->kernel, "$f")) {
        kernel_key(s->kernel, m, m->flags & ALU_FTZ ? "_ftz" : "", key, sizeof key);
        k = gr_alu_kernel(key);
    }
    if (!k) {
        kernel_key(s->kernel, m, "_any", key, sizeof key);
        k = gr_alu_kernel(key);
    }
    return k;
}

// The relations for which a comparison holds (PTX ISA 9.3.1): unsigned names included.
static uint64_t relations(const char *word) {
    static const struct {
        const char *text;
        uint64_t set;
    } names[] = {
        {"eq", ALU_EQUAL},
        {"ne", ALU_LESS | ALU_GREATER},
        {"lt", ALU_LESS},
        {"le", ALU_LESS | ALU_EQUAL},
        {"gt", ALU_GREATER},
        {"ge", ALU_GREATER | ALU_EQUAL},
        {"lo", ALU_LESS},
        {"ls", ALU_LESS | ALU_EQUAL},
        {"hi", ALU_GREATER},
        {"hs", ALU_GREATER | ALU_EQUAL},
        {"equ", ALU_EQUAL | ALU_UNORDERED},
        {"neu", ALU_LESS | ALU_GREATER | ALU_UNORDERED},
        {"ltu", ALU_LESS | ALU_UNORDERED},
        {"leu", ALU_LESS | ALU_EQUAL | ALU_UNORDERED},
        {"gtu", ALU_GREATER | ALU_UNORDERED},
        {"geu", ALU_GREATER | ALU_EQUAL | ALU_UNORDERED},
        {"num", ALU_LESS | ALU_EQUAL | ALU_GREATER},
        {"nan", ALU_UNORDERED},
    };
    for (size_t j = 0; j < sizeof names / sizeof *names; j++)
        if (!strcmp(word, names[j].text))
            return names[j].set;
    return 0;
}

// set's value for true: all ones, or 1.0 in a floating-point type (9.7.6.1).
static uint32_t true_value(PtxType t) {
    switch (t) {
    case PTX_F32: return 0x3f800000;
    case PTX_F16: return 0x3c00;
    case PTX_BF16: return 0x3f80;
    case PTX_F16X2: return 0x3c003c00;
    case PTX_BF16X2: return 0x3f803f80;
    case PTX_U16:
    case PTX_S16: return 0xffff;
    default: return 0xffffffff;
    }
}

static uint64_t comparison_imm(const Match *m, const VmAlu *out, bool is_set) {
    uint64_t imm = relations(m->word) | m->bool_op;
    if (out->dst2 == PTX_PRED)
        imm |= ALU_BOOL_Q;
    if (m->flags & ALU_FTZ)
        imm |= ALU_CMP_FTZ;
    return is_set ? imm | (uint64_t)true_value(m->t) << 32 : imm;
}

static uint64_t video_imm(const Match *m, const PtxInstr *i) {
    // vset writes no type for its destination, which is unsigned
    const PtxType *types = m->comparison[0] ? i->type : i->type + 1;
    uint64_t imm = m->flags | (uint64_t)m->second << 20 | relations(m->comparison) << 24;
    if (!m->comparison[0] && i->type[0] == PTX_S32)
        imm |= ALU_VIDEO_D;
    return imm | (types[0] == PTX_S32 ? ALU_VIDEO_A : 0) | (types[1] == PTX_S32 ? ALU_VIDEO_B : 0);
}

// lop3's table is an immediate after its three sources. lop3.and d|p, a, b, c, lut, q also gives p = (d != 0) and q.
static bool select_lop3(const PtxInstr *i, VmAlu *out) {
    static const char *const ops[] = {[ALU_BOOL_AND] = "and", [ALU_BOOL_OR] = "or", [ALU_BOOL_XOR] = "xor"};
    unsigned bool_op = 0;
    bool pair = i->n_operands > 0 && i->operands[0].kind == PTX_O_PAIR;
    if (i->n_mods == 2)
        for (unsigned j = ALU_BOOL_AND; j <= ALU_BOOL_XOR; j++)
            if (!strcmp(i->mods[i->mods[0].id == PTX_MOD_b32].text, ops[j]))
                bool_op = j;
    if (i->n_mods != (bool_op ? 2u : 1u) || i->type[0] != PTX_B32 || i->n_operands != (bool_op ? 6u : 5u) ||
        pair != (bool_op != 0) || i->operands[4].kind != PTX_O_INT)
        return false;
    const AluKernel *k = gr_alu_kernel(bool_op ? "lop3_pred.b32" : "lop3.b32");
    if (!k)
        return false;
    *out = (VmAlu){.exec = {k->exec[0], k->exec[1]},
                   .dst = PTX_B32,
                   .dst2 = bool_op ? PTX_PRED : PTX_NOTYPE,
                   .n_src = bool_op ? 4 : 3,
                   .src = {PTX_B32, PTX_B32, PTX_B32, PTX_PRED},
                   .skip = bool_op ? 3 : 0,
                   .imm = (i->operands[4].bits & 255) | bool_op << 8};
    return true;
}

static bool select_by_spec(const PtxInstr *i, VmAlu *out) {
    for (const Spec *s = specs; s < specs + sizeof specs / sizeof *specs; s++) {
        Match m;
        if ((s->spelling[0] != i->opcode[0] && s->spelling[1] != ':') || !match(s->spelling, i, &m))
            continue;
        memset(out, 0, sizeof *out);
        if (!set_operands(s, &m, i, out))
            continue;
        const AluKernel *k = find_kernel(s, &m);
        if (!k)
            continue;
        out->exec[0] = k->exec[0];
        out->exec[1] = k->exec[1];
        out->approximate = s->approximate;
        bool is_set = i->op == PTX_OP_SET;
        if (is_set || i->op == PTX_OP_SETP)
            out->imm = comparison_imm(&m, out, is_set);
        else if (s->spelling[1] == ':')
            out->imm = video_imm(&m, i);
        else
            out->imm = m.flags;
        return true;
    }
    return false;
}

// Whether a register has the layout of the type: kernels trust it, and what they write must stay in the slot.
static bool fits_register(const PtxOperand *o, PtxType t) {
    if (o->kind != PTX_O_REG)
        return true;
    unsigned has = gr_ptx_type_bits(o->reg->type), wants = gr_ptx_type_bits(t);
    has = has == 8 ? 16 : has;
    wants = wants == 8 ? 16 : wants;
    return has == wants && (o->reg->vec <= 1 || o->elem);
}

bool gr_vm_alu_select(const PtxInstr *i, VmAlu *out) {
    bool found = i->op == PTX_OP_LOP3  ? select_lop3(i, out)
                 : i->op == PTX_OP_CVT ? gr_alu_select_cvt(i, out)
                                       : select_by_spec(i, out);
    if (!found)
        return false;
    const PtxOperand *d = &i->operands[0];
    bool pair = d->kind == PTX_O_PAIR;
    if (!fits_register(pair ? &d->sub[0] : d, out->dst) || (pair && !fits_register(&d->sub[1], out->dst2)))
        return false;
    for (unsigned k = 0; k < out->n_src; k++)
        if (!fits_register(&i->operands[1 + k + (out->skip && k >= out->skip)], out->src[k]))
            return false;
    return true;
}
