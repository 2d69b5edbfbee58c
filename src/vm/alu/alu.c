// SPDX-License-Identifier: Apache-2.0
// alu — the tables of kernels: which instruction set's are used, how one is found, and the floating-point
// environment they count on. Also the values of immediate operands.

#include "vm/alu/alu.h"

#include <pthread.h>
#include <string.h>

#ifdef ALU_X86_LEVELS
#include <cpuid.h>
#endif
#ifndef __x86_64__
#include <fenv.h>
#endif

// One table per kernel source and instruction set; ALU_ISAS is set by alu.cmake.
#define ALU_FILES(X, isa)                                                                                    \
    X(int, isa)                                                                                              \
    X(bit, isa)                                                                                              \
    X(cmp, isa) X(float, isa) X(cvt, isa) X(round, isa) X(16, isa) X(16v, isa) X(approx, isa) X(video, isa)

#define DECLARE(file, isa) extern const AluTable gr_alu_##file##_##isa;
ALU_FILES(DECLARE, base)
#ifdef ALU_X86_LEVELS
ALU_FILES(DECLARE, v3)
ALU_FILES(DECLARE, v4)
#endif

#define ENTRY(file, isa) &gr_alu_##file##_##isa,
static const struct {
    const char *name;
    const AluTable *tables[12];
} isas[] = {
    {"base", {ALU_FILES(ENTRY, base)}},
#ifdef ALU_X86_LEVELS
    {"v3", {ALU_FILES(ENTRY, v3)}},
    {"v4", {ALU_FILES(ENTRY, v4)}},
#endif
};
enum { N_ISAS = sizeof isas / sizeof *isas };

#ifdef ALU_X86_LEVELS
// What x86-64-v3 has besides AVX2, FMA and BMI: not every compiler's __builtin_cpu_supports knows these names.
static bool cpu_has_small_extensions(void) {
    unsigned a, b, c, d, c_ext;
    return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C) && (c & bit_MOVBE) &&
           __get_cpuid(0x80000001, &a, &b, &c_ext, &d) && (c_ext & bit_LZCNT);
}
#endif

static bool cpu_has(unsigned isa) {
#ifdef ALU_X86_LEVELS
    bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
              __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("bmi") &&
              __builtin_cpu_supports("popcnt") && cpu_has_small_extensions();
    bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
              __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
              __builtin_cpu_supports("avx512cd");
    return isa == 0 || (isa == 1 && v3) || (isa == 2 && v4);
#else
    return isa == 0;
#endif
}

static unsigned newest, chosen;
static pthread_once_t once = PTHREAD_ONCE_INIT;

// A hash table of the keys, all instruction sets alike: position of a kernel in its table.
enum { SLOTS = 4096 };
static struct {
    const char *key;
    uint16_t table, row;
} slots[SLOTS];

static uint32_t hash(const char *key) {
    uint32_t h = 2166136261u;
    for (; *key; key++)
        h = (h ^ (uint8_t)*key) * 16777619u;
    return h ^ h >> 15;
}

static void start(void) {
    for (unsigned j = 0; j < N_ISAS; j++)
        if (cpu_has(j))
            newest = chosen = j;
    for (unsigned t = 0; t < sizeof isas[0].tables / sizeof *isas[0].tables && isas[0].tables[t]; t++)
        for (unsigned r = 0; r < isas[0].tables[t]->n; r++) {
            uint32_t h = hash(isas[0].tables[t]->rows[r].key);
            while (slots[h % SLOTS].key)
                h++;
            slots[h % SLOTS].key = isas[0].tables[t]->rows[r].key;
            slots[h % SLOTS].table = (uint16_t)t;
            slots[h % SLOTS].row = (uint16_t)r;
        }
}

const AluKernel *gr_alu_kernel(const char *key) {
    pthread_once(&once, start);
    for (uint32_t h = hash(key); slots[h % SLOTS].key; h++)
        if (!strcmp(slots[h % SLOTS].key, key))
            return &isas[chosen].tables[slots[h % SLOTS].table]->rows[slots[h % SLOTS].row];
    return NULL;
}

// The place of an instruction set in isas, N_ISAS for none of those that this CPU has.
static unsigned place_of(const char *isa) {
    pthread_once(&once, start);
    for (unsigned j = 0; j <= newest; j++)
        if (!strcmp(isas[j].name, isa))
            return j;
    return N_ISAS;
}

bool gr_alu_has(const char *isa) { return place_of(isa) < N_ISAS; }

bool gr_alu_use(const char *isa) {
    unsigned j = place_of(isa);
    chosen = j < N_ISAS ? j : chosen;
    return j < N_ISAS;
}

unsigned gr_alu_fp_enter(void) {
#ifdef __x86_64__
    unsigned old, standard = 0x1f80; // all exceptions masked, nearest, no flushing
    __asm__ volatile("stmxcsr %0" : "=m"(old));
    __asm__ volatile("ldmxcsr %0" : : "m"(standard));
    return old;
#else
    unsigned old = (unsigned)fegetround();
    fesetround(FE_TONEAREST);
    return old;
#endif
}

void gr_alu_fp_leave(unsigned saved) {
#ifdef __x86_64__
    __asm__ volatile("ldmxcsr %0" : : "m"(saved));
#else
    fesetround((int)saved);
#endif
}

// ---- Immediates ------------------------------------------------------------------------------------------

static double operand_number(const PtxOperand *o) {
    union {
        uint32_t u;
        float f;
    } single = {(uint32_t)o->bits};
    union {
        uint64_t u;
        double d;
    } twice = {o->bits};
    switch (o->kind) {
    case PTX_O_F32: return (double)single.f;
    case PTX_O_F64: return twice.d;
    default: return o->is_signed ? (double)(int64_t)o->bits : (double)o->bits;
    }
}

uint64_t gr_vm_immediate(const PtxOperand *o, PtxType t) {
    union {
        float f;
        uint32_t u;
    } single;
    union {
        double d;
        uint64_t u;
    } twice;
    switch (t) {
    case PTX_F32: // bits of an 0f literal pass unchanged, NaN payloads included
        if (o->kind == PTX_O_F32)
            return (uint32_t)o->bits;
        single.f = (float)operand_number(o);
        return single.u;
    case PTX_F64:
        if (o->kind == PTX_O_F64)
            return o->bits;
        twice.d = operand_number(o);
        return twice.u;
    case PTX_PRED: return o->bits != 0;
    default: break;
    }
    unsigned bits = gr_ptx_type_bits(t);
    return bits == 0 || bits >= 64 ? o->bits : o->bits & (((uint64_t)1 << bits) - 1);
}
