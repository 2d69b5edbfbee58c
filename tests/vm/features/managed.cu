// SPDX-License-Identifier: Apache-2.0
// Managed memory: cudaMallocManaged, __managed__, a linked structure shared by both sides, prefetch and advice.
#include "../../check.h"

struct Node {
    int value;
    Node *next;
};

__managed__ int counter = 5;
__managed__ float table[4] = {1, 2, 3, 4};

__global__ void walk(Node *n, int *sum)
{
    for (; n; n = n->next) {
        *sum += n->value;
        n->value = -n->value;
    }
    counter++;
    table[3] = table[0] + table[1];
}

int main()
{
    Node *head = nullptr;
    int *sum;
    CHECK(cudaMallocManaged(&sum, sizeof *sum));
    *sum = 0;
    for (int i = 1; i <= 10; i++) {
        Node *n;
        CHECK(cudaMallocManaged(&n, sizeof *n, cudaMemAttachGlobal));
        n->value = i;
        n->next = head;
        head = n;
    }
    counter = 41;
    cudaMemLocation gpu = {};
    gpu.type = cudaMemLocationTypeDevice;
    gpu.id = 0;
    CHECK(cudaMemAdvise(sum, sizeof *sum, cudaMemAdviseSetPreferredLocation, gpu));
    CHECK(cudaMemPrefetchAsync(sum, sizeof *sum, gpu, 0));
    walk<<<1, 1>>>(head, sum);
    CHECK(cudaDeviceSynchronize());
    EXPECT_EQ(*sum, 55);
    EXPECT_EQ(counter, 42);
    EXPECT(table[3] == 3);
    for (int i = 10; head; i--) {
        EXPECT_EQ(head->value, -i);
        Node *next = head->next;
        CHECK(cudaFree(head));
        head = next;
    }
    cudaPointerAttributes attributes;
    CHECK(cudaPointerGetAttributes(&attributes, sum));
    EXPECT_EQ(attributes.type, cudaMemoryTypeManaged);
    CHECK(cudaFree(sum));
    return finish();
}
