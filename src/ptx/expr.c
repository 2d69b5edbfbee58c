// SPDX-License-Identifier: Apache-2.0
#include "ptx/expr.h"

#include <string.h>

enum { MAX_DEPTH = 64 };

double gr_num_double(const Num *n) {
    if (n->kind == NUM_F64) {
        double d;
        memcpy(&d, &n->bits, sizeof d);
        return d;
    }
    if (n->kind == NUM_F32) {
        uint32_t b = (uint32_t)n->bits;
        float f;
        memcpy(&f, &b, sizeof f);
        return f;
    }
    return n->is_signed ? (double)(int64_t)n->bits : (double)n->bits;
}

static Num num_double(double d) {
    Num n = {.kind = NUM_F64};
    memcpy(&n.bits, &d, sizeof d);
    return n;
}

static Num num_int(uint64_t bits, bool is_signed) {
    return (Num){.kind = NUM_INT, .bits = bits, .is_signed = is_signed};
}

typedef enum BinOp {
    B_NONE,
    B_MUL,
    B_DIV,
    B_REM,
    B_ADD,
    B_SUB,
    B_SHL,
    B_SHR,
    B_LT,
    B_LE,
    B_GT,
    B_GE,
    B_EQ,
    B_NE,
    B_AND,
    B_XOR,
    B_OR,
    B_LAND,
    B_LOR,
} BinOp;

// The binary operator at the cursor, its length and its precedence (higher binds tighter).
static BinOp peek_op(const char *p, int *len, int *prec) {
    static const struct {
        char text[3];
        BinOp op;
        int prec;
    } table[] = {
        {"<<", B_SHL, 8}, {">>", B_SHR, 8},  {"<=", B_LE, 7},  {">=", B_GE, 7},  {"==", B_EQ, 6},
        {"!=", B_NE, 6},  {"&&", B_LAND, 2}, {"||", B_LOR, 1}, {"*", B_MUL, 10}, {"/", B_DIV, 10},
        {"%", B_REM, 10}, {"+", B_ADD, 9},   {"-", B_SUB, 9},  {"<", B_LT, 7},   {">", B_GT, 7},
        {"&", B_AND, 5},  {"^", B_XOR, 4},   {"|", B_OR, 3},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        size_t n = strlen(table[i].text);
        if (!strncmp(p, table[i].text, n)) {
            *len = (int)n;
            *prec = table[i].prec;
            return table[i].op;
        }
    }
    return B_NONE;
}

static gr_status apply_double(Lexer *l, BinOp op, double a, double b, Num *out) {
    switch (op) {
    case B_MUL: *out = num_double(a * b); return GR_OK;
    case B_DIV: *out = num_double(a / b); return GR_OK;
    case B_ADD: *out = num_double(a + b); return GR_OK;
    case B_SUB: *out = num_double(a - b); return GR_OK;
    case B_LT: *out = num_int(a < b, true); return GR_OK;
    case B_LE: *out = num_int(a <= b, true); return GR_OK;
    case B_GT: *out = num_int(a > b, true); return GR_OK;
    case B_GE: *out = num_int(a >= b, true); return GR_OK;
    case B_EQ: *out = num_int(a == b, true); return GR_OK;
    case B_NE: *out = num_int(a != b, true); return GR_OK;
    default:
        return gr_lex_fail(l, "an integer operator in a constant expression has a floating-point operand");
    }
}

static gr_status apply(Lexer *l, BinOp op, const Num *x, const Num *y, Num *out) {
    if (x->kind != NUM_INT || y->kind != NUM_INT)
        return apply_double(l, op, gr_num_double(x), gr_num_double(y), out);
    uint64_t a = x->bits, b = y->bits, v = 0;
    // Shifts have the type of their left operand, the rest is signed only when both are (table 6).
    bool s = op == B_SHL || op == B_SHR ? x->is_signed : x->is_signed && y->is_signed;
    bool logical = false;
    switch (op) {
    case B_MUL: v = a * b; break;
    case B_DIV:
    case B_REM:
        if (b == 0)
            return gr_lex_fail(l, "division by zero in a constant expression");
        if (s && b == UINT64_MAX) // INT64_MIN / -1 overflows
            v = op == B_DIV ? 0 - a : 0;
        else if (s)
            v = (uint64_t)(op == B_DIV ? (int64_t)a / (int64_t)b : (int64_t)a % (int64_t)b);
        else
            v = op == B_DIV ? a / b : a % b;
        break;
    case B_ADD: v = a + b; break;
    case B_SUB: v = a - b; break;
    case B_SHL: v = b < 64 ? a << b : 0; break;
    case B_SHR:
        if (s)
            v = (uint64_t)((int64_t)a >> (b < 64 ? b : 63));
        else
            v = b < 64 ? a >> b : 0;
        break;
    case B_LT:
        v = s ? (int64_t)a < (int64_t)b : a < b;
        logical = true;
        break;
    case B_LE:
        v = s ? (int64_t)a <= (int64_t)b : a <= b;
        logical = true;
        break;
    case B_GT:
        v = s ? (int64_t)a > (int64_t)b : a > b;
        logical = true;
        break;
    case B_GE:
        v = s ? (int64_t)a >= (int64_t)b : a >= b;
        logical = true;
        break;
    case B_EQ:
        v = a == b;
        logical = true;
        break;
    case B_NE:
        v = a != b;
        logical = true;
        break;
    case B_AND: v = a & b; break;
    case B_XOR: v = a ^ b; break;
    case B_OR: v = a | b; break;
    case B_LAND:
        v = a && b;
        logical = true;
        break;
    case B_LOR:
        v = a || b;
        logical = true;
        break;
    case B_NONE: break;
    }
    *out = num_int(v, logical || s);
    return GR_OK;
}

