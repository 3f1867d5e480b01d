"""Which worker runs which tests. A file stays on one worker, and the slowest files start first.

With half a file on each worker, both start what its tests share. A slow file that starts last leaves the
other worker idle for minutes.
"""

from pathlib import PurePosixPath
from typing import Any

import pytest
from xdist.scheduler import LoadScopeScheduling  # type: ignore[import-untyped]

# The files here share five processes and a broker.
END_TO_END = "tests/end_to_end"
ALONE = frozenset(
    f"{END_TO_END}/test_{name}.py"
    for name in (
        "broker_users",
        "database_layouts",
        "nothing_is_lost",
        "readme",
        "rolling_restart",
        "seeing_inside",
        "starting",
    )
)
# In this order. All others follow, those with the most tests first.
SLOWEST = (
    "tests/chaos/test_short_form.py",
    END_TO_END,
    "tests/end_to_end/test_nothing_is_lost.py",
    "tests/services/cli/test_up.py",
    "tests/services/bookings/test_stateful.py",
    "tests/end_to_end/test_rolling_restart.py",
    "tests/end_to_end/test_broker_users.py",
    "tests/services/cli/test_up_on_a_terminal.py",
    "tests/shared/events/bus/test_rabbit_faults.py",
    "tests/services/bookings/test_killed_mid_write.py",
    "tests/services/gateway/test_bounded_work.py",
    "tests/services/gateway/console/test_accessibility.py",
    "tests/services/bookings/test_races.py",
    "tests/openapi/test_generated_clients.py",
    "tests/services/cli/test_studioctl_on_a_terminal.py",
    "tests/end_to_end/test_seeing_inside.py",
    "tests/end_to_end/test_database_layouts.py",
    "tests/shared/servers/test_postgres_users.py",
    "tests/end_to_end/test_starting.py",
    "tests/services/gateway/console/test_operator_pages.py",
    "tests/services/gateway/console/test_partner_console.py",
    "tests/services/gateway/reference/test_try_it.py",
    "tests/services/gateway/reference/test_reference.py",
    "tests/services/cli/test_desk.py",
    "tests/deploy/test_kubernetes.py",
    "tests/services/bookings/test_linearizability.py",
    "tests/docs/test_every_write_has_events.py",
)


def unit_of(nodeid: str) -> str:
    """The tests that stay on one worker: a file, or the files that share five processes."""
    file = nodeid.partition("::")[0]
    is_shared = PurePosixPath(file).parent.as_posix() == END_TO_END and file not in ALONE
    return END_TO_END if is_shared else file


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
