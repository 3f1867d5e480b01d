"""Staff reads through the operators' API: the gateway finds the studio and the owner of each noun."""

from tests.harness.system import System
from tests.services.bookings.import_samples import a_class, a_member


async def test_a_desk_reads_its_studio_through_the_operators_api(system: System) -> None:
    """Classes with the partners' filters, a roster, members by email, memberships, purchases."""
    class_, member = a_class(), a_member()
    class_ |= {name: class_[name].isoformat() for name in ("start_time", "end_time")}
    await system.import_lines([class_, member])
    partner = system.partner(await system.key())
    body = {"class_id": class_["id"], "member_id": member["id"]}
    await partner.post("/bookings", body, headers={"Idempotency-Key": class_["id"]})
    base = f"/studios/{system.studio_id}"
    classes = await system.operator.get(f"{base}/classes", status="scheduled")
    assert [row["id"] for row in classes.json()["data"]] == [class_["id"]]
    roster = (await system.operator.get(f"{base}/classes/{class_['id']}/roster")).json()
    assert [row["member_name"] for row in roster["data"]] == ["Ada Byron"]
    (found,) = (await system.operator.get(f"{base}/members", email=member["email"])).json()["data"]
    assert found["id"] == member["id"]
    for path in (f"/members/{member['id']}/memberships", "/purchases"):
        assert (await system.operator.get(base + path)).json()["data"] == []
    other = await system.new_studio()
    hidden = await system.operator.get(f"/studios/{other}/classes/{class_['id']}")
    assert (hidden.status, hidden.code) == (404, "not_found")
