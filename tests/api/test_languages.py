"""Answers over HTTP in the reader's language: asked for, negotiated, or the service's own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from troubleshoot.api.app import SAMPLE, create_app
from troubleshoot.api.options import ServiceOptions

ENGLISH = "The image's C library is too old for the mounted EFA stack, which needs GLIBC 2.34"
CHINESE = "镜像的 C 库太旧，无法使用挂载的 EFA 软件栈，后者需要 GLIBC 2.34"


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    options = ServiceOptions(store=f"sqlite:///{tmp_path / 'store.db'}")
    with TestClient(create_app(watch=False, options=options)) as client:
        client.headers.pop("accept-language", None)
        yield client


def title_of(client: TestClient, query: str = "", accept: str = "") -> tuple[str, str]:
    """Return the first finding's title and the language that the answer claims."""
    answer = client.post(f"/v1/scan{query}", content=SAMPLE, headers={"Accept-Language": accept} if accept else {})
    assert answer.headers["vary"] == "Accept-Language"
    return answer.json()["findings"][0]["title"], answer.headers["content-language"]


@pytest.mark.parametrize(
    ("query", "accept", "expected"),
    [
        ("", "", (ENGLISH, "en")),
        ("", "fr, de;q=0.5", (ENGLISH, "en")),
        ("", "zh-TW", (ENGLISH, "en")),
        ("", "zh", (CHINESE, "zh-CN")),
        ("", "zh-Hans", (CHINESE, "zh-CN")),
        ("", "en;q=0.3, zh-CN;q=0.8", (CHINESE, "zh-CN")),
        ("", "en, zh-CN;q=0.8", (ENGLISH, "en")),
        ("?lang=zh-CN", "en", (CHINESE, "zh-CN")),
        ("?lang=zh_cn", "", (CHINESE, "zh-CN")),
        ("?lang=en", "zh-CN", (ENGLISH, "en")),
    ],
)
def test_the_query_decides_and_then_the_header(
    query: str, accept: str, expected: tuple[str, str], client: TestClient
) -> None:
    assert title_of(client, query, accept) == expected


def test_answers_of_one_log_in_two_languages_are_not_mixed_up_in_the_cache(client: TestClient) -> None:
    for _ in range(2):
        assert title_of(client, "?lang=zh-CN")[0] == CHINESE
        assert title_of(client)[0] == ENGLISH


@pytest.mark.parametrize("tag", ["tlh", "x", "..%2F..%2Fsecret", "zh-CN%2F..%2F..", "%0d%0aX-Injected:%201", "中文"])
def test_an_unknown_language_is_english_with_a_note(tag: str, client: TestClient) -> None:
    answer = client.post(f"/v1/scan?lang={tag}", content=SAMPLE)

    assert answer.status_code == 200
    assert answer.json()["findings"][0]["title"] == ENGLISH
    assert [each["code"] for each in answer.json()["notes"]] == ["language"]
    assert answer.headers["content-language"] == "en"
    assert "x-injected" not in answer.headers


def test_a_tag_of_any_length_is_refused(client: TestClient) -> None:
    assert client.post(f"/v1/scan?lang={'z' * 41}", content=SAMPLE).status_code == 422


@pytest.mark.parametrize("format", ["text", "markdown", "html", "slack", "sarif", "junit", "ndjson"])
def test_every_format_speaks_it(format: str, client: TestClient) -> None:
    answer = client.post(f"/v1/scan?format={format}&lang=zh", content=SAMPLE)

    assert "镜像的 C 库太旧" in answer.text


def test_rules_are_listed_searched_and_shown_in_it(client: TestClient) -> None:
    id = "efa/glibc-too-old-for-auto-mount"
    found = client.get("/v1/rules", params={"q": "软件栈 太旧", "lang": "zh-CN"})
    rule = client.get(f"/v1/rules/{id}", headers={"Accept-Language": "zh"})
    page = client.get(f"/v1/rules/{id}?format=markdown&lang=zh")

    assert id in [each["id"] for each in found.json()["rules"]]
    assert rule.json()["fixes"][0]["title"] == "先弄清是哪一种情况"
    assert rule.json()["fixes"][0]["run"] == client.get(f"/v1/rules/{id}").json()["fixes"][0]["run"]
    assert "## 含义" in page.text
    assert {each.headers["content-language"] for each in (found, rule, page)} == {"zh-CN"}


def test_a_permalink_speaks_the_language_of_whoever_opens_it(client: TestClient) -> None:
    where = client.post("/v1/scan?save=true&lang=zh-CN", content=SAMPLE).headers["location"]

    def opened(accept: str, format: str = "json") -> tuple[bool, bool, str]:
        answer = client.get(f"{where}?format={format}", headers={"Accept-Language": accept})
        return CHINESE in answer.text, ENGLISH in answer.text, answer.headers["content-language"]

    assert opened("zh-CN") == (True, False, "zh-CN")
    assert opened("en") == (False, True, "en")
    assert opened("fr") == (False, True, "en")
    assert opened("zh", "html")[2] == "zh-CN"
    assert client.get("/v1/reports").json()[0]["title"] == ENGLISH


def test_a_service_may_have_a_language_of_its_own(tmp_path: Path) -> None:
    with TestClient(create_app(watch=False, options=ServiceOptions(language="zh-CN"))) as client:
        client.headers.pop("accept-language", None)

        assert title_of(client) == (CHINESE, "zh-CN")
        assert title_of(client, accept="en-US,en;q=0.5") == (ENGLISH, "en")


def test_a_refusal_speaks_it(client: TestClient) -> None:
    chinese = client.get("/v1/reports/AAAAAAAAAAAAAAAAAAAAAA", headers={"Accept-Language": "zh"})
    english = client.get("/v1/reports/AAAAAAAAAAAAAAAAAAAAAA")

    assert (chinese.status_code, chinese.json()["detail"]) == (404, "没有这个报告，或已不再保存")
    assert chinese.headers["content-language"] == "zh-CN"
    assert english.json()["detail"] == "no such report, or not any more"
    assert client.get(f"/v1/rules?lang={'z' * 50}").status_code == 422
    assert "没有可读取的日志" in client.post("/", files={"file": ("a", b"")}, headers={"Accept-Language": "zh"}).text


def test_a_rule_answers_to_its_packs_name_too(tmp_path: Path) -> None:
    folder = tmp_path / "net"
    folder.mkdir(parents=True)
    (tmp_path / "pack.yaml").write_text("name: site\nversion: 1.0.0\n", "utf-8")
    (folder / "gone.yaml").write_text(
        'title: "Zygotes are gone"\nseverity: low\nconfidence: low\nsignatures: "zygotes are gone"\nexplanation: "e"\n'
        'examples: [{ match: "zygotes are gone" }]\n',
        "utf-8",
    )
    with TestClient(create_app([tmp_path], watch=False)) as client:
        answer = client.get("/v1/rules/site:net/gone")
        assert answer.json()["title"] == "Zygotes are gone"
        assert str(tmp_path) not in answer.text
        assert client.get("/v1/rules/other:net/gone").status_code == 404
