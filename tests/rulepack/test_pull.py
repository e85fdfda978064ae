"""Packs are fetched, verified, looked at and put in place, in this order; or nothing changes."""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import subprocess
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from troubleshoot import limits
from troubleshoot.errors import LimitError, TroubleshootError
from troubleshoot.rulepack.load import load_pack
from troubleshoot.rulepack.pull import pull, receipt_of

RULE = """\
title: It got too hot
severity: low
signatures: too hot
explanation: x
fixes: [{title: mend it}]
references: [somewhere]
examples: [{match: too hot}, {no_match: cold}]
"""
PACK = {"acme-1/pack.yaml": "name: acme\nversion: 1.4\n", "acme-1/gpu/hot.yaml": RULE, "acme-1/README.md": "# Acme\n"}


def tar(path: Path, files: Mapping[str, str | bytes], *more: tarfile.TarInfo) -> Path:
    with tarfile.open(path, "w:gz") as archive:
        for name, text in files.items():
            data = text.encode() if isinstance(text, str) else text
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
        for info in more:
            archive.addfile(info)
    return path


def digest(path: Path) -> str:
    return "sha256:" + hashlib.sha256(path.read_bytes()).hexdigest()


def brought(archive: Path, tmp_path: Path, **options: object) -> Path:
    return pull(str(archive), digest=digest(archive), into=tmp_path / "packs", **options).path  # type: ignore[arg-type]


def refused(tmp_path: Path, source: str, **options: object) -> str:
    """Return why a pull is refused, after seeing that nothing changed."""
    with pytest.raises(TroubleshootError) as error:
        pull(source, into=tmp_path / "packs", **options)  # type: ignore[arg-type]
    left = sorted(each.name for each in (tmp_path / "packs").iterdir()) if (tmp_path / "packs").exists() else []
    assert left in ([], ["acme"])
    return str(error.value)


def test_an_archive_becomes_a_pack(tmp_path: Path) -> None:
    archive = tar(tmp_path / "a.tgz", {**PACK, "acme-1/setup.py": "boom()", "acme-1/.github/x.yaml": "a: b"})
    pulled = pull(str(archive), digest=digest(archive).upper().replace("SHA", "sha"), into=tmp_path / "packs")
    assert (pulled.name, pulled.version, pulled.rules, pulled.problems) == ("acme", "1.4", 1, ())
    files = sorted(str(each.relative_to(pulled.path)) for each in pulled.path.rglob("*") if each.is_file())
    assert files == [".pulled.json", "README.md", "gpu/hot.yaml", "pack.yaml"]
    assert receipt_of(pulled.path)["pin"] == digest(archive)
    assert sorted(load_pack([pulled.path], default_rules=False, cache=False, overrides=None).rules) == ["gpu/hot"]


def test_it_can_be_pulled_again_and_takes_the_place_of_the_old_one(tmp_path: Path) -> None:
    brought(tar(tmp_path / "a.tgz", PACK), tmp_path)
    newer = {**PACK, "acme-1/pack.yaml": "name: acme\nversion: 2\n", "acme-1/gpu/cold.yaml": RULE}
    del newer["acme-1/gpu/hot.yaml"]
    path = brought(tar(tmp_path / "b.tgz", newer), tmp_path)
    assert sorted(each.name for each in path.parent.iterdir()) == ["acme"]
    assert sorted(each.name for each in (path / "gpu").iterdir()) == ["cold.yaml"]


def test_a_zip_archive_and_a_file_url(tmp_path: Path) -> None:
    archive = tmp_path / "a.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as members:
        for name, text in PACK.items():
            members.writestr(name, text)
    pulled = pull(archive.as_uri(), digest=digest(archive), into=tmp_path / "packs")
    assert pulled.rules == 1


def test_nothing_is_unpacked_that_is_not_the_pinned_archive(tmp_path: Path) -> None:
    archive = tar(tmp_path / "a.tgz", PACK)
    assert refused(tmp_path, str(archive)).startswith("no --digest")
    assert "not the pinned archive" in refused(tmp_path, str(archive), digest="sha256:" + "0" * 64)
    assert "no digest: md5:1" in refused(tmp_path, str(archive), digest="md5:1")
    assert "no such file" in refused(tmp_path, str(tmp_path / "b.tgz"), digest="sha256:" + "0" * 64)


