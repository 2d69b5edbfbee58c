// SPDX-License-Identifier: Apache-2.0
// fuzz_api — what is the same for every input: modules of our own, and a process that gpurace is in.
#ifndef GR_FUZZ_API_H
#define GR_FUZZ_API_H

// Each version of an entry point under its own name.
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { FUZZ_TEXTS = 8, FUZZ_PAGES = 2 << 20 };
extern const char *const fuzz_texts[FUZZ_TEXTS];

// FUZZ_CALLS=1: each call's name and result is said.
extern bool fuzz_says_calls;

// Starts this program anew as `gpurace run` would, with libgpurace.so preloaded. Returns in the process that has it.
// `self` is argv[0].
void fuzz_attach(const char *self);

// A size that the machine may well have, or one that none has.
size_t fuzz_size(uint64_t number);

#endif
