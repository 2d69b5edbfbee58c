// SPDX-License-Identifier: Apache-2.0
// rows_warp — what threads do together (shuffles, votes, barriers, matrices of 8 by 8), control flow, fences, hints and
// addresses as conformance rows. Each has its own text and its own reference in C.
#include "row.h"
#include "values.h"

#include "../vm/alu_ref.h"

#include <stdio.h>
#include <string.h>

enum { N_IN = 4, N_OUT = 4 };

typedef struct Text {
    const char *spelling;       // pattern
    const char *globals, *body; // in the body $ is the spelling
    void (*fill)(const Row *, uint64_t *in);
    void (*expect)(const Row *, const uint64_t *in, uint64_t *out);
} Text;

static bool has(const Row *row, const char *mod) {
    RefInsn r;
    ref_parse(row->name, &r);
    return ref_has(&r, mod);
}

static void fill_words(const Row *row, uint64_t *in) {
    Rng rng = gr_rng(value_hash(row->name));
    for (size_t j = 0; j < (size_t)row->n * N_IN; j++)
        in[j] = gr_rng_next(&rng);
}

// ---- Shuffles, votes, matches, reductions ------------------------------------------------------------------

// in: a, b, c
static void fill_shuffle(const Row *row, uint64_t *in) {
    Rng rng = gr_rng(value_hash(row->name));
    static const uint32_t segments[] = {0x1f, 0, 0x181f, 0x100f, 0x1c1f, 0x1e03, 0x1f00};
    for (uint32_t i = 0; i < row->n; i++, in += N_IN) {
        in[0] = gr_rng_next(&rng);
        in[1] = gr_rng_below(&rng, 4) ? gr_rng_below(&rng, 32) : gr_rng_next(&rng) & 0xffffffff;
        in[2] = i / 32 % 8 < 7 ? segments[i / 32 % 8] : gr_rng_next(&rng) & 0xffffffff;
        in[3] = 0;
        if (i / 256 % 2 == 0) // the same for all lanes
            in[1] = gr_mix64(i / 32) & 31;
    }
}

static void expect_shuffle(const Row *row, const uint64_t *in, uint64_t *out) {
    for (uint32_t i = 0; i < row->n; i++) {
        const uint64_t *own = in + (size_t)i * N_IN;
        uint32_t lane = i % 32, b = own[1] & 31, c = own[2] & 31, segment = own[2] >> 8 & 31;
        int max = (int)((lane & segment) | (c & ~segment)), min = (int)(lane & segment), j;
        bool p;
        if (has(row, "up")) {
            j = (int)lane - (int)b;
            p = j >= max;
        } else {
            j = has(row, "down")   ? (int)(lane + b)
                : has(row, "bfly") ? (int)(lane ^ b)
                                   : (min | (int)(b & ~segment));
            p = j <= max;
        }
        if (!p)
            j = (int)lane;
        out[(size_t)i * N_OUT] = (uint32_t)in[((size_t)(i & ~31u) + (uint32_t)j) * N_IN];
        out[(size_t)i * N_OUT + 1] = p;
    }
}

// in: the predicate; some warps agree
static void fill_votes(const Row *row, uint64_t *in) {
    Rng rng = gr_rng(value_hash(row->name));
    for (uint32_t i = 0; i < row->n; i++, in += N_IN) {
        in[0] = gr_rng_next(&rng) >> 40;
        in[1] = in[2] = in[3] = 0;
        switch (i / 32 % 4) {
        case 0: in[0] = gr_mix64(i / 32) & 1; break;
        case 1: in[0] &= 1; break;
        case 2: in[0] = i % 32 == gr_mix64(i / 32) % 32; break;
        case 3: in[0] &= 3; break;
        }
    }
}

static void expect_vote(const Row *row, const uint64_t *in, uint64_t *out) {
    for (uint32_t i = 0; i < row->n; i++) {
        uint32_t ballot = 0;
        for (uint32_t l = 0; l < 32; l++)
            ballot |= (uint32_t)(in[((size_t)(i & ~31u) + l) * N_IN] != 0) << l;
        out[(size_t)i * N_OUT] = has(row, "ballot") ? ballot
                                 : has(row, "all")  ? ballot == ~0u
                                 : has(row, "any")  ? ballot != 0
                                                    : ballot == 0 || ballot == ~0u;
    }
}

static void expect_match(const Row *row, const uint64_t *in, uint64_t *out) {
    for (uint32_t i = 0; i < row->n; i++) {
        uint32_t same = 0;
        for (uint32_t l = 0; l < 32; l++)
            same |= (uint32_t)(in[((size_t)(i & ~31u) + l) * N_IN] == in[(size_t)i * N_IN]) << l;
        bool all = has(row, "all");
        out[(size_t)i * N_OUT] = all && same != ~0u ? 0 : same;
        out[(size_t)i * N_OUT + 1] = all ? same == ~0u : 0;
    }
}

static void expect_redux(const Row *row, const uint64_t *in, uint64_t *out) {
    for (uint32_t i = 0; i < row->n; i++) {
        uint32_t r = (uint32_t)in[(size_t)(i & ~31u) * N_IN];
        for (uint32_t l = 1; l < 32; l++) {
            uint32_t x = (uint32_t)in[((size_t)(i & ~31u) + l) * N_IN];
            bool less = has(row, "s32") ? (int32_t)x < (int32_t)r : x < r;
            r = has(row, "add")   ? r + x
                : has(row, "and") ? (r & x)
                : has(row, "or")  ? (r | x)
                : has(row, "xor") ? (r ^ x)
                                  : (has(row, "min") == less ? x : r);
        }
        out[(size_t)i * N_OUT] = r;
    }
}

