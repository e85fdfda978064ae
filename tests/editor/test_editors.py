"""Rule files as an editor sees them: the schemas that lie beside them, and a real YAML language server over them."""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from language_server import HERE, SERVER, LanguageServer

from troubleshoot.rulepack.editors import KINDS, MARK, associate, schema_text, unassociated
from troubleshoot.rulepack.files import default_rules_dir
from troubleshoot.rulepack.load import find_problems, load_pack

RULES = default_rules_dir()
HOW = "write them anew: troubleshoot rules schema --into rules"


# --- schemas and the lines that point to them ------------------------------------------------------------------------


def shipped_files() -> list[Path]:
    return [path for path in sorted(RULES.rglob("*.yaml")) if "_builtin" not in path.parts]


@pytest.mark.parametrize("kind", ["rule", "pack", "shared", "table", "translation"])
def test_committed_schema_is_the_one_that_the_loader_makes(kind: str) -> None:
    assert (RULES / "_schemas" / f"{kind}.json").read_text("utf-8") == schema_text(kind), HOW


def test_every_shipped_file_points_to_a_schema_that_is_there() -> None:
    assert [str(path) for path, _line in unassociated(RULES)] == [], HOW
    for path in shipped_files():
        first = path.read_text("utf-8").split("\n", 1)[0]
        target = (path.parent / first.removeprefix(MARK)).resolve()
        assert (first.startswith(MARK), target.parent, target.is_file()) == (True, RULES / "_schemas", True), path


@pytest.mark.parametrize("kind", KINDS)
def test_every_key_says_what_it_means_and_gives_a_value(kind: str) -> None:
    schema = KINDS[kind]()
    jsonschema.Draft202012Validator.check_schema(schema)
    for name, owner in {kind: schema, **schema.get("$defs", {})}.items():
        for key, value in owner.get("properties", {}).items():
            assert value.get("description"), f"{name}.{key}"
            has_values = {"examples", "enum", "defaultSnippets"} & value.keys() or value.get("type") == "boolean"
            listed = value.get("items", {}) if isinstance(value.get("items"), dict) else {}
            assert has_values or "enum" in listed, f"{name}.{key}"
            for example in value.get("examples", ()):
                jsonschema.Draft202012Validator({**value, "$defs": schema.get("$defs", {})}).validate(example)


@pytest.mark.parametrize(
    ("kind", "good", "bad"),
    [
        ("pack", "name: acme\nmin_engine: '0.2'\nreplaces: [gpu/hot]\n", "nam: acme\n"),
        (
            "overrides",
            "gpu/x: { severity: low, reason: ours }\n'nccl/*': { disable: true }\n",
            "gpu/x: { severity: no }",
        ),
        ("table", "columns: [name]\nrows: { '79': { name: bus } }\n", "columns: name\nrows: {}\n"),
        ("translation", "of: a1b2c3 -\nfixes: [{ title: x }, {}]\n", "title: without what it is of\n"),
        ("shared", "a: some words\nb: { text: [x, y], lines: 2 }\n", "a: { txt: some words }\n"),
    ],
)
def test_other_files_of_a_pack_have_schemas_too(kind: str, good: str, bad: str) -> None:
    validator = jsonschema.Draft202012Validator(KINDS[kind]())
    assert list(validator.iter_errors(yaml.safe_load(good))) == []
    assert list(validator.iter_errors(yaml.safe_load(bad))) != []


