// SPDX-License-Identifier: Apache-2.0
// changing — which memory a kernel reads from and may write to by another name, under one launch.
//
// A model takes a load of memory that the kernel does not write for a function of the address (READ): the same for all threads, at all times. Whether two
// pointers are of one memory only the launch says. Where they may be, the load may give anything, so the kernel is modelled once more for that launch
// (gr_kernel_model_changing).
#ifndef GR_VERIFIER_CHANGING_H
#define GR_VERIFIER_CHANGING_H

#include "engines/verifier/decide/bound.h"

typedef VEC(const GrObject *) GrObjects;

// What of the memory that the model's terms read may be written by the kernel, too. Adds copies, which are the arena's, to *out.
gr_status gr_changing(GrBound *b, Arena *arena, GrObjects *out, gr_error *err);
// An object that is written and may be the same memory; NULL: none.
const GrObject *gr_writer_of(GrBound *b, const GrObject *o);

#endif