static void expect_elect(const Row *row, const uint64_t *in, uint64_t *out) {
    (void)in;
    for (uint32_t i = 0; i < row->n; i++, out += N_OUT) {
        out[0] = 0; // the ISA leaves the choice open
        out[1] = i % 32 == 0;
    }
}

static void expect_own_bit(const Row *row, const uint64_t *in, uint64_t *out) {
    (void)in;
    for (uint32_t i = 0; i < row->n; i++)
        out[(size_t)i * N_OUT] = 1; // which others is the machine's choice
}

// ---- Barriers ----------------------------------------------------------------------------------------------

static void expect_bar_red(const Row *row, const uint64_t *in, uint64_t *out) {
    for (uint32_t i = 0; i < row->n; i++) {
        uint32_t n = 0;
        for (uint32_t t = 0; t < ROW_BLOCK; t++)
            n += in[((size_t)(i & ~(ROW_BLOCK - 1u)) + t) * N_IN] != 0;
        out[(size_t)i * N_OUT] = has(row, "popc") ? n : has(row, "and") ? n == ROW_BLOCK : n != 0;
    }
}

// A thread gives its word to the one at the other end of the block.
static void expect_reversed(const Row *row, const uint64_t *in, uint64_t *out) {
    for (uint32_t i = 0; i < row->n; i++)
        out[(size_t)i * N_OUT] = in[(size_t)(i ^ (ROW_BLOCK - 1u)) * N_IN];
}

static void expect_reversed_warp(const Row *row, const uint64_t *in, uint64_t *out) {
    for (uint32_t i = 0; i < row->n; i++)
        out[(size_t)i * N_OUT] = in[(size_t)(i ^ 31u) * N_IN];
}

static void expect_copy2(const Row *row, const uint64_t *in, uint64_t *out) {
    for (uint32_t i = 0; i < row->n; i++)
        memcpy(out + (size_t)i * N_OUT, in + (size_t)i * N_IN, 16);
}

static void expect_from_first(const Row *row, const uint64_t *in, uint64_t *out) {
    for (uint32_t i = 0; i < row->n; i++)
        memcpy(out + (size_t)i * N_OUT, in + (size_t)(i & ~(ROW_BLOCK - 1u)) * N_IN, 16);
}

static void expect_copy(const Row *row, const uint64_t *in, uint64_t *out) {
    for (uint32_t i = 0; i < row->n; i++)
        out[(size_t)i * N_OUT] = in[(size_t)i * N_IN];
}

// ---- Matrices of 8 x 8 elements of 16 bits: 256 threads, a warp has 512 bytes (4 matrices) of shared memory ---------

// Element (row, column) of matrix k of a warp, as fill_words laid them out: 16 bytes of each thread.
static uint16_t element(const uint64_t *warp, unsigned k, unsigned r, unsigned c) {
    return (uint16_t)(warp[(size_t)(k * 8 + r) * N_IN + c / 4] >> 16 * (c % 4));
}

static unsigned matrices(const Row *row) { return has(row, "x4") ? 4 : has(row, "x2") ? 2 : 1; }

// Lane l holds elements 2(l mod 4) and the next of row l/4 (9.7.14.5.15).
static void expect_ldmatrix(const Row *row, const uint64_t *in, uint64_t *out) {
    bool trans = has(row, "trans");
    for (uint32_t i = 0; i < row->n; i++) {
        const uint64_t *warp = in + (size_t)(i & ~31u) * N_IN;
        unsigned r = i % 32 / 4, c = i % 4 * 2;
        for (unsigned k = 0; k < matrices(row); k++) {
            uint32_t low = trans ? element(warp, k, c, r) : element(warp, k, r, c);
            uint32_t high = trans ? element(warp, k, c + 1, r) : element(warp, k, r, c + 1);
            out[(size_t)i * N_OUT + k] = low | high << 16;
        }
    }
}

// The registers are the lower halves of in[0 .. 3]; out is the warp's memory: thread t has row t mod 8 of matrix t / 8.
static void expect_stmatrix(const Row *row, const uint64_t *in, uint64_t *out) {
    bool trans = has(row, "trans");
    for (uint32_t i = 0; i < row->n; i++) {
        unsigned k = i % 32 / 8, r = i % 8;
        uint16_t e[8];
        memset(e, 0, sizeof e);
        for (unsigned c = 0; c < 8 && k < matrices(row); c++) {
            unsigned rr = trans ? c : r, cc = trans ? r : c, lane = rr * 4 + cc / 2;
            e[c] = (uint16_t)(in[((size_t)(i & ~31u) + lane) * N_IN + k] >> 16 * (cc % 2));
        }
        memcpy(out + (size_t)i * N_OUT, e, 16);
    }
}

static void expect_movmatrix(const Row *row, const uint64_t *in, uint64_t *out) {
    for (uint32_t i = 0; i < row->n; i++) {
        unsigned r = i % 32 / 4, c = i % 4 * 2;
        uint32_t d = 0;
        for (unsigned h = 0; h < 2; h++) {
            unsigned lane = (c + h) * 4 + r / 2;
            d |= (uint32_t)(uint16_t)(in[((size_t)(i & ~31u) + lane) * N_IN] >> 16 * (r % 2)) << 16 * h;
        }
        out[(size_t)i * N_OUT] = d;
    }
}

// ---- Control flow and addresses ------------------------------------------------------------------------------

// A step of the Collatz sequence chosen four ways, five times; every way of branching must give this.
static void expect_collatz(const Row *row, const uint64_t *in, uint64_t *out) {
    for (uint32_t i = 0; i < row->n; i++) {
        uint32_t x = (uint32_t)in[(size_t)i * N_IN];
        for (unsigned k = 0; k < 5; k++)
            switch (x & 3) {
            case 0: x = x >> 2; break;
            case 1: x = 3 * x + 1; break;
            case 2: x = x ^ 0x5555; break;
            default: x = x - 7; break;
            }
        out[(size_t)i * N_OUT] = x;
    }
}

