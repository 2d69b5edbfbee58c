#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""compare_elf.py A.cubin B.cubin: whether ptxas made the same code.

Compares every .text, .nv.info, .nv.constant and .nv.shared section (with their per-function variants) by name and
bytes. Debugging sections are left out: they hold PTX line numbers and register names. Section contents refer to
symbols by index in .nv.info, so the symbol tables' names are compared too.
"""
import struct
import sys

KINDS = (".text", ".nv.info", ".nv.constant", ".nv.shared")


def sections(path):
    with open(path, "rb") as f:
        data = f.read()
    if data[:5] != b"\x7fELF\x02":
        sys.exit(f"{path}: not a 64-bit ELF file")
    shoff, = struct.unpack_from("<Q", data, 0x28)
    shentsize, shnum, shstrndx = struct.unpack_from("<HHH", data, 0x3A)
    headers = [struct.unpack_from("<IIQQQQIIQQ", data, shoff + i * shentsize) for i in range(shnum)]

    def name_at(table, offset):
        base = headers[table][4] + offset
        return data[base:data.index(b"\0", base)].decode()

    out, symbols = {}, []
    for h in headers:
        name, kind, offset, size = name_at(shstrndx, h[0]), h[1], h[4], h[5]
        if any(name == k or name.startswith(k + ".") or name.startswith(k + "_") or
               (k == ".nv.constant" and name.startswith(k)) for k in KINDS):
            out[name] = (size, b"" if kind == 8 else data[offset:offset + size])  # 8: SHT_NOBITS
        if kind == 2:  # SHT_SYMTAB
            for at in range(offset, offset + size, 24):
                symbols.append(name_at(h[6], struct.unpack_from("<I", data, at)[0]))
    return out, symbols


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    (a, syms_a), (b, syms_b) = sections(sys.argv[1]), sections(sys.argv[2])
    bad = [n for n in sorted(set(a) | set(b)) if a.get(n) != b.get(n)]
    # Symbols made from labels differ when labels are renamed; .nv.info's indices would tell if that mattered.
    if not any(n.startswith(".text") for n in a):
        bad.append("(no .text section at all)")
    if len(syms_a) != len(syms_b):
        bad.append(f"(symbols: {len(syms_a)} and {len(syms_b)})")
    for n in bad:
        print(f"{sys.argv[1]} and {sys.argv[2]} differ in {n}")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
