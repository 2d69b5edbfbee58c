// SPDX-License-Identifier: Apache-2.0
// unpack — payloads of fatbin entries, decompressed.
#include "fatbin/fatbin.h"

#include <limits.h>
#include <lz4.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

// A payload that does not become exactly the size its entry announces is corrupt, whichever way it is off.
static gr_status unpack_zstd(const FatbinEntry *e, char *to, gr_error *err) {
    unsigned long long frame = ZSTD_getFrameContentSize(e->payload, e->packed_size);
    if (frame == ZSTD_CONTENTSIZE_ERROR)
        return gr_fail(err, GR_ERR_FORMAT, "corrupt fatbin: the payload is not a zstd frame");
    if (frame != ZSTD_CONTENTSIZE_UNKNOWN && frame != e->size)
        return gr_fail(err, GR_ERR_FORMAT, "corrupt fatbin: a zstd frame of %llu bytes in an entry of %zu",
                       frame, e->size);
    size_t n = ZSTD_decompress(to, e->size, e->payload, e->packed_size);
    if (ZSTD_isError(n))
        return gr_fail(err, GR_ERR_FORMAT, "corrupt fatbin: zstd: %s", ZSTD_getErrorName(n));
    if (n != e->size)
        return gr_fail(err, GR_ERR_FORMAT, "corrupt fatbin: %zu bytes of %zu unpacked", n, e->size);
    return GR_OK;
}

static gr_status unpack_lz4(const FatbinEntry *e, char *to, gr_error *err) {
    if (e->packed_size > INT_MAX || e->size > INT_MAX)
        return gr_fail(err, GR_ERR_LIMIT, "an LZ4 payload of %zu bytes", e->packed_size);
    int n = LZ4_decompress_safe(e->payload, to, (int)e->packed_size, (int)e->size);
    if (n < 0 || (size_t)n != e->size)
        return gr_fail(err, GR_ERR_FORMAT, "corrupt fatbin: the payload is not an LZ4 block of %zu bytes",
                       e->size);
    return GR_OK;
}

gr_status gr_fatbin_unpack(const FatbinEntry *e, char **out, size_t *len, gr_error *err) {
    if (e->size > GR_FATBIN_MAX_UNPACKED || e->size / GR_FATBIN_MAX_RATIO > e->packed_size)
        return gr_fail(err, GR_ERR_LIMIT, "a fatbin entry that unpacks from %zu to %zu bytes is refused",
                       e->packed_size, e->size);
    char *to = malloc(e->size + 1);
    if (!to)
        return gr_fail(err, GR_ERR_NOMEM, "no memory for %zu bytes of a fatbin entry", e->size);
    gr_status st = GR_OK;
    switch (e->packing) {
    case FATBIN_STORED: memcpy(to, e->payload, e->size); break;
    case FATBIN_LZ4: st = unpack_lz4(e, to, err); break;
    case FATBIN_ZSTD: st = unpack_zstd(e, to, err); break;
    }
    if (st != GR_OK) {
        free(to);
        return st;
    }
    to[e->size] = '\0';
    *out = to;
    *len = e->size;
    return GR_OK;
}

gr_status gr_fatbin_ptx(const FatbinEntry *e, char **out, size_t *len, gr_error *err) {
    if (e->kind != FATBIN_PTX)
        return gr_fail(err, GR_ERR_ARGUMENT, "the fatbin entry is not PTX");
    gr_status st = gr_fatbin_unpack(e, out, len, err);
    if (st == GR_OK)
        *len = strnlen(*out, *len);
    return st;
}
