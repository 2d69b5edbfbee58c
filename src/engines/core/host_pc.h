// SPDX-License-Identifier: Apache-2.0
// host_pc — an instruction of the program on the host, as a results file names it: a file and a place in it, from which the report finds the line.
#ifndef GR_ENGINES_CORE_HOST_PC_H
#define GR_ENGINES_CORE_HOST_PC_H

#include "base/str.h"

#include <stdint.h>

typedef struct GrHostPc {
    const char *object; // the file that holds it; NULL: nothing is known. It lives until the next call
    uint64_t at;        // its address there
} GrHostPc;

// `symbol` gets "FUNCTION+0xOFFSET", as far as the dynamic linker knows the function, else "FILE+0xOFFSET". With the session's lock held.
GrHostPc gr_host_pc(uint64_t pc, StrBuf *symbol);

#endif
