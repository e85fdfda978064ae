"""A git URL and a commit -> the files of a pack, read from the commit's own objects.

The commit's full hash is the pin: git refuses objects that do not hash to their names. There is no checkout, so no
filter, hook or submodule of the repository comes to run; links in the tree are passed over.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

from troubleshoot import limits
from troubleshoot.errors import SourceError, UsageError
from troubleshoot.rulepack.pull_archive import Files, take

_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_SCP_LIKE = re.compile(r"[\w.-]+@[\w.-]+:")
_SAFE = (
    *("-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "protocol.ext.allow=never"),
    *("-c", "fetch.fsckObjects=true", "-c", "gc.auto=0"),
)
_OF_ANOTHER_REPOSITORY = frozenset(
    {"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES"}
)
_SSH_SIGNATURE = b"-----BEGIN SSH SIGNATURE-----"


def is_git(source: str) -> bool:
    """Say whether a source is a git URL by its looks."""
    return source.startswith(("git+", "git://", "ssh://")) or source.endswith(".git") or bool(_SCP_LIKE.match(source))


def fetch_commit(source: str, commit: str, folder: Path, key: Path | None = None) -> Files:
    """Return a commit's files that belong to a pack; with `key` only if that signed the commit.
    Raises UsageError for a commit that is no pin, SourceError for one that cannot be had or is not signed."""
    url = source.removeprefix("git+")
    if url.startswith("-"):
        raise UsageError(f"no git URL: {url}")
    if not _COMMIT.fullmatch(commit):
        raise UsageError(f"no pinned commit: {commit}", help="give its full hash; a branch or tag may change")
    _git(folder, "init", "--quiet", "--bare", ".")
    fetched = _try(folder, "fetch", "--quiet", "--depth=1", "--no-tags", "--", url, commit)
    if fetched is not None:  # a server that gives no single commits
        _git(folder, "fetch", "--quiet", "--no-tags", "--", url, "+refs/heads/*:refs/pulled/*")
    found = _git(folder, "rev-parse", "--verify", "--quiet", f"{commit}^{{commit}}").decode().strip()
    if found != commit:
        raise SourceError(f"{commit} is no commit of {url}")
    if key is not None:
        _check_signed(folder, commit, key)
    return take(_members(folder, commit))


def _members(folder: Path, commit: str) -> Iterator[tuple[str, int, Callable[[int], bytes]]]:
    for row in _git(folder, "ls-tree", "-r", "-z", "-l", "--full-tree", commit).split(b"\0"):
        head, _, name = row.partition(b"\t")
        fields = head.split()
        if len(fields) != 4 or fields[1] != b"blob" or fields[0] not in (b"100644", b"100755"):
            continue

        def read(most: int, blob: str = fields[2].decode()) -> bytes:
            return _git(folder, "cat-file", "blob", blob)[:most]

        yield name.decode("utf-8", "surrogateescape"), int(fields[3]), read


def _check_signed(folder: Path, commit: str, key: Path) -> None:
    from troubleshoot.rulepack.pull_signature import signers_file

    if _SSH_SIGNATURE not in _git(folder, "cat-file", "commit", commit).partition(b"\n\n")[0]:
        raise SourceError(f"{commit} is not signed with an SSH key", help="--key asks for a commit that is")
    signers = signers_file(key, folder, namespace="git")
    refused = _try(folder, "-c", f"gpg.ssh.allowedSignersFile={signers}", "verify-commit", commit)
    if refused is not None:
        raise SourceError(f"{commit} is not signed by the key: {refused}", help="nothing was unpacked")


def _git(folder: Path, *arguments: str) -> bytes:
    try:
        done = subprocess.run(
            ["git", *_SAFE, *arguments],
            cwd=folder,
            env={
                **{name: value for name, value in os.environ.items() if name not in _OF_ANOTHER_REPOSITORY},
                "GIT_TERMINAL_PROMPT": "0",
                "GIT_ALLOW_PROTOCOL": "https:http:ssh:git:file",
                "GIT_LFS_SKIP_SMUDGE": "1",
            },
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=limits.PULL_S,
            check=False,
        )
    except FileNotFoundError as error:
        raise UsageError("git is not there", help="install git, or pull an archive") from error
    except subprocess.TimeoutExpired as error:
        raise SourceError(f"git {arguments[0]} took longer than {limits.PULL_S:g} s") from error
    if done.returncode:
        told = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise SourceError(f"git {arguments[0]}: {told[-1] if told else f'exit code {done.returncode}'}")
    return done.stdout


def _try(folder: Path, *arguments: str) -> str | None:
    """Run git; return what went wrong, or None."""
    try:
        _git(folder, *arguments)
    except SourceError as error:
        return error.text
    return None