static void expect_even(const Row *row, const uint64_t *in, uint64_t *out) {
    for (uint32_t i = 0; i < row->n; i++) {
        uint32_t x = (uint32_t)in[(size_t)i * N_IN];
        out[(size_t)i * N_OUT] = x + (x & 1);
    }
}

// The bytes of the type in the spelling.
static void expect_cut(const Row *row, const uint64_t *in, uint64_t *out) {
    RefInsn r;
    ref_parse(row->name, &r);
    unsigned bits = ref_bits(r.type[0]);
    for (uint32_t i = 0; i < row->n; i++)
        out[(size_t)i * N_OUT] =
            in[(size_t)i * N_IN] & (bits == 64 ? ~(uint64_t)0 : ((uint64_t)1 << bits) - 1);
}

// Bits: generic addresses of global, shared, local, constant memory and of a kernel parameter.
static void expect_isspacep(const Row *row, const uint64_t *in, uint64_t *out) {
    (void)in;
    for (uint32_t i = 0; i < row->n; i++)
        out[(size_t)i * N_OUT] = has(row, "global")                                ? 1
                                 : strstr(row->name, "shared")                     ? 2
                                 : has(row, "local")                               ? 4
                                 : has(row, "const") || strstr(row->name, "param") ? 8
                                                                                   : 0;
}

#define PICK                                                                                                 \
    ".reg .b32 %x, %s, %t;\n.reg .pred %p, %q;\nld.global.u32 %x, [%in];\nmov.u32 %t, 5;\n"                  \
    "LOOP:\nand.b32 %s, %x, 3;\n"
#define NEXT                                                                                                 \
    "NEXT:\nsub.u32 %t, %t, 1;\nsetp.ne.u32 %p, %t, 0;\n@%p bra LOOP;\n"                                     \
    ".reg .b64 %w;\ncvt.u64.u32 %w, %x;\nst.global.u64 [%out], %w;\n"
#define WAYS                                                                                                 \
    "L0:\nshr.u32 %x, %x, 2;\nbra NEXT;\nL1:\nmad.lo.u32 %x, %x, 3, 1;\nbra.uni NEXT;\n"                     \
    "L2:\nxor.b32 %x, %x, 0x5555;\nbra NEXT;\nL3:\nsub.u32 %x, %x, 7;\n"
#define FUNCTIONS                                                                                            \
    ".func (.reg .b32 %r) f0(.reg .b32 %x) { shr.u32 %r, %x, 2; ret; }\n"                                    \
    ".func (.reg .b32 %r) f1(.reg .b32 %x) { mad.lo.u32 %r, %x, 3, 1; ret.uni; }\n"                          \
    ".func (.reg .b32 %r) f2(.reg .b32 %x) { xor.b32 %r, %x, 0x5555; ret; }\n"                               \
    ".func (.reg .b32 %r) f3(.reg .b32 %x) { sub.u32 %r, %x, 7; ret; }\n"
#define PARAM_FUNCTION(name, step)                                                                           \
    ".func (.param .b32 r) " name "(.param .b32 a) { .reg .b32 %x; ld.param.b32 %x, [a]; " step              \
    " st.param.b32 [r], %x; ret; }\n"
#define PARAM_FUNCTIONS                                                                                      \
    PARAM_FUNCTION("g0", "shr.u32 %x, %x, 2;")                                                               \
    PARAM_FUNCTION("g1", "mad.lo.u32 %x, %x, 3, 1;")                                                         \
    PARAM_FUNCTION("g2", "xor.b32 %x, %x, 0x5555;") PARAM_FUNCTION("g3", "sub.u32 %x, %x, 7;")
#define LOAD  ".reg .b64 %w, %a;\n.reg .b32 %x, %y, %z, %d;\n.reg .pred %p, %q;\nld.global.u32 %x, [%in];\n"
#define GIVE  "cvt.u64.u32 %w, %d;\nst.global.u64 [%out], %w;\n"
#define GIVE2 "selp.u64 %w, 1, 0, %p;\nst.global.u64 [%out+8], %w;\n"
// The thread's place in shared memory: 8 bytes at %a, the partner's at %b.
#define SHARED                                                                                               \
    "mov.u32 %y, sh;\nmad.lo.u32 %z, %ti, 8, %y;\nld.global.u64 %w, [%in];\nst.shared.u64 [%z], %w;\n"
#define OTHER(mask)                                                                                          \
    "xor.b32 %d, %ti, " mask                                                                                 \
    ";\nmad.lo.u32 %z, %d, 8, %y;\nld.shared.u64 %w, [%z];\nst.global.u64 [%out], %w;\n"
#define BYTES ".shared .align 16 .b8 sh[8192];\n"
// %y: the thread's row of 16 bytes in shared memory, one after the other.
#define ROWS "mov.u32 %y, sh;\nmad.lo.u32 %y, %ti, 16, %y;\n"
#define BACK                                                                                                 \
    "ld.shared.u64 %w, [%y];\nst.global.u64 [%out], %w;\nld.shared.u64 %w, [%y+8];\nst.global.u64 "          \
    "[%out+8], %w;\n"
