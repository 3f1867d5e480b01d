"""The samples in the reference: every one runs as copied against a fresh system with the demo studio."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import asyncpg
import pytest
from msgspec import Struct

from services.cli.openapi.document import OPERATOR_ORIGIN, ORIGIN, document, operator_document
from services.cli.secrets import with_secrets
from shared.settings import Settings
from tests.clients.typescript.node_programs import NotHere
from tests.harness.databases import Template
from tests.harness.run_samples import run_curl, run_javascript, run_python
from tests.harness.system import environment_for, studioctl_up

LANGUAGES = {"curl": run_curl, "Python": run_python, "JavaScript": run_javascript}


Operations = dict[str, dict[str, Any]]


def operations(document: dict[str, Any]) -> Operations:
    """In the document's order, except that reads come first and what ends something comes last."""

    def turn(pair: tuple[str, dict[str, Any]]) -> int:
        method, operation = pair
        if method == "get":
            return 0
        ends = operation["operationId"].startswith(("cancel_", "revoke_", "erase_"))
        return 2 if method == "delete" or ends else 1

    found = [
        (method, operation) for methods in document["paths"].values() for method, operation in methods.items()
    ]
    return {one["operationId"]: one for _, one in sorted(found, key=turn)}


PARTNERS = operations(document())
OPERATORS = operations(operator_document())
# The demo's fixed classes are in the future, so nobody has missed one or cancelled late yet. It is imported,
# which brings no holds.
REFUSED = {"no_show_booking": "409", "waive_fee": "409", "confirm_booking": "409"}


def samples(known: Operations, label: str) -> dict[str, str]:
    return {
        name: sample["source"]
        for name, operation in known.items()
        for sample in operation["x-codeSamples"]
        if sample["label"] == label
    }


class Demo(Struct):
    origin: str
    key: str
    operator_origin: str
    operator_token: str
    database_url: str


@pytest.fixture(scope="module")
def demo(migrated_template: Template, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Demo]:
    """`studioctl up` on its first start."""
    home = tmp_path_factory.mktemp("home")
    with migrated_template.copy_for_session() as database_url:
        environment = environment_for(home, STUDIO_DATABASE_URL=database_url)
        with studioctl_up(environment, home / "up.log") as (process, *ports):
            process.wait_for_text("Three calls to try")
            key = json.loads((home / "demo_key.json").read_text())["key"]
            token = with_secrets(Settings(home=home), make=False).operator_tokens[0]
            origin, operator_origin = (f"http://127.0.0.1:{port}" for port in ports)
            yield Demo(origin, key, operator_origin, token, database_url)


# Undoes what the samples of one language changed: a fresh start for each language takes too long.
PUT_BACK = """
DELETE FROM bookings.bookings b USING bookings.members m
    WHERE m.id = b.member_id AND m.email = 'mia.lund@example.com';
DELETE FROM bookings.members WHERE email = 'mia.lund@example.com';
DELETE FROM bookings.members WHERE email = 'sam.keller@example.com';
DELETE FROM forms.form_submissions WHERE submitter_email = 'jules.donovan@example.com';
UPDATE forms.forms SET slug = id::text WHERE slug = 'workshop-feedback';
UPDATE webhooks.recoveries SET status = 'done';
UPDATE webhooks.endpoints SET deleted_at = NULL, status = 'enabled';
UPDATE bookings.bookings b SET class_id = r.from_class_id, class_spot_id = NULL
    FROM bookings.reschedules r WHERE r.booking_id = b.id;
DELETE FROM bookings.reschedules;
DELETE FROM bookings.cancellations;
UPDATE bookings.bookings SET status = 'confirmed' WHERE status = 'cancelled' AND class_spot_id IS NOT NULL;
UPDATE bookings.waitlist w SET status = 'waiting', position = n.place
    FROM (SELECT id, row_number() OVER (PARTITION BY class_id ORDER BY id) AS place FROM bookings.waitlist) n
    WHERE n.id = w.id;
UPDATE bookings.bookings b SET status = 'waitlisted' FROM bookings.waitlist w WHERE w.booking_id = b.id;
UPDATE bookings.classes c SET status = 'scheduled', booked_count = (
        SELECT count(*) FROM bookings.bookings b WHERE b.class_id = c.id AND b.status = 'confirmed'),
    waitlist_count = (SELECT count(*) FROM bookings.waitlist w WHERE w.class_id = c.id);
UPDATE bookings.memberships SET status = 'active', pause = NULL, cancellation = NULL
    WHERE pause ->> 'resumes_at' LIKE '2036%' OR cancellation ->> 'reason' LIKE 'Moved%';
UPDATE forms.form_submissions SET status = 'pending';
UPDATE gateway.studios SET slug = id::text WHERE slug = 'riverside';
UPDATE catalog.studios SET slug = id::text WHERE slug = 'riverside';
UPDATE gateway.keys SET revoked_at = NULL, expires_at = NULL WHERE name = 'Website';
"""


async def put_back(database_url: str) -> None:
    connection = await asyncpg.connect(database_url)
    await connection.execute(PUT_BACK)
    await connection.close()


@pytest.mark.timeout(240)
@pytest.mark.parametrize("known", [PARTNERS, OPERATORS], ids=["partners", "operators"])
@pytest.mark.parametrize("language", LANGUAGES)
async def test_every_sample_runs_as_copied(
    demo: Demo, language: str, known: Operations, tmp_path: Path
) -> None:
    """Only the origin is replaced, as the page does; the response has the status that the document names."""
    await put_back(demo.database_url)
    printed = samples(known, language)
    assert list(printed) == list(known)
    shown = {
        name: source.replace(ORIGIN, demo.origin).replace(OPERATOR_ORIGIN, demo.operator_origin)
        for name, source in printed.items()
    }
    environment = {"STUDIO_KEY": demo.key, "STUDIO_OPERATOR_TOKEN": demo.operator_token}
    try:
        answered = LANGUAGES[language](shown, tmp_path, environment)
    except NotHere as reason:
        pytest.skip(str(reason))
    wanted = {
        name: next(int(status) for status in operation["responses"] if status.startswith("2"))
        for name, operation in known.items()
    }
    for name in REFUSED.keys() & known.keys():
        assert REFUSED[name] in str(answered.pop(name)), name
        assert REFUSED[name] in known[name]["responses"], name
        del wanted[name]
    assert {name: answered.get(name) for name in wanted if answered.get(name) != wanted[name]} == {}


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_sample_holds_no_key(language: str) -> None:
    """The key comes from the environment."""
    for known, variable in ((PARTNERS, "STUDIO_KEY"), (OPERATORS, "STUDIO_OPERATOR_TOKEN")):
        for name, source in samples(known, language).items():
            assert variable in source, name
            assert not any(head in source for head in ("spk_", "stf_", "opt_", "stk_")), name