@pytest.mark.parametrize(
    "name", ["../gpu/hot.yaml", "/etc/gpu/hot.yaml", "acme-1/../../x.yaml", "C:\\x\\y.yaml", "a\\..\\..\\b.txt"]
)
def test_an_archive_that_leads_out_of_itself_is_refused(tmp_path: Path, name: str) -> None:
    archive = tar(tmp_path / "a.tgz", {**PACK, name: RULE})
    assert "leads out of itself" in refused(tmp_path, str(archive), digest=digest(archive))
    zipped = tmp_path / "a.zip"
    with zipfile.ZipFile(zipped, "w") as members:
        members.writestr("acme-1/pack.yaml", PACK["acme-1/pack.yaml"])
        members.writestr(zipfile.ZipInfo(name), RULE)
    assert "leads out of itself" in refused(tmp_path, str(zipped), digest=digest(zipped))
    assert not (tmp_path / "gpu").exists()


def test_links_and_devices_are_passed_over(tmp_path: Path) -> None:
    link = tarfile.TarInfo("acme-1/gpu/passwd.yaml")
    link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
    hard = tarfile.TarInfo("acme-1/gpu/hard.yaml")
    hard.type, hard.linkname = tarfile.LNKTYPE, "acme-1/gpu/hot.yaml"
    pipe = tarfile.TarInfo("acme-1/gpu/pipe.yaml")
    pipe.type = tarfile.FIFOTYPE
    path = brought(tar(tmp_path / "a.tgz", PACK, link, hard, pipe), tmp_path)
    assert sorted(each.name for each in (path / "gpu").iterdir()) == ["hot.yaml"]


def test_archives_are_read_within_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    large = tar(tmp_path / "a.tgz", {**PACK, "acme-1/gpu/big.yaml": b"x" * (limits.RULE_FILE_BYTES + 1)})
    with pytest.raises(LimitError, match=r"big\.yaml: larger than"):
        pull(str(large), digest=digest(large), into=tmp_path / "packs")
    monkeypatch.setattr(limits, "PACK_FILES", 2)
    many = tar(tmp_path / "b.tgz", PACK)
    with pytest.raises(LimitError, match="more than 2 files"):
        pull(str(many), digest=digest(many), into=tmp_path / "packs")
    monkeypatch.setattr(limits, "PACK_ARCHIVE_BYTES", 10)
    with pytest.raises(LimitError):
        pull(str(many), digest=digest(many), into=tmp_path / "packs")
    torn = tmp_path / "c.tgz"
    torn.write_bytes(many.read_bytes()[:200])
    monkeypatch.undo()
    assert "cannot be read" in refused(tmp_path, str(torn), digest=digest(torn))


@pytest.mark.parametrize(
    ("files", "options", "why"),
    [
        ({"acme/gpu/hot.yaml": RULE}, {}, "it has no pack.yaml"),
        ({**PACK, "acme-1/pack.yaml": "name: acme\nmin_engine: 99\n"}, {}, "needs troubleshoot 99 or later"),
        ({**PACK, "acme-1/pack.yaml": "nmae: acme\n"}, {}, "its pack.yaml is not well: unknown key `nmae`"),
        ({**PACK, "acme-1/gpu/hot.yaml": "titel: x\n"}, {}, "no rule of `acme` loads"),
        ({"a/pack.yaml": "name: a1\n", "b/pack.yaml": "name: b1\n"}, {}, "several packs in it"),
        (PACK, {"subdir": "nowhere"}, "no folder 'nowhere' in it"),
    ],
)  # fmt: skip
def test_a_pack_that_is_none_is_refused(
    tmp_path: Path, files: Mapping[str, str], options: Mapping[str, str], why: str
) -> None:
    brought(tar(tmp_path / "good.tgz", PACK), tmp_path)
    archive = tar(tmp_path / "a.tgz", files)
    assert why in refused(tmp_path, str(archive), digest=digest(archive), **options)
    assert (tmp_path / "packs/acme/gpu/hot.yaml").read_text("utf-8") == RULE


