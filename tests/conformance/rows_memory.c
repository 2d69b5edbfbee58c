// SPDX-License-Identifier: Apache-2.0
// rows_memory — loads, stores and atomics of every state space, type and qualifier as conformance rows. A thread has 32
// bytes of its own; atomics work on a cell of 16. The reference counts bytes.
#include "row.h"
#include "values.h"

#include "../vm/alu_ref.h"

#include <stdio.h>
#include <string.h>

// CASE(spellings): the space is in the spelling; without one the address is generic.
static const char *const loads[] = {
    "ld{.global,.shared,.local,.const,.param,}{.u8,.s8,.b8,.u16,.s16,.b16,.u32,.s32,.b32,.f32,.u64,.s64,.b64,"
    ".f64}",
    "ld{.global,.shared,.local,.const,.param,}.v2{.u8,.s8,.b8,.u16,.s16,.b16,.u32,.s32,.b32,.f32,.u64,.s64,."
    "b64,.f64}",
    "ld{.global,.shared,.local,.const,.param,}.v4{.u8,.s8,.b8,.u16,.s16,.b16,.u32,.s32,.b32,.f32}",
    "ld{.global,.shared,.local,.const,}.b128",
    "ld.param::entry.u32",
    "ld.shared::{cta,cluster}{.u32,.v4.f32,.s8,.u64}",
    "ld{,.global}{.ca,.cg,.cs,.lu,.cv}{.u8,.s16,.u32,.u64,.f32,.f64,.v2.u32,.v4.f32,.v2.u64}",
    "ld.volatile{,.global,.shared}{.u8,.s8,.u16,.u32,.f32,.u64,.f64,.v4.u32,.v2.f32,.v2.u64}",
    "ld.weak{,.global,.shared,.local}{.s16,.u32,.f64,.v4.u32}",
    "ld.relaxed{.cta,.cluster,.gpu,.sys}{,.global,.shared}{.u8,.s16,.b32,.u32,.f32,.b64,.u64,.v2.u32,.v2.u64,"
    ".v4.f32}",
    "ld.acquire{.cta,.cluster,.gpu,.sys}{,.global,.shared}{.u8,.s16,.b32,.u32,.f32,.b64,.u64,.v2.u32}",
    "ld.{relaxed,acquire}{.cta,.gpu,.sys}{,.global}.b128",
    "ld.mmio.relaxed.sys{,.global}{.u32,.u64,.s8}",
    "ld.global.nc{.u8,.s8,.b8,.u16,.s16,.b16,.u32,.s32,.b32,.f32,.u64,.s64,.b64,.f64,.b128}",
    "ld.global.nc.v2{.u8,.s8,.u16,.s16,.u32,.s32,.f32,.b32,.u64,.f64}",
    "ld.global.nc.v4{.u8,.s8,.u16,.s16,.b16,.u32,.s32,.f32,.b32}",
    "ld.global{.ca,.cg,.cs}.nc{.u32,.v4.f32}",
    "ld.global.nc{,.L1::no_allocate,.L1::evict_last,.L1::evict_first}{,.L2::64B,.L2::128B,.L2::256B}{.u32,."
    "v4.f32}",
    "ld.global{.L1::evict_normal,.L1::evict_unchanged,.L1::evict_first,.L1::evict_last,.L1::no_allocate}{,."
    "L2::128B}{.u32,.v2.f64}",
    "ldu.global{.u8,.s16,.u32,.f32,.u64,.v4.u32,.v2.f64}",
};
static const char *const stores[] = {
    "st{.global,.shared,.local,}{.u8,.s8,.b8,.u16,.s16,.b16,.u32,.s32,.b32,.f32,.u64,.s64,.b64,.f64,.b128}",
    "st{.global,.shared,.local,}.v2{.u8,.s8,.b8,.u16,.s16,.b16,.u32,.s32,.b32,.f32,.u64,.s64,.b64,.f64}",
    "st{.global,.shared,.local,}.v4{.u8,.s8,.b8,.u16,.s16,.b16,.u32,.s32,.b32,.f32}",
    "st.shared::{cta,cluster}{.u32,.v4.f32,.u8,.u64}",
    "st{,.global}{.wb,.cg,.cs,.wt}{.u8,.u16,.u32,.u64,.f32,.f64,.v2.u32,.v4.f32}",
    "st.volatile{,.global,.shared}{.u8,.u16,.u32,.f32,.u64,.v4.u32,.v2.f32}",
    "st.weak{,.global,.shared}{.u32,.v4.u32}",
    "st.relaxed{.cta,.cluster,.gpu,.sys}{,.global,.shared}{.u8,.b32,.u32,.f32,.u64,.v2.u32,.v2.u64,.v4.f32}",
    "st.release{.cta,.cluster,.gpu,.sys}{,.global,.shared}{.u8,.b32,.u32,.u64,.v2.u32}",
    "st.{relaxed,release}{.cta,.gpu,.sys}{,.global}.b128",
    "st.mmio.relaxed.sys{,.global}{.u32,.u64}",
    "st.global.L1::{evict_normal,evict_unchanged,evict_first,evict_last,no_allocate}{.u32,.v2.f64}",
};
static const char *const atomics[] = {
    "{atom,red}{,.global,.shared}{.and,.or,.xor}{.b32,.b64}",
    "{atom,red}{,.global,.shared}.add{.u32,.s32,.u64,.f32,.f64}",
    "{atom,red}{,.global,.shared}{.min,.max}{.u32,.s32,.u64,.s64}",
    "{atom,red}{,.global,.shared}{.inc,.dec}.u32",
    "atom{,.global,.shared}{.exch.b32,.exch.b64,.exch.b128,.cas.b16,.cas.b32,.cas.b64,.cas.b128}",
    "{atom,red}{,.global,.shared}.add.noftz{.f16,.f16x2,.bf16,.bf16x2}",
    "atom{.relaxed,.acquire,.release,.acq_rel}{.cta,.cluster,.gpu,.sys}{,.global,.shared}.add.u32",
    "red{.relaxed,.release}{.cta,.cluster,.gpu,.sys}{,.global,.shared}.add.u32",
    "{atom,red}{,.global,.shared}{.cta,.cluster,.gpu,.sys}{.add.u32,.add.f32,.add.f64,.max.s32,.min.s32}",
    "{atom,red}{,.global,.shared}{.cta,.cluster,.gpu,.sys}{.and.b32,.or.b32,.xor.b32,.inc.u32,.dec.u32}",
    "atom{,.global,.shared}{.cta,.cluster,.gpu,.sys}{.exch.b32,.cas.b32,.cas.b64}",
    "{atom,red}.shared::{cta,cluster}.add.u32",
    "atom{.add.release.gpu.u32,.add.acquire.cta.u32,.add.relaxed.cta.u32,.or.acq_rel.cta.b32}",
    "red{.and.release.cta.b32,.add.relaxed.gpu.u32}",
    "{atom,red}.global.add{.v2,.v4}.f32",
    "{atom,red}.global{.v2,.v4}.f32.add",
    "{atom,red}.global{.v2,.v4,.v8}{.f16,.bf16}{.add,.min,.max}.noftz",
    "{atom,red}.global{.add,.min,.max}.noftz{.v2,.v4,.v8}{.f16,.bf16}",
    "{atom,red}.global{.v2,.v4}{.f16x2,.bf16x2}{.add,.min,.max}.noftz",
    "{atom,red}.global{.add,.min,.max}.noftz{.v2,.v4}{.f16x2,.bf16x2}",
};

