"""weaken.py PROGRAM: makes the functions that the program takes from libraries weak, so that a missing one does not stop it at once.

The loader ends a program for which a library lacks a function whose address is needed at the start, before any code of the program runs.
A weak one becomes null instead, and experiments/libtorch_check.cpp, which runs before all other code, says that it met another version
of LibTorch. With the right version all functions are there, and nothing differs.
"""

import pathlib
import struct
import sys

DYNAMIC_SYMBOLS = 11  # type of the section
GLOBAL, WEAK = 1, 2


def sections(data):
    """(type, offset, size, size of an entry) of each section of a 64-bit little-endian file"""
    start, = struct.unpack_from("<Q", data, 0x28)
    entry, count = struct.unpack_from("<HH", data, 0x3A)
    for place in range(start, start + entry * count, entry):
        kind, = struct.unpack_from("<I", data, place + 4)
        yield kind, *struct.unpack_from("<QQ", data, place + 24), *struct.unpack_from("<Q", data, place + 56)


def weaken(data):
    """Changes the bytes of a program in place."""
    if data[:6] != b"\x7fELF\x02\x01":
        sys.exit("weaken.py takes programs of 64-bit little-endian machines")
    for kind, offset, size, entry in sections(data):
        for place in range(offset, offset + size, entry) if kind == DYNAMIC_SYMBOLS else ():
            info, section = data[place + 4], struct.unpack_from("<H", data, place + 6)[0]
            if section == 0 and info >> 4 == GLOBAL:
                data[place + 4] = WEAK << 4 | info & 15


def main():
    program = pathlib.Path(sys.argv[1])
    data = bytearray(program.read_bytes())
    weaken(data)
    program.write_bytes(data)


if __name__ == "__main__":
    main()
