"""The front desk in a real browser without network, and when its session ends before everything was sent."""

import re

from playwright.async_api import Dialog, Route, expect

from tests.harness.browser import SHARED_LOOP, Tab
from tests.harness.eventually import eventually, until
from tests.harness.front_desk import FrontDesk, becomes, check_in, roster, toast

pytestmark = SHARED_LOOP


async def test_check_ins_wait_while_there_is_no_network(tab: Tab, desk: FrontDesk) -> None:
    """The last data stay, also after another page, which says plainly that nothing can be read. What was
    clicked is shown, and it is sent when the network is back. Nobody is signed out meanwhile.
    """
    ada, bo = await desk.book("Ada King", "Bo Okafor")
    await desk.open(tab)
    await expect(roster(tab)).to_have_count(2)
    await tab.page.context.set_offline(True)
    await tab.page.get_by_label("Account: staff").click()
    await tab.page.get_by_role("button", name="Sign out").click()
    await expect(toast(tab)).to_contain_text("The server cannot be reached.")
    await check_in(tab, "Ada King").click()
    await check_in(tab, "Bo Okafor").click()
    offline = tab.page.locator(".offline")
    await expect(offline).to_contain_text("2 changes wait")
    await tab.page.get_by_role("button", name="Undo the check-in of Bo Okafor").click()
    await tab.show("members")
    await expect(tab.page.locator(".problem")).to_contain_text("The server cannot be reached.")
    await tab.show("today")
    await expect(roster(tab)).to_have_text(["Bo Okafor", "Ada King"])
    await expect(tab.page.locator(".class-item")).to_have_count(1)
    await expect(offline).to_have_text(
        re.compile(r"Offline since \d\d:\d\d: you see what was read last\. 1 change waits here")
    )
    await expect(tab.page.locator(".problem")).to_have_count(0)
    await tab.page.context.set_offline(False)
    await becomes(desk, ada, "checked_in")
    await expect(offline).to_have_count(0)
    assert await desk.status_of(bo) == "confirmed"


async def test_what_could_not_be_read_opens_once_it_can(tab: Tab, desk: FrontDesk) -> None:
    """The problem is said once, and nothing seems to load beside it. Nobody who is signed in is asked for the
    token.
    """
    refusal = {"error": {"code": "service_unavailable", "message": "Not available."}}
    await tab.page.route("**/classes?*", lambda route: route.fulfill(status=503, json=refusal))
    await desk.open(tab)
    await expect(tab.page.locator(".problem")).to_contain_text("Not available.")
    await expect(tab.page.locator(".skeleton")).to_have_count(0)
    await tab.page.unroute("**/classes?*")
    await tab.page.get_by_role("button", name="Try again").click()
    await expect(tab.page.get_by_role("heading", name="Power Yoga")).to_be_visible(timeout=10_000)
    await tab.page.route("**/operator/v1/**", lambda route: route.abort())
    await tab.page.reload()
    await expect(tab.page.get_by_role("heading", name="Not connected")).to_be_visible()
    await expect(tab.page.locator("#view")).to_contain_text("The server cannot be reached.")
    assert await tab.page.get_by_label("Token").count() == 0
    await tab.page.unroute("**/operator/v1/**")
    await expect(tab.page.get_by_role("heading", name="Power Yoga")).to_be_visible()


async def waiting_check_in(tab: Tab, desk: FrontDesk) -> list[str]:
    """Mara's check-in of Ada, which has not reached the server; the ids of Ada's and Bo's bookings."""
    booked = await desk.book("Ada King", "Bo Okafor")
    await desk.open(tab)
    await expect(roster(tab)).to_have_count(2)
    await tab.page.route("**/check-in", lambda route: route.abort())
    await check_in(tab, "Ada King").click()
    await expect(tab.page.locator(".offline")).to_contain_text("1 change waits")
    return booked


async def test_leaving_with_check_ins_that_wait_asks_first(tab: Tab, desk: FrontDesk) -> None:
    """A reload and a sign-out would lose them: nothing about people is stored in the browser."""
    await waiting_check_in(tab, desk)
    dialogs: list[str] = []

    async def stay(dialog: Dialog) -> None:
        dialogs.append(dialog.type)
        await dialog.dismiss()

    tab.page.on("dialog", stay)
    await tab.page.evaluate("setTimeout(() => location.reload())")
    await until(lambda: dialogs == ["beforeunload"])
    await tab.page.get_by_label("Account: staff").click()
    await tab.page.get_by_role("button", name="Sign out").click()
    dialog = tab.page.get_by_role("dialog")
    await expect(dialog).to_contain_text("Sign out and lose 1 change?")
    await expect(dialog).to_contain_text("Ada King")
    await dialog.get_by_role("button", name="Keep it").click()
    await expect(tab.page.locator(".offline")).to_contain_text("1 change waits")
    await tab.page.unroute("**/check-in")
    await expect(tab.page.locator(".offline")).to_have_count(0)


async def test_what_waits_when_a_session_ends_is_not_sent_as_somebody_else(tab: Tab, desk: FrontDesk) -> None:
    """It is kept and shown to whoever signs in next, who sends it in their own name or drops it."""
    ada, bo = await waiting_check_in(tab, desk)
    [token] = (await desk.api.get(f"/studios/{desk.studio_id}/staff-tokens")).json()["data"]
    await desk.api.post(f"/studios/{desk.studio_id}/staff-tokens/{token['id']}/revoke")
    await tab.page.unroute("**/check-in")
    await expect(tab.page.get_by_role("heading", name="Sign in")).to_be_visible()
    await expect(tab.page.locator(".notice")).to_contain_text("1 change at the front desk of Northlight")
    await expect(tab.page.locator(".problem")).to_have_text("The session has ended. Sign in again.")
    await tab.page.get_by_label("Token").fill(await desk.token("staff", "Noor"))
    await tab.page.get_by_role("button", name="Sign in").click()
    notes = tab.page.locator(".notice", has_text="Not sent when the session before ended")
    await expect(notes).to_contain_text("Ada King (check-in)")
    # What Noor does herself does not wait for it.
    await check_in(tab, "Bo Okafor").click()
    await expect(tab.page.get_by_role("button", name="Undo the check-in of Bo Okafor")).to_be_visible()
    await becomes(desk, bo, "checked_in")
    assert await desk.status_of(ada) == "confirmed"
    await notes.get_by_role("button", name="Send in my name").click()
    await expect(notes).to_have_count(0)

    async def told() -> bool:
        rows = (await desk.api.get("/audit", studio=desk.studio_id, order="desc")).json()["data"]
        done = " ".join(row["sentence"] for row in rows if row["actor_name"] == "Noor")
        return "Ada King" in done and "Bo Okafor" in done

    await eventually(told)


async def test_an_undo_after_a_lost_answer_is_sent(tab: Tab, desk: FrontDesk) -> None:
    """The check-in took effect, though the desk did not hear of it."""
    [ada] = await desk.book("Ada King")
    await desk.open(tab)

    async def lose(route: Route) -> None:
        await route.fetch()
        await route.abort()

    await tab.page.route("**/check-in", lose)
    await check_in(tab, "Ada King").click()
    await becomes(desk, ada, "checked_in")
    await expect(tab.page.locator(".offline")).to_be_visible()
    await tab.page.get_by_role("button", name="Undo the check-in of Ada King").click()
    await tab.page.unroute_all(behavior="wait")  # one may be under way
    await becomes(desk, ada, "confirmed")
