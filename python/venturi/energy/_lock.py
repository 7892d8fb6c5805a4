"""Locks of the kernel on files: they end with the process that has them, so that none is ever left behind.

They are given back by name: a child that was forked meanwhile has the same open file, and would keep them.
"""
import fcntl
import os
import time
from contextlib import contextmanager
from typing import Iterator, Optional

from ._log import logger

WAIT_S = 10.0  # for whoever has it: a row takes him a millisecond
PAUSE_S = 0.005


def _take(fd: int) -> Optional[bool]:
    """None: the file system knows no locks; False: somebody keeps it."""
    until = time.monotonic() + WAIT_S
    while True:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            if time.monotonic() >= until:
                return False
            time.sleep(PAUSE_S)
        except OSError:
            return None


@contextmanager
def locked(fd: int) -> Iterator[bool]:
    """As far as the file system knows locks. False: another process keeps it for longer than anybody should."""
    is_locked = _take(fd)
    try:
        yield is_locked is not False
    finally:
        if is_locked:
            fcntl.flock(fd, fcntl.LOCK_UN)


def _open(path: str) -> int:
    """That of another user may be opened, but not in a way that could make it."""
    try:
        return os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_CREAT, 0o644)


class SingleRun:
    """allow_multiple_runs=False: one tracker on the machine at a time."""

    def __init__(self) -> None:
        self._fd: Optional[int] = None

    def take(self) -> bool:
        from tempfile import gettempdir

        try:
            fd = _open(os.path.join(gettempdir(), ".venturi-energy.lock"))
        except OSError as error:
            logger.warning("allow_multiple_runs: other trackers cannot be seen: %s", error)
            return True
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(fd)
            return False
        self._fd = fd
        return True

    def give(self) -> None:
        if self._fd is not None:
            fcntl.flock(self._fd, fcntl.LOCK_UN)
            os.close(self._fd)
            self._fd = None
