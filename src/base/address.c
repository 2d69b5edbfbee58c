// SPDX-License-Identifier: Apache-2.0
#include "base/address.h"

#include <stddef.h>
#include <stdio.h>
#include <sys/personality.h>

// x86-64 Linux draws 28 bits of a page's number (arch/x86/mm/mmap.c): upwards from two thirds of the address space for
// programs and heaps, downwards from its end for stacks and mmap, upwards from a third for mmap under no stack limit.
static const struct {
    uint64_t from, to;
} drawn[] = {
    {0x2aaaaaaa0000, 0x2c0000000000},
    {0x555555550000, 0x570000000000},
    {0x7c0000000000, 0x800000000000},
};

static bool draws(void) {
    static int known; // 0: not asked yet. Several threads at once find the same
    int is = __atomic_load_n(&known, __ATOMIC_RELAXED);
    if (!is) {
        int persona = personality(0xffffffff); // asks only
        is = persona >= 0 && persona & ADDR_NO_RANDOMIZE ? 1 : 2;
        __atomic_store_n(&known, is, __ATOMIC_RELAXED);
    }
    return is == 2;
}

bool gr_address_is_drawn(uint64_t address) {
    for (size_t k = 0; k < sizeof drawn / sizeof *drawn; k++)
        if (address >= drawn[k].from && address < drawn[k].to)
            return draws();
    return false;
}

const char *gr_address_text(uint64_t address, char out[GR_ADDRESS_TEXT]) {
    if (gr_address_is_drawn(address))
        snprintf(out, GR_ADDRESS_TEXT, "an address of the host");
    else
        snprintf(out, GR_ADDRESS_TEXT, "0x%llx", (unsigned long long)address);
    return out;
}
