"""The front desk in a real browser: Today, Week and Members, by mouse, by keyboard and without network."""

import asyncio
import re
from datetime import UTC, datetime, timedelta

from playwright.async_api import Browser, Route, expect

from shared.wire import new_id
from tests.harness import import_lines
from tests.harness.browser import SHARED_LOOP, Tab, new_tab
from tests.harness.console_pages import MANAGER_PAGES, STAFF_PAGES
from tests.harness.eventually import eventually
from tests.harness.front_desk import (
    FrontDesk,
    becomes,
    check_in,
    front_desk,
    roster,
    toast,
    zone_in_which_it_is,
)
from tests.harness.http import created
from tests.harness.system import System

pytestmark = SHARED_LOOP

TABLET = {"width": 1024, "height": 768}
HOUR = timedelta(hours=1)


async def test_staff_land_on_today_and_check_in_with_one_click(tab: Tab, desk: FrontDesk) -> None:
    """The class that comes next is open, its roster inside a tablet's screen; Undo takes it back."""
    ada, *_ = await desk.book("Ada King", "Bo Okafor", "Cleo Larsen")
    await tab.page.set_viewport_size(TABLET)  # type: ignore[arg-type]
    await desk.open(tab)
    assert (
        tuple(await tab.page.locator("#nav a").evaluate_all("all => all.map(a => a.dataset.page)"))
        == STAFF_PAGES
    )
    await expect(tab.page.get_by_role("heading", name="Power Yoga")).to_be_visible()
    await expect(tab.page.locator(".desk-head")).to_contain_text("Main Floor · with Maya")
    box = await tab.page.get_by_role("list", name="Roster").bounding_box()
    assert box and box["y"] + box["height"] <= TABLET["height"] and box["x"] + box["width"] <= TABLET["width"]
    # The whole row is the target, not only the word at its end.
    await check_in(tab, "Ada King").click(position={"x": 20, "y": 20})
    await expect(toast(tab)).to_contain_text("Ada King is in.")
    await becomes(desk, ada, "checked_in")
    await expect(roster(tab)).to_have_text(["Bo Okafor", "Cleo Larsen", "Ada King"])
    await tab.page.get_by_role("button", name="Undo", exact=True).first.click()
    await becomes(desk, ada, "confirmed")
    await expect(roster(tab)).to_have_text(["Ada King", "Bo Okafor", "Cleo Larsen"])


async def test_a_roster_that_was_read_before_a_check_in_does_not_take_it_back(
    tab: Tab, desk: FrontDesk
) -> None:
    """Its answer came late, and is older than what is shown."""
    ada, _ = await desk.book("Ada King", "Bo Okafor")
    await desk.open(tab)
    await expect(roster(tab)).to_have_count(2)
    read, released = asyncio.Event(), asyncio.Event()

    async def hold(route: Route) -> None:
        response = await route.fetch()
        read.set()
        await released.wait()
        await route.fulfill(response=response)

    await tab.page.route("**/roster*", hold)
    async with asyncio.timeout(60):
        await read.wait()
    await check_in(tab, "Ada King").click()
    await becomes(desk, ada, "checked_in")
    undo = tab.page.get_by_role("button", name="Undo the check-in of Ada King")
    async with tab.page.expect_response("**/roster*"):
        released.set()
    for _ in range(10):
        assert await undo.is_visible()
        await tab.page.wait_for_timeout(30)
    await tab.page.unroute_all(behavior="ignoreErrors")


async def test_the_desk_works_by_keyboard_alone(tab: Tab, desk: FrontDesk) -> None:
    """The first row has the focus; Space checks in, letters filter, Enter takes the first, Esc shows all.

    A letter after g puts the focus to a page's heading; on Today, to the first who is not checked in.
    `?` lists what the keys do there.
    """
    ada, bo, cleo = await desk.book("Ada King", "Bo Okafor", "Cleo Larsen")
    await desk.open(tab, "manager")
    await expect(check_in(tab, "Ada King")).to_be_focused()
    await tab.page.keyboard.press("Space")
    await becomes(desk, ada, "checked_in")
    for letter, page in zip("wmpdiea", MANAGER_PAGES[1:], strict=True):
        await tab.page.keyboard.type(f"g{letter}")
        await expect(tab.page.locator(f'#view[data-page="{page}"] h1').first).to_be_focused()
    await tab.page.keyboard.type("gt")
    await expect(check_in(tab, "Bo Okafor")).to_be_focused()
    await tab.page.keyboard.type("cl")
    await expect(roster(tab)).to_have_text(["Cleo Larsen"])
    await tab.page.keyboard.press("Enter")
    await becomes(desk, cleo, "checked_in")
    await tab.page.keyboard.press("Escape")
    await expect(roster(tab)).to_have_text(["Bo Okafor", "Ada King", "Cleo Larsen"])
    await expect(check_in(tab, "Bo Okafor")).to_be_focused()
    await tab.page.keyboard.press("Space")
    await becomes(desk, bo, "checked_in")
    await tab.page.keyboard.press("?")
    await expect(tab.page.get_by_role("dialog")).to_contain_text("check in who has the focus")


