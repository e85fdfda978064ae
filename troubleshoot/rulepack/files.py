"""Where a pack's files lie: paths as given -> layers of files, and the ids that the paths stand for.

Only names, sizes and times are looked at here; nothing is opened. So the listing is cheap enough to be the cache's key.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from troubleshoot import late
from troubleshoot.errors import UsageError

SHARED, TABLES, BUILTIN = "_shared", "_tables", "_builtin"
SCHEMAS = "_schemas"  # what editors read, see editors.py
PACK = "pack"  # the kind of a pack's own description, and with the suffix the name of its file
SUFFIX = ".yaml"
_DEPTH = 8  # of folders within folders: links may go round
_SEGMENT = late.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_TRANSLATION = late.compile(r"(?P<rule>[^.]+)\.(?P<language>[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{2,8}){0,4})")


@dataclass(frozen=True, slots=True)
class PackFile:
    """A file of a pack. `kind` is "rule", "_shared", "_tables", "_builtin" or "pack"; `name` its path below that, no
    suffix."""

    path: str  # as shown to the reader
    kind: str
    name: str
    size: int
    mtime_ns: int


@dataclass(frozen=True, slots=True)
class Layer:
    """One folder of rules with its files, in the order of their names. `name` is what the pack is called after it.
    `alone`: it was given as a single rule's file."""

    name: str
    files: tuple[PackFile, ...]
    path: str = ""
    is_shipped: bool = False
    alone: bool = False

    def of(self, kind: str) -> Iterator[PackFile]:
        return (each for each in self.files if each.kind == kind)


def default_rules_dir() -> Path:
    """Return the folder of the rules that ship with the package: inside it once installed, beside it in the tree."""
    package = Path(__file__).resolve().parent.parent
    installed = package / "_rules"
    return installed if installed.is_dir() else package.parent / "rules"


def list_layers(paths: Sequence[Path | str], *, default_rules: bool = True) -> list[Layer]:
    """Return the layers of a pack, lowest first: the shipped rules, then each path as given.

    A path is a folder of rules or a single rule's file, which brings the shared signatures and tables of its folder.
    Raises UsageError for a path that is neither.
    """
    layers = [shipped_layer()] if default_rules else []
    return layers + [list_layer(Path(path)) for path in paths]


def shipped_layer() -> Layer:
    """Return the layer of the rules that ship with the package."""
    return replace(_list_folder(default_rules_dir(), "troubleshoot"), is_shipped=True)


def packs_dir() -> Path | None:
    """Return where pulled packs are kept, or None where this user has no home."""
    base = os.environ.get("XDG_DATA_HOME", "")
    if base and os.path.isabs(base):  # noqa: PTH117  # the XDG rules: a relative path counts as unset
        return Path(base) / "troubleshoot" / "packs"
    try:
        return Path.home() / ".local" / "share" / "troubleshoot" / "packs"
    except RuntimeError:
        return None


def list_layer(path: Path) -> Layer:
    """Return the layer of one path as given: a folder, one rule's file, or the name of a pulled pack.
    Raises UsageError."""
    pulled = _pulled(path) if not path.exists() else None
    if pulled is not None:
        path = pulled
    if path.is_dir():
        return _list_folder(path, path.resolve().name)
    if not path.exists():
        raise UsageError(f"no such file or folder: {path}", help="give a folder of rules, or one rule's file")
    if path.suffix != SUFFIX:
        raise UsageError(f"no rule file: {path}", help=f"rule files end in `{SUFFIX}`")
    root = root_of(path)
    shown = _shown(root)
    return Layer(root.resolve().name, tuple(_list_alone(path.resolve(), root, shown)), shown, alone=True)


def _pulled(path: Path) -> Path | None:
    """Return the folder of a pulled pack that is called so."""
    kept = packs_dir()
    if kept is None or len(path.parts) != 1 or not _SEGMENT.fullmatch(path.name):
        return None
    return kept / path.name if (kept / path.name).is_dir() else None


def root_of(path: Path) -> Path:
    """Return the rule folder of a rule's file: the nearest above it that looks like one, or its domain's parent."""
    above = list(path.resolve().parents)
    for folder in above[1:]:
        if folder.name == "rules" or any((folder / name).is_dir() for name in (SHARED, TABLES, BUILTIN, SCHEMAS)):
            return folder
    return above[min(1, len(above) - 1)]


def list_rule_files(paths: Sequence[Path | str] = (), *, default_rules: bool = True) -> list[Path]:
    """Return every file that a pack over these paths is made of, rules or not."""
    return [Path(each.path) for layer in list_layers(paths, default_rules=default_rules) for each in layer.files]


