"""Members, memberships and purchases, for partners."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from services.bookings.actions.members import check_member, create_member
from services.bookings.context import Bookings
from services.bookings.errors import MemberExists
from services.bookings.store import members, memberships, purchases
from services.bookings.wire.members import (
    Member,
    MemberCreate,
    Membership,
    MembersQuery,
    Purchase,
    PurchasesQuery,
)
from shared.db.database import Connection
from shared.emails import normalize_email
from shared.errors import Invalid, InvalidCursor, NotFound, Problem
from shared.http.caller import Caller
from shared.http.pages import Page, page_of
from shared.http.reads import read_one, read_page
from shared.http.routes import Call, Routes
from shared.wire import PageQuery

ROUTES: Routes[Bookings] = Routes()


def normalized_email(query: MembersQuery) -> str | None:
    if query.email is None:
        return None
    try:
        return normalize_email(query.email)
    except ValueError as problem:
        raise Invalid([Problem(("query", "email"), str(problem), "value_error")]) from None


def page_of_members(shown: type[Member]) -> Callable[[Connection, Caller, Any], Awaitable[Page[Any]]]:
    """`shown` is what partners see, or what staff see."""

    async def page(conn: Connection, caller: Caller, query: MembersQuery) -> Page[Any]:
        found = await members.list_page(conn, caller, query, shown, email=normalized_email(query))
        return page_of(found, query.limit)

    return page


@ROUTES.add(
    "POST",
    "/members",
    "Create a member",
    description="The normalized email must be unique; the error names the member who already has it.",
    check=check_member,
    status=201,
    errors=(MemberExists,),
    tag="Members",
)
async def post_member(service: Bookings, call: Call[None, MemberCreate]) -> Member:
    return await create_member(service, call.caller, call.body)


@ROUTES.add(
    "GET",
    "/members/{member_id}/memberships",
    "List a member's memberships",
    errors=(InvalidCursor, NotFound),
    tag="Members",
)
async def list_memberships(service: Bookings, call: Call[PageQuery, None]) -> Page[Membership]:
    async with service.db.connection() as conn:
        member = await members.get(conn, call.caller, call.path["member_id"], Member)
        return await memberships.list_page(conn, call.caller, member.id, call.query)


ROUTES += [
    read_page(
        "/members",
        page_of_members(Member),
        "List members",
        MembersQuery,
        Page[Member],
        tag="Members",
        description="Member, user and lead-role profiles of the studio, oldest first.",
    ),
    read_one(
        "/members/{member_id}", partial(members.get, shown=Member), "Get a member", Member, tag="Members"
    ),
    read_one("/memberships/{membership_id}", memberships.get, "Get a membership", Membership, tag="Members"),
    read_page(
        "/purchases",
        purchases.list_page,
        "List purchases",
        PurchasesQuery,
        Page[Purchase],
        tag="Purchases",
        description="Oldest first. A key limited to locations sees only purchases made there.",
    ),
    read_one("/purchases/{purchase_id}", purchases.get, "Get a purchase", Purchase, tag="Purchases"),
]
