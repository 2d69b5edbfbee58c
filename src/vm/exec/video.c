// SPDX-License-Identifier: Apache-2.0
// video — the video instructions (PTX ISA 9.7.18) with selectors, masks, merging, negation and scaling, and vshl, vshr,
// vmad, which alu_video.c leaves over: one lane at a time. Scalar ones select a byte or a half of each source (.b0,
// .h1), and merge the result into a part of c or combine it with c. Those on two halves or four bytes choose each
// element from both sources (.h32 b: .b7610) and write the elements of a mask.
#include "vm/alu/alu_video.h"
#include "vm/core/decode.h"
#include "vm/core/exec.h"

#include <string.h>

typedef enum VideoSecond { V_NONE, V_PLUS, V_LESSER, V_GREATER, V_MERGE } VideoSecond;

typedef enum VideoCompare { V_EQ, V_NE, V_LT, V_LE, V_GT, V_GE } VideoCompare;

typedef struct VideoPart {
    uint8_t at, bits; // of a source or of the destination
} VideoPart;

typedef struct VideoInfo {
    VideoOp op;
    VideoSecond second;
    VideoCompare compare;
    bool d_signed, a_signed, b_signed, sat, wrap, po;
    bool negate_product, negate_c, scale_signed; // vmad
    uint8_t scale;
    uint8_t parts; // 1, 2, 4
    VideoPart d, a, b;
    uint8_t mask;
    uint8_t a_of[4], b_of[4];
} VideoInfo;

// ---- Decoding ------------------------------------------------------------------------------------------------

static bool select_scalar(const PtxOperand *o, VideoPart *out) {
    *out = (VideoPart){0, 32};
    if (o->kind != PTX_O_REG || !o->text)
        return true;
    const char *t = o->text;
    if (*t == '.')
        t++;
    if (strlen(t) != 2 || (t[0] != 'b' && t[0] != 'h') || t[1] < '0' || t[1] > (t[0] == 'b' ? '3' : '1'))
        return false;
    out->bits = t[0] == 'b' ? 8 : 16;
    out->at = (uint8_t)((t[1] - '0') * out->bits);
    return true;
}

// .hxy or .bxyzw, most significant first.
static bool select_elements(const PtxOperand *o, unsigned parts, unsigned first, uint8_t of[4]) {
    for (unsigned j = 0; j < 4; j++)
        of[j] = (uint8_t)(first + j);
    if (o->kind != PTX_O_REG || !o->text)
        return true;
    const char *t = o->text + (*o->text == '.');
    if (strlen(t) != parts + 1 || t[0] != (parts == 2 ? 'h' : 'b'))
        return false;
    for (unsigned j = 0; j < parts; j++) {
        int digit = t[parts - j] - '0';
        if (digit < 0 || digit >= (int)(2 * parts))
            return false;
        of[j] = (uint8_t)digit;
    }
    return true;
}

static bool select_mask(const PtxOperand *o, unsigned parts, uint8_t *mask) {
    *mask = (uint8_t)((1 << parts) - 1);
    if (o->kind != PTX_O_REG || !o->text)
        return true;
    const char *t = o->text + (*o->text == '.');
    if (*t++ != (parts == 2 ? 'h' : 'b') || !*t)
        return false;
    for (*mask = 0; *t; t++) {
        if (*t < '0' || *t >= (char)('0' + parts))
            return false;
        *mask |= (uint8_t)(1 << (*t - '0'));
    }
    return true;
}

