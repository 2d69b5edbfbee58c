// SPDX-License-Identifier: Apache-2.0
// nomem — memory that runs out: a test that is linked with -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc lets one
// allocation fail.
#ifndef GR_TESTS_NOMEM_H
#define GR_TESTS_NOMEM_H

#include <stdbool.h>
#include <stddef.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t size);

static unsigned long nomem_count, nomem_fails_at; // 0: none fails
static bool nomem_rest;                           // all after it fail, too

static inline bool nomem_fails(void) {
    nomem_count++;
    return nomem_fails_at && (nomem_count == nomem_fails_at || (nomem_rest && nomem_count > nomem_fails_at));
}

void *__wrap_malloc(size_t size) { return nomem_fails() ? NULL : __real_malloc(size); }
void *__wrap_calloc(size_t n, size_t size) { return nomem_fails() ? NULL : __real_calloc(n, size); }
void *__wrap_realloc(void *p, size_t size) { return nomem_fails() ? NULL : __real_realloc(p, size); }

static inline void nomem_start(unsigned long fails_at, bool rest) {
    nomem_count = 0;
    nomem_fails_at = fails_at;
    nomem_rest = rest;
}

static inline unsigned long nomem_stop(void) {
    nomem_fails_at = 0;
    return nomem_count;
}

// Calls `try`, which says whether it succeeded, with each allocation failing once, and then with it and all after it;
// at most about `most` of each, evenly. Yields how many there are.
static inline unsigned long nomem_each(bool (*try)(void *user, bool must), void *user, unsigned long most) {
    nomem_start(0, false);
    try(user, true);
    unsigned long n = nomem_stop(), step = n / most + 1;
    for (unsigned rest = 0; rest < 2; rest++)
        for (unsigned long k = 1; k <= n; k += step) {
            nomem_start(k, rest);
            try(user, false);
            nomem_stop();
        }
    return n;
}

#endif
