// SPDX-License-Identifier: Apache-2.0
// rows_alu — the arithmetic of tests/vm/alu_cases.def as conformance rows: the reference is alu_ref's. A spelling gives
// several rows where its operands have several forms: with and without a second destination, a negated predicate,
// lop3's tables, the width of cvt's registers, and how the carry flag comes and goes.
#include "row.h"
#include "values.h"

#include "../vm/alu_ref.h"
#include "../vm/alu_soft.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *spellings, *operands;
} cases[] = {
#define CASE(spellings, operands) {spellings, operands},
#include "../vm/alu_cases.def"
#undef CASE
};

enum { N_IN = 5, CARRY_IN = 4, APPROX_CASES = 1 << 17 };

typedef struct Alu {
    RefInsn r;
    char type[5][16]; // of the destination and the sources
    unsigned bits[5]; // of their registers
    unsigned n;
    bool pair, negated, carries, approximate;
    const char *set_carry, *get_carry; // add or sub
    int lut;
    unsigned lut_at;
} Alu;

static uint64_t mask_of(unsigned bits) { return bits >= 64 ? ~(uint64_t)0 : ((uint64_t)1 << bits) - 1; }

static RefIn ref_in(const Alu *a, const uint64_t *in) {
    RefIn x = {.negated = a->negated, .carry = in[CARRY_IN] & 1, .lut = (uint8_t)a->lut};
    for (unsigned j = 0; j < 4; j++)
        x.src[j] = in[j];
    if (a->carries && !strcmp(a->set_carry, "sub")) // the flag is set when there is no borrow
        x.carry = !x.carry;
    x.dst_bits = a->bits[0];
    x.src_bits = !strcmp(a->r.op, "cvt") ? a->bits[1] : a->n - 1;
    return x;
}

static bool is_half(const char *type) { return ref_bits(type) == 16; }

static void fill(const Row *row, uint64_t *in) {
    const Alu *a = row->data;
    Rng rng = gr_rng(value_hash(row->name));
    for (uint32_t i = 0; i < row->n; i++, in += N_IN) {
        in[CARRY_IN] = gr_rng_next(&rng) & 1;
        for (unsigned j = 1; j < 5; j++) {
            if (j >= a->n) {
                in[j - 1] = 0;
                continue;
            }
            const char *t = a->type[j];
            unsigned corners = value_corners(t);
            uint64_t any = gr_rng_next(&rng), v = value_random(&rng, t);
            if ((a->approximate && a->n == 2 && is_half(t)) || (ref_has(&a->r, "oob") && j == 1))
                v = i | (uint64_t)(uint16_t)(i * 40503u) << 16; // all there are

            else if (a->approximate && a->n == 2 && ref_bits(t) == 32 && t[1] != '3')
                v = i | (uint64_t)(uint16_t)(i * 40503u) << 16;
            else if (a->n == 2 && i < corners)
                v = value_corner(t, i);
            else if (i < 512)
                v = value_corner(t, (uint32_t)(any >> 32));
            else if (j > 1 && any % 8 == 0) // equal sources, cancellation
                v = in[j - 2] ^ (any >> 8 & 1) << (a->bits[j] - 1);
            if (a->bits[j] > ref_bits(t) && ref_bits(t) > 1) // garbage above a narrow value
                v = (v & mask_of(ref_bits(t))) | gr_rng_next(&rng) << ref_bits(t);
            in[j - 1] = v & mask_of(a->bits[j]);
        }
    }
}

static void expect(const Row *row, const uint64_t *in, uint64_t *out) {
    const Alu *a = row->data;
    for (uint32_t i = 0; i < row->n; i++, in += N_IN, out += 2) {
        RefIn x = ref_in(a, in);
        RefOut o;
        ref_run(&a->r, &x, &o);
        out[0] = o.d & mask_of(a->bits[0]);
        out[1] = a->pair ? o.d2 : a->carries ? o.carry ^ !strcmp(a->get_carry, "sub") : 0;
    }
}

