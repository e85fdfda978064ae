"""Wrappers that change a message's bytes are undone before the scan: partial records, JSON, seams."""
# ruff: noqa: E501 - samples stand on one line, as programs print them

from __future__ import annotations

import json
import random
from datetime import UTC, datetime
from pathlib import Path

import pytest
from reading import peeled, rows, rows_of, texts

from troubleshoot import limits
from troubleshoot.ingest import open_sources, open_text
from troubleshoot.model import Identity

T = "2026-11-30T20:15:0{}.123456789Z"
PARTIAL = (
    f"{T.format(1)} stdout F before\n"
    f"{T.format(2)} stdout P NCCL WA\n"
    f"{T.format(3)} stderr P Traceback (most rec\n"
    f"{T.format(4)} stdout P:more RN Call to\n"
    f"{T.format(5)} stderr F ent call last):\n"
    f"{T.format(6)} stdout F  ibv_modify_qp\n"
    f"{T.format(7)} stdout F after\n"
)


def test_partial_records_are_joined_per_stream_where_they_began() -> None:
    starts = [PARTIAL.index(T.format(i)) for i in range(1, 8)]
    assert rows(PARTIAL) == [
        (1, starts[0], f"{T.format(1)} stdout F before"),
        (2, starts[1], f"{T.format(2)} stdout F NCCL WARN Call to ibv_modify_qp"),
        (3, starts[2], f"{T.format(3)} stderr F Traceback (most recent call last):"),
        (7, starts[6], f"{T.format(7)} stdout F after"),
    ]


def test_partial_records_join_across_blocks() -> None:
    rng = random.Random(7)
    lines, expected = [], []
    for i in range(30_000):
        stream = rng.choice(["stdout", "stderr"])
        text = f"record {i} " + "x" * rng.randrange(60)
        expected.append((stream, text))
        cuts = sorted(rng.sample(range(1, len(text)), rng.choice([0, 0, 0, 1, 2])))
        for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True):
            lines.append(f"2026-11-30T20:15:04.000000001Z {stream} {'F' if b == len(text) else 'P'} {text[a:b]}")
    data = ("\n".join(lines) + "\n").encode()
    assert len(data) > limits.PASTE_BYTES
    found = rows(data, 64 * 1024)
    assert [tuple(t.split(" ", 3)[1::2]) for _, _, t in found] == expected
    for line, offset, text in found[::97]:
        assert data[:offset].count(b"\n") + 1 == line
        assert data[offset:].startswith(text[:30].encode())


def test_log_that_ends_within_a_record_keeps_it_and_says_so() -> None:
    source = open_text(f"{T.format(1)} stdout P NCCL WA\n")
    assert [text for _, _, text in rows_of(source)] == [f"{T.format(1)} stdout F NCCL WA"]
    assert [note.code for note in source.notes()] == ["cut-record"]


def test_character_cut_between_partial_records_is_whole_again() -> None:
    data = (
        f"{T.format(1)} stdout P Gr".encode()
        + "ö".encode()[:1]
        + f"\n{T.format(2)} stdout F ".encode()
        + "ö".encode()[1:]
        + b"sse\n"
    )
    assert texts(data) == [f"{T.format(1)} stdout F Grösse"]


def test_gitlab_continuation_goes_on_in_the_line_before() -> None:
    data = (
        "2026-11-30T20:15:04.123456Z 01E Trace\n"
        "2026-11-30T20:15:04.123457Z 00O other\n"
        "2026-11-30T20:15:04.123999Z 01E+back (most recent call last):\n"
    )
    assert [(line, text[32:]) for line, _, text in rows(data)] == [
        (1, "Traceback (most recent call last):"),
        (2, "other"),
    ]


