"""Clients that public generators make of our document book a class, with nothing changed by hand."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from services.cli.openapi.__main__ import STATIC
from tests.clients.typescript.node_programs import run
from tests.harness.bookable_studio import bookable
from tests.harness.npm_packages import TYPESCRIPT, NpmPackages
from tests.harness.system import System

HERE = Path(__file__).parent
DOCUMENT = STATIC / "openapi.json"
TYPED = NpmPackages("openapi-typescript", ["openapi-typescript@7.13.0", "openapi-fetch@0.17.0", TYPESCRIPT])
STRICT = ["--strict", "--noUncheckedIndexedAccess", "--skipLibCheck", "--lib", "es2022,dom"]
MODULES = ["--module", "nodenext", "--moduleResolution", "nodenext", "--target", "es2022"]


async def what_to_book(system: System) -> list[str]:
    """The arguments of the programs: base URL, key, class and member."""
    studio = bookable()
    await system.import_lines(studio.lines)
    key = await system.key(["bookings:read", "bookings:write"])
    return [f"{system.running.partner_url}/partner/v1", key, studio.class_ids[0], studio.member_ids[0]]


def assert_booked(response: dict[str, Any]) -> None:
    assert response["status"] == "confirmed"
    assert response["listed"] == [response["id"]]


@pytest.mark.timeout(300)
async def test_a_python_client_is_made_without_a_warning_and_books(system: System, tmp_path: Path) -> None:
    """openapi-python-client leaves out what it does not understand: it must have nothing to say."""
    (tmp_path / "config.yaml").write_text("post_hooks: []\n")
    generate = [sys.executable, "-m", "openapi_python_client", "generate", "--meta", "none"]
    given = ["--path", str(DOCUMENT), "--output-path", "partner_client", "--config", "config.yaml"]
    run(*generate, "--fail-on-warning", *given, folder=tmp_path)
    wanted = await what_to_book(system)
    program, here = HERE / "book.py", {"PYTHONPATH": "."}
    assert_booked(json.loads(run(sys.executable, program, *wanted, folder=tmp_path, environment=here)))


@pytest.mark.timeout(400)
async def test_a_typescript_client_compiles_strictly_and_books(system: System, tmp_path: Path) -> None:
    """With openapi-typescript's types a body of the required fields alone is well typed."""
    if reason := TYPED.why_not():
        pytest.skip(reason)
    (tmp_path / "package.json").write_text('{"private": true, "type": "module"}')
    (tmp_path / "node_modules").symlink_to(TYPED.folder / "node_modules")
    (tmp_path / "book.ts").write_text((HERE / "book.ts").read_text())
    generator = TYPED.script("openapi-typescript/bin/cli.js")
    run("node", generator, DOCUMENT, "-o", "partner_api.ts", folder=tmp_path)
    run("node", TYPED.script("typescript/bin/tsc"), *STRICT, *MODULES, "book.ts", folder=tmp_path)
    wanted = await what_to_book(system)
    assert_booked(json.loads(run("node", "book.js", *wanted, folder=tmp_path)))
