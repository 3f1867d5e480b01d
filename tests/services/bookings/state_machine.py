"""Random operations on the service and on the reference model, compared after each one."""

import asyncio
from collections import Counter
from typing import Any, ClassVar

import hypothesis.strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from msgspec import structs

from services.bookings.actions.due_work import expire_waitlists
from services.bookings.actions.end_holds import end_holds
from services.bookings.context import Bookings
from shared.wire import new_id
from tests.services.bookings.reference_model import Studio
from tests.services.bookings.reference_moves import move
from tests.services.bookings.reference_resources import Booking, Course, Outcome, Person
from tests.services.bookings.samples import (
    a_class,
    a_member,
    a_membership,
    a_product,
    a_purchase,
    a_spot,
    a_studio,
    soon,
)
from tests.services.bookings.state_machine_checks import compare
from tests.services.bookings.state_machine_import import ImportActs
from tests.services.bookings.studio_client import Reply, StudioClient

MEMBERSHIPS = ("active", "active", "active", "paused", "past_due", None)
PICK = st.integers(0, 999)
RUN_OUT = "UPDATE bookings SET held_until = clock_timestamp() WHERE id = $1"
SHARES = {
    "hold": 5, "confirm": 4, "run_out": 3, "end_holds": 1,
    "join": 6, "book": 2, "cancel_a_wanted_seat": 4, "cancel": 2, "make_someone_ineligible": 3,
    "pause_or_resume": 1, "change_capacity": 2, "purchase": 1, "record_attendance": 2, "replay": 1, "move": 5,
    "end_class": 2, "import_seat": 2, "import_waiter": 3, "import_cancellation": 3, "import_class": 2,
}  # fmt: skip
ACTS = [act for act, share in SHARES.items() for _ in range(share)]


