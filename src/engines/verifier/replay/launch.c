// SPDX-License-Identifier: Apache-2.0
// gpurace-launch SPEC — one launch of a kernel of PTX files, as SPEC says: for the replay of a witness, under `gpurace
// run`. Knows only CUDA's driver API.
//
// A line of SPEC is one of:
//   ptx PATH              kernel NAME           grid X Y Z            block X Y Z          shared BYTES
//                         (several ptx, before the kernel: they are linked)
//   buffer BYTES FRONT    memory number 0, 1, …: so much, behind FRONT bytes of its own, and as much more behind it;
//                         all zero
//   variable NAME         a variable of the module instead, which has the next number
//   cooperative           the launch
//   bytes PARAM OFFSET HEX                      of a parameter
//   pointer PARAM OFFSET BUFFER PLUS            of a parameter: the address of a buffer, and so many bytes more
#include <cuda.h>

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BUFFERS = 256, PARAM_BYTES = 4352 };

typedef struct Spec {
    char **ptx;
    unsigned n_ptx;
    char kernel[4096];
    unsigned grid[3], block[3], shared;
    int cooperative;
    CUdeviceptr buffers[BUFFERS];
    unsigned n_buffers;
} Spec;

// CUDA's driver, as the one that is on the library path has it.
static struct {
    CUresult (*init)(unsigned);
    CUresult (*device)(CUdevice *, int);
    CUresult (*retain)(CUcontext *, CUdevice);
    CUresult (*set)(CUcontext);
    CUresult (*load)(CUmodule *, const char *);
    CUresult (*load_data)(CUmodule *, const void *);
    CUresult (*link)(unsigned, CUjit_option *, void **, CUlinkState *);
    CUresult (*add)(CUlinkState, CUjitInputType, const char *, unsigned, CUjit_option *, void **);
    CUresult (*complete)(CUlinkState, void **, size_t *);
    CUresult (*function)(CUfunction *, CUmodule, const char *);
    CUresult (*global)(CUdeviceptr *, size_t *, CUmodule, const char *);
    CUresult (*param)(CUfunction, size_t, size_t *, size_t *);
    CUresult (*attribute)(CUfunction, CUfunction_attribute, int);
    CUresult (*alloc)(CUdeviceptr *, size_t);
    CUresult (*fill)(CUdeviceptr, unsigned char, size_t);
    CUresult (*launch)(const CUlaunchConfig *, CUfunction, void **, void **);
    CUresult (*wait)(void);
} cu;

static int fail(const char *what, int code) {
    fprintf(stderr, "gpurace-launch: %s (%d)\n", what, code);
    return 1;
}

static int find_driver(void) {
    void *lib = dlopen("libcuda.so.1", RTLD_NOW);
    const struct {
        const char *name;
        void *at;
    } rows[] = {{"cuInit", &cu.init},
                {"cuDeviceGet", &cu.device},
                {"cuDevicePrimaryCtxRetain", &cu.retain},
                {"cuCtxSetCurrent", &cu.set},
                {"cuModuleLoad", &cu.load},
                {"cuModuleLoadData", &cu.load_data},
                {"cuLinkCreate_v2", &cu.link},
                {"cuLinkAddFile_v2", &cu.add},
                {"cuLinkComplete", &cu.complete},
                {"cuModuleGetFunction", &cu.function},
                {"cuModuleGetGlobal_v2", &cu.global},
                {"cuFuncGetParamInfo", &cu.param},
                {"cuFuncSetAttribute", &cu.attribute},
                {"cuMemAlloc_v2", &cu.alloc},
                {"cuMemsetD8_v2", &cu.fill},
                {"cuLaunchKernelEx", &cu.launch},
                {"cuCtxSynchronize", &cu.wait}};
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        void *f = lib ? dlsym(lib, rows[k].name) : NULL;
        if (!f)
            return fail(lib ? rows[k].name : dlerror(), 0);
        memcpy(rows[k].at, &f, sizeof f);
    }
    return 0;
}

static int take_buffer(Spec *s, unsigned long long bytes, unsigned long long front) {
    CUdeviceptr at;
    if (s->n_buffers == BUFFERS || cu.alloc(&at, bytes + 2 * front) || cu.fill(at, 0, bytes + 2 * front))
        return fail("no memory for a buffer", 0);
    s->buffers[s->n_buffers++] = at + front;
    return 0;
}

static CUmodule module;
static CUfunction function;
static unsigned char params[PARAM_BYTES];
static size_t params_end;

static int take_variable(Spec *s, const char *name) {
    if (s->n_buffers == BUFFERS || cu.global(&s->buffers[s->n_buffers], NULL, module, name))
        return fail("there is no such variable", 0);
    s->n_buffers++;
    return 0;
}

// Where a parameter stands in what is passed; NULL: it is not there.
static unsigned char *place_of(unsigned param, unsigned offset, unsigned bytes) {
    size_t at, size;
    if (cu.param(function, param, &at, &size) || offset + bytes > size || at + size > sizeof params)
        return NULL;
    return params + at + offset;
}