static bool find_op(PtxOp op, VideoInfo *v) {
    static const struct {
        PtxOp op;
        uint8_t is, parts;
    } rows[] = {
#define THREE(name, is) {PTX_OP_##name, is, 1}, {PTX_OP_##name##2, is, 2}, {PTX_OP_##name##4, is, 4},
        THREE(VADD, V_ADD) THREE(VSUB, V_SUB) THREE(VABSDIFF, V_ABSDIFF) THREE(VMIN, V_MIN) THREE(VMAX, V_MAX)
            THREE(VSET, V_SET){PTX_OP_VAVRG2, V_AVRG, 2},
        {PTX_OP_VAVRG4, V_AVRG, 4},
        {PTX_OP_VSHL, V_SHL, 1},
        {PTX_OP_VSHR, V_SHR, 1},
        {PTX_OP_VMAD, V_MAD, 1},
#undef THREE
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
        if (rows[k].op == op) {
            v->op = (VideoOp)rows[k].is;
            v->parts = rows[k].parts;
            return true;
        }
    return false;
}

// The modifiers, in order: types, .po, .sat, a comparison or mode, a scale, a secondary operation.
static bool read_modifiers(const PtxInstr *i, VideoInfo *v) {
    PtxType types[3] = {PTX_U32, PTX_U32, PTX_U32};
    unsigned n = v->op == V_SET ? 1 : 0; // vset writes no type for its destination
    bool compared = false, mode = false;
    for (unsigned k = 0; k < i->n_mods; k++) {
        PtxMod m = i->mods[k].id;
        bool scalar = v->parts == 1 && v->op != V_MAD && !v->second;
        if ((m == PTX_MOD_u32 || m == PTX_MOD_s32) && n < 3)
            types[n++] = m == PTX_MOD_s32 ? PTX_S32 : PTX_U32;
        else if (n < 3)
            return false;
        else if (m == PTX_MOD_sat && !v->sat && v->op != V_SET)
            v->sat = true;
        else if (m == PTX_MOD_po && v->op == V_MAD && !v->po && !v->sat)
            v->po = true;
        else if ((m == PTX_MOD_shr7 || m == PTX_MOD_shr15) && v->op == V_MAD && !v->scale)
            v->scale = m == PTX_MOD_shr7 ? 7 : 15;
        else if ((m == PTX_MOD_clamp || m == PTX_MOD_wrap) && (v->op == V_SHL || v->op == V_SHR) && !mode) {
            mode = true;
            v->wrap = m == PTX_MOD_wrap;
        } else if (v->op == V_SET && !compared) {
            static const PtxMod names[] = {[V_EQ] = PTX_MOD_eq, [V_NE] = PTX_MOD_ne, [V_LT] = PTX_MOD_lt,
                                           [V_LE] = PTX_MOD_le, [V_GT] = PTX_MOD_gt, [V_GE] = PTX_MOD_ge};
            for (unsigned c = V_EQ; c <= V_GE; c++)
                if (names[c] == m) {
                    v->compare = (VideoCompare)c;
                    compared = true;
                }
            if (!compared)
                return false;
        } else if (m == PTX_MOD_add && v->op != V_MAD && !v->second)
            v->second = V_PLUS;
        else if ((m == PTX_MOD_min || m == PTX_MOD_max) && scalar)
            v->second = m == PTX_MOD_min ? V_LESSER : V_GREATER;
        else
            return false;
    }
    v->d_signed = types[0] == PTX_S32;
    v->a_signed = types[1] == PTX_S32;
    v->b_signed = types[2] == PTX_S32;
    return n == 3 && compared == (v->op == V_SET) && mode == (v->op == V_SHL || v->op == V_SHR);
}

static bool read_selectors(const PtxInstr *i, VideoInfo *v) {
    const PtxOperand *o = i->operands;
    if (v->parts > 1)
        return i->n_operands == 4 && select_mask(&o[0], v->parts, &v->mask) &&
               select_elements(&o[1], v->parts, 0, v->a_of) &&
               select_elements(&o[2], v->parts, v->parts, v->b_of);
    if (!select_scalar(&o[0], &v->d) || !select_scalar(&o[1], &v->a) || !select_scalar(&o[2], &v->b))
        return false;
    if (v->op == V_MAD)
        return i->n_operands == 4 && v->d.bits == 32;
    if (v->d.bits < 32) { // merges into c: no secondary operation besides
        if (v->second || i->n_operands != 4)
            return false;
        v->second = V_MERGE;
        return true;
    }
    return i->n_operands == (v->second ? 4u : 3u);
}

// NVIDIA's code computes these forms otherwise than the ISA says, and in no simple way: better no result than another.
static bool is_odd(const VideoInfo *v) {
    bool picks = v->second == V_LESSER || v->second == V_GREATER;
    bool bare = v->op == V_MIN || v->op == V_MAX || v->op == V_ABSDIFF;
    if (v->parts > 1)
        return false;
    if (v->op == V_MAD)
        return v->sat || v->scale;
    if (v->second == V_MERGE && (v->sat || (v->d.bits == 16 && v->d.at)))
        return true;
    if (v->op == V_SHL || v->op == V_SHR)
        return v->sat || picks;
    return picks && v->op != V_SET && !v->d_signed && !(bare && !v->a_signed && !v->b_signed);
}

static VM_HANDLER(run_video);

bool gr_vm_decode_video(Decoder *d, const PtxInstr *i) {
    VideoInfo *v = NULL, read = {0};
    if (!find_op(i->op, &read) || i->n_operands < 3 || i->n_operands > 4 || !read_modifiers(i, &read) ||
        !read_selectors(i, &read) || is_odd(&read) || !(v = GR_NEW(d->f->arena, VideoInfo)))
        return false;
    uint32_t slot[4] = {0};
    for (unsigned k = 0; k < i->n_operands; k++) {
        PtxOperand o = i->operands[k];
        if (k == 3 && o.kind == PTX_O_REG && o.text)
            return false;
        bool negated = o.kind == PTX_O_REG && o.negated;
        if (negated && (read.op != V_MAD || read.po || k == 0))
            return false;
        if (negated && k < 3)
            read.negate_product = !read.negate_product;
        else if (negated)
            read.negate_c = true;
        if (o.kind == PTX_O_REG) {
            o.text = NULL;
            o.negated = false;
            if (gr_ptx_type_bits(o.reg->type) != 32)
                return false;
        }
        slot[k] = k == 0 ? gr_vm_dst(d, &o, PTX_U32) : gr_vm_src(d, &o, PTX_U32);
        if (slot[k] == VM_NO_SLOT)
            return false;
    }
    if (read.negate_product && read.negate_c) // one of the three at most
        return false;
    read.scale_signed = read.a_signed || read.b_signed || read.negate_product || read.negate_c;
    *v = read;
    VmInsn *n = gr_vm_emit(d, run_video, run_video);
    if (n) {
        n->d = slot[0];
        n->a = slot[1];
        n->b = slot[2];
        n->c = slot[3];
        n->extra = v;
    }
    return true;
}

// ---- Execution -----------------------------------------------------------------------------------------------

static int64_t part(uint64_t x, VideoPart p, bool is_signed) {
    int64_t v = (int64_t)(x >> p.at & ((UINT64_C(1) << p.bits) - 1));
    return is_signed && v >> (p.bits - 1) ? v - (INT64_C(1) << p.bits) : v;
}

static bool compare(VideoCompare c, int64_t a, int64_t b) {
    switch (c) {
    case V_EQ: return a == b;
    case V_NE: return a != b;
    case V_LT: return a < b;
    case V_LE: return a <= b;
    case V_GT: return a > b;
    default: return a >= b;
    }
}

// Exact: sources have at most 32 bits, shifts at most 32.
static int64_t operate(const VideoInfo *v, int64_t a, int64_t b) {
    switch (v->op) {
    case V_SET: return compare(v->compare, a, b);
    case V_SHL:
    case V_SHR: {
        unsigned n = v->wrap ? (unsigned)b & 31 : (uint64_t)b > 32 ? 32 : (unsigned)b;
        return v->op == V_SHR ? a >> n : (int64_t)((uint64_t)a << n);
    }
    default: return video_combine(v->op, a, b);
    }
}

static uint32_t run_simd(const VideoInfo *v, uint32_t a, uint32_t b, uint32_t c) {
    uint64_t both = a | (uint64_t)b << 32;
    unsigned bits = 32 / v->parts;
    uint32_t d = c, sum = c;
    for (unsigned j = 0; j < v->parts; j++) {
        if (!(v->mask >> j & 1))
            continue;
        VideoPart pa = {(uint8_t)(v->a_of[j] * bits), (uint8_t)bits};
        VideoPart pb = {(uint8_t)(v->b_of[j] * bits), (uint8_t)bits};
        int64_t t = operate(v, part(both, pa, v->a_signed), part(both, pb, v->b_signed));
        if (v->sat)
            t = video_saturate(t, bits, v->d_signed);
        uint32_t field = (uint32_t)(((UINT64_C(1) << bits) - 1) << j * bits);
        d = (d & ~field) | ((uint32_t)t << j * bits & field);
        sum += (uint32_t)t;
    }
    return v->second == V_PLUS ? sum : d;
}

// -(a * b) + c is done as ~(a * b) + c + 1, and .po adds one to the sum (9.7.18.2).
static uint32_t run_mad(const VideoInfo *v, uint32_t a, uint32_t b, uint32_t c) {
    __int128 t = (__int128)part(a, v->a, v->a_signed) * part(b, v->b, v->b_signed);
    VideoPart whole = {0, 32};
    __int128 z = part(c, whole, v->scale_signed);
    t = (v->negate_product ? -t : t) + (v->negate_c ? -z : z) + v->po;
    return (uint32_t)t;
}

static uint32_t run_scalar(const VideoInfo *v, uint32_t a, uint32_t b, uint32_t c) {
    int64_t t = operate(v, part(a, v->a, v->a_signed),
                        part(b, v->b, v->op == V_SHL || v->op == V_SHR ? false : v->b_signed));
    if (v->sat) // as an H200: u32 is not bounded above
        t = v->d_signed ? video_saturate(t, 32, true) : t < 0 ? 0 : t;
    if (v->second == V_MERGE) {
        uint32_t field = (uint32_t)(((UINT64_C(1) << v->d.bits) - 1) << v->d.at);
        return ((uint32_t)t << v->d.at & field) | (c & ~field);
    }
    VideoPart whole = {0, 32};
    bool keeps = v->d_signed && (v->op == V_MIN || v->op == V_MAX || v->op == V_ABSDIFF);
    int64_t x = keeps ? t : part((uint64_t)t, whole, v->d_signed);
    int64_t y = part(c, whole, v->d_signed || (v->op == V_SET && v->a_signed));
    switch (v->second) {
    case V_PLUS: return (uint32_t)(x + y);
    case V_LESSER: return (uint32_t)(x < y ? x : y);
    case V_GREATER: return (uint32_t)(x > y ? x : y);
    default: return (uint32_t)x;
    }
}

static VM_HANDLER(run_video) {
    const VideoInfo *v = i->extra;
    for (uint32_t m = w->mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        uint32_t a = VM_U32(w, i->a)[l], b = VM_U32(w, i->b)[l], c = VM_U32(w, i->c)[l];
        VM_U32(w, i->d)[l] = (v->parts > 1 ? run_simd : v->op == V_MAD ? run_mad : run_scalar)(v, a, b, c);
    }
    return i + 1;
}