class StudioMachine(ImportActs, RuleBasedStateMachine):
    service: Bookings
    loop: asyncio.AbstractEventLoop
    steps: ClassVar[Counter[str]] = Counter()

    def wait(self, work: Any) -> Any:
        return self.loop.run_until_complete(work)

    @initialize(
        memberships=st.lists(
            st.tuples(st.sampled_from(MEMBERSHIPS), st.sampled_from((0, 0, 0, 1, 4)), st.booleans()),
            min_size=7,
            max_size=7,
        ),
        capacities=st.lists(st.integers(0, 2), min_size=4, max_size=4),
        waitlist_capacity=st.one_of(st.none(), st.integers(0, 2)),
        forfeit=st.booleans(),
    )
    def open_studio(
        self, memberships: list[Any], capacities: list[int], waitlist_capacity: int | None, forfeit: bool
    ) -> None:
        client = StudioClient.for_new_studio(self.service)
        self.client = StudioClient(self.service, structs.replace(client.caller, hold_share="1"))
        people = [
            Person(credits, membership, odd and membership is None)
            for membership, credits, odd in memberships
        ]
        courses = [
            Course(capacities[0], waitlist_capacity=2),
            Course(capacities[1], cost=2, waitlist_capacity=waitlist_capacity),
            Course(capacities[2], cost=1, late=True, spots=2),
            Course(capacities[3], late=True, allow_waitlist=False),
        ]
        self.model = Studio(people, courses, fee="15", forfeit=forfeit)
        self.members = [new_id() for _ in people]
        self.memberships = [new_id() for _ in people]
        self.classes = [new_id() for _ in courses]
        self.spots = [new_id() for _ in range(2)]
        self.bookings: list[str] = []
        self.entries: list[str] = []
        self.requests: list[tuple[Any, Reply]] = []
        self.versions: dict[str, int] = {}
        self.last_event = 0
        self.product = a_product(1)
        self.wait(self.client.import_all(*self.studio_lines()))

    def studio_lines(self) -> list[Any]:
        lines: list[Any] = [
            self.product,
            a_studio(
                self.client.caller.studio_id,
                late_fee_amount="15",
                late_fee_currency="USD",
                forfeit_credit=self.model.forfeit,
            ),
        ]
        for member_id, membership_id, person in zip(
            self.members, self.memberships, self.model.people, strict=True
        ):
            lines.append(a_member(id=member_id, suspended=person.suspended))
            if person.credits:
                lines.append(a_purchase(member_id, self.product, quantity=person.credits))
            if person.membership:
                lines.append(a_membership(member_id, id=membership_id, status=person.membership))
        for class_id, course in zip(self.classes, self.model.courses, strict=True):
            lines.append(
                a_class(
                    id=class_id,
                    capacity=course.capacity,
                    credit_cost=course.cost,
                    allow_waitlist=course.allow_waitlist,
                    waitlist_capacity=course.waitlist_capacity,
                    start_time=soon(hours=5) if course.late else soon(days=3),
                    spot_selection_mode="optional" if course.spots else None,
                )
            )
        spotted = self.classes[2]
        return lines + [a_spot(spotted, id=spot, order=n) for n, spot in enumerate(self.spots)]

    def do(self, *request: Any, **more: Any) -> Reply:
        """An idempotent request that may be repeated later."""
        key = new_id()
        reply: Reply = self.wait(self.client.call(*request, key=key, **more))
        self.requests.append(((request, {**more, "key": key}), reply))
        return reply

    def staff(self, method: str, path: str, body: Any = None) -> Reply:
        reply: Reply = self.wait(self.client.staff.call(method, f"/staff{path}", body))
        return reply

    @rule(act=st.sampled_from(ACTS), a=PICK, b=PICK, yes=st.booleans())
    def step(self, act: str, a: int, b: int, yes: bool) -> None:
        """One rule for all operations, so that every run mixes them in these shares."""
        getattr(self, act)(a, b, yes)

    def join(self, c: int, p: int, _: bool) -> None:
        self.book(c, p, True)

    def hold(self, c: int, p: int, again: bool) -> None:
        """`again`: by somebody who has held a seat of the class before."""
        before = [
            (one.held_in, one.person)
            for one in self.model.bookings
            if one.held_in is not None and one.shown in ("expired", "cancelled")
        ]
        if again and before:
            c, p = before[p % len(before)]
        self.book(c, p, False, hold_seconds=900)

    def book(self, c: int, p: int, join: bool, **hold: Any) -> None:
        c, p = c % len(self.classes), p % len(self.members)
        body = {"class_id": self.classes[c], "member_id": self.members[p], "join_waitlist": join, **hold}
        # Who is promoted in the place of a hold that has run out is known to the booking only.
        unclear = self.model.has_run_out(c) and bool(self.model.queue(c))
        preview = self.wait(self.client.call("POST", "/bookings/preview", body)).json
        reply = self.do("POST", "/bookings", body)
        outcome, detail = self.model.book(c, p, join=join, hold=bool(hold))
        self.steps[outcome] += 1
        if unclear:
            preview = {"outcome": outcome, "waitlist_position": detail, "code": outcome}
        if outcome in ("held", "confirmed", "waitlisted"):
            assert reply.status == 201, reply.body
            self.bookings.append(reply.json["id"])
            assert (reply.json["status"], reply.json["waitlist_position"]) == (outcome, detail)
            assert (preview["outcome"], preview["waitlist_position"]) == (outcome, detail)
            if outcome == "waitlisted":
                page = self.wait(
                    self.client.get_ok("/waitlist", class_id=self.classes[c], member_id=self.members[p])
                )
                self.entries.append(next(e["id"] for e in page["data"] if e["status"] == "waiting"))
            return
        assert (reply.status, reply.code, preview["code"]) == (409, outcome, outcome), (reply.body, preview)
        if hold and outcome == "member_not_eligible":
            assert reply.details == {"reasons": ["member_suspended"]}
            return
        self.check_details(outcome, detail, reply, self.model.courses[c], self.model.people[p])

    def pick_booking(self, n: int, *, live: bool) -> int:
        states = ("held", "confirmed", "waitlisted") if live else ()
        wanted = [n for n, held in enumerate(self.model.bookings) if held.status in states]
        return wanted[n % len(wanted)] if wanted else n % len(self.bookings)

    def cancel_a_wanted_seat(self, n: int, *_: Any) -> None:
        """Cancels a seat that someone is waiting for: promotions are where bugs are likely."""
        wanted = [
            held for c in range(len(self.classes)) if self.model.queue(c) for held in self.model.seated(c)
        ]
        if wanted:
            self.cancel_booking(wanted[n % len(wanted)])

    def make_someone_ineligible(self, n: int, *_: Any) -> None:
        """Pauses someone who waits for a class that costs credits, then frees a seat there."""
        waiting = [self.model.bookings[e.booking] for e in self.model.entries if e.status == "waiting"]
        costly = [held for held in waiting if self.model.courses[held.course].cost]
        eligible = [held for held in costly if self.model.people[held.person].membership == "active"]
        if eligible:
            held = eligible[n % len(eligible)]
            self.pause_or_resume(held.person)
            for seat in self.model.seated(held.course)[:1]:
                self.cancel_booking(seat)

    def check_details(self, outcome: str, detail: Any, reply: Reply, course: Course, person: Person) -> None:
        if outcome.startswith("already_"):
            assert reply.details == {"booking_id": self.bookings[detail]}
        if outcome == "class_not_bookable":
            assert reply.details == {"reason": detail}
        if outcome == "member_not_eligible":
            assert reply.details == {"reasons": self.model.why_not_eligible(course, person)}

    def cancel(self, n: int, _: int, live: bool) -> None:
        if self.bookings:
            self.cancel_booking(self.pick_booking(n, live=live))

    def cancel_booking(self, n: int) -> None:
        before: Booking = self.model.bookings[n]
        charged = before.charged
        reply = self.do("DELETE", f"/bookings/{self.bookings[n]}")
        outcome: Outcome = self.model.cancel(n)
        self.steps["cancel " + outcome[0]] += 1
        if outcome[0] in ("assessed", "none"):
            receipt = reply.json
            assert (receipt["late_fee_status"], receipt["credits_forfeited"]) == outcome
            assert receipt["credits_restored"] == charged - receipt["credits_forfeited"]
        else:
            assert (reply.status, reply.code) == (409, outcome[0])

    def confirm(self, n: int, _: int, anything: bool) -> None:
        """Mostly a hold, in time or too late."""
        holds = [k for k, booking in enumerate(self.model.bookings) if booking.only_held]
        if not self.bookings or not (holds or anything):
            return
        k = holds[n % len(holds)] if holds and (not anything or n % 3) else n % len(self.bookings)
        late = self.model.bookings[k].shown == "expired"
        reply = self.do("POST", f"/bookings/{self.bookings[k]}/confirm")
        outcome, _detail = self.model.confirm(k)
        self.steps[f"late confirm {outcome}" if late else f"confirm {outcome}"] += 1
        if outcome == "confirmed":
            assert (reply.status, reply.json["status"]) == (200, "confirmed"), reply.body
        else:
            assert (reply.status, reply.code) == (409, outcome), reply.body

    def run_out(self, n: int, *_: Any) -> None:
        """Time passes, and nobody writes anything."""
        holds = [n for c in range(len(self.classes)) for n in self.model.live_holds(c)]
        if holds:
            k = holds[n % len(holds)]
            self.wait(self.sql(RUN_OUT, self.bookings[k]))
            self.model.bookings[k].run_out = True
            self.steps["run out"] += 1

    async def sql(self, statement: str, *args: Any) -> None:
        async with self.service.db.connection() as conn:
            await conn.execute(statement, *args)

    def end_holds(self, *_: Any) -> None:
        """A step of the loop."""
        self.wait(end_holds(self.service))
        for c in range(len(self.classes)):
            self.model.settle(c)

    def replay(self, n: int, *_: Any) -> None:
        if not self.requests:
            return
        (request, more), first = self.requests[n % len(self.requests)]
        again: Reply = self.wait(self.client.call(*request, **more))
        self.steps["replay"] += 1
        assert again.replayed and (again.status, again.body) == (first.status, first.body)
        other = self.wait(self.client.cancel(new_id(), key=more["key"]))
        assert other.code == "idempotency_key_reused"

    def change_capacity(self, c: int, seats: int, _: bool) -> None:
        c, capacity = c % len(self.classes), seats % 5
        reply = self.staff("PATCH", f"/classes/{self.classes[c]}", {"capacity": capacity})
        self.steps["capacity"] += 1
        assert (reply.status == 200) == self.model.set_capacity(c, capacity)

    def end_class(self, c: int, _: int, start: bool) -> None:
        """Not early in a run: little can happen in a class afterwards."""
        if len(self.requests) < 10:
            return
        c %= len(self.classes)
        if start:
            self.start_class(c)
            return
        reply = self.staff("POST", f"/classes/{self.classes[c]}/cancel", {})
        self.steps["cancel class"] += 1
        assert (reply.status == 200) == self.model.cancel_course(c)

    def start_class(self, c: int) -> None:
        course = self.model.courses[c]
        if course.started or course.status != "scheduled":
            return
        times = {"start_time": soon(minutes=-1), "end_time": soon(hours=1)}
        assert self.staff("PATCH", f"/classes/{self.classes[c]}", times).status == 200
        self.steps["start"] += 1
        self.wait(expire_waitlists(self.service))
        self.model.start_course(c)

    def pause_or_resume(self, p: int, *_: Any) -> None:
        p %= len(self.members)
        person = self.model.people[p]
        if person.membership not in ("active", "paused"):
            return
        move, after = ("pause", "paused") if person.membership == "active" else ("resume", "active")
        reply = self.staff("POST", f"/memberships/{self.memberships[p]}/{move}", {})
        self.steps[move] += 1
        assert reply.status == 200, reply.body
        person.membership = after

    def purchase(self, p: int, many: int, _: bool) -> None:
        p, quantity = p % len(self.members), 1 + many % 3
        body = {"member_id": self.members[p], "product_id": self.product["id"], "quantity": quantity}
        assert self.staff("POST", "/purchases", body).status == 201
        self.steps["purchase"] += 1
        self.model.people[p].credits += quantity

    def record_attendance(self, n: int, move: int, _: bool) -> None:
        if not self.bookings:
            return
        n, status = n % len(self.bookings), ("checked_in", "confirmed", "no_show")[move % 3]
        path = {"checked_in": "check-in", "confirmed": "undo-check-in", "no_show": "no-show"}[status]
        reply = self.staff("POST", f"/bookings/{self.bookings[n]}/{path}")
        moved = self.model.record_attendance(n, status)
        self.steps["record_attendance" if moved else "record_attendance refused"] += 1
        assert (reply.status == 200) == moved, reply.body

    def move(self, n: int, c: int, live: bool) -> None:
        """Mostly a seat; the preview of every move says what the move does."""
        if not self.bookings:
            return
        seats = [k for k, held in enumerate(self.model.bookings) if held.status == "confirmed"]
        n = seats[n % len(seats)] if seats and (live or n % 4) else n % len(self.bookings)
        c %= len(self.classes)
        path, body = f"/bookings/{self.bookings[n]}/reschedule", {"class_id": self.classes[c]}
        before: Booking = self.model.bookings[n]
        left, charged = before.course, before.charged
        # Who is promoted in the place of a hold that has run out is known to the move only.
        unclear = self.model.has_run_out(c) and bool(self.model.queue(c))
        preview = self.wait(self.client.call("POST", f"{path}/preview", body)).json
        reply = self.do("POST", path, body)
        outcome, detail = move(self.model, n, c)
        self.steps["move " + outcome] += 1
        if outcome not in ("assessed", "none"):
            assert (reply.status, reply.code) == (409, outcome), reply.body
            assert unclear or preview["code"] == outcome, preview
            return
        terms, booking = reply.json["terms"], self.model.bookings[n]
        assert unclear or (preview["outcome"], preview["terms"]) == ("rescheduled", terms)
        assert (terms["late_fee_status"], terms["credits_forfeited"]) == (outcome, detail)
        assert terms["credits_restored"] == charged - terms["credits_forfeited"]
        assert reply.json["credits_charged"] == booking.charged
        assert reply.json["from_class_id"] == self.classes[left]

    @invariant()
    def everything_agrees(self) -> None:
        if hasattr(self, "model"):
            self.wait(compare(self))

    def teardown(self) -> None:
        if hasattr(self, "model"):
            self.steps.update(f"entry {entry.status}" for entry in self.model.entries)
