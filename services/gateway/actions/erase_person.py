"""Make a person anonymous in every service; the row that tells the email goes last, so it can be retried."""

from typing import Any, Literal, TypeAlias

import msgspec

from services.gateway.context import Operators
from services.gateway.store import studios
from shared.errors import NotFound, Unavailable
from shared.wire import encode

Kind = Literal["member", "lead"]
Person: TypeAlias = dict[str, Any]
# Who keeps the person of each kind, and where it is read.
OWNERS: dict[Kind, tuple[str, str]] = {"member": ("bookings", "/members/"), "lead": ("forms", "/leads/")}


async def erase_person(
    operators: Operators, kind: Kind, person_id: str, studio: str | None, request_id: str
) -> dict[str, Any]:
    """Whichever row names the person: a lead's email reaches the member, a member's email the lead."""
    studio_id, email = await _find(operators, kind, person_id, studio, request_id)
    owner, _ = OWNERS[kind]
    others = [name for name in ("forms", "bookings") if name != owner]
    person: Person = {"studio_id": studio_id, f"{kind}_id": person_id, "emails": [email] if email else []}
    counts: dict[str, Any] = {}
    # The event log comes twice: what was still under way when the first look ended is caught by the second.
    for service in ("webhooks", *others, owner, "webhooks"):
        answer = await operators.ask(
            service,
            "POST",
            "/internal/erase",
            studio_id=studio_id,
            request_id=request_id,
            body=encode(person),
        )
        if answer.status != 200:
            raise Unavailable(f"The {service} service answered {answer.status}; erase again.")
        told: dict[str, Any] = msgspec.json.decode(answer.body)
        counts[service] = _added(counts.get(service, {}), told)
        person = _better_known(person, told)
    return {"object": "erasure", "studio_id": studio_id, f"{kind}_id": person_id, "erased": counts}


def _better_known(person: Person, told: dict[str, Any]) -> Person:
    """With the ids and emails that a service had for the person: the event log is searched for them too."""
    known = dict(person, emails=sorted({*person["emails"], *told.get("emails", ())}))
    for name in ("member_id", "lead_id"):
        if name not in known and (ids := told.get(f"{name}s")):
            known[name] = ids[0]
    return known


def _added(before: dict[str, Any], now: dict[str, Any]) -> dict[str, int]:
    """Counts only: an email that was just erased is not printed again."""
    return {name: before.get(name, 0) + value for name, value in now.items() if isinstance(value, int)}


async def _find(
    operators: Operators, kind: Kind, person_id: str, studio: str | None, request_id: str
) -> tuple[str, str | None]:
    """The person's studio and email; without a named studio each one is asked."""
    owner, path = OWNERS[kind]
    async with operators.db.connection() as conn:
        asked = [await studios.find(conn, studio)] if studio else await studios.all_of(conn)
    for one in asked:
        answer = await operators.ask(owner, "GET", path + person_id, studio_id=one.id, request_id=request_id)
        if answer.status == 200:
            return one.id, msgspec.json.decode(answer.body).get("email")
        if answer.status != 404:
            # Not "nobody has it": the operator must not take the person for erased.
            raise Unavailable(f"The {owner} service answered {answer.status}; erase again.")
    raise NotFound(f"There is no such {kind}.")
