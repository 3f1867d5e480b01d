"""The linter of `make check`: it finds mistakes, and without npm it prints one line."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from tests.harness.npm_packages import NpmPackages
from tests.openapi.__main__ import main
from tests.openapi.lint import INSTALLED, problems

SMALL: dict[str, Any] = {
    "openapi": "3.1.0",
    "info": {"title": "Small", "version": "1", "license": {"name": "MIT", "identifier": "MIT"}},
    "servers": [{"url": "/v1"}],
    "security": [{"Key": []}],
    "tags": [{"name": "Things", "description": "Things."}],
    "paths": {
        "/things": {
            "get": {
                "operationId": "list_things",
                "summary": "List",
                "description": "All things.",
                "tags": ["Things"],
                "parameters": [{"name": "limit", "in": "query", "schema": {"type": "integer"}}],
                "responses": {"200": {"description": "OK."}, "400": {"description": "Bad."}},
            }
        }
    },
    "components": {"securitySchemes": {"Key": {"type": "apiKey", "in": "header", "name": "X-Key"}}},
}


def test_the_linter_finds_what_our_rules_forbid(tmp_path: Path) -> None:
    """A parameter without a description is one of them; with it, nothing is left."""
    if reason := INSTALLED.why_not():
        pytest.skip(reason)
    document = tmp_path / "small.json"
    document.write_text(json.dumps(SMALL))
    (found,) = problems([document])
    assert "parameter-description" in found
    mended = copy.deepcopy(SMALL)
    mended["paths"]["/things"]["get"]["parameters"][0]["description"] = "How many."
    document.write_text(json.dumps(mended))
    assert problems([document]) == []


def test_without_npm_the_check_says_so_and_passes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line with the reason, and no failure: not every machine has node."""
    monkeypatch.setenv("PATH", str(tmp_path))
    assert main(NpmPackages("none", ["nothing@1"], tmp_path)) == 0
    told = capsys.readouterr().out
    assert told == "The OpenAPI documents were not linted: node and npm are not here.\n"
