"""Is there an order, consistent with real time, in which the model would give the same answers?

Wing and Gong's search: of the calls not yet placed, any that began before the first of them ended may come
next. States that were reached before with the same calls placed are not searched again.
"""

import pickle
from dataclasses import dataclass, field
from typing import Any

from tests.services.bookings.reference_model import Studio


@dataclass
class Call:
    """One call on one class: `result` is its response in the model's words, `made` a new booking's id."""

    kind: str
    args: tuple[Any, ...]
    began: float
    ended: float
    result: Any
    made: str | None = None


@dataclass
class State:
    studio: Studio
    ids: dict[str, int] = field(default_factory=dict)

    def key(self) -> str:
        return repr(
            (self.studio.bookings, self.studio.entries, self.studio.courses, sorted(self.ids.items()))
        )

    def response(self, call: Call) -> Any:
        """Applies the call to the model and returns its response. None if the call is not possible yet."""
        studio, args = self.studio, call.args
        if call.kind == "book":
            outcome, detail = studio.book(0, args[0], join=args[1])
            if call.made is not None and outcome in ("confirmed", "waitlisted"):
                self.ids[call.made] = len(studio.bookings) - 1
            return outcome, detail if outcome == "waitlisted" else None
        if call.kind == "cancel":
            return studio.cancel(self.ids[args[0]])[0] if args[0] in self.ids else None
        if call.kind == "capacity":
            studio.set_capacity(0, args[0])
            return len(studio.seated(0))
        if call.kind == "read_class":
            return len(studio.seated(0))
        assert call.kind == "read_waitlist"
        queue = [studio.entries[n] for n in studio.queue(0)]
        return [(studio.bookings[entry.booking].person, entry.position) for entry in queue]


def is_linearizable(studio: Studio, history: list[Call]) -> bool:
    calls = sorted(history, key=lambda call: call.began)
    seen: set[tuple[frozenset[int], str]] = set()

    def search(left: frozenset[int], state: State) -> bool:
        if not left:
            return True
        key = (left, state.key())
        if key in seen:
            return False
        seen.add(key)
        frozen = pickle.dumps(state)
        first_end = min(calls[n].ended for n in left)
        for n in sorted(left):
            if calls[n].began > first_end:
                break
            trial: State = pickle.loads(frozen)
            if trial.response(calls[n]) == calls[n].result and search(left - {n}, trial):
                return True
        return False

    return search(frozenset(range(len(calls))), State(pickle.loads(pickle.dumps(studio))))
