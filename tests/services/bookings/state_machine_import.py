"""The import as one more actor of the stateful runs: seats, waiters, capacities and cancellations by line."""

from collections import Counter
from typing import Any, ClassVar

from tests.services.bookings.reference_model import Studio
from tests.services.bookings.studio_client import StudioClient
from tests.services.bookings.test_import import a_booking, an_entry


class ImportActs:
    """A line leads to the same promotions as any other change, but to no event."""

    client: StudioClient
    model: Studio
    members: list[str]
    classes: list[str]
    bookings: list[str]
    entries: list[str]
    requests: list[Any]
    # This step has changed something without an event, after the events that it did tell.
    untold: bool = False
    steps: ClassVar[Counter[str]]

    def wait(self, work: Any) -> Any:
        raise NotImplementedError

    def load(self, taken: bool, *lines: Any) -> None:
        self.untold = True
        report = self.wait(self.client.import_lines(*lines))
        assert len(report["rejected"]) == (0 if taken else len(lines)), report

    def import_seat(self, c: int, p: int, _: bool) -> None:
        """An import may seat anybody: neither capacity nor eligibility is checked."""
        c, p = c % len(self.classes), p % len(self.members)
        line = a_booking(self.classes[c], self.members[p])
        taken = self.model.import_seat(c, p)
        self.load(taken, line)
        self.steps["import seat" if taken else "import refused"] += 1
        if taken:
            self.bookings.append(str(line["id"]))

    def import_waiter(self, c: int, p: int, _: bool) -> None:
        c, position, p = c % len(self.classes), 1 + p // 100 % 4, p % len(self.members)
        if self.model.courses[c].started:
            return
        member, class_id = self.members[p], self.classes[c]
        lines = [
            a_booking(class_id, member, status="waitlisted", waitlist_position=position),
            an_entry(class_id, member, position),
        ]
        taken = self.model.import_waiter(c, p, position)
        self.load(taken, *lines)
        self.steps["import waiter" if taken else "import refused"] += 1
        if taken:
            self.bookings.append(str(lines[0]["id"]))
            self.entries.append(str(lines[1]["id"]))

    def import_cancellation(self, n: int, *_: Any) -> None:
        live = [k for k, b in enumerate(self.model.bookings) if b.status in ("confirmed", "waitlisted")]
        if not live:
            return
        chosen = live[n % len(live)]
        shown = self.wait(self.client.get_ok(f"/bookings/{self.bookings[chosen]}"))
        self.load(True, shown | {"status": "cancelled"})
        self.steps["import cancellation"] += 1
        self.model.import_cancellation(chosen)

    def import_class(self, c: int, seats: int, cancel: bool) -> None:
        """The class as GET shows it, with another capacity. Late in a run it may also be cancelled."""
        c, capacity = c % len(self.classes), seats % 5
        shown = self.wait(self.client.get_ok(f"/classes/{self.classes[c]}"))
        changes: dict[str, Any] = {"capacity": capacity}
        if cancel and seats % 4 == 0 and len(self.requests) >= 10:
            changes["status"] = "cancelled"
        self.load(True, shown | changes)
        self.steps["import " + " and ".join(changes)] += 1
        self.model.import_class(c, capacity, cancelled="status" in changes)
