"""docs/importing.md: every kind of line, with a sample that can be imported and every stored field."""

import json
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

from services.bookings.wire import import_lines as bookings
from services.catalog.wire import import_lines as catalog
from services.forms.wire import import_lines as forms
from services.gateway.actions.import_lines import OWNERS
from services.gateway.wire.studio import StudioLine
from tests.harness.system import System

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "importing.md").read_text()
SAMPLE = [json.loads(line) for line in (ROOT / "docs" / "sample-studio.ndjson").read_text().splitlines()]
STRUCTS = {
    kind.__struct_config__.tag: kind
    for module in (forms, bookings, catalog)
    for kind in module.AnyImported.__args__
    if not issubclass(kind, catalog.Referring)
} | {"studio": StudioLine}
COMMON = {"object", "id", "studio_id", "created_at", "version"}
# Computed by the services; a line may carry them, as a response of the API does.
IGNORED = {
    "booked_count", "held_count", "available_count", "start_local", "available", "converted_to_booking",
    "held_until",
}  # fmt: skip


def test_the_sample_has_every_kind_in_an_order_that_loads() -> None:
    """And no kind that the import does not know."""
    assert {line["object"] for line in SAMPLE} == set(OWNERS)


@pytest.mark.parametrize("kind", sorted(OWNERS))
def test_a_kind_is_described_with_all_its_fields_and_its_line_of_the_sample(kind: str) -> None:
    """No field is stored that the page does not name, and none is named that would be refused."""
    found = re.search(rf"^### `{kind}`\n(.*?)(?=^##|\Z)", PAGE, re.DOTALL | re.MULTILINE)
    assert found, f"docs/importing.md has no section for {kind}"
    section = found[1]
    fields = {field.encode_name for field in msgspec.structs.fields(STRUCTS[kind])} - COMMON - IGNORED
    if kind == "class":
        fields.discard("timezone")
    named = set(re.findall(r"^\| `(\w+)`", section, re.MULTILINE))
    assert named == fields
    shown = [json.loads(block) for block in re.findall(r"```json\n(.*?)```", section, re.DOTALL)]
    assert shown and all(line in SAMPLE for line in shown)


async def test_the_sample_loads_and_loads_again(system: System) -> None:
    """Importing is an upsert by id."""
    raw = (ROOT / "docs" / "sample-studio.ndjson").read_bytes()
    for _ in range(2):
        response = await system.operator.post("/import", raw=raw)
        report: dict[str, Any] = response.json()
        assert (report["imported"], report["rejected"]) == (len(SAMPLE), [])
