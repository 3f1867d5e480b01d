"""The import lines of this service: the resource plus the columns that the API does not show."""

from decimal import Decimal
from typing import Annotated, Any, Literal, TypeAlias

from msgspec import UNSET, Meta, Struct

from shared.wire import Id, Instant

Name = Annotated[str, Meta(min_length=1, max_length=500)]
Currency = Annotated[str, Meta(pattern=r"^[A-Z]{3}(?![\s\S])")]


class Imported(Struct, kw_only=True, forbid_unknown_fields=True, tag_field="object"):
    """Unknown fields are rejected, to report misspelt ones. `created_at` sets the row's place in lists."""

    id: Id
    studio_id: Id | None = None
    created_at: Instant | None = None
    # A new row takes it over. It never decreases.
    version: Annotated[int, Meta(ge=1, le=2_000_000_000)] | None = None


class ImportedStudio(Imported, kw_only=True, tag="studio"):
    name: Name
    slug: str | None = None
    timezone: str | None = None
    logo_url: str | None = None
    primary_color: str | None = None
    test: bool = False
    # The bookings service owns the cancellation policy and gets the same line.
    late_window_minutes: Any = UNSET
    late_fee_amount: Any = UNSET
    late_fee_currency: Any = UNSET
    forfeit_credit: Any = UNSET


class ImportedLocation(Imported, kw_only=True, tag="location"):
    name: Name
    city: str = ""
    state: str = ""
    timezone: str
    active: bool = True
    is_primary: bool = False


class ImportedRoom(Imported, kw_only=True, tag="room"):
    location_id: Id
    name: Name
    capacity: Annotated[int, Meta(ge=0, le=2_000_000_000)]
    active: bool = True


class ImportedClassType(Imported, kw_only=True, tag="class_type"):
    name: Name
    description: str | None = None
    beginner_safe: bool | None = None
    recovery: bool | None = None


class ImportedInstructor(Imported, kw_only=True, tag="instructor"):
    name: Name
    tagline: str = ""
    tags: list[str] = []
    active: bool = True


class ImportedPrice(Struct, kw_only=True, forbid_unknown_fields=True):
    id: Id
    object: Literal["price"] = "price"
    amount: Decimal
    currency: Currency
    price_type: Name = "one_time"
    interval: str = ""
    default: bool = False
    active: bool = True


class ImportedProduct(Imported, kw_only=True, tag="product"):
    key: Name
    name: Name
    product_type: Name
    active: bool = True
    client_visible: bool = True
    credits_granted: Annotated[int, Meta(ge=0, le=2_000_000_000)] | None = None
    prices: list[ImportedPrice] = []


class Referring(Struct, kw_only=True, tag_field="object"):
    """A line of the bookings service, which checks the rest. This service has what it refers to."""

    id: Id


class ReferringClass(Referring, kw_only=True, tag="class"):
    class_type_id: Id | None = None
    location_id: Id | None = None
    room_id: Id | None = None
    instructor_id: Id | None = None


class ReferringMembership(Referring, kw_only=True, tag="membership"):
    product_id: Id


class ReferringPurchase(Referring, kw_only=True, tag="purchase"):
    product_id: Id | None = None
    location_id: Id | None = None


AnyImported: TypeAlias = (
    ImportedStudio
    | ImportedLocation
    | ImportedRoom
    | ImportedClassType
    | ImportedInstructor
    | ImportedProduct
    | ReferringClass
    | ReferringMembership
    | ReferringPurchase
)
