// SPDX-License-Identifier: Apache-2.0
// machine — machine code whose PTX is known.
//
// A just-in-time compiler hands machine code to the driver, and the PTX that it was made of is gone by then. This table
// knows, by its bytes, machine code that was made in this process under our eyes (compilers.c, the driver's linker).
// What gpurace-ptxas made has its PTX in it (fatbin/cubin.h). When the program loads such code, gpurace checks the PTX
// and gives it to the driver.
//
// Any thread may call, with or without the session and its lock. What is noted stays as long as the process.
#ifndef GR_INJECT_MACHINE_H
#define GR_INJECT_MACHINE_H

#include "base/vec.h"
#include "fatbin/fatbin.h"

struct LoadedModule;

// What one piece of machine code was made of: fatbin containers with PTX, each in memory of its own.
typedef VEC(void *) MachineUnits;

// Appends a container with this PTX. `name` may be NULL. False: the text is no PTX, or memory is out.
bool gr_machine_unit(MachineUnits *units, const char *text, size_t len, const char *name);
// Appends copies of what the machine code at `image` was made of, if known, or of the container there, if it has PTX.
bool gr_machine_units_of(MachineUnits *units, const void *image, size_t len);
void gr_machine_units_free(MachineUnits *units);

// `len` bytes of machine code were made of these units, which now belong to the table.
void gr_machine_made(const void *code, size_t len, MachineUnits *units);
// These `len` bytes of code (machine code, or what the CPU device has for it) were made of rewritten modules.
void gr_machine_linked(const void *code, size_t len, struct LoadedModule *list);

// A wrapper of the units of the code at `image` (`len` bytes, or GR_FATBIN_UNBOUNDED), which stays. NULL: not known.
const FatbinWrapper *gr_machine_wrapper(const void *image, size_t len);
// A container without PTX may hold machine code for a device of compute capability `cc` whose PTX is known: the PTX
// entry for it, in `arena` or elsewhere. NULL: none.
const FatbinEntry *gr_machine_ptx(const Fatbin *fb, uint32_t cc, Arena *arena);
struct LoadedModule *gr_machine_modules(const void *image, size_t len);

#endif