static int put_bytes(unsigned param, unsigned offset, const char *hex) {
    unsigned n = (unsigned)strlen(hex) / 2;
    unsigned char *to = place_of(param, offset, n);
    if (!to)
        return fail("a parameter is not where it should be", (int)param);
    for (unsigned k = 0; k < n; k++)
        sscanf(hex + 2 * k, "%2hhx", &to[k]);
    return 0;
}

static int put_pointer(const Spec *s, unsigned param, unsigned offset, unsigned buffer, long long plus) {
    unsigned char *to = place_of(param, offset, 8);
    if (!to || buffer >= s->n_buffers)
        return fail("a pointer is not where it should be", (int)param);
    uint64_t value = s->buffers[buffer] + (uint64_t)plus;
    memcpy(to, &value, sizeof value);
    return 0;
}

static int take_ptx(Spec *s, const char *path) {
    char **all = realloc(s->ptx, (s->n_ptx + 1) * sizeof *all);
    if (!all)
        return fail("no memory", 0);
    s->ptx = all;
    if (!(all[s->n_ptx] = strdup(path)))
        return fail("no memory", 0);
    s->n_ptx++;
    return 0;
}

static CUresult load_module(const Spec *s) {
    CUlinkState link;
    CUresult r;
    void *code;
    size_t size;
    if (s->n_ptx == 1)
        return cu.load(&module, s->ptx[0]);
    if ((r = cu.link(0, NULL, NULL, &link)))
        return r;
    for (unsigned k = 0; k < s->n_ptx; k++)
        if ((r = cu.add(link, CU_JIT_INPUT_PTX, s->ptx[k], 0, NULL, NULL)))
            return r;
    r = cu.complete(link, &code, &size);
    return r ? r : cu.load_data(&module, code);
}

static int load(Spec *s) {
    CUcontext context;
    CUdevice device;
    CUresult r;
    if ((r = cu.init(0)) || (r = cu.device(&device, 0)) || (r = cu.retain(&context, device)) ||
        (r = cu.set(context)))
        return fail("no device", (int)r);
    if ((r = load_module(s)) || (r = cu.function(&function, module, s->kernel)))
        return fail("the kernel cannot be loaded", (int)r);
    size_t at, size;
    for (unsigned k = 0; !cu.param(function, k, &at, &size); k++)
        params_end = at + size;
    return params_end > sizeof params ? fail("too many parameters", 0) : 0;
}

static int read_line(Spec *s, char *line) {
    unsigned a, b, c;
    unsigned long long n, m;
    static char hex[2 * PARAM_BYTES + 1], name[4096];
    if (sscanf(line, "ptx %4095[^\n]", name) == 1)
        return take_ptx(s, name);
    if (sscanf(line, "kernel %4095s", s->kernel) == 1)
        return load(s);
    if (sscanf(line, "grid %u %u %u", &s->grid[0], &s->grid[1], &s->grid[2]) == 3 ||
        sscanf(line, "block %u %u %u", &s->block[0], &s->block[1], &s->block[2]) == 3 ||
        sscanf(line, "shared %u", &s->shared) == 1)
        return 0;
    if (!strcmp(line, "cooperative\n")) {
        s->cooperative = 1;
        return 0;
    }
    if (sscanf(line, "buffer %llu %llu", &n, &m) == 2)
        return take_buffer(s, n, m);
    if (sscanf(line, "variable %4095s", name) == 1)
        return take_variable(s, name);
    if (sscanf(line, "bytes %u %u %8704s", &a, &b, hex) == 3)
        return put_bytes(a, b, hex);
    long long plus;
    if (sscanf(line, "pointer %u %u %u %lld", &a, &b, &c, &plus) == 4)
        return put_pointer(s, a, b, c, plus);
    return fail(line, 0);
}

static CUresult launch(const Spec *s) {
    CUlaunchAttribute cooperative = {.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE, .value = {.cooperative = 1}};
    const CUlaunchConfig config = {.gridDimX = s->grid[0],
                                   .gridDimY = s->grid[1],
                                   .gridDimZ = s->grid[2],
                                   .blockDimX = s->block[0],
                                   .blockDimY = s->block[1],
                                   .blockDimZ = s->block[2],
                                   .sharedMemBytes = s->shared,
                                   .attrs = &cooperative,
                                   .numAttrs = s->cooperative ? 1 : 0};
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, params, CU_LAUNCH_PARAM_BUFFER_SIZE, &params_end,
                     CU_LAUNCH_PARAM_END};
    return cu.launch(&config, function, NULL, extra);
}

int main(int argc, char **argv) {
    static Spec s;
    static char line[16384];
    FILE *f = argc == 2 ? fopen(argv[1], "r") : NULL;
    if (!f)
        return fail("one file is needed, the launch", 0);
    if (find_driver())
        return 1;
    while (fgets(line, sizeof line, f))
        if (read_line(&s, line))
            return 1;
    fclose(f);
    if (!function)
        return fail("no kernel is named", 0);
    CUresult r = CUDA_SUCCESS;
    if (s.shared > 48 * 1024)
        r = cu.attribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)s.shared);
    if (r || (r = launch(&s)) || (r = cu.wait()))
        return fail("the launch failed", (int)r);
    return 0;
}
