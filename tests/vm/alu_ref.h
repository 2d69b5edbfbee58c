// SPDX-License-Identifier: Apache-2.0
// alu_ref — what one lane of an arithmetic instruction must compute, written from the PTX ISA's text in plain scalar C,
// independent of src/vm: the spelling is taken apart here again, integers are 128 bits wide, and floating point is
// alu_soft.
#ifndef GR_TEST_ALU_REF_H
#define GR_TEST_ALU_REF_H

#include <stdbool.h>
#include <stdint.h>

typedef struct RefInsn {
    char text[96], op[24];
    char mods[12][16];
    unsigned n_mods;
    char type[4][16]; // types in order
    unsigned n_types;
} RefInsn;

typedef struct RefIn {
    uint64_t src[4];
    bool negated; // the predicate operand of setp, set is !p
    bool carry;
    uint8_t lut;                 // lop3
    unsigned src_bits, dst_bits; // cvt: widths of the registers
} RefIn;

typedef struct RefOut {
    uint64_t d, d2;
    bool carry;
    // Approximate instructions: d is right when it is within `error` (absolute) of `value`.
    bool approximate;
    double value, error;
    double value_hi, error_hi;      // of the upper half of a packed pair
    double own_error, own_error_hi; // what this device stays within; `error` is what the ISA allows
} RefOut;

void ref_parse(const char *spelling, RefInsn *r);
bool ref_has(const RefInsn *r, const char *mod);
unsigned ref_bits(const char *type); // width of a type
// False when the reference does not know the instruction.
bool ref_run(const RefInsn *r, const RefIn *in, RefOut *out);

// Parts of it.
bool ref_integer(const RefInsn *r, const RefIn *in, RefOut *out);
bool ref_float(const RefInsn *r, const RefIn *in, RefOut *out);
bool ref_bit(const RefInsn *r, const RefIn *in, RefOut *out);
bool ref_compare(const RefInsn *r, const RefIn *in, RefOut *out);
bool ref_cvt(const RefInsn *r, const RefIn *in, RefOut *out);

#endif
