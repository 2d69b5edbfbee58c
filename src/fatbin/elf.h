// SPDX-License-Identifier: Apache-2.0
// elf — what a program on disk is to us: whether and how it uses CUDA, told before it runs.
//
// The program and the libraries it needs (DT_NEEDED, found as the dynamic linker would) are looked at. What a program
// dlopens while it runs cannot be seen: EXE_NO_CUDA means "shows no sign of CUDA", not that it uses none (Python).
#ifndef GR_FATBIN_ELF_H
#define GR_FATBIN_ELF_H

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

typedef enum ExeKind {
    EXE_NOT_EXECUTABLE, // neither ELF nor a script
    EXE_SCRIPT,         // starts with #!
    EXE_FOREIGN,        // an ELF file for another machine, or not a program (a core, an object file, a cubin)
    EXE_STATIC_LIBC,    // linked with -static: nothing can be preloaded into it
    EXE_NO_CUDA,
    EXE_SHARED_RUNTIME, // needs libcudart.so.N
    EXE_STATIC_RUNTIME, // NVIDIA's runtime is inside of it (nvcc's default)
    EXE_DRIVER_API,     // uses libcuda.so.1 and no runtime
} ExeKind;

typedef struct ExeInfo {
    ExeKind kind;
    bool has_device_code; // the program or a library that it needs holds a fatbin
    bool shared_object;   // a library (or a position-independent program)
    uint16_t machine;     // e_machine, for EXE_FOREIGN
    char runtime[64];     // the shared runtime's name as needed: "libcudart.so.13"
    char culprit[1024];   // the file that decided `kind`: the program, or a library that it needs
    char embeds[1024]; // the first file that holds a static runtime, whatever `kind` is; empty if none does
    char interpreter[256]; // of EXE_SCRIPT: the first word after #!
} ExeInfo;

// Looks at the file at `path` (a path, not a name to be searched on $PATH). GR_ERR_NOT_FOUND when it does not exist,
// GR_ERR_IO when it cannot be read or is not a file, GR_ERR_FORMAT when it is a truncated ELF file. Not `whole`: the
// first file with a runtime ends the walk, so has_device_code and embeds say nothing of files behind it. (To look
// through all of cuBLAS takes 0.1 s.)
gr_status gr_elf_classify(const char *path, bool whole, ExeInfo *out, gr_error *err);

// "shared CUDA runtime" and so on.
const char *gr_exe_kind_name(ExeKind k);

#endif
