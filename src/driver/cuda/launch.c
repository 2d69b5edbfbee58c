// SPDX-License-Identifier: Apache-2.0
// launch — kernel launches: checked and packed at the call, with CUDA's error codes; run by the work engine.
#include "driver/cuda/capture.h"
#include "driver/cuda/driver.h"
#include "driver/cuda/module.h"
#include "driver/cuda/queue.h"
#include "driver/cuda/stream.h"

enum { MAX_EVENTS = 2 }; // that one launch records: programmatic and launch completion

typedef struct Shape {
    uint32_t grid[3], block[3], cluster[3], shared;
    bool cooperative, early;
    CUevent event[MAX_EVENTS]; // NULL: none
} Shape;

static uint64_t volume(const uint32_t d[3]) { return (uint64_t)d[0] * d[1] * d[2]; }

// The errors are those that a device of compute capability 9.0 with driver and runtime 13 gives.
CUresult gr_launch_cluster(const Func *f, const uint32_t grid[3], uint32_t cluster[3]) {
    const uint32_t *fixed = f->cluster;
    bool asked = cluster[0] || cluster[1] || cluster[2], required = fixed[0] || fixed[1] || fixed[2];
    if (asked && required && memcmp(cluster, fixed, 3 * sizeof *fixed))
        return CUDA_ERROR_INVALID_CLUSTER_SIZE;
    if (required)
        memcpy(cluster, fixed, 3 * sizeof *fixed);
    else if (!asked)
        return gr_vm_func_attrs(f->vm)->explicit_cluster ? CUDA_ERROR_INVALID_CLUSTER_SIZE : CUDA_SUCCESS;
    for (int i = 0; i < 3; i++)
        if (!cluster[i] || grid[i] % cluster[i])
            return CUDA_ERROR_INVALID_CLUSTER_SIZE;
    return CUDA_SUCCESS;
}

uint32_t gr_launch_max_cluster(const Func *f) {
    uint32_t most = f->non_portable_cluster ? 16 : 8, own = gr_vm_func_attrs(f->vm)->max_cluster;
    return own && own < most ? own : most;
}

static CUresult check(const Func *f, Shape *s) {
    const Dev *dev = f->module->ctx->dev;
    const VmProps *p = dev->props;
    const VmFuncAttrs *a = gr_vm_func_attrs(f->vm);
    for (int i = 0; i < 3; i++) {
        if (s->grid[i] == 0 || s->grid[i] > p->max_grid[i] || s->block[i] == 0 ||
            s->block[i] > p->max_block[i])
            return CUDA_ERROR_INVALID_VALUE;
        if (a->reqntid[0] && s->block[i] != (a->reqntid[i] ? a->reqntid[i] : 1))
            return CUDA_ERROR_INVALID_VALUE;
    }
    uint64_t threads = volume(s->block);
    if (threads > p->max_threads_per_block || s->shared > f->max_dynamic_shared)
        return CUDA_ERROR_INVALID_VALUE;
    if (threads > a->max_threads)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult r = gr_launch_cluster(f, s->grid, s->cluster);
    if (r != CUDA_SUCCESS)
        return r;
    uint64_t resident = (uint64_t)gr_vm_occupancy(dev->vm, f->vm, (uint32_t)threads, s->shared) * p->sm_count;
    if (resident == 0)
        return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
    uint64_t blocks = s->cluster[0] ? volume(s->cluster) : 1;
    if (s->cluster[0] && (blocks > gr_launch_max_cluster(f) || blocks > resident))
        return CUDA_ERROR_INVALID_CLUSTER_SIZE;
    if (s->cooperative && volume(s->grid) > resident / blocks * blocks) // whole clusters are resident
        return CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
    return CUDA_SUCCESS;
}

