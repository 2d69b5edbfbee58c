// SPDX-License-Identifier: Apache-2.0
// matrix_ref — products of matrices in plain C, and elements of every type in memory, for the tests of matrix instructions.
#ifndef GR_TEST_VM_MATRIX_REF_H
#define GR_TEST_VM_MATRIX_REF_H

#include "base/str.h"

typedef struct Type {
    const char *name;
    unsigned bits, exponent, fraction; // of floating-point types
    bool is_signed;
    const char *reg; // registers of fragments
} Type;

typedef struct Product {
    unsigned m, n, k;
    const Type *a, *b, *c, *d;
    bool or_bits; // b1: counts where bits differ
    double va[16 * 256], vb[8 * 256], vc[256], vd[256];
} Product;

const Type *ref_type(const char *name);
uint64_t ref_encode(const Type *t, double v);              // which must be representable
void ref_put(const Type *t, void *p, size_t at, double v); // element number `at`
void ref_shape(Product *p, const char *text);              // "m16n8k16"
// Small numbers, so that all sums are exact, and what comes out.
void ref_choose(Product *p);
// "{%a0, %a1}"
void ref_fragment(StrBuf *s, const char *prefix, unsigned n);

#endif
