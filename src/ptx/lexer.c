// SPDX-License-Identifier: Apache-2.0
#include "ptx/lexer.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LETTER (CH_START | CH_WORD | CH_MOD)
#define HEX    (CH_START | CH_WORD | CH_MOD | CH_HEX)
#define DIGIT  (CH_WORD | CH_DIGIT | CH_MOD | CH_HEX)
const unsigned char gr_ptx_chars[256] = {
    [' '] = CH_SPACE,           ['\t'] = CH_SPACE,   ['\n'] = CH_SPACE,      ['\r'] = CH_SPACE,
    ['\f'] = CH_SPACE,          ['\v'] = CH_SPACE,   ['0' ... '9'] = DIGIT,  ['a' ... 'f'] = HEX,
    ['g' ... 'z'] = LETTER,     ['A' ... 'F'] = HEX, ['G' ... 'Z'] = LETTER, ['_'] = LETTER,
    ['$'] = CH_START | CH_WORD, ['%'] = CH_START,    [':'] = CH_MOD,
};

gr_status gr_lex_fail(Lexer *l, const char *fmt, ...) {
    GR_FORMATTED(msg, 400, fmt);
    return gr_fail_at(l->err, GR_ERR_SYNTAX, l->name, l->line, lex_col(l), "%s", msg);
}

gr_status gr_lex_expected(Lexer *l, const char *what) {
    if (l->p >= l->end)
        return gr_lex_fail(l, "expected %s, found the end of the text", what);
    int n = 1;
    while (n < 30 && lex_is(l->p[n - 1], CH_WORD | CH_START) && lex_is(l->p[n], CH_WORD))
        n++;
    if (!isprint((unsigned char)*l->p))
        return gr_lex_fail(l, "expected %s, found byte 0x%02x", what, (unsigned char)*l->p);
    return gr_lex_fail(l, "expected %s, found '%.*s'", what, n, l->p);
}

// "@gr" or "@gr:SITE" between the comment's delimiters (design, "Sites"). In any other text than ours it is a comment.
static void read_tag(Lexer *l, const char *b, const char *e) {
    if (!l->ours || e - b < 3 || memcmp(b, "@gr", 3) != 0)
        return;
    b += 3;
    uint64_t site = 0;
    if (b < e) {
        if (*b++ != ':' || b == e)
            return;
        for (; b < e; b++) {
            if (!lex_is(*b, CH_DIGIT))
                return;
            site = site * 10 + (uint64_t)(*b - '0');
            if (site > UINT32_MAX)
                return;
        }
    }
    l->tag = (PtxTag){.inserted = true, .site = (uint32_t)site};
}

static void read_comment(Lexer *l, const char *s) {
    static const char begin[] = "begin inline asm", end[] = "end inline asm";
    s += strspn(s, " \t");
    if (!strncmp(s, begin, sizeof begin - 1))
        l->assembly = true;
    else if (!strncmp(s, end, sizeof end - 1))
        l->assembly = false;
}

void gr_lex_skip_slow(Lexer *l) {
    for (;;) {
        char c = *l->p;
        if (c == '\n') {
            l->line++;
            l->line_start = ++l->p;
        } else if (lex_is(c, CH_SPACE)) {
            l->p++;
        } else if (c == '/' && l->p[1] == '/') {
            const char *nl = memchr(l->p, '\n', (size_t)(l->end - l->p));
            read_comment(l, l->p + 2);
            l->p = nl ? nl : l->end;
        } else if (c == '/' && l->p[1] == '*') {
            const char *close = strstr(l->p + 2, "*/");
            if (!close)
                return; // the '/' stays under the cursor and is what the parser will stumble over
            read_tag(l, l->p + 2, close);
            gr_lex_advance(l, close + 2);
        } else {
            return;
        }
    }
}

void gr_lex_advance(Lexer *l, const char *to) {
    while (l->p < to) {
        const char *nl = memchr(l->p, '\n', (size_t)(to - l->p));
        if (!nl)
            break;
        l->line++;
        l->line_start = l->p = nl + 1;
    }
    l->p = to;
}

// The end of the string or comment at `s`: a line comment ends before its newline, and so does a string that the line
// does not close. `s` itself: neither is there. NULL: a comment is not closed.
static const char *behind_quoted(const char *s) {
    if (*s == '"') {
        s += 1 + strcspn(s + 1, "\"\n");
        return s + (*s == '"');
    }
    if (s[0] == '/' && s[1] == '/')
        return s + strcspn(s, "\n");
    if (s[0] == '/' && s[1] == '*') {
        const char *close = strstr(s + 2, "*/");
        return close ? close + 2 : NULL;
    }
    return s;
}

