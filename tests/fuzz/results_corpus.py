#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A results file as a unit of the corpus of fuzz_results: without the header page, areas cut to what is used of them.

Usage: gpurace run --engine exact -- sh -c './program; cp $GPURACE_RESULTS /tmp/file'; results_corpus.py /tmp/file corpus/results/NAME

When records have changed, so that the units of the corpus are no longer understood, make them anew.
"""
import struct
import sys

HEADER, GRID, RECORD = 4096, 16, struct.Struct("<IIQQQ")
MAGIC, AREA, MODULE, KERNEL, LAUNCH_LOG, RACE = 0x43455247, 1, 4, 5, 6, 11


def up(n, grid):
    return (n + grid - 1) // grid * grid


def records(data):
    """(kind, process, payload, area): area is (offset, bytes) of an AREA record."""
    at, end = HEADER, struct.unpack_from("<Q", data, 16)[0]
    while at + RECORD.size <= min(end, len(data)):
        magic, kind, size, _, process = RECORD.unpack_from(data, at)
        if magic != MAGIC:
            at += GRID
            continue
        payload = data[at + RECORD.size:at + RECORD.size + size]
        at += up(RECORD.size + size, GRID)
        area = None
        if kind == AREA:
            offset, reserved, used = struct.unpack("<3Q", payload)
            area, at = (offset, data[offset:offset + used]), offset + reserved
        yield kind, process, payload, area


def offsets(kind, payload):
    """Where the payload has places in areas (module_record.c, race_record.c, kernels.c)."""
    if kind == MODULE:  # {u64 number, u64 hash, str name, u32, str, u64 slots, …}
        name = struct.unpack_from("<I", payload, 16)[0]
        return [28 + name + struct.unpack_from("<I", payload, 24 + name)[0]]
    last = {KERNEL: 1, LAUNCH_LOG: 1, RACE: 2}.get(kind, 0)
    return [len(payload) - 8 * k for k in range(1, last + 1)]


def moved(kind, payload, places):
    payload = bytearray(payload)
    for at in offsets(kind, payload):
        value = struct.unpack_from("<Q", payload, at)[0]
        for old, size, new in places:
            if old <= value < old + size:
                struct.pack_into("<Q", payload, at, new + value - old)
    return payload


def main():
    data = open(sys.argv[1], "rb").read()
    out, places = bytearray(), []
    for kind, process, payload, area in records(data):
        if kind == AREA:
            used = area[1].rstrip(b"\0")
            used += bytes(up(len(used) + 64, 64) - len(used))
            new = HEADER + len(out) + up(RECORD.size + 24, GRID)
            out += RECORD.pack(MAGIC, kind, 24, 0, process) + struct.pack("<3Q", new, up(len(used), GRID), len(used))
            out += bytes(new - HEADER - len(out)) + used
            places.append((area[0], len(area[1]), new))
        else:
            payload = moved(kind, payload, places)
            if kind == LAUNCH_LOG:  # {first, entries, offset}: as many as are kept
                struct.pack_into("<Q", payload, 8, 8)
            out += RECORD.pack(MAGIC, kind, len(payload), 0, process) + payload
        out += bytes(up(len(out), GRID) - len(out))
    open(sys.argv[2], "wb").write(out)


main()
