// SPDX-License-Identifier: Apache-2.0
// Managed memory: a binary search tree that the host builds, the device searches and extends, and the host walks again, with
// a managed counter, prefetches and advice; then objects whose operator new takes managed memory.
#include "complete.h"
#include <algorithm>

struct Managed {
    void *operator new(size_t n)
    {
        void *p;
        CHECK(cudaMallocManaged(&p, n));
        return p;
    }
    void operator delete(void *p)
    {
        CHECK(cudaDeviceSynchronize());
        CHECK(cudaFree(p));
    }
};

struct Node : Managed {
    int key, hits = 0;
    Node *child[2] = {nullptr, nullptr};
    explicit Node(int k) : key(k) {}
};

struct List : Managed {
    int length;
    double *items;
    explicit List(int n) : length(n)
    {
        CHECK(cudaMallocManaged(&items, n * sizeof(double)));
    }
    ~List()
    {
        CHECK(cudaFree(items));
    }
};

__managed__ int found, inserted;

__global__ void search(Node *root, const int *keys, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    for (Node *at = root; at; at = at->child[keys[i] > at->key])
        if (at->key == keys[i]) {
            atomicAdd(&at->hits, 1);
            atomicAdd(&found, 1);
            return;
        }
}

// Nodes of a pool become leaves; the losers of a place go on below the winner.
__global__ void insert(Node *root, Node *pool, const int *keys, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    Node *mine = &pool[i], *at = root;
    mine->key = keys[i];
    mine->hits = 0;
    mine->child[0] = mine->child[1] = nullptr;
    __threadfence();
    for (;;) {
        int key = at->key;
        if (key == keys[i])
            return;
        unsigned long long *link = (unsigned long long *)&at->child[keys[i] > key];
        unsigned long long next = atomicCAS(link, 0ull, (unsigned long long)mine);
        if (!next) {
            atomicAdd(&inserted, 1);
            return;
        }
        __threadfence();
        at = (Node *)next;
    }
}

__global__ void halve(List *list)
{
    for (int i = threadIdx.x; i < list->length; i += blockDim.x)
        list->items[i] *= 0.5;
}

static void walk(const Node *n, std::vector<int> &keys, int &hits)
{
    if (!n)
        return;
    walk(n->child[0], keys, hits);
    keys.push_back(n->key);
    hits += n->hits;
    walk(n->child[1], keys, hits);
}

int main()
{
    const int built = 500, queries = 2003, added = 777;
    Random random(48);
    Node *root = new Node(5000);
    std::vector<int> truth{5000};
    for (int i = 0; i < built; i++) {
        int key = (int)random.below(10000);
        Node **at = &root;
        while (*at && (*at)->key != key)
            at = &(*at)->child[key > (*at)->key];
        if (*at)
            continue;
        *at = new Node(key);
        truth.push_back(key);
    }
    int *keys, want_found = 0;
    CHECK(cudaMallocManaged(&keys, queries * sizeof(int)));
    for (int i = 0; i < queries; i++) {
        keys[i] = (int)random.below(10000);
        want_found += std::find(truth.begin(), truth.end(), keys[i]) != truth.end();
    }
    cudaMemLocation device = {cudaMemLocationTypeDevice, 0};
    CHECK(cudaMemAdvise(keys, queries * sizeof(int), cudaMemAdviseSetReadMostly, device));
    CHECK(cudaMemPrefetchAsync(keys, queries * sizeof(int), device, 0, 0));
    search<<<blocks_for(queries, 96), 96>>>(root, keys, queries);
    finish_launches();
    expect_same("found", found, want_found);

    Node *pool;
    CHECK(cudaMallocManaged(&pool, added * sizeof(Node)));
    for (int i = 0; i < added; i++) {
        keys[i] = (int)random.below(10000);
        truth.push_back(keys[i]);
    }
    size_t before = 0;
    {
        std::vector<int> now;
        int hits = 0;
        walk(root, now, hits);
        before = now.size();
        expect_same("hits", hits, want_found);
    }
    insert<<<blocks_for(added, 128), 128>>>(root, pool, keys, added);
    finish_launches();
    std::sort(truth.begin(), truth.end());
    truth.erase(std::unique(truth.begin(), truth.end()), truth.end());
    std::vector<int> got;
    int hits = 0;
    walk(root, got, hits);
    expect_same("tree", got, truth);
    expect_same("inserted", (size_t)inserted, truth.size() - before);

    List *list = new List(301);
    for (int i = 0; i < list->length; i++)
        list->items[i] = i;
    for (int k = 0; k < 3; k++)
        halve<<<1, 64>>>(list);
    finish_launches();
    for (int i = 0; i < list->length; i++)
        EXPECT(list->items[i] == i / 8.0);
    delete list;
    return finish();
}
