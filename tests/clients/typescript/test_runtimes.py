"""Other runtimes, where the machine has them: the same client, the same table of cases."""

import shutil

import pytest

from tests.clients.cases import run_cases, table
from tests.clients.drivers import driving
from tests.clients.typescript.node_programs import Node
from tests.harness.system import System

RUNTIMES = {"deno": ["run", "--allow-all"], "bun": ["run"]}


@pytest.mark.parametrize("runtime", RUNTIMES)
async def test_every_operation_works_in_other_runtimes(runtime: str, node: Node, system: System) -> None:
    found = shutil.which(runtime)
    if found is None:
        pytest.skip(f"There is no {runtime} in the PATH; `npm install {runtime}` brings one.")
    await system.import_lines(table()["import"])
    words = [found, *RUNTIMES[runtime], str(node.folder / "driver.mjs")]
    async with driving(words, f"{system.running.partner_url}/partner/v1", await system.key()) as driver:
        assert await run_cases(driver) == []
