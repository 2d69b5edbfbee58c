// SPDX-License-Identifier: Apache-2.0
// The kernels of ../ptx/async.ptx whose answers do not depend on chance, through the driver API: so that a GPU can be
// asked what the CPU device's tests expect.
// ARGS: async.ptx
#include "../../check.h"

#include "../async_expect.h"

#include <cuda.h>
#include <string>
#include <vector>

static CUmodule module;

static void run(const char *name, unsigned threads, std::vector<void *> args)
{
    CUfunction f;
    CHECK_DRIVER(cuModuleGetFunction(&f, module, name));
    CHECK_DRIVER(cuLaunchKernel(f, 1, 1, 1, threads, 1, 1, 0, NULL, args.data(), NULL));
    CHECK_DRIVER(cuCtxSynchronize());
}

int main(int argc, char **argv)
{
    std::string text;
    FILE *file = argc > 1 ? fopen(argv[1], "r") : NULL;
    if (!file)
        return 2;
    for (int c; (c = getc(file)) != EOF;)
        text += (char)c;
    fclose(file);
    CHECK(cudaFree(0));
    CHECK_DRIVER(cuModuleLoadData(&module, text.c_str()));
    uint32_t *in, *out;
    CHECK(cudaMallocManaged(&in, 8192));
    CHECK(cudaMallocManaged(&out, 8192));
    auto reset = [&] {
        for (unsigned k = 0; k < 2048; k++)
            in[k] = 1000 + k;
        memset(out, 0, 8192);
    };
    CUdeviceptr din = (CUdeviceptr)in, dout = (CUdeviceptr)out;

    reset();
    run("mbarrier_forms", 1, {&dout});
    for (unsigned k = 0; k < 17; k++)
        if (k != 16 && out[k] != mbarrier_forms_want[k]) // the bits of an object are the device's affair
            printf("mbarrier question %u: %u, not %u\n", k, out[k], mbarrier_forms_want[k]), failures++;

    reset();
    run("copy_sizes", 64, {&din, &dout});
    for (unsigned t = 0; t < 64; t++) {
        const uint32_t *w = out + t * 8, first = 1000 + t * 8;
        uint64_t mask = t % 8 ? ~UINT64_C(0) >> (64 - 8 * (t % 8)) : 0, got;
        memcpy(&got, &w[2], 8);
        EXPECT_EQ(w[0], first);
        EXPECT_EQ(w[1], UINT32_MAX);
        EXPECT_EQ(got, ((uint64_t)(first + 3) << 32 | (first + 2)) & mask);
        for (unsigned k = 0; k < 4; k++)
            EXPECT_EQ(w[4 + k], t % 2 ? 0 : first + 4 + k);
    }

    for (uint32_t noinc = 0; noinc < 2; noinc++) {
        reset();
        run("copy_mbarrier", 32, {&din, &dout, &noinc});
        for (unsigned t = 0; t < 32; t++)
            EXPECT_EQ(out[t], 1000 + (t + 1) % 32 * 4 + 3);
    }

    reset();
    run("bulk_forms", 1, {&din, &dout});
    for (unsigned k = 0; k < 32; k++)
        EXPECT_EQ(out[k], in[k]);

    reset();
    run("shared_updates", 1, {&dout});
    for (unsigned k = 0; k < 32; k++)
        EXPECT_EQ(out[k], shared_updates_want[k]);

    reset();
    memcpy(in, reduce_from, sizeof reduce_from);
    memcpy(out, reduce_to, sizeof reduce_to);
    run("reduce_global", 1, {&din, &dout});
    const Cell *got = (const Cell *)out;
    for (unsigned k = 0; k < 27; k++)
        if (memcmp(&got[k], &reduce_want[k], 16))
            printf("reduction %u: %08x %08x %08x %08x\n", k, got[k].u[0], got[k].u[1], got[k].u[2], got[k].u[3]), failures++;
    return finish();
}
