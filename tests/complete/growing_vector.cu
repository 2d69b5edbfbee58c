// SPDX-License-Identifier: Apache-2.0
// A vector that grows in place: many addresses are reserved once, and memory is mapped to them piece by piece. It shrinks again,
// and what is mapped later to the same addresses is other memory.
#include "complete.h"

#include <cuda.h>

// Through the runtime, so that no library of the driver is linked.
template <class F> static F *driver(const char *name) {
    void *f = nullptr;
    cudaDriverEntryPointQueryResult found;
    CHECK(cudaGetDriverEntryPointByVersion(name, &f, 12000, cudaEnableDefault, &found));
    if (found != cudaDriverEntryPointSuccess || !f) {
        printf("the driver has no %s\n", name);
        exit(2);
    }
    return (F *)f;
}

#define DRIVER(call, ...) expect_success(#call, driver<decltype(call)>(#call)(__VA_ARGS__))

static void expect_success(const char *call, CUresult r) {
    if (r != CUDA_SUCCESS) {
        printf("%s: %d\n", call, (int)r);
        exit(2);
    }
}

struct Record {
    unsigned key, value, rest[62];
};

struct Vector {
    CUdeviceptr base = 0;
    size_t reserved, piece = 0, mapped = 0;
    CUmemAllocationProp prop = {};
    std::vector<CUmemGenericAllocationHandle> handles;

    explicit Vector(size_t bytes) : reserved(bytes) {
        prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
        prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
        CHECK(cudaGetDevice(&prop.location.id));
        DRIVER(cuMemGetAllocationGranularity, &piece, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM);
        DRIVER(cuMemAddressReserve, &base, reserved, 0, 0, 0);
    }
    ~Vector() {
        shrink(0);
        DRIVER(cuMemAddressFree, base, reserved);
    }
    Record *data() const { return (Record *)base; }
    size_t size() const { return mapped / sizeof(Record); }
    void grow(size_t bytes) {
        while (mapped < bytes) {
            CUmemGenericAllocationHandle h;
            DRIVER(cuMemCreate, &h, piece, &prop, 0);
            DRIVER(cuMemMap, base + mapped, piece, 0, h, 0);
            CUmemAccessDesc access = {prop.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
            DRIVER(cuMemSetAccess, base + mapped, piece, &access, 1);
            handles.push_back(h);
            mapped += piece;
        }
    }
    void shrink(size_t bytes) { // the device is done with what goes
        while (mapped > bytes) {
            mapped -= piece;
            DRIVER(cuMemUnmap, base + mapped, piece);
            DRIVER(cuMemRelease, handles.back());
            handles.pop_back();
        }
    }
};

__global__ void append(Record *r, size_t from, size_t to, unsigned factor) {
    size_t i = from + blockIdx.x * blockDim.x + threadIdx.x;
    if (i < to) {
        r[i].key = (unsigned)i;
        r[i].value = (unsigned)i * factor;
    }
}

// The neighbour may lie in another piece. A block's last thread adds for all that came before it.
__global__ void sum(const Record *r, size_t n, unsigned *out) {
    size_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(out, r[i].value + r[(i + 1) % n].key);
}

// The last block to come sums what all have left.
__global__ void last_sums(Record *r, unsigned *arrived, unsigned *out) {
    __shared__ bool last;
    r[blockIdx.x].rest[threadIdx.x] = blockIdx.x + threadIdx.x;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0)
        last = atomicAdd(arrived, 1) == gridDim.x - 1;
    __syncthreads();
    if (last && threadIdx.x == 0) {
        __threadfence();
        unsigned s = 0;
        for (unsigned b = 0; b < gridDim.x; b++)
            s += r[b].rest[threadIdx.x];
        *out = s;
    }
}

static void check(const Vector &v, unsigned *total, unsigned factor) {
    size_t n = v.size();
    CHECK(cudaMemset(total, 0, sizeof *total));
    sum<<<blocks_for(n, 256), 256>>>(v.data(), n, total);
    unsigned want = 0;
    for (size_t i = 0; i < n; i++)
        want += (unsigned)i * factor + (unsigned)i;
    expect_same("sum", from_device(total), want);
}

int main() {
    const size_t reserve = (size_t)64 << 30;
    unsigned *total = device_zeros<unsigned>(1);
    {
        Vector v(reserve);
        for (unsigned pieces = 1; pieces <= 4; pieces++) {
            size_t from = v.size();
            v.grow(pieces * v.piece);
            append<<<blocks_for(v.size() - from, 256), 256>>>(v.data(), from, v.size(), 3);
            check(v, total, 3);
        }
        // A copy of it all.
        std::vector<Record> host = from_device(v.data(), v.size());
        for (size_t i = 0; i < host.size(); i++)
            EXPECT(host[i].key == i && host[i].value == (unsigned)i * 3);
        v.shrink(v.piece);
        check(v, total, 3);
        size_t from = v.size();
        v.grow(3 * v.piece);
        append<<<blocks_for(v.size() - from, 256), 256>>>(v.data(), from, v.size(), 3);
        check(v, total, 3);
        // A counter in memory that comes and goes.
        for (int round = 0; round < 3; round++) {
            v.shrink(0);
            v.grow(v.piece);
            CHECK(cudaMemset(v.data(), 0, v.piece));
            unsigned *arrived = &v.data()[v.size() - 1].key;
            last_sums<<<20, 32>>>(v.data(), arrived, total);
            expect_same("last", from_device(total), 190u);
        }
        // Other processes take memory of a GPU as well: not all the time.
        size_t before = 0, after = 0, all;
        for (int attempt = 0; attempt < 50 && before - after != 2 * v.piece; attempt++) {
            v.shrink(v.piece);
            CHECK(cudaMemGetInfo(&before, &all));
            v.grow(3 * v.piece);
            CHECK(cudaMemGetInfo(&after, &all));
        }
        EXPECT(before - after == 2 * v.piece);
    }
    return finish();
}
