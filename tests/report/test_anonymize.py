"""E-mail and IP addresses go where somebody asks for it, and in every way out that a report has."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from troubleshoot.api.app import create_app
from troubleshoot.api.options import ServiceOptions
from troubleshoot.cli.app import cli

LOG = "ann@example.com on 198.51.100.7: OSError: [Errno 28] No space left on device: '/mnt/ann@example.com'\n"
PRIVATE = ("ann@example.com", "198.51.100.7")


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    options = ServiceOptions(store=f"sqlite:///{tmp_path / 'store.db'}", keep_logs=True)
    with TestClient(create_app(watch=False, options=options)) as client:
        yield client


def test_service_takes_addresses_out_of_report_link_and_log(client: TestClient) -> None:
    named = client.post("/v1/scan", content=LOG).text
    assert all(each in named for each in PRIVATE)
    saved = client.post("/v1/scan?save=true&keep_log=true&anonymize=true", content=LOG)
    where = saved.headers["location"]
    texts = [saved.text, client.get(f"{where}/log").text]
    texts += [client.get(f"{where}?format={each}").text for each in ("json", "markdown", "html", "text", "slack")]
    assert not any(each in text for each in PRIVATE for text in texts)
    assert "[redacted:email]" in texts[1]
    assert all(each in client.post("/v1/scan", content=LOG).text for each in PRIVATE)  # the other one is kept apart


@pytest.mark.parametrize("command", ["scan", "postmortem"])
@pytest.mark.parametrize("format", ["text", "json", "markdown", "html"])
def test_command_line_takes_addresses_out(
    command: str, format: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.log").write_text(LOG)
    told = {}
    for option in ((), ("--anonymize",)):
        with pytest.raises(SystemExit) as ended:
            cli.main([command, str(tmp_path / "a.log"), "-f", format, "--isolated", "-q", *option])
        assert ended.value.code == 0
        told[option] = capsys.readouterr().out
    assert any(each in told[()] for each in PRIVATE)
    assert not any(each in told[("--anonymize",)] for each in PRIVATE)


def test_following_refuses_what_it_does_not_do(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.log").write_text(LOG)
    with pytest.raises(SystemExit) as ended:
        cli.main(["scan", str(tmp_path / "a.log"), "--follow", "--anonymize", "--isolated"])
    assert ended.value.code == 2
    assert "--anonymize does not go with --follow" in capsys.readouterr().err
