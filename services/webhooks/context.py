"""What every route and action of the webhooks service needs."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct, field

from services.webhooks.followers import Followers
from services.webhooks.rules.signing import SecretCipher
from services.webhooks.rules.urls import UrlPolicy
from services.webhooks.store.attempts import Claimed
from shared.background import Wakeup
from shared.db.database import Database
from shared.events.bus import Bus

if TYPE_CHECKING:
    from services.webhooks.dispatcher.dispatcher import Dispatcher


class Dispatching:
    """The dispatcher of this process, to which the event log hands the lanes that it has claimed, if any."""

    dispatcher: "Dispatcher | None" = None

    def has_room(self, studio_ids: Sequence[str]) -> bool:
        return self.dispatcher is not None and self.dispatcher.has_room(studio_ids)

    def start(self, claimed: Sequence[Claimed]) -> None:
        if self.dispatcher is not None:
            self.dispatcher.start(claimed)


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
    dispatching: Dispatching = field(default_factory=Dispatching)
