"""What the service refuses or keeps to itself: misspelt parameters, where rule files lie, scans before it is ready."""

from __future__ import annotations

import gzip
import time
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard
from fastapi.testclient import TestClient

from troubleshoot.api.app import create_app
from troubleshoot.api.discreet import Discretion
from troubleshoot.api.options import ServiceOptions

BROKEN = "title: The frobnicator\nseverity: hihg\nsignatures: frobnicator reports zero frobs\nexplanation: x\n"
PACK: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "zstd": zstandard.compress,
    "deflate": zlib.compress,
}


@pytest.fixture(scope="module")
def client() -> TestClient:
    return TestClient(create_app(watch=False))


@pytest.mark.parametrize(
    ("method", "address", "told"),
    [
        ("POST", "/v1/scan?fromat=html", "no such parameter; did you mean `format`?"),
        ("GET", "/v1/rules?sytem=nccl", "no such parameter; did you mean `system`?"),
        ("GET", "/v1/rules/efa/not-used?fmt=markdown", "no such parameter; did you mean `format`?"),
        ("GET", "/v1/rules/efa/not-used?x=1", "no such parameter; known: format, lang"),
        ("POST", "/v1/log?sauce=x", "no such parameter; did you mean `source`?"),
    ],
)
def test_a_misspelt_parameter_is_refused_with_the_nearest_name(
    client: TestClient, method: str, address: str, told: str
) -> None:
    answer = client.request(method, address, content="x" if method == "POST" else None)
    assert answer.status_code == 422
    assert [each["detail"] for each in answer.json()["errors"]] == [told]


def test_a_known_parameter_and_a_page_with_any_are_taken(client: TestClient) -> None:
    assert client.get("/v1/rules?q=efa&lang=zh-CN").status_code == 200
    assert client.post("/v1/scan?format=markdown&lang=zh-CN", content="x").status_code == 200
    assert client.get("/rules?utm_source=mail").status_code == 200
    assert client.get("/readyz?now=1").status_code == 200


def test_strangers_are_not_told_where_rule_files_lie(tmp_path: Path) -> None:
    (tmp_path / "net").mkdir()
    (tmp_path / "net/a.yaml").write_text(BROKEN)
    (tmp_path / "net/c.yaml").write_text(BROKEN.replace("hihg", "high"))
    (tmp_path / "net/b.yaml").write_text(BROKEN.replace("hihg", "high") + "status: draft\n")
    with TestClient(create_app([tmp_path], default_rules=False, watch=False)) as client:
        ready = client.get("/readyz").json()["problems"]
        report = client.post("/v1/scan", content="x").json()
    assert "net/a.yaml:2:11   severity: hihg" in ready[0]
    assert ready[0].split("\n")[2].index("^") == ready[0].split("\n")[1].index("hihg")
    assert {"net/a.yaml:2:11: `severity` cannot be `hihg`"} <= {each["text"] for each in report["notes"]}
    assert any("1 draft of" in each["text"] for each in report["notes"])
    assert str(tmp_path) not in f"{ready}{report}"


def test_a_path_below_another_folder_of_rules_loses_the_longer_one(tmp_path: Path) -> None:
    told = Discretion([tmp_path, tmp_path / "inner"]).text
    assert told(f"{tmp_path}/inner/net/a.yaml:1:1") == "net/a.yaml:1:1"
    assert told(f"no rules in {tmp_path}/inner") == "no rules in inner"
    assert Discretion([Path()]).text("a.b: net/a.yaml ./x") == "a.b: net/a.yaml ./x"


def test_ready_is_said_once_a_process_can_scan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    (tmp_path / "net").mkdir()
    (tmp_path / "net/a.yaml").write_text(
        BROKEN.replace("hihg", "high") + "examples: [{match: frobnicator reports zero frobs}]\n"
    )
    app = create_app([tmp_path], default_rules=False, watch=False, options=ServiceOptions(scan_processes=1))
    with TestClient(app) as client:
        first = client.get("/readyz")
        assert (first.status_code, first.json()["status"]) == (503, "not-ready")
        assert first.json()["problems"] == ["the first scan process is still starting"]
        assert client.get("/healthz").status_code == 200
        end = time.monotonic() + 60
        while (answer := client.get("/readyz")).status_code != 200:
            assert time.monotonic() < end
            time.sleep(0.05)
        assert answer.json()["problems"] == []


def test_a_parameter_given_twice_is_refused(client: TestClient) -> None:
    answer = client.post("/v1/scan?format=html&format=json", content="x")
    assert (answer.status_code, answer.json()["errors"][0]["detail"]) == (422, "given more than once")


def test_a_misspelt_field_of_a_json_body_is_told_with_the_nearest_name(client: TestClient) -> None:
    answer = client.post("/v1/scan", json={"txt": "x"})
    told = {"pointer": "/txt", "detail": "no such field; did you mean `text`?"}
    assert (answer.status_code, answer.json()["errors"]) == (422, [told])
    answer = client.post("/v1/scan", json={"files": [{"name": "a", "text": "x", "body": "y"}]})
    assert answer.json()["errors"][0]["detail"] == "no such field; known: name, text"


@pytest.mark.parametrize("encoding", ["gzip", "zstd", "deflate"])
def test_a_compressed_body_that_is_cut_is_refused(client: TestClient, encoding: str) -> None:
    pack = PACK[encoding]
    headers = {"Content-Encoding": encoding, "Content-Type": "text/plain"}
    whole = pack("".join(f"step {number}\n" for number in range(9000)).encode())
    assert client.post("/v1/scan", content=whole, headers=headers).json()["sources"][0]["lines"] == 9000
    cut = client.post("/v1/scan", content=whole[:-9], headers=headers)
    assert (cut.status_code, cut.json()["detail"]) == (400, "the body ends before its Content-Encoding does")


@pytest.mark.parametrize("encoding", ["gzip", "zstd"])
def test_all_frames_of_a_compressed_body_are_read(client: TestClient, encoding: str) -> None:
    pack = PACK[encoding]
    answer = client.post(
        "/v1/scan", content=pack(b"one\n") + pack(b"two\n" * 5000), headers={"Content-Encoding": encoding}
    )
    assert answer.json()["sources"][0]["lines"] == 5001


def test_a_wrong_method_is_told_the_right_one(client: TestClient) -> None:
    answer = client.put("/v1/scan", content="x")
    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")
    assert (answer.json()["detail"], answer.json()["help"]) == ("PUT is not taken here", "use POST")
