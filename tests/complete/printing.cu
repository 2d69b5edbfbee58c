// SPDX-License-Identifier: Apache-2.0
// NVCC: -w
// What kernels print: formats as an H200 prints them, fields wider than anybody wants, and more output than its buffer
// holds.
#include "complete.h"
#include <iostream>

#include <string>
#include <unistd.h>

__device__ int returned[20];

__global__ void formats()
{
    int *r = returned;
    *r++ = printf("[%5d][%-5d][%05d][%+d][%.3d][%*d][%-*d][%*d]\n", 42, 42, 42, 42, 4, 6, 42, 6, 42, -6, 42);
    *r++ = printf("[%ld %lld %lu %llx %hd]\n", 5l, 6ll, 1ul << 40, -1ll, 70000);
    *r++ = printf("[%s][%.2s][%6s][%-6s][%c%3c%-3c]\n", (char *)nullptr, "hello", "hi", "hi", 'a', 'b', 'c');
    *r++ = printf("[%x %X %#x %o %#o % d %i][%p %p]\n", 255, 255, 255, 8, 8, 5, 5, (void *)0, (void *)0x1234);
    *r++ = printf("[%lf %e %G %a][%f %f]\n", 1.5, 2.5, 1e-10, 1.0, 1.0 / 0.0, -1.0 / 0.0);
    // No conversions there, and they take no arguments.
    *r++ = printf("[%zu %jd %td %Lf %n %.*f %5% %q %d]\n", 7);
    *r++ = printf("[%d %d]%%\n", 1, 2, 3);
    *r++ = printf("[%");
    *r++ = printf("\n");
}

__global__ void wide()
{
    printf("%99999d|%.99999d|%*d|%-999999999d|%s\n", 1, 2, 2147483647, 3, 4, "end");
}

__global__ void much(int lines)
{
    for (int i = 0; i < lines; i++)
        printf("%d\n", i);
}

// What `call` writes to the file descriptor.
template <class Call> static std::string written(int fd, Call call)
{
    char name[] = "/tmp/gpurace-printing-XXXXXX";
    int file = mkstemp(name), saved = dup(fd);
    fflush(stdout);
    dup2(file, fd);
    call();
    fflush(stdout);
    dup2(saved, fd);
    close(saved);
    std::string text((size_t)lseek(file, 0, SEEK_END), ' ');
    EXPECT(pread(file, &text[0], text.size(), 0) == (ssize_t)text.size());
    close(file);
    unlink(name);
    return text;
}

static void expect_text(const char *what, const std::string &got, const std::string &want)
{
    if (got != want && ++failures)
        std::cout << what << ":\n" << got.substr(0, 2000) << "--- not\n" << want << "---\n";
}

int main()
{
    expect_text("formats", written(1, [] { formats<<<1, 1>>>(); finish_launches(); }),
                "[   42][42   ][00042][+42][004][    42][42    ][42    ]\n"
                "[5 6 1099511627776 ffffffffffffffff 4464]\n"
                "[(null)][he][    hi][hi    ][a  bc  ]\n"
                "[ff FF 0xff 10 010  5 5][(nil) 0x1234]\n"
                "[1.500000 2.500000e+00 1E-10 0x1p+0][inf -inf]\n"
                "[%zu %jd %td %Lf %n %.*f %5% %q 7]\n"
                "[1 2]%\n"
                "[%\n");
    int r[9];
    CHECK(cudaMemcpyFromSymbol(r, returned, sizeof r));
    expect_same("returned", std::vector<int>(r, r + 9), {11, 5, 7, 9, 6, 1, 2, 0, 0});

    std::string text = written(1, [] { wide<<<1, 1>>>(); finish_launches(); });
    EXPECT(text.size() == 4 * (65536 + 1) + 4);
    EXPECT(text.substr(text.size() - 5) == "|end\n");

    // A call takes 8 bytes and 8 for each argument; so many fit into the smallest buffer, and the last ones are kept.
    size_t limit = 0, kept = 512 * 1024 / 16;
    const int lines = 40000;
    CHECK(cudaDeviceGetLimit(&limit, cudaLimitPrintfFifoSize));
    EXPECT(limit == 8650752);
    CHECK(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 65536));
    CHECK(cudaDeviceGetLimit(&limit, cudaLimitPrintfFifoSize));
    EXPECT(limit == 512 * 1024);
    text = written(1, [] { much<<<1, 1>>>(lines); finish_launches(); });
    std::string last;
    for (int i = lines - (int)kept; i < lines; i++)
        last += std::to_string(i) + "\n";
    EXPECT(text == last);
    return finish();
}