typedef enum Space { GENERIC, GLOBAL, SHARED, LOCAL, CONST, PARAM } Space;

typedef struct Mem {
    RefInsn r;
    Space space;
    bool generic_shared; // a generic address of shared memory
    unsigned vec, bits, reg_bits, param_offset;
    const char *type;
    char op[8]; // of atomics
} Mem;

typedef struct Emit {
    OnRow on;
    void *arg;
} Emit;

static bool parse(const char *spelling, Mem *m) {
    memset(m, 0, sizeof *m);
    ref_parse(spelling, &m->r);
    m->vec = 1;
    for (unsigned k = 0; k < m->r.n_mods; k++) {
        const char *t = m->r.mods[k];
        if (!strcmp(t, "global"))
            m->space = GLOBAL;
        else if (!strncmp(t, "shared", 6))
            m->space = SHARED;
        else if (!strcmp(t, "local"))
            m->space = LOCAL;
        else if (!strcmp(t, "const"))
            m->space = CONST;
        else if (!strncmp(t, "param", 5))
            m->space = PARAM;
        else if (t[0] == 'v' && t[1] && !t[2])
            m->vec = (unsigned)(t[1] - '0');
        else if (ref_bits(t))
            m->type = t;
    }
    if (!m->type)
        return false;
    m->bits = ref_bits(m->type);
    m->reg_bits = m->bits < 16 ? 16 : m->bits;
    for (unsigned k = 0; k < m->r.n_mods; k++) {
        static const char *const ops[] = {"and", "or",  "xor", "add",  "min",
                                          "max", "inc", "dec", "exch", "cas"};
        for (unsigned j = 0; j < 10; j++)
            if (!strcmp(m->r.mods[k], ops[j]))
                strcpy(m->op, ops[j]);
    }
    return true;
}

