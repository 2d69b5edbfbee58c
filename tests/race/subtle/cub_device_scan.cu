// SPDX-License-Identifier: Apache-2.0
// cub::DeviceScan over several tiles: its decoupled look-back is strong accesses all the way.
// CLEAN -- CUB publishes a tile's state with its flag, in one word
#include "../corpus.h"

#include <cub/device/device_scan.cuh>

static int test(bool) {
    const int n = 5000;
    Buffer<int> in(std::vector<int>(n, 2)), out(n);
    size_t bytes = 0;
    CHECK(cub::DeviceScan::InclusiveSum(nullptr, bytes, (int *)in, (int *)out, n));
    Buffer<char> storage(bytes);
    CHECK(cub::DeviceScan::InclusiveSum((char *)storage, bytes, (int *)in, (int *)out, n)); // NEVER
    return count_wrong(out.host(), [](int i) { return 2 * i + 2; });
}

CORPUS_MAIN(test)