async def test_the_row_changes_before_the_server_answers(tab: Tab, desk: FrontDesk) -> None:
    """And changes back, with a reason, if the server refuses."""
    await desk.book("Ada King", "Bo Okafor")
    await desk.open(tab)
    answered = asyncio.Event()
    refusal = {"error": {"code": "invalid_state_transition", "message": "Not allowed now.", "details": {}}}

    async def refuse(route: Route) -> None:
        await answered.wait()
        await route.fulfill(status=409, json=refusal)

    await tab.page.route("**/check-in", refuse)
    await check_in(tab, "Ada King").click()
    await expect(tab.page.get_by_role("button", name="Undo the check-in of Ada King")).to_be_visible()
    answered.set()
    await expect(toast(tab).filter(has_text="Not allowed now.")).to_be_visible()
    await expect(check_in(tab, "Ada King")).to_be_visible()


async def test_another_tablet_sees_it(tab: Tab, browser: Browser, desk: FrontDesk) -> None:
    """Without a reload, and without a button for it."""
    await desk.book("Ada King", "Bo Okafor")
    await desk.open(tab)
    await expect(check_in(tab, "Ada King")).to_be_visible()
    async with new_tab(browser) as other:
        await desk.open(other)
        await check_in(other, "Ada King").click()
        await expect(tab.page.get_by_role("button", name="Undo the check-in of Ada King")).to_be_visible()
    assert await tab.page.get_by_role("button", name="Refresh").count() == 0


async def test_a_walk_in_is_found_by_three_letters(tab: Tab, desk: FrontDesk) -> None:
    """What they pay with is shown before; somebody new needs a name and an email."""
    await desk.open(tab)
    await tab.page.get_by_role("button", name="Walk-in", exact=True).click()
    sheet = tab.page.get_by_role("dialog")
    await sheet.get_by_label("Find a member").fill("dan")
    await sheet.get_by_role("button", name="Dana Moreau").click()
    await expect(sheet).to_contain_text("Pays with:")
    await sheet.get_by_role("button", name="Book and check in").click()
    await expect(tab.page.get_by_role("button", name="Undo the check-in of Dana Moreau")).to_be_visible()
    await tab.page.get_by_role("button", name="Walk-in", exact=True).click()
    await sheet.get_by_label("Find a member").fill("Zoe Quist")
    await sheet.get_by_role("button", name="New: Zoe Quist").click()
    await expect(sheet.get_by_label("Last name")).to_have_value("Quist")
    await sheet.get_by_label("Email").fill("zoe@example.com")
    await sheet.get_by_role("button", name="Only book").click()
    # A new member has neither membership nor credits, but this class costs none.
    await expect(check_in(tab, "Zoe Quist").or_(sheet.locator(".problem"))).to_be_visible()


async def test_a_full_class_takes_a_walk_in_to_the_waitlist_or_gets_a_seat_more(
    tab: Tab, system: System
) -> None:
    """The second is for managers. Promoting out of turn tells partners."""
    desk = await front_desk(system, seats=1)
    ada, bo, cleo = await desk.book("Ada King", "Bo Okafor", "Cleo Larsen")
    await desk.open(tab, "manager")
    waiting = tab.page.get_by_role("list", name="Waitlist").locator("li strong")
    await expect(waiting).to_have_text(["Bo Okafor", "Cleo Larsen"])
    await tab.page.get_by_role("button", name="Walk-in", exact=True).click()
    sheet = tab.page.get_by_role("dialog")
    await sheet.get_by_label("Find a member").fill("dana")
    await sheet.get_by_role("button", name="Dana Moreau").click()
    await expect(sheet.get_by_role("button", name="Raise capacity to 2")).to_be_visible()
    await sheet.get_by_role("button", name="Add to waitlist").click()
    await expect(waiting).to_have_text(["Bo Okafor", "Cleo Larsen", "Dana Moreau"])
    await tab.page.get_by_role("button", name="Promote Cleo Larsen").click()
    await tab.page.get_by_role("button", name="Raise to 2 and promote").click()
    await expect(check_in(tab, "Cleo Larsen")).to_be_visible()
    await tab.page.get_by_role("button", name="Skip Bo Okafor").click()
    await tab.page.get_by_role("button", name="Take off").click()
    await expect(waiting).to_have_text(["Dana Moreau"])
    assert [await desk.status_of(one) for one in (ada, bo, cleo)] == ["confirmed", "cancelled", "confirmed"]
    path = f"/studios/{desk.studio_id}/events"

    async def told() -> bool:
        events = (await desk.api.get(path, limit=200)).json()["data"]
        about = [(event["type"], event["data"]["object"].get("member_id")) for event in events]
        cleo_id = desk.members["Cleo Larsen"]
        return {("booking.confirmed", cleo_id), ("waitlist.updated", cleo_id)} <= set(about)

    await eventually(told)


