"""Makes the values that workers send back quick to pickle.

A frozen dataclass with slots is pickled field by field in Python, 10 us for each value on both sides together: a
quarter of the time of a small file. Here each is sent as its class and a tuple of its fields, and made by its class.
"""

from __future__ import annotations

import copyreg
from collections.abc import Callable
from dataclasses import fields
from operator import attrgetter
from typing import Any

from troubleshoot.model import Hit, Identity, Note, Progress, Record, ScanResult, Source, SourceInfo, Stamp

VALUES: tuple[type[Any], ...] = (Hit, Identity, Note, Progress, Record, ScanResult, Source, SourceInfo, Stamp)


def send_quickly(values: tuple[type[Any], ...] = VALUES) -> None:
    """Let values of these dataclasses be pickled by their fields."""
    for each in values:
        copyreg.pickle(each, _reducer(each))


def _reducer(cls: type[Any]) -> Callable[[Any], tuple[type[Any], tuple[Any, ...]]]:
    names = [field.name for field in fields(cls)]
    get = attrgetter(*names)

    def reduce(value: Any) -> tuple[type[Any], tuple[Any, ...]]:
        return cls, get(value) if len(names) > 1 else (get(value),)

    return reduce
