// SPDX-License-Identifier: Apache-2.0
// build — a new fatbin container around PTX texts, stored, laid out as nvcc -no-compress does.
#include "fatbin/fatbin.h"

#include "fatbin/layout.h"

#include <stdlib.h>
#include <string.h>

static size_t pad8(size_t n) { return (n + 7) & ~(size_t)7; }

// Strings follow the fixed part: the source name, padded; then the options' RawString and their text, padded. nvcc
// writes the options even where there are none, and a driver reads them unasked: an entry without crashes it (580.159).
static const char *options_of(const FatbinPtx *p) { return p->options ? p->options : ""; }

static size_t header_size(const FatbinPtx *p) {
    size_t n = sizeof(RawEntry);
    if (p->source)
        n += pad8(strlen(p->source) + 1);
    return n + sizeof(RawString) + pad8(strlen(options_of(p)) + 1);
}

static void write_entry(uint8_t *to, const FatbinPtx *p) {
    const uint64_t packing = FATBIN_F_LZ4 | FATBIN_F_ZSTD, specific = FATBIN_F_ARCH | FATBIN_F_FAMILY;
    RawEntry raw = {
        .kind = FATBIN_PTX,
        .always_0101 = 0x0101,
        .header_size = (uint32_t)header_size(p),
        .padded_size = pad8(p->len + 1),
        .minor = p->minor,
        .major = p->major,
        .sm = p->sm,
        .flags = (p->flags & ~(packing | specific)) | FATBIN_F_64BIT | FATBIN_F_LINUX |
                 (p->suffix == 'a' ? FATBIN_F_ARCH : 0) | (p->suffix == 'f' ? FATBIN_F_FAMILY : 0),
    };
    size_t at = sizeof raw;
    if (p->source) {
        raw.source = (uint32_t)at;
        raw.source_len = (uint32_t)strlen(p->source);
        memcpy(to + at, p->source, raw.source_len);
        at += pad8(raw.source_len + 1);
    }
    RawString s = {.offset = (uint32_t)(at + sizeof s), .len = (uint32_t)strlen(options_of(p))};
    raw.options = (uint32_t)at;
    memcpy(to + at, &s, sizeof s);
    memcpy(to + s.offset, options_of(p), s.len);
    memcpy(to, &raw, sizeof raw);
    memcpy(to + raw.header_size, p->text, p->len);
}

gr_status gr_fatbin_build(const FatbinPtx *ptx, size_t count, void **out, size_t *len, gr_error *err) {
    size_t total = sizeof(RawHeader);
    for (size_t i = 0; i < count; i++) {
        if (ptx[i].len > GR_FATBIN_MAX_UNPACKED || (ptx[i].source && strlen(ptx[i].source) > UINT16_MAX) ||
            (ptx[i].options && strlen(ptx[i].options) > UINT16_MAX))
            return gr_fail(err, GR_ERR_LIMIT, "PTX of %zu bytes is too large for a fatbin", ptx[i].len);
        total += header_size(&ptx[i]) + pad8(ptx[i].len + 1);
    }
    uint8_t *to = calloc(1, total); // zeroed: the padding and the NUL after each text
    if (!to)
        return gr_fail(err, GR_ERR_NOMEM, "no memory for a fatbin of %zu bytes", total);
    RawHeader h = {GR_FATBIN_MAGIC, 1, sizeof h, total - sizeof h};
    memcpy(to, &h, sizeof h);
    size_t at = sizeof h;
    for (size_t i = 0; i < count; i++) {
        write_entry(to + at, &ptx[i]);
        at += header_size(&ptx[i]) + pad8(ptx[i].len + 1);
    }
    *out = to;
    *len = total;
    return GR_OK;
}