static void value(const Row *row, const uint64_t *in, double v[2], double error[2]) {
    const Alu *a = row->data;
    RefIn x = ref_in(a, in);
    RefOut o;
    ref_run(&a->r, &x, &o);
    v[0] = o.value, error[0] = o.error;
    v[1] = o.value_hi, error[1] = o.error_hi;
}

static void source(Row *row, const Alu *a, unsigned j) {
    row_text(row, "ld.global.u64 %%w, [%%in+%u];\n", 8 * (j - 1));
    switch (a->bits[j]) {
    case 1: row_text(row, "setp.ne.u64 %%x%u, %%w, 0;\n", j); break;
    case 16: row_text(row, "cvt.u16.u64 %%x%u, %%w;\n", j); break;
    case 32: row_text(row, "cvt.u32.u64 %%x%u, %%w;\n", j); break;
    default: row_text(row, "mov.b64 %%x%u, %%w;\n", j); break;
    }
}

static void text(Row *row, const Alu *a) {
    row_begin(row, "");
    row_text(row, ".reg .pred %%q;\n.reg .b64 %%w;\n.reg .b32 %%cc;\n");
    for (unsigned j = 0; j < a->n; j++)
        if (a->bits[j] == 1)
            row_text(row, ".reg .pred %%x%u;\n", j);
        else
            row_text(row, ".reg .b%u %%x%u;\n", a->bits[j], j);
    for (unsigned j = 1; j < a->n; j++)
        source(row, a, j);
    if (a->carries) {
        row_text(row, "ld.global.u32 %%cc, [%%in+%d];\n", 8 * CARRY_IN);
        if (!strcmp(a->set_carry, "add"))
            row_text(row, "add.cc.u32 %%cc, %%cc, -1;\n"); // 1 carries
        else
            row_text(row, "sub.cc.u32 %%cc, 0, %%cc;\n"); // 1 borrows
    }
    row_text(row, "%s %%x0%s", a->r.text, a->pair ? "|%q" : "");
    for (unsigned j = 1; j <= a->n; j++) {
        if (a->lut >= 0 && j == a->lut_at)
            row_text(row, ", %d", a->lut);
        if (j < a->n)
            row_text(row, ", %s%%x%u", a->negated && j == a->n - 1 ? "!" : "", j);
    }
    row_text(row, ";\n");
    if (a->carries) {
        row_text(row, "%sc.u32 %%cc, 0, 0;\nand.b32 %%cc, %%cc, 1;\n", a->get_carry);
    } else if (a->pair) {
        row_text(row, "selp.u32 %%cc, 1, 0, %%q;\n");
    } else {
        row_text(row, "mov.u32 %%cc, 0;\n");
    }
    switch (a->bits[0]) {
    case 1: row_text(row, "selp.u64 %%w, 1, 0, %%x0;\n"); break;
    case 16: row_text(row, "cvt.u64.u16 %%w, %%x0;\n"); break;
    case 32: row_text(row, "cvt.u64.u32 %%w, %%x0;\n"); break;
    default: row_text(row, "mov.b64 %%w, %%x0;\n"); break;
    }
    row_text(row, "st.global.u64 [%%out], %%w;\ncvt.u64.u32 %%w, %%cc;\nst.global.u64 [%%out+8], %%w;\n");
    row_end(row);
}

typedef struct Emit {
    OnRow on;
    void *arg;
} Emit;

static void emit(const Emit *e, const Alu *a, const char *form) {
    static Row row;
    memset(&row, 0, sizeof row);
    snprintf(row.name, sizeof row.name, "%s%s%s", a->r.text, *form ? " " : "", form);
    row.n_in = N_IN;
    row.n_out = 2;
    row.n = ref_has(&a->r, "oob")                                                           ? 1 << 16
            : !a->approximate                                                               ? ROW_CASES
            : ref_bits(a->type[0]) == 16 || a->r.text[0] == 't' || strstr(a->type[0], "x2") ? 1 << 16
                                                                                            : APPROX_CASES;
    row.fill = fill;
    row.expect = expect;
    row.value = value;
    row.approx_type = a->approximate ? a->type[0] : NULL;
    row.data = a;
    text(&row, a);
    e->on(&row, e->arg);
}

