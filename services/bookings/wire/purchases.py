"""Purchases: read-only for partners, written by staff and by imports."""

from enum import StrEnum
from typing import Annotated, Literal

from msgspec import Meta

from services.bookings.wire.field_types import Currency, Money
from shared.wire import Body, Id, Instant, PageQuery, Resource


class PurchaseStatus(StrEnum):
    PENDING = "pending"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"
    PARTIALLY_REFUNDED = "partially_refunded"
    REFUNDED = "refunded"


class Purchase(Resource, kw_only=True):
    id: Id
    object: Literal["purchase"] = "purchase"
    member_id: Id
    product_id: Id | None
    product_key: str
    product_type: str
    quantity: int
    amount_total: Money | None
    currency: str | None
    refunded_amount: Money | None
    status: PurchaseStatus | None
    created_at: Instant


class PurchasesQuery(PageQuery, frozen=True, kw_only=True):
    member_id: Id | None = None


class PurchaseCreate(Body, frozen=True, kw_only=True):
    """A completed purchase grants quantity × the product's credits, once."""

    id: Id | None = None
    member_id: Id
    product_id: Id
    quantity: Annotated[int, Meta(ge=1, le=1000)] = 1
    amount_total: Money | None = None
    currency: Currency | None = None
    status: PurchaseStatus = PurchaseStatus.COMPLETED
    location_id: Id | None = None
