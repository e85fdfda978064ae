"""Reports on a SageMaker training job from its CloudWatch streams: as a Lambda function, or from a shell.

    python postmortem.py llama-ft-2026-11-30-20-15-04-000 [folder]     # needs boto3, credentials, troubleshoot

As a Lambda function (stack.yaml sets it up) it is called by EventBridge when a job has failed. It writes the report to
REPORT_BUCKET, tells TOPIC_ARN and NOTIFY_URL if they are set, and never fails: SageMaker does not wait for it.
Of each stream the last BYTES_PER_STREAM are kept, and 2 MiB of its beginning.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections import deque
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

GROUP = "/aws/sagemaker/TrainingJobs"
BYTES_PER_STREAM = int(os.environ.get("BYTES_PER_STREAM", 64 * 1024 * 1024))
HEAD_BYTES = 2 * 1024 * 1024
SUBJECT_CHARS = 99  # what SNS takes


def lambda_handler(event: dict[str, Any], context: object = None) -> dict[str, str]:
    """Report on the job of an EventBridge event. Return its name and where the report lies."""
    detail = event.get("detail", {})
    job = str(detail.get("TrainingJobName", ""))
    if not job or detail.get("TrainingJobStatus") != "Failed":
        return {"job": job, "report": ""}
    import boto3  # type: ignore[import-not-found,import-untyped,unused-ignore]  # is there in Lambda

    with tempfile.TemporaryDirectory() as folder:
        try:
            return tell(job, report(job, Path(folder), boto3.client("logs"), detail), boto3)
        except Exception as error:  # whatever it is, it must not be tried again and again
            print(f"no report on {job}: {type(error).__name__}: {error}")
            return {"job": job, "report": ""}


def report(job: str, folder: Path, logs: Any, detail: dict[str, Any] | None = None) -> dict[str, str]:
    """Return the report on a job, as `json`, `html` and `text`."""
    from troubleshoot.engine import Engine
    from troubleshoot.report import FORMATS

    fetch(job, folder, logs)
    if detail and detail.get("FailureReason"):
        (folder / "failure.txt").write_text(f"FailureReason: {detail['FailureReason']}\n")
    found = Engine.default().postmortem_paths([folder], platform="sagemaker")
    return {name: FORMATS[name](found) for name in ("json", "html", "text")}


def fetch(job: str, folder: Path, logs: Any) -> None:
    """Write each stream of the job into the folder, a line per event with its time before it."""
    pages = logs.get_paginator("describe_log_streams")
    for page in pages.paginate(logGroupName=GROUP, logStreamNamePrefix=f"{job}/"):
        for stream in page["logStreams"]:
            name = stream["logStreamName"].rsplit("/", 1)[-1]
            with (folder / f"{Path(name).name}.log").open("w", encoding="utf-8") as file:
                file.writelines(lines(stream["logStreamName"], logs))


def lines(stream: str, logs: Any) -> Iterator[str]:
    """Yield the lines of a stream's beginning and of its end, and between them word of what is left out."""
    read = 0
    end: deque[str] = deque()
    is_cut = False
    for event in events(stream, logs):
        text = line(event)
        if read <= HEAD_BYTES:
            yield text
        else:
            end.append(text)
        read += len(text)
        while read > HEAD_BYTES + BYTES_PER_STREAM and end:
            read -= len(end.popleft())
            is_cut = True
    if is_cut:
        yield "[truncated]\n"
    yield from end


def events(stream: str, logs: Any) -> Iterator[dict[str, Any]]:
    """Yield the events of a stream, oldest first; the last page's token comes again."""
    token: str | None = None
    while True:
        more = {"nextToken": token} if token else {}
        page = logs.get_log_events(logGroupName=GROUP, logStreamName=stream, startFromHead=True, **more)
        yield from page["events"]
        if page["nextForwardToken"] == token:
            return
        token = page["nextForwardToken"]


def line(event: dict[str, Any]) -> str:
    """Return an event as a line of text."""
    time = datetime.fromtimestamp(event["timestamp"] / 1000, UTC)
    return f"{time:%Y-%m-%dT%H:%M:%S}.{time.microsecond // 1000:03d}Z {event['message'].rstrip()}\n"


def tell(job: str, formats: dict[str, str], boto3: Any) -> dict[str, str]:
    """Write the report to the bucket, tell topic and webhook. Return the job and where the report lies."""
    place = ""
    bucket, topic, url = (os.environ.get(name, "") for name in ("REPORT_BUCKET", "TOPIC_ARN", "NOTIFY_URL"))
    if bucket:
        s3 = boto3.client("s3")
        for name, kind in (("json", "application/json"), ("html", "text/html; charset=utf-8")):
            key = f"postmortem/{job}.{name}"
            s3.put_object(Bucket=bucket, Key=key, Body=formats[name].encode(), ContentType=kind)
        place = f"s3://{bucket}/postmortem/{job}.html"
    if topic:
        findings = json.loads(formats["json"])["findings"]
        title = findings[0]["title"] if findings else "no known fault"
        subject = " ".join(f"{job}: {title}".encode("ascii", "replace").decode().split())[:SUBJECT_CHARS]
        boto3.client("sns").publish(TopicArn=topic, Subject=subject, Message=f"{formats['text'][:200_000]}\n{place}\n")
    if url:
        from troubleshoot.notify import notify

        problem = notify(url, formats["json"].encode(), os.environ.get("TROUBLESHOOT_NOTIFY_SECRET", ""))
        if problem:
            print(f"not notified: {problem}")
    return {"job": job, "report": place}


if __name__ == "__main__":
    import boto3

    target = Path(sys.argv[2] if len(sys.argv) > 2 else tempfile.mkdtemp())
    target.mkdir(parents=True, exist_ok=True)
    print(report(sys.argv[1], target, boto3.client("logs"))["text"])
