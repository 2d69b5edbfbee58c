// SPDX-License-Identifier: Apache-2.0
// addresses — see addresses.h. Each instruction is computed for all threads as it is written, so that indices stay in
// the memory and it is known what wraps.
#include "addresses.h"

#include <string.h>

enum { THREADS = 512, WORDS = 4096 }; // words: of global memory

typedef struct Make {
    Rng rng;
    AddressKernel *out;
    uint32_t threads, block;
    unsigned regs, wide;
} Make;

// A 32-bit register, and what it holds in each thread.
typedef struct Value {
    unsigned reg;
    uint32_t v[THREADS];
    bool left[THREADS]; // an operation that it is made of has left its range
} Value;

static uint32_t below(Make *m, uint32_t n) { return gr_rng_below(&m->rng, n); }
#define PICK(m, list) (list)[below((m), sizeof(list) / sizeof *(list))]

static Value fresh(Make *m) { return (Value){.reg = m->regs++}; }

// ---- Numbers -----------------------------------------------------------------------------------------------------

static uint32_t factor(Make *m) {
    static const uint32_t hashes[] = {2654435761u, 2654435769u, 40503,      0x85ebca6bu, 0xcc9e2d51u,
                                      1103515245,  16777619,    69069,      1664525,     65537,
                                      16777216,    0x80000001u, 0xffffffffu};
    switch (below(m, 4)) {
    case 0: return 1 + below(m, 9);
    case 1: return (uint32_t)gr_rng_next(&m->rng) | below(m, 2);
    default: return PICK(m, hashes);
    }
}

static uint32_t addend(Make *m) {
    static const uint32_t far[] = {4294967040u, 0x7fffffffu, 0x80000000u, 0x40000000u, 4294967295u};
    return below(m, 2) ? below(m, 300) : below(m, 2) ? PICK(m, far) : (uint32_t)gr_rng_next(&m->rng);
}

// ---- Instructions ------------------------------------------------------------------------------------------------

typedef enum Op {
    ADD,
    SUB,
    MUL,
    SHL,
    SHR_U,
    SHR_S,
    DIV_U,
    DIV_S,
    REM_U,
    REM_S,
    AND,
    OR,
    XOR,
    HIGH_U,
    HIGH_S,
    OPS
} Op;

static const struct {
    const char *text;
    bool may_leave, is_signed;
} ops[OPS] = {[ADD] = {"add.u32", true, false},      [SUB] = {"sub.s32", true, true},
              [MUL] = {"mul.lo.u32", true, false},   [SHL] = {"shl.b32", true, false},
              [SHR_U] = {"shr.u32", false, false},   [SHR_S] = {"shr.s32", false, true},
              [DIV_U] = {"div.u32", false, false},   [DIV_S] = {"div.s32", false, true},
              [REM_U] = {"rem.u32", false, false},   [REM_S] = {"rem.s32", false, true},
              [AND] = {"and.b32", false, false},     [OR] = {"or.b32", false, false},
              [XOR] = {"xor.b32", false, false},     [HIGH_U] = {"mul.hi.u32", false, false},
              [HIGH_S] = {"mul.hi.s32", false, true}};

// What the instruction would give if it had bits enough.
static int64_t exact(Op op, uint32_t a, uint32_t b) {
    int32_t x = (int32_t)a, y = (int32_t)b;
    switch (op) {
    case ADD: return (int64_t)a + b;
    case SUB: return (int64_t)x - y;
    case MUL:
        return (int64_t)((uint64_t)a *
                         b); // at most 2^64 - 2^33 + 1: as a number with a sign it is out of range, too
    case SHL: return b < 32 ? (int64_t)((uint64_t)a << b) : 0;
    case SHR_U: return b < 32 ? a >> b : 0;
    case SHR_S: return x >> (b < 32 ? b : 31);
    case DIV_U: return a / b;
    case DIV_S: return (int64_t)x / y;
    case REM_U: return a % b;
    case REM_S: return (int64_t)x % y;
    case AND: return a & b;
    case OR: return a | b;
    case XOR: return a ^ b;
    case HIGH_U: return (int64_t)((uint64_t)a * b >> 32);
    case HIGH_S: return ((int64_t)x * y) >> 32;
    default: return 0;
    }
}

