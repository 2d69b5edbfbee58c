// SPDX-License-Identifier: Apache-2.0
// Looks, from outside, like a program that uses CUDA in the way that its definitions say.
#ifdef CALL
int CALL(void);
#else
#define CALL() 0
#endif
#ifdef DEVICE_CODE
__attribute__((section(".nv_fatbin"), used)) static const unsigned long fatbin[2] = {0};
#endif
#ifdef RUNTIME
void **__cudaRegisterFatBinary(void *wrapper);
void **__cudaRegisterFatBinary(void *wrapper) { return wrapper; }
#define TEXT "cudaErrorCudartUnloading\0cuGetProcAddress_v2\0libcuda.so.1"
#endif
#ifdef TEXT
__attribute__((used)) static const char text[] = TEXT;
#endif
int main(void) { return CALL(); }
