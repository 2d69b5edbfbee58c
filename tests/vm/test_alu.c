// SPDX-License-Identifier: Apache-2.0
// The CPU device's arithmetic against the reference of alu_ref.h: every spelling of alu_cases.def goes through the
// parser and gr_vm_alu_select, and runs on random and corner values, with all and with some lanes active, on every
// instruction set this machine has.
#include "alu_ref.h"
#include "alu_soft.h"
#include "base/rng.h"
#include "vm/alu/alu.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ROUNDS = 14, SLOT = 512, N_SLOTS = 6 };

static const char *const isas[] = {"base", "v3", "v4"};
static const struct {
    const char *spellings, *operands;
} cases[] = {
#define CASE(spellings, operands) {spellings, operands},
#include "alu_cases.def"
#undef CASE
};

static Rng rng;
static uint32_t below(uint32_t n) { return gr_rng_below(&rng, n); }

// ---- Spellings -------------------------------------------------------------------------------------------

typedef void (*OnSpelling)(const char *spelling, const char *operands, void *arg);

// Calls `on` for every combination of the pattern's alternatives.
static void expand(const char *pattern, const char *operands, OnSpelling on, void *arg) {
    const char *open = strchr(pattern, '{');
    if (!open) {
        on(pattern, operands, arg);
        return;
    }
    const char *close = open;
    int depth = 0;
    do {
        depth += *close == '{' ? 1 : *close == '}' ? -1 : 0;
        close++;
    } while (depth);
    depth = 0;
    const char *item = open + 1;
    for (const char *p = item; p < close; p++) {
        if ((*p == ',' && depth == 0) || p == close - 1) {
            char text[256];
            snprintf(text, sizeof text, "%.*s%.*s%s", (int)(open - pattern), pattern, (int)(p - item), item,
                     close);
            expand(text, operands, on, arg);
            item = p + 1;
        }
        depth += *p == '{' ? 1 : *p == '}' ? -1 : 0;
    }
}

// ---- Values ----------------------------------------------------------------------------------------------

static uint64_t float_value(const Format *f) {
    uint64_t sign = (uint64_t)below(2) << (f->bits - 1), one = (uint64_t)(-f->min_exponent) << f->fraction;
    uint64_t fraction = ((uint64_t)1 << f->fraction) - 1, any = gr_rng_next(&rng);
    uint64_t top = ((uint64_t)1 << (f->bits - 1)) - 1;
    switch (below(12)) {
    case 0: { // corners
        const uint64_t corner[] = {0,
                                   1,
                                   fraction,
                                   fraction + 1,
                                   f->max_finite,
                                   one,
                                   one + 1,
                                   one - 1,
                                   top,
                                   f->infinity ? f->infinity : f->max_finite,
                                   f->infinity ? f->infinity + 1 : 0,
                                   f->infinity ? f->infinity | (any & fraction) : 0};
        return sign | corner[below(sizeof corner / sizeof *corner)];
    }
    case 1: return sign | (any & fraction);                                          // subnormal
    case 2: return sign | (one + ((uint64_t)below(9) << f->fraction));               // powers of two
    case 3: return sign | (one + (any & fraction));                                  // [1, 2)
    case 4: return sign | ((one - ((uint64_t)1 << f->fraction)) + (any & fraction)); // [0.5, 1)
    case 5: { // near integers and halves
        Num n = {.kind = NUM_FINITE, .m = below(2000) + 1, .e = -1 - (int)below(3)};
        return sign | soft_encode(f, n, TO_ZERO, false);
    }
    case 6: { // around the ends of the integers
        static const int ends[] = {7, 8, 15, 16, 31, 32, 63, 64};
        Num n = {.kind = NUM_FINITE,
                 .m = ((Wide)1 << 70) + ((Wide)below(9) << 66) - ((Wide)4 << 66),
                 .e = ends[below(8)] - 70};
        if (below(2))
            n.m = ((Wide)1 << 70) + below(3) - 1;
        return sign | soft_encode(f, n, (Rounding)below(4), true);
    }
    case 7:
        return sign | (one + ((uint64_t)below(64) << f->fraction) - ((uint64_t)20 << f->fraction) +
                       (any & fraction)) %
                          top;
    case 8: return sign | (any & top & ~(fraction >> 6)); // short fractions: ties
    default: return any & (top | (uint64_t)1 << (f->bits - 1));
    }
}

