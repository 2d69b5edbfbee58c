// SPDX-License-Identifier: Apache-2.0
// WITHOUT: tracker
// OUTPUT: longest word: disproportionately, 18 letters
// OUTPUT: -7 0x1f 3.25 %
// Memory from malloc and new in kernels: linked lists built in one launch and freed in the next, a string builder, virtual
// objects made on the device, per-block scratch arrays; with printf and assert.
#include "complete.h"
#include <cassert>
#include <string>

struct Link {
    int value;
    Link *next;
};

__global__ void build(Link **heads, int lists)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= lists)
        return;
    Link *head = nullptr;
    for (int k = 0; k <= i % 13; k++) {
        Link *l = (Link *)malloc(sizeof(Link));
        assert(l != nullptr);
        *l = {i * k, head};
        head = l;
    }
    heads[i] = head;
}

__global__ void take_down(Link **heads, int lists, int *sums)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
    if (i >= lists)
        return;
    for (Link *l = heads[i]; l;) {
        Link *next = l->next;
        sum += l->value;
        free(l);
        l = next;
    }
    sums[i] = sum;
}

struct Shape {
    __device__ virtual ~Shape()
    {
    }
    __device__ virtual float area() const = 0;
};
struct Circle : Shape {
    float r;
    __device__ explicit Circle(float radius) : r(radius)
    {
    }
    __device__ float area() const override
    {
        return 3.0f * r * r;
    }
};
struct Box : Shape {
    float w, h;
    __device__ Box(float a, float b) : w(a), h(b)
    {
    }
    __device__ float area() const override
    {
        return w * h;
    }
};

__global__ void shapes(float *areas, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    Shape *s = i % 3 ? (Shape *)new Box(i, 2.0f) : (Shape *)new Circle(i);
    areas[i] = s->area();
    delete s;
}

__global__ void scratch(int *out)
{
    __shared__ int *array;
    int n = (blockIdx.x + 1) * 37;
    if (threadIdx.x == 0)
        array = new int[n];
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        array[i] = i * i;
    __syncthreads();
    int sum = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        sum += array[n - 1 - i];
    atomicAdd(&out[blockIdx.x], sum);
    __syncthreads();
    if (threadIdx.x == 0)
        delete[] array;
}

__global__ void longest(const char *text)
{
    int best = 0, at = 0;
    for (int i = 0, begin = 0;; i++)
        if (text[i] == ' ' || !text[i]) {
            if (i - begin > best) {
                best = i - begin;
                at = begin;
            }
            begin = i + 1;
            if (!text[i])
                break;
        }
    char *word = (char *)malloc(best + 1);
    for (int i = 0; i < best; i++)
        word[i] = text[at + i];
    word[best] = 0;
    printf("longest word: %s, %d letters\n", word, best);
    printf("%d %#x %.2f %%\n", -7, 31, 3.25);
    free(word);
}

int main()
{
    const int lists = 307, n = 203, blocks = 6;
    Link **heads = device_new<Link *>(lists);
    int *sums = device_new<int>(lists);
    build<<<blocks_for(lists, 64), 64>>>(heads, lists);
    take_down<<<blocks_for(lists, 96), 96>>>(heads, lists, sums);
    float *areas = device_new<float>(n);
    shapes<<<blocks_for(n, 64), 64>>>(areas, n);
    int *out = device_zeros<int>(blocks);
    scratch<<<blocks, 48>>>(out);
    const std::string text = "a disproportionately long word";
    longest<<<1, 1>>>(to_device(std::vector<char>(text.c_str(), text.c_str() + text.size() + 1)));
    finish_launches();
    std::vector<int> want(lists), want_out(blocks, 0);
    std::vector<float> want_areas(n);
    for (int i = 0; i < lists; i++)
        for (int k = 0; k <= i % 13; k++)
            want[i] += i * k;
    for (int i = 0; i < n; i++)
        want_areas[i] = i % 3 ? 2.0f * i : 3.0f * i * i;
    for (int b = 0; b < blocks; b++)
        for (int i = 0; i < (b + 1) * 37; i++)
            want_out[b] += i * i;
    expect_same("lists", from_device(sums, lists), want);
    expect_same("areas", from_device(areas, n), want_areas);
    expect_same("scratch", from_device(out, blocks), want_out);
    return finish();
}
