// SPDX-License-Identifier: Apache-2.0
// expr — constant expressions (PTX ISA 4.5.5): C's operators over 64-bit integers and doubles.
#ifndef GR_PTX_EXPR_H
#define GR_PTX_EXPR_H

#include "ptx/lexer.h"

// Evaluates the expression at the cursor. `canonical` is true only when it was one literal as the printer spells it.
gr_status gr_expr_parse(Lexer *l, Num *out);

// Evaluates the expression at the cursor as an integer.
gr_status gr_expr_int(Lexer *l, int64_t *out, const char *what);

double gr_num_double(const Num *n);

#endif
