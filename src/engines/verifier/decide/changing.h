// SPDX-License-Identifier: Apache-2.0
// changing — which memory a kernel reads from and may write to by another name, under one launch.
//
// A model takes a load of memory that the kernel does not write for a function of the address (READ): equal for all
// threads, at all times. Only the launch says whether two pointers are of one memory. If they may be, the load may give
// anything, so the kernel is modelled once more for that launch (gr_kernel_model_changing).
#ifndef GR_ENGINES_VERIFIER_DECIDE_CHANGING_H
#define GR_ENGINES_VERIFIER_DECIDE_CHANGING_H

#include "engines/verifier/decide/bound.h"

typedef VEC(const GrObject *) GrObjects;

// The object of the model whose bytes a READ of the symbol gives; NULL: none, as a loop's value by rounds is no memory.
const GrObject *gr_object_read(const GrKernelModel *m, const GrSymbol *s);
// An object that is written and may be the same memory; NULL: none.
const GrObject *gr_writer_of(GrBound *b, const GrObject *o);

// A kernel, and the last model of it in which some memory changes: launches often have the same pointers in one memory.
typedef struct GrModels {
    const GrKernelModel *plain;
    const GrLinked *linked;
    Arena *arena;        // for `changing`
    GrKernelModel other; // nothing where `changing` is empty
    GrObjects changing;
    size_t asked; // how many of these the plain model reads; the others came with them
} GrModels;

// If memory that the plain model *b reads changes under a launch, gives *b another model. `b` uses that until it is
// freed: one bound at a time. GR_ERR_LIMIT: that model is too large, and nothing may be asked of *b.
gr_status gr_models_bind(GrModels *m, GrBound *b, gr_error *err);
void gr_models_free(GrModels *m); // not `plain`

#endif