// Moves to the first of `ends` outside strings and comments, or to the end of the text.
static gr_status skip_verbatim(Lexer *l, const char *ends) {
    for (const char *e = l->p; *e && !strchr(ends, *e);) {
        const char *behind = behind_quoted(e);
        if (!behind)
            return gr_lex_fail(l, "this comment is not closed");
        e = behind > e ? behind : e + 1;
        gr_lex_advance(l, e);
    }
    return GR_OK;
}

gr_status gr_lex_raw(Lexer *l) {
    gr_status st = skip_verbatim(l, ";\n");
    l->p += st == GR_OK && *l->p == ';';
    return st;
}

gr_status gr_lex_section(Lexer *l) {
    Lexer begin = *l;
    gr_status st = skip_verbatim(l, "}");
    if (st == GR_OK && *l->p != '}')
        return gr_lex_fail(&begin, ".section is not closed");
    l->p += st == GR_OK;
    return st;
}

bool gr_lex_accept_near(Lexer *l, char c) {
    const char *look = l->p;
    while (lex_is(*look, CH_SPACE))
        look++;
    if (*look != c)
        return false;
    gr_lex_advance(l, look + 1);
    return true;
}

gr_status gr_lex_expect(Lexer *l, char c) {
    lex_skip(l);
    if (*l->p != c) {
        char what[4] = {'\'', c, '\'', 0};
        return gr_lex_expected(l, what);
    }
    l->p++;
    return GR_OK;
}

// 0f3F800000, 0d3FF0000000000000: exactly 8 or 16 hexadecimal digits.
static bool hex_float(Lexer *l, Num *out) {
    char kind = l->p[1] | 0x20;
    int want = kind == 'f' ? 8 : 16;
    uint64_t bits = 0;
    bool upper = true;
    int n = 0;
    for (; n <= want && lex_is(l->p[2 + n], CH_HEX); n++) {
        char c = l->p[2 + n];
        if (n == want)
            return false;
        unsigned d = c <= '9' ? (unsigned)(c - '0') : (unsigned)((c | 0x20) - 'a' + 10);
        upper = upper && (c <= '9' || c <= 'F');
        bits = bits << 4 | d;
    }
    if (n != want)
        return false;
    *out =
        (Num){.kind = kind == 'f' ? NUM_F32 : NUM_F64, .bits = bits, .canonical = upper && l->p[1] == kind};
    l->p += 2 + want;
    return true;
}

static gr_status decimal_float(Lexer *l, const char *b, Num *out) {
    char buf[64];
    const char *e = b;
    while (lex_is(*e, CH_DIGIT))
        e++;
    if (*e == '.')
        for (e++; lex_is(*e, CH_DIGIT);)
            e++;
    if ((*e | 0x20) == 'e') {
        const char *x = e + 1 + (e[1] == '+' || e[1] == '-');
        if (lex_is(*x, CH_DIGIT))
            for (e = x; lex_is(*e, CH_DIGIT);)
                e++;
    }
    if ((size_t)(e - b) >= sizeof buf)
        return gr_lex_fail(l, "a floating-point literal of %zu characters is too long", (size_t)(e - b));
    memcpy(buf, b, (size_t)(e - b));
    buf[e - b] = 0;
    double d = strtod(buf, NULL);
    *out = (Num){.kind = NUM_F64};
    memcpy(&out->bits, &d, sizeof d);
    l->p = e;
    return GR_OK;
}

