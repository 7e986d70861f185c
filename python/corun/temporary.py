"""Temporary folders that a kill does not leave for ever."""
import fcntl
import os
import pathlib
import shutil
import tempfile
from contextlib import contextmanager

_BEGINNING = "corun-replay-"


@contextmanager
def folder():
    """The path of a new folder, which is removed at the end. It is locked meanwhile: folders of this user without a lock
    are those that killed programs left, and are removed first."""
    for left in pathlib.Path(tempfile.gettempdir()).glob(_BEGINNING + "*"):
        lock = _locked(left)
        if lock is not None:
            shutil.rmtree(left, ignore_errors=True)
            os.close(lock)
    lock = None
    while lock is None:  # another program may take a new folder for one that was left
        path = tempfile.mkdtemp(prefix=_BEGINNING)
        lock = _locked(path)
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)
        os.close(lock)


def _locked(path):
    """A descriptor that holds the lock of a folder of this user; None if another program has it, or it is gone."""
    try:
        opened = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.fstat(opened).st_uid == os.getuid() and os.path.samestat(os.fstat(opened), os.lstat(path)):
            return opened
    except OSError:
        pass
    os.close(opened)
    return None
