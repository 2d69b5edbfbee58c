// SPDX-License-Identifier: Apache-2.0
// memory — the unified virtual address space of all CPU devices and of the host memory they can reach.
//
// One region of address space is reserved at a fixed address, so that the same sequence of allocations gets
// the same addresses in every run. Its bytes come from one sparse memory file that is mapped twice:
//
//     user view   GR_VM_BASE …  what programs hold as device pointers. Plain device memory is not accessible here (a
//                               host that follows a cudaMalloc pointer faults, as on a GPU); managed and pinned memory
//                               is.
//     device view (anywhere)    where the VM itself reads and writes: never protected, so that the user view of managed
//                               memory can be protected to watch the host (a later engine does that).
//
// An allocation is exact to the byte: one byte
#ifndef GR_VM_MEMORY_H
#define GR_VM_MEMORY_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum VmMemKind {
    VM_MEM_DEVICE,   // cuMemAlloc, module globals and constants
    VM_MEM_MANAGED,  // cuMemAllocManaged, __managed__
    VM_MEM_PINNED,   // cuMemAllocHost, cuMemHostAlloc
    VM_MEM_HOST,     // registered host memory
    VM_MEM_PAGEABLE, // any other host memory that a kernel reached (gr_vm_mem_reach)
    VM_MEM_HEAP,     // device malloc
    // Mappings that lie side by side (virtual.h); `peers` says of all devices, the owner as well, who has access.
    VM_MEM_MAPPED,
    VM_MEM_INTERNAL, // parameter buffers and the like: not the program's
} VmMemKind;

typedef struct VmRange {
    uint64_t addr, size; // as the program sees it
    uint64_t room;       // bytes that are its own: to the end of a page where the host reaches it
    ptrdiff_t delta;     // device view = (char *)addr + delta
    VmMemKind kind;
    int device;      // index of the owning device, -1 for host memory
    unsigned flags;  // free for the driver (host alloc flags, …)
    uint64_t serial; // number of this allocation since the start: stable names for buffers in reports
    bool read_only;  // constants, mappings: stores fault
    bool absent;     // no kernel reaches it for now, as if it were freed
    bool retired;    // freed, but launches up to number last_launch still reach it
    uint64_t last_launch;
    uint32_t peers; // a bit per device, beside the owner, whose kernels may always use it
    void *user;     // free for the driver, like the next
    void *pool;
} VmRange;

typedef struct VmMem VmMem;

gr_status gr_vm_mem_create(VmMem **out, gr_error *err);
void gr_vm_mem_destroy(VmMem *m);
// The usual addresses were taken: those of allocations are others than in other runs.
bool gr_vm_mem_moved(const VmMem *m);

// `align` is a power of two, at least 256 is used for device memory. Zero-sized requests are GR_ERR_ARGUMENT.
// The bytes are zero. GR_ERR_NOMEM when the device's memory is used up.
gr_status gr_vm_mem_alloc(VmMem *m, VmMemKind kind, int device, uint64_t size, uint64_t align, VmRange **out,
                          gr_error *err);
// `addr` must be a range's start. Freed addresses are reused only when nothing else is left: use after free faults.
gr_status gr_vm_mem_free(VmMem *m, uint64_t addr, gr_error *err);
// Frees, but launches up to that number still reach the range. They end before gr_vm_mem_free comes.
gr_status gr_vm_mem_retire(VmMem *m, uint64_t addr, uint64_t last_launch);
// Takes a range away from kernels, and gives it back: memory of a graph, freed and allocated again at one address.
void gr_vm_mem_set_absent(VmMem *m, VmRange *r, bool yes);
gr_status gr_vm_mem_register(VmMem *m, void *host, uint64_t size, unsigned flags, VmRange **out,
                             gr_error *err);
gr_status gr_vm_mem_unregister(VmMem *m, void *host, gr_error *err);

// Threads of the host can use it, also while a kernel does: managed, pinned, registered and pageable memory.
bool gr_vm_mem_host_reaches(const VmRange *r);

// The range that holds `addr`, or NULL.
VmRange *gr_vm_mem_find(const VmMem *m, uint64_t addr);
// The range that the launch of that number finds at `addr`, which may be a retired one.
VmRange *gr_vm_mem_find_for(const VmMem *m, uint64_t addr, uint64_t launch);
// The range with what that launch may use at `addr`: one of the above or, where gr_vm_mem_allow_pageable said so, a
// mapping of the process that the system lists as readable, as under HMM. Such a mapping is kept until
// gr_vm_mem_forget_pageable, as the host may unmap it.
VmRange *gr_vm_mem_reach(VmMem *m, uint64_t addr, uint64_t launch);
void gr_vm_mem_allow_pageable(VmMem *m, bool yes);
void gr_vm_mem_forget_pageable(VmMem *m);
bool gr_vm_mem_used_pageable(const VmMem *m); // gr_vm_mem_reach ever found any
// Whether the address is in the regions for device memory, allocated or not, or in the tool's views: not the host's.
bool gr_vm_mem_owns(const VmMem *m, uint64_t addr);
// For faults: the range that ends last at or before `addr`, or NULL; the one that starts first after it.
VmRange *gr_vm_mem_before(const VmMem *m, uint64_t addr);
VmRange *gr_vm_mem_after(const VmMem *m, uint64_t addr);
// The range freed most recently that held `addr`: false when none is remembered.
bool gr_vm_mem_was_freed(const VmMem *m, uint64_t addr, uint64_t *start, uint64_t *size);
// Whether addresses were reserved there (virtual.h), how many bytes of them; whether memory is mapped.
bool gr_vm_mem_is_reserved(const VmMem *m, uint64_t addr, uint64_t *size, bool *mapped);
// Where the tool itself may touch [addr, addr+size): NULL when any byte of it is outside one range.
void *gr_vm_mem_view(const VmMem *m, uint64_t addr, uint64_t size);
// The device's own memory: its addresses are [*base, *base + *size), and the device sees them *delta away.
void gr_vm_mem_views(const VmMem *m, uint64_t *base, uint64_t *size, int64_t *delta);
// Bytes of device memory of `device` in use, and the total.
void gr_vm_mem_info(const VmMem *m, int device, uint64_t *used, uint64_t *total);
// Increases by one with each alloc, free, register and unregister: caches of ranges compare it.
uint64_t gr_vm_mem_generation(const VmMem *m);

// While `threads`, several threads may look for ranges at once; while `allocates`, allocate and free as well: ranges
// that are freed meanwhile stay readable until that is over.
void gr_vm_mem_concurrent(VmMem *m, bool threads, bool allocates);

#endif
