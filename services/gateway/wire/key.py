"""Keys, clients, staff tokens, and sessions of the consoles."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType

from shared.routing import SCOPES
from shared.wire import Body, Id, Instant, Resource


class Key(Resource, kw_only=True):
    """A key as operators see it. The secret is not stored, so it cannot be shown."""

    id: Id
    object: Literal["key"] = "key"
    studio_id: Id
    client_id: Id
    client_name: str
    name: str
    prefix: str
    scopes: list[str]
    location_ids: list[Id] | None
    created_at: Instant
    expires_at: Instant | None
    last_used_at: Instant | None
    revoked_at: Instant | None


class IssuedKey(Key, kw_only=True):
    key: Annotated[str, Meta(description="The key itself. It is shown only once.")]


class RateLimit(Resource, kw_only=True):
    requests_per_second: float
    burst: int


class OwnKey(Resource, kw_only=True):
    """The key that the request was made with."""

    id: Id
    object: Literal["key"] = "key"
    name: str
    studio_id: Id
    client_id: Id
    scopes: list[str]
    location_ids: Annotated[
        list[Id] | None, Meta(description="The locations that the key is limited to; null for all.")
    ]
    expires_at: Instant | None
    rate_limit: RateLimit


Seconds = Annotated[int, Meta(ge=1, le=3650 * 86400)]
Overlap = Annotated[int, Meta(ge=0, le=7 * 86400)]
Name = Annotated[str, Meta(min_length=1, max_length=200)]


class KeyCreate(Body, frozen=True, kw_only=True):
    studio: Annotated[str, Meta(description="The studio's slug or id.")]
    name: Name
    scopes: Annotated[list[str], Meta(min_length=1)]
    location_ids: Annotated[list[Id], Meta(min_length=1)] | None = None
    client: Name | None = None
    expires_in: Seconds | None = None


class KeyRotate(Body, frozen=True, kw_only=True):
    overlap: Overlap = 86400


class KeyRevoke(Body, frozen=True, kw_only=True):
    """`with_endpoints`: also disable the webhook endpoints that the key created or whose URL it set."""

    with_endpoints: bool = False


HoldShare = Annotated[float, Meta(ge=0, le=1)]


class Client(Resource, kw_only=True):
    id: Id
    object: Literal["client"] = "client"
    studio_id: Id
    name: str
    rate: float
    burst: int
    hold_share: HoldShare | None
    created_at: Instant


class ClientSet(Body, frozen=True, kw_only=True):
    rate: Annotated[float, Meta(gt=0, le=1_000_000)] | UnsetType = UNSET
    burst: Annotated[int, Meta(ge=1, le=10_000_000)] | UnsetType = UNSET
    hold_share: HoldShare | UnsetType | None = UNSET


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


SessionSeconds = Annotated[int, Meta(ge=300, le=86_400)]
# Not an enum of its own: whether the key has them is checked where the key is known.
_Scope = Annotated[str, Meta(extra_json_schema={"enum": sorted(SCOPES)})]
SessionScopes = Annotated[list[_Scope], Meta(min_length=1, max_length=len(SCOPES))]


class ConsoleSessionCreate(Body, frozen=True, kw_only=True):
    expires_in: SessionSeconds = 3_600
    scopes: SessionScopes | None = None


class ConsoleSession(Resource, kw_only=True):
    """A link into the console. It works once, within ten minutes."""

    object: Literal["console_session"] = "console_session"
    url: str
    expires_at: Instant


class OwnConsoleSession(Resource, kw_only=True):
    """A link into the console. It works once, within ten minutes."""

    object: Literal["console_session"] = "console_session"
    url: str | None
    expires_at: Instant


class SignIn(Body, frozen=True, kw_only=True):
    """What the page exchanges for its cookie: a link's token, or an operator's or staff token."""

    token: Annotated[str, Meta(max_length=1_000)]


class SignedIn(Resource, kw_only=True):
    object: Literal["console_session"] = "console_session"
    expires_at: Instant


class OperatorSignedIn(SignedIn, kw_only=True):
    object: Literal["operator_session"] = "operator_session"  # type: ignore[assignment]
    role: Literal["staff", "manager", "operator"]
    studio_id: str | None
