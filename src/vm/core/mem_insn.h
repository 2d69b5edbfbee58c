// SPDX-License-Identifier: Apache-2.0
// mem_insn — the part of a decoded memory instruction that only its slow paths and observers read, and other
// wide operands. Internal.
#ifndef GR_VM_CORE_MEM_INSN_H
#define GR_VM_CORE_MEM_INSN_H

#include "ptx/speculate.h"
#include "vm/core/program.h"

enum { VM_MAX_VEC = 8 };

typedef struct VmAtomOp {
    // The new value of one element, from the old one and the operands.
    uint64_t (*apply)(uint64_t old, uint64_t a, uint64_t b);
    bool cas, exch;
} VmAtomOp;

// A load that was hoisted out of its guard (ptx/speculate.h).
typedef struct VmSpeculated {
    uint32_t number, n_decisions; // number: within the module
} VmSpeculated;

// What an instruction decides of it.
typedef struct VmDecision {
    struct VmDecision *next; // of the same instruction, about another load
    const VmSpeculated *load;
    uint32_t index, pred; // among the decisions; slot
    bool negated;
} VmDecision;

typedef struct VmMemInfo {
    PtxSpace space; // as written: GENERIC, GLOBAL, SHARED, LOCAL, CONST, PARAM
    PtxAccess access;
    PtxSem sem;
    PtxScope scope;
    uint8_t vec, elem;    // elements, and bytes of each
    uint8_t size;         // vec * elem
    uint8_t address_size; // bytes of the address register: 4 or 8
    bool sext;            // loads into wider registers extend the sign
    bool silent;          // no site: observers do not hear of it
    bool cluster;    // may reach the shared memory of other blocks: .shared::cluster and generic addresses
    bool same_width; // elements of 4 or 8 bytes, all registers as wide
    const VmSpeculated *speculated; // observers hear of it when its fate is known; NULL: at once
    uint8_t reg_bytes[VM_MAX_VEC];
    uint32_t slot[VM_MAX_VEC]; // VM_NO_SLOT: '_'
    VmSiteInfo site;
    // Atomics.
    VmAtomOp op;
    uint32_t b[VM_MAX_VEC], c[VM_MAX_VEC];
    bool has_result, wide; // wide: b128
    VmExec then[2];        // arrive.c: what the instruction does, in exec's place
} VmMemInfo;

typedef struct VmMapaInfo { // mapa, getctarank: VmInsn: a address, b rank
    bool generic, wide;     // kind and width of the address
} VmMapaInfo;

typedef struct VmCallInfo {
    VmFunc *callee; // NULL: indirect through slot `target`
    uint32_t target;
    uint32_t n_args, n_rets;
    VmParamSlot *args, *rets; // in the caller's frame
} VmCallInfo;

#endif
