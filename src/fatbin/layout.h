// SPDX-License-Identifier: Apache-2.0
// layout — the bytes of a fatbin container, little endian, as nvcc 13.0 writes them.
#ifndef GR_FATBIN_LAYOUT_H
#define GR_FATBIN_LAYOUT_H

#include <assert.h>
#include <stdint.h>

typedef struct RawHeader {
    uint32_t magic;
    uint16_t version; // 1
    uint16_t header_size;
    uint64_t size; // of everything after the header
} RawHeader;

typedef struct RawEntry {
    uint16_t kind, always_0101;
    uint32_t header_size;
    uint64_t padded_size;
    uint32_t packed_size; // 0 when stored
    uint32_t options;     // offset in the entry of a RawString, 0 for none
    uint16_t minor, major;
    uint32_t sm;
    uint32_t source, source_len; // offset in the entry; the length leaves out the NUL
    uint64_t flags;
    uint64_t unused;
    uint64_t unpacked_size; // 0 when stored
} RawEntry;

typedef struct RawString {
    uint32_t offset, len; // offset in the entry; the length leaves out the NUL
} RawString;

static_assert(sizeof(RawHeader) == 16 && sizeof(RawEntry) == 64 && sizeof(RawString) == 8, "no padding");
static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "containers are read in place");

#endif
