// SPDX-License-Identifier: Apache-2.0
// Compiles kernels at run time as just-in-time compilers do, and hands the driver machine code only: jit WAY [repaired]
// [keep]
//
//     nvrtc      NVRTC to machine code            ptx          PTX of NVRTC, through nvJitLink
//     lto        LTO-IR of NVRTC, through nvJitLink            parts        two units of PTX, through nvJitLink
//     driver     two units of PTX, through the driver's linker; what comes out is copied before it is loaded
//     relink     machine code that nvJitLink made of two units of PTX, through the driver's linker
//     fatbin     machine code of NVRTC in a fatbinary          twice        the same machine code, loaded twice
//
// The kernel lacks a __syncthreads() unless `repaired` is given. LINKED: NVRTC and nvJitLink come by the linker, else
// by dlsym. The prototypes are those of nvrtc.h and nvJitLink.h, which a build need not have.
#include "fatbin/layout.h"

#include <cuda.h>
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 64, KIND_PTX = 2, KIND_LTOIR = 3, MAGIC = 0xba55ed50 };

#define FUNCTIONS(F)                                                                                         \
    F(nvrtc, nvrtcCreateProgram,                                                                             \
      (void **, const char *, const char *, int, const char *const *, const char *const *))                  \
    F(nvrtc, nvrtcCompileProgram, (void *, int, const char *const *))                                        \
    F(nvrtc, nvrtcGetCUBINSize, (void *, size_t *))                                                          \
    F(nvrtc, nvrtcGetCUBIN, (void *, char *))                                                                \
    F(nvrtc, nvrtcGetPTXSize, (void *, size_t *))                                                            \
    F(nvrtc, nvrtcGetPTX, (void *, char *))                                                                  \
    F(nvrtc, nvrtcGetLTOIRSize, (void *, size_t *))                                                          \
    F(nvrtc, nvrtcGetLTOIR, (void *, char *))                                                                \
    F(jitlink, nvJitLinkCreate, (void **, uint32_t, const char **))                                          \
    F(jitlink, nvJitLinkAddData, (void *, int, const void *, size_t, const char *))                          \
    F(jitlink, nvJitLinkComplete, (void *))                                                                  \
    F(jitlink, nvJitLinkGetLinkedCubinSize, (void *, size_t *))                                              \
    F(jitlink, nvJitLinkGetLinkedCubin, (void *, void *))                                                    \
    F(jitlink, nvJitLinkDestroy, (void **))

