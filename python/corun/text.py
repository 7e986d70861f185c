"""Names, paths and arguments of users as text for people."""
import os

from .errors import InputError

# What moves the cursor, ends a line or turns the direction of what follows.
_TURNING = {0x061C, 0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2066, 0x206A), 0xFEFF}


def printable(text, longest=None, also=()):
    """`text` as one line: characters that are not shown, and those of `also`, are spelled out: \\x1b, \\u202e. Texts of
    more than `longest` characters end in an ellipsis."""
    text = str(text)
    if longest is not None and len(text) > longest:
        text = text[:longest - 1] + "\u2026"
    return "".join(c if c.isprintable() and ord(c) not in _TURNING and ord(c) not in also else _spelled(c)
                   for c in text)


def _spelled(character):
    code = ord(character)
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" if code < 65536 else f"\\U{code:08x}"


def refused(name, value, expected):
    """The error of an argument."""
    return InputError(f"{name}: found {printable(repr(value), 80)}, expected {expected}")


def path_of(value, name, expected="a path"):
    """The argument `name`, a path, as text."""
    try:
        return os.fsdecode(value)
    except TypeError:
        raise refused(name, value, expected) from None
