"""The README's code, as printed, with the package that is installed from its tarball."""

import asyncio
import re
import subprocess

from shared.servers.ports import free_port
from tests.clients.typescript.node_programs import PACKAGE, Node
from tests.harness.bookable_studio import bookable
from tests.harness.system import System

BLOCKS = re.compile(r"```js\n(.*?)```", re.DOTALL)
WANTED = {"booked: ", "received: webhook.test", "followed: "}


async def test_the_tour_runs_as_printed(node: Node, system: System) -> None:
    """Only the receiver's port differs, because others may run on this machine."""
    text = (PACKAGE / "README.md").read_text()
    program = "\n".join(BLOCKS.findall(text))
    assert program.count("3000") == 2
    (node.folder / "tour.mjs").write_text(program.replace("3000", str(free_port())))
    await system.import_lines(bookable().lines)
    environment = {"STUDIO_URL": f"{system.running.partner_url}/partner/v1", "STUDIO_KEY": await system.key()}
    tour = node.start("tour.mjs", **environment)
    try:
        said = await asyncio.to_thread(read_until, tour, WANTED)
    finally:
        tour.kill()
        tour.communicate()
    assert {one for one in WANTED if one in said} == WANTED, said
    assert "is confirmed" in said
    assert " free\n" in said, "the schedule"


def read_until(tour: subprocess.Popen[str], wanted: set[str]) -> str:
    """What it prints, until all of this was in it, or it ends."""
    said = ""
    assert tour.stdout is not None
    for line in tour.stdout:
        said += line
        if all(one in said for one in wanted):
            break
    return said
