// SPDX-License-Identifier: Apache-2.0
// decode — reads the privatizer's area of the results file, which the host wrote, as findings.
#ifndef GR_ENGINES_PRIVATIZER_DECODE_H
#define GR_ENGINES_PRIVATIZER_DECODE_H

#include "engines/privatizer/device/control.h"
#include "findings/area.h"

enum { GR_PRIVATE_RACES = 256 };

typedef enum GrBetween { GR_BETWEEN_BLOCKS, GR_BETWEEN_WARPS, GR_BETWEEN_LANES } GrBetween;

typedef struct GrPrivateSide {
    uint32_t site, store, atomic, size;
    uint32_t thread[3], block[3];
} GrPrivateSide;

enum { GR_NO_REGION = 0x7fffffff }; // one store

// A pair of accesses on which the outcome depends.
typedef struct GrPrivateRace {
    uint32_t state;                // 1: it is there
    uint32_t class, level, shared; // level: GrBetween
    uint64_t launch, count;        // the first; how many times the pair was found, in all rounds and launches
    uint64_t address;              // where
    // What the first launch, round and block with the pair found: how many bytes of the region came out otherwise, and
    // (bits) in which private copies.
    uint64_t bytes, copies[GR_FOUND_COPIES / 64];
    // Where the region begins: 0: with the kernel, else the number of the barrier in the kernel's text. regions: bits
    // of all regions with the pair; bit 63: of higher numbers.
    uint32_t region;
    uint32_t round; // that found it first, from 1
    uint32_t last;  // GrPrivFound.part: of which `bytes` and `copies` are
    uint32_t unit;  // threads in one that has a copy; 0: blocks
    uint64_t regions;
    GrPrivateSide side[2]; // [0] of the two is the one that read, if one did
} GrPrivateRace;

typedef struct GrPrivateArea {
    uint64_t dropped;
    GrPrivateRace race[GR_PRIVATE_RACES];
} GrPrivateArea;

extern const GrDecoder gr_privatizer_decoder;

#endif
