// SPDX-License-Identifier: Apache-2.0
// link — cuLink*: keeps the PTX of each input. "The cubin" that comes out is a fatbin of all inputs, marked as the
// translation units of one module. cuModuleLoadData and cuLibraryLoadData then link them.
#include "driver/cuda/driver.h"
#include "driver/cuda/module.h"

#include "base/str.h"
#include "fatbin/fatbin.h"

typedef struct Link {
    HandleKind kind;
    PtxTexts texts;
    JitLog log;   // given at the creation, written by the later calls
    void *fatbin; // the result
    size_t size;
} Link;

CUresult cuLinkCreate_v2(unsigned int n, CUjit_option *options, void **values, CUlinkState *out) {
    API_ENTER(API_CONTEXT, NULL);
    if (!out || (n && (!options || !values)))
        return gr_cu_leave(CUDA_ERROR_INVALID_VALUE);
    Link *l = calloc(1, sizeof *l);
    if (!l || !gr_cu_handle_add(l, HANDLE_LINK)) {
        free(l);
        return gr_cu_leave(CUDA_ERROR_OUT_OF_MEMORY);
    }
    gr_jit_log_init(&l->log, n, options, values);
    *out = (CUlinkState)l;
    return gr_cu_leave(CUDA_SUCCESS);
}

// Adds the PTX of an image; syntax errors are found here.
static CUresult add(Link *l, CUjitInputType type, const void *data, size_t size) {
    if (type == CU_JIT_INPUT_CUBIN)
        return CUDA_ERROR_NO_BINARY_FOR_GPU;
    if (type != CU_JIT_INPUT_PTX && type != CU_JIT_INPUT_FATBINARY)
        return CUDA_ERROR_NOT_SUPPORTED; // host objects and libraries
    PtxTexts texts = {0};
    Image *image = NULL;
    CUresult r = gr_image_texts(data, size, &l->log, &texts);
    if (r == CUDA_SUCCESS)
        r = gr_image_parse(&texts, &l->log, &image);
    if (r == CUDA_SUCCESS && !gr_vec_reserve(&l->texts, l->texts.len + texts.len))
        r = CUDA_ERROR_OUT_OF_MEMORY;
    if (r == CUDA_SUCCESS) {
        gr_image_unref(image);
        memcpy(l->texts.data + l->texts.len, texts.data, texts.len * sizeof *texts.data);
        l->texts.len += texts.len;
        texts.len = 0;
    }
    gr_ptx_texts_free(&texts);
    return r;
}

CUresult cuLinkAddData_v2(CUlinkState state, CUjitInputType type, void *data, size_t size, const char *name,
                          unsigned int n, CUjit_option *options, void **values) {
    (void)name, (void)n, (void)options, (void)values;
    API_ENTER(API_CONTEXT, NULL);
    Link *l = gr_cu_handle(state, HANDLE_LINK);
    if (!l || !data || size == 0)
        return gr_cu_leave(l ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE);
    return gr_cu_leave(add(l, type, data, size));
}

CUresult cuLinkAddFile_v2(CUlinkState state, CUjitInputType type, const char *path, unsigned int n,
                          CUjit_option *options, void **values) {
    (void)n, (void)options, (void)values;
    API_ENTER(API_CONTEXT, NULL);
    Link *l = gr_cu_handle(state, HANDLE_LINK);
    char *data;
    size_t len;
    if (!l || !path)
        return gr_cu_leave(l ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE);
    if (gr_file_read(path, &data, &len, NULL) != GR_OK)
        return gr_cu_leave(CUDA_ERROR_FILE_NOT_FOUND);
    CUresult r = add(l, type, data, len);
    free(data);
    return gr_cu_leave(r);
}

CUresult cuLinkComplete(CUlinkState state, void **out, size_t *size) {
    API_ENTER(API_CONTEXT, NULL);
    Link *l = gr_cu_handle(state, HANDLE_LINK);
    if (!l || !out)
        return gr_cu_leave(l ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE);
    FatbinPtx *parts = calloc(l->texts.len + 1, sizeof *parts);
    Image *image = NULL;
    CUresult r = parts ? gr_image_parse(&l->texts, NULL, &image) : CUDA_ERROR_OUT_OF_MEMORY;
    for (size_t i = 0; r == CUDA_SUCCESS && i < l->texts.len; i++) {
        const PtxModule *m = image->modules[i];
        parts[i] = (FatbinPtx){
            .text = l->texts.data[i],
            .len = strlen(l->texts.data[i]),
            .sm = m->sm,
            .suffix = m->sm_suffix,
            .major = (uint16_t)m->version_major,
            .minor = (uint16_t)m->version_minor,
            .flags = FATBIN_F_64BIT | FATBIN_F_LINUX,
            .options = GR_LINKED_OPTION,
        };
    }
    gr_image_unref(image);
    free(l->fatbin);
    l->fatbin = NULL;
    if (r == CUDA_SUCCESS)
        r = gr_cu_status(gr_fatbin_build(parts, l->texts.len, &l->fatbin, &l->size, NULL));
    free(parts);
    if (r == CUDA_SUCCESS) {
        *out = l->fatbin;
        if (size)
            *size = l->size;
    }
    return gr_cu_leave(r);
}

CUresult cuLinkDestroy(CUlinkState state) {
    API_ENTER(API_INIT, NULL);
    Link *l = gr_cu_handle(state, HANDLE_LINK);
    if (!l)
        return gr_cu_leave(CUDA_ERROR_INVALID_HANDLE);
    gr_cu_handle_remove(l);
    gr_ptx_texts_free(&l->texts);
    free(l->fatbin);
    free(l);
    return gr_cu_leave(CUDA_SUCCESS);
}

CUresult cuLinkCreate(unsigned int n, CUjit_option *options, void **values, CUlinkState *out) {
    return cuLinkCreate_v2(n, options, values, out);
}

CUresult cuLinkAddData(CUlinkState state, CUjitInputType type, void *data, size_t size, const char *name,
                       unsigned int n, CUjit_option *options, void **values) {
    return cuLinkAddData_v2(state, type, data, size, name, n, options, values);
}

CUresult cuLinkAddFile(CUlinkState state, CUjitInputType type, const char *path, unsigned int n,
                       CUjit_option *options, void **values) {
    return cuLinkAddFile_v2(state, type, path, n, options, values);
}