def test_a_pack_without_a_name_gets_one(tmp_path: Path) -> None:
    files = {"repo/rules/gpu/hot.yaml": RULE, "repo/mkdocs.yml": "a: b", "repo/src/x.py": ""}
    path = brought(tar(tmp_path / "a.tgz", files), tmp_path, name="bee", subdir="rules")
    pack = load_pack([path], default_rules=False, cache=False, overrides=None)
    assert (pack.name, sorted(pack.rules), pack.problems) == ("bee", ["gpu/hot"], ())


def test_a_folder_that_was_not_pulled_is_left_alone(tmp_path: Path) -> None:
    own = tmp_path / "packs/acme/mine.txt"
    own.parent.mkdir(parents=True)
    own.write_text("mine", "utf-8")
    archive = tar(tmp_path / "a.tgz", PACK)
    assert "was not pulled" in refused(tmp_path, str(archive), digest=digest(archive))
    assert own.read_text("utf-8") == "mine"


# --- signatures ------------------------------------------------------------------------------------------------------

needs_ssh = pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="ssh-keygen is not there")
needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not there")


def run(*command: str, **options: object) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True, **options).stdout.strip()  # type: ignore[call-overload,no-any-return]


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("keys")
    for name in ("author", "stranger"):
        run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", str(folder / name))
    return folder


def sign(keys: Path, name: str, archive: Path, namespace: str = "troubleshoot-pack") -> Path:
    made = archive.with_name(f"{archive.name}.sig")
    made.unlink(missing_ok=True)
    run("ssh-keygen", "-Y", "sign", "-q", "-f", str(keys / name), "-n", namespace, str(archive))
    return made


@needs_ssh
def test_a_signature_is_checked(tmp_path: Path, keys: Path) -> None:
    archive = tar(tmp_path / "a.tgz", PACK)
    pin, key = digest(archive), keys / "author.pub"
    pulled = pull(str(archive), digest=pin, signature=sign(keys, "author", archive), key=key, into=tmp_path / "packs")
    assert pulled.signer == "author.pub"
    signers = tmp_path / "allowed_signers"
    signers.write_text(f"author@example.org {key.read_text('utf-8')}", "utf-8")
    signature = sign(keys, "author", archive)
    again = pull(str(archive), digest=pin, signature=signature, key=signers, into=tmp_path / "packs")
    assert again.signer == "author@example.org"


@needs_ssh
def test_a_signature_that_does_not_hold_is_refused(tmp_path: Path, keys: Path) -> None:
    archive, other = tar(tmp_path / "a.tgz", PACK), tar(tmp_path / "b.tgz", {**PACK, "acme-1/NOTICE": "x"})
    pin, key = digest(archive), keys / "author.pub"
    told = [
        refused(tmp_path, str(archive), digest=pin, signature=sign(keys, "stranger", archive), key=key),
        refused(tmp_path, str(archive), digest=pin, signature=sign(keys, "author", other), key=key),
        refused(tmp_path, str(archive), digest=pin, signature=sign(keys, "author", archive, "file"), key=key),
        refused(tmp_path, str(archive), digest=pin, signature=archive, key=key),
        refused(tmp_path, str(archive), digest=pin, signature=sign(keys, "author", archive)),
        refused(tmp_path, str(archive), digest=pin, key=key),
        refused(tmp_path, str(archive), digest=pin, signature=tmp_path / "none.sig", key=key),
    ]
    assert told[0] == "the archive is not signed by the key"
    assert all(each.startswith("the signature does not hold") or "not signed" in each for each in told[1:4])
    assert told[4:6] == ["--signature without --key", "--key without --signature"]
    assert told[6].startswith("no such file")


