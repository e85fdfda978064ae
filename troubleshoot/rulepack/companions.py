"""The files of a pack that hold no rule: tables, shared signatures, built-in signatures.

    _tables/xid.yaml         columns: [name]; rows: {"79": {name: fell off the bus}}
    _shared/efa.yaml         efa_mount: /opt/amazon-efa-ofi
    _builtin/suspects.yaml   killed: {signature: Killed by signal, weight: 3}

Each parser returns what could be read, and every problem of the file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pydantic import ConfigDict, RootModel, create_model

from troubleshoot.errors import Problem
from troubleshoot.model import Signature
from troubleshoot.rulepack import fields
from troubleshoot.rulepack.pack_fields import SharedFile, TableFields
from troubleshoot.rulepack.positions import Document, Path, read_document, text_of
from troubleshoot.rulepack.shape import check_shape, did_you_mean, touches
from troubleshoot.rulepack.signatures import build_signature


@dataclass(frozen=True, slots=True)
class Table:
    """A table's columns and rows; a cell that a row leaves out is not there."""

    columns: tuple[str, ...]
    rows: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


_BuiltinEntry = create_model(
    "_BuiltinEntry", __config__=ConfigDict(extra="allow", strict=True), signature=(fields.SignatureValue, ...)
)


class _BuiltinFile(RootModel[dict[str, _BuiltinEntry]]):  # type: ignore[valid-type]  # made by create_model
    model_config = ConfigDict(strict=True)


def parse_shared(text: str, path: str) -> tuple[dict[str, Signature], list[Problem]]:
    """Return the signatures of a `_shared/` file by name, and its problems."""
    document = read_document(text, path)
    if document.data is None:
        return {}, document.problems
    _model, bad = check_shape(document, SharedFile)
    return ({} if () in bad else _build_shared(document, bad)), document.problems


def parse_builtin(
    text: str, path: str, shared: Mapping[str, Signature]
) -> tuple[dict[str, tuple[Signature, dict[str, str]]], list[Problem]]:
    """Return the signatures of a `_builtin/` file by name with their attributes, and its problems."""
    document = read_document(text, path)
    if document.data is None:
        return {}, document.problems
    _model, bad = check_shape(document, _BuiltinFile)
    return ({} if () in bad else _build_builtin(document, bad, shared)), document.problems


def parse_table(text: str, path: str) -> tuple[Table | None, list[Problem]]:
    """Return the table, or None, and the file's problems."""
    document = read_document(text, path)
    if document.data is None:
        if not document.problems:
            document.problems.append(
                document.problem("R004", "the file is empty", document.place(()), "write `columns:`")
            )
        return None, document.problems
    model, _bad = check_shape(document, TableFields, "a table")
    if not isinstance(model, TableFields):
        return None, document.problems
    for key, row in model.rows.items():
        for column in row:
            if column not in model.columns:
                place, help = document.place(("rows", key, column), key=True), did_you_mean(column, model.columns)
                document.problems.append(document.problem("R012", f"no column `{column}`", place, help))
    return Table(tuple(model.columns), model.rows), document.problems


def _build_shared(document: Document, bad: set[Path]) -> dict[str, Signature]:
    """Return the signatures of a `_shared/` file."""
    built = {}
    for name, value in (document.data or {}).items():
        if not touches(bad, (name,)):
            signature = build_signature(document, name, value, (name,), {})
            if signature is not None:
                built[name] = signature
    return built


def _build_builtin(
    document: Document, bad: set[Path], shared: Mapping[str, Signature]
) -> dict[str, tuple[Signature, dict[str, str]]]:
    """Return the signatures of a `_builtin/` file with their attributes."""
    built = {}
    for name, entry in (document.data or {}).items():
        if touches(bad, (name,)):
            continue
        signature = build_signature(document, name, entry["signature"], (name, "signature"), shared)
        attributes = {key: str(text_of(value)) for key, value in entry.items() if key != "signature"}
        if signature is not None:
            built[name] = (signature, attributes)
    return built
