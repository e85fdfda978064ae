"""Is this archive signed by this key? Asked of OpenSSH's `ssh-keygen -Y verify`.

    the author    ssh-keygen -Y sign -f ~/.ssh/id_ed25519 -n troubleshoot-pack acme-1.4.tar.gz   ->  acme-1.4.tar.gz.sig
    the user      troubleshoot rules pull ... --signature acme-1.4.tar.gz.sig --key acme.pub

OpenSSH is on every machine that runs jobs and well kept, and people have keys for it; so no cryptography is done here.
The key is a public key's file, or a file of allowed signers (`man ssh-keygen`). The namespace keeps a signature made
for something else from counting here.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

from troubleshoot.errors import SourceError, UsageError

NAMESPACE = "troubleshoot-pack"
_KEY_TYPES = ("ssh-", "ecdsa-", "sk-ssh-", "sk-ecdsa-")
_ANYBODY = "signer"


def check_signature(archive: Path, signature: Path, key: Path, folder: Path) -> str:
    """Return who signed an archive, as the key's file calls them. Raises SourceError for a signature that does not
    hold, UsageError where it cannot be asked."""
    for file, option in ((signature, "--signature"), (key, "--key")):
        if not file.is_file():
            raise UsageError(f"no such file: {file}", help=f"{option} takes a file")
    signers = signers_file(key, folder, namespace=NAMESPACE)
    found = _ssh_keygen(["-Y", "find-principals", "-s", str(signature), "-f", str(signers)], None)
    principals = found.stdout.decode("utf-8", "replace").split("\n")[0].strip()
    if found.returncode or not principals:
        raise SourceError("the archive is not signed by the key", help="nothing was unpacked")
    who = _ANYBODY if principals == "*" else principals.split(",")[0]
    asked = ["-Y", "verify", "-n", NAMESPACE, "-I", who, "-s", str(signature), "-f", str(signers)]
    with archive.open("rb") as stream:
        done = _ssh_keygen(asked, stream.fileno())
    if done.returncode:
        told = (done.stderr or done.stdout).decode("utf-8", "replace").strip()
        raise SourceError(f"the signature does not hold: {told}", help=f"it must be made with -n {NAMESPACE}")
    return who if who != _ANYBODY else key.name


def signers_file(key: Path, folder: Path, *, namespace: str) -> Path:
    """Return a file of allowed signers: the given one, or one made from a public key."""
    try:
        lines = [line for line in key.read_text("utf-8").splitlines() if line.strip() and not line.startswith("#")]
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"{key}: cannot be read", help="--key takes a public key, or a file of allowed signers"
        ) from error
    if not lines:
        raise UsageError(f"{key}: no key in it")
    if not lines[0].startswith(_KEY_TYPES):
        return key.resolve()
    signers = folder / "allowed_signers"
    signers.write_text("".join(f'* namespaces="{namespace}" {line}\n' for line in lines), "utf-8")
    return signers


def _ssh_keygen(arguments: list[str], stdin: int | None) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(
            ["ssh-keygen", *arguments],
            stdin=subprocess.DEVNULL if stdin is None else stdin,
            capture_output=True,
            timeout=60,
            check=False,
        )
    except FileNotFoundError as error:
        raise UsageError(
            "ssh-keygen is not there, so the signature cannot be checked", help="install OpenSSH"
        ) from error
