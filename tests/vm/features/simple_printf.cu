// SPDX-License-Identifier: Apache-2.0
// simplePrintf: printf in device code. The lines below must be in the output.
// OUTPUT: [1, 3]: value is 10
// OUTPUT: int -7 0000002a 2A 52 +5 'left  ' '  right'
// OUTPUT: long 123456789012345 ffffffffffffffff %
// OUTPUT: float 3.141590 1.500e+10 0.0001 -inf nan
// OUTPUT: string text, char c, star [  4] [3.14]
#include "../../check.h"

__global__ void hello(int value)
{
    printf("[%d, %d]: value is %d\n", blockIdx.x, threadIdx.x, value);
}

__global__ void formats(double pi, float inf)
{
    int written = printf("int %d %08x %X %o %+d '%-6s' '%7s'\n", -7, 42, 42, 42, 5, "left", "right");
    printf("long %lld %llx %%\n", 123456789012345ll, ~0ull);
    printf("float %f %.3e %g %f %f\n", pi, 1.5e10f, 1e-4, -inf, inf - inf < 1 ? 1.0f : fabsf(inf - inf));
    printf("string %s, char %c, star [%*d] [%.2f]\n", "text", 'c', 3, 4, pi);
    if (written != 7)
        printf("printf returned %d, not the number of its arguments\n", written);
    if (printf("no arguments\n") != 0)
        printf("not 0\n");
}

int main()
{
    hello<<<2, 4>>>(10);
    CHECK(cudaDeviceSynchronize());
    formats<<<1, 1>>>(3.14159, __builtin_inff());
    CHECK(cudaDeviceSynchronize());
    return finish();
}
