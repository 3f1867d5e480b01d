"""Members, memberships and purchases, for partners."""

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
from shared.emails import normalize_email
from shared.errors import Invalid, InvalidCursor, NotFound, Problem
from shared.http.pages import Page, page_of
from shared.http.routes import Call, Route
from shared.wire import PageQuery


async def list_members(service: Bookings, call: Call[MembersQuery, None]) -> Page[Member]:
    email = normalized_email(call.query)
    async with service.db.connection() as conn:
        found = await members.list_page(conn, call.caller, call.query, Member, email=email)
    return page_of(found, call.query.limit)


def normalized_email(query: MembersQuery) -> str | None:
    if query.email is None:
        return None
    try:
        return normalize_email(query.email)
    except ValueError as problem:
        raise Invalid([Problem(("query", "email"), str(problem), "value_error")]) from None


async def get_member(service: Bookings, call: Call[None, None]) -> Member:
    async with service.db.connection() as conn:
        return await members.get(conn, call.caller, call.path["member_id"], Member)


async def post_member(service: Bookings, call: Call[None, MemberCreate]) -> Member:
    return await create_member(service, call.caller, call.body)


async def list_memberships(service: Bookings, call: Call[PageQuery, None]) -> Page[Membership]:
    async with service.db.connection() as conn:
        member = await members.get(conn, call.caller, call.path["member_id"], Member)
        found = await memberships.list_page(conn, call.caller, member.id, call.query)
    return page_of(found, call.query.limit)


async def get_membership(service: Bookings, call: Call[None, None]) -> Membership:
    async with service.db.connection() as conn:
        return await memberships.get(conn, call.caller, call.path["membership_id"])


async def list_purchases(service: Bookings, call: Call[PurchasesQuery, None]) -> Page[Purchase]:
    async with service.db.connection() as conn:
        return page_of(await purchases.list_page(conn, call.caller, call.query), call.query.limit)


async def get_purchase(service: Bookings, call: Call[None, None]) -> Purchase:
    async with service.db.connection() as conn:
        return await purchases.get(conn, call.caller, call.path["purchase_id"])


ROUTES: list[Route[Bookings]] = [
    Route(
        method="GET",
        path="/members",
        handler=list_members,
        summary="List members",
        description="Member, user and lead-role profiles of the studio, oldest first.",
        query=MembersQuery,
        answer=Page[Member],
        errors=(InvalidCursor,),
        tag="Members",
    ),
    Route(
        method="POST",
        path="/members",
        handler=post_member,
        summary="Create a member",
        description="The normalized email must be unique; the error names the member who already has it.",
        body=MemberCreate,
        check=check_member,
        answer=Member,
        status=201,
        errors=(MemberExists,),
        tag="Members",
    ),
    Route(
        method="GET",
        path="/members/{member_id}",
        handler=get_member,
        summary="Get a member",
        answer=Member,
        errors=(NotFound,),
        tag="Members",
    ),
    Route(
        method="GET",
        path="/members/{member_id}/memberships",
        handler=list_memberships,
        summary="List a member's memberships",
        query=PageQuery,
        answer=Page[Membership],
        errors=(InvalidCursor, NotFound),
        tag="Members",
    ),
    Route(
        method="GET",
        path="/memberships/{membership_id}",
        handler=get_membership,
        summary="Get a membership",
        answer=Membership,
        errors=(NotFound,),
        tag="Members",
    ),
    Route(
        method="GET",
        path="/purchases",
        handler=list_purchases,
        summary="List purchases",
        description="Oldest first. A key limited to locations sees only purchases made there.",
        query=PurchasesQuery,
        answer=Page[Purchase],
        errors=(InvalidCursor,),
        tag="Purchases",
    ),
    Route(
        method="GET",
        path="/purchases/{purchase_id}",
        handler=get_purchase,
        summary="Get a purchase",
        answer=Purchase,
        errors=(NotFound,),
        tag="Purchases",
    ),
]