static uint64_t integer_value(unsigned bits) {
    uint64_t any = gr_rng_next(&rng), mask = bits == 64 ? ~(uint64_t)0 : ((uint64_t)1 << bits) - 1;
    switch (below(8)) {
    case 0: {
        const uint64_t corner[] = {0,
                                   1,
                                   2,
                                   mask,
                                   mask - 1,
                                   mask >> 1,
                                   (mask >> 1) + 1,
                                   (mask >> 1) + 2,
                                   15,
                                   16,
                                   17,
                                   31,
                                   32,
                                   33,
                                   63,
                                   64,
                                   65,
                                   127,
                                   128,
                                   255,
                                   256,
                                   0xffff,
                                   0x10000,
                                   0x7fff};
        return corner[below(sizeof corner / sizeof *corner)] & mask;
    }
    case 1: return below(70) & mask;
    case 2: return (0 - (uint64_t)below(70)) & mask;
    case 3: return ((uint64_t)1 << below(bits)) & mask;
    case 4: return any >> below(64) & mask;
    case 5: return (any | gr_rng_next(&rng)) & mask;
    default: return any & mask;
    }
}

static uint64_t random_value(const char *type) {
    char t[16];
    strcpy(t, type);
    size_t n = strlen(t);
    if (n > 2 && !strcmp(t + n - 2, "x2")) {
        t[n - 2] = 0;
        unsigned bits = ref_bits(t);
        if (bits == 0 || bits > 32) // fp8 and narrower: all bits
            return gr_rng_next(&rng);
        return random_value(t) | random_value(t) << bits;
    }
    const Format *f = soft_format(t);
    return f ? float_value(f) : integer_value(ref_bits(t) == 1 ? 2 : ref_bits(t));
}

// ---- One spelling ----------------------------------------------------------------------------------------

typedef struct Shape {
    char type[5][16];   // of the destination and the sources
    unsigned bits[5];   // of their registers
    unsigned n;         // operands
    bool pair, negated; // p|q, !c
    int lut;            // lop3's table, or -1
    unsigned lut_at;    // before this operand
} Shape;

static uint8_t frame[SLOT * N_SLOTS] __attribute__((aligned(64)));
enum { D = 0, D2 = SLOT, SRC = 2 * SLOT };

static uint64_t get(unsigned slot, unsigned bits, unsigned lane) {
    const uint8_t *p = frame + slot;
    return bits == 1    ? ((const uint32_t *)p)[0] >> lane & 1
           : bits <= 16 ? ((const uint16_t *)p)[lane]
           : bits == 32 ? ((const uint32_t *)p)[lane]
                        : ((const uint64_t *)p)[lane];
}
static void put(unsigned slot, unsigned bits, unsigned lane, uint64_t x) {
    uint8_t *p = frame + slot;
    if (bits == 1)
        ((uint32_t *)p)[0] = (((uint32_t *)p)[0] & ~(1u << lane)) | (uint32_t)(x & 1) << lane;
    else if (bits <= 16)
        ((uint16_t *)p)[lane] = (uint16_t)x;
    else if (bits == 32)
        ((uint32_t *)p)[lane] = (uint32_t)x;
    else
        ((uint64_t *)p)[lane] = x;
}

