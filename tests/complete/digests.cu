// SPDX-License-Identifier: Apache-2.0
// SHA-256 of many messages of different lengths, a thread each, the search for a nonce whose digest has leading zeros, and
// CRC-32 by table in constant memory, the parts of one long message combined at the end.
#include "complete.h"
#include <string>

#define BOTH __host__ __device__

__constant__ uint32_t device_k[64], device_crc[256];
static uint32_t host_k[64], host_crc[256];

BOTH uint32_t round_constant(int i)
{
#ifdef __CUDA_ARCH__
    return device_k[i];
#else
    return host_k[i];
#endif
}

BOTH uint32_t rotate(uint32_t x, int n)
{
    return x >> n | x << (32 - n);
}

BOTH void compress(uint32_t h[8], const uint32_t block[16])
{
    uint32_t w[16], a = h[0], b = h[1], c = h[2], d = h[3], e = h[4], f = h[5], g = h[6], s = h[7];
    for (int i = 0; i < 16; i++)
        w[i] = block[i];
    for (int i = 0; i < 64; i++) {
        if (i >= 16) {
            uint32_t x = w[(i + 1) % 16], y = w[(i + 14) % 16];
            w[i % 16] += w[(i + 9) % 16] + (rotate(x, 7) ^ rotate(x, 18) ^ x >> 3) + (rotate(y, 17) ^ rotate(y, 19) ^ y >> 10);
        }
        uint32_t t1 = s + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + ((e & f) ^ (~e & g)) + round_constant(i) + w[i % 16];
        uint32_t t2 = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
        s = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
    }
    h[0] += a, h[1] += b, h[2] += c, h[3] += d, h[4] += e, h[5] += f, h[6] += g, h[7] += s;
}

BOTH void sha256(const unsigned char *text, uint32_t length, uint32_t h[8])
{
    const uint32_t start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    for (int i = 0; i < 8; i++)
        h[i] = start[i];
    for (uint32_t base = 0; base <= length + 8; base += 64) {
        uint32_t block[16];
        for (uint32_t i = 0; i < 16; i++) {
            block[i] = 0;
            for (uint32_t j = base + 4 * i; j < base + 4 * i + 4; j++)
                block[i] = block[i] << 8 | (j < length ? text[j] : j == length ? 0x80 : 0);
        }
        if (base + 64 > length + 8)
            block[15] = length * 8;
        compress(h, block);
    }
}

__global__ void digest(const unsigned char *text, const uint32_t *start, int n, uint32_t *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    uint32_t h[8];
    sha256(text + start[i], start[i + 1] - start[i], h);
    for (int k = 0; k < 8; k++)
        out[i * 8 + k] = h[k];
}

__global__ void mine(unsigned *found, int zeros)
{
    unsigned nonce = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned char text[12] = {'n', 'o', 'n', 'c', 'e', ' '};
    for (int i = 0; i < 6; i++)
        text[6 + i] = (unsigned char)('a' + (nonce >> 4 * i & 15));
    uint32_t h[8];
    sha256(text, 12, h);
    if (__clz(h[0]) >= zeros)
        atomicMin(found, nonce);
}

BOTH uint32_t crc(const uint32_t *table, const unsigned char *text, size_t n, uint32_t c)
{
    for (size_t i = 0; i < n; i++)
        c = table[(c ^ text[i]) & 255] ^ c >> 8;
    return c;
}

// CRC of each part as if the rest of the message were zeros; they add up (xor) to that of the whole.
__global__ void crc_parts(const unsigned char *text, int n, int part, uint32_t *sum)
{
    int first = (blockIdx.x * blockDim.x + threadIdx.x) * part;
    if (first >= n)
        return;
    int end = min(n, first + part);
    uint32_t c = crc(device_crc, text + first, end - first, first ? 0 : 0xffffffffu);
    for (int i = end; i < n; i++)
        c = device_crc[c & 255] ^ c >> 8;
    atomicXor(sum, c);
}

int main()
{
    const int n = 217;
    // The constants of SHA-256: fractions of the cube roots of the first primes.
    for (int i = 0, p = 2; i < 64; p++) {
        bool prime = true;
        for (int q = 2; q * q <= p; q++)
            prime &= p % q != 0;
        if (prime) {
            long double root = cbrtl((long double)p);
            host_k[i++] = (uint32_t)((root - floorl(root)) * 4294967296.0L);
        }
    }
    for (uint32_t i = 0; i < 256; i++) {
        host_crc[i] = i;
        for (int k = 0; k < 8; k++)
            host_crc[i] = host_crc[i] >> 1 ^ (host_crc[i] & 1 ? 0xedb88320u : 0);
    }
    CHECK(cudaMemcpyToSymbol(device_k, host_k, sizeof host_k));
    CHECK(cudaMemcpyToSymbol(device_crc, host_crc, sizeof host_crc));
    Random random(29);
    std::vector<unsigned char> text;
    std::vector<uint32_t> start, want;
    for (int i = 0; i < n; i++) {
        start.push_back((uint32_t)text.size());
        std::string message = i == 0 ? "abc" : std::string(i == 1 ? 0 : random.below(200), 'x');
        for (char c : message)
            text.push_back(i == 0 ? (unsigned char)c : (unsigned char)random.next());
    }
    start.push_back((uint32_t)text.size());
    for (int i = 0; i < n; i++) {
        uint32_t h[8];
        sha256(text.data() + start[i], start[i + 1] - start[i], h);
        want.insert(want.end(), h, h + 8);
    }
    const uint32_t abc[8] = {0xba7816bf, 0x8f01cfea, 0x414140de, 0x5dae2223, 0xb00361a3, 0x96177a9c, 0xb410ff61, 0xf20015ad};
    for (int k = 0; k < 8; k++)
        expect_same("SHA-256 of abc", want[k], abc[k]);
    unsigned char *d_text = to_device(text);
    uint32_t *out = device_new<uint32_t>(8 * n), *sum = device_zeros<uint32_t>(1), *found = device_new<uint32_t>(1);
    digest<<<blocks_for(n, 64), 64>>>(d_text, to_device(start), n, out);
    CHECK(cudaMemset(found, 0xff, sizeof *found));
    mine<<<17, 128>>>(found, 8);
    crc_parts<<<1, 160>>>(d_text, (int)text.size(), (int)text.size() / 131, sum);
    finish_launches();
    expect_same("SHA-256", from_device(out, 8 * n), want);
    expect_same("CRC", from_device(sum), crc(host_crc, text.data(), text.size(), 0xffffffffu));
    unsigned first = 0xffffffffu;
    for (unsigned nonce = 0; nonce < 17 * 128 && first == 0xffffffffu; nonce++) {
        unsigned char message[12] = {'n', 'o', 'n', 'c', 'e', ' '};
        for (int i = 0; i < 6; i++)
            message[6 + i] = (unsigned char)('a' + (nonce >> 4 * i & 15));
        uint32_t h[8];
        sha256(message, 12, h);
        if (h[0] >> 24 == 0)
            first = nonce;
    }
    EXPECT(first != 0xffffffffu);
    expect_same("nonce", from_device(found), first);
    return finish();
}
