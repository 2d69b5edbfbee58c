// SPDX-License-Identifier: Apache-2.0
// exec_mem — what memory handlers share with atomics and system calls. Internal.
#ifndef GR_VM_CORE_EXEC_MEM_H
#define GR_VM_CORE_EXEC_MEM_H

#include "vm/core/decode.h"
#include "vm/core/mem_insn.h"

struct VmCache;
struct VmWarpRest;

// The handlers of a load or store.
void gr_vm_mem_select(const Decoder *d, VmMemInfo *info, bool store, VmExec out[2]);
// decode_arrival.c: puts another handler in front of an access by whose value threads arrive, or which they poll.
void gr_vm_decode_arrival(Decoder *d, VmMemInfo *info, VmExec exec[2]);

bool gr_vm_decode_address(Decoder *d, const PtxOperand *a, PtxSpace space, uint32_t *slot, uint8_t *width,
                          uint64_t *offset);
VmMemInfo *gr_vm_mem_insn(Decoder *d, const PtxInstr *i, PtxAccess access);
// Decodes `vec` elements of `bytes` each, whatever the instruction's types say. NULL: out of memory.
VmMemInfo *gr_vm_mem_elements(Decoder *d, const PtxInstr *i, PtxAccess access, unsigned bytes, unsigned vec);

// An access: `access` does it for the active lanes whose bytes are at host[], `pass` for those whose bytes are nowhere
// (gr_vm_stray). The next instruction; NULL: a lane faulted, and w->stop is set.
const VmInsn *gr_vm_access_lanes(VmWarp *w, const VmInsn *i,
                                 void (*access)(VmWarp *w, const VmInsn *i, const uint64_t address[VM_LANES],
                                                uint8_t *host[VM_LANES]),
                                 void (*pass)(VmWarp *w, const VmInsn *i, const uint64_t address[VM_LANES],
                                              uint32_t lanes));
// Addresses of the active lanes, and where their bytes are, without an access: nobody is told of strays. *lanes: those
// whose bytes are somewhere. False: a lane faulted.
bool gr_vm_look_up(VmWarp *w, const VmInsn *i, uint64_t address[VM_LANES], uint8_t *host[VM_LANES],
                   uint32_t *lanes);
// exec_async.c: whether the copy is one that some lane would not make (VmConfig.pass_strays). Nobody is told.
bool gr_vm_copy_strays(VmWarp *w, const VmInsn *i);
// Something wants to hear of this access: switches, observers. True: the handler must leave the inner loop
// and return NULL, the access has not happened and will be tried again.
bool gr_vm_access_hook(VmWarp *w, const VmInsn *i);
// Where lane `lane` accesses `size` bytes of global memory, by the instruction's cache. NULL: gr_vm_stray.
uint8_t *gr_vm_global_at(VmWarp *w, const VmInsn *i, unsigned lane, uint64_t address, uint32_t size,
                         PtxAccess access);
// Copies 1, 2, 4, 8 or 16 bytes in one access: other threads see all of them or none, and nothing beside them is
// touched. `to` or `from` is shared with them, and aligned to the size.
void gr_vm_copy_whole(void *to, const void *from, uint32_t size);
// What an asynchronous reduction does to one element of type t. Sums of f32 keep subnormals, in global memory too (an
// H200 does that, though its red.global.add.f32 flushes).
bool gr_vm_atom_op(const PtxInstr *i, PtxType t, VmAtomOp *out);
// Tells the observers; addresses as `access` got them.
void gr_vm_report_access(VmWarp *w, const VmInsn *i, const uint64_t address[VM_LANES]);
// Some of the running lanes hold loads back (tell.h), which are settled before observers hear of the access, at a
// glance or in full, if it is strong and may order them.
void gr_vm_settle_before(VmWarp *w, const VmInsn *i);
// Tells the observers of `to` (a bit for each), if all lanes lie in one space, where they may, and in the block's own
// shared memory if it is shared. Event addresses are those above `base`.
void gr_vm_report_lanes(VmWarp *w, const VmInsn *i, PtxSpace space, uint64_t base, uint32_t to);
// What observers are told of all accesses of the instruction.
VmSiteInfo *gr_vm_site_info(const struct VmWarpRest *r, VmMemInfo *info);
// A lane accesses an address at which no memory is: it is about to fault, or loaded there before the memory was freed.
// `late`: the instruction's module, NULL: the running function's. gr_vm_report_free: a lane frees memory of the heap.
void gr_vm_report_gone(VmWarp *w, const VmInsn *i, unsigned lane, uint64_t address, uint32_t size,
                       PtxAccess access, const PtxModule *late);
void gr_vm_report_free(VmWarp *w, const VmInsn *i, unsigned lane, uint64_t address, uint64_t size);
// What a store's lane stores, info->size bytes.
void gr_vm_stored(const VmWarp *w, const VmMemInfo *info, unsigned lane, uint8_t *out);
// VmAccessEvent.same.
bool gr_vm_stores_same(const VmAccessEvent *e, unsigned lane, uint32_t from, uint32_t n);
// VmGlance.same.
void gr_vm_glance_same(const VmGlance *g, uint32_t lanes[4]);
// Seeded rotation of lanes for conflicting accesses.
unsigned gr_vm_rotation(VmWarp *w);

// Bytes at a generic address of lane `lane`, for system calls: NULL when [address, address+size) is not in one place.
void *gr_vm_generic(VmWarp *w, unsigned lane, uint64_t address, uint64_t size);
// A string there, terminated within its allocation; NULL when it is not.
const char *gr_vm_generic_string(VmWarp *w, unsigned lane, uint64_t address);

#endif