static void make_shape(const RefInsn *r, const char *operands, Shape *s) {
    memset(s, 0, sizeof *s);
    s->lut = -1;
    for (const char *p = operands; *p; p++) {
        if (*p == '?') {
            s->pair = below(2);
            continue;
        }
        if (*p == '!') {
            s->pair = true;
            continue;
        }
        if (*p == 'l') {
            s->lut = (int)below(256);
            s->lut_at = s->n;
            continue;
        }
        if (*p == 'c') {
            if (!ref_has(r, "and") && !ref_has(r, "or") && !ref_has(r, "xor"))
                continue;
            s->negated = below(2);
        }
        char *t = s->type[s->n];
        if (*p == 'W')
            sprintf(t, "%c%u", r->type[0][0], 2 * ref_bits(r->type[0]));
        else
            strcpy(t, *p == 'T'   ? r->type[0]
                      : *p == 'U' ? r->type[1]
                      : *p == 'V' ? r->type[2]
                      : *p == 'u' ? "u32"
                      : *p == 's' ? "s32"
                                  : "pred");
        unsigned bits = ref_bits(t);
        // integer operands of cvt may sit in wider registers
        if (!strcmp(r->op, "cvt") && !ref_has(r, "pack") && strchr("us", t[0]) && strcmp(t, "ue8m0x2")) {
            bits = bits < 16 ? 16 : bits;
            while (bits < 64 && below(3) == 0)
                bits *= 2;
        }
        s->bits[s->n++] = bits < 16 && bits != 1 ? 16 : bits;
    }
}

// The module's text, and from it the instruction.
static PtxModule *parse(const char *spelling, const Shape *s, const PtxInstr **out) {
    char text[1024], *p = text, *end = text + sizeof text;
    p += snprintf(p, (size_t)(end - p),
                  ".version 9.0\n.target sm_100a\n.address_size 64\n.entry k() {\n.reg .pred %%q;\n");
    for (unsigned j = 0; j < s->n; j++)
        p += snprintf(p, (size_t)(end - p), ".reg .%s%.0u %%x%u;\n", s->bits[j] == 1 ? "pred" : "b",
                      s->bits[j] == 1 ? 0 : s->bits[j], j);
    p += snprintf(p, (size_t)(end - p), "%s %%x0%s", spelling, s->pair ? "|%q" : "");
    for (unsigned j = 1; j <= s->n; j++) {
        if (s->lut >= 0 && j == s->lut_at)
            p += snprintf(p, (size_t)(end - p), ", %d", s->lut);
        if (j < s->n)
            p += snprintf(p, (size_t)(end - p), ", %s%%x%u", s->negated && j == s->n - 1 ? "!" : "", j);
    }
    snprintf(p, (size_t)(end - p), ";\nret;\n}\n");
    PtxModule *m;
    gr_error err;
    if (gr_ptx_parse(text, strlen(text), spelling, &m, &err) != GR_OK)
        fail_msg("%s does not parse: %s", spelling, err.msg);
    *out = NULL;
    for (const PtxStmt *st = m->funcs[0]->first; st; st = st->next)
        if (st->kind == PTX_INSTR && !*out)
            *out = st->instr;
    assert_non_null(*out);
    return m;
}

static double as_double(const char *type, uint64_t code) {
    char t[16];
    strcpy(t, type);
    if (strlen(t) > 2 && !strcmp(t + strlen(t) - 2, "x2"))
        t[strlen(t) - 2] = 0;
    const Format *f = soft_format(t);
    Num x = soft_decode(f, code & (f->bits == 64 ? ~(uint64_t)0 : ((uint64_t)1 << f->bits) - 1));
    double v = x.kind == NUM_NAN        ? NAN
               : x.kind == NUM_INFINITE ? INFINITY
                                        : ldexp((double)(uint64_t)x.m, x.e);
    return x.negative ? -v : v;
}

static bool close_to(double got, double want, double error) {
    if (isnan(want) || isnan(got))
        return isnan(want) && isnan(got);
    if (error == 0)
        return got == want && !signbit(got) == !signbit(want);
    return fabs(got - want) <= error || got == want;
}

static bool right(const RefInsn *r, const RefOut *want, uint64_t got, unsigned bits) {
    if (want->approximate) {
        bool packed = strstr(r->type[0], "x2");
        return close_to(as_double(r->type[0], got), want->value, want->own_error) &&
               (!packed || close_to(as_double(r->type[0], got >> 16), want->value_hi, want->own_error_hi));
    }
    if (bits == 64 && want->d == ~(uint64_t)0 && !strcmp(r->op, "cvt") && !strcmp(r->type[0], "f64"))
        return isnan(as_double("f64", got));
    return got == (bits == 64 ? want->d : want->d & (((uint64_t)1 << bits) - 1));
}

