// SPDX-License-Identifier: Apache-2.0
// What the host does to memory that it shares with the device, without and with waiting for the device first: one case per
// argument, `CASE race` or `CASE fixed`. Where the host waits in neither, nothing orders the two however they happen to fall.
#include "../../../check.h"

#include <unistd.h>

enum { N = 1000 };
__managed__ int variable[N];

__global__ void add(int *v, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        v[i] += 1;
}

__global__ void copy(const int *from, int *to, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        to[i] = from[i];
}

static bool fixed;
static void wait()
{
    if (fixed)
        CHECK(cudaDeviceSynchronize());
}

static int *managed()
{
    int *p;
    CHECK(cudaMallocManaged(&p, N * sizeof *p));
    memset(p, 0, N * sizeof *p);
    return p;
}

static int *device()
{
    int *p;
    CHECK(cudaMalloc(&p, N * sizeof *p));
    CHECK(cudaMemset(p, 0, N * sizeof *p));
    CHECK(cudaDeviceSynchronize());
    return p;
}

static void read_managed()
{
    int *v = managed();
    add<<<4, 256>>>(v, N);
    wait();
    printf("%d\n", v[17] < 2);
}

static void write_managed()
{
    int *v = managed(), *d = device();
    copy<<<4, 256>>>(v, d, N);
    wait();
    v[17] = 5;
}

static void read_variable()
{
    add<<<4, 256>>>(variable, N);
    wait();
    printf("%d\n", variable[3] < 2);
}

static void read_mapped()
{
    int *v, *d;
    CHECK(cudaHostAlloc(&v, N * sizeof *v, cudaHostAllocMapped));
    memset(v, 0, N * sizeof *v);
    CHECK(cudaHostGetDevicePointer(&d, v, 0));
    add<<<4, 256>>>(d, N);
    wait();
    printf("%d\n", v[999] < 2);
}

// The host writes, then submits, and that is known; what it writes afterwards is not.
static void write_after_submission()
{
    int *v = managed(), *d = device();
    v[0] = 1;
    copy<<<4, 256>>>(v, d, N);
    if (fixed)
        printf("%d\n", v[1]); // a read beside reads
    else
        v[1] = 2;
    CHECK(cudaDeviceSynchronize());
    v[2] = 3;
    copy<<<4, 256>>>(v, d, N);
}

static void copy_to_pinned()
{
    int *v, *d = device();
    CHECK(cudaMallocHost(&v, N * sizeof *v));
    add<<<4, 256>>>(d, N);
    CHECK(cudaMemcpyAsync(v, d, N * sizeof *v, cudaMemcpyDeviceToHost));
    wait();
    printf("%d\n", v[5] < 2);
}

static void copy_from_pinned()
{
    int *v, *d = device();
    CHECK(cudaMallocHost(&v, N * sizeof *v));
    memset(v, 0, N * sizeof *v);
    add<<<4, 256>>>(d, N);
    CHECK(cudaMemcpyAsync(d, v, N * sizeof *v, cudaMemcpyHostToDevice));
    wait();
    memset(v, 1, N * sizeof *v);
}

// The device finishes by itself before the host reads: nothing orders the two all the same.
static void sleep_and_read()
{
    int *v = managed();
    add<<<4, 256>>>(v, N);
    usleep(fixed ? 1000 : 300000);
    wait();
    printf("%d\n", v[17] < 2);
}

// An event behind the first of two kernels: what the first wrote may be read, what the second writes may not.
static void event()
{
    int *a = managed(), *b = managed();
    cudaEvent_t e;
    CHECK(cudaEventCreate(&e));
    add<<<4, 256>>>(a, N);
    CHECK(cudaEventRecord(e));
    add<<<4, 256>>>(b, N);
    CHECK(cudaEventSynchronize(e));
    printf("%d\n", a[1]);
    if (!fixed)
        printf("%d\n", b[1] < 2);
}

// A system call would fail on a page that is protected.
static void system_call()
{
    char *v = (char *)managed();
    add<<<4, 256>>>((int *)v, N);
    wait();
    FILE *f = tmpfile();
    if (fwrite(v, 1, N * sizeof(int), f) != N * sizeof(int) || fflush(f) || write(fileno(f), v + 8, 64) != 64)
        exit(3);
    fclose(f);
}

// Another buffer than the one that the device is at work on.
static void other_buffer()
{
    int *a = managed(), *b = managed();
    add<<<4, 256>>>(a, N);
    long sum = 0;
    for (int k = 0; k < 100; k++)
        for (int i = 0; i < N; i++)
            sum += b[i] += k;
    int fd[2];
    if (pipe(fd) || write(fd[1], b, 256) != 256 || read(fd[0], b + 100, 256) != 256)
        exit(3);
    if (!fixed)
        sum += a[0];
    CHECK(cudaDeviceSynchronize());
    printf("%d\n", sum > 0);
}

struct Box {
    int flag, data[100];
};

__global__ void produce(Box *b, int rounds)
{
    for (int r = 1; r <= rounds; r++) {
        for (int i = 0; i < 100; i++)
            b->data[i] = r * i;
        __threadfence_system();
        *(volatile int *)&b->flag = r;
        while (*(volatile int *)&b->flag == r)
            __nanosleep(100);
        __threadfence_system();
    }
}

// The host polls a flag that the device releases, and is polled in its turn; so often that it is not seen every time.
static void mailbox()
{
    Box *b = (Box *)managed();
    produce<<<1, 1>>>(b, 5);
    long sum = 0;
    for (int r = 1; r <= 5; r++) {
        while (fixed && *(volatile int *)&b->flag != r)
            ;
        for (int i = 0; i < 100; i++)
            sum += b->data[i];
        while (*(volatile int *)&b->flag != r)
            ;
        *(volatile int *)&b->flag = 0;
    }
    printf("%d\n", sum > 0);
}

__global__ void raise(int *flag, bool wide)
{
    if (wide)
        atomicExch_system(flag, 1);
    else
        atomicExch(flag, 1);
}

// An atomic of the device's scope does not reach the host.
static void narrow_scope()
{
    int *flag = managed();
    raise<<<1, 1>>>(flag, fixed);
    while (*(volatile int *)flag == 0)
        ;
}

static const struct {
    const char *name;
    void (*run)();
} cases[] = {
#define CASE(name) {#name, name}
    CASE(read_managed),   CASE(write_managed),    CASE(read_variable),  CASE(read_mapped), CASE(write_after_submission),
    CASE(copy_to_pinned), CASE(copy_from_pinned), CASE(sleep_and_read), CASE(event),       CASE(system_call),
    CASE(other_buffer),   CASE(mailbox),          CASE(narrow_scope),
};

int main(int argc, char **argv)
{
    fixed = argc > 2 && !strcmp(argv[2], "fixed");
    for (auto &c : cases)
        if (argc > 1 && !strcmp(argv[1], c.name)) {
            c.run();
            CHECK(cudaDeviceSynchronize());
            return 0;
        }
    return 2;
}