def test_folder_is_tied_to_its_schemas_once_and_stays_what_it_was(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    files = {"pack.yaml": "name: acme\n", "_tables/t.yaml": "columns: [a]\nrows: {}\n", "_shared/s.yaml": "s: words\n"}
    rule = "title: é\r\nseverity: low\r\nexplanation: x\r\nsignatures: { use: s }\r\nseverty: x\r\n"
    files |= {"gpu/hot.yaml": "\ufeff" + rule, "gpu/deep/hot.yaml": f"{MARK}elsewhere.json\n{rule}"}
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(text.encode())
    before = {str(each.place): each for each in find_problems([folder])}
    assert len(associate(folder)) == 5 + len(files)
    assert associate(folder) == []
    assert (folder / "gpu/hot.yaml").read_bytes() == f"\ufeff{MARK}../_schemas/rule.json\r\n{rule}".encode()
    assert (folder / "gpu/deep/hot.yaml").read_bytes() == f"{MARK}../../_schemas/rule.json\r\n{rule}".encode()
    assert (folder / "pack.yaml").read_text() == f"{MARK}_schemas/pack.json\nname: acme\n"
    after = find_problems([folder])
    assert [(each.code, each.text, each.excerpt) for each in after] == [
        (each.code, each.text, each.excerpt) for each in before.values()
    ]
    assert after[0].place is not None
    assert after[0].place.line == 6  # one further down, as in the editor
    assert list(load_pack([folder], default_rules=False, cache=False).rules) == []


# --- the language server ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def node() -> str:
    """Return the Node.js that runs the language server, which is fetched where it is not there yet."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        pytest.skip("no Node.js with npm here, which the YAML language server needs; .ci/packages installs them")
    with (HERE / ".installing").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # tests of this file may run in several processes
        _install(npm)
    return node


def _install(npm: str) -> None:
    if SERVER.is_file():
        return
    done = subprocess.run([npm, "ci", "--no-audit", "--no-fund"], cwd=HERE, capture_output=True, text=True, timeout=300)
    if done.returncode:
        if os.environ.get("CI"):
            pytest.fail(f"npm ci failed: {done.stderr}")
        pytest.skip(f"the YAML language server cannot be had from npm here: {done.stderr.strip()[-200:]}")


@pytest.fixture(scope="module")
def server(node: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[LanguageServer, Path]]:
    root = tmp_path_factory.mktemp("pack")
    (root / "gpu").mkdir()
    (root / "pack.yaml").write_text("name: acme\n")
    associate(root)
    with LanguageServer(node, root) as running:
        yield running, root


HEAD = f"{MARK}../_schemas/rule.json\n"


def at(server: tuple[LanguageServer, Path], name: str, text: str) -> tuple[str, int, int]:
    """Open a rule whose text holds the cursor as `|>`; return its address and the cursor's place."""
    before = (HEAD + text).split("|>")[0]
    uri = server[0].open(server[1] / "gpu" / f"{name}.yaml", (HEAD + text).replace("|>", ""))
    return uri, before.count("\n"), len(before.rpartition("\n")[2])


@pytest.mark.parametrize(
    ("name", "text", "wanted"),
    [
        ("keys", "title: x\nse|>\n", {"severity": "severity: ", "signatures": "signatures: "}),
        ("values", "title: x\nseverity: |>\n", {"low": "low", "critical": "critical"}),
        ("condition", "signatures: { a: some words }\ncondition:\n  at|>\n", {"at_least": "at_least:\n  n: $1"}),
        ("fix", "fixes:\n  - title: x\n    ve|>\n", {"verify": "verify: \n  ${1:run}"}),
        ("example", "examples:\n  - ma|>\n", {"match": "match: |\n  ${1:"}),
    ],
)
def test_editor_completes(server: tuple[LanguageServer, Path], name: str, text: str, wanted: dict[str, str]) -> None:
    items = server[0].complete(*at(server, name, text))
    for label, inserted in wanted.items():
        assert items[label]["insertText"].startswith(inserted)


def test_editor_shows_what_a_key_means(server: tuple[LanguageServer, Path]) -> None:
    assert "Does running it again help" in server[0].hover(*at(server, "hover", "title: x\nret|>ry: no\n"))


def test_editor_underlines_what_the_loader_refuses(server: tuple[LanguageServer, Path]) -> None:
    uri, _line, _column = at(
        server, "wrong", "title: x\nseverity: dire\nexplanation: y\nsignatures: words\nsevrity: low\n"
    )
    told = [(each["range"]["start"]["line"], each["message"]) for each in server[0].diagnostics(uri)]
    assert any(line == 2 and '"low", "medium"' in text for line, text in told)
    assert any(line == 5 and "sevrity" in text for line, text in told)


def test_editor_helps_with_overrides_and_packs(server: tuple[LanguageServer, Path]) -> None:
    running, root = server
    (root / "overrides.schema.json").write_text(schema_text("overrides"), "utf-8")
    uri = running.open(root / "overrides.yaml", f"{MARK}overrides.schema.json\ngpu/hot:\n  sev\n")
    assert running.complete(uri, 2, 5)["severity"]["insertText"] == "severity: "
    wrong = running.open(root / "wrong.yaml", f"{MARK}overrides.schema.json\ngpu/hot: {{ severity: dire }}\n")
    assert any('"low"' in each["message"] for each in running.diagnostics(wrong))
    pack = running.open(root / "pack.yaml", f"{MARK}_schemas/pack.json\nname: acme\nmin\n")
    assert running.complete(pack, 2, 3)["min_engine"]["insertText"].startswith("min_engine: ")


def test_editor_finds_nothing_wrong_with_a_new_rule(server: tuple[LanguageServer, Path]) -> None:
    from troubleshoot.cli.authoring import write_rule

    path = write_rule(server[1], "gpu/new", "RuntimeError: link 3 of gpu-node-7 is down\n")
    assert server[0].diagnostics(server[0].open(path, path.read_text("utf-8"))) == []


def test_editor_finds_nothing_wrong_with_the_shipped_files(node: str) -> None:
    told: dict[str, list[Any]] = {}
    with LanguageServer(node, RULES) as running:
        opened = {path: running.open(path, path.read_text("utf-8")) for path in shipped_files()}
        for path, uri in opened.items():
            if found := running.diagnostics(uri):
                told[str(path.relative_to(RULES))] = [re.sub(r"\s+", " ", each["message"]) for each in found]
    assert told == {}


def test_packages_of_the_editor_are_pinned_and_name_no_host() -> None:
    lock = json.loads((HERE / "package-lock.json").read_text())
    assert all("integrity" in each and "resolved" not in each for name, each in lock["packages"].items() if name)
