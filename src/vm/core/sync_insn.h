// SPDX-License-Identifier: Apache-2.0
// sync_insn — operands of barriers and warp collectives beyond those in VmInsn. Internal.
#ifndef GR_VM_CORE_SYNC_INSN_H
#define GR_VM_CORE_SYNC_INSN_H

#include "ptx/ptx.h"

#include <stdint.h>

typedef struct VmBarrierInfo { // VmInsn: a barrier, b count, c predicate, d result
    enum { VM_BAR_SYNC, VM_BAR_ARRIVE, VM_BAR_RED } kind;
    enum { VM_BAR_POPC, VM_BAR_AND, VM_BAR_OR } op;
    bool counted;
    bool aligned;  // all threads of a warp execute the same one
    bool constant; // a and b are immediates: the same for all lanes
} VmBarrierInfo;

typedef enum VmCollectiveKind {
    VM_COLL_SHFL,
    VM_COLL_VOTE,
    VM_COLL_MATCH,
    VM_COLL_REDUX,
    VM_COLL_ELECT,
    VM_COLL_BARRIER,
    VM_COLL_MATRIX, // nothing but the meeting: the lanes of a matrix instruction
} VmCollectiveKind;

typedef enum VmCollectiveOp {
    VM_SHFL_UP,
    VM_SHFL_DOWN,
    VM_SHFL_BFLY,
    VM_SHFL_IDX,
    VM_VOTE_ALL,
    VM_VOTE_ANY,
    VM_VOTE_UNI,
    VM_VOTE_BALLOT,
    VM_MATCH_ANY,
    VM_MATCH_ALL,
    VM_REDUX_ADD,
    VM_REDUX_MIN,
    VM_REDUX_MAX,
    VM_REDUX_AND,
    VM_REDUX_OR,
    VM_REDUX_XOR,
    VM_COLL_NO_OP,
} VmCollectiveOp;

typedef struct VmCollectiveInfo { // VmInsn: d, d2 results, a value, b and c of shfl, e member mask
    VmCollectiveKind kind;
    VmCollectiveOp op;
    PtxType type;  // of redux
    bool abs, nan; // of redux on f32
    bool sync;     // false: the old forms, whose members are the active lanes
    uint8_t bytes; // of the value: 4 or 8, 0 for a predicate, UINT8_MAX for none
    bool has_d, has_d2, d_is_pred;
    bool constant; // the member mask is an immediate
} VmCollectiveInfo;

#endif