// An mbarrier, a place for a bulk copy to land, and the block's words. The first thread initializes.
#define BARRIER     BYTES ".shared .align 16 .b8 land[16];\n.shared .align 8 .b64 mb;\n"
#define FIRST       ".reg .b64 %st;\nsetp.ne.u32 %q, %ti, 0;\n" SHARED "@%q bra STARTED;\n"
#define STARTED     "STARTED:\nbar.sync 0;\n"
#define WAIT_STATE  "WAIT:\nmbarrier.try_wait.shared.b64 %p, [mb], %st;\n@!%p bra WAIT;\n" OTHER("255")
#define MEET_STATE  STARTED "mbarrier.arrive.shared.b64 %st, [mb];\n" WAIT_STATE
#define WAIT_PARITY "WAIT:\nmbarrier.try_wait.parity.shared.b64 %p, [mb], 0;\n@!%p bra WAIT;\n"
#define BULK        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [land], [%in], 16, [mb];\n"
#define FROM_FIRST                                                                                           \
    "ld.shared.u64 %w, [land];\nst.global.u64 [%out], %w;\nld.shared.u64 %w, [land+8];\nst.global.u64 "      \
    "[%out+8], %w;\n"
#define COUNTED "#"
#define COPY    "ld.global.u64 %w, [%in];\nst.global.u64 [%out], %w;\n"

