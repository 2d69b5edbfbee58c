// SPDX-License-Identifier: Apache-2.0
// declared — what the names of a file are declared as, as far as its text tells without a compiler.
#include "repair/update.h"

#include <string.h>

static const GrToken *token(const GrCode *c, uint32_t k) { return &c->tokens.data[k]; }

static bool is(const GrCode *c, uint32_t k, const char *word) {
    return k < c->tokens.len && gr_token_is(token(c, k), word);
}

static const struct TypeName {
    const char *name;
    GrTypeKind kind;
} types[] = {
    {"int", GR_TYPE_S32},       {"int32_t", GR_TYPE_S32},    {"uint32_t", GR_TYPE_U32},
    {"uint", GR_TYPE_U32},      {"unsigned", GR_TYPE_U32},   {"float", GR_TYPE_F32},
    {"float2", GR_TYPE_F32},    {"float3", GR_TYPE_F32},     {"float4", GR_TYPE_F32},
    {"double", GR_TYPE_F64},    {"double2", GR_TYPE_F64},    {"int2", GR_TYPE_S32},
    {"int3", GR_TYPE_S32},      {"int4", GR_TYPE_S32},       {"uint2", GR_TYPE_U32},
    {"uint3", GR_TYPE_U32},     {"uint4", GR_TYPE_U32},      {"char", GR_TYPE_OTHER},
    {"short", GR_TYPE_OTHER},   {"bool", GR_TYPE_OTHER},     {"half", GR_TYPE_OTHER},
    {"__half", GR_TYPE_OTHER},  {"long", GR_TYPE_OTHER},     {"uint8_t", GR_TYPE_OTHER},
    {"int8_t", GR_TYPE_OTHER},  {"int16_t", GR_TYPE_OTHER},  {"uint16_t", GR_TYPE_OTHER},
    {"int64_t", GR_TYPE_OTHER}, {"uint64_t", GR_TYPE_OTHER}, {"size_t", GR_TYPE_OTHER},
    {"uchar", GR_TYPE_OTHER},
};

static GrTypeKind type_named(const GrToken *t) {
    for (size_t k = 0; k < sizeof types / sizeof *types; k++)
        if (gr_token_is(t, types[k].name))
            return types[k].kind;
    return GR_TYPE_UNKNOWN;
}

// Words of a declaration that are no name of a type.
static bool qualifies(const GrCode *c, uint32_t k, GrDeclared *d) {
    static const char *const words[] = {"const",   "static",       "extern",   "constexpr", "typename",
                                        "mutable", "__restrict__", "struct",   "inline",    "__device__",
                                        "signed",  "__managed__",  "volatile", "__shared__"};
    d->shared |= is(c, k, "__shared__");
    d->is_volatile |= is(c, k, "volatile");
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (is(c, k, words[i]))
            return true;
    return false;
}

// Behind what the token `k` opens: (…), […], <…>.
static uint32_t closed(const GrCode *c, uint32_t k, uint32_t to) {
    const char *open = is(c, k, "<")   ? "<"
                       : is(c, k, "[") ? "["
                                       : "(",
               *close = is(c, k, "<")   ? ">"
                        : is(c, k, "[") ? "]"
                                        : ")";
    int depth = 0;
    for (; k < to; k++) {
        depth += is(c, k, open) - is(c, k, close);
        depth -= 2 * (*open == '<' && is(c, k, ">>"));
        if (depth <= 0)
            return k + 1;
    }
    return to;
}

// Reads the type that the declaration begins with. Returns the token behind it; `from`: it is none.
static uint32_t read_type(const GrCode *c, uint32_t from, uint32_t to, GrDeclared *d) {
    static const char *const none[] = {"return", "else", "new", "delete", "goto", "case", "using", "typedef"};
    uint32_t k = from, longs = 0;
    bool any = false, is_unsigned = false;
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        if (is(c, k, none[i]))
            return from;
    for (; k < to; k++) {
        if (qualifies(c, k, d))
            continue;
        if (is(c, k, "alignas") || is(c, k, "__align__")) {
            k = closed(c, k + 1, to) - 1;
        } else if (is(c, k, "long") || is(c, k, "unsigned")) {
            longs += is(c, k, "long");
            is_unsigned |= is(c, k, "unsigned");
            any = true;
        } else if (gr_token_is_name(token(c, k)) && (!any || is(c, k - 1, "::"))) {
            d->type = type_named(token(c, k));
            any = true;
        } else if (gr_token_is_name(token(c, k)) && (longs || is_unsigned) && type_named(token(c, k))) {
            d->type = type_named(token(c, k));
        } else if (is(c, k, "<") && any) {
            k = closed(c, k, to) - 1;
        } else if (!is(c, k, "::")) {
            break;
        }
    }
    if (longs)
        d->type = longs < 2 ? GR_TYPE_OTHER : is_unsigned ? GR_TYPE_U64 : GR_TYPE_S64;
    else if (is_unsigned && d->type != GR_TYPE_OTHER)
        d->type = GR_TYPE_U32;
    return any ? k : from;
}

