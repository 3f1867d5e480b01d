"""Create a member, once per normalized email of the studio."""

from services.bookings.context import Bookings
from services.bookings.errors import MemberExists
from services.bookings.store import members, studios
from services.bookings.wire.members import Member, MemberCreate
from shared.emails import normalize_email
from shared.errors import Problem
from shared.events.kinds import MemberCreated
from shared.events.outbox import add_event
from shared.http.caller import Caller
from shared.http.routes import PartialBody
from shared.phones import phone_problems
from shared.wire import new_id


async def create_member(service: Bookings, caller: Caller, body: MemberCreate) -> Member:
    email = normalize_email(body.email)
    member_id = new_id()
    name = f"{body.first_name} {body.last_name}".strip()
    async with service.db.transaction() as conn:
        created = await members.insert(conn, caller, member_id, body, name=name, email=email)
        if created is None:
            known = await members.id_by_email(conn, caller, email)
            raise MemberExists(param="email", details={"member_id": known})
        member = await members.get(conn, caller, member_id)
        assert member is not None
        await add_event(conn, caller.event(MemberCreated, member_id, 1, member, at=created))
    service.wakeup.notify()
    return member


async def check_member(service: Bookings, caller: Caller, given: PartialBody) -> list[Problem]:
    """The phone, by the rules of the studio's country where it comes without a country code."""
    phone = given.fields.get("phone")
    if not phone_problems(phone, None):
        return []
    async with service.db.connection() as conn:
        region = service.regions.get(await studios.timezone_of(conn, caller) or "")
    return phone_problems(phone, region)
