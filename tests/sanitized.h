// SPDX-License-Identifier: Apache-2.0
// SANITIZED: is this build AddressSanitizer's? Tests with many rounds run fewer there, for a round takes eight times as long.
#ifndef GR_SANITIZED_H
#define GR_SANITIZED_H

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

#endif
