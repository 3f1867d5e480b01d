"""What a 422 lists: broken JSON as a single problem, everything else at once; emails and phones."""

import json
from typing import Any

import pytest

from services.forms.rules.json_limits import MAX_METADATA_BYTES
from shared.phones import PHONE_PROBLEM
from shared.wire import new_id
from tests.harness.http import Client, Reply
from tests.harness.system import System
from tests.services.bookings.samples import a_studio


def problems(reply: Reply) -> set[tuple[str, str]]:
    assert (reply.status, reply.code) == (422, "validation_failed"), reply.body
    return {(".".join(map(str, problem["loc"])), problem["type"]) for problem in reply.json()["detail"]}


@pytest.mark.parametrize(
    ("path", "raw"),
    [
        ("/leads", b'{"email": 5,'),
        ("/members", b'{"first_name": 1, "unknown": 2'),
        ("/bookings", b'{"class_id": "x"} trailing'),
        ("/forms", b'{"title": "t", "fields": [{"key": "k", "label": "l", "type": "text", "own": tru}]}'),
        ("/webhook-endpoints", b'{"url": NaN}'),
    ],
)
async def test_broken_json_is_json_invalid_and_nothing_else(partner: Client, path: str, raw: bytes) -> None:
    """Even if a type is wrong before the JSON breaks, a header is missing, or the broken part is skipped."""
    assert problems(await partner.post(path, raw=raw)) == {("body", "json_invalid")}


async def test_every_problem_of_a_request_is_listed(partner: Client) -> None:
    """Path, query, header and body; structure and values."""
    member = {"email": "a@example", "last_name": 7, "phone": "no number", "extra": 1}
    assert problems(await partner.post("/members", member)) == {
        ("body.email", "value_error"),
        ("body.first_name", "missing"),
        ("body.last_name", "string_type"),
        ("body.phone", "phone_parsing"),
        ("body.extra", "extra_forbidden"),
    }
    lead = {"email": "nobody", "phone": "x", "status": "old", "metadata": {"form_submissions": 1}}
    assert problems(await partner.patch("/leads/x", lead)) == {
        ("path.lead_id", "uuid_parsing"),
        ("body.email", "value_error"),
        ("body.phone", "phone_parsing"),
        ("body.status", "enum"),
        ("body.metadata.form_submissions", "list_type"),
    }
    assert problems(await partner.post("/bookings", {"class_id": "x"})) == {
        ("header.idempotency-key", "missing"),
        ("body.class_id", "uuid_parsing"),
        ("body.member_id", "missing"),
    }
    assert problems(await partner.delete("/bookings/x", reason="r" * 501)) == {
        ("path.booking_id", "uuid_parsing"),
        ("query.reason", "string_too_long"),
        ("header.idempotency-key", "missing"),
    }
    responses = {"submitter_email": "nobody", "data": {"a": 1}, "submitter_name": 2}
    assert problems(await partner.post(f"/forms/{new_id()}/submissions", responses)) == {
        ("body.submitter_email", "value_error"),
        ("body.data.a", "string_type"),
        ("body.submitter_name", "string_type"),
    }
    form = {
        "fields": [{"key": "a", "label": "A", "type": "select"}],
        "settings": {"redirect_url": "http://x"},
    }
    assert problems(await partner.post("/forms", form)) == {
        ("body.title", "missing"),
        ("body.fields.0.options", "missing_options"),
        ("body.settings.redirect_url", "value_error"),
    }
    fields = [
        {"key": "a", "type": "text", "display_when": {"field_key": "b", "op": "eq"}},
        {"key": "c", "label": "C", "type": "number", "min": 3, "max": 1},
        {"key": "c", "label": "C", "type": "select", "options": "x"},
        7,
    ]
    settings = {"redirect_url": "http://x", "max_submissions": -1, "notification_emails": ["a@example"]}
    assert problems(await partner.post("/forms", {"title": 1, "fields": fields, "settings": settings})) == {
        ("body.title", "string_type"),
        ("body.fields.0.label", "missing"),
        ("body.fields.0.display_when.field_key", "unknown_controller"),
        ("body.fields.1.min", "min_over_max"),
        ("body.fields.2.key", "duplicate_key"),
        ("body.fields.2.options", "list_type"),
        ("body.fields.3", "object_type"),
        ("body.settings.redirect_url", "value_error"),
        ("body.settings.max_submissions", "too_small"),
        ("body.settings.notification_emails.0", "value_error"),
    }
    large = {"first_name": 1, "metadata": {"k": "x" * MAX_METADATA_BYTES}}
    assert problems(await partner.patch(f"/leads/{new_id()}", large)) == {
        ("body.first_name", "string_type"),
        ("body.metadata", "too_large"),
    }
    endpoint = {"url": "ftp://x.example", "rate_limit": 0}
    assert problems(await partner.post("/webhook-endpoints", endpoint)) == {
        ("body.url", "url_not_allowed"),
        ("body.rate_limit", "too_small"),
    }


