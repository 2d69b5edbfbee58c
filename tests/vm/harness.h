// SPDX-License-Identifier: Apache-2.0
// harness — a CPU device with one PTX module, for tests: load, launch, wait, look.
#ifndef GR_TEST_VM_HARNESS_H
#define GR_TEST_VM_HARNESS_H

#include "base/sanitized.h"
#include "base/str.h"
#include "vm/vm.h"

typedef struct Rig {
    VmMem *mem;
    VmDevice *dev;
    PtxModule *ptx;
    VmModule *mod;
    uint64_t launches;
    StrBuf printed;
    uint64_t instructions; // of the last launch
    uint64_t ns;           // it took
    // Shuffles that read from lanes which did not take part, lanes outside their own member mask: undefined in PTX.
    uint64_t undefined;
    VmFault fault; // of the last launch; kind VM_FAULT_NONE when it ended well
} Rig;

// `text` is PTX; a header (.version, .target, .address_size) is put before it unless it has one. Fails the test
// on any error. config->mem is filled in, and config->extensions if it is NULL (those of all engines); NULL is the
// default configuration.
void rig_open(Rig *r, const char *text, const VmConfig *config);
void rig_open_file(Rig *r, const char *path, const VmConfig *config);
// Expects that loading fails with `want`.
void rig_refuse(const char *text, gr_status want);
void rig_close(Rig *r);

uint64_t rig_alloc(Rig *r, uint64_t bytes); // zeroed device memory
void *rig_view(Rig *r, uint64_t addr, uint64_t bytes);

typedef struct Dims {
    uint32_t grid, block, shared;
} Dims;

// Launches and runs to the end. Parameters: n 64-bit words, stored with each parameter's own size.
VmFaultKind rig_run(Rig *r, const char *kernel, Dims dims, unsigned n, const uint64_t *params);
#define RIG_RUN(r, kernel, g, b, ...)                                                                        \
    rig_run((r), (kernel), (Dims){(g), (b), 0}, sizeof((uint64_t[]){__VA_ARGS__}) / 8,                       \
            (uint64_t[]){__VA_ARGS__})

// Launches only. The caller runs and frees it.
VmLaunch *rig_start(Rig *r, const char *kernel, Dims dims, unsigned n, const uint64_t *params);
// Runs all launches that are active, `budget` warp instructions at a time.
void rig_drain(Rig *r, uint64_t budget);

// An observer that hashes everything it hears; and counts.
typedef struct Ear {
    uint64_t hash, accesses, syncs, blocks;
} Ear;
void rig_listen(Rig *r, Ear *ear);

#endif
