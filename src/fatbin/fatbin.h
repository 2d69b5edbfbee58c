// SPDX-License-Identifier: Apache-2.0
// fatbin — fatbinary containers: what nvcc embeds in host programs, read, chosen from and written anew.
//
//   wrapper (24 bytes, .nvFatBinSegment)      fatbin (.nv_fatbin, __nv_relfatbin, or a .fatbin file)
//   +-------+---------+------+-------+        +------------------+---------+---------+-----+
//   | magic | version | data | extra | -----> | header, 16 bytes | entry 1 | entry 2 | ... |
//   +-------+---------+------+-------+        +------------------+---------+---------+-----+
//
// An entry is a header (64 bytes or more, with the strings) and a payload padded to 8: PTX text or a cubin, stored, as
// one zstd frame, or as one raw LZ4 block. `extra` of a version 2 wrapper (-rdc=true) is a NULL-terminated array of
// fatbins, one per translation unit; `data` is then what the device linker made of them, without PTX.
//
// The format is not documented by NVIDIA; every field used here was observed in what nvcc 13.0 writes, and the tests
// compare with what nvcc says it compiled. Nothing in a container is trusted. Sizes are checked against the space that
// is there. The driver's interface hands over a bare pointer; there the size in the header is the bound.
#ifndef GR_FATBIN_FATBIN_H
#define GR_FATBIN_FATBIN_H

#include "base/arena.h"
#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GR_FATBIN_MAGIC         0xba55ed50u
#define GR_FATBIN_WRAPPER_MAGIC 0x466243b1u

// For `len` where only a pointer is known: the container's own header says how long it is.
#define GR_FATBIN_UNBOUNDED SIZE_MAX

// What an unpacked entry may take at most, in bytes and as a multiple of its packed size: a container that asks for
// more is refused before memory is taken for it. Real PTX packs 5 to 50 times smaller.
#define GR_FATBIN_MAX_UNPACKED ((size_t)1 << 30)
#define GR_FATBIN_MAX_RATIO    4096

typedef enum FatbinKind { FATBIN_PTX = 1, FATBIN_CUBIN = 2, FATBIN_OTHER = 0xffff } FatbinKind;
typedef enum FatbinPacking { FATBIN_STORED, FATBIN_LZ4, FATBIN_ZSTD } FatbinPacking;

enum FatbinFlags {
    FATBIN_F_64BIT = 1,
    FATBIN_F_DEBUG = 2, // compiled with -G
    FATBIN_F_LINUX = 0x10,
    FATBIN_F_LZ4 = 0x2000,
    FATBIN_F_ZSTD = 0x8000,
    FATBIN_F_ARCH = 0x100000,   // sm_90a: runs on that one architecture only
    FATBIN_F_FAMILY = 0x200000, // sm_100f: runs on that one family only
};

typedef struct FatbinEntry {
    FatbinKind kind;
    uint16_t kind_raw;     // the number in the container, to name a kind that is not known
    uint32_t sm;           // 90 of sm_90
    char suffix;           // 0, 'a' or 'f'
    uint16_t major, minor; // PTX ISA version of PTX; of a cubin its own
    uint64_t flags;
    FatbinPacking packing;
    const void *payload; // in the container's memory
    size_t packed_size;  // bytes at `payload`
    size_t size;         // bytes once unpacked; padding included where the entry is stored
    // For ptxas ("--compile-only "), NULL if none; never of a cubin, whose options are binary.
    const char *options;
    const char *source; // file name given with -lineinfo or -G, NULL if none
} FatbinEntry;

typedef struct Fatbin {
    const void *data;
    size_t size; // header included
    FatbinEntry *entries;
    size_t count;
} Fatbin;

// Reads the directory of a container. *out and its strings live in `arena`; payloads stay where they are, so `data`
// must outlive *out. `len` bytes are readable (GR_FATBIN_UNBOUNDED: as many as the header says); more than the
// container's own size is fine. GR_ERR_FORMAT when it is malformed or truncated.
gr_status gr_fatbin_parse(const void *data, size_t len, Arena *arena, Fatbin **out, gr_error *err);

