"""All groups, in the order in which they run."""

from tests.chaos.faults.broker import BROKER
from tests.chaos.faults.clock import CLOCK
from tests.chaos.faults.fault import Group
from tests.chaos.faults.kill import KILL
from tests.chaos.faults.network import NETWORK
from tests.chaos.faults.postgres import POSTGRES
from tests.chaos.faults.receivers import RECEIVERS
from tests.chaos.faults.several import SEVERAL
from tests.chaos.faults.stop import STOP
from tests.chaos.faults.vanished import VANISHED

GROUPS: tuple[Group, ...] = (
    KILL,
    STOP,
    NETWORK,
    VANISHED,
    POSTGRES,
    BROKER,
    RECEIVERS,
    SEVERAL,
    CLOCK,
)
# One round of each fits into a test, because their faults take only seconds.
SHORT: tuple[Group, ...] = (KILL, NETWORK, RECEIVERS)
