"""How much each key is used: `GET /operator/v1/usage` and `studioctl usage`."""

import asyncio
from typing import Any

from shared.wire import new_id
from tests.harness.eventually import eventually
from tests.harness.system import System
from tests.services.cli.test_studioctl import studioctl
from tests.services.cli.test_studioctl_on_a_terminal import screen


async def usage(system: System, **query: Any) -> dict[str, dict[str, Any]]:
    listed = (await system.operator.get("/usage", studio=system.studio_id, **query)).json()
    return {row["id"]: row for row in listed["data"]}


async def counted(system: System, key_id: str, requests: int) -> dict[str, Any]:
    """The log is written once a second."""

    async def all_there() -> dict[str, Any] | None:
        row = (await usage(system))[key_id]
        return row if row["requests"] >= requests and row["last_used_at"] else None

    row: dict[str, Any] = await eventually(all_there, seconds=60)
    return row


async def test_requests_errors_and_last_use_are_counted_for_each_key(system: System) -> None:
    """Two keys of one client are counted separately; a key that was never used is shown with zeros."""
    busy = await system.issue(client="Booking site")
    quiet = await system.issue(client="Booking site")
    partner = system.partner(busy["key"])
    for _ in range(3):
        assert (await partner.get("/studio")).status == 200
    assert (await partner.get(f"/classes/{new_id()}")).status == 404
    row = await counted(system, busy["id"], 4)
    assert (row["requests"], row["errors"]) == (4, 1)
    assert (row["client_name"], row["prefix"]) == ("Booking site", busy["prefix"])
    unused = (await usage(system))[quiet["id"]]
    assert (unused["requests"], unused["errors"], unused["last_used_at"]) == (0, 0, None)


async def test_batches_add_up_and_the_window_ends_them(system: System) -> None:
    """A second batch is added to the first; from tomorrow on nothing was counted."""
    issued = await system.issue()
    partner = system.partner(issued["key"])
    await partner.get("/studio")
    await counted(system, issued["id"], 1)
    await asyncio.gather(*(partner.get("/studio") for _ in range(5)))
    assert (await counted(system, issued["id"], 6))["requests"] == 6
    later = await usage(system, since="2999-01-01T00:00:00Z")
    assert later[issued["id"]]["requests"] == 0


async def test_usage_goes_page_by_page_and_stays_in_its_studio(system: System) -> None:
    """A cursor of another studio's list is refused, and so is a studio that does not exist."""
    issued = [await system.issue() for _ in range(3)]
    first = (await system.operator.get("/usage", studio=system.studio_id, limit=2)).json()
    rest = await usage(system, limit=2, cursor=first["next_cursor"])
    shown = [*(row["id"] for row in first["data"]), *rest]
    assert shown == [key["id"] for key in issued]
    other = await system.new_studio()
    refused = await system.operator.get("/usage", studio=other, cursor=first["next_cursor"])
    assert refused.code == "invalid_cursor"
    assert (await system.operator.get("/usage", studio="nobody")).status == 404


async def test_studioctl_shows_usage_as_a_table_and_as_json(system: System) -> None:
    """The prefix stays whole at any width."""
    issued = await system.issue(client="Partner Inc")
    listed = (await studioctl(system, "usage", "--studio", system.studio_id, "--since", "24h")).json()
    assert [row["id"] for row in listed["data"]] == [issued["id"]]
    for columns in (120, 40):
        text, code = await screen(system, "usage", "--studio", system.studio_id, columns=columns)
        assert code == 0
        assert issued["prefix"] in text and "Partner Inc" in text and "errors" in text
