// SPDX-License-Identifier: Apache-2.0
// Fatbin containers of any bytes: directory, choice, decompression. What unpacks to more than 1 MiB is left packed, to
// keep the fuzzer fast; the limits themselves have unit tests. What reads well is built anew and must read the same.
#include "fatbin/fatbin.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void rebuild(const FatbinEntry *e, const char *text, size_t len, Arena *arena) {
    FatbinPtx p = {text, len, e->sm, e->suffix, e->major, e->minor, e->flags, e->options, e->source};
    void *blob;
    Fatbin *fb;
    if (gr_fatbin_build(&p, 1, &blob, &len, NULL) != GR_OK)
        return;
    if (gr_fatbin_parse(blob, len, arena, &fb, NULL) != GR_OK || fb->count != 1 ||
        fb->entries[0].sm != e->sm || fb->entries[0].suffix != e->suffix ||
        memcmp(fb->entries[0].payload, text, p.len) != 0)
        abort();
    free(blob);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Arena arena;
    Fatbin *fb;
    gr_arena_init(&arena);
    gr_image_kind(data, size);
    if (gr_fatbin_parse(data, size, &arena, &fb, NULL) == GR_OK) {
        gr_fatbin_best_ptx(fb, 90, FATBIN_PREFER_PLAIN);
        for (size_t i = 0; i < fb->count; i++) {
            char *text;
            size_t len;
            if (fb->entries[i].size > 1 << 20 || gr_fatbin_ptx(&fb->entries[i], &text, &len, NULL) != GR_OK)
                continue;
            rebuild(&fb->entries[i], text, len, &arena);
            free(text);
        }
    }
    gr_arena_free(&arena);
    return 0;
}
