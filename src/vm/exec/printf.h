// SPDX-License-Identifier: Apache-2.0
// printf — device-side formatted output. Internal.
#ifndef GR_VM_EXEC_PRINTF_H
#define GR_VM_EXEC_PRINTF_H

#include "base/str.h"
#include "vm/core/insn.h"

// Formats for lane `lane`. `args`: the generic address of nvcc's argument buffer for vprintf, each argument at its
// natural alignment. Yields how many arguments were printed, at most 32. *cost: bytes of CUDA's output buffer. *bad:
// the address of a string that does not lie in memory with its end; 0: none.
int gr_vm_format(VmWarp *w, unsigned lane, const char *format, uint64_t args, StrBuf *out, uint64_t *cost,
                 uint64_t *bad);

#endif
