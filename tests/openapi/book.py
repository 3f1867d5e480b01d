"""A booking with a client that openapi-python-client made: only the required fields."""

import json
import sys

from partner_client import AuthenticatedClient
from partner_client.api.bookings import create_booking, list_bookings
from partner_client.models import Booking, BookingList, PartnerBookingCreate


def main(base_url: str, key: str, class_id: str, member_id: str) -> None:
    client = AuthenticatedClient(base_url, key, prefix="", auth_header_name="X-Service-Key")
    body = PartnerBookingCreate(class_id=class_id, member_id=member_id)
    made = create_booking.sync(client=client, body=body, idempotency_key=f"python-{class_id}")
    assert isinstance(made, Booking), made
    listed = list_bookings.sync(client=client, member_id=member_id)
    assert isinstance(listed, BookingList), listed
    ids = [str(booking.id) for booking in listed.data]
    sys.stdout.write(json.dumps({"id": str(made.id), "status": made.status, "listed": ids}))


if __name__ == "__main__":
    main(*sys.argv[1:])
