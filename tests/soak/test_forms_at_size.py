"""Forms and leads at size: a million rows and long races."""

import asyncio
import time
from functools import partial

import asyncpg
import pytest

from tests.services.forms.conftest import studio
from tests.services.forms.studio_client import StudioClient
from tests.soak.medians import medians_ms

__all__ = ["studio"]

ROWS = 1_000_000

LEADS = """
INSERT INTO forms.leads (studio_id, id, email, status, lifecycle_stage, created_at)
SELECT $1, gen_random_uuid(), 'p' || n || '@example.com', 'new', 'lead',
    '2020-01-01Z'::timestamptz + n * interval '1 s'
FROM generate_series(1, $2::int) AS n
"""
SUBMISSIONS = """
INSERT INTO forms.form_submissions
    (studio_id, id, form_id, form_version, submitter_email, data, consents, status, created_at)
SELECT $1, gen_random_uuid(), $3, 1, 'p' || n || '@example.com', '{}', '[]', 'pending',
    '2020-01-01Z'::timestamptz + n * interval '1 s'
FROM generate_series(1, $2::int) AS n
"""
FIRST_ROW = "SELECT id FROM forms.{table} WHERE studio_id = $1 ORDER BY created_at LIMIT 1"
NEAR_THE_END = "SELECT id FROM forms.{table} WHERE studio_id = $1 ORDER BY created_at DESC OFFSET 60 LIMIT 1"


@pytest.mark.timeout(900)
async def test_a_page_costs_the_same_at_the_millionth_row(studio: StudioClient, database_url: str) -> None:
    """Leads and submissions: the median of the last page within 1.2 times that of the first."""
    form = await studio.form()
    admin = await asyncpg.connect(database_url)
    await admin.execute(LEADS, studio.id, ROWS)
    await admin.execute(SUBMISSIONS, studio.id, ROWS, form["id"])
    for table, path in (("leads", "/leads"), ("form_submissions", f"/forms/{form['id']}/submissions")):
        early = await admin.fetchval(FIRST_ROW.format(table=table), studio.id)
        late = await admin.fetchval(NEAR_THE_END.format(table=table), studio.id)
        reads = [partial(_read, studio, f"{path}?cursor={place}") for place in (early, late)]
        first, last = await medians_ms(*reads, rounds=300)
        print(f"\n{table} at row 1 {first:.2f} ms, at the last of {ROWS:,} {last:.2f} ms: {last / first:.2f}")
        assert last < first * 1.2
    await admin.close()
    limited = await studio.put(
        f"/forms/{form['id']}", {"settings": {"max_submissions": 10, "one_submission_per_email": True}}
    )
    assert limited.status == 200
    started = time.perf_counter()
    assert (await studio.submit(form, {}, "p777777@example.com")).code == "already_submitted"
    assert (await studio.submit(form, {}, "new@example.com")).code == "submission_limit_reached"
    print(
        f"two refusals of a form with {ROWS:,} submissions: {(time.perf_counter() - started) * 1000:.1f} ms"
    )


async def _read(studio: StudioClient, path: str) -> None:
    assert (await studio.get(path)).status == 200


@pytest.mark.timeout(900)
async def test_two_hundred_rounds_of_the_lead_race_make_two_hundred_leads(studio: StudioClient) -> None:
    """Fifty creations at once, two hundred times: one `created` and one `lead.created` each time."""
    for number in range(200):
        body = {"email": f"Round{number}@example.com", "metadata": {"n": number}}
        replies = await asyncio.gather(*(studio.post("/leads", body) for _ in range(50)))
        assert [reply.json["created"] for reply in replies].count(True) == 1
    last = (await studio.post("/leads", {"email": "last@example.com"})).json
    events = await studio.recorder.first(201)
    assert {event["type"] for event in events} == {"lead.created"}
    assert len({event["resource"]["id"] for event in events}) == 201
    assert events[-1]["resource"]["id"] == last["id"]
