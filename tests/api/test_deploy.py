"""The container file and the manifest are valid, and say what the service takes. It needs no cluster."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml

from troubleshoot.cli.serve import serve

DEPLOY = Path(__file__).parents[2] / "troubleshoot" / "deploy"
DOCUMENTS = list(yaml.safe_load_all((DEPLOY / "kubernetes.yaml").read_text()))
INSTRUCTIONS = {"FROM", "WORKDIR", "COPY", "RUN", "ENV", "USER", "VOLUME", "EXPOSE", "STOPSIGNAL", "HEALTHCHECK"}


def options() -> set[str]:
    return {name for parameter in serve.params for name in parameter.opts if name.startswith("--")}


def container() -> dict[str, Any]:
    deployment = next(each for each in DOCUMENTS if each["kind"] == "Deployment")
    (found,) = deployment["spec"]["template"]["spec"]["containers"]
    return dict(found)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda each: str(each["kind"]))
def test_manifest_is_valid(document: dict[str, Any]) -> None:
    kubernetes_validate.validate(document, "1.31", strict=True)


def test_names_and_ports_of_the_manifest_fit_together() -> None:
    by_kind = {each["kind"]: each for each in DOCUMENTS}
    pod = by_kind["Deployment"]["spec"]["template"]
    labels = pod["metadata"]["labels"]
    assert by_kind["Service"]["spec"]["selector"] == labels
    assert by_kind["Deployment"]["spec"]["selector"]["matchLabels"] == labels
    assert by_kind["NetworkPolicy"]["spec"]["podSelector"]["matchLabels"] == labels
    mounts = {each["name"] for each in container()["volumeMounts"]}
    assert mounts == {each["name"] for each in pod["spec"]["volumes"]}
    assert {each["name"] for each in container()["ports"]} == {"http"}


def test_options_of_manifest_and_image_exist() -> None:
    text = (DEPLOY / "Containerfile").read_text()
    given = {each for each in container()["args"] if each.startswith("--")}
    given |= set(re.findall(r'"(--[a-z-]+)"', text))
    assert given
    assert given <= options()


def test_probes_ask_for_routes_that_are_open() -> None:
    from troubleshoot.api.gate import scope_for

    for probe in ("readinessProbe", "livenessProbe", "startupProbe"):
        assert scope_for("GET", container()[probe]["httpGet"]["path"]) is None


def test_container_file_is_whole() -> None:
    text = re.sub(r"\\\n", " ", (DEPLOY / "Containerfile").read_text())
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    words = [line.split()[0] for line in lines]
    assert set(words) <= INSTRUCTIONS | {"ENTRYPOINT", "CMD"}
    assert words[0] == "FROM"
    for line in lines:
        if line.startswith("COPY") and "--from" not in line:
            *sources, _target = shlex.split(line)[1:]
            for source in sources:
                assert (DEPLOY.parents[1] / source).exists(), source
    users = [line.split()[1] for line in lines if line.startswith("USER")]
    assert users[-1] == "10001"


def instructions() -> list[tuple[str, str]]:
    """Return the container file's instructions: the word and what follows it."""
    text = re.sub(r"\\\n", " ", (DEPLOY / "Containerfile").read_text())
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return [(line.split()[0], line.split(maxsplit=1)[1]) for line in lines]


def test_container_file_follows_the_rules_that_linters_check() -> None:
    """Named after hadolint's rules, which cannot run everywhere."""
    found = instructions()
    for word, rest in found:
        if word == "FROM":
            assert re.match(r"[\w./-]+:(?!latest)[\w.-]+( AS \w+)?$", rest), "DL3006, DL3007: a tag that is not latest"
        if word in ("CMD", "ENTRYPOINT"):
            assert isinstance(json.loads(rest), list), "DL3025: no shell between signals and process"
        if word == "RUN":
            assert "sudo" not in rest and "| sh" not in rest, "DL3004"
            assert "pip install" not in rest or "--no-cache-dir" in rest, "DL3042"
        if word == "ENV":
            assert not re.search(r"(?i)(token|secret|password|key)=", rest), "a secret stays in the layers"
    words = [word for word, _ in found]
    assert "ADD" not in words, "DL3020"
    assert words.count("CMD") == words.count("ENTRYPOINT") == words.count("HEALTHCHECK") == 1, "DL3012, DL4003, DL4004"
    assert [rest for word, rest in found if word == "USER"][-1] not in ("root", "0"), "DL3002"
    last_stage = found[max(at for at, (word, _) in enumerate(found) if word == "FROM") :]
    assert [rest for word, rest in last_stage if word == "COPY"] == ["--from=build /opt/troubleshoot /opt/troubleshoot"]


def test_build_is_sent_what_it_copies_and_no_more() -> None:
    ignored = (DEPLOY / "Containerfile.dockerignore").read_text().splitlines()
    kept = {line[1:] for line in ignored if line.startswith("!")}
    copied = {
        source
        for word, rest in instructions()
        if word == "COPY" and "--from" not in rest
        for source in shlex.split(rest)[:-1]
    }
    assert "*" in ignored
    assert kept == copied
