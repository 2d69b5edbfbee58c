// SPDX-License-Identifier: Apache-2.0
// deepseek-ai/DeepEP#657: a bulk copy through shared memory waits for one store too few before it loads into the stage again
// expect: exact => races marked soak
// expect: exact,tracker,collider,collider+exact,privatizer -DFIXED => silent soak
#include "../../check.h"
#include "tma.h"
template <int STAGES, int CHUNK>
__global__ void tma_copy(char *dst, const char *src, int bytes) {
  __shared__ __align__(128) char stage[STAGES][CHUNK];
  __shared__ __align__(8) uint64_t full[STAGES];
  src += size_t(blockIdx.x) * bytes; dst += size_t(blockIdx.x) * bytes;
  const int chunks = bytes / CHUNK;
  if (threadIdx.x == 0) {
    for (int s = 0; s < STAGES; s++) mbar_init(&full[s], 1);
    mbar_init_fence();
    for (int s = 0; s < STAGES && s < chunks; s++) { mbar_expect(&full[s], CHUNK); bulk_load(stage[s], src + s * CHUNK, CHUNK, &full[s]); }
    for (int i = 0; i < chunks; i++) {
      const int s = i % STAGES;
      mbar_wait(&full[s], (i / STAGES) & 1);
      bulk_store(dst + i * CHUNK, stage[s], CHUNK); //@R
      bulk_commit();
      if (i + STAGES < chunks) {
#ifdef FIXED
        bulk_wait_read<0>();
#else
        bulk_wait_read<STAGES - 1>();
#endif
        mbar_expect(&full[s], CHUNK);
        bulk_load(stage[s], src + (i + STAGES) * CHUNK, CHUNK, &full[s]); //@R
      }
    }
    bulk_wait<0>();
  }
}
int main() {
  const int bytes = 512 * 7;
  char h[2 * bytes], *a, *b, o[2 * bytes];
  for (int i = 0; i < 2 * bytes; i++) h[i] = char(i * 31);
  CHECK(cudaMalloc(&a, sizeof h)); CHECK(cudaMalloc(&b, sizeof h)); CHECK(cudaMemcpy(a, h, sizeof h, cudaMemcpyHostToDevice));
  tma_copy<2, 512><<<2, 32>>>(b, a, bytes);
  CHECK(cudaMemcpy(o, b, sizeof o, cudaMemcpyDeviceToHost));
  int bad = 0; for (int i = 0; i < 2 * bytes; i++) bad += o[i] != h[i];
  printf("bad %d\n", bad);
}
