"""The hooks that users copy: each is tried as far as one machine allows, and held to the schema of what runs it."""

from __future__ import annotations

import importlib.util
import logging
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml

HOOKS = Path(__file__).parents[1] / "troubleshoot" / "hooks"
KUBERNETES = "1.31"
OOM = "[rank0]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.50 GiB.\n"


def documents(*folders: str) -> list[tuple[str, dict[str, Any]]]:
    found = []
    for folder in folders:
        for path in sorted((HOOKS / folder).glob("*.yaml")):
            found += [(f"{folder}/{path.name}", each) for each in yaml.safe_load_all(path.read_text())]
    return found


def pod_specs(value: Any) -> Iterator[dict[str, Any]]:
    """Yield every pod spec below a value."""
    if isinstance(value, dict):
        if "containers" in value:
            yield value
        for each in value.values():
            yield from pod_specs(each)
    elif isinstance(value, list):
        for each in value:
            yield from pod_specs(each)


@pytest.mark.parametrize(("name", "document"), documents("kubernetes"))
def test_manifest_is_valid(name: str, document: dict[str, Any]) -> None:
    kubernetes_validate.validate(document, KUBERNETES, strict=True)


@pytest.mark.parametrize(("name", "document"), documents("kubeflow", "runai"))
def test_pods_of_a_custom_resource_are_valid(name: str, document: dict[str, Any]) -> None:
    specs = list(pod_specs(document))
    assert specs
    for spec in specs:
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x"}, "spec": spec}
        kubernetes_validate.validate(pod, KUBERNETES, strict=True)


def test_schema_would_find_an_error() -> None:
    _, document = documents("kubernetes")[0]
    document["spec"]["backofLimit"] = 1
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(document, KUBERNETES, strict=True)


