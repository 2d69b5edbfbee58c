// SPDX-License-Identifier: Apache-2.0
// lexer — a cursor over PTX text: white space, comments, words, numbers, verbatim stretches (PTX ISA 4.1 to 4.5).
//
// The text is a terminated copy, so that one character of look-ahead is always there and NUL matches no class.
// There are no token objects: what a '.' or a '{' means depends on where it stands, so the parsers look at
// characters and ask for words and numbers.
#ifndef GR_PTX_LEXER_H
#define GR_PTX_LEXER_H

#include "base/status.h"
#include "ptx/ptx.h"

typedef struct Slice {
    const char *s;
    size_t len;
} Slice;

typedef struct Lexer {
    const char *p, *end; // *end == 0
    const char *line_start;
    uint32_t line;
    bool ours;     // a pass of ours printed the text: its tag comments count
    PtxTag tag;    // the last tag comment skipped since it was cleared
    bool assembly; // between the comments "begin inline asm" and "end inline asm" of a compiler
    const char *name;
    gr_error *err;
} Lexer;

enum { CH_SPACE = 1, CH_START = 2, CH_WORD = 4, CH_DIGIT = 8, CH_MOD = 16, CH_HEX = 32 };
extern const unsigned char gr_ptx_chars[256];

static inline bool lex_is(char c, unsigned classes) { return gr_ptx_chars[(unsigned char)c] & classes; }

static inline uint32_t lex_col(const Lexer *l) {
    ptrdiff_t c = l->p - l->line_start + 1;
    return c > 0 && c < UINT32_MAX ? (uint32_t)c : 0;
}

// Fills err with the cursor's line and column.
gr_status gr_lex_fail(Lexer *l, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
// "expected X, found Y" with what stands at the cursor.
gr_status gr_lex_expected(Lexer *l, const char *what);

// Skips white space and comments. False at an unterminated comment (gr_lex_fail sets err later: the cursor is at the
// end).
void gr_lex_skip_slow(Lexer *l);
static inline void lex_skip(Lexer *l) {
    while (*l->p == ' ' || *l->p == '\t')
        l->p++;
    if (lex_is(*l->p, CH_SPACE) || *l->p == '/')
        gr_lex_skip_slow(l);
}

// Consumes c (after white space) if it is next.
static inline bool lex_accept(Lexer *l, char c) {
    lex_skip(l);
    if (*l->p != c)
        return false;
    l->p++;
    return true;
}

// lex_accept where a statement may end without a ';': skips white space but no comment, which may be the tag of what
// comes next.
bool gr_lex_accept_near(Lexer *l, char c);

gr_status gr_lex_expect(Lexer *l, char c);

// An identifier: [A-Za-z_$%][A-Za-z0-9_$]*. Empty when there is none; the cursor does not skip white space first.
static inline Slice lex_word(Lexer *l) {
    const char *b = l->p;
    if (!lex_is(*b, CH_START))
        return (Slice){b, 0};
    do
        l->p++;
    while (lex_is(*l->p, CH_WORD));
    return (Slice){b, (size_t)(l->p - b)};
}

static inline bool slice_is(Slice s, const char *text) {
    size_t n = __builtin_strlen(text);
    return s.len == n && !__builtin_memcmp(s.s, text, n);
}

// A literal number of PTX ISA 4.5.
typedef enum NumKind { NUM_INT, NUM_F32, NUM_F64 } NumKind;
typedef struct Num {
    NumKind kind;
    uint64_t bits;
    bool is_signed; // an integer of type .s64
    bool canonical; // the printer would write it the same way
} Num;
gr_status gr_lex_number(Lexer *l, Num *out);

// A plain unsigned integer literal that fits 32 bits, as in .align 8 (after white space).
gr_status gr_lex_u32(Lexer *l, uint32_t *out, const char *what);

// A string in double quotes (after white space), without them; PTX strings have no escapes.
gr_status gr_lex_string(Lexer *l, Slice *out);

// A file's name, in which compilers write escapes, as C has them: \303\244 for the bytes of an umlaut, \" and \\. *out:
// the name itself, in `arena`; NULL: out of memory.
gr_status gr_lex_file_name(Lexer *l, Arena *arena, const char **out);

// Moves the cursor to `to`, counting lines.
void gr_lex_advance(Lexer *l, const char *to);

// Moves the cursor behind a directive that is kept verbatim: past a ';' on its line, else to the line's end. Strings
// and comments hide either, and a comment of several lines makes them one.
gr_status gr_lex_raw(Lexer *l);

// Moves behind the '}' that closes a .section. Braces do not nest in it; those in strings and comments do not count.
gr_status gr_lex_section(Lexer *l);

#endif
