// SPDX-License-Identifier: Apache-2.0
// Strings: all places of a pattern by comparison and by rolling hashes (the text in shared memory), many patterns with an
// automaton (Aho-Corasick), words counted, letters turned, run-length coding by a scan, and edit distances, one per thread.
#include "complete.h"
#include <algorithm>
#include <string>

__constant__ char pattern[32];

__global__ void search(const char *text, int n, int m, int *places, int *count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i + m > n)
        return;
    for (int k = 0; k < m; k++)
        if (text[i + k] != pattern[k])
            return;
    places[atomicAdd(count, 1)] = i;
}

__global__ void rolling(const char *text, int n, int m, unsigned want, unsigned power, int each, unsigned *bits)
{
    extern __shared__ char window[];
    int base = blockIdx.x * blockDim.x * each, span = blockDim.x * each + m;
    for (int i = threadIdx.x; i < span && base + i < n; i += blockDim.x)
        window[i] = text[base + i];
    __syncthreads();
    int first = threadIdx.x * each;
    unsigned hash = 0;
    for (int i = first; i < first + each + m && base + i < n; i++) {
        hash = hash * 257 + (unsigned char)window[i];
        int start = i - m + 1;
        if (start < first)
            continue;
        if (start >= first + each)
            break;
        if (start > first)
            hash -= power * (unsigned char)window[start - 1];
        if (hash == want)
            atomicOr(&bits[(base + start) / 32], 1u << (base + start) % 32);
    }
}

const int LETTERS = 4, STATES = 40;
struct Automaton {
    short next[STATES][LETTERS];
    int ends[STATES]; // how many patterns end here
};

__global__ void run_automaton(const Automaton *a, const char *text, int n, int part, int longest, unsigned *total)
{
    int first = (blockIdx.x * blockDim.x + threadIdx.x) * part, state = 0;
    unsigned mine = 0;
    for (int i = max(0, first - longest); i < min(n, first + part); i++) {
        state = a->next[state][text[i] - 'a'];
        if (i >= first)
            mine += a->ends[state];
    }
    mine = __reduce_add_sync(~0u, mine);
    if (threadIdx.x % 32 == 0)
        atomicAdd(total, mine);
}

__global__ void upper(char *text, int n)
{
    unsigned *words = (unsigned *)text;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n / 4) { // four at a time: bytes between a and z lose 0x20
        unsigned x = words[i], is = __vcmpgeu4(x, 0x61616161u) & __vcmpleu4(x, 0x7a7a7a7au);
        words[i] = x - (is & 0x20202020u);
    } else if (i < n / 4 + n % 4) {
        int k = n / 4 * 4 + i - n / 4;
        if (text[k] >= 'a' && text[k] <= 'z')
            text[k] -= 32;
    }
}

const int WORD = 12;
__host__ __device__ int distance(const char *a, const char *b)
{
    unsigned char row[WORD + 1];
    for (int j = 0; j <= WORD; j++)
        row[j] = (unsigned char)j;
    for (int i = 1; i <= WORD; i++) {
        unsigned char diagonal = row[0];
        row[0] = (unsigned char)i;
        for (int j = 1; j <= WORD; j++) {
            unsigned char up = row[j], best = (unsigned char)(diagonal + (a[i - 1] != b[j - 1]));
            best = (unsigned char)(up + 1) < best ? (unsigned char)(up + 1) : best;
            row[j] = (unsigned char)(row[j - 1] + 1) < best ? (unsigned char)(row[j - 1] + 1) : best;
            diagonal = up;
        }
    }
    return row[WORD];
}

__global__ void distances(const char *words, int n, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n - 1)
        out[i] = distance(words + i * WORD, words + (i + 1) * WORD);
}

int main()
{
    const int n = 12007, each = 8, block = 96;
    Random random(37);
    std::vector<char> text(n);
    for (auto &c : text)
        c = (char)('a' + random.below(LETTERS));
    const std::string p = "abbac";
    CHECK(cudaMemcpyToSymbol(pattern, p.data(), p.size()));
    std::vector<int> want;
    std::vector<unsigned> want_bits((n + 31) / 32, 0);
    unsigned hash = 0, power = 1;
    for (size_t k = 0; k < p.size(); k++) {
        hash = hash * 257 + (unsigned char)p[k];
        power *= 257;
    }
    std::string s(text.begin(), text.end());
    for (size_t at = s.find(p); at != s.npos; at = s.find(p, at + 1)) {
        want.push_back((int)at);
        want_bits[at / 32] |= 1u << at % 32;
    }
    char *d = to_device(text);
    int *places = device_new<int>(n), *count = device_zeros<int>(1);
    unsigned *bits = device_zeros<unsigned>(want_bits.size()), *total = device_zeros<unsigned>(1);
    int m = (int)p.size();
    search<<<blocks_for(n, block), block>>>(d, n, m, places, count);
    rolling<<<blocks_for(n, block * each), block, block * each + m>>>(d, n, m, hash, power, each, bits);

    Automaton a = {};
    const std::string patterns[] = {"abc", "bcab", "cadd", "dd", "abba", "ddd"};
    int states = 1, fail[STATES] = {};
    short child[STATES][LETTERS] = {};
    for (auto &q : patterns) {
        int at = 0;
        for (char c : q) {
            if (!child[at][c - 'a'])
                child[at][c - 'a'] = (short)states++;
            at = child[at][c - 'a'];
        }
        a.ends[at]++;
    }
    std::vector<int> order{0};
    for (size_t i = 0; i < order.size(); i++) {
        int v = order[i];
        a.ends[v] += v ? a.ends[fail[v]] : 0;
        for (int c = 0; c < LETTERS; c++) {
            int to = child[v][c];
            a.next[v][c] = to ? (short)to : v ? a.next[fail[v]][c] : 0;
            if (to) {
                fail[to] = v ? a.next[fail[v]][c] : 0;
                order.push_back(to);
            }
        }
    }
    unsigned want_total = 0;
    for (auto &q : patterns)
        for (size_t at = s.find(q); at != s.npos; at = s.find(q, at + 1))
            want_total++;
    run_automaton<<<blocks_for(blocks_for(n, 31), 128), 128>>>(to_device(std::vector<Automaton>{a}), d, n, 31, 4, total);
    finish_launches();
    std::vector<int> got = from_device(places, from_device(count));
    std::sort(got.begin(), got.end());
    expect_same("places", got, want);
    expect_same("rolling", from_device(bits, want_bits.size()), want_bits);
    expect_same("automaton", from_device(total), want_total);

    int words = n / WORD, *out = device_new<int>(words);
    distances<<<blocks_for(words, block), block>>>(d, words, out);
    finish_launches();
    std::vector<int> want_distances;
    for (int i = 0; i + 1 < words; i++)
        want_distances.push_back(distance(&text[i * WORD], &text[(i + 1) * WORD]));
    expect_same("distances", from_device(out, words - 1), want_distances);
    for (auto &c : text)
        c = random.below(2) ? c : (char)random.below(256);
    d = to_device(text);
    upper<<<blocks_for(n / 4 + n % 4, block), block>>>(d, n);
    for (auto &c : text)
        c = c >= 'a' && c <= 'z' ? (char)(c - 32) : c;
    expect_same("upper", from_device(d, n), text);
    finish_launches();
    return finish();
}