static void fill_words(const Row *row, uint64_t *in) {
    Rng rng = gr_rng(value_hash(row->name));
    for (size_t j = 0; j < (size_t)row->n * row->n_in; j++)
        in[j] = gr_rng_next(&rng);
}

// ---- Texts -----------------------------------------------------------------------------------------------

static const char *globals_of(const Mem *m) {
    static char text[ROW_PTX / 2];
    if (m->space == SHARED || m->generic_shared)
        return ".shared .align 16 .b8 sh[8192];\n";
    if (m->space != CONST)
        return "";
    // 32 bytes for each of 32 threads
    size_t at = (size_t)snprintf(text, sizeof text, ".const .align 16 .b64 cn[128] = {");
    for (unsigned j = 0; j < 128; j++)
        at += (size_t)snprintf(text + at, sizeof text - at, "%s0x%016llx", j ? ", " : "",
                               (unsigned long long)gr_mix64(j));
    snprintf(text + at, sizeof text - at, "};\n");
    return text;
}

// %a: the address of the thread's 32 bytes, which hold the first `words` of %in, or 0xa5 if words is 0.
static void address(Row *row, const Mem *m, unsigned words, const char *global) {
    row_text(row, ".reg .b64 %%a, %%w;\n.local .align 16 .b8 lo[32];\n");
    const char *space = m->space == SHARED || m->generic_shared ? "shared" : "local";
    switch (m->generic_shared ? SHARED : m->space) {
    case SHARED:
        row_text(row, "mov.u64 %%a, sh;\nmul.wide.u32 %%o, %%ti, 32;\nadd.u64 %%a, %%a, %%o;\n");
        break;
    case LOCAL: row_text(row, "mov.u64 %%a, lo;\n"); break;
    case CONST:
        row_text(row, "mov.u64 %%a, cn;\nand.b32 %%ti, %%ti, 31;\nmul.wide.u32 %%o, %%ti, 32;\nadd.u64 %%a, "
                      "%%a, %%o;\n");
        return;
    case PARAM: return;
    default: row_text(row, "mov.u64 %%a, %s;\n", global); return;
    }
    for (unsigned j = 0; j < 4; j++) {
        if (j < words)
            row_text(row, "ld.global.u64 %%w, [%%in+%u];\n", 8 * j);
        else
            row_text(row, "mov.u64 %%w, 0xa5a5a5a5a5a5a5a5;\n");
        row_text(row, "st.%s.u64 [%%a+%u], %%w;\n", space, 8 * j);
    }
    if (m->generic_shared)
        row_text(row, "cvta.shared.u64 %%a, %%a;\n");
}

static void vector(Row *row, const Mem *m, const char *reg) {
    row_text(row, m->vec > 1 ? "{" : "");
    for (unsigned k = 0; k < m->vec; k++)
        row_text(row, "%s%%%s%u", k ? ", " : "", reg, k);
    row_text(row, m->vec > 1 ? "}" : "");
}

static void declare(Row *row, const Mem *m, const char *reg) {
    row_text(row, ".reg .b%u %%%s<%u>;\n", m->reg_bits, reg, m->vec);
}

// Register k into the words at [out + 8 * word].
static void give(Row *row, const Mem *m, const char *reg, unsigned k, unsigned word) {
    if (m->reg_bits == 128) {
        row_text(
            row,
            "mov.b128 {%%w, %%o}, %%%s%u;\nst.global.u64 [%%out+%u], %%w;\nst.global.u64 [%%out+%u], %%o;\n",
            reg, k, 8 * word, 8 * word + 8);
        return;
    }
    if (m->reg_bits == 64)
        row_text(row, "mov.b64 %%w, %%%s%u;\n", reg, k);
    else
        row_text(row, "cvt.u64.u%u %%w, %%%s%u;\n", m->reg_bits, reg, k);
    row_text(row, "st.global.u64 [%%out+%u], %%w;\n", 8 * word);
}

