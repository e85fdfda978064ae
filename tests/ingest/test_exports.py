"""Exports of log viewers that are no lines of text: tables, journals, rows of queries. Each message where it stands."""

from __future__ import annotations

import random
from typing import Any

import pytest
from reading import rows, rows_of

from troubleshoot.ingest import open_sources, open_text

CONSOLE = (
    'timestamp,message\n1796069704123,"RuntimeError: a, ""b"""\n1796069704124,second\n'
    '1796069704125,"third\n  more\n"\n1796069704126,last\n'
)
INSIGHTS = (
    "@timestamp,@message,@logStream,@ptr\n"
    '2026-11-30 20:15:04.123,"Traceback:\n  File ""x""\nValueError: y",bert-ft/algo-2-1796061602,Cm0K\n'
    "2026-11-30 20:15:04.124,second,bert-ft/algo-2-1796061602,Cm0K\n"
)
DATADOG = (
    "Date,Host,Service,Status,Message,Cause\r\n"
    '"2026-11-30T20:15:04.123Z","gpu-17","trainer","error","RuntimeError: x","the link went down"\r\n'
    '"2026-11-30T20:15:03.123Z","gpu-17","trainer","info","step 1",""\r\n'
)
KIBANA = (
    '"@timestamp","kubernetes.pod.name",message\n"Nov 30, 2026 @ 20:15:04.123","bert-0","RuntimeError: x"\n'
    '"Nov 30, 2026 @ 20:15:05.123","bert-0","second"\n'
)
GRAFANA = (
    "sep=\t\nlabels\tTime\tLine\ttsNs\tid\n"
    + '"{""pod"":""bert-0""}"\t2026-11-30 20:15:04.123\tRuntimeError: x\t1796069704123000000\tA\n'
)
JOURNAL = (
    b"__CURSOR=s=abc\n__REALTIME_TIMESTAMP=1796069704123456\n_HOSTNAME=gpu-17\nSYSLOG_IDENTIFIER=kernel\nPRIORITY=3\n"
    b"MESSAGE=NVRM: Xid 79\n\n"
    b"__CURSOR=s=abd\n__REALTIME_TIMESTAMP=1796069705123456\n_HOSTNAME=gpu-17\nSYSLOG_IDENTIFIER=trainer\n_PID=12\n"
    b"MESSAGE\n" + (22).to_bytes(8, "little") + b"first row\nValueError: \n\n"
)


def shown(data: str | bytes, size: int = 1 << 22) -> list[tuple[int, int, str, Any]]:
    source = open_text(data)
    found = []
    for line, offset, text in rows_of(source, size):
        peeled = source.normaliser.peel(text, line)
        found.append((line, offset, peeled.text, peeled))
    return found


def placed(data: str | bytes) -> list[tuple[int, str]]:
    """Return the lines, each checked to stand where it is said to: its first words at its offset, on its line."""
    raw = data.encode() if isinstance(data, str) else data
    found = shown(data)
    for line, offset, text, _ in found:
        assert raw[offset:].startswith(text.split('"')[0].encode()[:20]), (offset, text)
        assert raw.count(b"\n", 0, offset) + 1 == line
    return [(line, text) for line, _, text, _ in found]


def test_console_csv() -> None:
    assert [(line, text.strip()) for line, _, text, _ in shown(CONSOLE)] == [
        (1, "timestamp,message"), (2, 'RuntimeError: a, "b"'), (3, "second"), (4, "third"), (5, "more"), (7, "last"),
    ]  # fmt: skip
    assert shown(CONSOLE)[1][1] == CONSOLE.index("RuntimeError")
    assert shown(CONSOLE)[1][3].stamp.zone == "explicit"


def test_insights_csv_is_utc_and_names_its_stream() -> None:
    found = shown(INSIGHTS)
    assert [(line, text) for line, _, text, _ in found][1:] == [
        (2, "Traceback:"), (3, '  File "x"'), (4, "ValueError: y"), (5, "second"),
    ]  # fmt: skip
    assert found[3][1] == INSIGHTS.index("ValueError")
    assert found[3][3].identity.host == "algo-2"
    assert (found[3][3].stamp.zone, found[3][3].stamp.time.microsecond) == ("explicit", 123000)


def test_datadog_csv_has_host_and_level_and_keeps_what_is_said_in_words() -> None:
    found = shown(DATADOG)
    assert found[1][2] == "RuntimeError: x"
    assert (found[1][3].identity.host, found[1][3].level) == ("gpu-17", "error")
    assert found[2][2] == '{"cause": "the link went down"}'
    assert [line for line, _, _, _ in found] == [1, 2, 2, 3]


