// SPDX-License-Identifier: Apache-2.0
// blocks — an engine of the tests' own, which knows of each store whether several blocks execute it. Its code counts in
// an area of its own format; its classes, options and decoder are its own, too.
#ifndef GR_TESTS_BLOCKS_H
#define GR_TESTS_BLOCKS_H

#include "findings/area.h"

#include <stdint.h>

// Of a site; of number 0: `count` is what --blocks-least says.
typedef struct BlocksCell {
    uint64_t count;     // threads that executed it
    uint32_t last_plus; // highest %ctaid.x + 1
    uint32_t first_neg; // highest 2^32 - 1 - %ctaid.x
} BlocksCell;

extern const GrDecoder blocks_decoder;
extern const GrClass blocks_classes[];

#endif