// Bits [at, at + bits) of the words at in + 8 * word into register k.
static void take(Row *row, const Mem *m, const char *reg, unsigned k, unsigned word, unsigned at) {
    if (m->reg_bits == 128) {
        row_text(
            row,
            "ld.global.u64 %%w, [%%in+%u];\nld.global.u64 %%o, [%%in+%u];\nmov.b128 %%%s%u, {%%w, %%o};\n",
            8 * word, 8 * word + 8, reg, k);
        return;
    }
    row_text(row, "ld.global.u64 %%w, [%%in+%u];\n", 8 * (word + at / 64));
    if (at % 64)
        row_text(row, "shr.u64 %%w, %%w, %u;\n", at % 64);
    if (m->reg_bits == 64)
        row_text(row, "mov.b64 %%%s%u, %%w;\n", reg, k);
    else
        row_text(row, "cvt.u%u.u64 %%%s%u, %%w;\n", m->reg_bits, reg, k);
}

// ---- Loads -----------------------------------------------------------------------------------------------

static uint64_t get_bytes(const uint8_t *p, unsigned bytes) {
    uint64_t x = 0;
    memcpy(&x, p, bytes < 8 ? bytes : 8);
    return x;
}

static void expect_load(const Row *row, const uint64_t *in, uint64_t *out) {
    const Mem *m = row->data;
    for (uint32_t i = 0; i < row->n; i++, in += 4, out += 4) {
        uint64_t words[4];
        memcpy(words, in, 32);
        if (m->space == PARAM)
            memcpy(words, row_param + m->param_offset, 32 - m->param_offset);
        if (m->space == CONST)
            for (unsigned j = 0; j < 4; j++)
                words[j] = gr_mix64(i % 32 * 4 + j);
        if (m->bits == 128) {
            memcpy(out, words, 16);
            continue;
        }
        for (unsigned k = 0; k < m->vec; k++) {
            uint64_t x = get_bytes((const uint8_t *)words + k * m->bits / 8, m->bits / 8);
            if (m->type[0] == 's' && m->bits < 64 && x >> (m->bits - 1) & 1)
                x |= ~(uint64_t)0 << m->bits;
            out[k] = m->reg_bits == 64 ? x : x & (((uint64_t)1 << m->reg_bits) - 1);
        }
    }
}

static void emit_load(const Emit *e, const Mem *m, const char *form) {
    static Row row;
    memset(&row, 0, sizeof row);
    snprintf(row.name, sizeof row.name, "%s%s", m->r.text, form);
    row.n = 512;
    row.n_in = row.n_out = 4;
    row.fill = fill_words;
    row.expect = expect_load;
    row.data = m;
    row_begin(&row, globals_of(m));
    address(&row, m, 4, "%in");
    declare(&row, m, "d");
    row_text(&row, "%s ", m->r.text);
    vector(&row, m, "d");
    if (m->space == PARAM)
        row_text(&row, ", [p_s+%u];\n", m->param_offset);
    else
        row_text(&row, ", [%%a];\n");
    for (unsigned k = 0; k < m->vec; k++)
        give(&row, m, "d", k, k);
    row_end(&row);
    e->on(&row, e->arg);
}

static void on_load(const char *spelling, const char *operands, void *arg) {
    (void)operands;
    Mem m;
    if (!parse(spelling, &m))
        return;
    emit_load(arg, &m, "");
    if (m.bits < 64 && m.type[0] != 'f') { // registers may be wider than integer types (9.4.1)
        m.reg_bits = 64;
        emit_load(arg, &m, " wide");
        m.reg_bits = m.bits < 16 ? 16 : m.bits;
    }
    if (m.space == PARAM && m.vec == 1 && m.bits < 128) {
        m.param_offset = 8;
        emit_load(arg, &m, " +8");
    }
    if (m.space == GENERIC) {
        m.generic_shared = true;
        emit_load(arg, &m, " of shared");
    }
}

// ---- Stores ----------------------------------------------------------------------------------------------

static void expect_store(const Row *row, const uint64_t *in, uint64_t *out) {
    const Mem *m = row->data;
    for (uint32_t i = 0; i < row->n; i++, in += 4, out += 4)
        for (unsigned k = 0; k < m->vec; k++)
            memcpy((uint8_t *)out + k * m->bits / 8, in + k, m->bits / 8);
}

