"""What every route and action of the webhooks service needs."""

from datetime import datetime

from msgspec import Struct, field

from services.webhooks.rules.days import UNKNOWN
from services.webhooks.rules.urls import UrlPolicy
from services.webhooks.secret_cipher import SecretCipher
from services.webhooks.store.day_tables import DayTables
from shared.background import Wakeup
from shared.db.database import Database
from shared.events.bus import Bus


class KnownDays(Struct):
    """The log has partitions for events created before `until`, or later."""

    until: datetime = UNKNOWN
    tables: DayTables = field(default_factory=DayTables)


class Webhooks(Struct, frozen=True):
    """`wakeup` wakes the dispatcher, `relay_wakeup` the relay, `recovery_wakeup` the recoveries."""

    db: Database
    bus: Bus
    wakeup: Wakeup
    relay_wakeup: Wakeup
    recovery_wakeup: Wakeup
    cipher: SecretCipher
    urls: UrlPolicy
    days: KnownDays = field(default_factory=KnownDays)