typedef struct Run {
    const RefInsn *r;
    const Shape *s;
    const char *isa;
    const VmAlu *alu;
    const RefIn *in;
    const RefOut *want;
    uint32_t cc;
} Run;

// Executes the handler for full or partial masks under `mask`, with the destination in its own slot or in the first
// source's, and compares all lanes. Results of an approximate instruction on the first instruction set: the others must
// give the same bits.
static uint64_t first_results[VM_LANES];

static bool execute(const Run *u, uint32_t mask, bool in_place, bool full) {
    const Shape *s = u->s;
    unsigned d = in_place ? SRC : D;
    uint64_t before[2][VM_LANES];
    for (unsigned l = 0; l < VM_LANES; l++) {
        for (unsigned j = 1; j < s->n; j++)
            put(SRC + (j - 1) * SLOT, s->bits[j], l,
                u->in[l].src[j - 1] ^ (s->negated && j == s->n - 1)); // !p: the decoder's
        if (!in_place)
            put(D, s->bits[0], l, gr_rng_next(&rng));
        put(D2, 1, l, below(2));
        before[0][l] = get(d, s->bits[0], l);
        before[1][l] = get(D2, 1, l);
    }
    VmWarp w = {.frame = frame, .mask = mask, .live = ~0u, .cc = u->cc, .partial = !full};
    VmInsn i = {.exec = {u->alu->exec[0], u->alu->exec[1]},
                .d = d,
                .d2 = D2,
                .a = SRC,
                .b = SRC + SLOT,
                .c = SRC + 2 * SLOT,
                .e = SRC + 3 * SLOT,
                .imm = u->alu->imm};
    assert_ptr_equal(i.exec[w.partial](&w, &i), &i + 1);
    for (unsigned l = 0; l < VM_LANES; l++) {
        uint64_t got = get(d, s->bits[0], l);
        bool active = mask >> l & 1;
        if (full && !active) { // of another activation of the warp: only its carry matters
            got = before[0][l];
            put(D2, 1, l, before[1][l]);
        }
        bool ok = active ? right(u->r, &u->want[l], got, s->bits[0]) : got == before[0][l];
        if (u->alu->approximate && active) {
            if (!strcmp(u->isa, isas[0]))
                first_results[l] = mask == ~0u ? got : first_results[l];
            ok = ok && got == first_results[l];
        }
        if (s->pair)
            ok = ok && get(D2, 1, l) == (active ? u->want[l].d2 : before[1][l]);
        else
            ok = ok && get(D2, 1, l) == before[1][l];
        ok = ok && (w.cc >> l & 1) == (active ? u->want[l].carry : u->cc >> l & 1);
        if (!ok) {
            print_error("%s (%s, mask %08x, lane %u %s%s%s): d %#llx q %u cc %u, expected %#llx (%.17g +- "
                        "%g) q %u cc %u; sources "
                        "%#llx %#llx %#llx %#llx, carry in %u, register bits %u %u, table %d\n",
                        u->r->text, u->isa, mask, l, active ? "active" : "inactive",
                        in_place ? " in place" : "", s->negated ? " negated" : "", (unsigned long long)got,
                        (unsigned)get(D2, 1, l), w.cc >> l & 1,
                        (unsigned long long)(active ? u->want[l].d : before[0][l]), u->want[l].value,
                        u->want[l].own_error, (unsigned)u->want[l].d2, u->want[l].carry,
                        (unsigned long long)u->in[l].src[0], (unsigned long long)u->in[l].src[1],
                        (unsigned long long)u->in[l].src[2], (unsigned long long)u->in[l].src[3],
                        u->cc >> l & 1, s->bits[0], s->bits[1], s->lut);
            return false;
        }
    }
    return true;
}

