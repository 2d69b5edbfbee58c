// SPDX-License-Identifier: Apache-2.0
// linked — modules that make one program: what a name of one of them stands for, as a device linker finds it.
//
// A visible definition (.visible, .weak, .common) is what its name means in each module that declares it .extern. A
// strong definition wins over weak ones, and the first weak one over later ones. Weak functions are equal in all
// modules, so each module has its own; weak variables are one variable. Other names mean what their module has.
#ifndef GR_ENGINES_VERIFIER_KERNEL_LINKED_H
#define GR_ENGINES_VERIFIER_KERNEL_LINKED_H

#include "base/status.h"
#include "base/vec.h"
#include "ptx/ptx.h"

// A name that several modules may use.
typedef struct GrLinkedName {
    const char *name;
    const PtxFunc *func; // one of the two: the definition; of a name that none defines, a declaration
    const PtxVar *var;
    const PtxModule *module; // where it is
    bool defined;
    const PtxModule *other; // has a strong definition, too: these modules do not link; NULL: none
} GrLinkedName;

typedef struct GrLinked {
    Arena arena;
    const PtxModule **modules; // in the order of the program
    size_t n;
    VEC(GrLinkedName *) names; // in the order of the modules
    Map by_name;               // to GrLinkedName
    Map of;     // PtxFunc * and PtxVar * of a module, where its own is not what counts: to GrLinkedName
    bool whole; // one file that was compiled without -rdc=true: nothing else is linked with it
} GrLinked;

// Links n modules, which must outlive *l. The caller frees *l in every case. GR_ERR_NOMEM only: a name that two modules
// define, or none, is no failure. GrLinkedName tells of it.
gr_status gr_linked_init(GrLinked *l, const PtxModule *const *modules, size_t n, gr_error *err);
void gr_linked_free(GrLinked *l);

// What a function or variable of one of the modules stands for; NULL: itself. `l` may be NULL.
const GrLinkedName *gr_linked_func(const GrLinked *l, const PtxFunc *f);
const GrLinkedName *gr_linked_var(const GrLinked *l, const PtxVar *v);
// A variable that others can see; NULL: there is none.
const PtxVar *gr_linked_find_var(const GrLinked *l, const char *name);
// Whether several variables have a name: files may have variables of their own.
bool gr_linked_is_shared_name(const GrLinked *l, const char *name);

// Why the name is not looked at: two modules define it strongly (n->other), or none does. In `a`; NULL: no memory.
const char *gr_linked_twice(const GrLinkedName *n, Arena *a);
const char *gr_linked_missing(const GrLinked *l, const PtxFunc *f, Arena *a);
// A function of the device's own system, which no file defines.
bool gr_linked_is_of_system(const char *name);
// A function or variable that one of these n modules refers to and none defines; NULL: none, so they link.
const char *gr_linked_undefined(const GrLinked *l, const PtxModule *const *modules, size_t n);

// Modules that module `of` needs, with itself: those that define its names, and the names of these. In the order of the
// program. out: at least l->n; returns how many.
size_t gr_linked_needs(const GrLinked *l, const PtxModule *of, const PtxModule **out);

#endif