async def test_a_seat_given_back_goes_to_the_waitlist_with_a_word(tab: Tab, system: System) -> None:
    """The late cancel is listed with its fee, which only a manager waives."""
    desk = await front_desk(system, seats=1)
    ada, _ = await desk.book("Ada King", "Bo Okafor")
    await desk.open(tab, "manager")
    await expect(tab.page.get_by_role("group", name="Seats")).to_contain_text("1 seat")
    assert "1 seats" not in await tab.page.locator(".desk-pane").inner_text()
    waiting = tab.page.get_by_role("list", name="Waitlist").locator("li strong")
    await expect(waiting).to_have_text(["Bo Okafor"])
    await desk.api.post(f"/studios/{desk.studio_id}/bookings/{ada}/cancel", {})
    await expect(toast(tab)).to_contain_text("Bo Okafor got the seat that Ada King gave back.")
    late = tab.page.get_by_role("list", name="Late cancels")
    await expect(late).to_contain_text("Ada King")
    await expect(late).to_contain_text("5.00 EUR fee")
    await late.get_by_role("button", name="Waive the fee of Ada King").click()
    await tab.page.get_by_role("button", name="Waive it").click()
    await expect(late).to_contain_text("5.00 EUR waived")


async def test_no_shows_are_marked_together_once_the_class_has_begun(tab: Tab, desk: FrontDesk) -> None:
    """Not before, and who is unticked stays. Somebody who comes after all is checked in."""
    await desk.book("Ada King")
    begun = await desk.add_class("Early Flow", -5)
    line = {"object": "booking", "class_id": begun, "status": "confirmed"}
    names = ("Bo Okafor", "Cleo Larsen")
    booked = [line | {"id": new_id(), "member_id": desk.members[name]} for name in names]
    await desk.system.import_lines(booked, desk.studio_id)
    bo, cleo = (str(one["id"]) for one in booked)
    await desk.open(tab)
    await tab.page.locator(f'.class-item[data-id="{desk.class_id}"]').click()
    await expect(check_in(tab, "Ada King")).to_be_visible()
    assert await tab.page.get_by_role("button", name="as no-show").count() == 0
    await tab.page.locator(f'.class-item[data-id="{begun}"]').click()
    await tab.page.get_by_role("button", name="Mark the other 2 as no-show").click()
    await tab.page.get_by_role("dialog").get_by_label("Cleo Larsen").uncheck()
    await tab.page.get_by_role("button", name="Mark 1 as no-show").click()
    await becomes(desk, bo, "no_show")
    assert await desk.status_of(cleo) == "confirmed"
    await expect(tab.page.locator(".person-row", has_text="Bo Okafor")).to_contain_text("no-show")
    await expect(tab.page.locator(".meter-line")).to_contain_text("0 of 1 in")
    await check_in(tab, "Bo Okafor").click()
    await becomes(desk, bo, "checked_in")


async def test_a_member_is_found_and_has_a_page(tab: Tab, desk: FrontDesk) -> None:
    """From Today, too; the network's failure is a sentence. Bookings, memberships and purchases are on it."""
    await desk.book("Ada King")
    await desk.open(tab, "manager")
    await tab.page.get_by_role("button", name="Find a member").click()
    dialog = tab.page.get_by_role("dialog")
    await tab.page.context.set_offline(True)
    await dialog.get_by_label("Find a member").fill("dan")
    await expect(dialog.locator(".problem")).to_contain_text("The server cannot be reached.")
    await tab.page.context.set_offline(False)
    await dialog.get_by_label("Find a member").fill("dana")
    await expect(dialog.get_by_role("button", name="Dana Moreau")).to_contain_text("no credits")
    await tab.page.keyboard.press("Enter")
    pane = tab.page.locator(".pane")
    await expect(pane.locator("h1")).to_have_text("Dana Moreau")
    await tab.show("members")
    await tab.page.get_by_label("Name, email or phone").fill("ada")
    await expect(tab.page.locator("st-list a.item")).to_have_count(1)
    await tab.page.locator("st-list a.item").click()
    await expect(pane.get_by_role("heading", name="Ada King")).to_be_visible()
    await expect(pane).to_contain_text("Power Yoga")
    await pane.get_by_role("button", name="Pause").click()
    await expect(pane.get_by_role("button", name="Resume")).to_be_visible()
    await pane.get_by_role("button", name="Record purchase").click()
    await tab.page.get_by_role("button", name="Record", exact=True).click()
    await expect(pane).to_contain_text("5 credits")
    await pane.get_by_label("More for this member").click()
    await pane.get_by_role("button", name="Erase…").click()
    erase = tab.page.get_by_role("button", name="Erase", exact=True)
    await expect(erase).to_be_disabled()
    await tab.page.get_by_role("dialog").get_by_role("textbox").fill("Ada King")
    await erase.click()
    await expect(pane.get_by_role("heading", name=re.compile("Ada King"))).to_have_count(0)


