// SPDX-License-Identifier: Apache-2.0
// host_pc — names an instruction of the host's program in a results file: a file and a place, for the report.
#ifndef GR_ENGINES_CORE_HOST_PC_H
#define GR_ENGINES_CORE_HOST_PC_H

#include "base/str.h"

#include <stdint.h>

typedef struct GrHostPc {
    const char *object; // the file that holds it; NULL: nothing is known. It lives as long as it is loaded
    uint64_t at;        // its address there
} GrHostPc;

// *symbol: "FUNCTION+0xOFFSET" if the dynamic linker knows the function, else "FILE+0xOFFSET". Any thread; it
// takes the dynamic linker's lock.
GrHostPc gr_host_pc(uint64_t pc, StrBuf *symbol);

#endif