static const Text texts[] = {
    {"shfl.sync.{up,down,bfly,idx}.b32", "",
     LOAD "ld.global.u32 %y, [%in+8];\nld.global.u32 %z, [%in+16];\n$ %d|%p, %x, %y, %z, -1;\n" GIVE GIVE2,
     fill_shuffle, expect_shuffle},
    {"vote.sync.{all,any,uni}.pred", "",
     LOAD "setp.ne.u32 %p, %x, 0;\n$ %q, %p, -1;\nselp.u32 %d, 1, 0, %q;\n" GIVE, fill_votes, expect_vote},
    {"vote.{sync.ballot,ballot.sync}.b32", "", LOAD "setp.ne.u32 %p, %x, 0;\n$ %d, %p, -1;\n" GIVE,
     fill_votes, expect_vote},
    {"match.any.sync.b32", "", LOAD "$ %d, %x, -1;\nsetp.ne.u32 %p, 0, 0;\n" GIVE GIVE2, fill_votes,
     expect_match},
    {"match.all.sync.b32", "", LOAD "$ %d|%p, %x, -1;\n" GIVE GIVE2, fill_votes, expect_match},
    {"match.any.sync.b64", "",
     LOAD "ld.global.u64 %w, [%in];\n$ %d, %w, -1;\nsetp.ne.u32 %p, 0, 0;\n" GIVE GIVE2, fill_votes,
     expect_match},
    {"match.all.sync.b64", "", LOAD "ld.global.u64 %w, [%in];\n$ %d|%p, %w, -1;\n" GIVE GIVE2, fill_votes,
     expect_match},
    {"redux.sync.{add,min,max}.{u32,s32}", "", LOAD "$ %d, %x, -1;\n" GIVE, fill_words, expect_redux},
    {"redux.sync.{and,or,xor}.b32", "", LOAD "$ %d, %x, -1;\n" GIVE, fill_words, expect_redux},
    {"activemask.b32", "",
     LOAD "$ %d;\n.reg .b32 %l;\nand.b32 %l, %ti, 31;\nshr.u32 %d, %d, %l;\nand.b32 %d, %d, 1;\n" GIVE,
     fill_words, expect_own_bit},
    {"elect.sync", "", LOAD "$ %d|%p, -1;\n" GIVE GIVE2, fill_words, expect_elect},

    {"{bar,barrier}.red.popc.u32", "", LOAD "setp.ne.u32 %p, %x, 0;\n$ %d, 0, %p;\n" GIVE, fill_votes,
     expect_bar_red},
    {"{bar,barrier.cta}.red.{and,or}.pred", "",
     LOAD "setp.ne.u32 %p, %x, 0;\n$ %q, 0, %p;\nselp.u32 %d, 1, 0, %q;\n" GIVE, fill_votes, expect_bar_red},
    {"barrier.red.popc.aligned.u32", "", LOAD "setp.ne.u32 %p, %x, 0;\n$ %d, 3, 256, %p;\n" GIVE, fill_votes,
     expect_bar_red},
    {"bar.sync", BYTES, LOAD SHARED "$ 0;\n" OTHER("255"), fill_words, expect_reversed},
    {"{bar,barrier,bar.cta,barrier.cta}.sync", BYTES, LOAD SHARED "$ 5, 256;\n" OTHER("255"), fill_words,
     expect_reversed},
    {"barrier{,.cta}.sync.aligned", BYTES, LOAD SHARED "mov.u32 %x, 7;\n$ %x;\n" OTHER("255"), fill_words,
     expect_reversed},
    {"{bar,barrier}.arrive",
     BYTES, // half the block arrives at barrier 1, the other half at 2, and waits at the other
     LOAD SHARED "setp.lt.u32 %p, %ti, 128;\n@!%p bra UPPER;\n$ 1, 256;\nbar.sync 2, 256;\nbra DONE;\n"
                 "UPPER:\n$ 2, 256;\nbar.sync 1, 256;\nDONE:\n" OTHER("255"),
     fill_words, expect_reversed},
    {"bar.warp.sync", BYTES, LOAD SHARED "$ -1;\n" OTHER("31"), fill_words, expect_reversed_warp},

    {"ldmatrix.sync.aligned.m8n8.x1{,.trans}{.shared,.shared::cta}.b16", BYTES,
     LOAD ROWS "ld.global.u64 %w, [%in];\nst.shared.u64 [%y], %w;\nld.global.u64 %w, [%in+8];\nst.shared.u64 "
               "[%y+8], %w;\n"
               "bar.sync 0;\ncvt.u64.u32 %a, %y;\n$ {%d}, [%a];\n" GIVE,
     fill_words, expect_ldmatrix},
    {"ldmatrix.sync.aligned.m8n8.x1{,.trans}.b16", BYTES,
     LOAD ROWS "ld.global.u64 %w, [%in];\nst.shared.u64 [%y], %w;\nld.global.u64 %w, [%in+8];\nst.shared.u64 "
               "[%y+8], %w;\n"
               "bar.sync 0;\ncvt.u64.u32 %a, %y;\ncvta.shared.u64 %a, %a;\n$ {%d}, [%a];\n" GIVE,
     fill_words, expect_ldmatrix},
    {"ldmatrix.sync.aligned.m8n8.x2{,.trans}.shared.b16", BYTES,
     LOAD ROWS "ld.global.u64 %w, [%in];\nst.shared.u64 [%y], %w;\nld.global.u64 %w, [%in+8];\nst.shared.u64 "
               "[%y+8], %w;\n"
               "bar.sync 0;\n$ {%d, %x}, [%y];\n" GIVE "cvt.u64.u32 %w, %x;\nst.global.u64 [%out+8], %w;\n",
     fill_words, expect_ldmatrix},
    {"ldmatrix.sync.aligned.m8n8.x4{,.trans}.shared.b16", BYTES,
     LOAD ROWS
     "ld.global.u64 %w, [%in];\nst.shared.u64 [%y], %w;\nld.global.u64 %w, [%in+8];\nst.shared.u64 [%y+8], "
     "%w;\n"
     "bar.sync 0;\n$ {%d, %x, %y, %z}, [%y];\n" GIVE
     "cvt.u64.u32 %w, %x;\nst.global.u64 [%out+8], %w;\ncvt.u64.u32 %w, %y;\nst.global.u64 [%out+16], %w;\n"
     "cvt.u64.u32 %w, %z;\nst.global.u64 [%out+24], %w;\n",
     fill_words, expect_ldmatrix},
    {"stmatrix.sync.aligned.m8n8.x1{,.trans}.shared.b16", BYTES,
     LOAD ROWS "mov.u64 %w, 0;\nst.shared.u64 [%y], %w;\nst.shared.u64 [%y+8], %w;\nbar.sync 0;\n$ [%y], "
               "{%x};\nbar.sync 0;\n"
               "ld.shared.u64 %w, [%y];\nst.global.u64 [%out], %w;\nld.shared.u64 %w, [%y+8];\nst.global.u64 "
               "[%out+8], %w;\n",
     fill_words, expect_stmatrix},
    {"stmatrix.sync.aligned.m8n8.x2{,.trans}.shared.b16", BYTES,
     LOAD ROWS "mov.u64 %w, 0;\nst.shared.u64 [%y], %w;\nst.shared.u64 [%y+8], %w;\nbar.sync "
               "0;\nld.global.u32 %z, [%in+8];\n"
               "$ [%y], {%x, %z};\nbar.sync 0;\n"
               "ld.shared.u64 %w, [%y];\nst.global.u64 [%out], %w;\nld.shared.u64 %w, [%y+8];\nst.global.u64 "
               "[%out+8], %w;\n",
     fill_words, expect_stmatrix},
    {"stmatrix.sync.aligned.m8n8.x4{,.trans}.shared.b16", BYTES,
     LOAD ROWS "mov.u64 %w, 0;\nst.shared.u64 [%y], %w;\nst.shared.u64 [%y+8], %w;\nbar.sync "
               "0;\nld.global.u32 %z, [%in+8];\n"
               ".reg .b32 %u, %v;\nld.global.u32 %u, [%in+16];\nld.global.u32 %v, [%in+24];\n"
               "$ [%y], {%x, %z, %u, %v};\nbar.sync 0;\n"
               "ld.shared.u64 %w, [%y];\nst.global.u64 [%out], %w;\nld.shared.u64 %w, [%y+8];\nst.global.u64 "
               "[%out+8], %w;\n",
     fill_words, expect_stmatrix},
    {"movmatrix.sync.aligned.m8n8.trans.b16", "", LOAD "$ %d, %x;\n" GIVE, fill_words, expect_movmatrix},

    {"bra", "",
     PICK "setp.eq.u32 %p, %s, 0;\n@%p $ L0;\nsetp.eq.u32 %p, %s, 1;\n@%p $ L1;\nsetp.ne.u32 %p, %s, "
          "2;\n@!%p $ L2;\n"
          "$ L3;\n" WAYS NEXT,
     fill_words, expect_collatz},
    {"brx.idx", "", PICK "TABLE: .branchtargets L0, L1, L2, L3;\n$ %s, TABLE;\n" WAYS NEXT, fill_words,
     expect_collatz},
    {"call", FUNCTIONS,
     PICK "setp.eq.u32 %p, %s, 0;\n@%p $ (%x), f0, (%x);\n@%p bra NEXT;\nsetp.eq.u32 %p, %s, 1;\n@%p $ (%x), "
          "f1, (%x);\n"
          "@%p bra NEXT;\nsetp.eq.u32 %p, %s, 2;\n@%p $ (%x), f2, (%x);\n@!%p $ (%x), f3, (%x);\n" NEXT,
     fill_words, expect_collatz},
    {"call.uni", PARAM_FUNCTIONS,
     PICK
     ".reg .b32 %y0, %y1, %y2;\n"
     "{ .param .b32 a; .param .b32 r; st.param.b32 [a], %x; $ (r), g0, (a); ld.param.b32 %y0, [r]; }\n"
     "{ .param .b32 a; .param .b32 r; st.param.b32 [a], %x; $ (r), g1, (a); ld.param.b32 %y1, [r]; }\n"
     "{ .param .b32 a; .param .b32 r; st.param.b32 [a], %x; $ (r), g2, (a); ld.param.b32 %y2, [r]; }\n"
     "{ .param .b32 a; .param .b32 r; st.param.b32 [a], %x; $ (r), g3, (a); ld.param.b32 %x, [r]; }\n"
     "setp.eq.u32 %p, %s, 0;\nselp.b32 %x, %y0, %x, %p;\nsetp.eq.u32 %p, %s, 1;\nselp.b32 %x, %y1, %x, %p;\n"
     "setp.eq.u32 %p, %s, 2;\nselp.b32 %x, %y2, %x, %p;\n" NEXT,
     fill_words, expect_collatz},
    {"call indirect", PARAM_FUNCTIONS ".global .align 8 .u64 table[4] = {g0, g1, g2, g3};\n",
     PICK ".reg .b64 %f, %g;\nmov.u64 %g, table;\nmul.wide.u32 %f, %s, 8;\nadd.u64 %f, %f, "
          "%g;\nld.global.u64 %f, [%f];\n"
          "PROTO: .callprototype (.param .b32 _) _ (.param .b32 _);\n"
          "{ .param .b32 a; .param .b32 r; st.param.b32 [a], %x; call (r), %f, (a), PROTO; ld.param.b32 %x, "
          "[r]; }\n" NEXT,
     fill_words, expect_collatz},
    {"bra.uni", "",
     LOAD "setp.ge.u32 %p, %n, 1;\n@%p $ DONE;\nmov.u32 %x, 0;\nDONE:\nld.global.u64 %w, [%in];\n"
          "st.global.u64 [%out], %w;\n",
     fill_words, expect_copy},
    {"ret",
     ".func (.reg .b32 %r) odd(.reg .b32 %x) {\n.reg .pred %p;\nmov.u32 %r, %x;\nand.b32 %x, %x, 1;\n"
     "setp.eq.u32 %p, %x, 0;\n@%p ret;\nadd.u32 %r, %r, 1;\nret;\n}\n",
     LOAD "call (%d), odd, (%x);\n" GIVE "$;\n", fill_words, expect_even},
    {"exit", "",
     LOAD COPY
     "and.b32 %x, %x, 1;\nsetp.eq.u32 %p, %x, 0;\n@%p $;\nmov.u64 %w, 1;\nst.global.u64 [%out+8], %w;\n",
     fill_words, NULL},

    {"trap", "", LOAD "and.b32 %x, %x, 1;\nsetp.eq.u32 %p, %x, 0;\n@%p $;\n", fill_words, NULL},

    // Asynchronous copies: 16 bytes of each thread to shared memory and back
    {"cp.async.{ca,cg}.shared{,::cta}.global{,.L2::64B,.L2::128B,.L2::256B}", BYTES,
     LOAD ROWS "$ [%y], [%in], 16;\ncp.async.wait_all;\n" BACK, fill_words, expect_copy2},
    {"cp.async.commit_group", BYTES,
     LOAD ROWS
     "cp.async.ca.shared.global [%y], [%in], 8;\n$;\ncp.async.ca.shared.global [%y+8], [%in+8], 8;\n$;\n"
     "cp.async.wait_group 0;\n" BACK,
     fill_words, expect_copy2},
    {"cp.async.wait_group", BYTES,
     LOAD ROWS
     "cp.async.ca.shared.global [%y], [%in], 4;\ncp.async.ca.shared.global [%y+4], [%in+4], 4;\n"
     "cp.async.commit_group;\ncp.async.ca.shared.global [%y+8], [%in+8], 8;\ncp.async.commit_group;\n"
     "$ 1;\nld.shared.u64 %w, [%y];\nst.global.u64 [%out], %w;\n$ 0;\n" BACK,
     fill_words, expect_copy2},
    // mbarriers: all threads of the block exchange words by one
    {"mbarrier.init.shared{,::cta}.b64", BARRIER, LOAD FIRST "$ [mb], 256;\n" MEET_STATE, fill_words,
     expect_reversed},
    {"mbarrier.arrive.shared{,::cta}.b64", BARRIER,
     LOAD FIRST "mbarrier.init.shared.b64 [mb], 256;\n" STARTED "$ %st, [mb];\n" WAIT_STATE, fill_words,
     expect_reversed},
    {"mbarrier.{try_wait,test_wait}.shared{,::cta}.b64", BARRIER,
     LOAD FIRST "mbarrier.init.shared.b64 [mb], 256;\n" STARTED "mbarrier.arrive.shared.b64 %st, [mb];\n"
                "WAIT:\n$ %p, [mb], %st;\n@!%p bra WAIT;\n" OTHER("255"),
     fill_words, expect_reversed},
    {"mbarrier.{try_wait,test_wait}.parity.shared{,::cta}.b64", BARRIER,
     LOAD FIRST "mbarrier.init.shared.b64 [mb], 256;\n" STARTED "mbarrier.arrive.shared.b64 _, [mb];\n"
                "WAIT:\n$ %p, [mb], 0;\n@!%p bra WAIT;\n" OTHER("255"),
     fill_words, expect_reversed},
    {"mbarrier.inval.shared{,::cta}.b64", BARRIER,
     LOAD FIRST
     "mbarrier.init.shared.b64 [mb], 1;\n$ [mb];\nmbarrier.init.shared.b64 [mb], 256;\n" MEET_STATE,
     fill_words, expect_reversed},
    {"mbarrier.expect_tx.relaxed.cta.shared::cta.b64",
     BARRIER, // the first thread's copy of 16 bytes is waited for
     LOAD FIRST "mbarrier.init.shared.b64 [mb], 1;\nfence.mbarrier_init.release.cluster;\n" STARTED
                "setp.ne.u32 %p, %ti, 0;\n@%p bra WAIT;\n$ [mb], 16;\n" BULK
                "mbarrier.arrive.shared.b64 _, [mb];\n" WAIT_PARITY FROM_FIRST,
     fill_words, expect_from_first},
    {"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes", BARRIER,
     LOAD FIRST "mbarrier.init.shared.b64 [mb], 1;\nfence.mbarrier_init.release.cluster;\n" STARTED
                "setp.ne.u32 %p, %ti, 0;\n@%p bra WAIT;\nmbarrier.arrive.expect_tx.shared.b64 _, [mb], 16;\n"
                "$ [land], [%in], 16, [mb];\n" WAIT_PARITY FROM_FIRST,
     fill_words, expect_from_first},
    {"cp.async.mbarrier.arrive{,.noinc}.shared{,::cta}.b64",
     BARRIER, // .noinc counts for itself, the other arrives besides
     LOAD FIRST "mbarrier.init.shared.b64 [mb], 256;\n" STARTED
                "mov.u32 %y, sh;\nmad.lo.u32 %z, %ti, 8, %y;\n"
                "cp.async.ca.shared.global [%z], [%in], 8;\n$ [mb];\n" COUNTED WAIT_PARITY OTHER("255"),
     fill_words, expect_reversed},
    {"barrier.cluster.{arrive,wait}{,.aligned}", BYTES,
     LOAD SHARED "barrier.cluster.arrive;\nbarrier.cluster.wait;\n" OTHER(
         "255") "barrier.cluster.arrive.release;\nbarrier.cluster.wait.acquire;\n",
     fill_words, expect_reversed},

    {"membar.{cta,gl,sys}", "", LOAD COPY "$;\n", fill_words, expect_copy},
    {"fence{,.sc,.acq_rel}.{cta,cluster,gpu,sys}", "", LOAD COPY "$;\n", fill_words, expect_copy},
    {"fence.{acquire,release}.{cta,cluster,gpu,sys}", "", LOAD COPY "$;\n", fill_words, expect_copy},
    {"fence.proxy.{alias,async,async.global,async.shared::cta,async.shared::cluster}", "", LOAD COPY "$;\n",
     fill_words, expect_copy},
    {"fence.mbarrier_init.release.cluster", "", LOAD COPY "$;\n", fill_words, expect_copy},
    {"prefetch{,.global}.{L1,L2}", "", LOAD "$ [%in];\n" COPY, fill_words, expect_copy},
    {"prefetch.global.{L2::evict_last,L2::evict_normal}", "", LOAD "$ [%in];\n" COPY, fill_words,
     expect_copy},
    {"prefetch.local.L1", "", LOAD ".local .align 16 .b8 lo[32];\n$ [lo];\n" COPY, fill_words, expect_copy},
    {"prefetchu.L1", "", LOAD "$ [%in];\n" COPY, fill_words, expect_copy},
    {"applypriority{,.global}.L2::evict_normal", "", LOAD "and.b64 %a, %in, -128;\n$ [%a], 128;\n" COPY,
     fill_words, expect_copy},
    {"createpolicy.fractional.L2::{evict_last,evict_normal,evict_first,evict_unchanged}.b64", "",
     LOAD "$ %a, 1.0;\nld.global.L2::cache_hint.u64 %w, [%in], %a;\nst.global.L2::cache_hint.u64 [%out], %w, "
          "%a;\n",
     fill_words, expect_copy},
    {"createpolicy.fractional.L2::evict_last.L2::evict_unchanged.b64", "",
     LOAD "$ %a, 0.5;\nld.global.nc.L1::no_allocate.L2::cache_hint.u64 %w, [%in], %a;\nst.global.u64 [%out], "
          "%w;\n",
     fill_words, expect_copy},
    {"nanosleep.u32", "", LOAD "$ 40;\nmov.u32 %y, 20;\n$ %y;\n" COPY, fill_words, expect_copy},
    {"griddepcontrol.{wait,launch_dependents}", "", LOAD "$;\n" COPY, fill_words, expect_copy},
    {"pmevent", "", LOAD "$ 3;\n" COPY, fill_words, expect_copy},
    {"pmevent.mask", "", LOAD "$ 3;\n" COPY, fill_words, expect_copy},

    {"isspacep{.global,.shared,.shared::cta,.shared::cluster,.local,.const}",
     ".shared .align 16 .b8 sh[16];\n.const .align 16 .b8 cn[16];\n",
     LOAD ".local .align 16 .b8 lo[32];\nmov.u32 %d, 0;\nmov.u64 %a, %in;\n$ %p, %a;\n@%p or.b32 %d, %d, 1;\n"
          "mov.u64 %a, sh;\ncvta.shared.u64 %a, %a;\n$ %p, %a;\n@%p or.b32 %d, %d, 2;\n"
          "mov.u64 %a, lo;\ncvta.local.u64 %a, %a;\n$ %p, %a;\n@%p or.b32 %d, %d, 4;\n"
          "mov.u64 %a, cn;\ncvta.const.u64 %a, %a;\n$ %p, %a;\n@%p or.b32 %d, %d, 8;\n" GIVE,
     fill_words, expect_isspacep},
    {"cvta.to{.shared,.local}.u64", ".shared .align 16 .b8 sh[8192];\n", // there and back
     LOAD
     ".local .align 16 .b8 lo[32];\n.reg .b64 %g;\n"
     "ld.global.u64 %w, [%in];\nmov.u64 %a, lo;\ncvta.local.u64 %g, %a;\nst.u64 [%g], %w;\ncvta.to.local.u64 "
     "%a, %g;\n"
     "ld.local.u64 %w, [%a];\nmov.u64 %a, sh;\nmul.wide.u32 %o, %ti, 8;\nadd.u64 %a, %a, "
     "%o;\ncvta.shared.u64 %g, %a;\n"
     "st.u64 [%g], %w;\ncvta.to.shared.u64 %a, %g;\nld.shared.u64 %w, [%a];\nst.global.u64 [%out], %w;\n",
     fill_words, expect_copy},
    {"cvta{,.to}.global.u64", "",
     LOAD "ld.param.u64 %a, [p_in];\n$ %a, %a;\nmul.wide.u32 %o, %i, 32;\nadd.u64 %a, %a, %o;\n"
          "ld.global.u64 %w, [%a];\nst.global.u64 [%out], %w;\n",
     fill_words, expect_copy},
    {"cvta.shared.u64", BYTES, // stored there, loaded here
     LOAD "mov.u64 %a, sh;\nmul.wide.u32 %o, %ti, 8;\nadd.u64 %a, %a, %o;\n$ %o, %a;\nld.global.u64 %w, "
          "[%in];\nst.u64 [%o], %w;\n"
          "ld.shared.u64 %w, [%a];\nst.global.u64 [%out], %w;\n",
     fill_words, expect_copy},
    {"cvta.local.u64", "",
     LOAD
     ".local .align 16 .b8 lo[32];\nmov.u64 %a, lo;\n$ %o, %a;\nld.global.u64 %w, [%in];\nst.u64 [%o], %w;\n"
     "ld.local.u64 %w, [%a];\nst.global.u64 [%out], %w;\n",
     fill_words, expect_copy},
    {"st.param.{b16,b32,b64,u16,s16,u32,s32,u64,s64,f64}",
     ".func (.param .b64 r) twice(.param .b64 a, .param .align 8 .b8 s[16]) {\n.reg .b64 %x, "
     "%y;\nld.param.b64 %x, [a];\n"
     "ld.param.b64 %y, [s+8];\nxor.b64 %x, %x, %y;\nst.param.b64 [r], %x;\nret;\n}\n",
     LOAD
     "ld.global.u64 %w, [%in];\n{ .param .b64 a; .param .align 8 .b8 s[16]; .param .b64 r;\nmov.u64 %a, 0;\n"
     "st.param.b64 [a], %a; st.param.b64 [s], %a; st.param.b64 [s+8], %a;\n$ [s+8], %w;\n"
     "call (r), twice, (a, s);\nld.param.b64 %w, [r]; }\nst.global.u64 [%out], %w;\n",
     fill_words, expect_cut},
    {"st.param.{b8,u8,s8}",
     ".func (.param .b32 r) same(.param .b8 a) {\n.reg .b16 %x;\n.reg .b32 %y;\nld.param.u8 %x, "
     "[a];\ncvt.u32.u16 %y, %x;\n"
     "st.param.b32 [r], %y;\nret;\n}\n",
     LOAD
     ".reg .b16 %h;\ncvt.u16.u32 %h, %x;\n{ .param .b8 a; .param .b32 r;\n$ [a], %h;\ncall (r), same, (a);\n"
     "ld.param.b32 %d, [r]; }\n" GIVE,
     fill_words, expect_cut},
    {"st.param.f32",
     ".func (.param .b32 r) same(.param .b32 a) {\n.reg .f32 %x;\nld.param.f32 %x, [a];\nst.param.f32 [r], "
     "%x;\nret;\n}\n",
     LOAD
     ".reg .f32 %f;\nmov.b32 %f, %x;\n{ .param .b32 a; .param .b32 r;\n$ [a], %f;\ncall (r), same, (a);\n"
     "ld.param.b32 %d, [r]; }\n" GIVE,
     fill_words, expect_cut},
    {"alloca.u64", "",
     LOAD
     ".reg .b64 %sp;\nstacksave.u64 %sp;\n$ %a, 64, 16;\nld.global.u64 %w, [%in];\nst.local.u64 [%a+8], %w;\n"
     "ld.local.u64 %w, [%a+8];\nst.global.u64 [%out], %w;\nstackrestore.u64 %sp;\n",
     fill_words, expect_copy},
    {"mov.b64 {}", "",
     LOAD "ld.global.u64 %w, [%in];\nmov.b64 {%x, %y}, %w;\nmov.b64 %w, {%x, %y};\n"
          ".reg .b16 %h<4>;\nmov.b64 {%h0, %h1, %h2, %h3}, %w;\nmov.b32 %x, {%h0, %h1};\n"
          "mov.b32 %y, {%h2, %h3};\nmov.b64 %w, {%x, %y};\nst.global.u64 [%out], %w;\n",
     fill_words, expect_copy},
    {"mov.b128 {}", "",
     LOAD ".reg .b128 %v;\nld.global.u64 %w, [%in];\nmov.b128 %v, {%w, %in};\nmov.b128 {%a, %w}, %v;\n"
          "st.global.u64 [%out], %a;\n",
     fill_words, expect_copy},
};