# --- git -------------------------------------------------------------------------------------------------------------


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repository"
    (folder / "pack/gpu").mkdir(parents=True)
    (folder / "pack/pack.yaml").write_text("name: acme\n", "utf-8")
    (folder / "pack/gpu/hot.yaml").write_text(RULE, "utf-8")
    (folder / "pack/gpu/link.yaml").symlink_to("/etc/passwd")
    (folder / ".gitattributes").write_text("*.yaml filter=boom\n", "utf-8")
    git(folder, "init", "-q")
    git(folder, "config", "filter.boom.smudge", f"touch {tmp_path}/boom; cat")
    git(folder, "config", "uploadpack.allowAnySHA1InWant", "true")
    commit(folder)
    return folder


def git(folder: Path, *arguments: str) -> str:
    who = ("-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
    return run("git", *who, *arguments, cwd=folder, env={**os.environ, "GIT_CONFIG_GLOBAL": os.devnull})


def commit(folder: Path, *options: str) -> str:
    git(folder, "add", ".")
    git(folder, *options, "commit", "-q", "--allow-empty", "-m", "x", *(("-S",) if options else ()))
    return git(folder, "rev-parse", "HEAD")


@needs_git
def test_a_commit_of_a_repository_becomes_a_pack(repository: Path, tmp_path: Path) -> None:
    wanted = git(repository, "rev-parse", "HEAD")
    (repository / "pack/gpu/cold.yaml").write_text(RULE, "utf-8")
    commit(repository)
    pulled = pull(f"git+file://{repository}", commit=wanted, into=tmp_path / "packs")
    assert (pulled.name, pulled.rules, pulled.pin) == ("acme", 1, f"git:{wanted}")
    assert sorted(each.name for each in (pulled.path / "gpu").iterdir()) == ["hot.yaml"]
    assert not (tmp_path / "boom").exists()  # no filter of the repository ran


@needs_git
def test_only_a_pinned_commit_is_taken(repository: Path, tmp_path: Path) -> None:
    url, head = f"file://{repository}", git(repository, "rev-parse", "HEAD")
    assert "no pinned commit: main" in refused(tmp_path, url, commit="main")
    assert "no pinned commit" in refused(tmp_path, url, commit=head[:12])
    assert refused(tmp_path, url, commit="0" * 40)
    assert "without --commit" in refused(tmp_path, f"git+{url}")
    assert "are for archives" in refused(tmp_path, url, commit=head, digest="sha256:" + "0" * 64)
    assert refused(tmp_path, "git+ext::touch% boom", commit=head)
    assert refused(tmp_path, "git+--upload-pack=touch boom", commit=head) == "no git URL: --upload-pack=touch boom"


@needs_git
@needs_ssh
def test_a_commit_must_be_signed_by_the_key(repository: Path, tmp_path: Path, keys: Path) -> None:
    url, unsigned = f"file://{repository}", git(repository, "rev-parse", "HEAD")
    ssh = ("-c", "gpg.format=ssh", "-c", f"user.signingkey={keys / 'author'}")
    signed = commit(repository, *ssh)
    key = keys / "author.pub"
    assert pull(url, commit=signed, key=key, into=tmp_path / "packs").signer == "author.pub"
    assert "is not signed with an SSH key" in refused(tmp_path, url, commit=unsigned, key=key)
    assert "is not signed by the key" in refused(tmp_path, url, commit=signed, key=keys / "stranger.pub")


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    from troubleshoot.cli import main

    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    archive = tar(tmp_path / "a.tgz", PACK)
    with pytest.raises(SystemExit) as ended:
        main(["rules", "pull", str(archive), "--digest", digest(archive)])
    assert ended.value.code == 0
    assert capsys.readouterr().out.startswith("Pack acme 1.4: 1 rules in ")
    log = tmp_path / "x.log"
    log.write_text("it is too hot\n", "utf-8")
    with pytest.raises(SystemExit):
        main([str(log), "--no-default-rules", "--rules", "acme", "--format", "json"])
    assert json.loads(capsys.readouterr().out)["findings"][0]["rule"] == "gpu/hot"
    with pytest.raises(SystemExit) as ended:
        main(["rules", "pull", str(archive)])
    assert ended.value.code == 2
    assert digest(archive) in capsys.readouterr().err
