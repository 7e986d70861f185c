"""The journal of a sweep: magic, then records (u32 size, u32 CRC-32, payload), little endian. The payload of a
finished replication begins with 'R' (runner/sweep/sweep_journal.hpp)."""
import struct
import zlib

MAGIC = b"corun sweep 1\n"
FRAME = 8


def records(data):
    """(offset, payload) of the whole records up to the first that is none."""
    at = len(MAGIC) if data.startswith(MAGIC) else len(data)
    while at + FRAME <= len(data):
        size, crc = struct.unpack_from("<II", data, at)
        payload = data[at + FRAME:at + FRAME + size]
        if len(payload) < size or zlib.crc32(payload) != crc:
            return
        yield at, payload
        at += FRAME + size


def framed(payload):
    return struct.pack("<II", len(payload), zlib.crc32(payload)) + payload


def finished(data):
    """Number of finished replications."""
    return len({payload[1:17] for _, payload in records(data) if payload[:1] == b"R"})


def cut(data, replications, torn=0):
    """The journal up to so many finished replications, then `torn` bytes of the next record."""
    for at, payload in records(data):
        if payload[:1] == b"R":
            if replications == 0:
                return data[:at + torn]
            replications -= 1
    return data
