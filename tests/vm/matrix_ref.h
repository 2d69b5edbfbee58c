// SPDX-License-Identifier: Apache-2.0
// matrix_ref — products of matrices in plain C, and elements of every type in memory, for the tests of matrix
// instructions.
#ifndef GR_TEST_VM_MATRIX_REF_H
#define GR_TEST_VM_MATRIX_REF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

// Forms of wmma.mma with its loads and its store, and of mma.sync.
typedef struct Wmma {
    const char *shape, *a, *c, *d, *mma; // mma: the instruction's types
    unsigned n[4];                       // registers of d, a, b, c
    bool rows_and_columns;               // A by rows and B by columns only
} Wmma;

typedef struct Mma {
    const char *shape, *a, *b, *c,
        *text;     // text: the types of the instruction, what stands before and after them included
    unsigned n[4]; // registers of d, a, b, c
} Mma;

extern const Wmma ref_wmmas[];
extern const Mma ref_mmas[];
extern const size_t ref_n_wmmas, ref_n_mmas;

const Type *ref_type(const char *name);
uint64_t ref_encode(const Type *t, double v);              // which must be representable
void ref_put(const Type *t, void *p, size_t at, double v); // element number `at`
// For "m16n8k16" and these types: small numbers, so that all sums are exact, and what comes out.
void ref_choose(Product *p, const char *shape, const char *a, const char *b, const char *c, const char *d,
                uint32_t seed);
// Row and column of element i of a lane's fragment, for mma.sync.
void ref_at_a(const Product *p, unsigned lane, unsigned i, unsigned *row, unsigned *col);
void ref_at_b(const Product *p, unsigned lane, unsigned i, unsigned *row, unsigned *col);
void ref_at_c(unsigned lane, unsigned i, unsigned *row, unsigned *col);
// "{%a0, %a1}"; returns to
char *ref_fragment(char to[64], char name, unsigned n);

#endif