// a OP b, of registers; with `number` b is a constant.
static Value two(Make *m, Op op, const Value *a, const Value *b, uint32_t number) {
    Value out = fresh(m);
    gr_str_addf(&m->out->text, "%s %%r%u, %%r%u, ", ops[op].text, out.reg, a->reg);
    if (b)
        gr_str_addf(&m->out->text, "%%r%u;\n", b->reg);
    else
        gr_str_addf(&m->out->text, ops[op].is_signed ? "%d;\n" : "%u;\n", number);
    for (uint32_t t = 0; t < m->threads; t++) {
        int64_t is = exact(op, a->v[t], b ? b->v[t] : number);
        bool fits = ops[op].is_signed ? is == (int32_t)is : is == (int64_t)(uint32_t)is;
        out.v[t] = (uint32_t)is;
        out.left[t] = a->left[t] || (b && b->left[t]) || (ops[op].may_leave && !fits);
    }
    return out;
}

static Value with(Make *m, Op op, const Value *a, uint32_t number) { return two(m, op, a, NULL, number); }

// Through 64 bits: a product of 32 by 32 bits, or one that wraps, and some of its upper bits.
static Value through_64(Make *m, const Value *a) {
    Value out = fresh(m);
    bool hash = below(m, 2);
    uint64_t by = hash ? UINT64_C(11400714819323198485) : factor(m);
    uint32_t shift = hash ? 32 + below(m, 28) : below(m, 40);
    unsigned d = m->wide;
    m->wide += 3;
    if (hash)
        gr_str_addf(&m->out->text, "cvt.u64.u32 %%d%u, %%r%u;\nmul.lo.u64 %%d%u, %%d%u, %llu;\n", d, a->reg,
                    d + 1, d, (unsigned long long)by);
    else
        gr_str_addf(&m->out->text, "mul.wide.u32 %%d%u, %%r%u, %u;\n", d + 1, a->reg, (uint32_t)by);
    gr_str_addf(&m->out->text, "shr.u64 %%d%u, %%d%u, %u;\ncvt.u32.u64 %%r%u, %%d%u;\n", d + 2, d + 1, shift,
                out.reg, d + 2);
    for (uint32_t t = 0; t < m->threads; t++) {
        uint64_t is = (a->v[t] * by) >> shift;
        out.v[t] = (uint32_t)is;
        out.left[t] = a->left[t] || is != out.v[t] || (by && (unsigned __int128)a->v[t] * by >> 64);
    }
    return out;
}

// A byte of it, extended.
static Value cast(Make *m, const Value *a) {
    Value out = fresh(m);
    bool is_signed = below(m, 2);
    gr_str_addf(&m->out->text, "cvt.%s %%r%u, %%r%u;\n", is_signed ? "s32.s8" : "u32.u8", out.reg, a->reg);
    for (uint32_t t = 0; t < m->threads; t++) {
        out.v[t] = is_signed ? (uint32_t)(int8_t)a->v[t] : (uint8_t)a->v[t];
        out.left[t] = a->left[t] || out.v[t] != a->v[t];
    }
    return out;
}

// One step of a hash.
static Value step(Make *m, const Value *x, const Value *other) {
    Value y;
    switch (below(m, 20)) {
    case 0:
    case 1:
    case 2:
    case 3:
    case 4: return with(m, MUL, x, factor(m));
    case 5: return with(m, SHL, x, 1 + below(m, 31));
    case 6:
    case 7: return with(m, ADD, x, addend(m));
    case 8: return with(m, SUB, x, addend(m));
    case 9: return with(m, below(m, 2) ? SHR_U : SHR_S, x, below(m, 31));
    case 10: return with(m, below(m, 2) ? DIV_U : DIV_S, x, 1 + below(m, 40));
    case 11: return with(m, below(m, 2) ? REM_U : REM_S, x, 1 + below(m, 2000));
    case 12: return with(m, XOR, x, addend(m));
    case 13: // x * k + other
        y = with(m, MUL, x, factor(m));
        return two(m, ADD, &y, other, 0);
    case 14: return with(m, below(m, 2) ? HIGH_U : HIGH_S, x, factor(m));
    case 15: return through_64(m, x);
    case 16: return two(m, MUL, x, x, 0);
    case 17: // as hashes end
        y = with(m, SHR_U, x, 1 + below(m, 20));
        return two(m, XOR, x, &y, 0);
    case 18: return cast(m, x);
    default: return with(m, OR, x, 1u << below(m, 32));
    }
}

