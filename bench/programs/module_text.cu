// SPDX-License-Identifier: Apache-2.0
// module_text KIND N: PTX that is made while the program runs: N kernels in a module, N accesses in a kernel, or N modules that stay loaded. Row, word:
// the N accesses are all of one row of words, or lane 0 stores to one word and all lanes load it.
// ARGS: kernels 500
// GROWS: kernels 12500 | kernels 25000 | kernels 50000 | kernels 100000
// GROWS: accesses 12500 | accesses 25000 | accesses 50000 | accesses 100000
// GROWS: row 1500 | row 3000 | row 6000 | row 12000
// GROWS: modules 1250 | modules 2500 | modules 5000 | modules 10000
// GROWS collider: kernels 12500 | kernels 25000 | kernels 50000 | kernels 100000
// GROWS collider: accesses 12500 | accesses 25000 | accesses 50000 | accesses 100000
// GROWS collider: modules 1250 | modules 2500 | modules 5000 | modules 10000
// GROWS tracker: kernels 12500 | kernels 25000 | kernels 50000 | kernels 100000
// GROWS tracker: accesses 12500 | accesses 25000 | accesses 50000 | accesses 100000
// GROWS tracker: modules 1250 | modules 2500 | modules 5000 | modules 10000
// GROWS privatizer: kernels 1000 | kernels 2000 | kernels 4000 | kernels 8000
// GROWS privatizer: accesses 5000 | accesses 10000 | accesses 20000 | accesses 40000
// GROWS privatizer: modules 500 | modules 1000 | modules 2000 | modules 4000
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda.h>
#include <dlfcn.h>
#include <string>

#define ENTRY(name)                                                                                                                                  \
    template <typename... T> static auto name(T... t) {                                                                                              \
        static auto f = (decltype(&::name))dlsym(dlopen("libcuda.so.1", RTLD_NOW), #name);                                                           \
        return f(t...);                                                                                                                              \
    }
namespace driver {
ENTRY(cuModuleLoadData)
ENTRY(cuModuleGetFunction)
ENTRY(cuLaunchKernel)
} // namespace driver

enum { THREADS = 32, ROW = THREADS * sizeof(int) };
static const char head[] = ".version 8.0\n.target sm_80\n.address_size 64\n";

// A kernel that adds 1 to a word of each thread in each of `pairs` rows, `apart` bytes apart: a load and a store each. word: the first thread alone, to
// what all of them load.
static std::string kernel(int number, int pairs, int apart = ROW, bool word = false) {
    std::string to = word ? "rd1+" : "rd3+";
    std::string s = ".visible .entry k" + std::to_string(number) + "(.param .u64 p) {\n.reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .pred %p<2>;\n"
                    "ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2; setp.eq.u32 %p1, %r1, 0;\n";
    for (int k = 0; k < pairs; k++)
        s += "ld.global.u32 %r2, [%" + to + std::to_string(k * apart) + "]; add.u32 %r2, %r2, 1; " + (word ? "bar.warp.sync -1; @%p1 " : "") + "st.global.u32 [%" + to + std::to_string(k * apart) + "], %r2;" + (word ? " bar.warp.sync -1;\n" : "\n");
    return s + "ret; }\n";
}

static bool run(CUmodule m, int number, void *p) {
    CUfunction f;
    void *args[] = {&p};
    return driver::cuModuleGetFunction(&f, m, ("k" + std::to_string(number)).c_str()) == CUDA_SUCCESS &&
           driver::cuLaunchKernel(f, 1, 1, 1, THREADS, 1, 1, 0, (CUstream) nullptr, args, (void **)nullptr) == CUDA_SUCCESS;
}

int main(int argc, char **argv) {
    const char *kind = argc > 1 ? argv[1] : "kernels";
    int n = argc > 2 ? atoi(argv[2]) : 500, *p, first = 0;
    bool row = !strcmp(kind, "row"), word = !strcmp(kind, "word"), accesses = row || word || !strcmp(kind, "accesses"), modules = !strcmp(kind, "modules"), ok = true;
    size_t bytes = accesses ? (size_t)n / 2 * ROW : ROW;
    cudaMalloc(&p, bytes);
    cudaMemset(p, 0, bytes);
    std::string text = head;
    for (int k = 0; k < (accesses ? 1 : n); k++) {
        text += kernel(k, accesses ? n / 2 : 1, row || word ? 0 : ROW, word);
        CUmodule m;
        if (modules || k == (accesses ? 1 : n) - 1) {
            ok = ok && driver::cuModuleLoadData(&m, text.c_str()) == CUDA_SUCCESS && run(m, k, p);
            text = head;
        }
    }
    if (!ok || cudaMemcpy(&first, p, sizeof first, cudaMemcpyDeviceToHost) || first != (modules ? n : row || word ? n / 2 : 1))
        return printf("p[0] is %d\n", first), 1;
    printf("PASS\n");
}
