// SPDX-License-Identifier: Apache-2.0
// Racy launches in ranges of NVTX: 1 in none, 2 in "step" within "epoch", 3 in "step" of a domain, 4 in a wide "tail".
#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>

__global__ void racy(int *p)
{
    for (int i = 0; i < 64; i++)
        p[0] = p[0] + (int)threadIdx.x; // RACE
}

int main()
{
    int *p;
    cudaMalloc(&p, 4096);
    racy<<<2, 64>>>(p);
    nvtxRangePushA("epoch");
    nvtxRangePushA("step");
    racy<<<2, 64>>>(p);
    nvtxRangePop();
    nvtxRangePop();
    nvtxDomainHandle_t domain = nvtxDomainCreateA("app");
    nvtxEventAttributes_t event = {};
    event.version = NVTX_VERSION;
    event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    event.message.registered = nvtxDomainRegisterStringA(domain, "step");
    nvtxDomainRangePushEx(domain, &event);
    racy<<<2, 64>>>(p);
    nvtxDomainRangePop(domain);
    nvtxRangePushW(L"tail");
    racy<<<2, 64>>>(p);
    nvtxRangePop();
    return (int)cudaDeviceSynchronize();
}