static void make_types(Alu *a, const char *operands) {
    const RefInsn *r = &a->r;
    for (const char *p = operands; *p; p++) {
        if (*p == '?' || *p == '!')
            continue;
        if (*p == 'l') {
            a->lut_at = a->n;
            continue;
        }
        if (*p == 'c' && !ref_has(r, "and") && !ref_has(r, "or") && !ref_has(r, "xor"))
            continue;
        char *t = a->type[a->n];
        if (*p == 'W')
            snprintf(t, 16, "%c%u", r->type[0][0], 2 * ref_bits(r->type[0]));
        else
            strcpy(t, *p == 'T'   ? r->type[0]
                      : *p == 'U' ? r->type[1]
                      : *p == 'V' ? r->type[2]
                      : *p == 'u' ? "u32"
                      : *p == 's' ? "s32"
                                  : "pred");
        unsigned bits = ref_bits(t);
        a->bits[a->n++] = bits < 16 && bits != 1 ? 16 : bits;
    }
}

static void on_spelling(const char *spelling, const char *operands, void *arg) {
    const Emit *e = arg;
    Alu a = {.lut = -1, .set_carry = "add", .get_carry = "add"};
    ref_parse(spelling, &a.r);
    make_types(&a, operands);
    a.approximate = ref_has(&a.r, "approx") || ref_has(&a.r, "full");
    a.carries =
        ref_has(&a.r, "cc") || !strcmp(a.r.op, "addc") || !strcmp(a.r.op, "subc") || !strcmp(a.r.op, "madc");
    bool combines =
        strchr(operands, 'c') && (ref_has(&a.r, "and") || ref_has(&a.r, "or") || ref_has(&a.r, "xor"));
    if (strchr(operands, 'l')) {
        static const int tables[] = {0x80, 0xfe, 0x96, 0xe8, 0xca, 0x1b, 0xf0, 0x01};
        for (unsigned k = 0; k < sizeof tables / sizeof *tables; k++) {
            char form[32];
            a.lut = tables[k];
            a.pair = combines;
            a.negated = combines && k % 2;
            snprintf(form, sizeof form, "table %02x%s", (unsigned)a.lut, a.negated ? " !q" : "");
            emit(e, &a, form);
        }
    } else if (strchr(operands, '?')) {
        a.negated = combines && value_hash(spelling) & 1;
        emit(e, &a, a.negated ? "p !c" : "p");
        a.negated = combines && !a.negated;
        a.pair = true;
        emit(e, &a, a.negated ? "p|q !c" : "p|q");
    } else if (a.carries) {
        bool subtracts = !strncmp(a.r.op, "sub", 3);
        a.set_carry = a.get_carry = subtracts ? "sub" : "add";
        emit(e, &a, "");
        a.set_carry = a.get_carry = subtracts ? "add" : "sub";
        emit(e, &a, "mixed");
    } else if (combines) {
        a.negated = value_hash(spelling) & 1;
        emit(e, &a, a.negated ? "!c" : "");
    } else if (!strcmp(a.r.op, "cvt") && !ref_has(&a.r, "pack") && a.n == 2) {
        emit(e, &a, "");
        bool wide = false;
        for (unsigned j = 0; j < 2; j++)
            if (strchr("us", a.type[j][0]) && strcmp(a.type[j], "ue8m0x2") && a.bits[j] < 64) {
                a.bits[j] = j == 0 && value_hash(spelling) & 1 ? 32 : 64;
                wide = true;
            }
        if (wide)
            emit(e, &a, "wide");
    } else {
        emit(e, &a, (!strcmp(a.r.op, "min") || !strcmp(a.r.op, "max")) && a.n == 4 ? "of three" : "");
    }
}

void rows_alu(OnRow on, void *arg) {
    Emit e = {on, arg};
    for (size_t j = 0; j < sizeof cases / sizeof *cases; j++)
        value_expand(cases[j].spellings, cases[j].operands, on_spelling, &e);
}
