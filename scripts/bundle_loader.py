#!/usr/bin/env python3
"""Makes the programs of a bundle (scripts/gpu_bundle.sh) run where the bundle lies.

    bundle_loader.py BUNDLE

The bundle has a C library and a dynamic loader of its own, so that its programs run on any Linux of x86-64. A program names
its loader by an absolute path (ELF, program header PT_INTERP), for which scripts/gpu_bundle.sh leaves room. This writes
the path of the bundle's loader there. It changes nothing if the path is right already. Exit code 2 with one line if the
path is too long or a file cannot be written.
"""

import os
import struct
import sys

PT_INTERP = 3


def interpreter_at(file):
    """Offset and length of the loader's path in an ELF file of 64 bits, None if it has none."""
    head = file.read(64)
    if len(head) < 64 or head[:5] != b"\x7fELF\x02":
        return None
    offset, = struct.unpack_from("<Q", head, 32)
    size, count = struct.unpack_from("<HH", head, 54)
    for i in range(count):
        file.seek(offset + i * size)
        header = file.read(56)
        if struct.unpack_from("<I", header)[0] == PT_INTERP:
            return struct.unpack_from("<Q", header, 8)[0], struct.unpack_from("<Q", header, 32)[0]
    return None


def main(bundle):
    loader = os.path.realpath(os.path.join(bundle, "lib", "ld-linux-x86-64.so.2"))
    path = os.fsencode(loader)
    folder = os.path.join(bundle, "bin")
    for name in sorted(os.listdir(folder)):
        program = os.path.join(folder, name)
        with open(program, "rb") as file:
            place = interpreter_at(file)
            if place is None:
                continue
            at, room = place
            file.seek(at)
            if file.read(room).rstrip(b"\0") == path:
                continue
        if len(path) >= room:
            sys.exit(f"bundle_loader.py: the path of the bundle has {len(os.fsencode(os.path.realpath(bundle)))} bytes, "
                     f"expected {room - len(path) + len(os.fsencode(os.path.realpath(bundle))) - 1} at most; "
                     "unpack it elsewhere")
        # Into a copy: a running program cannot be written.
        with open(program, "rb") as file:
            data = bytearray(file.read())
        data[at:at + room] = path.ljust(room, b"\0")
        with open(program + ".new", "wb") as file:
            file.write(data)
        os.chmod(program + ".new", 0o755)
        os.replace(program + ".new", program)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    try:
        main(sys.argv[1])
    except OSError as error:
        print(f"bundle_loader.py: {error.filename}: {error.strerror}; unpack the bundle where it can be written",
              file=sys.stderr)
        sys.exit(2)
    except SystemExit as error:
        print(error.code, file=sys.stderr)
        sys.exit(2)
