// SPDX-License-Identifier: Apache-2.0
// b+tree (LDetector, table V; Rodinia): a block walks down the tree for one key, each thread looks at one key of the node. The race: a key that is twice in a leaf fits two threads.
#include "program.h"

enum { ORDER = 1024, QUERIES = 8 };

struct Node {
    long long key[ORDER], down[ORDER]; // down: the child's number, or the value
};

__global__ void find(const Node *nodes, const long long *wanted, long long *node, long long *answer) {
    int t = threadIdx.x, b = blockIdx.x;
    long long key = wanted[b];
    const Node *root = nodes;
    if (root->key[t] <= key && (t + 1 == ORDER || key < root->key[t + 1]))
        node[b] = root->down[t];
    __syncthreads();
    const Node *leaf = nodes + node[b];
    if (leaf->key[t] == key)
        answer[b] = leaf->down[t]; // the race
}

int main(int argc, char **argv) {
    Program p(argc, argv);
    unsigned leaves = p.part(ORDER, QUERIES);
    std::vector<Node> nodes(leaves + 1);
    std::vector<long long> keys;
    for (unsigned k = 0; k < ORDER; k++) {
        nodes[0].key[k] = k < leaves ? 3LL * ORDER * k : INT64_MAX;
        nodes[0].down[k] = k + 1;
    }
    for (unsigned l = 0; l < leaves; l++)
        for (unsigned k = 0; k < ORDER; k++) { // the two in the middle of a leaf are equal
            nodes[l + 1].key[k] = 3LL * (l * ORDER + (k == ORDER / 2 ? k - 1 : k));
            nodes[l + 1].down[k] = l * ORDER + k;
        }
    for (unsigned q = 0; q < QUERIES; q++)
        keys.push_back(nodes[1 + q * leaves / QUERIES].key[q % 2 ? ORDER / 2 : 17 * q]);
    Node *tree = p.memory(nodes);
    long long *wanted = p.memory(keys), *node = p.memory<long long>(QUERIES), *answer = p.memory<long long>(QUERIES);
    p.time(find, QUERIES, ORDER, [&] { MUST(cudaMemset(answer, 0xff, QUERIES * 8)); }, [&] { find<<<QUERIES, ORDER>>>(tree, wanted, node, answer); });
    return 0;
}
