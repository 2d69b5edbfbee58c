// SPDX-License-Identifier: Apache-2.0
// printf — device-side formatted output. Internal.
#ifndef GR_VM_EXEC_PRINTF_H
#define GR_VM_EXEC_PRINTF_H

#include "base/str.h"
#include "vm/core/insn.h"

// Formats for lane `lane`; `args` is the generic address of the argument buffer that nvcc makes for vprintf:
// each argument at its natural alignment. Yields the number of arguments that were printed, at most 32. *cost: bytes that the call
// takes of CUDA's output buffer. *bad: the address of a string that does not lie in memory with its end, 0 when there is none.
int gr_vm_format(VmWarp *w, unsigned lane, const char *format, uint64_t args, StrBuf *out, uint64_t *cost,
                 uint64_t *bad);

#endif
