"""The linter of `make check`: it finds mistakes, and without npm it prints one line."""

import json
from pathlib import Path

import pytest

from services.cli.openapi.__main__ import STATIC
from tests.harness.npm_packages import NpmPackages
from tests.openapi.__main__ import DOCUMENTS, INSTALLED, main, problems


def test_the_linter_finds_what_our_rules_forbid(tmp_path: Path) -> None:
    """A parameter without a description is one of them: taken out of the document that `make check` lints."""
    if reason := INSTALLED.why_not():
        pytest.skip(reason)
    document = json.loads((STATIC / DOCUMENTS[0]).read_bytes())
    document["paths"] = {"/bookings": document["paths"]["/bookings"]}
    del document["components"]["parameters"]["IdempotencyKey"]["description"]
    path = tmp_path / "bad.json"
    path.write_text(json.dumps(document))
    assert any("parameter-description" in found for found in problems([path]))


def test_without_npm_the_check_says_so_and_passes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line with the reason, and no failure: not every machine has node."""
    monkeypatch.setenv("PATH", str(tmp_path))
    assert main(NpmPackages("none", ["nothing@1"], tmp_path)) == 0
    told = capsys.readouterr().out
    assert told == "The OpenAPI documents were not linted: node and npm are not here.\n"
