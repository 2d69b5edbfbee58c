// SPDX-License-Identifier: Apache-2.0
// find — launches in host code, and what is known of each.
#ifndef GR_ENGINES_VERIFIER_HOST_FIND_H
#define GR_ENGINES_VERIFIER_HOST_FIND_H

#include "engines/verifier/host/eval.h"

// Adds the launches of a program to *out. A sticky e->oom is the only way to fail.
gr_status gr_find_launches(Ir *ir, GrTerms *t, unsigned classes, GrHost *out, gr_error *err);

// facts.c: what must hold when control is at the launch.
void gr_find_facts(Eval *e, LLVMValueRef call, GrHostLaunch *l);
// indirect.c: whether a call is a launch through a pointer to a kernel.
bool gr_find_is_indirect(const Eval *e, LLVMValueRef call);
// The next kernel's symbol behind `after` (NULL: the first) that such a call may mean; NULL: there is none. *stub: the
// kernel's stub if it gets what the call passes, argument by argument; else NULL.
LLVMValueRef gr_find_meant(const Eval *e, LLVMValueRef call, LLVMValueRef after, const char **kernel,
                           LLVMValueRef *stub);
// arguments.c: adds the parameters of a stub's call.
void gr_find_stub_arguments(Eval *e, LLVMValueRef call, LLVMValueRef stub, GrHostLaunch *l);
// Adds the parameters to which an array of pointers points.
void gr_find_array_arguments(Eval *e, LLVMValueRef call, LLVMValueRef array, GrHostLaunch *l);
// choices.c: what each of these pointers may be, all of them at once: then it is known which go together.
void gr_find_choices(Eval *e, LLVMValueRef call, const Open *open, size_t n, GrHostLaunch *l);

// zero.c: arguments whose memory is all 0 when the launch begins; whether the module's variables are as they began.
void gr_find_zero(Eval *e, LLVMValueRef launch, const Open *of, size_t n, GrHostLaunch *l);

const char *gr_find_keep(Eval *e, const char *text); // a copy that lives as long as *out

#endif