def test_kibana_csv() -> None:
    found = shown(KIBANA)
    assert (found[1][2], found[1][3].identity.pod, found[1][3].stamp.zone) == (
        "RuntimeError: x",
        "bert-0",
        "assumed-local",
    )


def test_grafana_for_excel_is_utf_16() -> None:
    data = b"\xff\xfe" + GRAFANA.encode("utf-16-le")
    found = shown(data)
    assert [(line, text) for line, _, text, _ in found] == [(2, "labels\tTime\tLine\ttsNs\tid"), (3, "RuntimeError: x")]
    assert found[1][1] == 2 + 2 * GRAFANA.index('"{""pod')
    assert found[1][3].identity.pod == "bert-0"


def test_console_csv_newest_first() -> None:
    lines = [f'{1796069704123 - i},"event {9 - i}\n  more of {9 - i}"\n' for i in range(9)]
    found = [(line, text) for line, _, text in rows("timestamp,message\n" + "".join(lines))]
    assert [(line, text.split(" ", 1)[1]) for line, text in found[-4:]] == [
        (4, "event 8"), (5, "  more of 8"), (2, "event 9"), (3, "  more of 9"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        "name,value\na,b\n",
        "time,step,loss\n1,2,3\n",
        "a message, with a time in it\nsecond, line\n",
        "RuntimeError: message, timestamp\nx\n",
    ],
)
def test_what_is_no_export_stays(text: str) -> None:
    assert [row[2] for row in rows(text)] == text.splitlines()


def test_rows_of_another_form_stay() -> None:
    data = "timestamp,message\n1796069704123,first\nKilled\n1796069704124,second\n"
    assert placed(data)[2] == (3, "Killed")
    broken = 'timestamp,message\n1796069704123,"never closed\n1796069704124,second\n'
    assert [text for _, _, text, _ in shown(broken)][1:] == ['1796069704123,"never closed', "second"]


def test_journal_export() -> None:
    found = shown(JOURNAL)
    assert [(line, text) for line, _, text, _ in found] == [
        (6, "NVRM: Xid 79"),
        (14, "first row"),
        (15, "ValueError: "),
    ]
    assert found[0][1] == JOURNAL.index(b"MESSAGE=NVRM")
    assert found[2][1] == JOURNAL.index(b"ValueError")
    assert (found[0][3].identity.host, found[0][3].level) == ("gpu-17", "error")


def test_journal_that_is_cut_or_mixed_loses_nothing() -> None:
    cut = JOURNAL[: JOURNAL.index(b"first")]
    assert shown(cut)[0][2] == "NVRM: Xid 79"
    mixed = JOURNAL[: JOURNAL.index(b"__CURSOR=s=abd")] + b"$ tail train.log\nRuntimeError: x\n"
    assert [text for _, _, text, _ in shown(mixed)] == ["NVRM: Xid 79", "$ tail train.log", "RuntimeError: x"]


def test_insights_json() -> None:
    data = (
        '{"results":[[{"field":"@timestamp","value":"2026-11-30 20:15:04.123"},'
        '{"field":"@message","value":"RuntimeError: a\\nb"},{"field":"@ptr","value":"abc"}]],"status":"Complete"}'
    )
    found = shown(data)
    assert [text for _, _, text, _ in found][:2] == ["RuntimeError: a", "b"]
    assert found[1][1] == data.index('b"},{')
    assert found[0][3].stamp.zone == "explicit"


@pytest.mark.parametrize("kind", ["table", "journal"])
@pytest.mark.parametrize("seed", range(6))
def test_seams_between_blocks_do_not_show(tmp_path: Any, kind: str, seed: int) -> None:
    rng = random.Random(seed)
    data = b"timestamp,message\n" if kind == "table" else b""
    for i in range(1500):
        text = "".join(rng.choice(["word ", "\n", '""', ", "]) for _ in range(rng.randrange(1, 40))) + f"end {i}"
        if kind == "table":
            data += f'{1796069704123 + i},"{text}"\n'.encode()
        else:
            size = len(text).to_bytes(8, "little")
            data += f"__CURSOR=s={i}\n__REALTIME_TIMESTAMP={1796069704123456 + i}\n_HOSTNAME=h\nMESSAGE\n".encode()
            data += size + text.encode() + b"\n\n"
    path = tmp_path / "export"
    path.write_bytes(data)
    whole, parts = (rows_of(next(iter(open_sources([path]))), size) for size in (1 << 22, 700 + 97 * seed))
    assert whole == parts
    assert len([text for _, _, text in whole if "end " in text]) == 1500
    for line, offset, _ in whole[1:]:
        assert data.count(b"\n", 0, offset) + 1 == line
