// SPDX-License-Identifier: Apache-2.0
// touch_insn — what a machine instruction does to memory: how many bytes an instruction that faulted accesses, and
// whether it reads, writes, or does both.
#ifndef GR_INJECT_TOUCH_INSN_H
#define GR_INJECT_TOUCH_INSN_H

#include <stdint.h>

typedef enum GrInsnKind { GR_INSN_UNKNOWN, GR_INSN_LOAD, GR_INSN_STORE, GR_INSN_RMW } GrInsnKind;

typedef struct GrInsnTouch {
    GrInsnKind kind; // UNKNOWN: it may do either, ask the fault
    uint32_t size;   // 0: not known
} GrInsnTouch;

// Reads no byte that is not part of the instruction.
GrInsnTouch gr_insn_touch(const uint8_t *pc);

#endif
