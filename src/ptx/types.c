// SPDX-License-Identifier: Apache-2.0
// types — widths and names of PTX's types and state spaces (PTX ISA 5.1, 5.2).
#include "ptx/ptx.h"
#include "ptx/tables.h"

#include <string.h>

enum { KIND_BITS = 0, KIND_UNSIGNED, KIND_SIGNED, KIND_FLOAT };

static const struct {
    const char *text;
    uint8_t bits, kind;
} types[] = {
    [PTX_NOTYPE] = {"", 0, 0},
    [PTX_B8] = {"b8", 8, KIND_BITS},
    [PTX_B16] = {"b16", 16, KIND_BITS},
    [PTX_B32] = {"b32", 32, KIND_BITS},
    [PTX_B64] = {"b64", 64, KIND_BITS},
    [PTX_B128] = {"b128", 128, KIND_BITS},
    [PTX_U8] = {"u8", 8, KIND_UNSIGNED},
    [PTX_U16] = {"u16", 16, KIND_UNSIGNED},
    [PTX_U32] = {"u32", 32, KIND_UNSIGNED},
    [PTX_U64] = {"u64", 64, KIND_UNSIGNED},
    [PTX_S8] = {"s8", 8, KIND_SIGNED},
    [PTX_S16] = {"s16", 16, KIND_SIGNED},
    [PTX_S32] = {"s32", 32, KIND_SIGNED},
    [PTX_S64] = {"s64", 64, KIND_SIGNED},
    [PTX_F16] = {"f16", 16, KIND_FLOAT},
    [PTX_F16X2] = {"f16x2", 32, KIND_FLOAT},
    [PTX_BF16] = {"bf16", 16, KIND_FLOAT},
    [PTX_BF16X2] = {"bf16x2", 32, KIND_FLOAT},
    [PTX_TF32] = {"tf32", 32, KIND_FLOAT},
    [PTX_F32] = {"f32", 32, KIND_FLOAT},
    [PTX_F64] = {"f64", 64, KIND_FLOAT},
    [PTX_F32X2] = {"f32x2", 64, KIND_FLOAT},
    [PTX_E4M3] = {"e4m3", 8, KIND_FLOAT},
    [PTX_E5M2] = {"e5m2", 8, KIND_FLOAT},
    [PTX_E4M3X2] = {"e4m3x2", 16, KIND_FLOAT},
    [PTX_E5M2X2] = {"e5m2x2", 16, KIND_FLOAT},
    [PTX_U16X2] = {"u16x2", 32, KIND_UNSIGNED},
    [PTX_S16X2] = {"s16x2", 32, KIND_SIGNED},
    [PTX_U8X4] = {"u8x4", 32, KIND_UNSIGNED},
    [PTX_S8X4] = {"s8x4", 32, KIND_SIGNED},
    [PTX_PRED] = {"pred", 1, KIND_BITS},
    [PTX_TYPE_OTHER] = {"", 0, 0},
};
_Static_assert(sizeof types / sizeof *types == PTX_TYPE_OTHER + 1, "one row per PtxType");

static const char *const spaces[] = {
    [PTX_GENERIC] = "generic",
    [PTX_REG] = "reg",
    [PTX_SREG] = "sreg",
    [PTX_CONST] = "const",
    [PTX_GLOBAL] = "global",
    [PTX_LOCAL] = "local",
    [PTX_PARAM] = "param",
    [PTX_PARAM_ENTRY] = "param::entry",
    [PTX_PARAM_FUNC] = "param::func",
    [PTX_SHARED] = "shared",
    [PTX_SHARED_CTA] = "shared::cta",
    [PTX_SHARED_CLUSTER] = "shared::cluster",
    [PTX_TMEM] = "tmem",
    [PTX_SPACE_OTHER] = "",
};
_Static_assert(sizeof spaces / sizeof *spaces == PTX_SPACE_OTHER + 1, "one row per PtxSpace");

unsigned gr_ptx_type_bits(PtxType t) { return (unsigned)t <= PTX_TYPE_OTHER ? types[t].bits : 0; }

bool gr_ptx_type_is_float(PtxType t) { return (unsigned)t <= PTX_TYPE_OTHER && types[t].kind == KIND_FLOAT; }

bool gr_ptx_type_is_signed(PtxType t) {
    return (unsigned)t <= PTX_TYPE_OTHER && types[t].kind == KIND_SIGNED;
}

const char *gr_ptx_type_text(PtxType t) { return (unsigned)t <= PTX_TYPE_OTHER ? types[t].text : ""; }

const char *gr_ptx_space_text(PtxSpace s) { return (unsigned)s <= PTX_SPACE_OTHER ? spaces[s] : ""; }

PtxType gr_ptx_type_find(const char *text, size_t len) {
    for (unsigned t = PTX_NOTYPE + 1; t < PTX_TYPE_OTHER; t++)
        if (!strncmp(types[t].text, text, len) && !types[t].text[len])
            return (PtxType)t;
    // .b1, .u4, .e2m1x2, .ue8m0x2, .b4x16_p64 … and the opaque .texref: types, but without a row of their
    // own.
    static const char *const other[] = {
        "b1",         "b1024",   "u2",     "u4",     "u24",       "s2",        "s4",     "s24",
        "e3m2",       "e2m3",    "e2m1",   "ue8m0",  "ue4m3",     "texref",    "e3m2x2", "e2m3x2",
        "e2m1x2",     "ue8m0x2", "e4m3x4", "e5m2x4", "e3m2x4",    "e2m3x4",    "e2m1x4", "s2f6x2",
        "samplerref", "surfref", "b4x16",  "b8x16",  "b6x16_p32", "b4x16_p64", "b6p2x16"};
    for (size_t k = 0; k < sizeof other / sizeof *other; k++)
        if (!strncmp(other[k], text, len) && !other[k][len])
            return PTX_TYPE_OTHER;
    return PTX_NOTYPE;
}

PtxSpace gr_ptx_space_find(const char *text, size_t len) {
    for (unsigned s = PTX_GENERIC + 1; s < PTX_SPACE_OTHER; s++)
        if (!strncmp(spaces[s], text, len) && !spaces[s][len])
            return (PtxSpace)s;
    return PTX_GENERIC;
}