gr_status gr_lex_number(Lexer *l, Num *out) {
    const char *b = l->p;
    unsigned base = 10;
    if (*b == '0') {
        char x = b[1] | 0x20;
        if (x == 'f' || x == 'd') {
            if (!hex_float(l, out))
                return gr_lex_fail(l, "0%c must be followed by exactly %d hexadecimal digits", b[1],
                                   x == 'f' ? 8 : 16);
            if (lex_is(*l->p, CH_WORD))
                return gr_lex_expected(l, "the end of a number");
            return GR_OK;
        }
        if (x == 'x')
            base = 16;
        else if (x == 'b')
            base = 2;
        else if (lex_is(b[1], CH_DIGIT))
            base = 8;
    }
    const char *d = b + (base == 16 || base == 2 ? 2 : base == 8 ? 1 : 0), *e = d;
    uint64_t v = 0;
    bool overflow = false;
    for (; lex_is(*e, base == 16 ? CH_HEX : CH_DIGIT); e++) {
        unsigned digit = *e <= '9' ? (unsigned)(*e - '0') : (unsigned)((*e | 0x20) - 'a' + 10);
        if (digit >= base) {
            if (base != 8 || !strpbrk(e, ".eE"))
                return gr_lex_fail(l, "'%c' is not a digit of a number in base %u", *e, base);
            break; // 09.5 is a decimal floating literal after all
        }
        overflow |= __builtin_mul_overflow(v, base, &v) || __builtin_add_overflow(v, digit, &v);
    }
    if (base == 10 || base == 8) {
        bool fraction = *e == '.' && !lex_is(e[1], CH_START);
        bool exponent = (*e | 0x20) == 'e' &&
                        (lex_is(e[1], CH_DIGIT) || ((e[1] == '+' || e[1] == '-') && lex_is(e[2], CH_DIGIT)));
        if (fraction || exponent || (base == 8 && lex_is(*e, CH_DIGIT)))
            return decimal_float(l, b, out);
    }
    if (e == d)
        return gr_lex_expected(l, "a number");
    if (overflow)
        return gr_lex_fail(l, "the integer %.*s does not fit in 64 bits", (int)(e - b < 60 ? e - b : 60), b);
    *out = (Num){.kind = NUM_INT, .bits = v, .is_signed = v <= INT64_MAX, .canonical = base == 10};
    if (*e == 'U') {
        out->is_signed = false;
        out->canonical = false;
        e++;
    }
    l->p = e;
    if (lex_is(*e, CH_WORD))
        return gr_lex_expected(l, "the end of a number");
    return GR_OK;
}

gr_status gr_lex_u32(Lexer *l, uint32_t *out, const char *what) {
    lex_skip(l);
    if (!lex_is(*l->p, CH_DIGIT))
        return gr_lex_expected(l, what);
    Num n;
    GR_MUST(gr_lex_number(l, &n));
    if (n.kind != NUM_INT || n.bits > UINT32_MAX)
        return gr_lex_fail(l, "%s does not fit in 32 bits", what);
    *out = (uint32_t)n.bits;
    return GR_OK;
}

gr_status gr_lex_string(Lexer *l, Slice *out) {
    lex_skip(l);
    if (*l->p != '"')
        return gr_lex_expected(l, "a string");
    const char *e = l->p + 1;
    while (*e && *e != '"' && *e != '\n')
        e++;
    if (*e != '"')
        return gr_lex_fail(l, "a string is not closed on its line");
    *out = (Slice){l->p + 1, (size_t)(e - l->p - 1)};
    l->p = e + 1;
    return GR_OK;
}

// The byte that the escape at `s`, behind its backslash, stands for. Returns the escape's length; 0: it is none.
static size_t read_escape(const char *s, size_t len, char *out) {
    static const char letters[] = "abfnrtv\"\\", bytes[] = "\a\b\f\n\r\t\v\"\\";
    unsigned v = 0;
    size_t n = 0;
    while (n < 3 && n < len && s[n] >= '0' && s[n] <= '7')
        v = v * 8 + (unsigned)(s[n++] - '0');
    const char *letter = !n && len && *s ? strchr(letters, *s) : NULL;
    *out = letter ? bytes[letter - letters] : (char)v;
    return letter ? 1 : v && v < 256 ? n : 0;
}

gr_status gr_lex_file_name(Lexer *l, Arena *arena, const char **out) {
    Slice s;
    GR_MUST(gr_lex_string(l, &s));
    // A quote behind a backslash is in the name, if another one closes it.
    for (const char *e = l->p; s.len && s.s[s.len - 1] == '\\'; e++) {
        size_t slashes = 1;
        while (slashes < s.len && s.s[s.len - 1 - slashes] == '\\')
            slashes++;
        e += strcspn(e, "\"\n");
        if (slashes % 2 == 0 || *e != '"')
            break;
        s.len = (size_t)(e - s.s);
        l->p = e + 1;
    }
    char *to = gr_arena_strndup(arena, s.s, s.len);
    *out = to;
    for (size_t k = 0; to && k < s.len; k++) {
        size_t n = s.s[k] == '\\' ? read_escape(s.s + k + 1, s.len - k - 1, to) : 0;
        if (!n)
            *to = s.s[k];
        k += n;
        to++;
    }
    if (to)
        *to = 0;
    return GR_OK;
}
