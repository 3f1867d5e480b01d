"""The back end of a booking page: `python booking_page.py`, with STUDIO_URL, STUDIO_KEY, PORT and PUBLIC_URL.

GET /classes            what can be booked, from a copy in memory that follows the studio
POST /bookings          {class_id, email, first_name, last_name}, with an Idempotency-Key of the page: holds a
                        seat while the visitor pays; with join_waitlist it books, or waits in the queue
PUT /bookings/{id}      paid: the hold becomes a booking
DELETE /bookings/{id}   gives the seat back
POST /hooks             webhooks of the studio, at PUBLIC_URL/hooks
"""

import json
import os
import time
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import msgspec

from studio_partner import Client, Event, UnknownEvent, errors, webhooks
from studio_partner.events import BookingConfirmed, BookingExpired, ClassCancelled
from studio_partner.models import Booking, Class

PORT = int(os.environ.get("PORT", "3000"))
PUBLIC_URL = os.environ.get("PUBLIC_URL", f"http://127.0.0.1:{PORT}")
HOLD_SECONDS = 300
client = Client(os.environ["STUDIO_KEY"], base_url=os.environ["STUDIO_URL"])
classes: dict[str, Class] = {}


def mirror() -> None:
    """Lists what is coming, then follows: whatever happens to a class, it is read again."""
    while True:
        try:
            # First the position, then the list: what changes in between is told by an event after it.
            position = client.list_events(limit=1).latest_sequence
            listed = {one.id: one for one in client.iter_classes(starts_after=datetime.now(UTC))}
            for gone in classes.keys() - listed.keys():
                del classes[gone]
            classes.update(listed)
            for event in client.events.follow(position):
                if class_id := concerned(event):
                    refresh(class_id)
        except errors.StudioPartnerError as problem:  # ResyncNeeded, or an outage: from the beginning.
            print(f"mirror: {problem}", flush=True)
            time.sleep(1)


def concerned(event: Event) -> str | None:
    """The class of the event, or of a booking or a place on the waitlist that changes its counts."""
    if isinstance(event, UnknownEvent):
        return None
    resource = event.data.object
    return resource.id if resource.object == "class" else getattr(resource, "class_id", None)


def refresh(class_id: str) -> None:
    try:
        found = client.get_class(class_id)
    except errors.NotFoundError:
        classes.pop(class_id, None)
        return
    if found.status == "scheduled" and found.visible:
        classes[class_id] = found
    else:
        classes.pop(class_id, None)


def coming() -> list[dict[str, Any]]:
    shown = ("id", "title", "start_local", "available_count", "allow_waitlist")
    rows = [one for one in list(classes.values()) if one.start_time > datetime.now(UTC)]
    rows.sort(key=lambda one: one.start_time)
    return [{name: getattr(one, name) for name in shown} for one in rows]


def book(wish: dict[str, Any], key: str | None) -> Booking:
    known = client.list_members(email=wish["email"]).data
    names = {name: wish[name] for name in ("email", "first_name", "last_name")}
    member = known[0] if known else client.create_member(**names)
    waits = bool(wish.get("join_waitlist"))
    return client.create_booking(
        class_id=wish["class_id"],
        member_id=member.id,
        join_waitlist=waits,
        hold_seconds=None if waits else HOLD_SECONDS,
        idempotency_key=key,
    )


def received(event: Event) -> None:
    """Webhooks come at least once: what is done here twice must do no harm."""
    match event:
        case BookingConfirmed():
            print(f"tell {event.data.object.member_id}: a seat has become free, and it is yours", flush=True)
        case BookingExpired():
            print(f"tell {event.data.object.member_id}: the seat is not held any more", flush=True)
        case ClassCancelled():
            print(f"tell everybody: {event.data.object.title} is cancelled", flush=True)
        case _:
            pass


class Page(BaseHTTPRequestHandler):
    def respond(self) -> None:
        content = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        try:
            status, body = self.route(content)
        except (errors.WebhookVerificationError, ValueError, KeyError):
            status, body = 400, {"code": "bad_request"}
        except errors.ApiError as refused:
            # A refusal of the studio is the page's response, too: class_full, or that there are no credits.
            status, body = refused.status, {"code": refused.code, "details": refused.details}
        except errors.StudioPartnerError as problem:
            self.log_error("%s", problem)
            status, body = 502, {"code": "studio_unavailable"}
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(b"" if body is None else msgspec.json.encode(body, enc_hook=str))

    do_GET = do_POST = do_PUT = do_DELETE = respond

    def route(self, content: bytes) -> tuple[int, Any]:
        place, _, name = self.path.strip("/").partition("/")
        match self.command, place:
            case "GET", "classes":
                return 200, coming()
            case "POST", "bookings":
                return 201, book(json.loads(content), self.headers.get("Idempotency-Key"))
            case "PUT", "bookings":
                return 200, client.confirm_booking(name)
            case "DELETE", "bookings":
                return 200, client.cancel_booking(name, reason="on the page")
            case "POST", "hooks":
                received(webhooks.verify(content, self.headers, endpoint.secret))
                return 204, None
            case _:
                return 404, {"code": "not_found"}


if __name__ == "__main__":
    endpoint = client.create_webhook_endpoint(
        url=f"{PUBLIC_URL}/hooks", event_types=["booking.confirmed", "booking.expired", "class.cancelled"]
    )
    Thread(target=mirror, daemon=True).start()
    server = ThreadingHTTPServer(("127.0.0.1", PORT), Page)
    print(f"listening on {PORT}", flush=True)
    server.serve_forever()
