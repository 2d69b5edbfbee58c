// SPDX-License-Identifier: Apache-2.0
// A reader that does not wait: it looks at the flag once and reads the letter if it is up. That is right as long as
// it does look; the racy one reads the letter whatever the flag says and throws it away afterwards.
// RACE 1: read-write race, global, can-overlap -- the letter is read before it is known whether it was written
// FIXED: the letter is read only when the flag was seen
#include "../corpus.h"

template <bool FIXED> __global__ void pass(int *letter, volatile int *flag, int *out)
{
    if (blockIdx.x == 0) {
        *letter = 42; // SIDE 1
        __threadfence();
        *flag = 1; // NEVER
    } else if (FIXED) {
        *out = -1;
        if (*flag) { // FIX
            __threadfence();
            *out = *letter; // NEVER
        }
    } else {
        int early = *(volatile int *)letter; // SIDE 1
        *out = *flag ? early : -1;           // NEVER
    }
}

static int test(bool fixed)
{
    Buffer<int> letter(1), flag(1), out(1);
    LAUNCH(pass, 2, 1, letter, flag, out);
    int got = out.host()[0];
    return got != 42 && got != -1;
}

CORPUS_MAIN(test)
