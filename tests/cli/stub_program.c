// SPDX-License-Identifier: Apache-2.0
// A driver-API program for the tests of the injection: stub_program ROUTE KERNEL END [PTX file].
//
//   ROUTE  how it finds the driver: link, dlsym, proc, ptsz (cuGetProcAddress with per-thread streams); linker: as
//          link, and has the driver link the PTX; limited: and says how many registers it may take
//   END    what it does after its launch: sync, return (without waiting), _exit, crash, hang, fork, three (exit status
//          3), again (launches 70000 times)
#include <cuda.h>
#undef cuGetProcAddress
#include <dlfcn.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char race_free[] = ".version 8.0\n.target sm_80\n.address_size 64\n"
                                ".visible .entry race_it(.param .u64 p)\n{\n"
                                ".reg .b32 %r<3>;\n.reg .b64 %rd<3>;\n"
                                "ld.param.u64 %rd1, [p];\n"
                                "cvta.to.global.u64 %rd2, %rd1;\n"
                                "mov.u32 %r1, 7;\n"
                                "st.global.u32 [%rd2], %r1;\n"
                                "ret;\n}\n"
                                ".visible .entry quiet()\n{\nret;\n}\n"
                                ".visible .entry bad()\n{\nret;\n}\n";

static CUresult (*load)(CUmodule *, const void *);
static CUresult (*get_function)(CUfunction *, CUmodule, const char *);
static CUresult (*launch)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                          CUstream, void **, void **);
static CUresult (*synchronize)(void);

static void link_all(void) {
    load = cuModuleLoadData;
    get_function = cuModuleGetFunction;
    launch = cuLaunchKernel;
    synchronize = cuCtxSynchronize;
}

// What the linker makes stays until the program ends.
static CUresult load_linked(CUmodule *out, const char *image, bool limited) {
    char log[100];
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
                              CU_JIT_MAX_REGISTERS};
    void *values[] = {log, (void *)sizeof log, (void *)40};
    CUlinkState state;
    void *made;
    size_t size;
    CUresult rc = cuLinkCreate(0, NULL, NULL, &state);
    if (rc == CUDA_SUCCESS)
        rc = cuLinkAddData(state, CU_JIT_INPUT_PTX, (void *)(uintptr_t)image, strlen(image) + 1, "image",
                           limited ? 3 : 2, options, values);
    if (rc == CUDA_SUCCESS)
        rc = cuLinkComplete(state, &made, &size);
    return rc == CUDA_SUCCESS ? load(out, made) : rc;
}

static void look_up_all(const char *route) {
    void *lib = dlopen("libcuda.so.1", RTLD_NOW);
    CUresult (*proc)(const char *, void **, int, cuuint64_t, CUdriverProcAddressQueryResult *);
    *(void **)&proc = dlsym(lib, "cuGetProcAddress_v2");
    static const char *const names[] = {"cuModuleLoadData", "cuModuleGetFunction", "cuLaunchKernel",
                                        "cuCtxSynchronize"};
    void **places[] = {(void **)&load, (void **)&get_function, (void **)&launch, (void **)&synchronize};
    for (int i = 0; i < 4; i++) {
        if (!strcmp(route, "dlsym"))
            *places[i] = dlsym(lib, names[i]);
        else if (proc(names[i], places[i], 12000,
                      !strcmp(route, "ptsz") ? CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM : 0, NULL))
            exit(9);
    }
}

static int end(const char *how) {
    if (!strcmp(how, "return"))
        return 0;
    if (!strcmp(how, "_exit"))
        _exit(0);
    if (!strcmp(how, "crash"))
        raise(SIGSEGV);
    if (!strcmp(how, "hang"))
        for (;;)
            pause();
    if (!strncmp(how, "rows-", 5)) { // are copied, to the host or to the device, and nothing is waited for
        CUDA_MEMCPY2D c = {.dstMemoryType =
                               !strcmp(how, "rows-host") ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE,
                           .WidthInBytes = 64,
                           .Height = 2};
        CUresult (*copy)(const CUDA_MEMCPY2D *);
        *(void **)&copy = dlsym(dlopen("libcuda.so.1", RTLD_NOW), "cuMemcpy2D_v2");
        return copy(&c) == CUDA_SUCCESS ? 0 : 7;
    }
    if (synchronize() != CUDA_SUCCESS)
        return 8;
    if (!strcmp(how, "_exit-after"))
        _exit(0);
    if (!strcmp(how, "fork")) { // a child that does nothing with CUDA
        pid_t pid = fork();
        if (!pid)
            exit(0);
        waitpid(pid, NULL, 0);
    }
    if (!strcmp(how, "share")) {
        CUresult (*share)(CUipcMemHandle *, CUdeviceptr);
        CUipcMemHandle handle;
        *(void **)&share = dlsym(dlopen("libcuda.so.1", RTLD_NOW), "cuIpcGetMemHandle");
        return share(&handle, 0) == CUDA_ERROR_INVALID_VALUE && share(&handle, 4096) == CUDA_SUCCESS ? 0 : 7;
    }
    return !strcmp(how, "three") ? 3 : 0;
}

int main(int argc, char **argv) {
    CUmodule module;
    CUfunction f;
    static char image[1 << 16];
    if (argc < 4)
        return 10;
    strcpy(image, race_free);
    if (argc > 4) {
        FILE *file = fopen(argv[4], "r");
        if (!file)
            return 11;
        image[fread(image, 1, sizeof image - 1, file)] = 0;
        fclose(file);
    }
    bool limited = !strcmp(argv[1], "limited"), linker = limited || !strcmp(argv[1], "linker");
    if (linker || !strcmp(argv[1], "link"))
        link_all();
    else
        look_up_all(argv[1]);
    if (cuInit(0) || (linker ? load_linked(&module, image, limited) : load(&module, image)) ||
        get_function(&f, module, argv[2]))
        return 12;
    int times = !strcmp(argv[3], "again") ? 70000 : 1;
    CUresult rc = CUDA_SUCCESS;
    for (int i = 0; i < times; i++)
        rc = launch(f, 2, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL);
    printf("launched: %d\n", (int)rc);
    fflush(stdout);
    return end(argv[3]);
}
