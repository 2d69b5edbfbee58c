// SPDX-License-Identifier: Apache-2.0
#include <scan.cuh>

int main() {
    int *p;
    cudaMalloc(&p, 64 * sizeof *p);
    scan::run<int, 64>(p);
    cudaFree(p);
}
