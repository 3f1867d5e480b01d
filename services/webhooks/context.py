"""What a webhooks route works with."""

from msgspec import Struct

from services.webhooks.rules.urls import UrlPolicy
from services.webhooks.vault import Vault
from shared.bus import Bus
from shared.database import Database
from shared.outbox import Bell


class Webhooks(Struct, frozen=True):
    """`bell` wakes the dispatcher, `recovery_bell` the recoveries."""

    db: Database
    bus: Bus
    bell: Bell
    recovery_bell: Bell
    vault: Vault
    urls: UrlPolicy
