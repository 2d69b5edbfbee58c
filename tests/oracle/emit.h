// SPDX-License-Identifier: Apache-2.0
// emit — what emit.c and emit_meet.c share.
#ifndef GR_TEST_ORACLE_EMIT_H
#define GR_TEST_ORACLE_EMIT_H

#include "kernel.h"

extern const char emit_registers[]; // of kernels with marks

void emit_head(StrBuf *o, const char *op, const Statement *s); // "ld" and everything up to the type
void emit_address(StrBuf *o, const Statement *s);
// What the trace hears of at once: the register of the load says what comes next.
void emit_mark(StrBuf *o, char letter, unsigned number);
void emit_lanes(StrBuf *o, const Kernel *k, const Statement *s); // into %r13, the executing lanes of the warp
void emit_hold(StrBuf *o, const Kernel *k, const Statement *s);
void emit_choose(StrBuf *o, const Statement *s);
void emit_meet(StrBuf *o, const Kernel *k, const Statement *s);
void emit_away(StrBuf *o, const Kernel *k, const Statement *s);
void emit_away_functions(StrBuf *o, bool declared); // declared: they are elsewhere

#endif
