"""A desk's day with studioctl: classes, bookings, members, memberships, purchases, webhooks, events."""

from typing import Any

from shared.wire import new_id
from tests.harness.system import System
from tests.services.bookings.samples import a_class, a_member, a_membership, a_product
from tests.services.cli.test_studioctl import Done, studioctl


async def at_desk(system: System, *words: str) -> Done:
    return await studioctl(system, *words, "--studio", system.studio_id)


async def a_class_and_people(system: System, *names: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """A class with one seat."""
    class_, people = a_class(), [a_member(first_name=name) for name in names]
    class_ |= {name: class_[name].isoformat() for name in ("start_time", "end_time")}
    await system.import_lines([class_, *people])
    return class_, people


async def test_a_class_is_made_changed_listed_and_cancelled(system: System) -> None:
    """In the studio's own time; a class that is moved keeps its length; cancelling needs --yes here."""
    words = ("classes", "create", "--title", "Spin", "--start", "2035-08-03T18:30", "--duration", "60m")
    made = (await at_desk(system, *words, "--capacity", "3", "--waitlist")).json()
    assert (made["start_time"], made["end_time"]) == ("2035-08-03T22:30:00Z", "2035-08-03T23:30:00Z")
    assert made["allow_waitlist"] is True
    moved = await at_desk(system, "classes", "change", made["id"], "--start", "2035-08-03T19:00")
    assert moved.json()["end_time"] == "2035-08-04T00:00:00Z"
    listed = (await at_desk(system, "classes", "list", "--until", "2035-08-05")).json()["data"]
    assert [row["id"] for row in listed] == [made["id"]]
    unconfirmed = await at_desk(system, "classes", "cancel", made["id"])
    assert unconfirmed.code == 2
    assert "Spin on 2035-08-03 19:00 EDT" in unconfirmed.err and "--yes" in unconfirmed.err
    gone = await at_desk(system, "classes", "cancel", made["id"], "--reason", "storm", "--yes")
    assert gone.json()["status"] == "cancelled"


async def test_a_roster_is_worked_through(system: System) -> None:
    """Seated members first, then the waitlist; check in, undo, cancel, and the next one moves up."""
    class_, people = await a_class_and_people(system, "Ann", "Bea")
    for person in people:
        words = ("bookings", "create", "--class", class_["id"], "--member", person["id"], "--join-waitlist")
        assert (await at_desk(system, *words)).code == 0
    roster = (await at_desk(system, "classes", "roster", class_["id"])).json()["data"]
    assert [(row["member_name"], row["waitlist_position"]) for row in roster] == [
        ("Ann Byron", None),
        ("Bea Byron", 1),
    ]
    first, second = (row["id"] for row in roster)
    assert (await at_desk(system, "bookings", "check-in", first)).json()["status"] == "checked_in"
    assert (await at_desk(system, "bookings", "undo", first)).json()["status"] == "confirmed"
    early = await at_desk(system, "bookings", "no-show", first)
    assert (early.code, "invalid_state_transition" in early.err) == (1, True)
    assert "no late fee" in (await at_desk(system, "bookings", "cancel", first)).err
    receipt = (await at_desk(system, "bookings", "cancel", first, "--yes", "--reason", "called")).json()
    assert receipt["reason"] == "called"
    after = (await at_desk(system, "classes", "roster", class_["id"])).json()["data"]
    assert [(row["id"], row["status"]) for row in after] == [(second, "confirmed")]


async def test_members_memberships_and_purchases_are_found_by_email(system: System) -> None:
    """The desk knows the email, not the id."""
    member, product = a_member(), a_product(5)
    card = a_membership(member["id"], product_id=product["id"])
    await system.import_lines([product, member, card])
    email = member["email"]
    assert (await at_desk(system, "members", "show", email)).json()["id"] == member["id"]
    listed = (await at_desk(system, "members", "list", "--email", email)).json()["data"]
    assert [row["id"] for row in listed] == [member["id"]]
    cards = (await at_desk(system, "memberships", "list", email)).json()["data"]
    assert [row["id"] for row in cards] == [card["id"]]
    paused = (await at_desk(system, "memberships", "pause", card["id"], "--for", "30d")).json()
    assert paused["pause"]["resumes_at"] is not None
    assert (await at_desk(system, "memberships", "resume", card["id"])).json()["status"] == "active"
    assert (await at_desk(system, "memberships", "cancel", card["id"])).code == 2
    ended = await at_desk(system, "memberships", "cancel", card["id"], "--yes")
    assert ended.json()["status"] == "cancelled"
    words = ("purchases", "record", "--member", email, "--product", product["id"], "--amount", "49.90")
    bought = (await at_desk(system, *words, "--currency", "eur")).json()
    assert (bought["amount_total"], bought["currency"]) == ("49.90", "EUR")
    assert (await at_desk(system, "members", "show", email)).json()["credits"] == 5
    found = (await at_desk(system, "purchases", "list", "--member", email)).json()["data"]
    assert [row["id"] for row in found] == [bought["id"]]
    nobody = await at_desk(system, "members", "show", "nobody@example.com")
    assert (nobody.code, "no member with the email" in nobody.err) == (1, True)
    assert (await at_desk(system, "members", "show", "nobody")).code == 2


async def test_endpoints_deliveries_and_events_are_looked_through(system: System) -> None:
    """List, retry and recover; refusals are sentences."""
    partner = system.partner(await system.key())
    endpoint = (await partner.post("/webhook-endpoints", {"url": "http://127.0.0.1:9/hook"})).json()
    listed = (await at_desk(system, "webhooks", "endpoints")).json()["data"]
    assert [row["id"] for row in listed] == [endpoint["id"]]
    assert (await at_desk(system, "webhooks", "deliveries", "--status", "dead")).json()["data"] == []
    refused = await at_desk(system, "webhooks", "retry", new_id())
    assert (refused.code, "not_found" in refused.err) == (1, True)
    recovery = (await at_desk(system, "webhooks", "recover", endpoint["id"], "--since", "24h")).json()
    assert recovery["endpoint_id"] == endpoint["id"]
    assert (await at_desk(system, "events", "list", "--type", "booking.created")).json()["data"] == []
    for reason in ("One", "Two"):
        words = ("--title", reason, "--start", "2035-09-03T18:30", "--duration", "60m", "--capacity", "3")
        assert (await at_desk(system, "classes", "create", *words)).code == 0
    await partner.until("/events", lambda page: page["latest_sequence"] >= 2)
    newest, older = (await at_desk(system, "events", "list", "--newest", "--limit", "2")).json()["data"]
    assert newest["sequence"] > older["sequence"]
    assert (await at_desk(system, "webhooks", "deliveries", "--newest")).code == 0
    assert (await at_desk(system, "webhooks", "health")).json()["object"] == "list"


async def test_requests_and_the_history_are_looked_up(system: System) -> None:
    """What a partner quotes is found by its id."""
    assert (await studioctl(system, "requests", "list")).code == 2
    assert (await studioctl(system, "requests", "list", "--request-id", new_id())).json()["data"] == []
    assert (await studioctl(system, "history")).json()["object"] == "list"


async def test_lists_come_whole_up_to_the_limit(system: System) -> None:
    """More rows than a page are read page by page; the rest is announced."""
    await system.import_lines([a_member() for _ in range(205)])
    everybody = (await at_desk(system, "members", "list", "--limit", "1000")).json()
    assert (len(everybody["data"]), everybody["has_more"]) == (205, False)
    some = (await at_desk(system, "members", "list", "--limit", "201")).json()
    assert (len(some["data"]), some["has_more"]) == (201, True)


async def test_a_desk_works_with_a_staff_token_and_needs_no_studio_option(system: System) -> None:
    """`STUDIO_OPERATOR_TOKEN=stf_…`: the token's own studio is meant; managers issue and revoke tokens."""
    words = ("staff", "create", "--name", "Boss", "--role", "manager")
    manager = (await at_desk(system, *words)).json()["token"]
    with_token = {"STUDIO_OPERATOR_TOKEN": manager}
    made = (await studioctl(system, "staff", "create", "--name", "Desk", environment=with_token)).json()
    assert (made["role"], made["studio_id"]) == ("staff", system.studio_id)
    desk = {"STUDIO_OPERATOR_TOKEN": made["token"]}
    assert (await studioctl(system, "members", "list", environment=desk)).json()["data"] == []
    refused = await studioctl(system, "staff", "list", environment=desk)
    assert (refused.code, "needs the role manager" in refused.err) == (1, True)
    listed = (await studioctl(system, "staff", "list", environment=with_token)).json()["data"]
    assert [row["name"] for row in listed] == ["Boss", "Desk"]
    ended = await studioctl(system, "staff", "revoke", made["id"], "--yes", environment=with_token)
    assert ended.json()["revoked_at"] is not None
    assert (await studioctl(system, "members", "list", environment=desk)).code == 1


async def test_a_walk_in_and_the_waitlist_are_worked_from_the_command_line(system: System) -> None:
    """Somebody new, a full class, promotion with one more seat, and skipping."""
    class_, people = await a_class_and_people(system, "Ann", "Bea", "Cleo")
    book = ("bookings", "create", "--class", class_["id"])
    email = f"{new_id()}@example.com"
    seated = (await at_desk(system, *book, "--new", "Nia Okoro", "--email", email, "--check-in")).json()
    assert seated["status"] == "checked_in"
    for person in people[:2]:
        waits = await at_desk(system, *book, "--member", person["email"], "--join-waitlist")
        assert waits.json()["status"] == "waitlisted"
    full = await at_desk(system, *book, "--member", people[2]["id"])
    assert (full.code, "class_full" in full.err) == (1, True)
    for wrong in ((), ("--new", "Nia"), ("--new", "Nia", "--email", email, "--member", people[2]["id"])):
        assert (await at_desk(system, *book, *wrong)).code == 2
    unreadable = await at_desk(system, *book, "--new", "Nia", "--email", "nia@")
    assert (unreadable.code, "email: " in unreadable.err, "regex" in unreadable.err) == (1, True, False)
    first, second = (await at_desk(system, "waitlist", "list", "--class", class_["id"])).json()["data"]
    promoted = await at_desk(system, "waitlist", "promote", second["id"], "--add-seat")
    assert promoted.json()["status"] == "confirmed"
    assert (await at_desk(system, "waitlist", "skip", first["id"])).json()["status"] == "skipped"
    since = ("--cancelled-since", "2020-01-01", "--class", class_["id"])
    (cancelled,) = (await at_desk(system, "bookings", "list", *since)).json()["data"]
    assert (cancelled["member_name"], cancelled["late_cancel"]) == ("Ann Byron", False)
    waived = await at_desk(system, "bookings", "waive-fee", cancelled["id"])
    assert (waived.code, "no_fee_to_waive" in waived.err) == (1, True)
    (found,) = (await at_desk(system, "members", "list", "--search", email)).json()["data"]
    assert found["name"] == "Nia Okoro"
    assert (await at_desk(system, "catalog", "locations")).code == 0
    entries = await at_desk(system, "audit", "list", "--newest", "--limit", "1")
    assert entries.json()["data"][0]["sentence"] == "Operator took Ann Byron · Flow off the waitlist"