typedef struct Tally {
    unsigned spellings, wrong;
} Tally;

static void check_spelling(const char *spelling, const char *operands, void *arg) {
    RefInsn r;
    ref_parse(spelling, &r);
    bool ok = true;
    for (unsigned round = 0; ok && round < ROUNDS; round++) {
        Shape s;
        make_shape(&r, operands, &s);
        const PtxInstr *instr;
        PtxModule *m = parse(spelling, &s, &instr);
        RefIn in[VM_LANES];
        RefOut want[VM_LANES];
        uint32_t cc = (uint32_t)gr_rng_next(&rng);
        for (unsigned l = 0; l < VM_LANES; l++) {
            memset(&in[l], 0, sizeof in[l]);
            for (unsigned j = 1; j < s.n; j++) {
                uint64_t v = random_value(s.type[j]);
                if (s.bits[j] > ref_bits(s.type[j])) { // garbage above a narrow value
                    unsigned b = ref_bits(s.type[j]);
                    v = (v & (((uint64_t)1 << b) - 1)) | gr_rng_next(&rng) << b;
                }
                if (j > 1 && below(8) == 0) // equal sources, cancellation
                    v = in[l].src[j - 2] ^ (uint64_t)below(2) << (s.bits[j] - 1);
                in[l].src[j - 1] = s.bits[j] == 64 ? v : v & (((uint64_t)1 << s.bits[j]) - 1);
            }
            in[l].carry = cc >> l & 1;
            in[l].negated = s.negated;
            in[l].lut = (uint8_t)s.lut;
            in[l].dst_bits = s.bits[0];
            in[l].src_bits = !strcmp(r.op, "cvt") ? s.bits[1] : s.n - 1;
            if (!ref_run(&r, &in[l], &want[l]))
                fail_msg("the reference does not know %s", spelling);
        }
        for (unsigned k = 0; k < sizeof isas / sizeof *isas; k++) {
            if (!gr_alu_use(isas[k]))
                continue;
            VmAlu alu;
            memset(&alu, 0, sizeof alu);
            if (!gr_vm_alu_select(instr, &alu))
                fail_msg("%s is not accepted (registers of %u and %u bits)", spelling, s.bits[0], s.bits[1]);
            assert_int_equal(alu.n_src, s.n - 1);
            assert_int_equal(alu.dst2, s.pair ? PTX_PRED : PTX_NOTYPE);
            unsigned width = gr_ptx_type_bits(alu.dst);
            assert_int_equal(width < 16 && width != 1 ? 16 : width, s.bits[0]);
            assert_int_equal(alu.approximate, want[0].approximate);
            Run u = {.r = &r, .s = &s, .isa = isas[k], .alu = &alu, .in = in, .want = want, .cc = cc};
            bool alias = s.bits[0] == s.bits[1];
            ok = ok && execute(&u, ~0u, false, true) &&
                 execute(&u, (uint32_t)gr_rng_next(&rng), false, false) &&
                 execute(&u, 1u << below(32), alias, false) &&
                 execute(&u, (uint32_t)gr_rng_next(&rng), false, true);
            if (alias)
                ok = ok && execute(&u, ~0u, true, true) &&
                     execute(&u, (uint32_t)gr_rng_next(&rng), true, false);
        }
        gr_ptx_free(m);
    }
    Tally *t = arg;
    t->spellings++;
    t->wrong += !ok;
}

static void every_spelling_computes_what_the_isa_says(void **state) {
    (void)state;
    Tally t = {0};
    const char *only = getenv("ALU_ONLY");
    for (size_t j = 0; j < sizeof cases / sizeof *cases; j++)
        if (!only || strstr(cases[j].spellings, only))
            expand(cases[j].spellings, cases[j].operands, check_spelling, &t);
    for (unsigned k = 0; k < sizeof isas / sizeof *isas; k++)
        print_message("instruction set %s: %s\n", isas[k], gr_alu_use(isas[k]) ? "tested" : "not here");
    print_message("%u spellings, %u wrong\n", t.spellings, t.wrong);
    assert_int_equal(t.wrong, 0);
    assert_true(only || t.spellings > 2000);
}

