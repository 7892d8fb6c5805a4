"""Spans of traces to the store that a `connection_string` names.

The service never talks to a store: it records into a folder (a spool, docs/spool.md), and venturi-ship, started beside its drainer, sends what is
there. A store that is slow or away costs disk, up to a limit, and nothing of the service.
"""
import contextlib
import fcntl
import hashlib
import logging
import os
import stat
from typing import Iterator, Optional

from . import _venturi

STORES = ("elasticsearch", "opensearch", "redis", "redissentinel", "otlp", "otlps", "file", "kafka")

_log = logging.getLogger(__name__)
_url: Optional[str] = None  # what this process, or the one that forked it, ships to


def is_store(connection_string: str) -> bool:
    """Whether traces can be shipped there."""
    return connection_string.split("://", 1)[0].split("+", 1)[0].lower() in STORES and "://" in connection_string


def shown(connection_string: str) -> str:
    """For messages: no name and no password."""
    scheme, _, rest = connection_string.partition("://")
    return scheme + "://" + rest.rpartition("@")[2]


def start(connection_string: str) -> bool:
    """From now on spans go there. False, and a warning that says why, if they cannot; a second store beside the first is not taken."""
    global _url
    if _url is not None:
        if _url != connection_string:
            _log.warning("spans go to %s already: %s gets none", shown(_url), shown(connection_string))
        return _url == connection_string
    if _venturi.info()["recording"]:
        _log.warning("connection_string: %s: the program is recorded already, its spans go there; `venturi run --ship` or `venturi ship` sends them",
                     shown(connection_string))
        return False
    try:
        folder = _folder(connection_string)
        with _handed_on(connection_string):
            _venturi.session_spool(folder)
    except OSError as error:
        _log.warning("connection_string: %s: spans cannot be recorded for it: %s", shown(connection_string), error)
        return False
    _url = connection_string
    return True


@contextlib.contextmanager
def _handed_on(connection_string: str) -> Iterator[None]:
    """For the drainer, which starts venturi-ship: by a descriptor that it inherits, because others can read what stands in its environment."""
    low = os.memfd_create("venturi")
    fd = fcntl.fcntl(low, fcntl.F_DUPFD, 10)
    os.close(low)
    try:
        os.pwrite(fd, connection_string.encode(), 0)
        os.environ["VENTURI_SHIP"] = "fd:%d:" % fd
        yield
    finally:
        os.environ.pop("VENTURI_SHIP", None)
        os.close(fd)


def _folder(connection_string: str) -> str:
    """The same for a store at every start of the service, so that what is left over is sent; nobody else's."""
    named = os.environ.get("VENTURI_SHIP_SPOOL")
    if named:
        return named
    own = os.path.join("/var/tmp", "venturi-%d" % os.getuid())
    os.makedirs(own, 0o700, exist_ok=True)
    status = os.lstat(own)
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid() or status.st_mode & 0o022:
        raise OSError("%s is not a folder of this user alone: name another one in VENTURI_SHIP_SPOOL" % own)
    return os.path.join(own, hashlib.sha256(connection_string.encode()).hexdigest()[:16])