// Whether the declaration [from, to) is one of `name`.
static bool declares(const GrCode *c, uint32_t from, uint32_t to, const GrToken *name, GrDeclared *out) {
    static const char *const behind[] = {"[", "=", ",", ";", ")", "{", ":"};
    GrDeclared d = {.type = GR_TYPE_UNKNOWN};
    uint32_t k = read_type(c, from, to, &d);
    for (bool first = true; k > from && k < to; first = false) {
        if (!first && !is(c, k++, ","))
            return false;
        for (d.indirect = d.reference = false; is(c, k, "*") || is(c, k, "&") || qualifies(c, k, &d); k++) {
            d.indirect |= is(c, k, "*");
            d.reference |= is(c, k, "&");
        }
        if (k >= to || !gr_token_is_name(token(c, k)))
            return false;
        bool same = gr_token_same(token(c, k), name);
        bool ends = k + 1 >= to;
        for (size_t i = 0; i < sizeof behind / sizeof *behind; i++)
            ends |= is(c, k + 1, behind[i]);
        d.indirect |= is(c, k + 1, "[");
        if (!ends)
            return false;
        if (same) {
            *out = d;
            return true;
        }
        for (k++; k < to && !is(c, k, ",");)
            k = is(c, k, "(") || is(c, k, "[") ? closed(c, k, to) : k + 1;
    }
    return false;
}

// Looks through the declarations of [from, to), which these tokens part from each other.
static bool look(const GrCode *c, uint32_t from, uint32_t to, const char *parts, const GrToken *name,
                 GrDeclared *out) {
    uint32_t begin = from;
    int angle = 0;
    for (uint32_t k = from; k <= to; k++) {
        const GrToken *t = k < to ? token(c, k) : NULL;
        angle += t && *parts == ',' ? gr_token_is(t, "<") - gr_token_is(t, ">") : 0;
        if (t && (t->len != 1 || !strchr(parts, t->text[0]) || (t->text[0] == ',' && angle > 0)))
            continue;
        if (k > begin && declares(c, begin, k, name, out))
            return true;
        begin = k + 1;
    }
    return false;
}

bool gr_declared(const GrCode *c, const GrFunctionCode *f, const GrToken *name, GrDeclared *out) {
    if (f && look(c, f->body->from, f->body->to, ";{}()", name, out)) {
        out->local = !out->shared;
        return true;
    }
    if (f && look(c, f->head, f->body->from, ",()", name, out)) {
        out->parameter = true;
        return true;
    }
    out->file = look(c, 0, (uint32_t)c->tokens.len, ";{}:", name, out);
    return out->file;
}

// x of float3 has the type that the vector's name has told.
static bool is_coordinate(const GrCode *c, uint32_t k) {
    return is(c, k, "x") || is(c, k, "y") || is(c, k, "z") || is(c, k, "w");
}

GrTypeKind gr_object_type(const GrCode *c, const GrFunctionCode *f, GrSpan object, bool *is_volatile) {
    GrTypeKind kind = GR_TYPE_UNKNOWN;
    for (uint32_t k = object.from; k < object.to; k++) {
        GrDeclared d = {.type = GR_TYPE_UNKNOWN};
        bool member = k > object.from && (is(c, k - 1, ".") || is(c, k - 1, "->"));
        if (is(c, k, "[") || is(c, k, "(")) {
            bool deref = is(c, k, "(") && k == object.from + 1 && is(c, object.from, "*");
            k = deref ? k : closed(c, k, object.to) - 1;
        } else if (gr_token_is_name(token(c, k)) &&
                   !(member && kind != GR_TYPE_UNKNOWN && is_coordinate(c, k))) {
            kind = gr_declared(c, member ? NULL : f, token(c, k), &d) ? d.type : GR_TYPE_UNKNOWN;
            *is_volatile |= d.is_volatile;
        }
    }
    return kind;
}
