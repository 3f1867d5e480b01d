"""The desk's week in a real browser: classes are made, changed and opened beside the calendar."""

from datetime import UTC, datetime, timedelta

from playwright.async_api import expect

from tests.harness.browser import SHARED_LOOP, Tab
from tests.harness.front_desk import FrontDesk, front_desk
from tests.harness.system import System

pytestmark = SHARED_LOOP

TABLET = {"width": 1024, "height": 768}


async def test_a_class_is_made_and_changed_and_cancelled_in_the_week(tab: Tab, desk: FrontDesk) -> None:
    """The calendar shows it at once, with its people beside it, and by the agenda on a phone.

    On a tablet the roster is in view, and a class is two tabs from its check-in.
    """
    await desk.book("Ada King")
    await desk.open(tab)
    await tab.show("week")
    await tab.page.set_viewport_size(TABLET)  # type: ignore[arg-type]
    block = tab.page.locator(".block", has_text="Power Yoga")
    await block.focus()
    await tab.page.keyboard.press("Enter")
    pane = tab.page.locator(".pane")
    await expect(pane).to_be_focused()
    await expect(pane).to_contain_text("Ada King")
    people = await pane.locator(".people").bounding_box()
    assert people and people["y"] + people["height"] <= TABLET["height"]
    await tab.page.keyboard.press("Tab")
    await tab.page.keyboard.press("Tab")
    await expect(tab.page.get_by_role("link", name="Check in", exact=True)).to_be_focused()
    await pane.get_by_role("button", name="One seat more").click()
    await expect(block).to_contain_text("1/9")
    await tab.page.get_by_role("button", name="New class").click()
    sheet = tab.page.get_by_role("dialog")
    await sheet.get_by_label("Class type").select_option(label="Power Yoga")
    await expect(sheet.get_by_label("Title")).to_have_value("Power Yoga")
    await sheet.get_by_label("Title").fill("Late Flow")
    await sheet.get_by_label("Begins").fill("20:00")
    await sheet.get_by_role("button", name="Create class").click()
    late = tab.page.locator(".block", has_text="Late Flow")
    await late.click()
    await pane.get_by_role("button", name="Change").click()
    # Meanwhile somebody else gives it more seats.
    path = f"/studios/{desk.studio_id}/classes/{await late.get_attribute('data-id')}"
    assert (await desk.api.patch(path, {"capacity": 33})).status == 200
    await sheet.get_by_label("Begins").fill("20:15")
    await sheet.get_by_role("button", name="Save").click()
    await expect(late).to_contain_text("20:15")
    assert (await desk.api.get(path)).json()["capacity"] == 33
    await block.click()
    await pane.get_by_role("button", name="Cancel class…").click()
    await expect(tab.page.get_by_role("dialog")).to_contain_text("1 person has booked")
    await tab.page.get_by_role("button", name="Cancel class", exact=True).click()
    await expect(block).to_contain_text("cancelled")
    await tab.page.set_viewport_size({"width": 390, "height": 844})
    await tab.page.keyboard.press("Escape")
    await expect(tab.page.locator(".agenda")).to_contain_text("Late Flow")
    assert await tab.page.evaluate("document.documentElement.scrollWidth") <= 390


async def test_a_drag_on_an_empty_place_of_the_week_is_a_new_class(tab: Tab, desk: FrontDesk) -> None:
    """It says when, and how long; a click says when, and is an hour."""
    await desk.open(tab)
    await tab.show("week")
    column = await tab.page.locator(".cal-column").last.bounding_box()
    assert column is not None
    hour = 52
    for dragged, minutes in ((hour * 1.5, "90"), (0, "60")):
        at = column["x"] + 40, column["y"] + hour * 2 + 3
        await tab.page.mouse.move(*at)
        await tab.page.mouse.down()
        await tab.page.mouse.move(at[0], at[1] + max(0, dragged - 6), steps=4)
        await tab.page.mouse.up()
        sheet = tab.page.get_by_role("dialog")
        await expect(sheet.get_by_label("Begins")).to_have_value("09:00")
        await expect(sheet.get_by_label("Minutes")).to_have_value(minutes)
        await tab.page.keyboard.press("Escape")
        await expect(sheet).to_have_count(0)


async def test_a_full_class_is_good_news_and_not_red(tab: Tab, system: System) -> None:
    """It says how many wait; red is kept for what went wrong."""
    desk = await front_desk(system, seats=1)
    await desk.book("Ada King", "Bo Okafor")
    await desk.open(tab)
    await tab.show("week")
    block = tab.page.locator(".block", has_text="Power Yoga")
    await expect(block).to_contain_text("1/1")
    colours = await block.evaluate(
        """block => [block, ...block.querySelectorAll("*")].flatMap(one => {
            const { color, backgroundColor, borderLeftColor } = getComputedStyle(one);
            return [color, backgroundColor, borderLeftColor];
        })"""
    )
    red = await tab.page.evaluate(
        """() => { const one = document.createElement("i"); one.className = "bad"; document.body.append(one);
            return getComputedStyle(one).color; }"""
    )
    assert red not in colours


# The times whose letters are not whole inside their block.
CUT_TIMES = """() => [...document.querySelectorAll(".block")].map((block) => {
    const texts = document.createTreeWalker(block, NodeFilter.SHOW_TEXT);
    for (let node; (node = texts.nextNode());) {
        const at = node.data.search(/\\d\\d:\\d\\d/), range = document.createRange();
        if (at < 0) continue;
        range.setStart(node, at); range.setEnd(node, at + 5);
        const time = range.getBoundingClientRect(), box = block.getBoundingClientRect();
        return time.right > box.right || time.bottom > box.bottom ? block.title : "";
    }
    return block.title;
}).filter(Boolean)"""


async def test_more_classes_than_fit_are_counted_and_the_times_stay_whole(tab: Tab, desk: FrontDesk) -> None:
    """At 1024 px, beside each other, as cards and when short; "+n more" opens the day with all of them."""
    for minutes in range(60, 90, 5):
        await desk.add_class("Flow for everybody", minutes)
    for minutes in range(240, 340, 25):
        await desk.add_class("Restorative", minutes)
    soon = datetime.now(UTC) + timedelta(minutes=420)
    await desk.add_class("Express", 420, end_time=(soon + timedelta(minutes=20)).isoformat())
    await desk.open(tab)
    await tab.page.set_viewport_size(TABLET)  # type: ignore[arg-type]
    await tab.show("week")
    more = tab.page.locator(".more-classes")
    await expect(more).to_have_text("+4 more")
    await expect(tab.page.locator(".block", has_text="Express")).to_be_visible()
    assert await tab.page.evaluate(CUT_TIMES) == []
    await more.click()
    await expect(tab.page.locator(".block", has_text="Flow for everybody")).to_have_count(6)
    await expect(tab.page.get_by_role("button", name="Day", exact=True)).to_have_attribute(
        "aria-pressed", "true"
    )
    assert await tab.page.evaluate(CUT_TIMES) == []
