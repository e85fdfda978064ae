"""What a service refuses for reasons of its own: too much to do, too slow a scan or client, nothing there, no right."""

from __future__ import annotations

from troubleshoot.errors import LimitError, UsageError


class OverloadedError(LimitError):
    """The service has more to do than it can; try again."""


class ScanTimeoutError(LimitError):
    """One scan took longer than a request may."""


class SlowClientError(LimitError):
    """A body did not arrive in time."""


class NotFoundError(UsageError):
    """What was asked for is not there, or not there any more."""


class ForbiddenError(UsageError):
    """The caller may not do that."""