// The parameter buffer, from an array of pointers or from the caller's own buffer.
static CUresult pack_params(const Func *f, void **params, void **extra, void **out) {
    const VmParam *layout;
    uint32_t total;
    size_t n = gr_vm_func_params(f->vm, &layout, &total), given = 0;
    const void *buffer = NULL;
    if (params && extra)
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; extra && extra[i] != CU_LAUNCH_PARAM_END; i += 2) {
        if (extra[i] == CU_LAUNCH_PARAM_BUFFER_POINTER)
            buffer = extra[i + 1];
        else if (extra[i] == CU_LAUNCH_PARAM_BUFFER_SIZE && extra[i + 1])
            given = *(const size_t *)extra[i + 1];
        else
            return CUDA_ERROR_INVALID_VALUE;
    }
    size_t used = n ? layout[n - 1].offset + layout[n - 1].size : 0; // without the padding at the end
    if (n && !params && (!buffer || given < used))
        return CUDA_ERROR_INVALID_VALUE;
    char *packed = calloc(1, total ? total : 1);
    if (!packed)
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (buffer && !params)
        memcpy(packed, buffer, used);
    for (size_t i = 0; params && i < n; i++) {
        if (!params[i]) {
            free(packed);
            return CUDA_ERROR_INVALID_VALUE;
        }
        memcpy(packed + layout[i].offset, params[i], layout[i].size);
    }
    *out = packed;
    return CUDA_SUCCESS;
}