static void emit_store(const Emit *e, const Mem *m, const char *form) {
    static Row row;
    memset(&row, 0, sizeof row);
    snprintf(row.name, sizeof row.name, "%s%s", m->r.text, form);
    row.n = 512;
    row.n_in = row.n_out = 4;
    row.fill = fill_words;
    row.expect = expect_store;
    row.data = m;
    row_begin(&row, globals_of(m));
    address(&row, m, 0, "%out");
    declare(&row, m, "d");
    for (unsigned k = 0; k < m->vec; k++)
        take(&row, m, "d", k, k, 0);
    row_text(&row, "%s [%%a], ", m->r.text);
    vector(&row, m, "d");
    row_text(&row, ";\n");
    if (m->space == SHARED || m->space == LOCAL || m->generic_shared)
        for (unsigned j = 0; j < 4; j++)
            row_text(&row, "ld%s.u64 %%w, [%%a+%u];\nst.global.u64 [%%out+%u], %%w;\n",
                     m->space == SHARED  ? ".shared"
                     : m->space == LOCAL ? ".local"
                                         : "",
                     8 * j, 8 * j);
    row_end(&row);
    e->on(&row, e->arg);
}

static void on_store(const char *spelling, const char *operands, void *arg) {
    (void)operands;
    Mem m;
    if (!parse(spelling, &m))
        return;
    emit_store(arg, &m, "");
    if (m.bits < 64 && m.type[0] != 'f') {
        m.reg_bits = 64;
        emit_store(arg, &m, " wide");
        m.reg_bits = m.bits < 16 ? 16 : m.bits;
    }
    if (m.space == GENERIC) {
        m.generic_shared = true;
        emit_store(arg, &m, " of shared");
    }
}

// ---- Atomics: in holds the cell, b and c of two words each; out the cell and the result ---------------------

static bool is_nan(uint64_t f64) { return (f64 & 0x7fffffffffffffff) > 0x7ff0000000000000; }

static uint64_t apply(const Mem *m, uint64_t old, uint64_t b, uint64_t c) {
    unsigned bits = m->bits;
    const char *op = m->op, *t = m->type;
    if (!strcmp(op, "exch"))
        return b;
    if (!strcmp(op, "cas"))
        return old == b ? c : old;
    if (!strcmp(op, "inc"))
        return old >= b ? 0 : old + 1;
    if (!strcmp(op, "dec"))
        return old == 0 || old > b ? b : old - 1;
    if (!strcmp(op, "and"))
        return old & b;
    if (!strcmp(op, "or"))
        return old | b;
    if (!strcmp(op, "xor"))
        return old ^ b;
    char spelling[64];
    if (strchr("us", t[0])) {
        snprintf(spelling, sizeof spelling, "%s.%s", op, t);
    } else { // f32 in global memory flushes subnormals to zero (9.7.13.5); in shared memory it does not
        bool global = m->space != SHARED && !m->generic_shared;
        snprintf(spelling, sizeof spelling, "%s%s%s.%s", op, !strcmp(op, "add") ? ".rn" : "",
                 global && !strcmp(t, "f32") ? ".ftz" : "", t);
    }
    RefInsn r;
    ref_parse(spelling, &r);
    bool f64 = !strcmp(t, "f64"); // b + old, where that makes a difference: two NaN
    RefIn in = {.src = {f64 ? b : old, f64 ? old : b}, .src_bits = 2, .dst_bits = bits};
    RefOut out;
    ref_run(&r, &in, &out);
    if (f64 && m->space != SHARED && !m->generic_shared) { // global memory keeps signalling NaN as they are
        if (is_nan(b))
            return b;
        if (is_nan(old))
            return old;
    }
    return out.d;
}

static void expect_atomic(const Row *row, const uint64_t *in, uint64_t *out) {
    const Mem *m = row->data;
    for (uint32_t i = 0; i < row->n; i++, in += 6, out += 4) {
        bool has_result = m->r.op[0] == 'a';
        if (has_result)
            memcpy(out + 2, in, 16);
        memcpy(out, in, 16);
        if (m->bits == 128) {
            bool writes = strcmp(m->op, "cas") || !memcmp(in, in + 2, 16);
            if (writes)
                memcpy(out, in + (strcmp(m->op, "cas") ? 2 : 4), 16);
            continue;
        }
        unsigned bytes = m->bits / 8;
        for (unsigned k = 0; k < m->vec; k++) {
            uint64_t old = get_bytes((const uint8_t *)in + k * bytes, bytes);
            uint64_t x = apply(m, old, get_bytes((const uint8_t *)(in + 2) + k * bytes, bytes),
                               get_bytes((const uint8_t *)(in + 4) + k * bytes, bytes));
            memcpy((uint8_t *)out + k * bytes, &x, bytes);
        }
        if (has_result && m->vec * bytes < 16) // only the result's own bytes
            memset((uint8_t *)(out + 2) + m->vec * bytes, 0, 16 - m->vec * bytes);
        if (has_result && m->vec > 1)
            memcpy(out + 2, in, m->vec * bytes);
    }
}