// ---- Indices -----------------------------------------------------------------------------------------------------

static uint32_t largest(const Make *m, const Value *x) {
    uint32_t most = 0;
    for (uint32_t t = 0; t < m->threads; t++)
        most = x->v[t] > most ? x->v[t] : most;
    return most;
}

// Brings it below `words`.
static Value reduce(Make *m, const Value *x, uint32_t words) {
    if (largest(m, x) < words)
        return *x;
    switch (below(m, 4)) {
    case 0: return with(m, REM_U, x, words - below(m, words / 4));
    case 1: return with(m, SHR_U, x, (uint32_t)__builtin_clz(words) + 1);
    case 2: return with(m, HIGH_U, x, words);
    default: return with(m, AND, x, words - 1);
    }
}

// A number for each thread, below `words`.
static Value index_of(Make *m, const Value *thread, const Value *other, uint32_t words) {
    Value x = *thread;
    for (unsigned n = below(m, 4); n > 0; n--)
        x = step(m, &x, other);
    return reduce(m, &x, words);
}

// Whether two threads have one index; of blocks of `within` threads.
static bool is_shared(const Make *m, const Value *x, uint32_t within) {
    for (uint32_t a = 0; a < m->threads; a++)
        for (uint32_t b = a / within * within; b < a; b++)
            if (x->v[a] == x->v[b])
                return true;
    return false;
}

// An index; in most kernels no two threads have the same one, if some tries find such a one.
static Value choose_index(Make *m, const Value *thread, const Value *other, uint32_t words, uint32_t within) {
    enum { TRIES = 12 };
    bool wants_own = below(m, 5) < 4;
    for (unsigned k = 0;; k++) {
        size_t len = m->out->text.len;
        unsigned regs = m->regs, wide = m->wide;
        Value x = index_of(m, thread, other, words);
        if (!wants_own || k == TRIES || !is_shared(m, &x, within))
            return x;
        m->out->text.len = len;
        m->regs = regs;
        m->wide = wide;
    }
}

// ---- Accesses ----------------------------------------------------------------------------------------------------

static unsigned lines_of(const StrBuf *text) {
    unsigned n = 0;
    for (size_t k = 0; k < text->len; k++)
        n += text->data[k] == '\n';
    return n;
}

// Only some threads do it: those whose hash is below a number.
static bool guard(Make *m, const Value *thread, const Value *other, bool does[THREADS]) {
    if (below(m, 3))
        return false;
    Value hash = step(m, thread, other);
    bool is_signed = below(m, 2);
    uint32_t than = below(m, 2) ? below(m, m->threads) : addend(m);
    gr_str_addf(&m->out->text,
                is_signed ? "setp.lt.s32 %%p1, %%r%u, %d;\n" : "setp.lt.u32 %%p1, %%r%u, %u;\n", hash.reg,
                than);
    for (uint32_t t = 0; t < m->threads; t++)
        does[t] = is_signed ? (int32_t)hash.v[t] < (int32_t)than : hash.v[t] < than;
    return true;
}