typedef struct Emit {
    const Text *t;
    OnRow on;
    void *arg;
} Emit;

static void on_spelling(const char *spelling, const char *operands, void *arg) {
    (void)operands;
    const Emit *e = arg;
    static Row row;
    memset(&row, 0, sizeof row);
    snprintf(row.name, sizeof row.name, "%s", spelling);
    row.n = 512;
    row.n_in = N_IN;
    row.n_out = N_OUT;
    row.fill = e->t->fill;
    row.expect = e->t->expect;
    row.data = e->t;
    row.traps = !strcmp(spelling, "trap");
    row_begin(&row, e->t->globals);
    for (const char *p = e->t->body; *p; p++)
        if (*p == '$')
            row_text(&row, "%s", spelling);
        else if (*p == '#') // only where the instruction does not count itself
            row_text(&row, "%s", strstr(spelling, "noinc") ? "" : "mbarrier.arrive.shared.b64 _, [mb];\n");
        else
            row_text(&row, "%c", *p);
    row_end(&row);
    e->on(&row, e->arg);
}

void rows_warp(OnRow on, void *arg) {
    for (size_t j = 0; j < sizeof texts / sizeof *texts; j++) {
        Emit e = {&texts[j], on, arg};
        if (strstr(texts[j].spelling, "{}"))
            on_spelling(texts[j].spelling, "", &e);
        else
            value_expand(texts[j].spelling, "", on_spelling, &e);
    }
}