static void fill_atomic(const Row *row, uint64_t *in) {
    const Mem *m = row->data;
    Rng rng = gr_rng(value_hash(row->name));
    for (uint32_t i = 0; i < row->n; i++, in += 6) {
        for (unsigned j = 0; j < 6; j++)
            in[j] = gr_rng_next(&rng);
        unsigned bytes = m->bits / 8;
        if (bytes <= 8)
            for (unsigned j = 0; j < 6; j += 2)
                for (unsigned k = 0; k < m->vec; k++) {
                    uint64_t v = value_random(&rng, m->type);
                    memcpy((uint8_t *)(in + j) + k * bytes, &v, bytes);
                }
        if (gr_rng_below(&rng, 3) == 0)
            memcpy(in + 2, in, 16); // equal: cas swaps
    }
}

static void on_atomic(const char *spelling, const char *operands, void *arg) {
    (void)operands;
    Mem m;
    if (!parse(spelling, &m))
        return;
    const Emit *e = arg;
    for (unsigned form = 0; form < (m.space == GENERIC ? 2 : 1); form++) {
        static Row row;
        m.generic_shared = form == 1;
        memset(&row, 0, sizeof row);
        snprintf(row.name, sizeof row.name, "%s%s", spelling, form ? " of shared" : "");
        row.n = 1024;
        row.n_in = 6;
        row.n_out = 4;
        row.fill = fill_atomic;
        row.expect = expect_atomic;
        row.data = &m;
        row_begin(&row, globals_of(&m));
        address(&row, &m, 2, "%out");
        if (m.space != SHARED && !m.generic_shared)
            row_text(&row, "ld.global.u64 %%w, [%%in];\nst.global.u64 [%%out], %%w;\n"
                           "ld.global.u64 %%w, [%%in+8];\nst.global.u64 [%%out+8], %%w;\n");
        declare(&row, &m, "d");
        declare(&row, &m, "b");
        declare(&row, &m, "c");
        for (unsigned k = 0; k < m.vec; k++) {
            take(&row, &m, "b", k, 2, k * m.bits);
            take(&row, &m, "c", k, 4, k * m.bits);
        }
        bool has_result = m.r.op[0] == 'a';
        row_text(&row, "%s ", spelling);
        if (has_result) {
            vector(&row, &m, "d");
            row_text(&row, ", ");
        }
        row_text(&row, "[%%a], ");
        vector(&row, &m, "b");
        if (!strcmp(m.op, "cas"))
            row_text(&row, ", %%c0");
        row_text(&row, ";\n");
        if (m.space == SHARED || m.generic_shared)
            for (unsigned j = 0; j < 2; j++)
                row_text(&row, "ld%s.u64 %%w, [%%a+%u];\nst.global.u64 [%%out+%u], %%w;\n",
                         m.space == SHARED ? ".shared" : "", 8 * j, 8 * j);
        if (has_result && m.vec == 1) {
            if (m.bits < 128)
                row_text(&row, "mov.u64 %%w, 0;\nst.global.u64 [%%out+24], %%w;\n");
            give(&row, &m, "d", 0, 2);
        } else if (has_result) {
            row_text(&row,
                     "mov.u64 %%w, 0;\nst.global.u64 [%%out+16], %%w;\nst.global.u64 [%%out+24], %%w;\n");
            for (unsigned k = 0; k < m.vec; k++)
                row_text(&row, "st.global.b%u [%%out+%u], %%d%u;\n", m.bits, 16 + k * m.bits / 8, k);
        }
        row_end(&row);
        e->on(&row, e->arg);
    }
}

void rows_memory(OnRow on, void *arg) {
    Emit e = {on, arg};
    for (size_t j = 0; j < sizeof loads / sizeof *loads; j++)
        value_expand(loads[j], "", on_load, &e);
    for (size_t j = 0; j < sizeof stores / sizeof *stores; j++)
        value_expand(stores[j], "", on_store, &e);
    for (size_t j = 0; j < sizeof atomics / sizeof *atomics; j++)
        value_expand(atomics[j], "", on_atomic, &e);
}
