// SPDX-License-Identifier: Apache-2.0
// A process that has all the mappings that the system lets it have: a page that the host comes to cannot be opened by itself, only with what lies in front of
// it. The program goes on all the same, and what the host reads first is checked. One race: the host reads what the launch writes.
#include "../../../check.h"

#include <atomic>
#include <cerrno>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static std::atomic<bool> crowded;
static std::atomic<long> refused;

extern "C" int mprotect(void *at, size_t size, int access) noexcept {
    if (crowded && size <= 4096 && access != PROT_NONE) {
        refused++;
        errno = ENOMEM;
        return -1;
    }
    return (int)syscall(SYS_mprotect, at, size, access);
}

enum { ALLOCATIONS = 100 };

__global__ void add(int *p) { p[threadIdx.x]++; }

int main() {
    int *all[ALLOCATIONS], sum = 0;
    for (int k = 0; k < ALLOCATIONS; k++)
        CHECK(cudaMallocManaged(&all[k], 32 * sizeof(int)));
    add<<<1, 32>>>(all[ALLOCATIONS - 1]);
    crowded = true;
    sum = *(volatile int *)all[ALLOCATIONS - 1]; // RACE
    for (int k = 1; k < ALLOCATIONS; k++)
        sum += *(volatile int *)all[k];
    crowded = false;
    CHECK(cudaDeviceSynchronize());
    printf("%s: %ld pages were not opened by themselves, %d\n", refused ? "PASS" : "FAIL", (long)refused, sum >= 0);
}
