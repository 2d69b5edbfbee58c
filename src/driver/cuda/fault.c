// SPDX-License-Identifier: Apache-2.0
// fault — faults of the device as CUDA's error codes, and as text for the tool. CUDA prints nothing, so neither does
// the CPU device, with one exception. At a breakpoint a debugger would show the place, and here there is none: so a
// breakpoint prints its place when no tool listens.
#include "device_api/hooks.h"
#include "driver/cuda/driver.h"
#include "driver/cuda/queue.h"

#include <dlfcn.h>
#include <stdio.h>

static const struct {
    CUresult code;
    const char *text;
} faults[] = {
    [VM_FAULT_NONE] = {CUDA_SUCCESS, "none"},
    [VM_FAULT_ILLEGAL_ADDRESS] = {CUDA_ERROR_ILLEGAL_ADDRESS, "illegal address"},
    [VM_FAULT_MISALIGNED] = {CUDA_ERROR_MISALIGNED_ADDRESS, "misaligned address"},
    [VM_FAULT_ILLEGAL_INSTRUCTION] = {CUDA_ERROR_ILLEGAL_INSTRUCTION, "illegal instruction"},
    [VM_FAULT_ADDRESS_SPACE] = {CUDA_ERROR_INVALID_ADDRESS_SPACE, "wrong address space"},
    [VM_FAULT_INVALID_PC] = {CUDA_ERROR_INVALID_PC, "invalid program counter"},
    [VM_FAULT_CLUSTER_BLOCK] = {CUDA_ERROR_LAUNCH_FAILED, "cluster target block not present"},
    [VM_FAULT_TRAP] = {CUDA_ERROR_LAUNCH_FAILED, "trap"},
    [VM_FAULT_BREAKPOINT] = {CUDA_ERROR_LAUNCH_FAILED, "breakpoint"},
    [VM_FAULT_ASSERT] = {CUDA_ERROR_ASSERT, "assertion failed"},
    [VM_FAULT_STACK_OVERFLOW] = {CUDA_ERROR_LAUNCH_FAILED, "stack overflow"},
    [VM_FAULT_TIMEOUT] = {CUDA_ERROR_LAUNCH_TIMEOUT, "timeout"},
    [VM_FAULT_DEADLOCK] = {CUDA_ERROR_LAUNCH_TIMEOUT, "deadlock"},
    [VM_FAULT_LIMIT] = {CUDA_ERROR_OUT_OF_MEMORY, "limit reached"},
};

static unsigned known(VmFaultKind kind) {
    return (unsigned)kind < sizeof faults / sizeof *faults ? (unsigned)kind : VM_FAULT_TRAP;
}

CUresult gr_fault_code(VmFaultKind kind) { return faults[known(kind)].code; }

__attribute__((visibility("default"))) int gr_cpu_device_stop(uint64_t launch, const char *why) {
    for (int i = 0; i < gr_cu.n_devices; i++)
        if (gr_vm_stop(gr_cu.devices[i].vm, launch, why))
            return 0;
    return -1;
}

void gr_fault_report(Ctx *ctx, const Item *it, const VmFault *f) {
    (void)ctx;
    void (*hook)(const GrApiFault *) = (void (*)(const GrApiFault *))dlsym(RTLD_DEFAULT, "gr_api_fault");
    if (!hook) {
        if (f->kind == VM_FAULT_BREAKPOINT)
            fprintf(stderr, "CPU device: breakpoint in kernel %s at %s:%u: %s\n", f->kernel,
                    f->file ? f->file : "PTX line", f->file ? f->line : f->ptx_line, f->msg);
        return;
    }
    GrApiFault g = {
        .size = sizeof g,
        .code = (int)gr_fault_code(f->kind),
        .kind = f->shuffled && f->kind == VM_FAULT_TIMEOUT
                    ? "block-order dependence: it did not end, with blocks that start in another order"
                    : faults[known(f->kind)].text,
        .text = f->msg,
        .kernel = f->kernel,
        .function = f->function,
        .file = f->file,
        .line = f->line,
        .ptx_line = f->ptx_line,
        .thread = {f->thread[0], f->thread[1], f->thread[2]},
        .block = {f->block[0], f->block[1], f->block[2]},
        .address = f->address,
        .launch = it->kernel.params.launch,
    };
    hook(&g);
}
