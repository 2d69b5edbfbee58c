// SPDX-License-Identifier: Apache-2.0
// cubin — machine code (an ELF file), and the PTX that is kept in it.
//
// The tool that assembles PTX knows what the machine code was made of; the program that loads the machine code does
// not. So gpurace-ptxas keeps the PTX in a section of the cubin that no device loads:
//
//   .gpurace.ptx    a fatbin container with one PTX entry, its size a multiple of 8; then the next one
//
// There is one container in what ptxas writes. nvlink puts the sections of its inputs one after another, so what it
// links has the PTX of all of them. Nothing in a cubin is trusted: sizes are checked against the space that is there.
// Where only a pointer is known, the ELF header and the section headers are the bound, as for a driver.
#ifndef GR_FATBIN_CUBIN_H
#define GR_FATBIN_CUBIN_H

#include "base/status.h"
#include "fatbin/fatbin.h"

// The size of the cubin at `image`, of `len` readable bytes (or GR_FATBIN_UNBOUNDED). 0: it is none, or is cut short.
size_t gr_cubin_size(const void *image, size_t len);

// The containers with the PTX that is kept in a cubin of `len` bytes (gr_cubin_size), one after another, in the memory
// of the cubin. NULL: none is kept.
const void *gr_cubin_kept(const void *image, size_t len, size_t *size);

// The next of containers that lie one after another in *left bytes at *at, parsed into `arena`; both move behind it.
// NULL: there are no more, or what is there is no container.
Fatbin *gr_cubin_next_kept(const void **at, size_t *left, Arena *arena);

// Whether an entry of a fatbin is machine code with kept PTX.
bool gr_cubin_entry_keeps(const FatbinEntry *e);

// A copy of the cubin that keeps `size` bytes of containers as well, in memory that the caller frees. GR_ERR_FORMAT
// when it is not a cubin whose section headers can be read; GR_ERR_ARGUMENT when it keeps some already.
gr_status gr_cubin_keep(const void *image, size_t len, const void *containers, size_t size, void **out,
                        size_t *out_len, gr_error *err);

#endif
