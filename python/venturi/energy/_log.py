"""What a tracker has to say goes to the logger venturi.energy: by default warnings only, each of them once in a process, and with the name in front."""
import logging
import sys
from typing import Optional, Set, Union

logger = logging.getLogger("venturi.energy")
_said: Set[str] = set()


def warn_once(text: str) -> None:
    if text not in _said:
        _said.add(text)
        logger.warning("%s", text)


def set_level(level: Union[int, str]) -> None:
    """Names as codecarbon has them, in any case; what is no level is said."""
    try:
        logger.setLevel(level.upper() if isinstance(level, str) else level)
    except (ValueError, TypeError) as error:
        logger.warning("log_level: %s", error)


class _Last(logging.Handler):
    """Where nobody has said what becomes of logs: as logging itself would do, but one can see who speaks."""

    def emit(self, record: logging.LogRecord) -> None:
        at: Optional[logging.Logger] = logger
        while at is not None:
            if any(handler is not self for handler in at.handlers):
                return
            at = at.parent if at.propagate else None
        if sys.stderr is not None:
            sys.stderr.write("venturi.energy: %s\n" % self.format(record))


logger.addHandler(_Last(logging.WARNING))


class _Preamble(logging.Filter):
    text = ""

    def filter(self, record: logging.LogRecord) -> bool:
        if self.text:
            record.msg, record.args = self.text + " " + record.getMessage(), ()
        return True


_preamble = _Preamble()
logger.addFilter(_preamble)


def set_preamble(text: str) -> None:
    """In front of all that is said from now on."""
    _preamble.text = text