#ifdef LINKED
#define DECLARE(library, name, params)                                                                       \
    extern int name params;                                                                                  \
    static int(*p_##name) params = name;
FUNCTIONS(DECLARE)
static void find_functions(void) {}
#else
#define DECLARE(library, name, params) static int(*p_##name) params;
FUNCTIONS(DECLARE)
static void find_functions(void) {
    void *nvrtc = dlopen(getenv("NVRTC"), RTLD_NOW | RTLD_LOCAL),
         *jitlink = dlopen(getenv("NVJITLINK"), RTLD_NOW | RTLD_LOCAL);
    if (!nvrtc || !jitlink) {
        printf("no NVRTC or nvJitLink: %s\n", dlerror());
        exit(77);
    }
#define FIND(library, name, params)    *(void **)&p_##name = dlsym(library, #name);
    FUNCTIONS(FIND)
}
#endif

static void check(int result, const char *what) {
    if (result) {
        printf("%s: error %d\n", what, result);
        exit(3);
    }
}
#define CHECK(call) check((int)(call), #call)

// The line of the racing load is told by #line: that of `RACE` in this file's kernel is 105.
static const char kernel[] = "#ifdef PARTS\n"
                             "extern __device__ int own(int);\n"
                             "#else\n"
                             "__device__ int own(int t) { return t; }\n"
                             "#endif\n"
                             "#line 100 \"kernel.cu\"\n"
                             "extern \"C\" __global__ void turn(int *a) {\n"
                             "    __shared__ int s[64];\n"
                             "    int t = threadIdx.x;\n"
                             "    s[t] = own(t);\n"
                             "    BARRIER;\n"
                             "    a[t] = s[63 - t]; // RACE\n"
                             "}\n";
static const char part[] = "__device__ int own(int t) { return t; }\n";

typedef struct Code {
    char *data;
    size_t size;
} Code;

typedef int (*GetSize)(void *, size_t *);
typedef int (*Get)(void *, char *);

static Code compile(const char *source, const char *const *options, int n, GetSize size, Get get) {
    void *program;
    Code c;
    CHECK(p_nvrtcCreateProgram(&program, source, "kernel.cu", 0, NULL, NULL));
    CHECK(p_nvrtcCompileProgram(program, n, options));
    CHECK(size(program, &c.size));
    c.data = malloc(c.size);
    CHECK(get(program, c.data));
    return c;
}

static Code link_all(const char *const *options, uint32_t n_options, int kind, const Code *codes, int n) {
    void *handle;
    Code c;
    CHECK(p_nvJitLinkCreate(&handle, n_options, (const char **)options));
    for (int k = 0; k < n; k++)
        CHECK(p_nvJitLinkAddData(handle, kind, codes[k].data, codes[k].size, "unit"));
    CHECK(p_nvJitLinkComplete(handle));
    CHECK(p_nvJitLinkGetLinkedCubinSize(handle, &c.size));
    c.data = malloc(c.size);
    CHECK(p_nvJitLinkGetLinkedCubin(handle, c.data));
    CHECK(p_nvJitLinkDestroy(&handle));
    return c;
}

static Code driver_link(CUjitInputType kind, const Code *codes, int n) {
    CUlinkState state;
    void *made;
    Code c;
    CHECK(cuLinkCreate(0, NULL, NULL, &state));
    for (int k = 0; k < n; k++)
        CHECK(cuLinkAddData(state, kind, codes[k].data, codes[k].size, "unit", 0, NULL, NULL));
    CHECK(cuLinkComplete(state, &made, &c.size));
    c.data = malloc(c.size);
    memcpy(c.data, made, c.size);
    CHECK(cuLinkDestroy(state));
    return c;
}

// A container of one entry.
static Code pack(Code code) {
    size_t padded = (code.size + 7) / 8 * 8;
    RawHeader h = {MAGIC, 1, sizeof h, sizeof(RawEntry) + padded};
    RawEntry e = {.kind = 2,
                  .always_0101 = 0x0101,
                  .header_size = sizeof e,
                  .padded_size = padded,
                  .major = 8,
                  .minor = 1,
                  .sm = 90,
                  .flags = 0x11};
    Code c = {calloc(1, sizeof h + sizeof e + padded), sizeof h + sizeof e + padded};
    memcpy(c.data, &h, sizeof h);
    memcpy(c.data + sizeof h, &e, sizeof e);
    memcpy(c.data + sizeof h + sizeof e, code.data, code.size);
    return c;
}

static void run(Code code, int want) {
    CUmodule module;
    CUfunction f;
    CUdeviceptr a;
    int out[THREADS];
    CHECK(cuModuleLoadData(&module, code.data));
    CHECK(cuModuleGetFunction(&f, module, "turn"));
    CHECK(cuMemAlloc(&a, sizeof out));
    void *params[] = {&a};
    CHECK(cuLaunchKernel(f, 1, 1, 1, THREADS, 1, 1, 0, NULL, params, NULL));
    CHECK(cuMemcpyDtoH(out, a, sizeof out));
    for (int t = 0; want && t < THREADS; t++)
        check(out[t] != THREADS - 1 - t, "a wrong value");
    CHECK(cuModuleUnload(module));
    CHECK(cuMemFree(a));
}

int main(int argc, char **argv) {
    const char *way = argc > 1 ? argv[1] : "";
    int repaired = argc > 2 && !strcmp(argv[2], "repaired");
    int relink = !strcmp(way, "relink"), parts = relink || !strcmp(way, "parts") || !strcmp(way, "driver");
    char barrier[64];
    const char *compiler[6] = {"-arch=sm_90", "-lineinfo", barrier};
    const char *linker[] = {"-arch=sm_90", "-lineinfo", "-lto"};
    int n = 3;
    CUdevice device;
    CUcontext context;
    snprintf(barrier, sizeof barrier, "-DBARRIER=%s", repaired ? "__syncthreads()" : "");
    find_functions();
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));
    if (parts) {
        compiler[n++] = "-DPARTS";
        compiler[n++] = "-rdc=true";
    }
    Code code;
    if (!strcmp(way, "lto")) {
        compiler[n++] = "-dlto";
        code = compile(kernel, compiler, n, p_nvrtcGetLTOIRSize, p_nvrtcGetLTOIR);
        code = link_all(linker, 3, KIND_LTOIR, &code, 1);
    } else if (parts || !strcmp(way, "ptx")) {
        Code codes[] = {compile(kernel, compiler, n, p_nvrtcGetPTXSize, p_nvrtcGetPTX),
                        compile(part, compiler, n, p_nvrtcGetPTXSize, p_nvrtcGetPTX)};
        code = !strcmp(way, "driver") ? driver_link(CU_JIT_INPUT_PTX, codes, 2)
                                      : link_all(linker, 2, KIND_PTX, codes, parts ? 2 : 1);
        code = relink ? driver_link(CU_JIT_INPUT_CUBIN, &code, 1) : code;
    } else {
        code = compile(kernel, compiler, n, p_nvrtcGetCUBINSize, p_nvrtcGetCUBIN);
        code = !strcmp(way, "fatbin") ? pack(code) : code;
    }
    run(code, repaired);
    if (!strcmp(way, "twice"))
        run(code, repaired);
    puts("done");
    return 0;
}
