"""The samples in the reference: every one runs as copied against a fresh system with the demo studio."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import asyncpg
import pytest
from msgspec import Struct

from services.cli.openapi.code_samples import ORIGIN
from services.cli.openapi.document import document
from shared.servers.ports import free_port
from tests.harness.databases import Template
from tests.harness.run_samples import run_curl, run_javascript, run_python
from tests.harness.system import Process, environment_for

LANGUAGES = {"curl": run_curl, "Python": run_python, "JavaScript": run_javascript}


def operations() -> dict[str, dict[str, Any]]:
    """In the document's order, except that deletions come last."""
    found = [
        (method, operation)
        for methods in document()["paths"].values()
        for method, operation in methods.items()
    ]
    return {one["operationId"]: one for _, one in sorted(found, key=lambda pair: pair[0] == "delete")}


OPERATIONS = operations()


def samples(label: str) -> dict[str, str]:
    return {
        name: sample["source"]
        for name, operation in OPERATIONS.items()
        for sample in operation["x-codeSamples"]
        if sample["label"] == label
    }


class Demo(Struct):
    origin: str
    key: str
    database_url: str


@pytest.fixture(scope="module")
def demo(migrated_template: Template, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Demo]:
    """`studioctl up` on its first start."""
    with migrated_template.copy_for_session() as database_url:
        yield from started(database_url, tmp_path_factory.mktemp("home"))


def started(database_url: str, home: Path) -> Iterator[Demo]:
    port = free_port()
    environment = environment_for(home, STUDIO_DATABASE_URL=database_url)
    words = ["up", "--port", str(port), "--operator-port", str(free_port())]
    process = Process(words, environment, f"http://127.0.0.1:{port}/health/ready", home / "up.log")
    process.start()
    try:
        process.wait_ready()
        process.wait_for_text("Three calls to try")
        key = json.loads((home / "demo_key.json").read_text())["key"]
        yield Demo(f"http://127.0.0.1:{port}", key, database_url)
    finally:
        process.stop()


# Undoes what the samples of one language changed: a fresh start for each language takes too long.
PUT_BACK = """
DELETE FROM bookings.members WHERE email = 'sam.keller@example.com';
DELETE FROM forms.form_submissions WHERE submitter_email = 'jules.donovan@example.com';
UPDATE forms.forms SET slug = id::text WHERE slug = 'workshop-feedback';
UPDATE webhooks.recoveries SET status = 'done';
UPDATE webhooks.endpoints SET deleted_at = NULL, status = 'enabled';
UPDATE bookings.bookings SET status = 'confirmed' WHERE status = 'cancelled';
"""


async def put_back(database_url: str) -> None:
    connection = await asyncpg.connect(database_url)
    await connection.execute(PUT_BACK)
    await connection.close()


@pytest.mark.timeout(240)
@pytest.mark.parametrize("language", LANGUAGES)
async def test_every_sample_runs_as_copied(demo: Demo, language: str, tmp_path: Path) -> None:
    """Only the origin is replaced, as the page does; the answer has the status that the document names."""
    if language == "JavaScript" and shutil.which("node") is None:
        pytest.skip("There is no Node here; install it with `apt-get install nodejs`.")
    await put_back(demo.database_url)
    printed = samples(language)
    assert list(printed) == list(OPERATIONS)
    shown = {name: source.replace(ORIGIN, demo.origin) for name, source in printed.items()}
    statuses = LANGUAGES[language](shown, tmp_path, {"STUDIO_KEY": demo.key})
    wanted = {
        name: next(int(status) for status in operation["responses"] if status.startswith("2"))
        for name, operation in OPERATIONS.items()
    }
    assert {name: statuses.get(name) for name in wanted if statuses.get(name) != wanted[name]} == {}


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_sample_holds_no_key(language: str) -> None:
    """The key comes from the environment."""
    for name, source in samples(language).items():
        assert "STUDIO_KEY" in source, name
        assert "stk_" not in source, name
