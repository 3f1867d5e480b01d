"""What identifying a lead fills in, and how much metadata a lead may have."""

from shared.wire import new_id
from tests.services.forms.studio_client import StudioClient


async def test_an_empty_text_and_null_are_blanks_too(studio: StudioClient) -> None:
    """In first name, source and at the top of metadata; a default source fills nothing."""
    lead = {"object": "lead", "id": new_id(), "email": "ann@example.com", "source": None}
    await studio.import_lines(lead | {"metadata": {"a": None, "b": "", "c": 0, "d": {"e": ""}, "f": False}})
    path = f"/leads/{lead['id']}"
    await studio.post("/leads", {"email": "ann@example.com"})
    assert (await studio.get(path)).json["source"] is None
    await studio.post("/leads", {"email": "ann@example.com", "source": "", "metadata": {"a": "", "g": None}})
    shown = (await studio.get(path)).json
    assert (shown["source"], shown["metadata"]["a"], shown["metadata"]["g"]) == (None, None, None)
    given = {"a": 1, "b": [2], "c": 3, "d": {"e": 4}, "f": True, "g": "x"}
    await studio.post("/leads", {"email": "ann@example.com", "source": "waitlist", "metadata": given})
    shown = (await studio.get(path)).json
    assert shown["source"] == "waitlist"
    assert shown["metadata"] == {"a": 1, "b": [2], "c": 0, "d": {"e": ""}, "f": False, "g": "x"}
    await studio.import_lines(lead | {"source": ""})
    await studio.post("/leads", {"email": "ann@example.com", "source": "waitlist"})
    assert (await studio.get(path)).json["source"] == "waitlist"


async def test_a_lead_whose_metadata_is_full_is_identified_all_the_same(studio: StudioClient) -> None:
    """201 with `created: false`; the metadata stays as it was, other blanks are filled."""
    full = {"x": "y" * 65_000}
    made = await studio.post("/leads", {"email": "ann@example.com", "metadata": full})
    more = {"email": "ann@example.com", "first_name": "Ann", "metadata": {"z": "y" * 1_000}}
    again = await studio.post("/leads", more)
    assert (again.status, again.json) == (201, {**made.json, "created": False})
    shown = (await studio.get(f"/leads/{made.json['id']}")).json
    assert (shown["first_name"], shown["metadata"]) == ("Ann", full)
    assert (await studio.patch(f"/leads/{made.json['id']}", {"metadata": more["metadata"]})).status == 422


async def test_form_context_counts_except_for_the_servers_own_entries(studio: StudioClient) -> None:
    """The list cannot bypass the limit, and what was read can be sent back and imported again."""
    for entry in ("y" * 70_000, {"form_slug": "y" * 70_000}, [["y" * 70_000]]):
        body = {"email": "bob@example.com", "metadata": {"form_submissions": [entry]}}
        refused = await studio.post("/leads", body)
        assert refused.problems == [(("body", "metadata"), "too_large")]
    form = await studio.form()
    made = await studio.post("/leads", {"email": "ann@example.com", "metadata": {"x": "y" * 65_500}})
    for _ in range(3):
        await studio.submit(form, {})
    lead = (await studio.get(f"/leads/{made.json['id']}")).json
    assert len(lead["metadata"]["form_submissions"]) == 3
    sent = {"metadata": lead["metadata"]}
    assert (await studio.patch(f"/leads/{lead['id']}", sent)).status == 200
    assert (await studio.import_lines(lead))["rejected"] == []
    lead["metadata"]["form_submissions"][0]["note"] = "mine"
    assert (await studio.patch(f"/leads/{lead['id']}", sent)).status == 422
