// SPDX-License-Identifier: Apache-2.0
// shelf — bodies of functions that are put away while nobody looks at them (gr_ptx_parse_shelved).
#ifndef GR_PTX_SHELF_H
#define GR_PTX_SHELF_H

#include "ptx/ptx.h"

// For the parser: puts the body of `f`, which took `room` bytes, away into the module's arena; `work` is scratch space.
// The caller frees what the body was. Not for functions that have parameters in registers.
gr_status gr_ptx_shelve(PtxFunc *f, size_t room, StrBuf *work, gr_error *err);
// For gr_ptx_free.
void gr_ptx_shelf_free(PtxFunc *f);

#endif