async def test_a_desk_at_rest_asks_three_times_a_minute(tab: Tab, desk: FrontDesk) -> None:
    """Five minutes of the page's own clock, in which nothing happens, after five in which it came to rest."""
    await desk.book("Ada King")
    await tab.page.clock.install()
    await desk.open(tab)
    await expect(check_in(tab, "Ada King")).to_be_visible()
    sent: list[str] = []
    tab.page.on("request", lambda request: sent.append(request.url))
    for minute in range(10):
        if minute == 5:
            sent.clear()
        for _ in range(4):
            await tab.page.clock.run_for(15_000)
            await tab.page.wait_for_timeout(50)  # real time, for the answers
    assert 0 < len(sent) <= 15, "it does ask, but not often"


async def test_held_seats_are_shown_and_can_be_released(tab: Tab, desk: FrontDesk) -> None:
    """Somebody is about to pay in a partner's app: the seat is not free, and not checked in either."""
    await desk.book("Ada King")
    issued = await desk.system.issue(studio=desk.studio_id, client="app")
    partner = desk.system.partner(issued["key"])
    hold = created(await partner.book(desk.class_id, desk.members["Bo Okafor"], hold_seconds=600))
    await desk.open(tab)
    held = tab.page.get_by_role("list", name="Held seats")
    await expect(held).to_contain_text("Bo Okafor")
    await expect(tab.page.locator(".meter-line")).to_contain_text("1 held")
    await expect(check_in(tab, "Bo Okafor")).to_have_count(0)
    await tab.page.get_by_role("button", name="Release the seat of Bo Okafor").click()
    await tab.page.get_by_role("button", name="Cancel booking").click()
    await becomes(desk, hold["id"], "cancelled")
    await expect(held).to_have_count(0)


async def test_the_desk_of_a_location_goes_by_its_own_clock(tab: Tab, desk: FrontDesk) -> None:
    """One zone for every time of the page: that of the chosen location, else the studio's."""
    west = import_lines.location(name="West", timezone=zone_in_which_it_is(14))
    await desk.system.import_lines([west], desk.studio_id)
    await desk.add_class("Sunset Flow", 20, location_id=west["id"])
    await desk.open(tab)
    row, zone = tab.page.locator(".class-item", has_text="Sunset Flow"), tab.page.locator("#zone")
    await expect(row).to_contain_text(re.compile(r"1[23]:\d\d"))
    await expect(zone).to_contain_text("studio")
    await tab.page.get_by_label("Location").select_option(label="West")
    for _ in range(2):
        await expect(row).to_contain_text(re.compile(r"1[45]:\d\d"))
        await expect(zone).to_contain_text("location")
        await expect(tab.page.locator(".desk-head")).to_contain_text(re.compile(r"1[45]:\d\d – 1[56]:\d\d"))
        await expect(tab.page.locator(".today-clock")).to_have_text(
            re.compile(r"^\w{3} \d+ \w{3,4} · 14:\d\d$")
        )
        await expect(tab.page.locator(".class-item")).to_have_count(1)
        await tab.page.reload()
    await tab.page.get_by_label("Location").select_option(label="All locations")
    await expect(row).to_contain_text(re.compile(r"1[23]:\d\d"))
    await expect(zone).to_contain_text("studio")


async def test_a_long_day_begins_with_what_comes_next_and_shows_the_rest_on_demand(
    tab: Tab, desk: FrontDesk
) -> None:
    """Hundreds of classes a day would slow down every keystroke."""
    line = import_lines.class_(start_time=datetime.now(UTC), title="Flow")
    starts = [datetime.now(UTC) + timedelta(minutes=30 + n) for n in range(70)]
    classes = [
        line | {"id": new_id(), "start_time": at.isoformat(), "end_time": (at + HOUR).isoformat()}
        for at in starts
    ]
    await desk.system.import_lines(classes, desk.studio_id)
    await desk.open(tab)
    rows = tab.page.get_by_role("list", name="Classes of today").locator(".class-item")
    await expect(rows).to_have_count(60)
    await expect(rows.first).to_contain_text("Power Yoga")
    await tab.page.get_by_role("button", name="Show 11 more of today").click()
    await expect(rows).to_have_count(71)
