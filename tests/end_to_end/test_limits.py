"""Limits beyond the schemas hold through the gateway: the last one passes, the next is refused."""

from typing import Any

from services.forms.rules.field_checks import MAX_TEXT_LENGTH
from services.forms.rules.json_limits import MAX_METADATA_BYTES
from services.forms.wire.forms import MAX_FIELDS
from shared.http.routes import MAX_KEY_LENGTH, MIN_KEY_LENGTH
from shared.wire import new_id
from tests.harness.http import Client


async def test_the_last_allowed_passes_and_the_next_is_refused(partner: Client) -> None:
    """Form fields, metadata, answers, and an idempotency key in a path."""

    def form(count: int) -> dict[str, Any]:
        fields = [{"key": f"k{n}", "label": "l", "type": "text"} for n in range(count)]
        return {"title": new_id(), "status": "published", "fields": fields}

    def lead(size: int) -> dict[str, Any]:
        return {"email": f"{new_id()}@b.example", "metadata": {"k": "x" * (size - len('{"k":""}'))}}

    made = (await partner.post("/forms", form(1))).json()

    def response(size: int) -> dict[str, Any]:
        return {"submitter_email": "a@b.example", "data": {"k0": "x" * size}}

    for path, body, most in (
        ("/forms", form, MAX_FIELDS),
        ("/leads", lead, MAX_METADATA_BYTES),
        (f"/forms/{made['id']}/submissions", response, MAX_TEXT_LENGTH),
    ):
        assert (await partner.post(path, body(most))).status == 201, path
        assert (await partner.post(path, body(most + 1))).status == 422, path
    for length, status in ((MIN_KEY_LENGTH, 404), (MAX_KEY_LENGTH, 404)):
        assert (await partner.get(f"/idempotency-keys/{'k' * length}")).status == status
    for length in (MIN_KEY_LENGTH - 1, MAX_KEY_LENGTH + 1):
        assert (await partner.get(f"/idempotency-keys/{'k' * length}")).status == 422
