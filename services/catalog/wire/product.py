from decimal import Decimal
from typing import Annotated, Literal

from msgspec import Meta

from shared.wire import Id, PageQuery, Resource


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
