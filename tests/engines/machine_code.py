# SPDX-License-Identifier: Apache-2.0
"""What ptxas has made of a module: how often each instruction occurs in a function."""
import collections
import struct

YIELD, BSYNC, BSSY = 0x946, 0x941, 0x945  # the low 12 bits of a machine instruction, of sm_70 and later


def functions(path):
    """Of each function in the ELF file `path` its name, and how often each instruction occurs."""
    data = open(path, "rb").read()
    at, = struct.unpack_from("<Q", data, 0x28)
    size, n, names = struct.unpack_from("<HHH", data, 0x3A)
    header = [struct.unpack_from("<IIQQQQ", data, at + k * size) for k in range(n)]
    strings = header[names][4]
    for name, _, _, _, offset, length in header:
        end = data.index(b"\0", strings + name)
        name = data[strings + name:end].decode()
        if name.startswith(".text."):
            yield name[len(".text."):], collections.Counter(low & 0xFFF for low, _ in struct.iter_unpack("<QQ", data[offset:offset + length]))