// Real programs' spellings, one a line: all of them are tested above.
static const char *spellings_file;

typedef struct Search {
    const char *wanted;
    bool found;
} Search;

static void compare_spelling(const char *spelling, const char *operands, void *arg) {
    (void)operands;
    Search *s = arg;
    s->found = s->found || !strcmp(spelling, s->wanted);
}

static void real_programs_are_covered(void **state) {
    (void)state;
    if (!spellings_file)
        skip();
    FILE *f = fopen(spellings_file, "r");
    assert_non_null(f);
    char line[128];
    unsigned n = 0, missing = 0;
    while (fgets(line, sizeof line, f)) {
        line[strcspn(line, "\n")] = 0;
        if (line[0] == '#' || !line[0])
            continue;
        Search s = {.wanted = line};
        for (size_t j = 0; j < sizeof cases / sizeof *cases && !s.found; j++)
            expand(cases[j].spellings, cases[j].operands, compare_spelling, &s);
        if (!s.found)
            print_error("%s occurs in programs and is not tested\n", line);
        missing += !s.found;
        n++;
    }
    fclose(f);
    assert_int_equal(missing, 0);
    assert_true(n > 300);
}

static void what_is_not_understood_is_refused(void **state) {
    (void)state;
    // modifiers that do not belong, types that do not exist for the operation, wrong numbers of operands
    static const char *const wrong[] = {
        "add.sat.u32 %r0, %r1, %r2",
        "add.ftz.f64 %d0, %d1, %d2",
        "fma.f32 %f0, %f1, %f2, %f3",
        "mul.u32 %r0, %r1, %r2",
        "mul.wide.u64 %d0, %d1, %d2",
        "add.u32 %r0, %r1",
        "add.u32 %r0, %r1, %r2, %r3",
        "add.bogus.u32 %r0, %r1, %r2",
        "setp.ltu.s32 %p0, %r1, %r2",
        "setp.lt.and.s32 %p0, %r1, %r2",
        "cvt.f32.f64 %f0, %d1, %d2",
        "cvt.u32.f32 %r0, %f1",
        "cvt.bogus.u32.u64 %r0, %d1",
        "ld.global.u32 %r0, [%d1]",
        "lop3.b32 %r0, %r1, %r2, %r3, %r4",
        "shf.l.b32 %r0, %r1, %r2, %r3",
        "min.relu.u32 %r0, %r1, %r2",
        "div.f32 %f0, %f1, %f2",
        "add.u32 %d0, %r1, %r2",
        "add.u64 %d0, %d1, %r2",
        "selp.b32 %r0, %r1, %r2, %r3",
        "cvt.f32.f16 %f0, %f1",
        "setp.lt.u32 %r0, %r1, %r2",
        "add.u32 %r0|%p0, %r1, %r2",
        "cvt.rs.f16x2.f32 %r0, %f1, %f2, %r1",
    };
    for (size_t j = 0; j < sizeof wrong / sizeof *wrong; j++) {
        char text[512];
        snprintf(
            text, sizeof text,
            ".version 9.0\n.target sm_100a\n.address_size 64\n.entry k() {\n.reg .pred %%p<2>;\n.reg .b32 "
            "%%r<5>;\n.reg .f32 %%f<5>;\n.reg .b64 %%d<5>;\n%s;\nret;\n}\n",
            wrong[j]);
        PtxModule *m;
        gr_error err;
        if (gr_ptx_parse(text, strlen(text), "wrong", &m, &err) != GR_OK)
            fail_msg("%s does not parse: %s", wrong[j], err.msg);
        const PtxStmt *st = m->funcs[0]->first;
        while (st->kind != PTX_INSTR)
            st = st->next;
        VmAlu alu;
        memset(&alu, 0, sizeof alu);
        if (gr_vm_alu_select(st->instr, &alu))
            fail_msg("%s is accepted", wrong[j]);
        gr_ptx_free(m);
    }
}

