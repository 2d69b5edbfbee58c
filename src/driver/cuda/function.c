// SPDX-License-Identifier: Apache-2.0
// function — kernels of modules, their attributes, and occupancy.
#include "driver/cuda/driver.h"
#include "driver/cuda/module.h"

CUresult gr_func_get(Ctx *ctx, CUfunction handle, Func **out) {
    *out = gr_cu_handle(handle, HANDLE_FUNC);
    if (*out)
        return CUDA_SUCCESS;
    Kernel *k = gr_cu_handle(handle, HANDLE_KERNEL);
    if (!k)
        return CUDA_ERROR_INVALID_HANDLE;
    Module *m = NULL;
    CUresult r = gr_library_module(k->library, ctx, &m);
    return r == CUDA_SUCCESS ? gr_module_func(m, k->name, out) : r;
}

CUresult gr_func_attribute(Func *f, CUfunction_attribute attribute, int *value) {
    const VmFuncAttrs *a = gr_vm_func_attrs(f->vm);
    switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: *value = (int)a->max_threads; break;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: *value = (int)a->shared_static; break;
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES: *value = (int)a->const_bytes; break;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: *value = (int)a->local_bytes; break;
    case CU_FUNC_ATTRIBUTE_NUM_REGS: *value = (int)a->regs; break;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION: *value = (int)a->ptx_version; break;
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION: *value = (int)a->binary_version; break;
    case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA: *value = 0; break;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: *value = (int)f->max_dynamic_shared; break;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT: *value = f->carveout; break;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET: *value = a->cluster[0] || a->explicit_cluster; break;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH: *value = (int)f->cluster[0]; break;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT: *value = (int)f->cluster[1]; break;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH: *value = (int)f->cluster[2]; break;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED: *value = f->non_portable_cluster; break;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE: *value = f->cluster_policy; break;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

CUresult gr_func_set_attribute(Func *f, CUfunction_attribute attribute, int value) {
    const VmFuncAttrs *a = gr_vm_func_attrs(f->vm);
    const VmProps *p = f->module->ctx->dev->props;
    switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        if (value < 0 || (uint64_t)value + a->shared_static > p->shared_per_block_optin)
            return CUDA_ERROR_INVALID_VALUE;
        f->max_dynamic_shared = (uint32_t)value;
        break;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        if (value < -1 || value > 100)
            return CUDA_ERROR_INVALID_VALUE;
        f->carveout = value;
        break;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
        if (value < 0 || a->cluster[0]) // fixed at compile time
            return CUDA_ERROR_INVALID_VALUE;
        f->cluster[attribute - CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH] = (uint32_t)value;
        break;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED: f->non_portable_cluster = value != 0; break;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE: f->cluster_policy = value; break;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

CUresult gr_func_param_info(const Func *f, size_t index, size_t *offset, size_t *size) {
    const VmParam *params;
    uint32_t total;
    if (!offset || index >= gr_vm_func_params(f->vm, &params, &total))
        return CUDA_ERROR_INVALID_VALUE;
    *offset = params[index].offset;
    if (size)
        *size = params[index].size;
    return CUDA_SUCCESS;
}

// Enters, and resolves the function; `out` must not be NULL.
#define FUNC_ENTER(handle, out, f)                                                                           \
    do {                                                                                                     \
        Ctx *ctx_;                                                                                           \
        API_ENTER(API_CONTEXT, &ctx_);                                                                       \
        CUresult func_ = (out) ? gr_func_get(ctx_, (handle), (f)) : CUDA_ERROR_INVALID_VALUE;                \
        if (func_ != CUDA_SUCCESS)                                                                           \
            return gr_cu_leave(func_);                                                                       \
    } while (0)

CUresult cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction handle) {
    Func *f = NULL;
    FUNC_ENTER(handle, value, &f);
    return gr_cu_leave(gr_func_attribute(f, attribute, value));
}

CUresult cuFuncSetAttribute(CUfunction handle, CUfunction_attribute attribute, int value) {
    Func *f = NULL;
    FUNC_ENTER(handle, true, &f);
    return gr_cu_leave(gr_func_set_attribute(f, attribute, value));
}

CUresult cuFuncSetCacheConfig(CUfunction handle, CUfunc_cache config) {
    Func *f = NULL;
    FUNC_ENTER(handle, true, &f);
    f->cache = config;
    return gr_cu_leave(CUDA_SUCCESS);
}

CUresult cuFuncSetSharedMemConfig(CUfunction handle, CUsharedconfig config) {
    Func *f = NULL;
    (void)config; // the size of banks is fixed since compute capability 5.0
    FUNC_ENTER(handle, true, &f);
    return gr_cu_leave(CUDA_SUCCESS);
}

CUresult cuFuncGetModule(CUmodule *out, CUfunction handle) {
    Func *f = NULL;
    FUNC_ENTER(handle, out, &f);
    *out = (CUmodule)f->module;
    return gr_cu_leave(CUDA_SUCCESS);
}

CUresult cuFuncGetName(const char **name, CUfunction handle) {
    Func *f = NULL;
    FUNC_ENTER(handle, name, &f);
    *name = gr_vm_func_name(f->vm);
    return gr_cu_leave(CUDA_SUCCESS);
}

CUresult cuFuncGetParamInfo(CUfunction handle, size_t index, size_t *offset, size_t *size) {
    Func *f = NULL;
    FUNC_ENTER(handle, offset, &f);
    return gr_cu_leave(gr_func_param_info(f, index, offset, size));
}

CUresult cuFuncIsLoaded(CUfunctionLoadingState *state, CUfunction handle) {
    Func *f = NULL;
    FUNC_ENTER(handle, state, &f);
    *state = CU_FUNCTION_LOADING_STATE_LOADED;
    return gr_cu_leave(CUDA_SUCCESS);
}

CUresult cuFuncLoad(CUfunction handle) {
    Func *f = NULL;
    FUNC_ENTER(handle, true, &f);
    return gr_cu_leave(CUDA_SUCCESS);
}

// ---- Occupancy ---------------------------------------------------------------------------------------------

static uint32_t blocks_per_sm(const Func *f, int threads, size_t shared) {
    if (shared > f->max_dynamic_shared)
        return 0;
    return gr_vm_occupancy(f->module->ctx->dev->vm, f->vm, (uint32_t)threads, shared);
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, CUfunction handle, int threads,
                                                              size_t shared, unsigned int flags) {
    Func *f = NULL;
    FUNC_ENTER(handle, blocks, &f);
    if (threads <= 0 || (flags & ~(unsigned)CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE))
        return gr_cu_leave(CUDA_ERROR_INVALID_VALUE);
    *blocks = (int)blocks_per_sm(f, threads, shared);
    return gr_cu_leave(CUDA_SUCCESS);
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction handle, int threads,
                                                     size_t shared) {
    return cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, handle, threads, shared, 0);
}

CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int *min_grid, int *block, CUfunction handle,
                                                   CUoccupancyB2DSize shared_of, size_t shared, int limit,
                                                   unsigned int flags) {
    Func *f = NULL;
    FUNC_ENTER(handle, min_grid && block, &f);
    if (flags & ~(unsigned)CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE)
        return gr_cu_leave(CUDA_ERROR_INVALID_VALUE);
    const VmProps *p = f->module->ctx->dev->props;
    int max = (int)gr_vm_func_attrs(f->vm)->max_threads;
    if (limit > 0 && limit < max)
        max = limit;
    uint32_t best = 0;
    *block = *min_grid = 0;
    int warp = (int)p->warp_size;
    for (int threads = (max + warp - 1) / warp * warp; threads > 0; threads -= warp) {
        int size = threads < max ? threads : max;
        uint32_t blocks = blocks_per_sm(f, size, shared_of ? shared_of(size) : shared);
        if (blocks * (uint32_t)size > best) { // the largest block of those that fill the device best
            best = blocks * (uint32_t)size;
            *block = size;
            *min_grid = (int)(blocks * p->sm_count);
        }
    }
    return gr_cu_leave(best ? CUDA_SUCCESS : CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
}

CUresult cuOccupancyMaxPotentialBlockSize(int *min_grid, int *block, CUfunction handle,
                                          CUoccupancyB2DSize shared_of, size_t shared, int limit) {
    return cuOccupancyMaxPotentialBlockSizeWithFlags(min_grid, block, handle, shared_of, shared, limit, 0);
}

CUresult cuOccupancyAvailableDynamicSMemPerBlock(size_t *shared, CUfunction handle, int blocks, int threads) {
    Func *f = NULL;
    FUNC_ENTER(handle, shared, &f);
    if (blocks <= 0 || threads <= 0)
        return gr_cu_leave(CUDA_ERROR_INVALID_VALUE);
    const VmProps *p = f->module->ctx->dev->props;
    uint64_t used = gr_vm_func_attrs(f->vm)->shared_static + p->shared_reserved;
    uint64_t each = p->shared_per_sm / (unsigned)blocks;
    uint64_t room = (each > used ? each - used : 0) & ~(uint64_t)127;
    if (blocks_per_sm(f, threads, 0) < (unsigned)blocks)
        return gr_cu_leave(CUDA_ERROR_INVALID_VALUE);
    *shared = room < f->max_dynamic_shared ? room : f->max_dynamic_shared;
    return gr_cu_leave(CUDA_SUCCESS);
}

// Sets how many blocks of such a launch are resident at once, and in clusters of how many (0: no clusters). Clusters
// may be anywhere, as the device has no groups of multiprocessors that bound them.
static CUresult cluster_room(const Func *f, const CUlaunchConfig *config, uint64_t *resident,
                             uint64_t *blocks) {
    const VmProps *p = f->module->ctx->dev->props;
    uint32_t cluster[3] = {0}, grid[3] = {config->gridDimX, config->gridDimY, config->gridDimZ};
    for (unsigned i = 0; i < config->numAttrs; i++)
        if (config->attrs[i].id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
            memcpy(cluster, &config->attrs[i].value.clusterDim, sizeof cluster);
    CUresult r = gr_launch_cluster(f, grid, cluster);
    uint64_t threads = (uint64_t)config->blockDimX * config->blockDimY * config->blockDimZ;
    bool fits =
        threads <= gr_vm_func_attrs(f->vm)->max_threads && config->sharedMemBytes <= f->max_dynamic_shared;
    *blocks = (uint64_t)cluster[0] * cluster[1] * cluster[2];
    *resident = fits ? (uint64_t)blocks_per_sm(f, (int)threads, config->sharedMemBytes) * p->sm_count : 0;
    return r;
}

CUresult cuOccupancyMaxPotentialClusterSize(int *size, CUfunction handle, const CUlaunchConfig *config) {
    Func *f = NULL;
    FUNC_ENTER(handle, size && config, &f);
    uint64_t resident, blocks, most = gr_launch_max_cluster(f);
    CUresult r = cluster_room(f, config, &resident, &blocks);
    if (r == CUDA_SUCCESS)
        *size = (int)(resident < most ? resident : most);
    return gr_cu_leave(r);
}

CUresult cuOccupancyMaxActiveClusters(int *clusters, CUfunction handle, const CUlaunchConfig *config) {
    Func *f = NULL;
    FUNC_ENTER(handle, clusters && config, &f);
    uint64_t resident, blocks;
    CUresult r = cluster_room(f, config, &resident, &blocks);
    if (r == CUDA_SUCCESS)
        *clusters = blocks && blocks <= gr_launch_max_cluster(f) ? (int)(resident / blocks) : 0;
    return gr_cu_leave(r);
}
