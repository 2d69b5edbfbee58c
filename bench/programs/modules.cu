// SPDX-License-Identifier: Apache-2.0
// Modules that are loaded, launched once and unloaded, each with other code.
// ARGS: 500
// GROWS: 500 | 1000 | 2000 | 4000
// GROWS privatizer: 100 | 200 | 400
#include <cstdio>
#include <cstdlib>
#include <cuda.h>
#include <dlfcn.h>

static const char text[] = ".version 8.0\n.target sm_80\n.address_size 64\n"
                           ".visible .entry k%d(.param .u64 p) {\n"
                           ".reg .b32 %%r<4>; .reg .b64 %%rd<4>;\n"
                           "ld.param.u64 %%rd1, [p]; mov.u32 %%r1, %%tid.x; mul.wide.u32 %%rd2, %%r1, 4;\n"
                           "add.s64 %%rd3, %%rd1, %%rd2; ld.global.u32 %%r2, [%%rd3]; add.u32 %%r2, %%r2, 1;\n"
                           "st.global.u32 [%%rd3], %%r2; ret; }\n";

int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 500, *p, out[32];
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    auto load = (decltype(&cuModuleLoadData))dlsym(driver, "cuModuleLoadData");
    auto find = (decltype(&cuModuleGetFunction))dlsym(driver, "cuModuleGetFunction");
    auto launch = (decltype(&cuLaunchKernel))dlsym(driver, "cuLaunchKernel");
    auto unload = (decltype(&cuModuleUnload))dlsym(driver, "cuModuleUnload");
    cudaMalloc(&p, sizeof out);
    cudaMemset(p, 0, sizeof out);
    for (int k = 0; k < n; k++) {
        char ptx[1024], name[16];
        CUmodule m;
        CUfunction f;
        void *args[] = {&p};
        snprintf(ptx, sizeof ptx, text, k);
        snprintf(name, sizeof name, "k%d", k);
        if (load(&m, ptx) || find(&f, m, name) || launch(f, 1, 1, 1, 32, 1, 1, 0, NULL, args, NULL) || unload(m))
            return printf("module %d failed\n", k), 1;
    }
    cudaMemcpy(out, p, sizeof out, cudaMemcpyDeviceToHost);
    for (int k = 0; k < 32; k++)
        if (out[k] != n)
            return printf("p[%d] is %d\n", k, out[k]), 1;
    printf("PASS\n");
}