@pytest.mark.parametrize("email", ["a@example", "test@test", "a@localhost"])
async def test_an_email_needs_a_dot_in_its_domain(partner: Client, email: str) -> None:
    """For leads, members and submitters, whatever the domain."""
    member = {"email": email, "first_name": "A", "last_name": "B"}
    assert problems(await partner.post("/members", member)) == {("body.email", "value_error")}
    assert problems(await partner.post("/leads", {"email": email})) == {("body.email", "value_error")}


PHONES = {
    "+44 20 7946 0018": True,
    "(212) 555-0100": True,
    "  ": True,
    "12": False,
    "call me": False,
    "+1": False,
}


async def test_phones_are_checked_alike_everywhere(system: System, partner: Client) -> None:
    """Leads, members and answers; numbers without a country code belong to the studio's country."""
    await system.import_lines([a_studio(system.studio_id) | {"timezone": "America/New_York"}])
    field = {"key": "tel", "label": "Phone", "type": "phone"}
    form = (await partner.post("/forms", {"title": "T", "status": "published", "fields": [field]})).json()
    lead = (await partner.post("/leads", {"email": f"{new_id()}@b.example"})).json()

    async def taken(phone: str) -> list[bool]:
        person: dict[str, Any] = {"email": f"{new_id()}@b.example", "first_name": "A", "last_name": "B"}
        replies = [
            await partner.post("/members", person | {"phone": phone}),
            await partner.patch(f"/leads/{lead['id']}", {"phone": phone}),
            await partner.post(
                f"/forms/{form['id']}/submissions",
                {"submitter_email": person["email"], "data": {"tel": phone}},
            ),
        ]
        assert {reply.status for reply in replies} <= {200, 201, 422}, [reply.body for reply in replies]
        return [reply.status != 422 for reply in replies]

    assert {phone: await taken(phone) for phone in PHONES} == {
        phone: [good] * 3 for phone, good in PHONES.items()
    }


async def test_imported_phones_are_checked_like_all_others(system: System) -> None:
    """By the country of the studio line in the same batch; a bad one is reported by its line and reason."""
    studio_id = new_id()
    people = [
        person | {"id": new_id(), "email": f"{new_id()}@b.example", "phone": phone, "studio_id": studio_id}
        for phone in PHONES
        for person in ({"object": "member", "first_name": "A", "last_name": "B"}, {"object": "lead"})
    ]
    studio = a_studio(studio_id) | {"timezone": "America/New_York", "slug": f"s-{studio_id}"}
    raw = "\n".join(json.dumps(line) for line in (*people, studio)).encode()
    report = await system.operator.post("/import", raw=raw)
    good = [is_good for is_good in PHONES.values() for _ in ("member", "lead")]
    rejected = report.json()["rejected"]
    assert sorted(bad["line"] for bad in rejected) == [n for n, is_good in enumerate(good, 1) if not is_good]
    assert {bad["reason"] for bad in rejected} == {f"phone: {PHONE_PROBLEM}"}