def is_rule_id(name: str) -> bool:
    """Say whether a name is an id: two parts or more, lower-case letters, digits and single hyphens."""
    parts = name.split("/")
    return len(parts) >= 2 and all(_SEGMENT.fullmatch(part) for part in parts)


def translation_of(file_name: str) -> tuple[str, str] | None:
    """Return the fault and the language that a file's name stands for: `not-used.zh-CN.yaml`; None for other names."""
    match = _TRANSLATION.fullmatch(file_name.removesuffix(SUFFIX)) if file_name.endswith(SUFFIX) else None
    return (match["rule"], match["language"]) if match is not None else None


def list_translations(paths: Sequence[Path]) -> list[Path]:
    """Return the files of translations below folders, and those beside single rules' files, in order."""
    found: set[Path] = set()
    for path in paths:
        if path.is_dir():
            found.update(path.rglob(f"*{SUFFIX}"))
        else:
            beside = translation_of(path.name)
            name = beside[0] if beside is not None else path.name.removesuffix(SUFFIX)
            found.update(each for each in path.parent.iterdir() if (translation_of(each.name) or ("",))[0] == name)
    return sorted(each for each in found if translation_of(each.name) is not None and each.parent.name[:1] != "_")


def nearest_id(name: str) -> str:
    """Return the id that a wrong one may have meant."""
    parts = [re.sub(r"[^a-z0-9]+", "-", part.lower()).strip("-") for part in name.split("/")]
    parts = [part for part in parts if part]
    return "/".join(parts if len(parts) > 1 else ["domain", *(parts or ["fault"])])


def _list_folder(root: Path, name: str) -> Layer:
    shown = _shown(root)
    return Layer(name, tuple(_walk(str(root), shown, "rule", "")), shown)


def _list_alone(path: Path, root: Path, shown: str) -> Iterator[PackFile]:
    """Yield one rule's file, and what of its pack it may lean on. The rest is not walked: it may be a whole disk."""
    for name in (BUILTIN, SHARED, TABLES):
        if (root / name).is_dir():
            yield from _walk(str(root / name), f"{shown}{os.sep}{name}", name, "")
    for each in dict.fromkeys((root / f"{PACK}{SUFFIX}", path)):
        below = each.relative_to(root)
        if each.is_file() and not below.parts[0].startswith("_"):
            name, stat = below.as_posix().removesuffix(SUFFIX), each.stat()
            yield PackFile(
                str(Path(shown, below)), PACK if name == PACK else "rule", name, stat.st_size, stat.st_mtime_ns
            )


def _shown(root: Path) -> str:
    """Return a folder's name for messages: short where it lies below the current folder."""
    full = root.resolve()
    try:
        return str(full.relative_to(Path.cwd()))
    except (OSError, ValueError):  # not below it, or a current folder that is gone
        return str(full)


def _walk(folder: str, shown: str, kind: str, below: str) -> Iterator[PackFile]:
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        entries = []
    names = {entry.name for entry in entries}
    for entry in entries:
        path = f"{shown}{os.sep}{entry.name}"
        if _is_folder(entry) and below.count("/") < _DEPTH:
            special = entry.name if kind == "rule" and not below and entry.name in (SHARED, TABLES, BUILTIN) else ""
            if special or not entry.name.startswith(("_", ".")):
                deeper = "" if special else f"{below}{entry.name}/"
                yield from _walk(entry.path, path, special or kind, deeper)
        elif entry.name.endswith((SUFFIX, ".yml")) and not entry.name.startswith(("_", ".")):
            beside = translation_of(entry.name) if kind == "rule" else None
            if beside is not None and f"{beside[0]}{SUFFIX}" in names:
                continue  # read when its language is asked for; one of no rule is told of as a rule that cannot be
            name = below + entry.name.removesuffix(SUFFIX)
            own = PACK if kind == "rule" and name == PACK else kind
            try:
                stat = entry.stat()
            except OSError:  # gone since, or a dangling link: opening it will tell
                yield PackFile(path, own, name, 0, 0)
            else:
                yield PackFile(path, own, name, stat.st_size, stat.st_mtime_ns)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link that goes round
        return False


def fingerprint(layers: Iterable[Layer]) -> Iterator[str]:
    """Yield what must be the same for a pack to be the same: each file's name, size and time."""
    for layer in layers:
        yield f"{layer.name} {layer.is_shipped} {layer.alone}"
        for each in layer.files:
            yield f"{each.path} {each.kind} {each.size} {each.mtime_ns}"
