"""Tokens of a studio's staff."""

from typing import Annotated, Literal

from msgspec import Meta

from services.gateway.wire.key import Name
from shared.wire import Body, Id, Instant, Resource

StaffRole = Literal["staff", "manager"]


class StaffToken(Resource, kw_only=True):
    id: Id
    object: Literal["staff_token"] = "staff_token"
    studio_id: Id
    name: str
    role: StaffRole
    prefix: str
    created_at: Instant
    last_used_at: Instant | None
    revoked_at: Instant | None


class IssuedStaffToken(StaffToken, kw_only=True):
    token: Annotated[str, Meta(description="The token itself. It is shown only once.")]


class StaffTokenCreate(Body, frozen=True, kw_only=True):
    name: Name
    role: StaffRole = "staff"
