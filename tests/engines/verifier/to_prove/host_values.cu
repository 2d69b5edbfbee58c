// SPDX-License-Identifier: Apache-2.0
// Values of the host that a launch passes on: each kernel but `from_outside` gets a size that the program computes from n in a way that is not
// followed, and would race with a smaller one, which never comes.
#include <cassert>
#include <cmath>
#include <cstdlib>
#include <vector>

#define WRAPS(name)                                                                                          \
    __global__ void name(float *p, int n, int size)                                                          \
    {                                                                                                        \
        int i = blockIdx.x * blockDim.x + threadIdx.x;                                                       \
        if (i < n)                                                                                           \
            p[i % size] = i;                                                                                 \
    }

WRAPS(of_a_vector)
WRAPS(of_a_class)
WRAPS(of_a_float)
WRAPS(of_a_function)
WRAPS(of_an_array)
WRAPS(from_outside)

struct Image {
    std::vector<float> pixels;
    explicit Image(int n) : pixels(n) {}
    int size() const { return (int)pixels.size(); }
};

__attribute__((noinline)) static int halves(int n, int depth) { return depth ? halves(n, depth - 1) : n; }

int main(int argc, char **argv)
{
    int n = atoi(argv[1]), any = atoi(argv[2]);
    assert(n > 0 && n < 1000 && any > 0 && any < 1000);
    std::vector<int> grown;
    for (int k = 0; k < n; k++)
        grown.push_back(k);
    Image image(n);
    int sizes[4];
    for (int k = 0; k < 4; k++)
        sizes[k] = n + k;
    float *p;
    cudaMalloc(&p, 4096);
    of_a_vector<<<1, 256>>>(p, n, (int)grown.size());
    of_a_class<<<1, 256>>>(p, n, image.size());
    of_a_float<<<1, 256>>>(p, n, (int)std::sqrt((double)n * n));
    of_a_function<<<1, 256>>>(p, n, halves(n, argc));
    of_an_array<<<1, 256>>>(p, n, sizes[argc & 3]);
    from_outside<<<1, 256>>>(p, n, any);
    cudaFree(p);
    return 0;
}
