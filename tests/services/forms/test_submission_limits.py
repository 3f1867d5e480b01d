"""Settings that turn submissions away, and that they hold under a race."""

import asyncio
from datetime import UTC, datetime, timedelta

from msgspec import Raw

from services.forms.store import submissions
from services.forms.wire.submissions import FormSubmission, SubmissionStatus
from shared.http.caller import Caller
from shared.wire import new_id, now
from tests.services.forms.studio_client import StudioClient


async def test_settings_turn_submissions_away(studio: StudioClient) -> None:
    """409 `form_closed`, `submission_limit_reached`, `already_submitted`, before the answers are read."""
    closed = await studio.form(settings={"closes_at": (datetime.now(UTC) - timedelta(seconds=1)).isoformat()})
    open_ = await studio.form(settings={"closes_at": (datetime.now(UTC) + timedelta(hours=1)).isoformat()})
    assert (await studio.submit(closed, {"zzz": "y"})).code == "form_closed"
    assert (await studio.submit(open_, {})).status == 201
    full = await studio.form(settings={"max_submissions": 1})
    assert [(await studio.submit(full, {})).status for _ in range(2)] == [201, 409]
    assert (await studio.submit(full, {"zzz": "y"})).code == "submission_limit_reached"
    once = await studio.form(settings={"one_submission_per_email": True})
    first = await studio.submit(once, {}, "ann@example.com")
    again = await studio.submit(once, {}, "ANN@Example.com")
    assert again.code == "already_submitted"
    assert again.json["error"]["details"] == {"submission_id": first.json["id"]}
    assert (await studio.submit(once, {}, "bob@example.com")).status == 201


async def test_limits_hold_under_a_race(studio: StudioClient) -> None:
    """Sixty at once: exactly ten places are given; sixty at once with one email: exactly one."""
    ten = await studio.form(settings={"max_submissions": 10})
    replies = await asyncio.gather(*(studio.submit(ten, {}, f"p{n}@example.com") for n in range(60)))
    assert sorted(reply.status for reply in replies) == [201] * 10 + [409] * 50
    once = await studio.form(settings={"one_submission_per_email": True})
    replies = await asyncio.gather(*(studio.submit(once, {}, "ann@example.com") for _ in range(60)))
    assert sorted(reply.status for reply in replies) == [201] + [409] * 59


async def test_without_the_lock_the_same_race_breaks_the_limit(studio: StudioClient) -> None:
    """The positive control: counting and inserting without the form's row lock lets too many through."""

    form = await studio.form(settings={"max_submissions": 10})
    caller = Caller(studio_id=studio.id)

    async def count_then_insert(number: int) -> None:
        async with studio.service.context.db.transaction() as conn:
            if not await submissions.has_reached(conn, caller, form["id"], 10):
                row = FormSubmission(
                    id=new_id(),
                    form_id=form["id"],
                    submitter_email=f"p{number}@example.com",
                    data=Raw(b"{}"),
                    status=SubmissionStatus.PENDING,
                    created_at=now(),
                    submitter_name=None,
                    form_version=1,
                    consents=[],
                )
                await submissions.insert(conn, caller, row, None)

    await asyncio.gather(*(count_then_insert(number) for number in range(60)))
    assert len((await studio.get(f"/forms/{form['id']}/submissions?limit=200")).json["data"]) > 10