static void access(Make *m, const Value *x, bool shared, bool writes, bool guarded) {
    AddressKernel *k = m->out;
    unsigned d = m->wide, address = m->regs;
    StrBuf *o = &k->text;
    if (shared && below(m, 2)) { // an address of 32 bits
        gr_str_addf(o, "mov.u32 %%r%u, s;\nshl.b32 %%r%u, %%r%u, 2;\nadd.u32 %%r%u, %%r%u, %%r%u;\n", address,
                    address + 1, x->reg, address + 2, address, address + 1);
        m->regs += 3;
    } else {
        gr_str_addf(o, "mul.wide.u32 %%d%u, %%r%u, 4;\nadd.s64 %%d%u, %s, %%d%u;\n", d, x->reg, d + 1,
                    shared ? "%shared" : "%memory", d);
        m->wide += 2;
    }
    k->access[k->n].line = lines_of(o) + 1;
    k->access[k->n].writes = writes;
    k->access[k->n++].shared = shared;
    char at[24];
    snprintf(at, sizeof at, m->regs != address ? "%%r%u" : "%%d%u", m->regs != address ? address + 2 : d + 1);
    gr_str_addf(o, "%s%s.%s.u32 ", guarded ? "@%p1 " : "", writes ? "st" : "ld",
                shared ? "shared" : "global");
    if (writes)
        gr_str_addf(o, "[%s], %u;\n", at, 1 + below(m, 9));
    else
        gr_str_addf(o, "%%value, [%s];\n", at);
}

static void make(Make *m) {
    static const uint32_t blocks[] = {4, 31, 32, 33, 64, 100, 128};
    AddressKernel *k = m->out;
    Value block = fresh(m), thread = fresh(m), all = fresh(m);
    k->launch =
        (Kernel){.grid = 1 + below(m, 4), .block = PICK(m, blocks), .launches = 1, .kind = "addresses"};
    m->block = k->launch.block;
    m->threads = k->launch.grid * m->block;
    gr_str_addf(&k->text, "mov.u32 %%r%u, %%ctaid.x;\nmov.u32 %%r%u, %%tid.x;\n", block.reg, thread.reg);
    if (below(m, 2))
        gr_str_addf(&k->text, "mov.u32 %%size, %%ntid.x;\nmad.lo.s32 %%r%u, %%r%u, %%size, %%r%u;\n", all.reg,
                    block.reg, thread.reg);
    else
        gr_str_addf(&k->text, "mad.lo.s32 %%r%u, %%r%u, %u, %%r%u;\n", all.reg, block.reg, m->block,
                    thread.reg);
    for (uint32_t t = 0; t < m->threads; t++) {
        block.v[t] = t / m->block;
        thread.v[t] = t % m->block;
        all.v[t] = t;
    }
    bool shared = below(m, 4) == 0;
    uint32_t words = shared ? 256 : below(m, 2) ? WORDS : 1024, within = shared ? m->block : m->threads;
    Value x = {0};
    for (unsigned n = 1 + below(m, 3), i = 0; i < n; i++) {
        bool does[THREADS];
        memset(does, true, sizeof does);
        if (!i || below(m, 3) == 0)
            x = choose_index(m, shared ? &thread : &all, &thread, words, within);
        else if (below(m, 2)) { // near the one before
            x = with(m, ADD, &x, addend(m));
            x = reduce(m, &x, words);
        }
        bool guarded = guard(m, &thread, &block, does);
        access(m, &x, shared, !i || below(m, 2), guarded);
        for (uint32_t t = 0; t < m->threads; t++)
            k->wraps |= does[t] && x.left[t];
        if (i + 1 < n && below(m, 2))
            gr_str_add(&k->text, "bar.sync 0;\n");
    }
}

bool address_kernel(uint64_t number, AddressKernel *out) {
    *out = (AddressKernel){0};
    Make m = {.rng = gr_rng_fork(number, 79, 0), .out = out};
    gr_str_add(&out->text,
               ".version 8.6\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 memory)\n{\n"
               ".reg .b32 %r<200>, %size, %value; .reg .b64 %d<100>, %memory, %shared; .reg .pred %p<2>;\n"
               ".shared .align 4 .b8 s[1024];\n"
               "ld.param.u64 %memory, [memory];\nmov.u64 %shared, s;\n");
    make(&m);
    gr_str_add(&out->text, "ret;\n}\n");
    return !out->text.oom;
}

void address_kernel_free(AddressKernel *k) { gr_str_free(&k->text); }
