// SPDX-License-Identifier: Apache-2.0
// A launch inside the arguments of a launch, one that is abandoned by an exception, and launches from many threads.
#include "../../../check.h"

#include <stdexcept>
#include <thread>
#include <vector>

__global__ void add(int *sum, int value) { atomicAdd(sum, value + (int)gridDim.x); }

static int launch_inner(int *sum)
{
    add<<<3, 1>>>(sum, 10); // 3 * (10 + 3)
    return 100;
}

static int fail() { throw std::runtime_error("no value"); }

int main()
{
    int *sum, host = 0;
    CHECK(cudaMalloc(&sum, sizeof *sum));
    CHECK(cudaMemset(sum, 0, sizeof *sum));
    add<<<2, 1>>>(sum, launch_inner(sum)); // 2 * (100 + 2)
    CHECK(cudaGetLastError());
    for (int i = 0; i < 50; i++) {
        try {
            add<<<9, 9>>>(sum, fail());
        } catch (const std::runtime_error &) {
        }
    }
    add<<<1, 1>>>(sum, 0); // 1, with its own configuration
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(&host, sum, sizeof host, cudaMemcpyDeviceToHost));
    EXPECT_EQ(host, 39 + 204 + 1);

    std::vector<std::thread> threads;
    for (int t = 0; t < 8; t++)
        threads.emplace_back([sum] {
            for (int i = 0; i < 20; i++)
                add<<<1, 1>>>(sum, 0);
            CHECK(cudaGetLastError());
            EXPECT_EQ(cudaSetDevice(1000), cudaErrorInvalidDevice); // this thread's error, and no other's
        });
    for (auto &t : threads)
        t.join();
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(&host, sum, sizeof host, cudaMemcpyDeviceToHost));
    EXPECT_EQ(host, 244 + 160);
    CHECK(cudaFree(sum));
    return finish();
}
