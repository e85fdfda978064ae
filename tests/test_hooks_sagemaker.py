"""The hook for SageMaker: a function that reads CloudWatch, and the stack that calls it."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
import yaml

FOLDER = Path(__file__).parents[1] / "troubleshoot" / "hooks" / "sagemaker"
JOB = "llama-ft-2026-11-30-20-15-04-000"
OOM = "[rank9]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.50 GiB."
BEGIN_MS = 1_796_069_704_000


@pytest.fixture
def hook() -> ModuleType:
    spec = importlib.util.spec_from_file_location("sagemaker_postmortem", FOLDER / "postmortem.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Logs:
    """CloudWatch with two streams, three events a page; the last page's token comes again with an empty page."""

    def __init__(self, streams: dict[str, list[str]]) -> None:
        self._streams = streams

    def get_paginator(self, operation: str) -> Any:
        assert operation == "describe_log_streams"
        pages = [{"logStreams": [{"logStreamName": f"{JOB}/{name}"}]} for name in self._streams]
        return SimpleNamespace(paginate=lambda **given: pages if given["logStreamNamePrefix"] == f"{JOB}/" else [])

    def get_log_events(self, **given: Any) -> dict[str, Any]:
        assert (given["logGroupName"], given["startFromHead"]) == ("/aws/sagemaker/TrainingJobs", True)
        at = int(given.get("nextToken", "f/0").split("/")[1])
        texts = self._streams[given["logStreamName"].split("/", 1)[1]][at : at + 3]
        return {
            "events": [{"timestamp": BEGIN_MS + (at + i) * 7, "message": text} for i, text in enumerate(texts)],
            "nextForwardToken": f"f/{at + len(texts)}",
        }


STREAMS = {
    "algo-1-1796069704": [f"[rank0]: step {i}" for i in range(20)],
    "algo-2-1796069704": [*(f"[rank9]: step {i}" for i in range(20)), OOM],
}


def event(status: str = "Failed") -> dict[str, Any]:
    return {
        "source": "aws.sagemaker",
        "detail-type": "SageMaker Training Job State Change",
        "detail": {
            "TrainingJobName": JOB,
            "TrainingJobStatus": status,
            "FailureReason": "AlgorithmError: ExecuteUserScriptError: ExitCode 1",
        },
    }


class Aws:
    """Stands in for boto3."""

    def __init__(self, streams: dict[str, list[str]]) -> None:
        self.put: dict[str, bytes] = {}
        self.told: list[dict[str, str]] = []
        self._logs = Logs(streams)

    def client(self, service: str) -> Any:
        def put_object(**given: Any) -> None:
            self.put[f"{given['Bucket']}/{given['Key']}"] = given["Body"]

        def publish(**given: str) -> None:
            self.told.append(given)

        return {
            "logs": self._logs,
            "s3": SimpleNamespace(put_object=put_object),
            "sns": SimpleNamespace(publish=publish),
        }[service]


@pytest.fixture
def aws(monkeypatch: pytest.MonkeyPatch) -> Aws:
    stand_in = Aws(STREAMS)
    monkeypatch.setitem(sys.modules, "boto3", stand_in)
    monkeypatch.setenv("REPORT_BUCKET", "reports")
    monkeypatch.setenv("TOPIC_ARN", "arn:aws:sns:us-east-1:1:t")
    return stand_in


def test_failed_job_gets_a_report(hook: ModuleType, aws: Aws) -> None:
    answer = hook.lambda_handler(event())
    assert answer == {"job": JOB, "report": f"s3://reports/postmortem/{JOB}.html"}
    report = json.loads(aws.put[f"reports/postmortem/{JOB}.json"])
    assert report["findings"][0]["rule"] == "cuda/out-of-memory"
    assert report["job"]["first_failure"]["rank"] == 9
    assert report["job"]["first_failure"]["host"] == "algo-2"
    assert aws.put[f"reports/postmortem/{JOB}.html"].startswith(b"<!DOCTYPE html>")
    [told] = aws.told
    assert told["Subject"].startswith(JOB)
    assert len(told["Subject"]) < 100
    assert "algo-2" in told["Message"]


def test_other_events_are_passed_over(hook: ModuleType, aws: Aws) -> None:
    assert hook.lambda_handler(event("Completed")) == {"job": JOB, "report": ""}
    assert hook.lambda_handler({}) == {"job": "", "report": ""}
    assert aws.put == {}


def test_a_job_without_streams_does_not_fail_the_function(
    hook: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Broken:
        def client(self, service: str) -> Any:
            raise ConnectionError("no route")

    monkeypatch.setitem(sys.modules, "boto3", Broken())
    assert hook.lambda_handler(event()) == {"job": JOB, "report": ""}
    assert "no report" in capsys.readouterr().out


def test_middle_of_a_long_stream_is_left_out(hook: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hook, "HEAD_BYTES", 100)
    monkeypatch.setattr(hook, "BYTES_PER_STREAM", 200)
    texts = [line[25:].strip() for line in hook.lines(f"{JOB}/algo-2-1796069704", Logs(STREAMS))]
    assert texts[0] == "[rank9]: step 0"
    assert texts[-1] == OOM
    assert len(texts) < 21
    whole = list(hook.lines(f"{JOB}/algo-1-1796069704", Logs({"algo-1-1796069704": ["a", "b"]})))
    assert whole == ["2026-11-30T20:15:04.000Z a\n", "2026-11-30T20:15:04.007Z b\n"]


def test_stack_calls_the_function_for_failed_jobs() -> None:
    """Checked with cfn-lint when it was written; here, that its parts fit together."""

    class Loader(yaml.SafeLoader):
        pass

    def short_form(loader: yaml.SafeLoader, tag: str, node: yaml.Node) -> Any:
        return {tag: getattr(node, "value", None)}

    Loader.add_multi_constructor("!", short_form)
    stack = yaml.load((FOLDER / "stack.yaml").read_text(), Loader)
    resources = stack["Resources"]
    pattern = resources["Rule"]["Properties"]["EventPattern"]
    sent = event()
    assert sent["source"] in pattern["source"]
    assert sent["detail-type"] in pattern["detail-type"]
    assert sent["detail"]["TrainingJobStatus"] in pattern["detail"]["TrainingJobStatus"]
    assert resources["Rule"]["Properties"]["Targets"][0]["Arn"] == {"GetAtt": "Function.Arn"}
    assert "postmortem.lambda_handler" in (FOLDER / "Dockerfile").read_text()
