// SPDX-License-Identifier: Apache-2.0
// What the parts of linked_parts.cu have of each other.
#pragma once

const int OPERATIONS = 4, PRIMES = 7;
typedef int (*Operation)(int);

extern __device__ Operation operations[OPERATIONS];
extern __constant__ int primes[PRIMES];
extern __device__ int applied;
__device__ int collatz_length(int n);
void negate_there(int *data, int n);
