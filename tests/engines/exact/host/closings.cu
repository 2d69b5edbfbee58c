// SPDX-License-Identifier: Apache-2.0
// Managed allocations with launches between that the host does not wait for: each is closed to the host once, and opened once, not with every launch
// again; and the last one is watched as the first. One race: the host reads what the last launch writes.
#include "../../../check.h"

#include <atomic>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static std::atomic<long> calls;

extern "C" int mprotect(void *at, size_t size, int access) noexcept {
    calls++;
    return (int)syscall(SYS_mprotect, at, size, access);
}

enum { ALLOCATIONS = 400 };

__global__ void add(int *p) { p[threadIdx.x]++; }

int main() {
    int *mine = NULL, seen = 0;
    for (int k = 0; k < ALLOCATIONS; k++) {
        CHECK(cudaMallocManaged(&mine, 32 * sizeof *mine));
        add<<<1, 32>>>(mine);
    }
    seen = *(volatile int *)mine; // RACE
    CHECK(cudaDeviceSynchronize());
    long n = calls;
    printf("%s: %ld calls of mprotect, %d\n", n < 8 * ALLOCATIONS ? "PASS" : "FAIL", n, seen >= 0);
}
