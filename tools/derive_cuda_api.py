#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the rows of src/driver/cuda/api.def for a toolkit: tools/derive_cuda_api.py CUDA_HOME [api.def].

cudaTypedefs.h names every ABI of every entry point (PFN_cuMemAlloc_v3020); the toolkit's link stub names the exported
symbols. Both ascend in the same order, which pairs them; a toolkit for which the numbers differ is refused. Sections
and their order are those of cuda.h. The status of rows that api.def has already is kept, new ones are ABSENT.
"""
import re
import subprocess
import sys


def sections(header):
    """{name: (position, title)} of the entry points that cuda.h declares."""
    title, places = "", {}
    for m in re.finditer(r"\\defgroup \w+ ([^\n]*)|^(?:CUresult|__CUDA_DEPRECATED CUresult) CUDAAPI\s+(\w+)\(", header,
                         re.M):
        if m[1]:
            title = m[1].strip()
        else:
            places.setdefault(m[2], (m.start(), title))
    return places


def main():
    home = sys.argv[1]
    status = {}
    if len(sys.argv) > 2:
        for symbol, state in re.findall(r"^GR_API\((\w+),.* (\w+)\)$", open(sys.argv[2]).read(), re.M):
            status[symbol] = state
    text = "".join(open(f"{home}/include/{h}").read() for h in ("cudaTypedefs.h", "cudaProfilerTypedefs.h"))
    places = sections(open(f"{home}/include/cuda.h").read())
    nm = subprocess.run(["nm", "-D", "--defined-only", f"{home}/lib64/stubs/libcuda.so"], check=True,
                        capture_output=True, text=True).stdout
    symbols = {line.split()[2] for line in nm.splitlines()}
    versions = {}
    for base, version, mode in re.findall(r"PFN_(cu\w+?)_v(\d+)(_pt[ds][sz])?\)\(", text):
        versions.setdefault((base, mode), set()).add(int(version))

    def abi(symbol):
        m = re.search(r"_v(\d+)", symbol)
        return int(m.group(1)) if m else 1

    def place(base):
        return places.get(base, (sys.maxsize, "Profiler Control"))

    used, section = set(), None
    for (base, mode), known in sorted(versions.items(), key=lambda kv: (place(kv[0][0]), kv[0])):
        exported = sorted((s for s in symbols if re.fullmatch(f"{base}(_v\\d+)?{mode}", s)), key=abi)
        if len(exported) != len(known):
            sys.exit(f"{base}{mode}: {len(known)} versions, {len(exported)} symbols")
        if place(base)[1] != section:
            section = place(base)[1]
            print(f'\nGR_SECTION("{section}")')
        for version, symbol in zip(sorted(known), exported):
            kind = {"": "LEGACY", "_ptds": "PTDS", "_ptsz": "PTSZ"}[mode]
            print(f"GR_API({symbol}, {base}, {version}, {kind}, {status.get(symbol, 'ABSENT')})")
            used.add(symbol)
    if used != symbols:
        sys.exit(f"exported but not in the headers: {sorted(symbols - used)}")


main()
