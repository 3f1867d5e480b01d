"""What every route and action of the webhooks service needs."""

from msgspec import Struct

from services.webhooks.followers import Followers
from services.webhooks.rules.signing import SecretCipher
from services.webhooks.rules.urls import UrlPolicy
from shared.background import Wakeup
from shared.db.database import Database
from shared.events.bus import Bus


class Webhooks(Struct, frozen=True):
    """`wakeup` wakes the dispatcher, `relay_wakeup` the relay, `recovery_wakeup` the recoveries."""

    db: Database
    bus: Bus
    wakeup: Wakeup
    relay_wakeup: Wakeup
    recovery_wakeup: Wakeup
    cipher: SecretCipher
    urls: UrlPolicy
    followers: Followers
