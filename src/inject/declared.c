// SPDX-License-Identifier: Apache-2.0
#include "inject/declared.h"

#include "inject/memory.h"
#include "inject/recording.h"

#include <stdlib.h>
#include <string.h>

typedef struct DeclaredKernel {
    const char *name;
    GrParam *params;
    uint32_t n_params;
    size_t bytes;
} DeclaredKernel;

typedef struct Declared {
    DeclaredKernel *kernels;
    uint32_t n_kernels;
    const char **variables;
    uint32_t n_variables;
} Declared;

// ---- From the PTX -------------------------------------------------------------------------------------------

static size_t alignment(const PtxVar *v) {
    if (v->align)
        return v->align;
    size_t natural = (size_t)gr_ptx_type_bits(v->type) / 8 * (v->vec ? v->vec : 1);
    return natural ? natural : 1;
}

// Each parameter lies at its own alignment (PTX ISA, "Kernel Function Parameters").
static bool take_kernel(LoadedModule *m, const PtxFunc *f, DeclaredKernel *out) {
    out->name = gr_arena_strdup(&m->arena, f->name);
    out->params = GR_NEW_ARRAY(&m->arena, GrParam, (size_t)f->n_params + 1);
    if (!out->name || !out->params)
        return false;
    for (uint32_t i = 0; i < f->n_params; i++) {
        size_t align = alignment(f->params[i]);
        size_t at = (out->bytes + align - 1) / align * align;
        out->params[out->n_params++] = (GrParam){at, f->params[i]->size};
        out->bytes = at + f->params[i]->size;
    }
    return true;
}

static bool take_variable(LoadedModule *m, const PtxVar *v) {
    Declared *d = m->declared;
    if ((v->space != PTX_GLOBAL && v->space != PTX_CONST) || v->is_extern)
        return true;
    return (d->variables[d->n_variables++] = gr_arena_strdup(&m->arena, v->name)) != NULL;
}

gr_status gr_declared_take(LoadedModule *m, const PtxModule *ptx, gr_error *err) {
    const GrEngine *e = gr_session.engine;
    if (!e->around_launch && !e->allocated && !gr_recording_is_on())
        return GR_OK;
    Declared *d = m->declared = GR_NEW(&m->arena, Declared);
    bool ok = d != NULL;
    if (ok) {
        *d = (Declared){.kernels = GR_NEW_ARRAY(&m->arena, DeclaredKernel, (size_t)ptx->n_funcs + 1),
                        .variables = GR_NEW_ARRAY(&m->arena, const char *, (size_t)ptx->n_vars + 1)};
        ok = d->kernels && d->variables;
    }
    for (uint32_t i = 0; ok && i < ptx->n_funcs; i++)
        if (ptx->funcs[i]->is_entry && ptx->funcs[i]->has_body)
            ok = take_kernel(m, ptx->funcs[i], &d->kernels[d->n_kernels++]);
    for (uint32_t i = 0; ok && i < ptx->n_vars; i++)
        ok = take_variable(m, ptx->vars[i]);
    return ok ? GR_OK : gr_no_memory(err);
}

// ---- The layout of a kernel's parameters -----------------------------------------------------------------------

static bool from_ptx(const Kernel *k, GrParam **out, uint32_t *n, size_t *bytes) {
    const Declared *d = k && k->module ? k->module->declared : NULL;
    for (uint32_t i = 0; d && i < d->n_kernels; i++) {
        const DeclaredKernel *kernel = &d->kernels[i];
        if (strcmp(kernel->name, k->name))
            continue;
        *out = calloc((size_t)kernel->n_params + 1, sizeof **out);
        if (!*out)
            return false;
        memcpy(*out, kernel->params, kernel->n_params * sizeof **out);
        *n = kernel->n_params;
        *bytes = kernel->bytes;
        return true;
    }
    return false;
}

// Since CUDA 12.4. There is no count: the first index that is refused as a value ends the list.
static bool from_driver(CUfunction f, GrParam **out, uint32_t *n, size_t *bytes) {
    CUresult (*get)(CUfunction, size_t, size_t *, size_t *) =
        (CUresult(*)(CUfunction, size_t, size_t *, size_t *))gr_driver_function("cuFuncGetParamInfo");
    VEC(GrParam) params = {0};
    CUresult rc = CUDA_ERROR_NOT_FOUND;
    *bytes = 0;
    while (get) {
        GrParam p;
        rc = get(f, params.len, &p.offset, &p.size);
        if (rc != CUDA_SUCCESS)
            break;
        if (!gr_vec_push(&params, p)) {
            rc = CUDA_ERROR_OUT_OF_MEMORY;
            break;
        }
        *bytes = p.offset + p.size;
    }
    if (rc != CUDA_ERROR_INVALID_VALUE || !gr_vec_reserve(&params, params.len + 1)) {
        gr_vec_free(&params);
        return false;
    }
    *out = params.data;
    *n = (uint32_t)params.len;
    return true;
}

bool gr_declared_layout(const Kernel *k, CUfunction f, GrParam **out, uint32_t *n, size_t *bytes) {
    return from_ptx(k, out, n, bytes) || from_driver(f, out, n, bytes);
}

// ---- Variables ------------------------------------------------------------------------------------------------

void gr_declared_tell(LoadedModule *m, CUcontext ctx, GrGetGlobal get_global) {
    const Declared *d = m->declared;
    const void *owner = m->module ? (void *)m->module : (void *)m->library;
    for (uint32_t i = 0; gr_ranges_are_told() && d && i < d->n_variables; i++) {
        GrRange r = {.kind = GR_RANGE_GLOBAL, .context = ctx, .name = d->variables[i], .owner = owner};
        if (get_global(m, r.name, &r.at, &r.size) == CUDA_SUCCESS)
            gr_range_add(&r);
    }
}
