"""The tools as an agent meets them: with the SDK's own client, in process, over standard streams, over HTTP."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from tests.api.serving import ROOT, serving
from troubleshoot.api.app import SAMPLE
from troubleshoot.api.keys import new_key, write_keys
from troubleshoot.engine import Engine
from troubleshoot.mcp.server import NOTICE, REPORT_CHARS, build_server

RULE = "efa/image-glibc-too-old"


def ask(where: Any, test: Callable[[Client], Awaitable[None]]) -> None:
    async def run() -> None:
        async with Client(where) as client:
            await test(client)

    asyncio.run(asyncio.wait_for(run(), 90))


def text_of(result: Any) -> str:
    return "".join(each.text for each in result.content)


async def use_all_tools(client: Client) -> None:
    tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert set(tools) == {"scan_log", "explain_rule", "search_rules"}
    assert all(tool.description for tool in tools.values())
    report = text_of(await client.call_tool("scan_log", {"log": SAMPLE, "name": "job.log"}))
    assert "GLIBC_2.34" in report
    assert "job.log" in report
    assert report.endswith(NOTICE)
    whole = json.loads(text_of(await client.call_tool("scan_log", {"log": SAMPLE, "as_json": True})))
    assert whole["schema"] == "troubleshoot.report/1"
    found = json.loads(text_of(await client.call_tool("search_rules", {"words": "glibc efa"})))
    assert RULE in [rule["id"] for rule in found["rules"]]
    assert text_of(await client.call_tool("explain_rule", {"rule": RULE})).startswith("#")


@pytest.fixture(scope="module")
def engine() -> Engine:
    return Engine.default()


def test_tools_answer_in_process(engine: Engine) -> None:
    ask(build_server(lambda: engine), use_all_tools)


def test_tools_answer_over_standard_streams() -> None:
    ask(
        StdioServerParameters(command=sys.executable, args=["-m", "troubleshoot", "mcp", "--isolated"], cwd=ROOT),
        use_all_tools,
    )


def test_tools_answer_over_http_and_ask_for_a_key(tmp_path: Path) -> None:
    import httpx
    import httpx2

    secret, key = new_key("agent", ["scan"])
    write_keys(tmp_path / "keys.json", [key])
    with serving(tmp_path, "--mcp", "--keys", str(tmp_path / "keys.json")) as service:
        assert httpx.post(f"{service.url}/mcp", json={}).status_code == 401

        async def run() -> None:
            headers = {"Authorization": f"Bearer {secret}"}
            async with httpx2.AsyncClient(headers=headers, timeout=60) as client:
                transport = streamable_http_client(f"{service.url}/mcp", http_client=client)
                async with Client(transport) as agent:
                    await use_all_tools(agent)

        asyncio.run(asyncio.wait_for(run(), 90))
        assert "GLIBC" not in service.log


def test_long_report_is_cut_and_secrets_are_out(engine: Engine) -> None:
    token = "hf_" + "aB3dE6gH9jK2mN5pQ8sT1vW4xY7zA0cD2f"
    log = "\n".join(f"RuntimeError: {word} {'x' * 1500} {token}" for word in "abcdefghijkl") + f"\n{SAMPLE}\n"

    async def test(client: Client) -> None:
        report = text_of(await client.call_tool("scan_log", {"log": log * 3}))
        assert token not in report
        assert len(report) < REPORT_CHARS + 200

    ask(build_server(lambda: engine), test)


def test_wrong_arguments_are_told_to_the_agent(engine: Engine) -> None:
    async def test(client: Client) -> None:
        unknown = await client.call_tool("explain_rule", {"rule": "efa/glibc"})
        assert unknown.is_error
        assert RULE in text_of(unknown)
        assert (await client.call_tool("scan_log", {"log": 5})).is_error
        empty = await client.call_tool("scan_log", {"log": ""})
        assert not empty.is_error

    ask(build_server(lambda: engine), test)
