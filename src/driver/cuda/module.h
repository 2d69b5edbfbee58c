// SPDX-License-Identifier: Apache-2.0
// module — images, and what they become: modules, libraries, kernels and functions.
#ifndef GR_DRIVER_CUDA_MODULE_H
#define GR_DRIVER_CUDA_MODULE_H

#include "driver/cuda/driver.h"

// PTX modules of one image, parsed once, shared by all that load it.
struct Image {
    unsigned refs;
    PtxModule **modules;
    size_t count;
    struct GrApiRuntimes *runtimes; // of each module: what it calls and does not hold
    // The runtimes of the one module, which it shares with others (runtimes.c); NULL: there are none.
    PtxModule *runtime;
    const char *suffix; // of its names in the module
};

struct Module {
    HandleKind kind;
    Ctx *ctx;
    VmModule *vm;
    Image *image;
    Library *library; // NULL unless loaded for one
    Map funcs;        // name -> Func *
};

struct Func {
    HandleKind kind;
    Module *module;
    VmFunc *vm;
    uint32_t max_dynamic_shared;
    int carveout, non_portable_cluster, cluster_policy;
    uint32_t cluster[3];
    CUfunc_cache cache;
};

struct Library {
    HandleKind kind;
    Image *image;
    VEC(Module *) modules; // one per context that used it
    Map kernels;           // name -> Kernel *
};

// A kernel of a library. What was set on it is set on each context's function when that is made.
struct Kernel {
    HandleKind kind;
    Library *library;
    const char *name;
};

typedef struct JitLog {
    char *error, *info;
    size_t error_size, info_size;
    void **error_size_out, **info_size_out;
} JitLog;

void gr_jit_log_init(JitLog *log, unsigned n, const CUjit_option *options, void **values);
void gr_jit_log_error(JitLog *log, const gr_error *err);

// PTX texts, each allocated and terminated.
typedef struct PtxTexts {
    char **data;
    size_t len, cap;
} PtxTexts;

// The PTX of an image of any kind: text, fatbin, wrapper, or what cuLinkComplete made. `size` may be
// GR_FATBIN_UNBOUNDED. CUDA_ERROR_NO_BINARY_FOR_GPU when there is none for this device.
CUresult gr_image_texts(const void *data, size_t size, JitLog *log, PtxTexts *out);
void gr_ptx_texts_free(PtxTexts *t);
CUresult gr_image_load(const void *data, size_t size, JitLog *log, Image **out);
CUresult gr_image_load_file(const char *path, JitLog *log, Image **out);
CUresult gr_image_parse(const PtxTexts *texts, JitLog *log, Image **out);
// Marks the entries of a fatbin that belong together, as translation units of one module.
#define GR_LINKED_OPTION "gpurace-linked"
void gr_image_unref(Image *image);

// runtimes.c: whether a text is the tool's, and what is to be linked with it.
int gr_runtimes_of(const char *text, size_t len, struct GrApiRuntimes *out);
// The module of these runtimes, which several modules share.
gr_status gr_runtimes_shared(const struct GrApiRuntimes *r, PtxModule **out, gr_error *err);
// Enters these runtimes as a part of `m`.
gr_status gr_runtimes_enter(PtxModule *m, const struct GrApiRuntimes *r, gr_error *err);

CUresult gr_module_new(Ctx *ctx, Image *image, Library *library, JitLog *log, Module **out);
void gr_module_free(Module *m);
CUresult gr_module_func(Module *m, const char *name, Func **out);
CUresult gr_library_module(Library *lib, Ctx *ctx, Module **out);
void gr_library_forget(Library *lib, Module *m);
// A CUfunction, or a CUkernel in its place.
CUresult gr_func_get(Ctx *ctx, CUfunction handle, Func **out);
CUresult gr_func_attribute(Func *f, CUfunction_attribute attribute, int *value);
CUresult gr_func_set_attribute(Func *f, CUfunction_attribute attribute, int value);
CUresult gr_func_param_info(const Func *f, size_t index, size_t *offset, size_t *size);

// Checks and sets *cluster: what the launch asks for (0, 0, 0: nothing) or `f` requires; zero: none. Checks as CUDA
// does, but not the number of blocks in it (gr_launch_max_cluster).
CUresult gr_launch_cluster(const Func *f, const uint32_t grid[3], uint32_t cluster[3]);
uint32_t gr_launch_max_cluster(const Func *f);

#endif
