"""`studioctl console`, `studioctl audit list` and `studioctl usage`."""

from tests.harness.console import exchange, token_in
from tests.harness.system import System
from tests.services.cli.test_studioctl import studioctl


async def test_console_prints_the_operators_page_or_a_clients_link(system: System) -> None:
    """The link opens one session; an unknown client is refused."""
    page = (await studioctl(system, "console")).json()
    assert page["url"] == f"{system.running.operator_url}/console"
    issued = await system.issue(client="Console client")
    words = ("console", "--client", issued["client_id"], "--expires-in", "10m")
    made = (await studioctl(system, *words)).json()
    assert (await exchange(system, token_in(made["url"]))).status == 200
    unknown = await studioctl(system, "console", "--client", "nobody at all")
    assert unknown.code == 1 and "There is no such client" in unknown.err


async def test_audit_list_tells_what_was_changed(system: System) -> None:
    """Oldest first, so the newest is on the last page; the entry names the key that was made."""
    issued = await system.issue()
    listed = (await studioctl(system, "audit", "list", "--since", "10m", "--limit", "200")).json()
    assert set(listed["data"][0]) == {"id", "object", "at", "actor", "action", "target", "request_id"}
    while listed["has_more"]:
        cursor = listed["next_cursor"]
        listed = (await system.operator.get("/audit", limit=200, cursor=cursor)).json()
    assert ("keys.create", issued["id"]) in {(row["action"], row["target"]) for row in listed["data"]}
