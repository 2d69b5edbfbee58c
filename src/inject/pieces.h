// SPDX-License-Identifier: Apache-2.0
// pieces — what one kernel needs of a module's text, so that it can be a module by itself.
//
// A driver compiles all kernels of a module before the first one runs. Rewritten code takes long to compile, and of a
// library of templates a program launches a few kernels. So a kernel's part is cut out when it is launched.
//
// That must make no difference: kernels would no longer share variables of the module. So no kernel of such a module
// refers to a variable in global or constant memory, except the compiler's own string literals. No code of it is linked
// with other code, and no kernel of it is launched by another kernel.
#ifndef GR_INJECT_PIECES_H
#define GR_INJECT_PIECES_H

#include "ptx/ptx.h"

typedef struct Pieces Pieces;

// Cuts a parsed module, before any insertion. NULL: it cannot be cut (*why), or memory is out. Lives in `arena`.
Pieces *gr_pieces_find(const PtxModule *m, Arena *arena, const char **why);

// Called when all inserted code is printed, `len` bytes by one gr_ptx_print_later without `take`. False: memory is out.
bool gr_pieces_printed(Pieces *p, const PtxModule *m, size_t len, Arena *arena);

// The part of `text`, which was printed, that the kernel needs. GR_ERR_NOT_FOUND: there is no such kernel.
gr_status gr_pieces_cut(const Pieces *p, const char *text, const char *kernel, StrBuf *out, gr_error *err);

#endif