def test_containers_of_a_workflow_are_valid() -> None:
    [(_, workflow)] = documents("argo")
    templates = {each["name"]: each for each in workflow["spec"]["templates"]}
    assert {workflow["spec"]["entrypoint"], workflow["spec"]["onExit"]} <= set(templates)
    for each in templates.values():
        if "container" in each:
            spec = {"containers": [{"name": "main", **each["container"]}]}
            kubernetes_validate.validate(
                {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x"}, "spec": spec}, KUBERNETES, strict=True
            )
        for step in (step for group in each.get("steps", []) for step in group):
            assert step["template"] in templates


def scripts() -> list[Any]:
    """Return every script in the hooks: files, and what manifests and the action hand to a shell."""
    found = [pytest.param("sh", path.read_text(), id=path.name) for path in sorted(HOOKS.glob("*/*.sh"))]
    for name, document in documents("kubernetes", "kubeflow", "runai", "argo"):
        for at, container in enumerate(_containers(document)):
            if container.get("args"):
                found.append(pytest.param(container["command"][0], container["args"][0], id=f"{name}-{at}"))
    action = yaml.safe_load((HOOKS / "github" / "action.yml").read_text())
    for at, step in enumerate(action["runs"]["steps"]):
        if "run" in step:
            found.append(pytest.param(step["shell"], step["run"], id=f"action-{at}"))
    return found


def _containers(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        if "image" in value:
            yield value
        for each in value.values():
            yield from _containers(each)
    elif isinstance(value, list):
        for each in value:
            yield from _containers(each)


@pytest.mark.parametrize(("shell", "script"), scripts())
def test_script_is_one(shell: str, script: str) -> None:
    done = subprocess.run([shell, "-n"], input=script, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def epilog(spool: Path, **environment: str) -> int:
    return subprocess.run(
        ["sh", str(HOOKS / "slurm" / "epilog.sh")],
        env={"PATH": os.environ["PATH"], "TROUBLESHOOT_SPOOL": str(spool), **environment},
        check=False,
        timeout=10,
    ).returncode


def test_epilog_notes_a_job_once_and_never_fails(tmp_path: Path) -> None:
    assert epilog(tmp_path, SLURM_JOB_ID="4711", SLURM_JOB_USER="ada", SLURM_JOB_WORK_DIR="/work") == 0
    assert epilog(tmp_path, SLURM_JOB_ID="4711", SLURM_JOB_USER="eve") == 0
    assert (tmp_path / "4711.job").read_text() == "job=4711\nuser=ada\nworkdir=/work\nexit=\n"
    assert [path.name for path in tmp_path.iterdir()] == ["4711.job"]
    assert epilog(tmp_path) == 0
    assert epilog(tmp_path / "missing", SLURM_JOB_ID="4712") == 0


def test_spool_reports_on_what_failed(tmp_path: Path) -> None:
    """With stand-ins for Slurm's and our own commands, each of which notes how it was called."""
    spool, jobs, stand_ins = tmp_path / "spool", tmp_path / "jobs", tmp_path / "bin"
    for folder in (spool, jobs, stand_ins):
        folder.mkdir()
    (jobs / "slurm-7.out").write_text(OOM)
    (jobs / "slurm-8.out").write_text("well\n")
    for job in (7, 8):
        (spool / f"{job}.job").write_text(f"job={job}\nuser=\nworkdir={jobs}\nexit=1:0\n")
    commands = {
        "sacct": 'case "$*" in *"-j 7") echo FAILED;; *) echo COMPLETED;; esac',
        "scontrol": "exit 1",
        "troubleshoot": f'echo "$@" >> {tmp_path}/called',
    }
    for name, body in commands.items():
        (stand_ins / name).write_text(f"#!/bin/sh\n{body}\n")
        (stand_ins / name).chmod(0o755)
    environment = {
        "PATH": f"{stand_ins}:{os.environ['PATH']}",
        "TROUBLESHOOT_SPOOL": str(spool),
        "TROUBLESHOOT_SETTLE_S": "0",
    }
    subprocess.run(["sh", str(HOOKS / "slurm" / "spool.sh")], env=environment, check=True, timeout=20)
    called = (tmp_path / "called").read_text().splitlines()
    assert len(called) == 1
    assert called[0].startswith(f"postmortem {jobs}/slurm-7.out --job 7")
    assert f"--output {jobs}/postmortem-7.html" in called[0]
    assert list(spool.iterdir()) == []


def test_submit_adds_a_job_that_waits_for_a_failure(tmp_path: Path) -> None:
    (tmp_path / "sbatch").write_text(f'#!/bin/sh\nprintf "%s\\n" "$*" >> {tmp_path}/called\necho "4711;cluster"\n')
    (tmp_path / "sbatch").chmod(0o755)
    done = subprocess.run(
        ["sh", str(HOOKS / "slurm" / "submit.sh"), "train.sbatch", "--lr=0.1"],
        env={"PATH": f"{tmp_path}:{os.environ['PATH']}"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "4711\n"
    called = (tmp_path / "called").read_text()
    assert called.startswith("--parsable train.sbatch --lr=0.1\n")
    assert "--dependency=afternotok:4711" in called


def test_airflow_callback_reports_and_never_raises(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = HOOKS / "airflow" / "on_failure.py"
    spec = importlib.util.spec_from_file_location("on_failure", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    (tmp_path / "rank-0.log").write_text(OOM)
    with caplog.at_level(logging.INFO):
        module.report_failure({"params": {"log_folder": str(tmp_path)}})
        module.report_failure({})
        module.report_failure({"params": {"log_folder": 7}})
    assert "GPU memory ran out" in caplog.text
    assert "<!DOCTYPE html>" in (tmp_path / "postmortem.html").read_text()


def test_action_declares_what_it_gives() -> None:
    action = yaml.safe_load((HOOKS / "github" / "action.yml").read_text())
    script = next(step["run"] for step in action["runs"]["steps"] if step.get("id") == "report")
    for name in action["outputs"]:
        assert re.search(rf"\b{name}=", script), name
    assert "${{" not in script  # an input must not become a command


def test_every_hook_is_in_the_list() -> None:
    listed = (HOOKS / "README.md").read_text()
    for path in HOOKS.rglob("*.*"):
        if path.name != "README.md" and "__pycache__" not in path.parts:
            assert str(path.relative_to(HOOKS)) in listed
