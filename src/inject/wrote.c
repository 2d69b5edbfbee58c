// SPDX-License-Identifier: Apache-2.0
#include "inject/wrote.h"

#include "base/map.h"
#include "base/str.h"
#include "device_api/hooks.h"

#include <assert.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

// Texts, by a hash that starts from a number of this process's own: nobody can make another text with the same hash.
static struct {
    pthread_mutex_t lock;
    uint64_t key;
    Map hashes;
} all = {.lock = PTHREAD_MUTEX_INITIALIZER};

static uint64_t hash_of(const char *text, size_t len) {
    while (len && !text[len - 1])
        len--;
    uint64_t parts[2] = {all.key, gr_hash_bytes(text, len)};
    for (size_t i = 0; i < len; i++)
        parts[0] = (parts[0] ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
    return gr_hash_bytes(parts, sizeof parts);
}

GrApiRuntimes *gr_wrote_apart(const PtxApart *apart) {
    static_assert((int)PTX_RUNTIMES <= (int)GR_API_RUNTIMES, "all of them can be told");
    GrApiRuntimes *r = calloc(1, sizeof *r);
    char *suffix = apart->suffix ? strdup(apart->suffix) : NULL;
    if (!r || (apart->suffix && !suffix)) {
        free(r);
        free(suffix);
        return NULL;
    }
    r->suffix = suffix;
    r->n = apart->n;
    memcpy(r->texts, apart->texts, apart->n * sizeof *apart->texts);
    return r;
}

bool gr_wrote(const char *text, size_t len, const GrApiRuntimes *runtimes) {
    pthread_mutex_lock(&all.lock);
    if (!all.key && getrandom(&all.key, sizeof all.key, GRND_NONBLOCK) != sizeof all.key)
        all.key = (uintptr_t)&all ^ (uintptr_t)text;
    bool kept = gr_map_put_u64(&all.hashes, hash_of(text, len), (void *)(uintptr_t)runtimes);
    pthread_mutex_unlock(&all.lock);
    return kept;
}

__attribute__((visibility("default"))) int gr_api_wrote(const char *text, size_t len,
                                                        GrApiRuntimes *runtimes) {
    pthread_mutex_lock(&all.lock);
    const GrApiRuntimes *found = all.key ? gr_map_get_u64(&all.hashes, hash_of(text, len)) : NULL;
    pthread_mutex_unlock(&all.lock);
    if (found)
        *runtimes = *found;
    return found != NULL;
}