static gr_status ternary(Lexer *l, int depth, Num *out);

// "(.s64)" or "(.u64)" before an operand.
static bool accept_cast(Lexer *l, bool *is_signed) {
    if (!strncmp(l->p, "(.s64)", 6) || !strncmp(l->p, "(.u64)", 6)) {
        *is_signed = l->p[2] == 's';
        l->p += 6;
        return true;
    }
    return false;
}

static gr_status unary(Lexer *l, int depth, Num *out) {
    if (depth > MAX_DEPTH)
        return gr_lex_fail(l, "a constant expression is nested more than %d deep", MAX_DEPTH);
    lex_skip(l);
    char c = *l->p;
    bool is_signed;
    if (c == '-' || c == '+' || c == '!' || c == '~') {
        l->p++;
        GR_MUST(unary(l, depth + 1, out));
        out->canonical = false;
        if (out->kind != NUM_INT) {
            if (c == '!' || c == '~')
                return gr_lex_fail(l, "'%c' has a floating-point operand", c);
            if (c == '-')
                out->bits ^= out->kind == NUM_F32 ? UINT64_C(1) << 31 : UINT64_C(1) << 63;
        } else if (c == '-') {
            out->bits = 0 - out->bits;
        } else if (c == '~') {
            out->bits = ~out->bits;
        } else if (c == '!') {
            *out = num_int(!out->bits, true);
        }
        return GR_OK;
    }
    if (accept_cast(l, &is_signed)) {
        GR_MUST(unary(l, depth + 1, out));
        if (out->kind != NUM_INT)
            return gr_lex_fail(l, "a cast in a constant expression has a floating-point operand");
        out->is_signed = is_signed;
        out->canonical = false;
        return GR_OK;
    }
    if (c == '(') {
        l->p++;
        GR_MUST(ternary(l, depth + 1, out));
        out->canonical = false;
        return gr_lex_expect(l, ')');
    }
    if (!strncmp(l->p, "WARP_SZ", 7) && !lex_is(l->p[7], CH_WORD)) {
        l->p += 7;
        *out = num_int(32, true);
        return GR_OK;
    }
    if (!lex_is(c, CH_DIGIT) && !(c == '.' && lex_is(l->p[1], CH_DIGIT)))
        return gr_lex_expected(l, "a constant");
    return gr_lex_number(l, out);
}

static gr_status binary(Lexer *l, int depth, int min_prec, Num *out) {
    gr_status st = unary(l, depth, out);
    while (st == GR_OK) {
        int len = 0, prec = 0;
        lex_skip(l);
        BinOp op = peek_op(l->p, &len, &prec);
        if (op == B_NONE || prec < min_prec)
            break;
        l->p += len;
        Num rhs;
        if ((st = binary(l, depth + 1, prec + 1, &rhs)) != GR_OK)
            break;
        Num lhs = *out;
        st = apply(l, op, &lhs, &rhs, out);
    }
    return st;
}

static gr_status ternary(Lexer *l, int depth, Num *out) {
    gr_status st = binary(l, depth, 1, out);
    if (st != GR_OK)
        return st;
    lex_skip(l);
    if (*l->p != '?')
        return GR_OK;
    l->p++;
    bool cond = out->kind == NUM_INT ? out->bits != 0 : gr_num_double(out) != 0;
    Num a, b;
    if ((st = ternary(l, depth + 1, &a)) != GR_OK || (st = gr_lex_expect(l, ':')) != GR_OK ||
        (st = ternary(l, depth + 1, &b)) != GR_OK)
        return st;
    *out = cond ? a : b;
    out->canonical = false;
    return GR_OK;
}

gr_status gr_expr_parse(Lexer *l, Num *out) { return ternary(l, 0, out); }

gr_status gr_expr_int(Lexer *l, int64_t *out, const char *what) {
    lex_skip(l);
    if (!lex_is(*l->p, CH_DIGIT) && !strchr("-+~!(W", *l->p))
        return gr_lex_expected(l, what);
    Num n;
    GR_MUST(gr_expr_parse(l, &n));
    if (n.kind != NUM_INT)
        return gr_lex_fail(l, "%s must be an integer", what);
    *out = (int64_t)n.bits;
    return GR_OK;
}
