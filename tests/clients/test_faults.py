"""A network that cuts, delays and refuses: every write has its effect once, with no key given by hand."""

import asyncio

import pytest

from clients.generate.document import read_document
from tests.clients.conftest import Drive
from tests.clients.fault_proxy import AFTER, BEFORE, TIMEOUT, fault_proxy
from tests.clients.writes import check_each_once, write_through_faults
from tests.harness.system import System

# `make soak` makes 1,000.
WRITES = 5


@pytest.mark.timeout(180)
async def test_each_write_of_every_kind_has_its_effect_once(system: System, drive: Drive) -> None:
    """Half of the attempts are broken, in every way; each client retries under one key."""
    outcome = await write_through_faults(system, drive, WRITES)
    assert set(outcome.calls) == {one.id for one in read_document().operations if one.writes}
    assert set(outcome.proxy.faults) >= {*BEFORE, *AFTER} - {"delay"}
    await check_each_once(outcome)


@pytest.mark.parametrize("drive", ["python asyncio"], indirect=True)
async def test_with_a_new_key_for_each_attempt_a_form_is_submitted_twice(
    system: System, drive: Drive
) -> None:
    """The positive control: without one key for all attempts the same faults do harm."""
    issued = await system.issue()
    partner = system.partner(issued["key"])
    form = (await partner.create("/forms", {"title": "Intake", "status": "published"}))["id"]
    fields = {"submitter_email": "ada@example.com", "data": {}}
    async with (
        fault_proxy(system.running.partner_url, rate=0.9, new_keys=True) as proxy,
        drive(proxy.url, issued["key"], STUDIO_TIMEOUT=str(TIMEOUT)) as driver,
        asyncio.TaskGroup() as group,
    ):
        for _ in range(5):
            group.create_task(driver.call("create_submission", form, **fields))
    assert len(await partner.everything(f"/forms/{form}/submissions")) > 5
