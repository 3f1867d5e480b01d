"""Which worker runs which tests. A file stays on one worker, and the slowest files start first.

With half a file on each worker, both start what its tests share. A slow file that starts last leaves the
other worker idle for minutes.
"""

from pathlib import PurePosixPath
from typing import Any

import pytest
from xdist.scheduler import LoadScopeScheduling  # type: ignore[import-untyped]

# These share five processes or a broker; those share a client that is built and installed.
END_TO_END, CLIENTS = "tests/end_to_end", "tests/clients"
SHARED = {END_TO_END: END_TO_END, "tests/shared/events/bus": END_TO_END}
SHARED |= dict.fromkeys((CLIENTS, f"{CLIENTS}/python", f"{CLIENTS}/typescript"), CLIENTS)
# They have their own.
ALONE = frozenset(f"{END_TO_END}/test_{name}.py" for name in ("nothing_is_lost", "readme"))
# In this order: those of more than 15 seconds. All others follow, those with the most tests first.
SLOWEST = (
    END_TO_END,
    "tests/services/bookings/test_stateful.py",
    "tests/end_to_end/test_nothing_is_lost.py",
    "tests/services/gateway/reference/test_reference.py",
    "tests/services/gateway/console/test_desk.py",
    "tests/services/gateway/console/test_operator_pages.py",
    "tests/services/gateway/console/test_accessibility.py",
    "tests/services/gateway/console/test_partner_chain.py",
    "tests/chaos/test_short_form.py",
    "tests/services/gateway/console/test_live_views.py",
    CLIENTS,
    "tests/services/gateway/console/test_desk_network.py",
    "tests/services/cli/test_code_samples.py",
    "tests/services/gateway/test_path_spellings.py",
    "tests/openapi/test_generated_clients.py",
    "tests/services/gateway/reference/test_try_it.py",
    "tests/services/cli/test_up.py",
    "tests/end_to_end/test_readme.py",
    "tests/services/gateway/test_two_processes.py",
)


def unit_of(nodeid: str) -> str:
    """The tests that stay on one worker: a file, or the files that share what takes long to start."""
    file = nodeid.partition("::")[0]
    folder = PurePosixPath(file).parent.as_posix()
    return file if file in ALONE else SHARED.get(folder, file)


def place_of(unit: str) -> int:
    return SLOWEST.index(unit) if unit in SLOWEST else len(SLOWEST)


class SlowestFirst(LoadScopeScheduling):  # type: ignore[misc]
    def _split_scope(self, nodeid: str) -> str:
        return unit_of(nodeid)

    def _assign_work_unit(self, node: Any) -> None:
        # The queue is sorted by the number of tests already.
        self.workqueue.move_to_end(min(self.workqueue, key=place_of), last=False)
        super()._assign_work_unit(node)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> SlowestFirst:
    return SlowestFirst(config, log)