static void moves_of_128_bits_carry_both_halves(void **state) {
    (void)state;
    Shape s = {.type = {"b128", "b128"}, .bits = {128, 128}, .n = 2, .lut = -1};
    const PtxInstr *instr;
    PtxModule *m = parse("mov.b128", &s, &instr);
    for (unsigned k = 0; k < sizeof isas / sizeof *isas; k++) {
        if (!gr_alu_use(isas[k]))
            continue;
        VmAlu alu;
        memset(&alu, 0, sizeof alu);
        assert_true(gr_vm_alu_select(instr, &alu));
        assert_int_equal(alu.dst, PTX_B128);
        static const uint32_t masks[] = {~0u, 0x80000001, 0x00ffff00};
        for (unsigned j = 0; j < 3; j++) {
            uint64_t *d = (uint64_t *)(frame + D), *a = (uint64_t *)(frame + SRC);
            for (unsigned l = 0; l < 2 * VM_LANES; l++) {
                d[l] = l;
                a[l] = gr_rng_next(&rng);
            }
            VmWarp w = {.frame = frame, .mask = masks[j], .live = ~0u, .partial = masks[j] != ~0u};
            VmInsn i = {.d = D, .a = SRC};
            alu.exec[w.partial](&w, &i);
            for (unsigned l = 0; l < 2 * VM_LANES; l++)
                assert_int_equal(d[l], masks[j] >> l % VM_LANES & 1 ? a[l] : l);
        }
    }
    gr_ptx_free(m);
}

static void immediates_take_the_type_they_are_read_as(void **state) {
    (void)state;
    const PtxOperand minus_one = {.kind = PTX_O_INT, .is_signed = true, .bits = ~(uint64_t)0};
    const PtxOperand big = {.kind = PTX_O_INT, .bits = ~(uint64_t)0};
    const PtxOperand single = {.kind = PTX_O_F32, .bits = 0x7f812345}; // a signalling NaN stays as it is
    const PtxOperand three = {.kind = PTX_O_F32, .bits = 0x40400000};
    const PtxOperand tenth = {.kind = PTX_O_F64, .bits = 0x3fb999999999999a};
    assert_int_equal(gr_vm_immediate(&minus_one, PTX_S32), 0xffffffff);
    assert_int_equal(gr_vm_immediate(&minus_one, PTX_U16), 0xffff);
    assert_int_equal(gr_vm_immediate(&minus_one, PTX_B8), 0xff);
    assert_int_equal(gr_vm_immediate(&minus_one, PTX_S64), UINT64_MAX);
    assert_int_equal(gr_vm_immediate(&minus_one, PTX_PRED), 1);
    assert_int_equal(gr_vm_immediate(&minus_one, PTX_F32), 0xbf800000);
    assert_int_equal(gr_vm_immediate(&big, PTX_F64), 0x43f0000000000000);
    assert_int_equal(gr_vm_immediate(&single, PTX_F32), 0x7f812345);
    assert_int_equal(gr_vm_immediate(&single, PTX_B32), 0x7f812345);
    assert_int_equal(gr_vm_immediate(&three, PTX_F64), 0x4008000000000000);
    assert_int_equal(gr_vm_immediate(&tenth, PTX_F64), 0x3fb999999999999a);
    assert_int_equal(gr_vm_immediate(&tenth, PTX_F32), 0x3dcccccd);
}

int main(int argc, char **argv) {
    spellings_file = argc > 1 ? argv[1] : NULL;
    rng = gr_rng(getenv("ALU_SEED") ? strtoull(getenv("ALU_SEED"), NULL, 0) : 1);
    unsigned saved = gr_alu_fp_enter();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_spelling_computes_what_the_isa_says),
        cmocka_unit_test(real_programs_are_covered),
        cmocka_unit_test(what_is_not_understood_is_refused),
        cmocka_unit_test(moves_of_128_bits_carry_both_halves),
        cmocka_unit_test(immediates_take_the_type_they_are_read_as),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    gr_alu_fp_leave(saved);
    return failed;
}
