"""What type checkers know about the client. It is checked by mypy and pyright, and never run."""

from datetime import datetime
from decimal import Decimal
from typing import assert_type

from studio_partner import AsyncClient, Client, Page, Unknown, UnknownEvent, webhooks
from studio_partner.events import BookingCreated, ClassUpdated, LeadErased
from studio_partner.models import Booking, BookingStatus, Class, ClassReference, FormField


def blocking(client: Client) -> None:
    booking = client.create_booking(class_id="c", member_id="m", idempotency_key="a-key-of-mine")
    assert_type(booking, Booking)
    assert_type(booking.status, BookingStatus | Unknown)
    assert_type(booking.created_at, datetime | None)
    assert_type(client.list_bookings(status="confirmed"), Page[Booking])
    for lesson in client.iter_classes(status=Unknown("newer than this package")):
        assert_type(lesson, Class)
    assert_type(client.cancel_booking("b", max_late_fee="5.00").late_fee_amount, Decimal | None)
    assert_type(client.create_webhook_endpoint(url="https://example.com").secret, str)
    question: FormField = {"key": "goal", "label": "Your goal", "type": "text"}
    client.update_form("f", fields=[question, *client.get_form("f").fields])
    client.list_bookings(status="no_such_status")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    client.create_booking(class_id="c")  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]


async def with_asyncio(client: AsyncClient) -> None:
    assert_type(await client.get_booking("b"), Booking)
    async for event in client.events.follow(0):
        if isinstance(event, UnknownEvent):
            assert_type(event.sequence, int)
        elif event.type == "booking.created":
            assert_type(event, BookingCreated)
        elif isinstance(event, ClassUpdated):
            assert_type(event.data.object, Class | ClassReference)


def received(body: bytes) -> str:
    match webhooks.verify(body, {}, "whsec_"):
        case BookingCreated(data=data):
            return assert_type(data.object.id, str)
        case LeadErased() as erased:
            return erased.resource.id
        case UnknownEvent() as unknown:
            return str(unknown)
        case other:
            return other.type
