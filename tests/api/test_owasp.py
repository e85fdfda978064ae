"""Attacks by OWASP's list for APIs (2023), each named after what it once found, or after what it tries in vain."""

from __future__ import annotations

from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from troubleshoot.api.app import SAMPLE, create_app
from troubleshoot.api.options import ServiceOptions


@pytest.mark.parametrize("path", ["/v1/reports", "/v1/unknown-faults", "/v1/feedback", "/history", "/unknown-faults"])
def test_strangers_list_no_links_where_nobody_asks_for_keys(tmp_path: Path, path: str) -> None:
    """API1, API5: with --insecure everybody was an admin, and links that cannot be guessed were there to be listed."""
    options = ServiceOptions(store=f"sqlite:///{tmp_path / 'store.db'}", is_private=False)
    with TestClient(create_app(watch=False, options=options)) as client:
        saved = client.post("/v1/scan?save=true", content=SAMPLE)
        assert client.get(saved.headers["location"]).status_code == 200
        assert client.get(path).status_code == 403
        assert client.get("/v1/stats/rules").status_code == 200
        assert path not in client.get("/").text
