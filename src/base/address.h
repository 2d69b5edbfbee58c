// SPDX-License-Identifier: Apache-2.0
// address — addresses in sentences that must be equal in every run of a program. Those that the tool chooses are. Linux
// draws those of the host's memory, unless the process began without that (ADDR_NO_RANDOMIZE; containers may refuse).
#ifndef GR_BASE_ADDRESS_H
#define GR_BASE_ADDRESS_H

#include <stdbool.h>
#include <stdint.h>

enum { GR_ADDRESS_TEXT = 32 };

// Whether Linux drew the address: this process's are drawn, and it is where programs, libraries, heaps and stacks are.
bool gr_address_is_drawn(uint64_t address);
// "0x220000000010", or "an address of the host" if it was drawn. Returns `out`.
const char *gr_address_text(uint64_t address, char out[GR_ADDRESS_TEXT]);

#endif
