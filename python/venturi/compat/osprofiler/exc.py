"""osprofiler.exc: errors that programs may want to catch."""
from typing import Optional


class CommandError(Exception):
    """Invalid usage of CLI."""

    def __init__(self, message: Optional[str] = None) -> None:
        self.message = message

    def __str__(self) -> str:
        return self.message or self.__class__.__doc__ or ""


class LogInsightAPIError(Exception):
    """Never raised here."""


class LogInsightLoginTimeout(Exception):
    """Never raised here."""
