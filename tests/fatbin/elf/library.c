// SPDX-License-Identifier: Apache-2.0
#ifndef NAME
#define NAME in_library
#endif
int NAME(void);
#ifdef NEXT
int NEXT(void);
#define RESULT NEXT()
#else
#define RESULT 0
#endif
#ifdef DEVICE_CODE
__attribute__((section(".nv_fatbin"), used)) static const unsigned long fatbin[2] = {0};
#endif
int NAME(void) { return RESULT; }
