// SPDX-License-Identifier: Apache-2.0
// A failed assertion: the program itself prints it, on standard error and in CUDA's words, before the call that tells of it returns; the
// error stays. A string that is none stops printf.
#undef NDEBUG
#include "../../../check.h"

#include <cassert>
#include <string>
#include <unistd.h>

namespace space {
template <class T> __global__ void asserts(const T *p) { assert(p[blockIdx.x] > 1 && "some \"text\""); }
}
__global__ void bad_string() { printf("%s\n", (const char *)16); }

// What `call` writes to standard error.
template <class Call> static std::string written(Call call)
{
    char name[] = "/tmp/gpurace-assertion-XXXXXX";
    int file = mkstemp(name), saved = dup(2);
    dup2(file, 2);
    call();
    dup2(saved, 2);
    close(saved);
    std::string text((size_t)lseek(file, 0, SEEK_END), ' ');
    EXPECT(pread(file, &text[0], text.size(), 0) == (ssize_t)text.size());
    close(file);
    unlink(name);
    return text;
}

int main()
{
    int *p;
    CHECK(cudaMalloc(&p, 16));
    CHECK(cudaMemset(p, 0, 16));
    cudaError_t e = cudaSuccess;
    std::string text = written([&] {
        space::asserts<<<dim3(1, 1), dim3(2, 2)>>>(p);
        e = cudaDeviceSynchronize();
    });
    EXPECT_EQ(e, cudaErrorAssert);
    EXPECT(text.find("/assertion.cu:12: void space::asserts(const T *) [with T = int]: block: [0,0,0], thread: [0,1,0] "
                     "Assertion `p[blockIdx.x] > 1 && \"some \\\"text\\\"\"` failed.\n") != std::string::npos);
    EXPECT_EQ(cudaGetLastError(), cudaErrorAssert);
    EXPECT_EQ(cudaFree(p), cudaErrorAssert);
    CHECK(cudaDeviceReset());
    bad_string<<<1, 1>>>();
    EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
    return finish();
}
