// SPDX-License-Identifier: Apache-2.0
// decode — what the parts of the decoder share: from the statements of one PtxFunc to VmInsn. Internal.
//
// Registers get frame slots when they are first met. A register may need no instruction if exactly one statement writes
// it: a plain mov, cvta to global or load of a kernel parameter. The decoder then reads that statement's source in its
// place (alias.c says when that is sound).
#ifndef GR_VM_CORE_DECODE_H
#define GR_VM_CORE_DECODE_H

#include "ptx/cfg.h"
#include "vm/core/mem_insn.h"
#include "vm/core/program.h"

typedef struct VmFixup {
    size_t insn;
    const PtxStmt *label; // code address of this statement …
    uint32_t block;       // … or of this block, when label is NULL
    const VmInsn **where; // NULL: insn's target; else a table entry
    bool rejoin;          // insn's rejoin field
} VmFixup;

typedef struct VmAliasInfo {
    const PtxOperand *source; // NULL: the register has a slot of its own
    PtxType type;             // how the source is read
    bool param;               // source is the address operand of a load of a parameter, of this type
    uint8_t elem;             // element of a vector load
} VmAliasInfo;

typedef struct Decoder {
    VmModule *m;
    VmFunc *f;
    const PtxModule *pm;
    gr_error *err;
    bool oom;
    VEC(VmInsn) code;
    VEC(VmFixup) fixups;
    VEC(VmFill) fills;
    VEC(VmLanePlace) places;
    Map fill_of;
    Map param_of;    // const PtxVar * -> VmParamSlot *
    Map local_of;    // const PtxVar * -> offset + 1 in the activation's stack
    Map address_of;  // label statement -> code index + 1
    uint32_t *slots; // by register index
    uint32_t *defs;
    VmAliasInfo *alias;
    uint32_t frame, pred_slot, pred_left;
    uint32_t local_bytes;
    Cfg cfg;
    bool *is_rejoin;         // by block
    bool *is_program_rejoin; // by block: of branches that no pass inserted
    // By block: what rejoin_block found from there, + 2 (0: not asked yet); [1]: for inserted branches.
    uint32_t *rejoin_of[2];
    uint32_t *block_code;    // by block: index of its first instruction
    uint32_t block;          // being decoded
    const PtxStmt *stmt;     // being decoded
    uint16_t weight;         // instructions that needed none since the last one that did
    Map speculated, decides; // load -> VmSpeculated; statement -> VmDecision
    VEC(VmFunc *) callees;
    VEC(const PtxVar *) shared;
    VEC(const PtxVar *) spilled;
    uint32_t n_arrivals; // decode_arrival.c: accesses that it has looked at
    uint32_t scratch[8]; // wmma.c: 1 + slots of the addresses of a lane's parts of a matrix; 0: none yet
} Decoder;

// decode_operand.c
uint32_t gr_vm_lane_bytes(PtxType t);                // 0 for predicates
uint32_t gr_vm_new_slot(Decoder *d, uint32_t width); // width as VmFill.width
uint32_t gr_vm_reg_slot(Decoder *d, const PtxReg *r);
// VM_NO_SLOT: not understood, or a register of another width than t's.
uint32_t gr_vm_src(Decoder *d, const PtxOperand *o, PtxType t);
uint32_t gr_vm_dst(Decoder *d, const PtxOperand *o, PtxType t);
PtxType gr_vm_operand_type(const PtxOperand *o, PtxType t); // a register's own type, else t
uint32_t gr_vm_fill_slot(Decoder *d, VmFill fill);
uint32_t gr_vm_const_slot(Decoder *d, uint64_t bits, uint32_t width);
bool gr_vm_static_sreg(Decoder *d, const char *name,
                       VmFill *out); // a special register that a launch does not change
bool gr_vm_find_aliases(Decoder *d); // alias.c
bool gr_vm_share_slots(Decoder *d);  // slots.c
VmParamSlot *gr_vm_param_slot(Decoder *d, const PtxVar *v);
// Whether it is a parameter of the function whose address is taken: then it is a variable in local memory (PTX ISA
// 9.7.9.1, mov), which gets its value as the function begins.
bool gr_vm_is_spilled(const Decoder *d, const PtxVar *v);
bool gr_vm_find_spilled(Decoder *d);
bool gr_vm_spill(Decoder *d); // emits what does that
bool gr_vm_var_fill(Decoder *d, const PtxVar *v, int64_t offset, uint32_t width, VmFill *out);
bool gr_vm_kernel_param_offset(const VmFunc *f, const PtxVar *v, uint32_t *offset);
const PtxOperand *gr_vm_elements(Decoder *d, const PtxOperand *o, PtxOperand tmp[8], unsigned *n);
bool gr_vm_dynamic_sreg(const char *name, VmExec out[2], PtxType *type);

// decode.c
VmInsn *gr_vm_emit(Decoder *d, VmExec full, VmExec part);
void gr_vm_fix_target(Decoder *d, const PtxLabel *label);
bool gr_vm_fix_rejoin(Decoder *d);
void gr_vm_fix_program_rejoin(Decoder *d);

// Each takes the current statement's instruction: false when it does not understand it.
bool gr_vm_decode_mem(Decoder *d, const PtxInstr *i); // decode_mem.c: ld st ldu, cvta, isspacep, …
// decode_async.c: cp.async, bulk copies, mbarrier, st.async, red.async, st.bulk
bool gr_vm_decode_async(Decoder *d, const PtxInstr *i, bool *control);
bool gr_vm_decode_atom(Decoder *d, const PtxInstr *i);                // decode_atom.c
bool gr_vm_decode_ctl(Decoder *d, const PtxInstr *i, bool *control);  // decode_ctl.c
bool gr_vm_decode_sync(Decoder *d, const PtxInstr *i, bool *control); // decode_sync.c
bool gr_vm_decode_move(Decoder *d, const PtxInstr *i); // decode_move.c: packing, mov of addresses
bool gr_vm_decode_matrix(Decoder *d, const PtxInstr *i,
                         bool *control); // matrix.c: ldmatrix, stmatrix, movmatrix
bool gr_vm_decode_wmma(Decoder *d, const PtxInstr *i, bool *control);    // wmma.c: wmma.load, wmma.store
bool gr_vm_decode_product(Decoder *d, const PtxInstr *i, bool *control); // decode_mma.c: wmma.mma, mma.sync
bool gr_vm_decode_video(Decoder *d, const PtxInstr *i); // video.c: what arithmetic has not taken

#endif
