// SPDX-License-Identifier: Apache-2.0
// What the programs of this folder share beside check.h: input that is the same everywhere, memory that is copied back
// and forth, comparison with the CPU's answer, and the last line (PASS or FAIL) with the exit status that goes with it.
#pragma once

#include "../check.h"

#include <cmath>
#include <cstdint>
#include <vector>

// Numbers without pattern, the same on every machine.
struct Random {
    uint64_t state;
    explicit Random(uint64_t seed) : state(seed * 0x9e3779b97f4a7c15ull + 1) {}
    uint32_t next() {
        state = state * 6364136223846793005ull + 1442695040888963407ull;
        uint32_t x = (uint32_t)(state >> 32);
        return (x ^ (x >> 15)) * 0x2c1b3c6du ^ x;
    }
    uint32_t below(uint32_t n) { return (uint32_t)((uint64_t)next() * n >> 32); }
    float uniform() // [0, 1)
    {
        return (float)(next() >> 8) * (1.0f / 16777216.0f);
    }
};

template <class T> T *device_new(size_t n) {
    T *p;
    CHECK(cudaMalloc(&p, n * sizeof(T)));
    return p;
}

template <class T> T *device_zeros(size_t n) {
    T *p = device_new<T>(n);
    CHECK(cudaMemset(p, 0, n * sizeof(T)));
    return p;
}

template <class T> T *to_device(const std::vector<T> &v) {
    T *p = device_new<T>(v.size());
    CHECK(cudaMemcpy(p, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice));
    return p;
}

template <class T> std::vector<T> from_device(const T *p, size_t n) {
    std::vector<T> v(n);
    CHECK(cudaMemcpy(v.data(), p, n * sizeof(T), cudaMemcpyDeviceToHost));
    return v;
}

template <class T> T from_device(const T *p) {
    T v;
    CHECK(cudaMemcpy(&v, p, sizeof v, cudaMemcpyDeviceToHost));
    return v;
}

// A number as text. (Without <iostream>: nvcc takes longer to read that than to compile most of these programs.)
template <class T> void print_number(T v) {
    if (T(1) / T(2) != T(0))
        printf("%.9g", (double)v);
    else if (T(-1) > T(1)) // unsigned
        printf("%llu", (unsigned long long)v);
    else
        printf("%lld", (long long)v);
}

template <class T, class U> void print_difference(const char *what, size_t i, T got, U want) {
    printf("%s[%zu] is ", what, i);
    print_number(got);
    printf(", not ");
    print_number(want);
    printf("\n");
}

static inline bool same_size(const char *what, size_t got, size_t want) {
    if (got != want) {
        failures++;
        printf("%s: %zu elements, not %zu\n", what, got, want);
    }
    return got == want;
}

template <class T> void expect_same(const char *what, const std::vector<T> &got, const std::vector<T> &want) {
    if (!same_size(what, got.size(), want.size()))
        return;
    for (size_t i = 0; i < want.size(); i++)
        if (!(got[i] == want[i]) && ++failures <= 10)
            print_difference(what, i, +got[i], +want[i]);
}

template <class T> void expect_same(const char *what, T got, T want) {
    expect_same(what, std::vector<T>{got}, std::vector<T>{want});
}

// Within `tolerance`, absolute for numbers up to 1 and relative above.
template <class T, class U>
void expect_near(const char *what, const std::vector<T> &got, const std::vector<U> &want, double tolerance) {
    if (!same_size(what, got.size(), want.size()))
        return;
    for (size_t i = 0; i < want.size(); i++) {
        double g = (double)got[i], w = (double)want[i];
        if (!(std::fabs(g - w) <= tolerance * std::fmax(1.0, std::fabs(w))) && ++failures <= 10)
            print_difference(what, i, g, w);
    }
}

static inline unsigned blocks_for(size_t n, unsigned block) { return (unsigned)((n + block - 1) / block); }

// The launches before it went well, and are done.
static inline void finish_launches() {
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
}