// The payload, unpacked, in memory that the caller frees; a NUL that *len does not count follows it.
gr_status gr_fatbin_unpack(const FatbinEntry *e, char **out, size_t *len, gr_error *err);

// The text of a PTX entry: unpacked, without the NUL bytes that end and pad it. The caller frees *out.
gr_status gr_fatbin_ptx(const FatbinEntry *e, char **out, size_t *len, gr_error *err);

// The name of the entry's target, "sm_90a", into buf; returns buf.
#define GR_FATBIN_TARGET_LEN 24
const char *gr_fatbin_target(const FatbinEntry *e, char buf[GR_FATBIN_TARGET_LEN]);
const char *gr_fatbin_packing_name(FatbinPacking p);

// ---- Choosing ----------------------------------------------------------------------------------------------

typedef enum FatbinPrefer {
    FATBIN_PREFER_SPECIFIC, // sm_90a before sm_90, as a GPU's driver
    FATBIN_PREFER_PLAIN,    // sm_90 before sm_90a: for a device that does not know all that is specific
} FatbinPrefer;

// Whether PTX for (sm, suffix) may run on a device of compute capability `cc` (90 for 9.0). Plain PTX runs on its own
// architecture and all later ones; 'a' on exactly its own; 'f' on its own and later ones of the same major version.
bool gr_fatbin_ptx_fits(uint32_t sm, char suffix, uint32_t cc);

// The PTX entry to use on a device of compute capability `cc`: of those that fit, the one for the latest architecture.
// NULL when there is none.
const FatbinEntry *gr_fatbin_best_ptx(const Fatbin *fb, uint32_t cc, FatbinPrefer prefer);

// ---- Wrappers and other images -----------------------------------------------------------------------------

// What __cudaRegisterFatBinary and cuLibraryLoadData get (fatbinary_section.h calls it __fatBinC_Wrapper_t).
typedef struct FatbinWrapper {
    uint32_t magic, version;
    const void *data;
    void *extra; // version 2: const void *[], NULL-terminated
} FatbinWrapper;

// The containers behind a wrapper that may hold PTX, in `arena`: the `extra` ones of a version 2 wrapper, then `data`.
// Entries are pointers to containers, not parsed. GR_ERR_FORMAT when it is no wrapper.
gr_status gr_fatbin_wrapper(const FatbinWrapper *w, Arena *arena, const void ***out, size_t *count,
                            gr_error *err);

typedef enum ImageKind {
    IMAGE_UNKNOWN,
    IMAGE_WRAPPER,
    IMAGE_FATBIN,
    IMAGE_CUBIN,
    IMAGE_ELF,
    IMAGE_PTX
} ImageKind;

// What the bytes at `image` are. IMAGE_ELF is an ELF file that is not a cubin (a host program). Without a length
// (GR_FATBIN_UNBOUNDED) it reads only as far as what it has seen allows: PTX text must then end in a NUL.
ImageKind gr_image_kind(const void *image, size_t len);

// ---- Building ----------------------------------------------------------------------------------------------

// One PTX text to put into a container. `major.minor` is its .version, sm and suffix its .target; `flags` is what the
// entry it replaces had (packing bits are dropped, the architecture's are set from `suffix`).
typedef struct FatbinPtx {
    const char *text;
    size_t len;
    uint32_t sm;
    char suffix;
    uint16_t major, minor;
    uint64_t flags;
    const char *options, *source; // NULL for none
} FatbinPtx;

// What the directives .version and .target at the head of a PTX text say: fills text, len, sm, suffix, major, minor and
// flags of *out; no options and no source. False: the text has no such head.
bool gr_fatbin_describe(const char *text, size_t len, FatbinPtx *out);

// A new container with `count` stored PTX entries, in memory that the caller frees. Driver and runtime take it for one
// of nvcc's: point a wrapper's `data` (or an element of `extra`) at it.
gr_status gr_fatbin_build(const FatbinPtx *ptx, size_t count, void **out, size_t *len, gr_error *err);

#endif
