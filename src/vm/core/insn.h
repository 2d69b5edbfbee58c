// SPDX-License-Identifier: Apache-2.0
// insn — decoded instructions and the registers they work on: the contract between the decoder (decode.c),
// the arithmetic (alu*.c) and the rest of the interpreter.
//
// A register is 32 lanes side by side in the frame of a function activation:
//     .pred            uint32_t, bit l is lane l                      4 bytes
//     8 and 16 bits    uint16_t[32]                                  64 bytes
//     32 bits          uint32_t[32]                                 128 bytes
//     64 bits          uint64_t[32]                                 256 bytes
//     128 bits         uint64_t[32] low halves, then uint64_t[32]   512 bytes
// Frames and slots are 64-byte aligned. Every operand is a byte offset into the frame. Immediates, addresses of
// variables and special registers are constants that the decoder splats into slots of their own when the frame is made.
//
// A handler executes one instruction for all active lanes and yields the next instruction to execute; NULL leaves the
// interpreter's inner loop (w->stop says why). exec[0] is taken when all lanes of the warp that have not exited are
// active. It may write garbage into lanes of the frame that do not exist, have exited or are not in this activation. It
// may not write garbage into the warp's own state (cc), which other activations share. exec[1] must leave inactive
// lanes' destinations alone. No handler may fault on garbage in inactive lanes (integer division!).
#ifndef GR_VM_CORE_INSN_H
#define GR_VM_CORE_INSN_H

#include "ptx/ptx.h"

enum { VM_LANES = 32 };

typedef struct VmWarp VmWarp;
typedef struct VmInsn VmInsn;
typedef const VmInsn *(*VmExec)(VmWarp *w, const VmInsn *i);

struct VmInsn {
    VmExec exec[2];
    uint32_t d, a, b, c; // byte offsets of destination and sources in the frame
    uint32_t d2, e;      // second destination (carry-out predicates, setp's q, shfl's p), fourth source
    uint64_t imm;        // whatever the handler wants: an offset, a lookup table, a comparison
    uint32_t guard;      // slot of the guard predicate
    uint8_t guard_negated;
    uint8_t tagged;       // inserted by a pass
    uint16_t weight;      // instructions of the program that it stands for: 0 when tagged
    const VmInsn *target; // branches
    VmExec body[2];       // guarded instructions: exec runs the guard, body the instruction
    const PtxStmt *stmt;
    void *extra;          // wide instructions keep the rest of their operands here
    const VmInsn *rejoin; // where lanes that part here are expected to meet again; NULL: after the function
    uint32_t site;
    uint8_t part; // one of several accesses that the statement's instruction is made of
    uint8_t pad[19];
};

_Static_assert(sizeof(VmInsn) == 128, "two cache lines");

// The part of a warp that handlers of arithmetic see. The scheduler's part is in warp.h.
struct VmWarp {
    uint8_t *frame;  // registers of the running split's activation
    uint32_t mask;   // active lanes
    uint32_t live;   // lanes of this activation that have not exited
    uint32_t cc;     // condition code CC.CF, a bit per lane
    uint8_t partial; // mask != live: which of exec[] runs
    uint8_t stop;    // VmStop, when a handler returned NULL
    bool atomics;    // other threads of the host run blocks of this launch: atomic operations must be
    // Memory instructions count this down; at zero something wants to hear of the access (hooks.c).
    int32_t budget;
    const VmInsn *join; // the next rejoin point of the running split
    struct VmCache *caches;
    uint8_t *shared;
    uint64_t shared_bytes;
    uint64_t shared_base; // where the block's own shared memory is in the shared window
    bool listens;         // an observer hears of accesses
    int32_t left;         // of the quantum, in warp instructions, this one included
    uint8_t *local;       // stacks: lane l's starts at local + l * local_stride; NULL until first needed
    uint32_t local_bytes; // of each
    uint32_t local_stride;
};

#define VM_PRED(w, off) (*(uint32_t *)((w)->frame + (off)))
#define VM_U16(w, off)  ((uint16_t *)((w)->frame + (off)))
#define VM_U32(w, off)  ((uint32_t *)((w)->frame + (off)))
#define VM_U64(w, off)  ((uint64_t *)((w)->frame + (off)))
#define VM_F32(w, off)  ((float *)((w)->frame + (off)))
#define VM_F64(w, off)  ((double *)((w)->frame + (off)))

// What the arithmetic says of an instruction it can execute: the handlers, and the type each operand is read
// or written as, so that the decoder can resolve registers and splat constants. Operand order is PTX's: d,
// then (if dst2) the operand after '|', then sources.
typedef struct VmAlu {
    VmExec exec[2];
    PtxType dst, dst2; // PTX_NOTYPE: none. dst2 is PRED for setp p|q
    uint8_t n_src;
    PtxType src[4];
    uint8_t skip;     // the source operand after this many is not the kernel's (lop3's table); 0 none
    uint64_t imm;     // becomes VmInsn.imm
    bool approximate; // result is not correctly rounded; docs/arithmetic.md names it
} VmAlu;

// Fills *out for arithmetic, logic, comparison, selection, conversion, mov/cvta of registers, bit operations, packing
// (mov.b64 {a,b} and back is the decoder's). False when the instruction is not one of these or a modifier is not
// understood: the decoder then looks elsewhere, and an instruction that no part takes faults by name. cvt may use
// registers wider than its types (PTX ISA 9.4.1): its handlers look at the operands' register types here and are chosen
// for those widths (out->dst and out->src[0] then say the register's width).
bool gr_vm_alu_select(const PtxInstr *i, VmAlu *out);

// The value of an immediate operand when read as type `t`: PTX ISA 4.5 (constants), conversions of literals
// included.
uint64_t gr_vm_immediate(const PtxOperand *o, PtxType t);

#endif
