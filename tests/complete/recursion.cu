// SPDX-License-Identifier: Apache-2.0
// Recursive device code: quicksort, Ackermann's function, N queens, adaptive quadrature with a function pointer, an
// expression evaluator, and functions that call each other.
#include "complete.h"
#include <algorithm>
#include <string>

#define BOTH __host__ __device__

BOTH void quicksort(int *x, int lo, int hi)
{
    while (lo < hi) {
        int pivot = x[(lo + hi) / 2], i = lo, j = hi;
        while (i <= j) {
            while (x[i] < pivot)
                i++;
            while (x[j] > pivot)
                j--;
            if (i <= j) {
                int t = x[i];
                x[i++] = x[j];
                x[j--] = t;
            }
        }
        quicksort(x, lo, j);
        lo = i;
    }
}

__global__ void sort_parts(int *x, int n, int part)
{
    int first = (blockIdx.x * blockDim.x + threadIdx.x) * part;
    if (first < n)
        quicksort(x, first, min(first + part, n) - 1);
}

BOTH unsigned ackermann(unsigned m, unsigned n)
{
    return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}

BOTH int queens(unsigned columns, unsigned left, unsigned right, unsigned all)
{
    if (columns == all)
        return 1;
    int count = 0;
    for (unsigned open = all & ~(columns | left | right); open;) {
        unsigned bit = open & -open;
        open ^= bit;
        count += queens(columns | bit, (left | bit) << 1, (right | bit) >> 1, all);
    }
    return count;
}

// Thread t has its first queen in column t.
__global__ void count_queens(int n, int *count, unsigned *ack)
{
    unsigned t = threadIdx.x, all = (1u << n) - 1;
    if (t < n)
        atomicAdd(count, queens(1u << t, 2u << t, (1u << t) >> 1, all));
    if (t < 12)
        ack[t] = ackermann(t % 3, t);
}

typedef double (*Function)(double);

BOTH double bell(double x)
{
    return 1 / (1 + 25 * x * x);
}
BOTH double wave(double x)
{
    return x * x * x - x + 0.5;
}

BOTH double integrate(Function f, double a, double b, double fa, double fm, double fb, double whole, double tolerance, int depth)
{
    double m = (a + b) / 2, fl = f((a + m) / 2), fr = f((m + b) / 2);
    double left = (m - a) / 6 * (fa + 4 * fl + fm), right = (b - m) / 6 * (fm + 4 * fr + fb), error = left + right - whole;
    if (depth == 0 || fabs(error) < tolerance)
        return left + right;
    return integrate(f, a, m, fa, fl, fm, left, tolerance / 2, depth - 1) +
           integrate(f, m, b, fm, fr, fb, right, tolerance / 2, depth - 1);
}

BOTH double integral(Function f, double a, double b)
{
    double fa = f(a), fm = f((a + b) / 2), fb = f(b);
    return integrate(f, a, b, fa, fm, fb, (b - a) / 6 * (fa + 4 * fm + fb), 1e-9, 20);
}

__global__ void quadrature(double *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = integral(i % 2 ? bell : wave, -1 + i * 0.01, 1 + i * 0.02);
}

// Sums, products, digits and parentheses: three functions that call each other.
struct Parser {
    const char *at;
    BOTH int sum();
    BOTH int product();
    BOTH int atom();
};
BOTH int Parser::sum()
{
    int v = product();
    while (*at == '+' || *at == '-')
        v = *at++ == '+' ? v + product() : v - product();
    return v;
}
BOTH int Parser::product()
{
    int v = atom();
    while (*at == '*') {
        at++;
        v *= atom();
    }
    return v;
}
BOTH int Parser::atom()
{
    if (*at == '(') {
        at++;
        int v = sum();
        at++;
        return v;
    }
    int v = 0;
    while (*at >= '0' && *at <= '9')
        v = v * 10 + *at++ - '0';
    return v;
}

const int LONGEST = 64;

__global__ void evaluate(const char *text, int n, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = Parser{text + i * LONGEST}.sum();
}

static std::string expression(Random &random, int depth)
{
    unsigned kind = depth ? random.below(4) : 0;
    if (kind == 0)
        return std::to_string(random.below(10));
    if (kind == 1)
        return "(" + expression(random, depth - 1) + ")";
    return expression(random, depth - 1) + "+-*"[random.below(3)] + expression(random, depth - 1);
}

int main()
{
    CHECK(cudaDeviceSetLimit(cudaLimitStackSize, 16384));
    const int n = 5003, part = 57, board = 8, integrals = 33, expressions = 103;
    Random random(51);
    std::vector<int> x(n);
    for (auto &e : x)
        e = (int)random.below(1000);
    int *d = to_device(x), *count = device_zeros<int>(1);
    unsigned *ack = device_new<unsigned>(12);
    sort_parts<<<blocks_for(blocks_for(n, part), 32), 32>>>(d, n, part);
    count_queens<<<1, 32>>>(board, count, ack);
    double *out = device_new<double>(integrals);
    quadrature<<<blocks_for(integrals, 24), 24>>>(out, integrals);
    std::vector<char> text(expressions * LONGEST, 0);
    std::vector<int> want_values;
    for (int i = 0; i < expressions; i++) {
        std::string s;
        do
            s = expression(random, 4);
        while (s.size() >= LONGEST);
        memcpy(&text[i * LONGEST], s.c_str(), s.size());
        want_values.push_back(Parser{&text[i * LONGEST]}.sum());
    }
    int *values = device_new<int>(expressions);
    evaluate<<<blocks_for(expressions, 64), 64>>>(to_device(text), expressions, values);
    finish_launches();
    for (int i = 0; i < n; i += part)
        std::sort(x.begin() + i, x.begin() + std::min(n, i + part));
    expect_same("sorted", from_device(d, n), x);
    expect_same("queens", from_device(count), 92);
    std::vector<unsigned> want_ack;
    for (unsigned t = 0; t < 12; t++)
        want_ack.push_back(ackermann(t % 3, t));
    expect_same("Ackermann", from_device(ack, 12), want_ack);
    std::vector<double> want_integrals;
    for (int i = 0; i < integrals; i++)
        want_integrals.push_back(integral(i % 2 ? bell : wave, -1 + i * 0.01, 1 + i * 0.02));
    expect_near("integrals", from_device(out, integrals), want_integrals, 1e-9);
    expect_same("expressions", from_device(values, expressions), want_values);
    return finish();
}
