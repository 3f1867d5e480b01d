"""The resources of this service, as partners see them."""

from decimal import Decimal
from typing import Annotated, Literal

from msgspec import Meta

from shared.wire import Id, PageQuery, Resource


class Studio(Resource, kw_only=True):
    id: Id
    object: Literal["studio"] = "studio"
    name: str
    slug: str | None
    timezone: str | None
    logo_url: str | None
    primary_color: str | None


class Location(Resource, kw_only=True):
    id: Id
    object: Literal["location"] = "location"
    name: str
    city: str
    state: str
    timezone: str
    active: bool
    is_primary: bool


class Room(Resource, kw_only=True):
    id: Id
    object: Literal["room"] = "room"
    location_id: Id
    name: str
    capacity: int
    active: bool


class RoomsQuery(PageQuery, frozen=True, kw_only=True):
    location_id: Annotated[Id | None, Meta(description="Only rooms of this location.")] = None


class ClassType(Resource, kw_only=True):
    id: Id
    object: Literal["class_type"] = "class_type"
    name: str
    description: str | None
    beginner_safe: bool | None
    recovery: bool | None


class Instructor(Resource, kw_only=True):
    """Holds no private staff data, so none can leak."""

    id: Id
    object: Literal["instructor"] = "instructor"
    name: str
    tagline: str
    tags: list[str]


class Price(Resource, kw_only=True):
    id: Id
    amount: Decimal
    currency: Annotated[str, Meta(description="ISO currency code.")]
    price_type: Annotated[str, Meta(description="`one_time` or `recurring`.")]
    interval: Annotated[str, Meta(description="Cadence of a recurring price; empty for a one-time price.")]
    default: bool
    active: bool


class Product(Resource, kw_only=True):
    id: Id
    object: Literal["product"] = "product"
    key: str
    name: str
    product_type: str
    active: bool
    client_visible: bool
    credits_granted: int | None
    prices: list[Price]


class ProductsQuery(PageQuery, frozen=True, kw_only=True):
    active: Annotated[bool, Meta(description="Only products with this value.")] = True
