// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>

void go(int *a, int n);

int main(int argc, char **argv) {
    int *p, n = atoi(argv[1]);
    cudaMalloc(&p, n * sizeof(int));
    go(p, n * 2);
}
