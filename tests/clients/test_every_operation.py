"""Every operation of the document through every client, against the running system, from one table."""

import pytest

from clients.generate.document import read_document
from tests.clients.cases import run_cases, table
from tests.clients.conftest import CLIENTS, RUNTIMES, Drive
from tests.harness.system import System


def test_the_table_calls_every_operation() -> None:
    """A new operation fails here until the table has a case for it that is not a refusal."""
    good = {case["call"] for case in table()["cases"] if "error" not in case}
    assert {one.id for one in read_document().operations} - good == set()


@pytest.mark.parametrize("drive", [*CLIENTS, *RUNTIMES], indirect=True)
async def test_every_operation_does_what_the_table_says(system: System, drive: Drive) -> None:
    """The results have the fields that the API sends; refusals are the exceptions of their codes."""
    await system.import_lines(table()["import"])
    async with drive(f"{system.running.partner_url}/partner/v1", await system.key()) as driver:
        assert await run_cases(driver) == []
