// SPDX-License-Identifier: Apache-2.0
// A library with kernels that is loaded, unloaded and loaded again: its code is registered and unregistered each time.
// PLUGIN: plugin_code.cu
#include "../../../check.h"

#include <dlfcn.h>
#include <string>

__global__ void host_kernel(int *out) { *out += 1; }

int main(int, char **argv)
{
    std::string path = std::string(argv[0]) + ".so";
    int *device, host = 0;
    CHECK(cudaMalloc(&device, sizeof *device));
    CHECK(cudaMemset(device, 0, sizeof *device));
    for (int round = 1; round <= 3; round++) {
        void *library = dlopen(path.c_str(), RTLD_NOW);
        if (!library) {
            printf("%s\n", dlerror());
            return 1;
        }
        int (*run)(int *) = (int (*)(int *))dlsym(library, "run");
        EXPECT_EQ(run(device), 1); // its variable starts anew each time
        host_kernel<<<1, 1>>>(device);
        CHECK(cudaGetLastError());
        CHECK(cudaDeviceSynchronize());
        EXPECT_EQ(dlclose(library), 0);
        CHECK(cudaMemcpy(&host, device, sizeof host, cudaMemcpyDeviceToHost));
        EXPECT_EQ(host, 11 * round);
    }
    CHECK(cudaFree(device));
    return finish();
}
