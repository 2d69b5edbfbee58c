// SPDX-License-Identifier: Apache-2.0
// WITHOUT: exact tracker privatizer
// footprint — a process uses little more memory than it allocates: device, managed and pinned memory, all of it written by a kernel.
#include "complete.h"

__global__ void touch(unsigned *p, size_t words)
{
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < words; i += (size_t)gridDim.x * blockDim.x)
        p[i * 512] = (unsigned)i; // twice per page
}

// Of the whole process, in bytes; memory that is mapped twice counts once.
static size_t in_use()
{
    char line[256];
    unsigned long long kib = 0;
    FILE *f = fopen("/proc/self/smaps_rollup", "r");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "Pss: %llu kB", &kib) == 1)
            break;
    if (f)
        fclose(f);
    return (size_t)kib << 10;
}

int main()
{
    const size_t MIB = 1 << 20, device = 192 * MIB, managed = 32 * MIB, pinned = 32 * MIB, all = device + managed + pinned;
    unsigned *d = device_new<unsigned>(device / 4), *m, *p;
    CHECK(cudaMallocManaged(&m, managed));
    CHECK(cudaMallocHost(&p, pinned));
    touch<<<256, 256>>>(d, device / 2048);
    touch<<<256, 256>>>(m, managed / 2048);
    touch<<<256, 256>>>(p, pinned / 2048);
    CHECK(cudaDeviceSynchronize());
    size_t used = in_use();
    EXPECT(used == 0 || used >= all / 2); // 0: not a system that tells
    EXPECT(used <= 64 * MIB + all / 10 * 11);
    fprintf(stderr, "%zu MiB allocated, %zu MiB in use\n", all / MIB, used / MIB);
    EXPECT(m[512] == 1 && p[managed / 4 - 512] == managed / 2048 - 1);
    CHECK(cudaFree(d));
    CHECK(cudaFree(m));
    CHECK(cudaFreeHost(p));
    return finish();
}
