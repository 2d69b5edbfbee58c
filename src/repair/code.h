// SPDX-License-Identifier: Apache-2.0
// code — a source file as far as a proposal has to know it: lines, functions, and the statements in them, by lines.
//
// It is no C++ parser: it knows braces, parentheses, and the keywords that control what runs. What it does not
// understand it leaves out: a function in which braces do not match has no body here. The preprocessor's lines are
// skipped, whatever their conditions.
#ifndef GR_REPAIR_CODE_H
#define GR_REPAIR_CODE_H

#include "base/arena.h"
#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct GrToken {
    const char *text; // into GrCode.text
    uint32_t len, line;
} GrToken;

typedef enum GrStatementKind {
    GR_STMT_SIMPLE,
    GR_STMT_BLOCK,
    GR_STMT_IF,
    GR_STMT_LOOP,
    GR_STMT_SWITCH
} GrStatementKind;

// Tokens [from, to) and the lines from first to last. What decides is [decides, decided): between parentheses.
typedef struct GrStatement {
    GrStatementKind kind;
    uint32_t from, to, decides, decided, first, last;
    struct GrStatement *parent, *child, *next; // child: the first of those inside
} GrStatement;

typedef struct GrFunctionCode {
    uint32_t head; // its first token; the body's `from` ends the head
    GrStatement *body;
    bool kernel, device; // __global__; __device__
    const GrToken *name; // what stands before its parameters; NULL: not known
    bool holds[3]; // a barrier whenever it is called: of a warp at least, of a block, of a cluster (holds.h)
} GrFunctionCode;

typedef struct GrCode {
    Arena arena;
    const char *text;
    size_t len;
    VEC(uint32_t) lines; // where each begins
    VEC(GrToken) tokens;
    VEC(GrFunctionCode) functions;
} GrCode;

// Reads `text`, which must outlive *c. False: out of memory; then, too, gr_cpp_free is due.
bool gr_cpp_read(GrCode *c, const char *text, size_t len);
void gr_cpp_free(GrCode *c);

// The function whose body has that line, or NULL.
const GrFunctionCode *gr_cpp_function(const GrCode *c, uint32_t line);
// The innermost statement at that line, or NULL. `col` tells apart those that share the line; 0: the first.
const GrStatement *gr_cpp_at(const GrCode *c, const GrFunctionCode *f, uint32_t line, uint32_t col);
bool gr_cpp_begins_line(const GrCode *c, uint32_t token);

// Whether the token is that word.
bool gr_token_is(const GrToken *t, const char *word);
bool gr_token_is_name(const GrToken *t);
bool gr_token_starts(const GrToken *t, const char *with);
bool gr_token_same(const GrToken *a, const GrToken *b);

// A line from 1, without what ends it. NULL: there is no such line.
const char *gr_cpp_line(const GrCode *c, uint32_t line, size_t *len);

#endif
