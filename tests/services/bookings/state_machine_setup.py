"""The import lines of a stateful run's studio."""

from typing import TYPE_CHECKING, Any

from tests.services.bookings.samples import a_class, a_member, a_membership, a_purchase, a_studio, soon

if TYPE_CHECKING:
    from tests.services.bookings.state_machine import StudioMachine


def studio_lines(machine: "StudioMachine") -> list[Any]:
    product = machine.product
    lines: list[Any] = [
        product,
        a_studio(
            machine.client.caller.studio_id,
            late_fee_amount="15",
            late_fee_currency="USD",
            forfeit_credit=machine.model.forfeit,
        ),
    ]
    for member_id, membership_id, person in zip(
        machine.members, machine.memberships, machine.model.people, strict=True
    ):
        lines.append(a_member(id=member_id, suspended=person.suspended))
        if person.credits:
            lines.append(a_purchase(member_id, product, quantity=person.credits))
        if person.membership:
            lines.append(a_membership(member_id, id=membership_id, status=person.membership))
    for class_id, course in zip(machine.classes, machine.model.courses, strict=True):
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
    spotted = machine.classes[2]
    return lines + [
        {"object": "class_spot", "id": spot, "class_id": spotted, "label": str(n), "order": n}
        for n, spot in enumerate(machine.spots)
    ]