@pytest.mark.parametrize("size", [90, 130, 200, 1000])
def test_gitlab_continuation_goes_on_over_a_seam(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    monkeypatch.setattr(limits, "FILE_PASTE_BYTES", 2000)
    data = ""
    for i in range(40):
        data += f"2026-11-30T20:15:04.123456Z 01E Trace {i}\n2026-11-30T20:15:04.123457Z 00O other\n"
        data += f"2026-11-30T20:15:04.123999Z 01E+back {i}\n2026-11-30T20:15:04.123999Z 01E+ (most recent)\n"
    path = tmp_path / "job.log"
    path.write_text(data)
    (source,) = open_sources([path])
    found = rows_of(source, size)
    texts = [text[32:] for _, _, text in found]
    assert texts == [said for i in range(40) for said in (f"Trace {i}back {i} (most recent)", "other")]
    assert [line for line, _, _ in found] == [4 * i + k for i in range(40) for k in (1, 2)]
    assert all(data[offset:].startswith(text[:34]) for _, offset, text in found)


def test_stamps_that_kubelet_put_into_a_long_line_are_taken_out() -> None:
    chunk = "x" * 16380 + "NCCL"
    data = f"{T.format(1)} {chunk}{T.format(1)}  WARN\n{T.format(2)} short\n"
    assert texts(data) == [f"{T.format(1)} {chunk} WARN", f"{T.format(2)} short"]


def test_stamp_within_a_short_line_stays() -> None:
    data = f"{T.format(1)} started at {T.format(1)} by me\n"
    assert texts(data) == [data.rstrip("\n")]


def docker(log: str, stream: str = "stderr", time: str = "2026-11-30T20:15:04.5Z", **more: object) -> str:
    return json.dumps({"log": log, "stream": stream, **more, "time": time}, separators=(",", ":")) + "\n"


def test_docker_records() -> None:
    data = docker("plain\n") + docker('a "b" <c>\ttab é\n', attrs={"tag": "trainer"})
    source = open_text(data)
    assert rows_of(source) == [
        (1, 0, "2026-11-30T20:15:04.5Z stderr F plain"),
        (2, data.index("\n") + 1, '2026-11-30T20:15:04.5Z stderr F a "b" <c>\ttab é'),
    ]
    assert source.info().wrapper == "docker-json+cri"


def test_docker_partial_and_several_lines_and_colours() -> None:
    data = (
        docker("NCCL WA", "stdout")
        + docker("other\n")
        + docker("RN x\n", "stdout")
        + docker("\x1b[31ma\x1b[0m\r\n")
        + docker("p\nq\n")
    )
    last = data.rindex('{"log"')
    assert [(line, text[32:]) for line, _, text in rows(data)] == [
        (1, "NCCL WARN x"),
        (2, "other"),
        (4, "a\r"),
        (5, "p"),
        (5, "q"),
    ]
    assert rows(data)[-1][1] == last + '{"log":"p\\n'.__len__()


def test_many_docker_records_at_once_equal_one_by_one() -> None:
    logs = ["x\n", 'say "hi"\n', "tab\there\n", "back\\slash\\n\n", "<a> & b\n", "Größe\n"]
    whole = "".join(docker(log) for log in logs)
    assert texts(whole) == [texts(docker(log))[0] for log in logs]


JSON = {
    "journald": (
        {"__REALTIME_TIMESTAMP": "1796069704123456", "MESSAGE": "NVRM: Xid 79", "_HOSTNAME": "node-17", "SYSLOG_IDENTIFIER": "kernel", "PRIORITY": "3"},
        "NVRM: Xid 79", Identity(host="node-17"), "error",
    ),
    "journald bytes": (
        {"__REALTIME_TIMESTAMP": "1796069704123456", "MESSAGE": list(b"\x1b[31mred\x1b[0m"), "_HOSTNAME": "node-17", "SYSLOG_IDENTIFIER": "a", "_PID": "7"},
        "red", Identity(host="node-17"), None,
    ),
    "fluent bit": (
        {"@timestamp": "2026-11-30T20:15:04.123456Z", "log": "RuntimeError: boom", "stream": "stderr", "logtag": "F", "kubernetes": {"pod_name": "bert-worker-3", "container_name": "pytorch", "host": "node-9"}},
        "RuntimeError: boom", Identity(host="node-9", pod="bert-worker-3", container="pytorch", stream="stderr"), None,
    ),
    "vector": (
        {"message": "Xid 79", "source_type": "kubernetes_logs", "stream": "stdout", "timestamp": "2026-11-30T20:15:04.123456Z", "kubernetes": {"pod_name": "dcgm-x", "pod_node_name": "node-9"}},
        "Xid 79", Identity(host="node-9", pod="dcgm-x", stream="stdout"), None,
    ),
    "elasticsearch dump": (
        {"_index": "logs-1", "_source": {"@timestamp": "2026-11-30T20:15:04.123456Z", "message": "NCCL WARN x", "level": "warn"}},
        "NCCL WARN x", Identity(), "warning",
    ),
    "loki": (
        {"labels": {"pod": "bert-0", "node": "node-9"}, "line": "[rank3]: boom", "timestamp": "2026-11-30T20:15:04.123456Z"},
        "boom", Identity(host="node-9", pod="bert-0", rank=3), None,
    ),
    "stern": (
        {"message": "boom", "nodeName": "node-9", "namespace": "ml", "podName": "bert-0", "containerName": "pytorch", "timestamp": "2026-11-30T20:15:04.123456Z"},
        "boom", Identity(host="node-9", pod="bert-0", container="pytorch"), None,
    ),
    "otlp record": (
        {"timeUnixNano": "1796069704123456000", "severityNumber": 17, "severityText": "ERROR", "body": {"stringValue": "boom"}},
        "boom", Identity(), "error",
    ),
    "cloudwatch event": (
        {"logStreamName": "bert-ft/algo-2-1796061602", "timestamp": 1796069704123, "message": "boom", "ingestionTime": 1796069705000},
        "boom", Identity(host="algo-2", pod="bert-ft"), None,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(JSON))
def test_json_record(name: str) -> None:
    record, text, identity, level = JSON[name]
    source = open_text(json.dumps(record) + "\n" + json.dumps(record) + "\n")
    found = rows_of(source)
    assert [line for line, _, _ in found] == [1, 2]
    for line, _, shown in found:
        got = source.normaliser.peel(shown, line)
        assert (got.text, got.identity, got.level) == (text, identity, level)
        assert got.stamp is not None
        assert abs(got.stamp.time.timestamp() - datetime(2026, 11, 30, 20, 15, 4, 123456, UTC).timestamp()) < 1e-3


def test_own_fields_of_a_record_are_kept_behind_its_message() -> None:
    record = {"kubernetes": {"pod_name": "p"}, "message": "failed\nagain", "error": "dial tcp: connection refused"}
    assert peeled(json.dumps(record)) == ["failed", "again", '{"error": "dial tcp: connection refused"}']


def test_json_of_a_program_stays_where_it_has_no_escapes() -> None:
    line = '{"level":"error","msg":"failed","error":"connection refused"}'
    assert texts(line + "\n" + line + "\n") == [line, line]


def test_json_of_a_program_with_a_dumped_traceback_is_broken_into_lines() -> None:
    data = '{"level":"error","msg":"Traceback:\\n  File x\\nValueError: y","step":3}\n'
    assert peeled(data) == ["Traceback:", "  File x", "ValueError: y", '{"step": 3}']


def test_line_that_is_no_json_stays() -> None:
    data = docker("a\n") * 20 + "rotated\n" + docker("b\n")
    assert texts(data)[20:] == ["rotated", "2026-11-30T20:15:04.5Z stderr F b"]


EVENTS = {
    "events": [
        {
            "logStreamName": "bert-ft/algo-1-1796061602",
            "timestamp": 1796069704123,
            "message": '[1,mpirank:3,algo-1]<stderr>:Grüße "x"',
            "ingestionTime": 1796069705000,
            "eventId": "1",
        },
        {
            "logStreamName": "bert-ft/algo-2-1796061602",
            "timestamp": 1796069704124,
            "message": "two\nlines",
            "ingestionTime": 1796069705000,
            "eventId": "2",
        },
    ],
    "searchedLogStreams": [],
    "nextToken": "abc",
}
LOKI = {"status": "success", "data": {"resultType": "streams", "result": [
    {"stream": {"pod": "bert-0"}, "values": [["1796069704123000000", "boom a"], ["1796069704124000000", "boom b"]]},
    {"stream": {"pod": "bert-1"}, "values": [["1796069704125000000", "boom c"]]},
]}}  # fmt: skip
HITS = {"took": 3, "hits": {"total": {"value": 2}, "hits": [
    {"_id": "1", "_source": {"@timestamp": "2026-11-30T20:15:04.123Z", "message": "boom a"}},
    {"_id": "2", "_source": {"@timestamp": "2026-11-30T20:15:04.124Z", "log": "boom b"}},
]}}  # fmt: skip
OTLP = {"resourceLogs": [{"resource": {}, "scopeLogs": [{"scope": {}, "logRecords": [
    {"timeUnixNano": "1796069704123000000", "body": {"stringValue": "boom a"}},
    {"timeUnixNano": "1796069704124000000", "body": {"stringValue": "boom b"}},
]}]}]}  # fmt: skip
ARRAY = [
    {"timestamp": "2026-11-30T20:15:04.123Z", "message": "boom a"},
    {"timestamp": "2026-11-30T20:15:04.124Z", "message": "boom b"},
]


@pytest.mark.parametrize("indent", [None, 2, 4])
@pytest.mark.parametrize(
    ("document", "expected"),
    [
        (EVENTS, ['Grüße "x"', "two", "lines"]),
        (LOKI, ["boom a", "boom b", "boom c"]),
        (HITS, ["boom a", "boom b"]),
        (OTLP, ["boom a", "boom b"]),
        (ARRAY, ["boom a", "boom b"]),
    ],
    ids=["cloudwatch", "loki", "elasticsearch", "otlp", "array"],
)
def test_export_that_is_one_document(document: object, expected: list[str], indent: int | None) -> None:
    data = json.dumps(document, indent=indent, ensure_ascii=False).encode()
    source = open_text(data)
    found = rows_of(source)
    peels = [source.normaliser.peel(text, line) for line, _, text in found]
    shown = [(line, offset, p.text) for (line, offset, _), p in zip(found, peels, strict=True) if p.stamp]
    assert [text for _, _, text in shown] == expected
    for line, offset, text in shown:
        assert data[:offset].count(b"\n") + 1 == line
        assert json.dumps(text, ensure_ascii=False)[1:-1].encode() in data[offset : offset + 400]


def test_large_document_is_shown_block_by_block() -> None:
    events = [{"timestamp": 1796069704000 + i, "message": f"message {i} é"} for i in range(30_000)]
    data = json.dumps({"events": events}, ensure_ascii=False).encode()
    assert len(data) > limits.PASTE_BYTES
    found = rows(data, 64 * 1024)
    assert [text.split(" ", 1)[1] for _, _, text in found if "message" in text] == [e["message"] for e in events]
    line, offset, text = found[20_000]
    assert (line, data[offset : offset + 11]) == (1, b'"message": ')
    assert text.split(" ", 1)[1].encode() in data[offset : offset + 60]


def test_manifest_is_no_export() -> None:
    data = json.dumps({"apiVersion": "v1", "kind": "List", "items": [{"kind": "Pod", "message": "x"}]}, indent=2)
    assert texts(data) == data.split("\n")


@pytest.mark.parametrize("cut", range(40, 400, 31))
def test_cut_document_loses_nothing_that_stands_in_it(cut: int) -> None:
    data = json.dumps(EVENTS, ensure_ascii=False)[:cut]
    shown = " ".join(texts(data))
    for word in ("mpirank", "two"):
        assert (word in shown) == (word in data)