static CUresult make_item(Ctx *ctx, CUfunction handle, const Shape *wanted, void **params, void **extra,
                          Item **out) {
    Func *f = NULL;
    Shape shape = *wanted;
    void *packed;
    CUresult r = gr_func_get(ctx, handle, &f);
    if (r == CUDA_SUCCESS && f->module->ctx != ctx)
        r = CUDA_ERROR_INVALID_HANDLE;
    if (r == CUDA_SUCCESS)
        r = check(f, &shape);
    if (r == CUDA_SUCCESS)
        r = pack_params(f, params, extra, &packed);
    if (r != CUDA_SUCCESS)
        return r;
    Item *it = gr_item_new(ITEM_KERNEL);
    if (!it) {
        free(packed);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    it->owned = packed;
    it->kernel.func = f;
    it->kernel.handle = handle;
    it->kernel.early = shape.early;
    it->kernel.params = (VmLaunchParams){
        .func = f->vm,
        .shared_dynamic = shape.shared,
        .params = packed,
        .cooperative = shape.cooperative,
    };
    memcpy(it->kernel.params.grid, shape.grid, sizeof shape.grid);
    memcpy(it->kernel.params.block, shape.block, sizeof shape.block);
    memcpy(it->kernel.params.cluster, shape.cluster, sizeof shape.cluster);
    *out = it;
    return CUDA_SUCCESS;
}

static CUresult launch(CUfunction handle, Shape shape, CUstream stream, void **params, void **extra) {
    Ctx *ctx = NULL;
    Stream *s = NULL;
    Item *it = NULL;
    API_ENTER(API_CONTEXT, &ctx);
    CUresult r = gr_stream_get(ctx, stream, &s);
    Event *events[MAX_EVENTS] = {NULL};
    for (unsigned k = 0; r == CUDA_SUCCESS && k < MAX_EVENTS; k++)
        if (shape.event[k]) {
            events[k] = gr_event(shape.event[k]);
            if (!events[k] || events[k]->ctx.ctx->dev != s->ctx->dev)
                r = CUDA_ERROR_INVALID_HANDLE;
        }
    if (r == CUDA_SUCCESS)
        r = make_item(s->ctx, handle, &shape, params, extra, &it);
    if (r == CUDA_SUCCESS)
        r = gr_submit(s, it);
    for (unsigned k = 0; r == CUDA_SUCCESS && k < MAX_EVENTS; k++)
        if (events[k])
            r = gr_event_record(events[k], s);
    return gr_cu_leave(r);
}

CUresult cuLaunchKernel(CUfunction f, unsigned int gx, unsigned int gy, unsigned int gz, unsigned int bx,
                        unsigned int by, unsigned int bz, unsigned int shared, CUstream s, void **params,
                        void **extra) {
    return launch(f, (Shape){{gx, gy, gz}, {bx, by, bz}, {0}, shared, false, false, {NULL}}, s, params,
                  extra);
}

CUresult cuLaunchCooperativeKernel(CUfunction f, unsigned int gx, unsigned int gy, unsigned int gz,
                                   unsigned int bx, unsigned int by, unsigned int bz, unsigned int shared,
                                   CUstream s, void **params) {
    return launch(f, (Shape){{gx, gy, gz}, {bx, by, bz}, {0}, shared, true, false, {NULL}}, s, params, NULL);
}

static CUresult read_config(const CUlaunchConfig *c, Shape *out) {
    if (!c || (c->numAttrs && !c->attrs))
        return CUDA_ERROR_INVALID_VALUE;
    Shape s = {.grid = {c->gridDimX, c->gridDimY, c->gridDimZ},
               .block = {c->blockDimX, c->blockDimY, c->blockDimZ},
               .shared = c->sharedMemBytes};
    uint32_t preferred[3] = {0};
    for (unsigned i = 0; i < c->numAttrs; i++) {
        const CUlaunchAttributeValue *v = &c->attrs[i].value;
        switch (c->attrs[i].id) {
        case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
            memcpy(s.cluster, &v->clusterDim, sizeof s.cluster);
            break;
        case CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION:
            memcpy(preferred, &v->preferredClusterDim, sizeof preferred);
            break;
        case CU_LAUNCH_ATTRIBUTE_COOPERATIVE: s.cooperative = v->cooperative != 0; break;
        case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
            if ((unsigned)v->clusterSchedulingPolicyPreference > CU_CLUSTER_SCHEDULING_POLICY_LOAD_BALANCING)
                return CUDA_ERROR_INVALID_VALUE;
            break;
        // The event is recorded when the launch has ended: later than its blocks have begun or have triggered it.
        case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT:
            if (!(s.event[0] = v->programmaticEvent.event))
                return CUDA_ERROR_INVALID_HANDLE;
            break;
        case CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT:
            if (!(s.event[1] = v->launchCompletionEvent.event))
                return CUDA_ERROR_INVALID_HANDLE;
            break;
        case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
            s.early = v->programmaticStreamSerializationAllowed != 0;
            break;
        // Hints, and permissions to start before the stream's work has ended, which need not be used.
        case CU_LAUNCH_ATTRIBUTE_IGNORE:
        case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
        case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
        case CU_LAUNCH_ATTRIBUTE_PRIORITY:
        case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
        case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
        case CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        case CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING: break;
        case CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE:
            gr_cu_hook_absent("graph nodes as launch attributes");
            return CUDA_ERROR_NOT_SUPPORTED;
        default: return CUDA_ERROR_INVALID_VALUE;
        }
    }
    // The preferred clusters are larger ones made of those asked for; they need not be used.
    for (int i = 0; i < 3 && volume(preferred); i++)
        if (!s.cluster[i] || preferred[i] % s.cluster[i])
            return CUDA_ERROR_INVALID_CLUSTER_SIZE;
    *out = s;
    return CUDA_SUCCESS;
}

CUresult cuLaunchKernelEx(const CUlaunchConfig *c, CUfunction f, void **params, void **extra) {
    Shape s;
    CUresult r = read_config(c, &s);
    return r == CUDA_SUCCESS ? launch(f, s, c->hStream, params, extra) : r;
}

CUresult gr_launch_item(Ctx *ctx, const CUlaunchConfig *config, CUfunction f, void **params, void **extra,
                        Item **out) {
    Shape s;
    CUresult r = read_config(config, &s);
    return r == CUDA_SUCCESS ? make_item(ctx, f, &s, params, extra, out) : r;
}
