"""Anonymize a person in every service. Repeating it finishes whatever was interrupted."""

from typing import Any, Literal, TypeAlias

import msgspec

from services.gateway.context import OperatorContext
from services.gateway.store import studios
from shared.errors import NotFound, Unavailable

Kind = Literal["member", "lead"]
Person: TypeAlias = dict[str, Any]
# For each kind of person: the service that stores it, its path, and the scope to read it.
OWNERS: dict[Kind, tuple[str, str, str]] = {
    "member": ("bookings", "/members/", "members:read"),
    "lead": ("forms", "/leads/", "leads:read"),
}


async def erase_person(
    context: OperatorContext, kind: Kind, person_id: str, studio: str | None, request_id: str
) -> dict[str, Any]:
    """By email a lead is matched with the member, and a member with the lead.

    The other service is asked first. It names whom it knows by the email, and erases nobody whom the log
    does not know. Then the event log makes all of them anonymous. Then the rows follow, the one that holds
    the email last. So whatever fails, the same call finds everybody again and finishes it.
    """
    studio_id, email = await _find(context, kind, person_id, studio, request_id)
    owner, _, _ = OWNERS[kind]
    other = "forms" if owner == "bookings" else "bookings"
    person: Person = {"studio_id": studio_id, f"{kind}_ids": [person_id], "emails": [email] if email else []}
    counts: dict[str, Any] = {}
    in_log: Person | None = None
    for service in (other, "webhooks", other, owner):
        found = await context.ask(
            dict[str, Any],
            service,
            "POST",
            "/internal/erase",
            studio_id=studio_id,
            request_id=request_id,
            body=person,
        )
        counts[service] = _sum_counts(counts.get(service, {}), found)
        person = _with_found(person, found)
        if service == "webhooks":
            in_log = person
        elif in_log is not None and _ids(person) != _ids(in_log):
            raise Unavailable("The person got another record meanwhile; erase again.")
    return {"object": "erasure", "studio_id": studio_id, f"{kind}_id": person_id, "erased": counts}


def _with_found(person: Person, found: dict[str, Any]) -> Person:
    """Adds the ids and emails that a service knew."""
    names = ("member_ids", "lead_ids", "emails")
    return person | {name: sorted({*person.get(name, ()), *found.get(name, ())}) for name in names}


def _ids(person: Person) -> set[str]:
    return {*person.get("member_ids", ()), *person.get("lead_ids", ())}


def _sum_counts(before: dict[str, Any], now: dict[str, Any]) -> dict[str, int]:
    """Only counts: an email that was just erased must not be returned."""
    return {name: before.get(name, 0) + value for name, value in now.items() if isinstance(value, int)}


async def _find(
    context: OperatorContext, kind: Kind, person_id: str, studio: str | None, request_id: str
) -> tuple[str, str | None]:
    """The person's studio and email; every studio is searched unless one is named."""
    owner, path, scope = OWNERS[kind]
    async with context.db.connection() as conn:
        candidates = [await studios.find(conn, studio)] if studio else await studios.all_of(conn)
    for candidate in candidates:
        response = await context.call_service(
            owner, "GET", path + person_id, studio_id=candidate.id, scope=scope, request_id=request_id
        )
        if response.status == 200:
            return candidate.id, msgspec.json.decode(response.body).get("email")
        if response.status != 404:
            # Do not report "not found": the operator would think that the person is erased.
            raise Unavailable(f"The {owner} service answered {response.status}; erase again.")
    raise NotFound(f"There is no such {kind}.")
