// SPDX-License-Identifier: Apache-2.0
// SANITIZED: is this build AddressSanitizer's or ThreadSanitizer's? Such a build takes eight times as long, and
// reserves terabytes of addresses.
#ifndef GR_BASE_SANITIZED_H
#define GR_BASE_SANITIZED_H

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1 // gcc
#elif defined(__has_feature)
#define SANITIZED (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer)) // clang
#else
#define SANITIZED 0
#endif

#endif
