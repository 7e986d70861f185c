"""The errors of corun in Python."""


class InputError(ValueError):
    """A bad value of the user, in one line: place, found, expected, what to do. If a policy in Python raised an
    exception, that is the `__cause__`."""


class DeviceError(RuntimeError):
    """A GPU, its driver or its memory is missing."""


class CorunWarning(UserWarning):
    """What `corun replay` prints as a note."""
