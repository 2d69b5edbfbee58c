// SPDX-License-Identifier: Apache-2.0
// virtual — reserved addresses without memory, memory without addresses (pages), and mappings of the one to the other.
//
// Reserved addresses lie in a region of their own, at the same place in every run. Memory is mapped to them as a whole;
// one memory may be mapped to several places, and what is written at one place is read at all. A kernel reaches a
// mapping only when its device was given access. Mappings that lie side by side, with the same access and on the same
// device, are one VmRange of memory.h.
#ifndef GR_VM_VIRTUAL_H
#define GR_VM_VIRTUAL_H

#include "vm/memory.h"

// Addresses and sizes of all that is here are multiples of it.
#define VM_GRANULARITY (UINT64_C(2) << 20)

typedef struct VmPages {
    int device;
    uint64_t size;
    struct VmPool *pool; // that they are a piece of,
    char *at;            // here
    uint32_t mappings;   // how many there are
    bool released;       // goes with its last mapping
    void *user;          // free for the driver
} VmPages;

typedef struct VmReservation {
    uint64_t addr, size;
} VmReservation;

typedef struct VmMapping {
    uint64_t addr, size;
    uint64_t serial; // no two mappings have the same
    VmPages *pages;
    uint32_t readers, writers; // a bit per device that has access; either all readers are writers, or none is
} VmMapping;

// GR_ERR_NOMEM where the device has no `size` bytes left. The bytes are zero.
gr_status gr_vm_pages_create(VmMem *m, int device, uint64_t size, VmPages **out, gr_error *err);
// The pages go when there is no mapping of them, now or later.
void gr_vm_pages_release(VmMem *m, VmPages *p);

// At `hint` if that is free, elsewhere if not. No memory is taken. GR_ERR_NOMEM: no such addresses are left.
gr_status gr_vm_reserve(VmMem *m, uint64_t size, uint64_t align, uint64_t hint, uint64_t *out, gr_error *err);
// Nothing may be mapped there.
gr_status gr_vm_unreserve(VmMem *m, uint64_t addr, uint64_t size, gr_error *err);
// The one that holds `addr`, or NULL.
const VmReservation *gr_vm_reservation(const VmMem *m, uint64_t addr);

// Into one reservation, where nothing is mapped yet. No device has access.
gr_status gr_vm_map(VmMem *m, uint64_t addr, VmPages *p, gr_error *err);
void gr_vm_unmap(VmMem *m, VmMapping *x);
// The mapping that holds `addr`, or NULL; the first that ends after `addr`, or NULL.
VmMapping *gr_vm_mapping(const VmMem *m, uint64_t addr);
VmMapping *gr_vm_mapping_from(const VmMem *m, uint64_t addr);
// `readers` and `writers` as in VmMapping.
gr_status gr_vm_set_access(VmMem *m, VmMapping *x, uint32_t readers, uint32_t writers, gr_error *err);

#endif
