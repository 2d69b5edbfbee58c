// SPDX-License-Identifier: Apache-2.0
// printf — device-side formatted output. Internal.
#ifndef GR_VM_PRINTF_H
#define GR_VM_PRINTF_H

#include "base/str.h"
#include "vm/insn.h"

// Formats for lane `lane`; `args` is the generic address of the argument buffer that nvcc makes for vprintf:
// each argument at its natural alignment. Yields the number of arguments, -1 when something is not printable.
int gr_vm_format(VmWarp *w, unsigned lane, const char *format, uint64_t args, StrBuf *out);

#endif
