// SPDX-License-Identifier: Apache-2.0
// addresses — random kernels whose addresses are hashes: products, shifts, divisions and casts of the thread's number,
// many of which wrap.
#ifndef GR_TEST_ORACLE_ADDRESSES_H
#define GR_TEST_ORACLE_ADDRESSES_H

#include "kernel.h"

enum { ADDRESSES_BYTES = 65536, ADDRESSES_MOST = 4 };

typedef struct AddressKernel {
    Kernel launch; // its grid, block and kind; it has no statements
    StrBuf text;   // a module; its kernel is k(memory)
    bool wraps;    // an operation of an address that is used leaves its type's range in some thread
    unsigned n;    // accesses
    struct {
        unsigned line;
        bool writes, shared;
    } access[ADDRESSES_MOST];
} AddressKernel;

// The kernel of that number, the same on every machine. False: memory is out.
bool address_kernel(uint64_t number, AddressKernel *out);
void address_kernel_free(AddressKernel *k);

#endif
