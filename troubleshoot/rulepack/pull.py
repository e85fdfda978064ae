"""Other people's packs brought here: fetched, verified, looked at, put in their place; in this order and no other.

    pull("https://example.org/acme-1.4.tar.gz", digest="sha256:...")   ->   ~/.local/share/troubleshoot/packs/acme/
    pull("https://example.org/acme.git", commit="<full hash>")              and from then on: --rules acme

A pack is data: nothing of it is run, and of what comes along only rule files and texts are kept. It is put in place
whole or not at all, and only if this engine can run it and some rule of it loads. `.pulled.json` in its folder says
where it is from.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from troubleshoot.errors import Problem, SourceError, UsageError
from troubleshoot.rulepack.files import PACK, SUFFIX, packs_dir
from troubleshoot.rulepack.pull_archive import Files, check_digest, fetch, remove_folder, unpack

RECEIPT = ".pulled.json"
PACK_FILE = PACK + SUFFIX


@dataclass(frozen=True, slots=True)
class Pulled:
    """A pack that was put in place. `problems` are those of rules that do not load."""

    name: str
    version: str
    path: Path
    rules: int
    pin: str
    signer: str = ""
    problems: tuple[Problem, ...] = ()


def pull(
    source: str,
    *,
    digest: str | None = None,
    commit: str | None = None,
    signature: Path | None = None,
    key: Path | None = None,
    name: str | None = None,
    subdir: str | None = None,
    into: Path | None = None,
) -> Pulled:
    """Fetch a pack, verify it and put it into `into` (the user's packs by default) under its name.

    `name` calls a pack that has no pack.yaml; `subdir` is where in the archive or repository it lies.
    Raises UsageError, SourceError or LimitError; then nothing has changed.
    """
    from troubleshoot.rulepack.pull_git import fetch_commit, is_git

    folder = into or packs_dir()
    if folder is None:
        raise UsageError("no home folder to keep packs in", help="say where: --into DIR")
    if signature is not None and key is None:
        raise UsageError("--signature without --key", help="give the public key of who signed it")
    with tempfile.TemporaryDirectory(prefix="troubleshoot-pull-") as temporary:
        work = Path(temporary)
        signer = ""
        if commit is not None or is_git(source):
            if commit is None:
                raise UsageError("a git URL without --commit", help="pin it by the full hash of a commit")
            if signature is not None or digest is not None:
                raise UsageError("--digest and --signature are for archives", help="--key checks a commit's signature")
            files, pin = fetch_commit(source, commit, work, key), f"git:{commit}"
            signer = key.name if key is not None else ""
        else:
            archive = work / "archive"
            pin = fetch(source, archive)
            check_digest(pin, digest)
            if key is not None:
                signer = _signer(archive, signature, key, work)
            files = unpack(archive)
    receipt = {"source": source, "pin": pin, "signer": signer, "at": datetime.now(UTC).isoformat(timespec="seconds")}
    return _place(root_of(files, subdir), name, folder, receipt)


def receipt_of(folder: Path) -> Mapping[str, str]:
    """Return where a pulled pack is from; empty for a folder that was not pulled."""
    try:
        found = json.loads((folder / RECEIPT).read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return {str(key): str(value) for key, value in found.items()} if isinstance(found, dict) else {}


def root_of(files: Files, subdir: str | None) -> Files:
    """Return the files of the pack among those fetched: those below its pack.yaml, or in `subdir`, or, where there is
    no pack.yaml, below the one folder that holds everything. Raises SourceError."""
    if subdir is not None:
        wanted = subdir.strip("/") + "/"
        inside = below(files, wanted) or below(files, _only_folder(files) + wanted)
        if not inside:
            raise SourceError(
                f"no folder {subdir!r} in it", help="it holds " + (", ".join(_folders(files)) or "nothing")
            )
        return inside
    headers = sorted((path for path in files if path.rpartition("/")[2] == PACK_FILE), key=lambda path: path.count("/"))
    if not headers:
        return below(files, _only_folder(files))
    nearest = [path for path in headers if path.count("/") == headers[0].count("/")]
    if len(nearest) > 1:
        raise SourceError("several packs in it: " + ", ".join(nearest), help="choose one with --subdir")
    return below(files, headers[0].removesuffix(PACK_FILE))


def below(files: Files, prefix: str) -> Files:
    return {path.removeprefix(prefix): data for path, data in files.items() if path.startswith(prefix)}


def _only_folder(files: Files) -> str:
    folders = {path.partition("/")[0] for path in files if "/" in path}
    loose = [path for path in files if "/" not in path]
    return f"{folders.pop()}/" if len(folders) == 1 and not loose else ""


def _folders(files: Files) -> list[str]:
    return sorted({path.rpartition("/")[0] for path in files if "/" in path})[:12]


def _signer(archive: Path, signature: Path | None, key: Path, work: Path) -> str:
    from troubleshoot.rulepack.pull_signature import check_signature

    if signature is None:
        raise UsageError("--key without --signature", help="give the archive's signature")
    return check_signature(archive, signature, key, work)


def _place(files: Files, name: str | None, folder: Path, receipt: Mapping[str, str]) -> Pulled:
    from troubleshoot.rulepack.packs import engine_problem, parse_header

    if PACK_FILE not in files:
        if name is None:
            raise SourceError(
                "it has no pack.yaml", help="call it something: --name NAME; or name its folder: --subdir"
            )
        files = {**files, PACK_FILE: f"name: {json.dumps(name)}\n".encode()}
    # YAML at the top of a repository has its own meaning there: rules lie in folders
    files = {path: data for path, data in files.items() if "/" in path or path == PACK_FILE or not _is_yaml(path)}
    header, problems = parse_header(files[PACK_FILE].decode("utf-8", "replace"), PACK_FILE)
    if header is None:
        raise SourceError(f"its pack.yaml is not well: {problems[0].text}", problems=tuple(problems))
    refusal = engine_problem(header)
    if refusal is not None:
        raise UsageError(refusal.text, help=refusal.help)
    target = folder / header.name
    if target.exists() and not receipt_of(target):
        raise UsageError(f"{target} is there and was not pulled", help="move it away, or choose another --into")
    folder.mkdir(parents=True, exist_ok=True)
    new = Path(tempfile.mkdtemp(dir=folder, prefix=f".{header.name}-"))
    try:
        _write(files, new, receipt)
        rules, told = _look_at(new)
        if not rules:
            help = "; ".join(each.text for each in told[:3]) or "rules lie in folders named for their domain"
            raise SourceError(f"no rule of `{header.name}` loads", help=help, problems=told)
        _exchange(new, target)
    except BaseException:
        remove_folder(new)
        raise
    return Pulled(header.name, header.version, target, rules, receipt["pin"], receipt["signer"], told)


def _is_yaml(path: str) -> bool:
    return path.endswith((SUFFIX, ".yml"))


def _write(files: Files, folder: Path, receipt: Mapping[str, str]) -> None:
    for path, data in files.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
    (folder / RECEIPT).write_text(json.dumps(dict(receipt), indent=2) + "\n", "utf-8")
    folder.chmod(0o755)  # mkdtemp keeps it to its owner


def _look_at(folder: Path) -> tuple[int, tuple[Problem, ...]]:
    """Return how many rules of a folder load, and what is wrong with the others."""
    from troubleshoot.rulepack.load import load_pack

    pack = load_pack([folder], default_rules=False, drafts=True, cache=False, overrides=None)
    return len(pack.rules), tuple(pack.problems)


def _exchange(new: Path, target: Path) -> None:
    old = None
    if target.exists():
        old = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}-old-"))
        target.rename(old / "pack")
    new.rename(target)
    if old is not None:
        remove_folder(old)
